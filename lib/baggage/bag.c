#include "lib/baggage/bag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/baggage/number.h"

#define MANY_GROUPS 4096 /* times those of the other */

void bag_init(struct bag *bag, const struct culprit_query *q, uint32_t instance)
{
	bag->q = *q;
	bag->instance = instance;
	bag->nr = bag->from = bag->to = 0;
	bag->lost = 0;
	bag->room = BAG_FEW;
	bag->more = NULL;
}

void bag_done(struct bag *bag)
{
	free(bag->more);
	bag->more = NULL;
}

bool query_is_valid(const struct culprit_query *q)
{
	if (q->keep > CULPRIT_AGGREGATE || q->nr_folds > CULPRIT_FOLDS_MAX)
		return false;
	if (q->keep != CULPRIT_AGGREGATE && q->nr_folds)
		return false;
	if ((q->keep == CULPRIT_FIRST || q->keep == CULPRIT_RECENT) && !q->n)
		return false;
	for (uint32_t i = 0; i < q->nr_folds; i++)
		if (q->folds[i] > CULPRIT_AVERAGE)
			return false;
	return true;
}

static bool has_limit(const struct culprit_query *q)
{
	return q->keep == CULPRIT_FIRST || q->keep == CULPRIT_RECENT;
}

bool query_same(const struct culprit_query *a, const struct culprit_query *b)
{
	return a->id == b->id && a->keep == b->keep && (!has_limit(a) || a->n == b->n) &&
	       a->nr_folds == b->nr_folds && !memcmp(a->folds, b->folds, a->nr_folds);
}

/* The row of AGGREGATE with these bytes, or NULL. */
static struct row *find(const struct bag *bag, const void *bytes, size_t n)
{
	for (const struct row *r = bag_first(bag); r; r = bag_next(bag, r))
		if (r->n == n && (!n || !memcmp(row_bytes(bag, r), bytes, n)))
			return (struct row *)r;
	return NULL;
}

/* Room for so many bytes behind the rows: by taking back what is gone in front, or by more. */
static int reserve(struct bag *bag, size_t size)
{
	size_t used = bag_bytes(bag), room = bag->room;
	unsigned char *more;

	if (bag->room - bag->to >= size)
		return 0;
	if (bag->from >= used && bag->room - used >= size) {
		memcpy(bag_rows(bag), bag_rows(bag) + bag->from, used);
		bag->from = 0;
		bag->to = (uint32_t)used;
		return 0;
	}
	while (room < used + size)
		room *= 2;
	room = room < 2 * used ? 2 * used : room; /* RECENT moves half as much as it packs */
	if (room > UINT32_MAX / 2)
		return -E2BIG;
	more = malloc(room);
	if (!more)
		return -ENOMEM;
	memcpy(more, bag_rows(bag) + bag->from, used);
	free(bag->more);
	bag->more = more;
	bag->from = 0;
	bag->to = (uint32_t)used;
	bag->room = (uint32_t)room;
	return 0;
}

int bag_append(struct bag *bag, const struct fact *f)
{
	size_t size = bag_row_bytes(&bag->q, f->n);
	struct row *r;
	int e = reserve(bag, size);

	if (e)
		return e;
	r = (struct row *)(void *)(bag_rows(bag) + bag->to);
	*r = (struct row){ f->order, f->count, (uint32_t)f->n, (uint32_t)size };
	if (f->n) /* rows are compared with what pads them */
		memset((unsigned char *)r + size - 8, 0, 8);
	if (bag->q.nr_folds)
		memcpy(r + 1, f->numbers, bag->q.nr_folds * sizeof(*f->numbers));
	if (f->n)
		memcpy((unsigned char *)row_bytes(bag, r), f->bytes, f->n);
	bag->to += (uint32_t)size;
	bag->nr++;
	return 0;
}

static void drop_first(struct bag *bag)
{
	bag->from += bag_first(bag)->size;
	bag->nr--;
	if (!bag->nr)
		bag->from = bag->to = 0;
}

