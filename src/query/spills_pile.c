#include "query/spills_pile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/advice/cell.h"

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static const uint64_t *key_of(const struct bag_entry *e)
{
	return (const uint64_t *)(const void *)(e + 1) + 1;
}

/* Entries that are states of one another are the same. */
static int same_cmp(const struct bag_entry *a, const struct bag_entry *b)
{
	int c = cmp_u64(a->kind, b->kind);

	c = c ? c : cmp_u64(a->writer, b->writer);
	if (c)
		return c;
	if (a->kind != BAG_GROUP) {
		c = cmp_u64(a->order, b->order);
		return c || a->kind == BAG_ITEMS ? c : cmp_u64(a->change, b->change);
	}
	c = cmp_u64(a->nr_key_words, b->nr_key_words);
	return c ? c : memcmp(key_of(a), key_of(b), 8u * a->nr_key_words);
}

static int by_same(const void *x, const void *y)
{
	const struct bag_entry *a = *(const struct bag_entry *const *)x;
	const struct bag_entry *b = *(const struct bag_entry *const *)y;
	int c = same_cmp(a, b);

	c = c ? c : cmp_u64(b->order, a->order);
	return c ? c : cmp_u64(b->change, a->change);
}

/* The latest state of each stands first. */
static void keep_latest(struct pile *p)
{
	size_t nr = 0;

	if (p->v.nr)
		qsort(p->v.v, p->v.nr, sizeof(*p->v.v), by_same);
	for (size_t i = 0; i < p->v.nr; i++)
		if (!nr || same_cmp(p->v.v[nr - 1], p->v.v[i]))
			p->v.v[nr++] = p->v.v[i];
	p->v.nr = nr;
}

static int by_order(const void *x, const void *y)
{
	const struct bag_entry *a = *(const struct bag_entry *const *)x;
	const struct bag_entry *b = *(const struct bag_entry *const *)y;
	int c = cmp_u64(a->order, b->order);

	return c ? c : cmp_u64(a->writer, b->writer);
}

static int by_order_back(const void *x, const void *y)
{
	return by_order(y, x);
}

/* An item may be in several entries, with one order. */
static void keep_at_most(struct pile *p)
{
	const struct bag_entry *e = p->v.nr ? p->v.v[0] : NULL;
	size_t nr = 0, items = 0, most;

	if (!e || (e->kind != BAG_ITEM_FIRST && e->kind != BAG_ITEM_RECENT))
		return;
	most = e->at_most ? e->at_most : 1;
	qsort(p->v.v, p->v.nr, sizeof(*p->v.v),
	      e->kind == BAG_ITEM_FIRST ? by_order : by_order_back);
	for (; nr < p->v.nr; nr++) {
		items += !nr || by_order(&p->v.v[nr - 1], &p->v.v[nr]) != 0;
		if (items > most)
			break;
	}
	p->v.nr = nr;
}

/* By the values of keys, as they are summed up. */
static int by_key(const void *x, const void *y, void *ctx)
{
	const struct bag_entry *e[2] = { *(const struct bag_entry *const *)x,
					 *(const struct bag_entry *const *)y };
	const struct advice_child *child = ctx;
	const uint64_t *at[2], *end[2];
	struct advice_value v[2];

	for (size_t k = 0; k < 2; k++) {
		at[k] = key_of(e[k]);
		end[k] = (const uint64_t *)(const void *)e[k] + e[k]->words;
	}
	for (size_t i = 0; i < child->nr_columns; i++) {
		int c;

		for (size_t k = 0; k < 2; k++)
			at[k] = at[k] ? cell_read(at[k], end[k], &v[k]) : NULL;
		if (!at[0] || !at[1])
			return !at[0] - !at[1];
		c = advice_cmp(&v[0], &v[1]);
		if (c)
			return c;
	}
	return 0;
}

void pile_settle(struct pile *p, const struct advice_child *c)
{
	struct advice_child child = *c;

	keep_latest(p);
	keep_at_most(p);
	if (c->is_summed && p->v.nr)
		qsort_r(p->v.v, p->v.nr, sizeof(*p->v.v), by_key, &child);
	p->words.nr = 0;
	vec_each (&p->v, e) {
		vec_reserve(&p->words, p->words.nr + (*e)->words);
		memcpy(p->words.v + p->words.nr, *e, 8u * (*e)->words);
		p->words.nr += (*e)->words;
	}
}

void pile_done(struct pile *p)
{
	vec_done(&p->v);
	vec_done(&p->words);
}
