/*
 * Baggage as protobuf bytes: docs/baggage.md has the messages.
 *
 * Written from the last byte to the first, so that the length of every message is known when it is
 * to be written. Read strictly: a field that is not known would be one that changes the answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/baggage/state.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

#define TAG(field, type) ((field) << 3 | (type))

unsigned char *raw_reserve(struct culprit_baggage *b, size_t n)
{
	unsigned char *more;

	if (n <= RAW_FEW) {
		free(b->raw);
		b->raw = NULL;
	} else {
		more = realloc(b->raw, n);
		if (!more)
			return NULL;
		b->raw = more;
	}
	b->raw_n = (uint32_t)n;
	return b->raw ? b->raw : b->few;
}

/* Writing: p is the byte that was written last. */
struct out {
	unsigned char *p;
};

static void put_bytes(struct out *o, const void *bytes, size_t n)
{
	o->p -= n;
	if (n)
		memcpy(o->p, bytes, n);
}

static void put_long_varint(struct out *o, uint64_t v)
{
	unsigned char s[10];
	unsigned n = 0;

	for (; v >= 0x80; v >>= 7)
		s[n++] = (unsigned char)(v | 0x80);
	s[n++] = (unsigned char)v;
	put_bytes(o, s, n);
}

static inline void put_varint(struct out *o, uint64_t v)
{
	if (v < 0x80)
		*--o->p = (unsigned char)v;
	else
		put_long_varint(o, v);
}

static void put_uint(struct out *o, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_varint(o, v);
	put_varint(o, TAG(field, VARINT));
}

/* All that was written since end was the last byte is one field. */
static void put_length(struct out *o, unsigned field, const unsigned char *end)
{
	put_varint(o, (uint64_t)(end - o->p));
	put_varint(o, TAG(field, BYTES));
}

static void put_fixed(struct out *o, unsigned field, const void *eight)
{
	uint64_t v;
	unsigned char s[8];

	memcpy(&v, eight, 8);
	for (unsigned i = 0; i < 8; i++)
		s[i] = (unsigned char)(v >> 8 * i);
	put_bytes(o, s, 8);
	put_varint(o, TAG(field, FIXED64));
}

static void put_tree(struct out *o, unsigned field, const struct tree *t)
{
	const unsigned char *end = o->p;

	for (uint32_t i = t->n; i-- > 0;)
		put_varint(o, (uint32_t)(tree_at(t)[i] + 1));
	put_length(o, field, end);
}

static void put_clock(struct out *o, const struct clock *c)
{
	const unsigned char *end = o->p;

	put_uint(o, 4, c->is_shared);
	put_tree(o, 3, &c->history);
	if (!tree_is(&c->id, 1))
		put_tree(o, 2, &c->id);
	put_fixed(o, 1, &c->name);
	put_length(o, 1, end);
}

static void put_number(struct out *o, const struct culprit_number *n)
{
	const unsigned char *end = o->p;

	if (n->is_real)
		put_fixed(o, 2, &n->real);
	else
		put_uint(o, 1, (uint64_t)n->integer << 1 ^ (uint64_t)(n->integer >> 63));
	put_length(o, 4, end);
}

static void put_row(struct out *o, const struct bag *bag, const struct row *r)
{
	const unsigned char *end = o->p;

	for (uint32_t i = bag->q.nr_folds; i-- > 0;)
		put_number(o, &row_numbers(r)[i]);
	put_uint(o, 3, bag->q.keep == CULPRIT_AGGREGATE ? r->count : 0);
	if (r->n) {
		put_bytes(o, row_bytes(bag, r), r->n);
		put_varint(o, r->n);
		put_varint(o, TAG(2, BYTES));
	}
	put_uint(o, 1, r->order);
	put_length(o, 6, end);
}

/* Rows follow each other in memory: the later half is written first, so that none is looked for
 * from the beginning. */
static void put_rows(struct out *o, const struct bag *bag, const struct row *first, uint32_t nr)
{
	const struct row *middle = first;

	if (nr < 2) {
		if (nr)
			put_row(o, bag, first);
		return;
	}
	for (uint32_t i = 0; i < nr / 2; i++)
		middle = bag_next(bag, middle);
	put_rows(o, bag, middle, nr - nr / 2);
	put_rows(o, bag, first, nr / 2);
}

