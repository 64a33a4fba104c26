/*
 * A function from [0, 1) to numbers, as a binary tree of halves: the parts of interval tree clocks
 * (Almeida, Baquero, Fonte 2008). An id is 1 where its branch owns the interval and 0 elsewhere; a
 * history says for every point how often its owner said something new.
 */
#ifndef CULPRIT_LIB_TREE_H
#define CULPRIT_LIB_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_TOKENS 2048
#define TREE_DEPTH 256
#define TREE_INNER UINT32_MAX
#define TREE_FEW 6

/* A point, by the halves in which it lies, the first one in the highest bit. */
struct point {
	uint8_t bits[TREE_DEPTH / 8];
};

/* Tokens in preorder: TREE_INNER with two trees behind it, or the number of a leaf. */
struct tree {
	uint32_t n;
	uint32_t *more; /* NULL: they are in few */
	uint32_t few[TREE_FEW];
};

void tree_done(struct tree *t);
void tree_leaf(struct tree *t, uint32_t value); /* of memory that holds no tree yet */
int tree_copy(struct tree *t, const struct tree *from);
bool tree_is(const struct tree *t, uint32_t value); /* everywhere */
const uint32_t *tree_at(const struct tree *t);

/* Tokens of a stranger: -EBADMSG if they are no tree, or one that is too deep. */
int tree_set(struct tree *t, const uint32_t *tokens, size_t n);

uint32_t tree_value(const struct tree *t, const struct point *p);

/* The higher of both, at every point. -E2BIG, -ENOMEM. */
int tree_highest(struct tree *t, const struct tree *a, const struct tree *b);

/* The owner of id says something new: his first interval gets a number higher than all there, which
 * is also told, with the point where it begins. -ENOENT if id owns nothing. */
int tree_raise(struct tree *history, const struct tree *id, struct point *p, uint32_t *value);

/* A part of id goes to kid, which is not yet a tree. On failure id is as it was. */
int tree_split(struct tree *id, struct tree *kid);

#endif