bool bag_fold(struct bag *bag, const struct fact *f)
{
	struct row *r = find(bag, f->bytes, f->n);
	struct culprit_number *to;

	if (!r)
		return false;
	to = (struct culprit_number *)(void *)(r + 1);
	r->count = r->count > UINT64_MAX - f->count ? UINT64_MAX : r->count + f->count;
	r->order = f->order < r->order ? f->order : r->order;
	for (uint32_t i = 0; i < bag->q.nr_folds; i++)
		to[i] = number_fold(bag->q.folds[i], &to[i], &f->numbers[i]);
	return true;
}

static int aggregate(struct bag *bag, const struct fact *f)
{
	return bag_fold(bag, f) ? 0 : bag_append(bag, f);
}

int bag_pack(struct bag *bag, const struct fact *f)
{
	switch (bag->q.keep) {
	case CULPRIT_FIRST:
		return bag->nr < bag->q.n ? bag_append(bag, f) : 0;
	case CULPRIT_RECENT:
		if (bag->nr == bag->q.n && bag->nr == 1)
			drop_first(bag); /* its place is free again at once */
		if (bag_append(bag, f))
			return -ENOMEM;
		while (bag->nr > bag->q.n)
			drop_first(bag);
		return 0;
	case CULPRIT_AGGREGATE:
		return aggregate(bag, f);
	default:
		return bag_append(bag, f);
	}
}

int bag_copy(struct bag *bag, const struct bag *from)
{
	size_t n = bag_bytes(from);

	bag_init(bag, &from->q, from->instance);
	if (reserve(bag, n))
		return -ENOMEM;
	memcpy(bag_rows(bag), bag_rows(from) + from->from, n);
	bag->to = (uint32_t)n;
	bag->nr = from->nr;
	bag->lost = from->lost;
	return 0;
}

static struct fact fact_of(const struct bag *bag, const struct row *r)
{
	return (struct fact){ r->order, r->count, row_bytes(bag, r), r->n, row_numbers(r) };
}

/* By order; what came from different branches at once, by its bytes: the same everywhere. */
static int row_order(const struct bag *a, const struct row *x, const struct bag *b,
		     const struct row *y)
{
	int r;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	r = memcmp(row_bytes(a, x), row_bytes(b, y), x->n < y->n ? x->n : y->n);
	return r ? r : (x->n > y->n) - (x->n < y->n);
}

static int merge_rows(struct bag *to, const struct bag *a, const struct bag *b, bool once)
{
	const struct row *x = bag_first(a), *y = bag_first(b);
	int r = 0;

	while ((x || y) && !r && (to->q.keep != CULPRIT_FIRST || to->nr < to->q.n)) {
		int o = !x ? 1 : !y ? -1 : row_order(a, x, b, y);
		struct fact f = o <= 0 ? fact_of(a, x) : fact_of(b, y);

		r = bag_append(to, &f);
		if (o > 0 || (!o && once))
			y = bag_next(b, y);
		if (o <= 0)
			x = bag_next(a, x);
	}
	while (to->q.keep == CULPRIT_RECENT && to->nr > to->q.n)
		drop_first(to);
	return r;
}

static int add_rows(struct bag *to, const struct bag *from)
{
	int e = 0;

	for (const struct row *r = bag_first(from); r && !e; r = bag_next(from, r)) {
		struct fact f = fact_of(from, r);

		e = aggregate(to, &f);
	}
	return e;
}

static int fact_order(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int r;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	r = memcmp(x->bytes, y->bytes, x->n);
	return r ? r : (x->order > y->order) - (x->order < y->order);
}

