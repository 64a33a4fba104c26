/* Finds every one of many texts in a line, in one pass: an automaton after Aho and Corasick. */
#ifndef CULPRIT_IDENT_CONSTANTS_AUTOMATON_H
#define CULPRIT_IDENT_CONSTANTS_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct automaton {
	const struct str *texts; /* borrowed */
	uint32_t nr_texts, nr_nodes;
	uint32_t root[256]; /* the node of each first byte, 0 for none */
	/* by node; the children of a node follow each other, in the order of their labels */
	uint32_t *first;   /* child; they end where those of the next node begin */
	uint32_t *fail;    /* the longest proper end of what was read that begins a text */
	uint32_t *shorter; /* the next node on that way where a text is found, 0 for none */
	uint32_t *text;    /* found here, by its number + 1 */
	uint8_t *label;
	uint16_t *depth; /* by text: after how many bytes no other text is like it */
};

/* What the automaton of these texts weighs for each node. */
enum { AUTOMATON_NODE_BYTES = 4 * 4 + 1 };

/*
 * The texts are different from each other, not empty, in byte order, and stay where they are. At
 * most nr_max nodes are made: 0, and nothing is made, when they would be more.
 */
int automaton_init(struct automaton *a, const struct str *texts, uint32_t nr, size_t nr_max);
void automaton_done(struct automaton *a);

/* Tells each place where a text stands in the line, also within and across others; until false. */
void automaton_find(const struct automaton *a, struct str line,
		    bool (*found)(void *ctx, uint32_t text, uint32_t from), void *ctx);

#endif
