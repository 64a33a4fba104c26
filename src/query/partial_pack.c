/* Partials as bytes: a version (the second one where there is a HISTOGRAM, which did not have its
 * sum in the first), the shape, what is missing by name, then group after group in the order of
 * their keys. A text stands in it once, and by number from then on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "model/loss_pack.h"
#include "query/partial.h"

#define VERSION 1
#define VERSION_HISTOGRAM 2
#define TEXT_MAX 4096 /* bytes */

/* --- to bytes ------------------------------------------------------------------------------ */

struct packer {
	struct buf *b;
	struct partial *p;
	struct map texts; /* of its names: which one it is here, from 1 on */
};

static void pack_double(struct buf *b, double d)
{
	memcpy(buf_room(b, sizeof(d)), &d, sizeof(d));
	b->n += sizeof(d);
}

static void pack_value(struct packer *k, struct value v)
{
	uint64_t *nr;

	buf_char(k->b, (char)v.type);
	if (v.type == VALUE_INT || v.type == VALUE_BOOL) {
		buf_svarint(k->b, v.i);
	} else if (v.type == VALUE_DOUBLE) {
		pack_double(k->b, v.d);
	} else if (v.type == VALUE_TEXT) {
		nr = map_at(&k->texts, v.text);
		buf_varint(k->b, *nr);
		if (*nr)
			return;
		*nr = k->texts.nr;
		buf_bytes(k->b, str_head(names_str(&k->p->names, v.text), TEXT_MAX));
	}
}

static void pack_cell(struct packer *k, struct partial_cell *c, enum aggregate f)
{
	buf_varint(k->b, c->nr);
	if (!c->nr)
		return;
	if (f == AGGREGATE_MIN)
		pack_value(k, c->least);
	else if (f == AGGREGATE_MAX)
		pack_value(k, c->most);
	else if (f == AGGREGATE_SUM || f == AGGREGATE_AVERAGE)
		sum_pack(k->b, &c->sum);
	if (f == AGGREGATE_HISTOGRAM)
		sum_pack(k->b, &c->sum);
	if (f == AGGREGATE_PERCENTILE || f == AGGREGATE_HISTOGRAM)
		spread_pack(k->b, c->spread);
}

static char version_of(const struct partial_shape *s)
{
	for (size_t i = 0; i < s->nr_cells; i++)
		if (s->functions[i] == AGGREGATE_HISTOGRAM)
			return VERSION_HISTOGRAM;
	return VERSION;
}

void partial_pack(struct buf *b, struct partial *p)
{
	struct packer k = { .b = b, .p = p };
	uint32_t *sorted = groups_sorted(&p->groups, &p->names);

	buf_char(b, version_of(&p->shape));
	buf_varint(b, p->shape.nr_keys);
	buf_varint(b, p->shape.nr_cells);
	buf_add(b, (struct str){ (const char *)p->shape.functions, p->shape.nr_cells });
	losses_pack(b, &p->losses);
	buf_varint(b, p->groups.nr);
	for (size_t i = 0; i < p->groups.nr; i++) {
		size_t g = sorted[i];

		buf_varint(b, p->times.v[g]);
		for (size_t n = 0; n < p->shape.nr_keys; n++)
			pack_value(&k, p->groups.keys.v[g * p->shape.nr_keys + n]);
		for (size_t n = 0; n < p->shape.nr_cells; n++)
			pack_cell(&k, &p->cells.v[g * p->shape.nr_cells + n],
				  p->shape.functions[n]);
	}
	map_done(&k.texts);
	free(sorted);
}

struct pieces {
	size_t max_bytes;
	void (*each)(void *ctx, struct str bytes);
	void *ctx;
};

static void pack_pieces(struct partial *p, const struct pieces *to);

/* Some of its groups; the first of them with its losses. */
static void pack_some(const struct partial *p, const struct pieces *to, size_t first, size_t nr)
{
	struct partial some;

	partial_init(&some, &p->shape);
	some.max_groups = SIZE_MAX;
	partial_merge_some(&some, p, first, nr);
	if (!first)
		some.losses = p->losses;
	pack_pieces(&some, to);
	partial_done(&some);
}

static void pack_pieces(struct partial *p, const struct pieces *to)
{
	size_t half = p->groups.nr / 2;
	struct buf b = { 0 };

	partial_pack(&b, p);
	if (b.n > to->max_bytes && half) {
		pack_some(p, to, 0, half);
		pack_some(p, to, half, p->groups.nr - half);
	} else if (b.n > to->max_bytes && p->groups.nr) {
		struct partial without;

		partial_init(&without, &p->shape);
		without.losses = p->losses;
		without.losses.count[LOSS_ROWS_DROPPED] += p->times.v[0];
		pack_pieces(&without, to);
		partial_done(&without);
	} else {
		to->each(to->ctx, buf_str(&b));
	}
	buf_done(&b);
}