/* Very many groups are sorted, so that each is looked for only in the one before it. */
static int merge_many(struct bag *to, const struct bag *a, const struct bag *b)
{
	struct fact *all = malloc(((size_t)a->nr + b->nr) * sizeof(*all));
	struct bag one;
	size_t n = 0;
	int e = 0;

	if (!all)
		return -ENOMEM;
	for (const struct row *r = bag_first(a); r; r = bag_next(a, r))
		all[n++] = fact_of(a, r);
	for (const struct row *r = bag_first(b); r; r = bag_next(b, r))
		all[n++] = fact_of(b, r);
	qsort(all, n, sizeof(*all), fact_order);
	bag_init(&one, &to->q, to->instance);
	for (size_t i = 0; i < n && !e; i++) {
		bool is_next = i + 1 == n || all[i].n != all[i + 1].n ||
			       memcmp(all[i].bytes, all[i + 1].bytes, all[i].n) != 0;

		e = aggregate(&one, &all[i]);
		if (is_next && !e) {
			struct fact f = fact_of(&one, bag_first(&one));

			e = bag_append(to, &f);
			drop_first(&one);
		}
	}
	bag_done(&one);
	free(all);
	return e;
}

static int merge_groups(struct bag *to, const struct bag *a, const struct bag *b)
{
	int e;

	if ((uint64_t)a->nr * b->nr > MANY_GROUPS)
		return merge_many(to, a, b);
	e = bag_copy(to, a);
	return e ? e : add_rows(to, b);
}

static int become(struct bag *bag, struct bag *merged, int e, uint64_t lost)
{
	if (e) {
		bag_done(merged);
		return e;
	}
	merged->instance = bag->instance;
	merged->lost = lost;
	bag_done(bag);
	*bag = *merged;
	return 0;
}

int bag_merge(struct bag *bag, const struct bag *other)
{
	struct bag merged;
	int e;

	bag_init(&merged, &bag->q, bag->instance);
	if (bag->q.keep == CULPRIT_AGGREGATE)
		e = merge_groups(&merged, bag, other);
	else
		e = merge_rows(&merged, bag, other, false);
	return become(bag, &merged, e, bag->lost + other->lost);
}

static uint64_t packed(const struct bag *bag)
{
	uint64_t sum = 0;

	for (const struct row *r = bag_first(bag); r; r = bag_next(bag, r))
		sum += r->count;
	return sum;
}

/* Groups cannot be taken apart again: of two that differ the one that more went into. */
static bool is_fuller(const struct bag *a, const struct bag *b)
{
	uint64_t x = packed(a), y = packed(b);

	if (x != y)
		return x > y;
	if (bag_bytes(a) != bag_bytes(b))
		return bag_bytes(a) > bag_bytes(b);
	return memcmp(bag_rows(a) + a->from, bag_rows(b) + b->from, bag_bytes(a)) > 0;
}

int bag_unite(struct bag *bag, const struct bag *other)
{
	uint64_t lost = bag->lost > other->lost ? bag->lost : other->lost;
	struct bag merged;
	int e;

	bag_init(&merged, &bag->q, bag->instance);
	if (bag->q.keep == CULPRIT_AGGREGATE)
		e = bag_copy(&merged, is_fuller(bag, other) ? bag : other);
	else
		e = merge_rows(&merged, bag, other, true);
	return become(bag, &merged, e, lost);
}

bool bag_equal(const struct bag *a, const struct bag *b)
{
	const struct row *x = bag_first(a), *y = bag_first(b);

	if (a->nr != b->nr || a->lost != b->lost || bag_bytes(a) != bag_bytes(b))
		return false;
	for (; x; x = bag_next(a, x), y = bag_next(b, y)) {
		if (row_order(a, x, b, y) || x->count != y->count ||
		    memcmp(row_numbers(x), row_numbers(y),
			   a->q.nr_folds * sizeof(struct culprit_number)))
			return false;
	}
	return true;
}

void numbers_begin(const struct culprit_query *q, const struct culprit_number *from,
		   struct culprit_number *to)
{
	for (uint32_t i = 0; i < q->nr_folds; i++) {
		to[i] = from && q->folds[i] != CULPRIT_COUNT ? from[i]
							     : (struct culprit_number){ 0 };
		to[i].is_real = !!to[i].is_real;
	}
}

void numbers_result(const struct culprit_query *q, uint64_t count,
		    const struct culprit_number *from, struct culprit_number *to)
{
	for (uint32_t i = 0; i < q->nr_folds; i++)
		to[i] = number_result(q->folds[i], &from[i], count);
}
