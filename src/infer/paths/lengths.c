#include "infer/paths/lengths.h"

#include <stdlib.h>

#include "infer/paths/calls.h"

enum { WANTED = 1 << 16, OF_ALL = 4096, LEAST = 8 };

void lengths_done(struct lengths *l)
{
	free(l->wanted);
	vec_done(&l->v);
}

static uint64_t edge_of(uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | to;
}

static unsigned hash(uint64_t edge)
{
	return (unsigned)(edge * 0x9e3779b97f4a7c15ULL >> 48) % WANTED;
}

void lengths_want(struct lengths *l, uint32_t from, uint32_t to)
{
	unsigned h = hash(edge_of(from, to));

	if (!l->wanted)
		l->wanted = mem_zalloc(WANTED / 8);
	l->wanted[h / 8] |= (uint8_t)(1 << h % 8);
}

static int by_edge(const void *pa, const void *pb)
{
	const struct length *a = pa, *b = pb;

	if (a->edge != b->edge)
		return a->edge < b->edge ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

void lengths_read(struct lengths *l, const struct window *w)
{
	size_t step = w->calls.nr / OF_ALL + 1;

	if (!l->wanted)
		return;
	for (size_t i = 0; i < w->calls.nr; i++) {
		const struct call *c = &w->calls.v[i];
		uint64_t edge = edge_of(c->from, c->to);
		unsigned h = hash(edge);

		if (c->t4 == CALL_OPEN || c->no_call || c->no_return)
			continue;
		if (i % step == 0)
			vec_push(&l->v, (struct length){ 0, c->t4 - c->t1 });
		if (l->wanted[h / 8] >> h % 8 & 1)
			vec_push(&l->v, (struct length){ edge, c->t4 - c->t1 });
	}
	if (l->v.nr)
		qsort(l->v.v, l->v.nr, sizeof(*l->v.v), by_edge);
}

/* Where the lengths of this edge, or of a later one, begin. */
static size_t first_of(const struct lengths *l, uint64_t edge)
{
	size_t lo = 0, hi = l->v.nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->v.v[mid].edge < edge)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int64_t lengths_of(const struct lengths *l, uint32_t from, uint32_t to, double share, size_t *nr)
{
	uint64_t edge = edge_of(from, to);
	size_t first = first_of(l, edge), found = first_of(l, edge + 1) - first;

	if (nr)
		*nr = found;
	if (found < LEAST) {
		first = 0;
		found = first_of(l, 1);
	}
	if (!found)
		return -1;
	return l->v.v[first + (size_t)(share * (double)(found - 1))].ns;
}