static void put_bag(struct out *o, const struct bag *bag)
{
	const unsigned char *end = o->p;

	put_rows(o, bag, bag_first(bag), bag->nr);
	put_uint(o, 5, bag->lost);
	if (bag->q.nr_folds) {
		put_bytes(o, bag->q.folds, bag->q.nr_folds);
		put_varint(o, bag->q.nr_folds);
		put_varint(o, TAG(4, BYTES));
	}
	put_uint(o, 3, bag->q.n);
	put_uint(o, 2, bag->q.keep);
	put_uint(o, 1, bag->q.id);
	put_length(o, 5, end);
}

static uint32_t clock_index(const struct culprit_baggage *b, uint64_t name)
{
	uint32_t i = 0;

	while (i < b->nr_clocks && b->clocks[i].name != name)
		i++;
	return i;
}

static void put_instance(struct out *o, const struct culprit_baggage *b, uint32_t i)
{
	const struct instance *in = &b->instances[i];
	const unsigned char *end = o->p;
	size_t n = sizeof(in->at.bits);

	for (uint32_t k = b->nr_bags; k-- > 0;)
		if (b->bags[k].instance == i)
			put_bag(o, &b->bags[k]);
	put_uint(o, 4, !i);
	while (n && !in->at.bits[n - 1])
		n--;
	if (n) {
		put_bytes(o, in->at.bits, n);
		put_varint(o, n);
		put_varint(o, TAG(3, BYTES));
	}
	put_uint(o, 2, in->nr);
	put_uint(o, 1, clock_index(b, in->clock));
	put_length(o, 2, end);
}

/* No less than what is written: ten bytes for a number, six for a tag and a length. */
static size_t bound(const struct culprit_baggage *b)
{
	size_t n = 64;

	for (uint32_t i = 0; i < b->nr_clocks; i++)
		n += 40 + 5 * (size_t)(b->clocks[i].id.n + b->clocks[i].history.n);
	n += 64 * (size_t)b->nr_instances;
	for (uint32_t i = 0; i < b->nr_bags; i++)
		n += 72 + bag_bytes(&b->bags[i]) + 40 * (size_t)b->bags[i].nr;
	return n;
}

static void put_baggage(struct out *o, const struct culprit_baggage *b)
{
	put_uint(o, 5, b->diverged);
	put_uint(o, 4, b->lost);
	put_uint(o, 3, b->now);
	for (uint32_t i = b->nr_instances; i-- > 0;)
		if (b->instances[i].nr)
			put_instance(o, b, i);
	for (uint32_t i = b->nr_clocks; i-- > 0;)
		put_clock(o, &b->clocks[i]);
}

int baggage_encode(struct culprit_baggage *b)
{
	unsigned char few[512], *all = few, *raw;
	size_t n = b->nr_bags || b->lost ? bound(b) : 0;
	struct out o;
	int r = 0;

	if (n > sizeof(few))
		all = malloc(n);
	if (!all)
		return -ENOMEM;
	o.p = all + n;
	if (n)
		put_baggage(&o, b);
	n = (size_t)(all + n - o.p);
	raw = n > RAW_MAX ? NULL : raw_reserve(b, n);
	if (raw)
		memcpy(raw, o.p, n);
	else
		r = n > RAW_MAX ? -E2BIG : -ENOMEM;
	if (all != few)
		free(all);
	return r;
}

/* Reading: what is left of a message. */
struct in {
	const unsigned char *p, *end;
};

struct field {
	unsigned number, type;
	uint64_t value;
	struct in bytes;
};

static bool take_long_varint(struct in *in, uint64_t *v)
{
	unsigned shift = 0;

	*v = 0;
	while (in->p < in->end && shift < 64) {
		unsigned char c = *in->p++;

		if (shift == 63 && c > 1)
			return false;
		*v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
		shift += 7;
	}
	return false;
}

/* Nearly all are of one byte. */
static inline bool take_varint(struct in *in, uint64_t *v)
{
	if (in->p == in->end || *in->p & 0x80)
		return take_long_varint(in, v);
	*v = *in->p++;
	return true;
}

/* 1: a field, 0: the end, -EBADMSG. */
static inline int take_field(struct in *in, struct field *f)
{
	uint64_t tag;

	if (in->p == in->end)
		return 0;
	if (!take_varint(in, &tag) || tag > 0xff)
		return -EBADMSG;
	f->number = (unsigned)tag >> 3;
	f->type = tag & 7;
	f->value = 0;
	f->bytes = (struct in){ in->p, in->p };
	if (f->type == FIXED64) {
		if (in->end - in->p < 8)
			return -EBADMSG;
		for (unsigned i = 0; i < 8; i++)
			f->value |= (uint64_t)*in->p++ << 8 * i;
		return 1;
	}
	if ((f->type != VARINT && f->type != BYTES) || !take_varint(in, &f->value))
		return -EBADMSG;
	if (f->type == VARINT)
		return 1;
	if (f->value > (uint64_t)(in->end - in->p))
		return -EBADMSG;
	f->bytes.p = in->p;
	f->bytes.end = in->p += f->value;
	return 1;
}

