#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/body.h"
#include "store/brief.h"
#include "store/code.h"
#include "store/db.h"
#include "store/pick.h"
#include "store/rows.h"
#include "store/run.h"
#include "store/wanted.h"

/*
 * All requests are walked in the order of their table, all bodies in the order of theirs. A filter
 * or a selection that leaves only some first picks them from the briefs, and then only the blocks
 * that hold them are read.
 */

enum {
	BATCH = 64 << 10, /* requests copied at a time when they are wanted in another order */
	BODIES = 1024,    /* likewise, of bodies */
	MOST = 4,         /* where one of so many is wanted, all are read */
};

int wanted_init(struct wanted *w, struct store *s, const struct request_filter *f,
		struct error *err)
{
	struct str type;

	*w = (struct wanted){ .is_typed = f->type.n,
			      .from_ns = f->from_ns,
			      .until_ns = f->until_ns,
			      .min_ns = f->min_ns,
			      .max_ns = f->max_ns };
	w->is_all = !w->is_typed && w->until_ns <= 0 && w->max_ns <= 0;
	if (s->writing)
		return error_set(err, EINVAL, "the run is not finished yet");
	if (!w->is_typed)
		return 0;
	if (store_find_type(s, f->type, &type, err) <= 0)
		return err && err->code ? -err->code : -ENOENT;
	while (w->type < s->catalog.types.nr && !str_eq(s->catalog.types.v[w->type].name, type))
		w->type++;
	return 0;
}

static void copy_request(struct arena *a, struct request *to, const struct request *from)
{
	*to = *from;
	to->type = arena_str(a, from->type);
	to->key = arena_str(a, from->key);
	to->method = arena_str(a, from->method);
}

/* Reads the requests of one batch in order of id and hands them on in the order of the batch. */
static int each_of_batch(struct store *s, const struct pick *batch, size_t nr, struct arena *arena,
			 int (*each)(void *ctx, const struct request *r), void *ctx,
			 struct error *err)
{
	struct request *got = arena_array(arena, struct request, nr), r;
	struct pick *order = arena_array(arena, struct pick, nr);
	struct rows c = { 0 };
	uint64_t ordinal;
	int result = 0;

	for (size_t i = 0; i < nr; i++)
		order[i] = (struct pick){ .id = batch[i].id, .ordinal = i };
	picks_by_id(order, nr);
	for (size_t i = 0; i < nr && !result; i++) {
		result = rows_seek(s, &c, order[i].id, err);
		if (!result && rows_next(s, &c, &r, &ordinal, err) <= 0)
			result = db_damaged(s->db, "a request is missing", err);
		if (!result)
			copy_request(arena, &got[order[i].ordinal], &r);
	}
	rows_done(&c);
	for (size_t i = 0; i < nr && !result; i++)
		result = each(ctx, &got[i]);
	return result;
}

static int each_picked(struct store *s, const struct request_filter *f,
		       int (*each)(void *ctx, const struct request *r), void *ctx,
		       struct error *err)
{
	struct picks p = { 0 };
	struct arena arena = { 0 };
	int r = picks_make(s, f, &p, err);

	for (size_t i = 0; i < p.v.nr && !r; i += BATCH) {
		size_t nr = p.v.nr - i < BATCH ? p.v.nr - i : BATCH;

		r = each_of_batch(s, p.v.v + i, nr, &arena, each, ctx, err);
		arena_reset(&arena);
	}
	arena_done(&arena);
	vec_done(&p.v);
	return r;
}

/* Whether the filter or the selection leaves so few that looking for them first is worth it. */
static bool is_picky(const struct store *s, const struct request_filter *f)
{
	return f->limit || f->offset || f->order != BY_ID || f->type.n || f->until_ns > 0 ||
	       f->max_ns > 0 ||
	       (s->narrow.is_on && s->narrow.nr < s->catalog.totals.nr_requests / MOST);
}

int store_each_request(struct store *s, const struct request_filter *f,
		       int (*each)(void *ctx, const struct request *r), void *ctx,
		       struct error *err)
{
	static const struct request_filter all;
	struct rows c = { .next = 1 };
	struct request r;
	uint64_t ordinal;
	int result = 0;

	if (s->writing)
		return error_set(err, EINVAL, "the run is not finished yet");
	if (is_picky(s, f ? f : &all))
		return each_picked(s, f ? f : &all, each, ctx, err);
	while (!result) {
		result = rows_next(s, &c, &r, &ordinal, err);
		if (result <= 0)
			break;
		result = narrow_has(&s->narrow, r.id) ? each(ctx, &r) : 0;
	}
	rows_done(&c);
	return result;
}

int store_each_brief(struct store *s, const struct request_filter *f,
		     int (*each)(void *ctx, const struct brief *b), void *ctx, struct error *err)
{
	static const struct request_filter all;
	struct briefs c = { 0 };
	struct brief_row row;
	struct wanted w;
	int r = wanted_init(&w, s, f ? f : &all, err);

	if (!r)
		r = briefs_begin(s, &c, w.until_ns > 0 ? w.from_ns : INT64_MIN, err);
	while (!r && (r = briefs_next_wanted(s, &c, &w, &row, err)) > 0)
		r = each(ctx, &row.b);
	briefs_done(&c);
	return r;
}

/* --- bodies ---------------------------------------------------------------------------------- */

typedef int body_fn(void *ctx, const struct request *r, const struct request_body *body);

