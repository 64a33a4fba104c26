#include "query/slot.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this equal tuples are no longer put together: that saves work, and is not needed. */
#define MADE_MAX ((size_t)4 << 20)

void slot_reset(struct slot *s)
{
	vec_clear(&s->values);
	vec_clear(&s->halves);
	vec_clear(&s->weights);
	vec_clear(&s->items);
	vec_clear(&s->made);
	vec_clear(&s->unpacked);
	sets_reset(&s->sets);
}

void slot_done(struct slot *s)
{
	vec_done(&s->values);
	vec_done(&s->halves);
	vec_done(&s->weights);
	vec_done(&s->items);
	vec_done(&s->made);
	vec_done(&s->unpacked);
	vec_done(&s->behind);
	sets_done(&s->sets);
	lists_done(&s->lists);
}

/* The smallest, or the greatest, so many of both, ascending. */
static uint32_t join_lists(struct slot *s, const uint32_t *a, size_t na, const uint32_t *b,
			   size_t nb)
{
	uint32_t *v = mem_realloc(NULL, mem_bytes(na + nb + 1, sizeof(*v)));
	size_t i = 0, k = 0, nr = 0, most = s->stage->at_most;
	uint32_t list;

	while (i < na || k < nb) {
		if (k == nb || (i < na && a[i] < b[k]))
			v[nr++] = a[i++];
		else if (i == na || b[k] < a[i])
			v[nr++] = b[k++];
		else
			k++;
	}
	if (nr > most && s->stage->take == TAKE_RECENT)
		memmove(v, v + nr - most, most * sizeof(*v));
	list = lists_add(&s->lists, v, nr > most ? most : nr);
	free(v);
	return list + 1;
}

uint32_t slot_join(struct slot *s, uint32_t a, uint32_t b)
{
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	if (s->stage->take == TAKE_ALL)
		return sets_join(&s->sets, a, b);
	if (s->stage->at_most == 1)
		return (a < b) == (s->stage->take == TAKE_FIRST) ? a : b;
	return join_lists(s, lists_of(&s->lists, a - 1), lists_length(&s->lists, a - 1),
			  lists_of(&s->lists, b - 1), lists_length(&s->lists, b - 1));
}

uint32_t slot_pack(struct slot *s, uint32_t seen, uint32_t item)
{
	if (s->stage->take == TAKE_ALL)
		return sets_add(&s->sets, seen, item);
	if (s->stage->at_most == 1)
		return s->stage->take == TAKE_FIRST && seen ? seen : item + 1;
	if (!seen)
		return lists_add(&s->lists, &item, 1) + 1;
	return join_lists(s, lists_of(&s->lists, seen - 1), lists_length(&s->lists, seen - 1),
			  &item, 1);
}

/* --- equal tuples of a set put together ------------------------------------------------------- */

static int cmp_tuples(const struct slot *s, uint32_t a, uint32_t b)
{
	size_t n = s->stage->packed.nr;

	for (size_t i = 0; i < n; i++) {
		struct value x = s->values.v[a * n + i], y = s->values.v[b * n + i];

		if (x.type != y.type)
			return x.type < y.type ? -1 : 1;
		if (x.type == VALUE_TEXT && x.text != y.text)
			return x.text < y.text ? -1 : 1;
		if (x.type != VALUE_TEXT && x.type != VALUE_NULL && x.i != y.i)
			return x.i < y.i ? -1 : 1;
	}
	return 0;
}

/* A tuple of its own that stands for two. */
static void put_together(struct slot *s, uint32_t a, uint32_t b)
{
	size_t n = s->stage->packed.nr, h = s->stage->partials.nr;

	for (size_t i = 0; i < n; i++)
		vec_push(&s->values, s->values.v[a * n + i]);
	for (size_t i = 0; i < h; i++) {
		struct total t = s->halves.v[a * h + i];

		if (b != UINT32_MAX)
			total_combine(&t, &s->halves.v[b * h + i], 1, s->names);
		vec_push(&s->halves, t);
	}
	vec_push(&s->weights, s->weights.v[a] + (b != UINT32_MAX ? s->weights.v[b] : 0));
}

static struct range merge(struct slot *s, struct range a, struct range b)
{
	struct range r = { (uint32_t)s->weights.nr, 0 };
	uint32_t i = 0, k = 0;

	while (i < a.nr || k < b.nr) {
		int cmp = i == a.nr ? 1 : k == b.nr ? -1 : cmp_tuples(s, a.first + i, b.first + k);

		put_together(s, cmp <= 0 ? a.first + i : b.first + k,
			     cmp ? UINT32_MAX : b.first + k);
		i += cmp <= 0;
		k += cmp >= 0;
	}
	r.nr = (uint32_t)s->weights.nr - r.first;
	return r;
}

/* Tuples of an item come in any order: one by one. */
static void merge_item(struct slot *s, uint32_t item, struct range *all)
{
	for (uint32_t i = 0; i < s->items.v[item].nr; i++) {
		struct range one = { s->items.v[item].first + i, 1 };

		*all = all->nr ? merge(s, *all, one) : one;
	}
}

static struct range made_of(struct slot *s, uint32_t part)
{
	struct set_part p = s->sets.parts.v[part];
	struct range all = { 0, 0 };

	if (!part)
		return all;
	if (p.made)
		return s->made.v[p.made - 1];
	if (p.level) {
		struct range a = made_of(s, p.a), b = made_of(s, p.b);

		all = !a.nr ? b : !b.nr ? a : merge(s, a, b);
	} else {
		/* mostly the past of the event before is the same but for the last one */
		unsigned last = 63 - (unsigned)__builtin_clzll(p.mask);

		all = made_of(s, sets_masked(&s->sets, p.a, p.mask & ~((uint64_t)1 << last)));
		merge_item(s, p.a * 64 + last, &all);
	}
	vec_push(&s->made, all);
	s->sets.parts.v[part].made = (uint32_t)s->made.nr;
	return all;
}

static void unpack_range(struct slot *s, struct range r)
{
	for (uint32_t i = 0; i < r.nr; i++)
		vec_push(&s->unpacked, r.first + i);
}

static void unpack_item(void *ctx, uint32_t item)
{
	struct slot *s = ctx;

	unpack_range(s, s->items.v[item]);
}

void slot_unpack(struct slot *s, uint32_t seen)
{
	vec_clear(&s->unpacked);
	if (!seen)
		return;
	if (s->stage->take == TAKE_ALL && s->stage->is_grouped && s->weights.nr < MADE_MAX) {
		unpack_range(s, made_of(s, seen));
	} else if (s->stage->take == TAKE_ALL) {
		sets_each(&s->sets, seen, unpack_item, s);
	} else if (s->stage->at_most == 1) {
		unpack_item(s, seen - 1);
	} else {
		for (uint32_t i = 0; i < lists_length(&s->lists, seen - 1); i++)
			unpack_item(s, lists_of(&s->lists, seen - 1)[i]);
	}
}
