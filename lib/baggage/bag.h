/*
 * The tuples of one query that were packed in one instance of baggage.
 */
#ifndef CULPRIT_LIB_BAG_H
#define CULPRIT_LIB_BAG_H

#include <stdbool.h>

#include "lib/baggage/baggage.h"

/* A tuple in memory: this, the numbers of its query, its bytes, up to a multiple of eight. */
struct row {
	uint64_t order;
	uint64_t count;
	uint32_t n;
	uint32_t size; /* with all of it */
};

#define BAG_FEW 64

/* Rows are in their order, but for those of AGGREGATE, which are as they came. */
struct bag {
	struct culprit_query q;
	uint32_t instance;
	uint32_t nr;
	uint64_t lost;
	uint32_t from, to, room; /* bytes; what is in front of from is gone */
	unsigned char *more;     /* NULL: they are in few */
	_Alignas(8) unsigned char few[BAG_FEW];
};

/* What packing one tuple needs to know. */
struct fact {
	uint64_t order;
	uint64_t count;
	const void *bytes;
	size_t n;
	const struct culprit_number *numbers;
};

void bag_init(struct bag *bag, const struct culprit_query *q, uint32_t instance);
void bag_done(struct bag *bag);
int bag_copy(struct bag *bag, const struct bag *from);

bool query_is_valid(const struct culprit_query *q);
bool query_same(const struct culprit_query *a, const struct culprit_query *b);

/* Small, and on the way of every pack. */
static inline unsigned char *bag_rows(const struct bag *bag)
{
	return bag->more ? bag->more : (unsigned char *)bag->few;
}

static inline size_t bag_bytes(const struct bag *bag)
{
	return bag->to - bag->from;
}

static inline const struct row *bag_row(const struct bag *bag, uint32_t at)
{
	return at < bag->to ? (const struct row *)(void *)(bag_rows(bag) + at) : NULL;
}

/* NULL: none. */
static inline const struct row *bag_first(const struct bag *bag)
{
	return bag_row(bag, bag->from);
}

static inline const struct row *bag_next(const struct bag *bag, const struct row *r)
{
	return bag_row(bag, (uint32_t)((const unsigned char *)r - bag_rows(bag)) + r->size);
}

static inline const struct culprit_number *row_numbers(const struct row *r)
{
	return (const struct culprit_number *)(const void *)(r + 1);
}

static inline const void *row_bytes(const struct bag *bag, const struct row *r)
{
	return row_numbers(r) + bag->q.nr_folds;
}

/* How many bytes a new row takes. */
static inline size_t bag_row_bytes(const struct culprit_query *q, size_t n)
{
	return (sizeof(struct row) + q->nr_folds * sizeof(struct culprit_number) + n + 7) & ~7ul;
}

/* Behind all others, whatever the query keeps: for who knows that it is kept. */
int bag_append(struct bag *bag, const struct fact *f);

/* Into the row of AGGREGATE that has these bytes, if there is one. */
bool bag_fold(struct bag *bag, const struct fact *f);

/* As the query wants it. f->numbers are those of one tuple. */
int bag_pack(struct bag *bag, const struct fact *f);

/* Adds the rows of another branch. -ENOMEM: bag is as it was. */
int bag_merge(struct bag *bag, const struct bag *other);

/* The same, of copies that should have been branches: what is in both counts once. */
int bag_unite(struct bag *bag, const struct bag *other);

bool bag_equal(const struct bag *a, const struct bag *b);

/* What one tuple brings to each number, and what a reader gets to see. */
void numbers_begin(const struct culprit_query *q, const struct culprit_number *from,
		   struct culprit_number *to);
void numbers_result(const struct culprit_query *q, uint64_t count,
		    const struct culprit_number *from, struct culprit_number *to);

#endif
