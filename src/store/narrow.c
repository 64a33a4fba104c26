#include "store/narrow.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "store/body.h"
#include "store/brief.h"
#include "store/code.h"
#include "store/db.h"
#include "store/run.h"
#include "store/wanted.h"

/*
 * One look at the briefs of the time that is asked for sets a bit for each request of the
 * selection. Which nodes it crosses stands there too, but for those of rare sets and of runs of
 * former days: their bodies are read.
 */

struct unsure {
	uint64_t id, ordinal;
	uint32_t type, nr_spans;
};

struct choosing {
	struct store *s;
	struct narrow to;
	struct wanted wanted;
	struct str node;     /* empty: any */
	sym_t sym;           /* of it; 0: none of those that are known */
	VEC(uint8_t) in_set; /* by set that is kept: whether it has the node */
	VEC(uint64_t) counts;
	VEC(struct unsure) unsure;
};

void narrow_done(struct narrow *n)
{
	vec_done(&n->bits);
	vec_done(&n->types);
	sampled_done(&n->sampled);
	*n = (struct narrow){ 0 };
}

static void choose(struct choosing *c, uint64_t id, uint32_t type, uint32_t nr_spans)
{
	c->to.bits.v[id / 8] |= (uint8_t)(1 << id % 8);
	if (!c->to.nr || id < c->to.first)
		c->to.first = id;
	if (id > c->to.last)
		c->to.last = id;
	c->to.nr++;
	c->to.nr_spans += nr_spans;
	c->counts.v[type]++;
}

static void look_at(struct choosing *c, const struct brief_row *row)
{
	enum nodeset_has has = NODESET_YES;

	if (c->node.n)
		has = row->set < c->in_set.nr
			      ? (enum nodeset_has)c->in_set.v[row->set]
			      : nodesets_has(&c->s->brief_names.sets, row->set, c->sym);
	if (has == NODESET_MAYBE)
		vec_push(&c->unsure,
			 (struct unsure){ row->b.id, row->ordinal, row->b.type, row->nr_spans });
	else if (has == NODESET_YES)
		choose(c, row->b.id, row->b.type, row->nr_spans);
}

static int look_at_all(struct choosing *c, struct error *err)
{
	struct briefs at = { 0 };
	struct brief_row row;
	int r = c->wanted.until_ns > 0 ? briefs_seek(c->s, &at, c->wanted.from_ns, err) : 0;

	while (r >= 0 && (r = briefs_next_wanted(c->s, &at, &c->wanted, &row, err)) > 0)
		look_at(c, &row);
	briefs_done(&at);
	return r < 0 ? r : 0;
}