void partial_pack_pieces(struct partial *p, size_t max_bytes,
			 void (*each)(void *ctx, struct str bytes), void *ctx)
{
	const struct pieces to = { max_bytes, each, ctx };

	pack_pieces(p, &to);
}

/* --- and back ------------------------------------------------------------------------------ */

struct taker {
	struct str s;
	struct partial *p;
	VEC(sym_t) texts;
};

static bool take_text(struct taker *t, struct value *v)
{
	struct str text;
	uint64_t nr;

	if (!str_take_varint(&t->s, &nr) || nr > t->texts.nr)
		return false;
	if (nr) {
		v->text = t->texts.v[nr - 1];
		return true;
	}
	if (!str_take_bytes(&t->s, &text) || text.n > TEXT_MAX)
		return false;
	v->text = names_add(&t->p->names, text);
	vec_push(&t->texts, v->text);
	return true;
}

static bool take_value(struct taker *t, struct value *v)
{
	if (!t->s.n)
		return false;
	*v = (struct value){ .type = (uint8_t)t->s.p[0] };
	t->s = str_skip(t->s, 1);
	switch (v->type) {
	case VALUE_NULL:
		return true;
	case VALUE_INT:
	case VALUE_BOOL:
		return str_take_svarint(&t->s, &v->i);
	case VALUE_DOUBLE:
		if (t->s.n < sizeof(v->d))
			return false;
		memcpy(&v->d, t->s.p, sizeof(v->d));
		t->s = str_skip(t->s, sizeof(v->d));
		return v->d == v->d;
	case VALUE_TEXT:
		return take_text(t, v);
	default:
		return false;
	}
}

static bool take_cell(struct taker *t, struct partial_cell *c, enum aggregate f)
{
	if (!str_take_varint(&t->s, &c->nr))
		return false;
	if (!c->nr || f == AGGREGATE_COUNT)
		return true;
	if (f == AGGREGATE_MIN || f == AGGREGATE_MAX) {
		bool is_read = take_value(t, &c->least);

		c->most = c->least;
		return is_read && c->least.type != VALUE_NULL;
	}
	if (f == AGGREGATE_SUM || f == AGGREGATE_AVERAGE)
		return sum_take(&t->s, &c->sum);
	if (f == AGGREGATE_HISTOGRAM && !sum_take(&t->s, &c->sum))
		return false;
	c->spread = mem_zalloc(sizeof(*c->spread));
	return spread_take(&t->s, c->spread) && c->spread->v.nr;
}

static bool take_group(struct taker *t)
{
	struct partial *p = t->p;
	struct value keys[VARIABLES_MAX];
	size_t before = p->groups.nr, group;
	uint64_t times;

	if (!str_take_varint(&t->s, &times))
		return false;
	for (size_t i = 0; i < p->shape.nr_keys; i++)
		if (!take_value(t, &keys[i]))
			return false;
	group = partial_group(p, keys, times);
	if (group != before)
		return false; /* twice the same, or too many */
	for (size_t i = 0; i < p->shape.nr_cells; i++)
		if (!take_cell(t, &p->cells.v[group * p->shape.nr_cells + i],
			       p->shape.functions[i]))
			return false;
	return true;
}

static bool take_shape(struct taker *t, struct partial_shape *shape)
{
	uint64_t keys, cells;
	char version = t->s.n ? t->s.p[0] : 0;

	t->s = str_skip(t->s, 1);
	if (!str_take_varint(&t->s, &keys) || keys > VARIABLES_MAX ||
	    !str_take_varint(&t->s, &cells) || cells > VARIABLES_MAX || cells > t->s.n)
		return false;
	shape->nr_keys = (uint32_t)keys;
	shape->nr_cells = (uint32_t)cells;
	for (uint32_t i = 0; i < shape->nr_cells; i++) {
		shape->functions[i] = (uint8_t)t->s.p[i];
		if (shape->functions[i] > AGGREGATE_HISTOGRAM)
			return false;
	}
	t->s = str_skip(t->s, shape->nr_cells);
	return version == version_of(shape);
}

static bool take_groups(struct taker *t)
{
	uint64_t nr;

	if (!str_take_varint(&t->s, &nr) || nr > t->s.n)
		return false;
	t->p->max_groups = nr;
	while (nr--)
		if (!take_group(t))
			return false;
	t->p->max_groups = PARTIAL_GROUPS;
	return !t->s.n;
}

int partial_unpack(struct partial *p, struct str bytes, struct error *err)
{
	struct taker t = { .s = bytes, .p = p };
	struct partial_shape shape = { 0 };
	bool is_read = take_shape(&t, &shape);

	partial_init(p, &shape);
	is_read = is_read && losses_take(&t.s, &p->losses) && take_groups(&t);
	vec_done(&t.texts);
	if (is_read)
		return 0;
	partial_done(p);
	partial_init(p, &(struct partial_shape){ 0 });
	return error_set(err, EBADMSG, "the result of a query does not parse");
}