static bool is(const struct field *f, unsigned number, unsigned type)
{
	return f->number == number && f->type == type;
}

static int take_tree(struct in in, struct tree *t, bool is_id)
{
	uint32_t tokens[TREE_TOKENS];
	size_t n = 0;
	uint64_t v;

	tree_done(t);
	if (in.end - in.p == 1 && *in.p && *in.p <= (is_id ? 2 : 0x7f)) {
		tree_leaf(t, *in.p - 1u);
		return 0;
	}
	while (in.p < in.end) {
		if (n == TREE_TOKENS || !take_varint(&in, &v) || v > (is_id ? 2 : UINT32_MAX))
			return -EBADMSG;
		tokens[n++] = (uint32_t)v - 1;
	}
	return tree_set(t, tokens, n);
}

static int take_clock(struct culprit_baggage *b, struct in in)
{
	struct clock *c;
	struct field f;
	int r = clocks_reserve(b, 1);

	if (r)
		return r;
	c = &b->clocks[b->nr_clocks++];
	c->name = 0;
	c->is_shared = false;
	tree_leaf(&c->id, 1);
	tree_leaf(&c->history, 0);
	while ((r = take_field(&in, &f)) > 0) {
		r = 0;
		if (is(&f, 1, FIXED64))
			c->name = f.value;
		else if (is(&f, 2, BYTES))
			r = take_tree(f.bytes, &c->id, true);
		else if (is(&f, 3, BYTES))
			r = take_tree(f.bytes, &c->history, false);
		else if (is(&f, 4, VARINT))
			c->is_shared = f.value;
		else
			r = -EBADMSG;
		if (r)
			return r;
	}
	if (!r && clock_index(b, c->name) != b->nr_clocks - 1)
		return -EBADMSG; /* two of one name */
	return r;
}

static int take_number(struct in in, struct culprit_number *n)
{
	struct field f;
	int r;

	*n = (struct culprit_number){ 0 };
	while ((r = take_field(&in, &f)) > 0) {
		if (is(&f, 1, VARINT)) {
			n->integer = (int64_t)(f.value >> 1 ^ (0 - (f.value & 1)));
			n->is_real = 0;
		} else if (is(&f, 2, FIXED64)) {
			memcpy(&n->real, &f.value, 8);
			n->is_real = 1;
		} else {
			return -EBADMSG;
		}
	}
	return r;
}

/* Rows come in their order, but for groups. */
static int add_row(struct culprit_baggage *b, struct bag *bag, const struct fact *f, uint64_t *last)
{
	const struct culprit_query *q = &bag->q;
	size_t size = bag_row_bytes(q, f->n);

	if (f->order > b->now || (q->keep != CULPRIT_AGGREGATE && f->order < *last))
		return -EBADMSG;
	if ((q->keep == CULPRIT_FIRST || q->keep == CULPRIT_RECENT) && bag->nr >= q->n)
		return -EBADMSG;
	if (b->bytes + size > WHOLE_BYTES)
		return -E2BIG;
	*last = f->order;
	b->bytes += size;
	return bag_append(bag, f);
}

static int take_row(struct culprit_baggage *b, struct bag *bag, struct in in, uint64_t *last)
{
	struct culprit_number numbers[CULPRIT_FOLDS_MAX];
	bool has_groups = bag->q.keep == CULPRIT_AGGREGATE;
	struct fact fact = { .count = !has_groups, .numbers = numbers };
	uint32_t nr = 0;
	struct field f;
	int r;

	while ((r = take_field(&in, &f)) > 0) {
		r = 0;
		if (is(&f, 1, VARINT)) {
			fact.order = f.value;
		} else if (is(&f, 2, BYTES)) {
			fact.bytes = f.bytes.p;
			fact.n = (size_t)(f.bytes.end - f.bytes.p);
		} else if (is(&f, 3, VARINT) && has_groups) {
			fact.count = f.value;
		} else if (is(&f, 4, BYTES) && nr < bag->q.nr_folds) {
			r = take_number(f.bytes, &numbers[nr++]);
		} else {
			r = -EBADMSG;
		}
		if (r)
			return r;
	}
	if (!r && (nr != bag->q.nr_folds || !fact.count))
		return -EBADMSG;
	return r ? r : add_row(b, bag, &fact, last);
}

