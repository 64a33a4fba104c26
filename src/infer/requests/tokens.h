/* Finds in a text what may name something: identifiers, paths, addresses, numbers with a name; and
 * the text without them. */
#ifndef CULPRIT_INFER_REQUESTS_TOKENS_H
#define CULPRIT_INFER_REQUESTS_TOKENS_H

#include <stdbool.h>

#include "base/str.h"

enum {
	TOKENS_MAX = 96,        /* further ones of one text are left out */
	TOKENS_TEXT_MAX = 8192, /* so is what stands behind so many bytes */
	TOKENS_WORDS = 16384,
	TOKENS_SHAPE = 160
};

/* Of which kind a name is, by its look: names of one kind are compared with each other. */
struct token {
	struct str kind;  /* "blk#1", "path/data", "pid=", "uuid" */
	struct str value; /* "blk_1073741825" */
};

/* All strings are borrowed from words. */
struct tokens {
	struct token v[TOKENS_MAX];
	unsigned nr;
	bool is_cut;
	size_t nr_words, nr_shape;
	char words[TOKENS_WORDS]; /* what kinds and values are made of */
	char shape[TOKENS_SHAPE]; /* the first line, with <*> in place of what varies */
};

/* Finds anew: what was found before is gone. */
void tokens_find(struct tokens *t, struct str text);

#endif
