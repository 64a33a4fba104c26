#include "lib/baggage/baggage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/baggage/state.h"

struct culprit_baggage *baggage_new(void)
{
	struct culprit_baggage *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	memset(b, 0, offsetof(struct culprit_baggage, one_clock));
	b->clocks = &b->one_clock;
	b->instances = &b->one_instance;
	b->bags = &b->one_bag;
	b->room_clocks = b->room_instances = b->room_bags = 1;
	b->nr_instances = 1;
	memset(b->instances, 0, sizeof(*b->instances));
	b->is_open = true;
	return b;
}

void baggage_clear(struct culprit_baggage *b)
{
	for (uint32_t i = 0; i < b->nr_clocks; i++) {
		tree_done(&b->clocks[i].id);
		tree_done(&b->clocks[i].history);
	}
	for (uint32_t i = 0; i < b->nr_bags; i++)
		bag_done(&b->bags[i]);
	b->nr_clocks = b->nr_bags = 0;
	b->nr_instances = 1;
	memset(b->instances, 0, sizeof(*b->instances));
	b->now = b->lost = b->diverged = 0;
	b->bytes = 0;
	b->is_dirty = false;
}

void culprit_baggage_free(struct culprit_baggage *b)
{
	if (!b)
		return;
	baggage_clear(b);
	if (b->clocks != &b->one_clock)
		free(b->clocks);
	if (b->instances != &b->one_instance)
		free(b->instances);
	if (b->bags != &b->one_bag)
		free(b->bags);
	free(b->raw);
	free(b);
}

void baggage_changed(struct culprit_baggage *b)
{
	b->is_raw = false;
}

/* *at: the array, one: where it is while it has one entry. */
static int reserve(void *at, void *one, uint32_t *room, uint32_t wanted, uint32_t most, size_t size)
{
	uint32_t more = *room * 2;
	void *old, *new;

	if (wanted <= *room)
		return 0;
	if (wanted > most)
		return -E2BIG;
	more = more < wanted ? wanted : more;
	memcpy(&old, at, sizeof(old));
	new = realloc(old == one ? NULL : old, more * size);
	if (!new)
		return -ENOMEM;
	if (old == one)
		memcpy(new, one, size);
	memcpy(at, &new, sizeof(new));
	*room = more;
	return 0;
}

int clocks_reserve(struct culprit_baggage *b, uint32_t nr)
{
	return reserve(&b->clocks, &b->one_clock, &b->room_clocks, b->nr_clocks + nr, CLOCKS_MAX,
		       sizeof(*b->clocks));
}

int instances_reserve(struct culprit_baggage *b, uint32_t nr)
{
	return reserve(&b->instances, &b->one_instance, &b->room_instances, b->nr_instances + nr,
		       INSTANCES_MAX, sizeof(*b->instances));
}

int bags_reserve(struct culprit_baggage *b, uint32_t nr)
{
	return reserve(&b->bags, &b->one_bag, &b->room_bags, b->nr_bags + nr, BAGS_MAX,
		       sizeof(*b->bags));
}

struct bag *bag_of(struct culprit_baggage *b, const struct culprit_query *q, uint32_t instance)
{
	for (uint32_t i = 0; i < b->nr_bags; i++)
		if (b->bags[i].instance == instance && query_same(&b->bags[i].q, q))
			return &b->bags[i];
	return NULL;
}

void baggage_count(struct culprit_baggage *b)
{
	b->bytes = 0;
	for (uint32_t i = 0; i < b->nr_bags; i++)
		b->bytes += bag_bytes(&b->bags[i]);
}

int baggage_open(struct culprit_baggage *b)
{
	int r;

	if (b->is_open)
		return 0;
	r = baggage_decode(b, b->raw ? b->raw : b->few, b->raw_n);
	if (r)
		baggage_clear(b);
	else
		b->is_open = true;
	return r;
}

/* Those that are here came before: with enough of them FIRST wants no more, whatever comes. */
static bool has_first(struct culprit_baggage *b, const struct culprit_query *q)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < b->nr_bags; i++)
		if (query_same(&b->bags[i].q, q))
			nr += b->bags[i].nr;
	return nr >= q->n;
}

static bool fits(const struct culprit_baggage *b, const struct bag *bag, const struct fact *f)
{
	size_t size = bag_row_bytes(&bag->q, f->n), gone = 0;

	if (bag->q.keep == CULPRIT_RECENT && bag->nr == bag->q.n)
		gone = bag_first(bag)->size;
	return b->bytes - gone + size <= CULPRIT_BAGGAGE_BYTES;
}