static int take_query(struct culprit_query *q, const struct field *f)
{
	size_t n = (size_t)(f->type == BYTES ? f->bytes.end - f->bytes.p : 0);

	if (is(f, 1, VARINT)) {
		q->id = f->value;
	} else if (is(f, 2, VARINT) && f->value <= CULPRIT_AGGREGATE) {
		q->keep = (uint32_t)f->value;
	} else if (is(f, 3, VARINT) && f->value <= UINT32_MAX) {
		q->n = (uint32_t)f->value;
	} else if (is(f, 4, BYTES) && n <= CULPRIT_FOLDS_MAX) {
		memcpy(q->folds, f->bytes.p, n);
		q->nr_folds = (uint32_t)n;
	} else {
		return -EBADMSG;
	}
	return 0;
}

/* Fields come in the order of their numbers, as everybody writes them: rows last. */
static int take_bag(struct culprit_baggage *b, uint32_t instance, struct in in)
{
	struct culprit_query q = { 0 };
	struct in rest = in;
	uint64_t lost = 0, last = 0;
	struct bag *bag;
	struct field f;
	int r;

	while ((r = take_field(&in, &f)) > 0 && !is(&f, 6, BYTES)) {
		r = is(&f, 5, VARINT) ? 0 : take_query(&q, &f);
		if (r)
			return r;
		lost = f.number == 5 ? f.value : lost;
		rest = in;
	}
	if (r < 0 || !query_is_valid(&q) || bag_of(b, &q, instance))
		return -EBADMSG;
	r = bags_reserve(b, 1);
	if (r)
		return r;
	bag = &b->bags[b->nr_bags++];
	bag_init(bag, &q, instance);
	bag->lost = lost;
	while ((r = take_field(&rest, &f)) > 0) {
		r = is(&f, 6, BYTES) ? take_row(b, bag, f.bytes, &last) : -EBADMSG;
		if (r)
			return r;
	}
	return r;
}

static int add_instance(struct culprit_baggage *b, const struct instance *i, bool is_active,
			uint32_t *at)
{
	int r;

	*at = 0;
	if (!i->nr || (is_active && b->instances[0].nr))
		return -EBADMSG;
	if (!is_active) {
		r = instances_reserve(b, 1);
		if (r)
			return r;
		*at = b->nr_instances++;
	}
	b->instances[*at] = *i;
	return 0;
}

static int take_instance(struct culprit_baggage *b, struct in in)
{
	struct instance i = { 0 };
	struct in rest = in;
	uint64_t clock = 0, nr = 0, is_active = 0;
	struct field f;
	uint32_t at;
	int r;

	while ((r = take_field(&in, &f)) > 0 && !is(&f, 5, BYTES)) {
		if (is(&f, 1, VARINT))
			clock = f.value;
		else if (is(&f, 2, VARINT))
			nr = f.value;
		else if (is(&f, 3, BYTES) && f.value <= sizeof(i.at.bits))
			memcpy(i.at.bits, f.bytes.p, f.value);
		else if (is(&f, 4, VARINT))
			is_active = f.value;
		else
			return -EBADMSG;
		rest = in;
	}
	if (r < 0 || clock >= b->nr_clocks || nr >= UINT32_MAX)
		return -EBADMSG;
	i.clock = b->clocks[clock].name;
	i.nr = (uint32_t)nr;
	r = add_instance(b, &i, is_active, &at);
	while (!r && (r = take_field(&rest, &f)) > 0)
		r = is(&f, 5, BYTES) ? take_bag(b, at, f.bytes) : -EBADMSG;
	return r;
}

/* Numbers that hold for all of it come first to be known: rows are held against them. */
static int take_numbers(struct culprit_baggage *b, struct in in)
{
	struct field f;
	int r;

	while ((r = take_field(&in, &f)) > 0) {
		if (is(&f, 3, VARINT))
			b->now = f.value;
		else if (is(&f, 4, VARINT))
			b->lost = f.value;
		else if (is(&f, 5, VARINT))
			b->diverged = f.value;
		else if (!is(&f, 1, BYTES) && !is(&f, 2, BYTES))
			return -EBADMSG;
	}
	return r < 0 || b->now == UINT64_MAX ? -EBADMSG : 0;
}

int baggage_decode(struct culprit_baggage *b, const unsigned char *bytes, size_t n)
{
	struct in in = { bytes, bytes + n };
	struct field f;
	int r = take_numbers(b, in);

	while (!r && (r = take_field(&in, &f)) > 0) {
		r = 0;
		if (is(&f, 1, BYTES))
			r = take_clock(b, f.bytes);
		else if (is(&f, 2, BYTES))
			r = take_instance(b, f.bytes);
	}
	return r;
}