static int hand_body(struct store *s, uint64_t id, struct str record, struct arena *arena,
		     body_fn *each, void *ctx, struct error *err)
{
	struct request r = { .id = id };
	struct request_body body;

	arena_reset(arena);
	if (!code_take_request(&record, &s->syms, &r))
		return db_damaged(s->db, "a request cannot be read", err);
	if (!body_take(&record, &s->syms, &r, arena, &body))
		return db_damaged(s->db, "the body of a request cannot be read", err);
	return each(ctx, &r, &body);
}

static int record_at(struct store *s, struct bodies *c, uint64_t ordinal, struct str *record,
		     struct error *err)
{
	int r = 0;

	if (s->narrow.sample && sampled_find(&s->narrow.sampled, ordinal, record))
		return 0;
	r = bodies_at(s, c, ordinal, record, err);
	if (!r && s->narrow.sample)
		sampled_keep(&s->narrow.sampled, ordinal, *record);
	return r;
}

static int each_picked_body(struct store *s, struct picks *p, struct arena *arena, body_fn *each,
			    void *ctx, struct error *err)
{
	struct bodies c = { 0 };
	struct str record;
	int r = 0;

	picks_by_ordinal(p);
	for (size_t i = 0; i < p->v.nr && !r; i++) {
		r = record_at(s, &c, p->v.v[i].ordinal, &record, err);
		if (!r)
			r = hand_body(s, p->v.v[i].id, record, arena, each, ctx, err);
	}
	bodies_done(&c);
	return r;
}

static int each_body(struct store *s, struct arena *arena, body_fn *each, void *ctx,
		     struct error *err)
{
	struct bodies c = { 0 };
	struct str record;
	uint64_t id;
	int r = 0;

	while (!r) {
		r = bodies_next(s, &c, &id, &record, err);
		if (r <= 0)
			break;
		r = narrow_has(&s->narrow, id) ? hand_body(s, id, record, arena, each, ctx, err)
					       : 0;
	}
	bodies_done(&c);
	return r;
}

/* Reads the records of one batch as they stand and hands them on in the order of the batch. */
static int each_body_of_batch(struct store *s, const struct pick *batch, size_t nr,
			      struct arena *records, struct arena *arena, body_fn *each, void *ctx,
			      struct error *err)
{
	struct str *got = arena_array(records, struct str, nr), record;
	struct picks order = { 0 };
	struct bodies c = { 0 };
	int r = 0;

	for (size_t i = 0; i < nr; i++)
		vec_push(&order.v, (struct pick){ .id = i, .ordinal = batch[i].ordinal });
	picks_by_ordinal(&order);
	for (size_t i = 0; i < nr && !r; i++) {
		r = bodies_at(s, &c, order.v.v[i].ordinal, &record, err);
		if (!r)
			got[order.v.v[i].id] = arena_str(records, record);
	}
	bodies_done(&c);
	vec_done(&order.v);
	for (size_t i = 0; i < nr && !r; i++)
		r = hand_body(s, batch[i].id, got[i], arena, each, ctx, err);
	return r;
}

int store_each_body_in_order(struct store *s, const struct request_filter *f, body_fn *each,
			     void *ctx, struct error *err)
{
	struct arena records = { 0 }, arena = { 0 };
	struct picks p = { 0 };
	int r = picks_make(s, f, &p, err);

	for (size_t i = 0; i < p.v.nr && !r; i += BODIES) {
		r = each_body_of_batch(s, p.v.v + i, p.v.nr - i < BODIES ? p.v.nr - i : BODIES,
				       &records, &arena, each, ctx, err);
		arena_reset(&records);
	}
	arena_done(&records);
	arena_done(&arena);
	vec_done(&p.v);
	return r;
}

/* A sample of all that is selected is drawn once. */
static int draw_sample(struct store *s, const struct request_filter *f, struct picks *p,
		       struct error *err)
{
	struct sampled *k = &s->narrow.sampled;
	uint64_t left = 0;
	int r = 0;

	if (k->is_drawn && picks_are_all(s, f)) {
		vec_each (&k->drawn.v, one)
			vec_push(&p->v, *one);
		return 0;
	}
	r = picks_sample(s, f, p, s->narrow.sample, &left, err);
	store_was_sampled(s, left);
	if (r || !picks_are_all(s, f))
		return r;
	vec_each (&p->v, one)
		vec_push(&k->drawn.v, *one);
	k->is_drawn = true;
	return 0;
}

static int pick_and_read(struct store *s, const struct request_filter *f, struct arena *arena,
			 body_fn *each, void *ctx, struct error *err)
{
	struct picks p = { 0 };
	/* who gives a limit has bounded it already */
	int r = s->narrow.sample && !f->limit ? draw_sample(s, f, &p, err)
					      : picks_make(s, f, &p, err);

	if (!r)
		r = each_picked_body(s, &p, arena, each, ctx, err);
	vec_done(&p.v);
	return r;
}

int store_each_body(struct store *s, const struct request_filter *f, body_fn *each, void *ctx,
		    struct error *err)
{
	static const struct request_filter all;
	struct arena arena = { 0 };
	int r = 0;

	if (!f)
		f = &all;
	if (s->writing)
		r = error_set(err, EINVAL, "the run is not finished yet");
	else if (is_picky(s, f) || s->narrow.sample)
		r = pick_and_read(s, f, &arena, each, ctx, err);
	else
		r = each_body(s, &arena, each, ctx, err);
	arena_done(&arena);
	return r;
}

int store_each_body_of(struct store *s, const uint64_t *ids, size_t nr, body_fn *each, void *ctx,
		       struct error *err)
{
	struct arena arena = { 0 };
	struct picks p = { 0 };
	int r = picks_of(s, ids, nr, &p, err);

	if (!r)
		r = each_picked_body(s, &p, &arena, each, ctx, err);
	vec_done(&p.v);
	arena_done(&arena);
	return r;
}
