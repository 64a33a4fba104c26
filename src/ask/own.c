#include "ask/own.h"

#include <stdlib.h>

#include "ask/length.h"

/* By parent, and of one parent by start. */
static int by_parent(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (spans[i].parent != spans[j].parent)
		return spans[i].parent < spans[j].parent ? -1 : 1;
	if (spans[i].start != spans[j].start)
		return spans[i].start < spans[j].start ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Takes from own what the children cover, which stand in order of start; *reach is up to where
 * earlier ones cover already. */
static void cover(const struct span *parent, const struct span *child, int64_t *reach, int64_t *own)
{
	int64_t from = child->start > *reach ? child->start : *reach;
	int64_t until = child->end < parent->end ? child->end : parent->end;

	if (until <= from)
		return;
	*own -= length_ns(from, until);
	*reach = until;
}

int64_t *own_times(const struct request_body *b, struct arena *arena)
{
	int64_t *own = arena_array(arena, int64_t, b->nr_spans + 1);
	uint32_t *order = arena_array(arena, uint32_t, b->nr_spans + 1);
	uint32_t at = SPAN_NONE;
	size_t nr = 0;
	int64_t reach = 0;

	for (uint32_t i = 0; i < b->nr_spans; i++) {
		own[i] = length_ns(b->spans[i].start, b->spans[i].end);
		if (b->spans[i].parent < i && !b->spans[i].follows)
			order[nr++] = i;
	}
	if (nr)
		qsort_r(order, nr, sizeof(*order), by_parent, b->spans);
	for (size_t k = 0; k < nr; k++) {
		const struct span *s = &b->spans[order[k]];

		if (s->parent != at) {
			at = s->parent;
			reach = b->spans[at].start;
		}
		cover(&b->spans[at], s, &reach, &own[at]);
	}
	return own;
}