static int pack(struct culprit_baggage *b, const struct culprit_query *q, struct fact *f)
{
	struct bag *bag;
	size_t before;
	int r;

	if (q->keep == CULPRIT_FIRST && has_first(b, q))
		return 0;
	baggage_changed(b);
	b->is_dirty = true;
	bag = bag_of(b, q, 0);
	if (!bag) {
		r = bags_reserve(b, 1);
		if (r) {
			b->lost++;
			return r;
		}
		bag = &b->bags[b->nr_bags++];
		bag_init(bag, q, 0);
	}
	before = bag_bytes(bag);
	f->order = b->now + 1;
	if (q->keep == CULPRIT_AGGREGATE && bag_fold(bag, f))
		r = 0;
	else
		r = fits(b, bag, f) ? bag_pack(bag, f) : -E2BIG;
	b->bytes += bag_bytes(bag) - before;
	if (r)
		bag->lost++;
	else
		b->now++;
	return r;
}

int culprit_baggage_pack(struct culprit_baggage **b, const struct culprit_query *q,
			 const void *tuple, size_t n, const struct culprit_number *numbers)
{
	struct culprit_number folded[CULPRIT_FOLDS_MAX];
	struct fact f = { .count = 1, .bytes = tuple, .n = n, .numbers = folded };
	int r;

	if (!query_is_valid(q) || (n && !tuple))
		return -EINVAL;
	for (uint32_t i = 0; i < q->nr_folds && !numbers; i++)
		if (q->folds[i] != CULPRIT_COUNT)
			return -EINVAL;
	if (!*b)
		*b = baggage_new();
	if (!*b)
		return -ENOMEM;
	r = baggage_open(*b);
	if (r)
		return r;
	if (q->nr_folds)
		numbers_begin(q, numbers, folded);
	return pack(*b, q, &f);
}

static ssize_t visit_bag(const struct bag *bag, culprit_visit *visit, void *to)
{
	struct culprit_number results[CULPRIT_FOLDS_MAX];
	ssize_t nr = 0;

	for (const struct row *r = bag_first(bag); r; r = bag_next(bag, r)) {
		struct culprit_tuple t = { row_bytes(bag, r), r->n, r->order, r->count, NULL };

		if (bag->q.nr_folds) {
			numbers_result(&bag->q, r->count, row_numbers(r), results);
			t.numbers = results;
		}
		nr++;
		if (visit(to, &t))
			break;
	}
	return nr;
}

ssize_t culprit_baggage_unpack(struct culprit_baggage *b, const struct culprit_query *q,
			       culprit_visit *visit, void *to)
{
	struct bag *found = NULL, all;
	bool is_merged = false;
	ssize_t r;

	if (!b)
		return 0;
	r = baggage_open(b);
	for (uint32_t i = 0; i < b->nr_bags && !r; i++) {
		if (!query_same(&b->bags[i].q, q))
			continue;
		if (found && !is_merged) {
			r = bag_copy(&all, found);
			is_merged = true;
		}
		if (is_merged && !r)
			r = bag_merge(&all, &b->bags[i]);
		found = is_merged ? &all : &b->bags[i];
	}
	if (!r && found)
		r = visit_bag(found, visit, to);
	if (is_merged)
		bag_done(&all);
	return r;
}

uint64_t culprit_baggage_lost(struct culprit_baggage *b, const struct culprit_query *q)
{
	uint64_t lost;

	if (!b || baggage_open(b))
		return 0;
	lost = b->lost;
	for (uint32_t i = 0; i < b->nr_bags; i++)
		if (query_same(&b->bags[i].q, q))
			lost += b->bags[i].lost;
	return lost;
}

ssize_t culprit_baggage_serialize(struct culprit_baggage *b, void *bytes, size_t size)
{
	int r;

	if (!b)
		return 0;
	if (!b->is_raw) {
		r = b->nr_bags ? baggage_name(b) : 0;
		if (!r)
			r = baggage_encode(b);
		if (r)
			return r;
		b->is_raw = true;
	}
	if (b->raw_n && b->raw_n <= size)
		memcpy(bytes, b->raw ? b->raw : b->few, b->raw_n);
	return b->raw_n;
}

int culprit_baggage_deserialize(struct culprit_baggage **b, const void *bytes, size_t n)
{
	struct culprit_baggage *new = NULL;

	if (n > RAW_MAX)
		return -E2BIG;
	if (n) {
		unsigned char *raw;

		new = baggage_new();
		raw = new ? raw_reserve(new, n) : NULL;
		if (!raw) {
			culprit_baggage_free(new);
			return -ENOMEM;
		}
		memcpy(raw, bytes, n);
		new->is_open = false;
		new->is_raw = true;
	}
	*b = new;
	return 0;
}
