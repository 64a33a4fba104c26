#include "infer/named/tree.h"

#include <stdlib.h>

#include "model/loss.h"
#include "model/span.h"

/* The slot of this id: taken by a span that has it, or free. Slots hold position + 1. */
static uint32_t *id_slot(const struct tree *t, struct str id)
{
	uint32_t mask = t->nr_slots - 1, at = (uint32_t)str_hash(id) & mask;

	for (;; at = (at + 1) & mask)
		if (!t->slots[at] || str_eq(t->spans[t->slots[at] - 1].id, id))
			return &t->slots[at];
}

uint32_t tree_find(const struct tree *t, struct str id)
{
	uint32_t found = id.n && t->nr_slots ? *id_slot(t, id) : 0;

	return found ? found - 1 : SPAN_NONE;
}

static bool is_same(const struct span *a, const struct span *b)
{
	return a->start == b->start && a->end == b->end && a->kind == b->kind &&
	       str_eq(a->name, b->name) && str_eq(a->parent_id, b->parent_id) &&
	       str_eq(a->node, b->node);
}

/* Moves each span that was not seen yet to the front. */
static void take_distinct(struct tree *t, size_t nr, struct losses *losses)
{
	for (size_t i = 0; i < nr; i++) {
		struct span *s = &t->spans[t->nr];
		uint32_t *slot = id_slot(t, t->spans[i].id);

		if (t->spans[i].id.n && *slot && is_same(&t->spans[*slot - 1], &t->spans[i])) {
			losses->count[LOSS_SPANS_TWICE]++;
			continue;
		}
		if (t->nr != i)
			*s = t->spans[i];
		s->parent = SPAN_NONE;
		if (!(s->confidence > 0))
			s->confidence = 1;
		if (s->end < s->start)
			s->end = s->start;
		t->nr++;
		if (s->id.n && *slot)
			losses->count[LOSS_SPAN_IDS_SHARED]++;
		else if (s->id.n)
			*slot = (uint32_t)t->nr;
	}
}

static void find_parents(struct tree *t, struct losses *losses)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		struct span *s = &t->spans[i];

		if (!s->parent_id.n)
			continue;
		s->parent = tree_find(t, s->parent_id);
		if (s->parent == i)
			s->parent = SPAN_NONE;
		if (s->parent != SPAN_NONE)
			continue;
		losses->count[LOSS_PARENTS_MISSING]++;
		t->is_incomplete = true;
	}
}

/* Walks up from every span and marks the way; meeting one's own mark again is a circle. */
static void cut_circles(struct tree *t, struct arena *arena, struct losses *losses)
{
	uint32_t *mark = arena_array(arena, uint32_t, t->nr);

	for (uint32_t i = 0; i < t->nr; i++) {
		uint32_t at = i;

		while (at != SPAN_NONE && !mark[at]) {
			uint32_t up = t->spans[at].parent;

			mark[at] = i + 1;
			if (up != SPAN_NONE && mark[up] == i + 1) {
				t->spans[at].parent = SPAN_NONE;
				losses->count[LOSS_PARENTS_CIRCLE]++;
				break;
			}
			at = up;
		}
	}
}

struct child {
	uint32_t parent; /* roots have SPAN_NONE and so come last */
	uint32_t at;
	int64_t start;
};

static int child_cmp(const void *pa, const void *pb)
{
	const struct child *a = pa, *b = pb;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Where the children of each span begin in the sorted list; first[nr] is where the roots do. */
static uint32_t *first_children(const struct child *kids, size_t nr, struct arena *arena)
{
	uint32_t *first = arena_array(arena, uint32_t, nr + 1);
	uint32_t k = 0;

	for (uint32_t i = 0; i <= nr; i++) {
		uint32_t parent = i < nr ? i : SPAN_NONE;

		while (k < nr && kids[k].parent < parent)
			k++;
		first[i] = k;
	}
	return first;
}

/* Depth first without recursion: children are pushed last to first, so that the earliest comes
 * next. Answers where each span goes. */
static uint32_t *places(const struct tree *t, struct arena *arena)
{
	struct child *kids = arena_array(arena, struct child, t->nr);
	uint32_t *place = arena_array(arena, uint32_t, t->nr),
		 *stack = arena_array(arena, uint32_t, t->nr);
	uint32_t *first, nr = (uint32_t)t->nr, depth = 0, done = 0;

	for (uint32_t i = 0; i < nr; i++)
		kids[i] = (struct child){ t->spans[i].parent, i, t->spans[i].start };
	qsort(kids, nr, sizeof(*kids), child_cmp);
	first = first_children(kids, nr, arena);
	for (uint32_t k = nr; k > first[nr]; k--)
		stack[depth++] = kids[k - 1].at;
	while (depth) {
		uint32_t at = stack[--depth];

		place[at] = done++;
		for (uint32_t k = first[at + 1]; k > first[at]; k--)
			stack[depth++] = kids[k - 1].at;
	}
	return place;
}

/* In place: a trace of millions of spans is held once. */
static void order(struct tree *t, struct arena *arena)
{
	uint32_t *place = places(t, arena);

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->spans[i].parent != SPAN_NONE)
			t->spans[i].parent = place[t->spans[i].parent];
	for (uint32_t i = 0; i < t->nr_slots; i++)
		if (t->slots[i])
			t->slots[i] = place[t->slots[i] - 1] + 1;
	for (uint32_t i = 0; i < t->nr; i++) {
		while (place[i] != i) {
			uint32_t to = place[i];
			struct span moved = t->spans[to];

			t->spans[to] = t->spans[i];
			t->spans[i] = moved;
			place[i] = place[to];
			place[to] = to;
		}
	}
}

void tree_build(struct tree *t, struct span *spans, size_t nr, struct arena *arena,
		struct losses *losses)
{
	*t = (struct tree){ .spans = spans, .nr_slots = 8 };
	while (t->nr_slots < 2 * nr)
		t->nr_slots *= 2;
	t->slots = arena_array(arena, uint32_t, t->nr_slots);
	take_distinct(t, nr, losses);
	find_parents(t, losses);
	cut_circles(t, arena, losses);
	order(t, arena);
}