static int by_ordinal(const void *x, const void *y)
{
	const struct unsure *a = x, *b = y;

	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static bool crosses(const struct request_body *body, struct str node)
{
	for (size_t i = 0; i < body->nr_spans; i++)
		if (str_eq(body->spans[i].node, node))
			return true;
	return false;
}

static int look_into(struct choosing *c, struct bodies *at, const struct unsure *u,
		     struct arena *arena, struct error *err)
{
	struct request request = { 0 };
	struct request_body body;
	struct str record;
	int r = bodies_at(c->s, at, u->ordinal, &record, err);

	if (r)
		return r;
	arena_reset(arena);
	if (!code_take_request(&record, &c->s->syms, &request) ||
	    !body_take(&record, &c->s->syms, &request, arena, &body))
		return db_damaged(c->s->db, "the body of a request cannot be read", err);
	if (crosses(&body, c->node))
		choose(c, u->id, u->type, u->nr_spans);
	return 0;
}

static int look_into_bodies(struct choosing *c, struct error *err)
{
	struct arena arena = { 0 };
	struct bodies at = { 0 };
	int r = 0;

	if (c->unsure.nr)
		qsort(c->unsure.v, c->unsure.nr, sizeof(*c->unsure.v), by_ordinal);
	for (size_t i = 0; i < c->unsure.nr && !r; i++)
		r = look_into(c, &at, &c->unsure.v[i], &arena, err);
	bodies_done(&at);
	arena_done(&arena);
	return r;
}

static int most_first(const void *x, const void *y)
{
	const struct catalog_type *a = x, *b = y;

	if (a->nr != b->nr)
		return a->nr > b->nr ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static void keep_types(struct choosing *c)
{
	for (size_t i = 0; i < c->s->catalog.types.nr; i++)
		if (c->counts.v[i])
			vec_push(&c->to.types, (struct catalog_type){ c->s->catalog.types.v[i].name,
								      c->counts.v[i] });
	if (c->to.types.nr)
		qsort(c->to.types.v, c->to.types.nr, sizeof(*c->to.types.v), most_first);
}

/* A node that no set has may still be in bodies. */
static int prepare(struct choosing *c, const struct request_filter *f, struct error *err)
{
	struct store *s = c->s;
	const struct nodesets *sets = &s->brief_names.sets;
	int r = wanted_init(&c->wanted, s, f, err);

	if (!r)
		r = brief_names_read(s, err);
	if (r < 0)
		return r;
	c->sym = names_find(&sets->nodes, c->node);
	for (uint32_t i = 0; c->node.n && r && (i < sets->sets.nr || !i); i++)
		vec_push(&c->in_set, (uint8_t)nodesets_has(sets, i, c->sym));
	vec_reserve(&c->to.bits, s->catalog.totals.nr_requests / 8 + 1);
	c->to.bits.nr = s->catalog.totals.nr_requests / 8 + 1;
	memset(c->to.bits.v, 0, c->to.bits.nr);
	for (size_t i = 0; i <= s->catalog.types.nr; i++)
		vec_push(&c->counts, 0);
	return 0;
}

static int choose_all(struct choosing *c, const struct request_filter *f, struct error *err)
{
	int r = prepare(c, f, err);

	if (r >= 0)
		r = look_at_all(c, err);
	if (r >= 0)
		r = look_into_bodies(c, err);
	if (r >= 0)
		keep_types(c);
	vec_done(&c->in_set);
	vec_done(&c->counts);
	vec_done(&c->unsure);
	return r < 0 ? r : 0;
}

/* The id of the first request that starts then or later. */
static int first_from(struct store *s, int64_t ns, uint64_t *id, struct error *err)
{
	struct briefs c = { 0 };
	struct brief_row row;
	int r = briefs_seek(s, &c, ns, err);

	*id = s->catalog.totals.nr_requests + 1;
	while (r >= 0 && (r = briefs_next(s, &c, &row, err)) > 0)
		if (row.b.start >= ns) {
			*id = row.b.id;
			break;
		}
	briefs_done(&c);
	return r < 0 ? r : 0;
}

/* A time is a range of ids: nobody need look at what is within. */
static int narrow_to_time(struct store *s, const struct request_filter *f, struct narrow *to,
			  struct error *err)
{
	uint64_t end;
	int r = first_from(s, f->from_ns, &to->first, err);

	if (!r)
		r = first_from(s, f->until_ns, &end, err);
	if (r)
		return r;
	to->nr = end > to->first ? end - to->first : 0;
	to->last = end - 1;
	return 0;
}

int store_narrow(struct store *s, const struct request_filter *f, struct error *err)
{
	struct choosing c = { .s = s };
	int r = 0;

	narrow_done(&s->narrow);
	if (!f)
		return 0;
	c.node = f->node;
	r = wanted_init(&c.wanted, s, f, err);
	if (r)
		return r;
	if (f->until_ns > 0 && !f->node.n && !f->type.n && f->max_ns <= 0) {
		r = narrow_to_time(s, f, &c.to, err);
	} else {
		r = choose_all(&c, f, err);
		c.to.is_summed = true;
	}
	if (r < 0) {
		narrow_done(&c.to);
		return r;
	}
	s->narrow = c.to;
	s->narrow.is_on = true;
	s->narrow.wanted = c.wanted;
	s->narrow.is_plain = !f->node.n && f->max_ns <= 0;
	return 0;
}

int narrow_sum(struct store *s, struct error *err)
{
	struct narrow *n = &s->narrow;
	struct choosing c = { .s = s };
	int r;

	if (!n->is_on || n->is_summed)
		return 0;
	r = choose_all(&c,
		       &(struct request_filter){ .from_ns = n->wanted.from_ns,
						 .until_ns = n->wanted.until_ns },
		       err);
	if (!r) {
		n->nr_spans = c.to.nr_spans;
		n->types.v = c.to.types.v;
		n->types.nr = c.to.types.nr;
		n->types.room = c.to.types.room;
		n->is_summed = true;
		c.to.types.v = NULL;
	}
	narrow_done(&c.to);
	return r;
}

uint64_t store_nr_requests(const struct store *s)
{
	return s->narrow.is_on ? s->narrow.nr : s->catalog.totals.nr_requests;
}

void store_sample(struct store *s, uint64_t nr)
{
	s->narrow.sample = nr;
	s->narrow.nr_unread = 0;
	sampled_done(&s->narrow.sampled);
}

uint64_t store_sample_of(const struct store *s)
{
	return s->narrow.sample;
}

void store_was_sampled(struct store *s, uint64_t nr_unread)
{
	if (nr_unread > s->narrow.nr_unread)
		s->narrow.nr_unread = nr_unread;
}

uint64_t store_nr_unread(const struct store *s)
{
	return s->narrow.nr_unread;
}
