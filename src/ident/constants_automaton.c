/*
 * After A. Aho and M. Corasick, Efficient string matching: an aid to bibliographic search (1975).
 *
 * Where we differ: a text stands in the trie only up to the byte that sets it apart from all
 * others, and the rest of it is compared where it is found. A million constants of programs are 25
 * million bytes, but some six million nodes. Nodes are numbered by levels, so that the children of
 * one follow each other and need no list: 17 bytes a node. Making it costs one look at each byte of
 * each text; a line costs one step and some failures for each byte, and what is found.
 */
#include "ident/constants_automaton.h"

#include <stdlib.h>

#include "base/mem.h"

enum { APART = 2 }; /* bytes beyond what is shared: the fewer false finds */

/* Which texts begin like a node: [from, to), while the trie is made. */
struct range {
	uint32_t from, to;
};

static size_t shared(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How deep each text reaches; the number of nodes that this makes, the root included. */
static size_t measure(struct automaton *a)
{
	size_t before = 0, nodes = 1, depth_before = 0;

	for (uint32_t i = 0; i < a->nr_texts; i++) {
		size_t after = i + 1 < a->nr_texts ? shared(a->texts[i], a->texts[i + 1]) : 0;
		size_t depth = (before > after ? before : after) + APART;

		a->depth[i] = (uint16_t)least(depth, a->texts[i].n);
		nodes += a->depth[i] - least(before, least(depth_before, a->depth[i]));
		depth_before = a->depth[i];
		before = after;
	}
	return nodes;
}

/* The child by this byte, 0 for none. */
static uint32_t child(const struct automaton *a, uint32_t node, uint8_t byte)
{
	uint32_t from = a->first[node], to = a->first[node + 1];

	if (!node)
		return a->root[byte];
	while (to - from > 8) {
		uint32_t middle = from + (to - from) / 2;

		if (a->label[middle] <= byte)
			from = middle;
		else
			to = middle;
	}
	for (; from < to; from++)
		if (a->label[from] == byte)
			return from;
	return 0;
}

/* Where reading goes on after this byte. */
static uint32_t step(const struct automaton *a, uint32_t node, uint8_t byte)
{
	uint32_t next = child(a, node, byte);

	while (!next && node) {
		node = a->fail[node];
		next = child(a, node, byte);
	}
	return next;
}

/* Level by level: the children of each node, from the texts that begin like it. */
static void make_nodes(struct automaton *a, struct range *ranges)
{
	uint32_t nr = 1, level_end = 1;
	size_t depth = 0;

	ranges[0] = (struct range){ 0, a->nr_texts };
	for (uint32_t node = 0; node < nr; node++) {
		uint32_t at = ranges[node].from, to = ranges[node].to;

		if (node == level_end) {
			level_end = nr;
			depth++;
		}
		a->first[node] = nr;
		if (at < to && a->depth[at] == depth)
			a->text[node] = ++at; /* its number + 1, and on to the next */
		while (at < to) {
			uint8_t byte = (uint8_t)a->texts[at].p[depth];
			uint32_t from = at;

			while (at < to && (uint8_t)a->texts[at].p[depth] == byte)
				at++;
			if (!node)
				a->root[byte] = nr;
			a->label[nr] = byte;
			ranges[nr++] = (struct range){ from, at };
		}
	}
	a->first[nr] = nr;
	a->nr_nodes = nr;
}

/* A node fails to nodes above it, and those have smaller numbers. */
static void make_failures(struct automaton *a)
{
	for (uint32_t node = 0; node < a->nr_nodes; node++)
		for (uint32_t c = a->first[node]; c < a->first[node + 1]; c++) {
			uint32_t fail = node ? step(a, a->fail[node], a->label[c]) : 0;

			a->fail[c] = fail;
			a->shorter[c] = a->text[fail] ? fail : a->shorter[fail];
		}
}

int automaton_init(struct automaton *a, const struct str *texts, uint32_t nr, size_t nr_max)
{
	struct range *ranges;
	size_t nodes;

	*a = (struct automaton){ .texts = texts, .nr_texts = nr };
	a->depth = mem_zalloc(mem_bytes((size_t)nr + 1, sizeof(*a->depth)));
	nodes = measure(a);
	if (nodes > nr_max || nodes >= UINT32_MAX - 1) {
		automaton_done(a);
		return 0;
	}
	ranges = mem_alloc(mem_bytes(nodes, sizeof(*ranges)));
	a->first = mem_zalloc(mem_bytes(nodes + 1, sizeof(*a->first)));
	a->fail = mem_zalloc(mem_bytes(nodes, sizeof(*a->fail)));
	a->shorter = mem_zalloc(mem_bytes(nodes, sizeof(*a->shorter)));
	a->text = mem_zalloc(mem_bytes(nodes, sizeof(*a->text)));
	a->label = mem_zalloc(nodes);
	make_nodes(a, ranges);
	free(ranges);
	make_failures(a);
	return 1;
}

void automaton_done(struct automaton *a)
{
	free(a->first);
	free(a->fail);
	free(a->shorter);
	free(a->text);
	free(a->label);
	free(a->depth);
	*a = (struct automaton){ 0 };
}

void automaton_find(const struct automaton *a, struct str line,
		    bool (*found)(void *ctx, uint32_t text, uint32_t from), void *ctx)
{
	uint32_t node = 0;

	if (!a->nr_nodes)
		return;
	for (uint32_t i = 0; i < line.n; i++) {
		node = step(a, node, (uint8_t)line.p[i]);
		for (uint32_t n = a->text[node] ? node : a->shorter[node]; n; n = a->shorter[n]) {
			uint32_t text = a->text[n] - 1, from = i + 1 - a->depth[text];

			if (str_starts(str_skip(line, from), a->texts[text]) &&
			    !found(ctx, text, from))
				return;
		}
	}
}
