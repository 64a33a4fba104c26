#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/body.h"
#include "store/code.h"
#include "store/db.h"
#include "store/rows.h"
#include "store/run.h"

/*
 * All requests are walked in the order of their table, all bodies in the order of theirs. A filter
 * that leaves only some (a limit, the slowest) first picks them from the rows, 24 bytes each, and
 * then reads only the blocks that hold them.
 */

enum { BATCH = 64 << 10 }; /* requests copied at a time when they are wanted in another order */

struct wanted {
	bool typed;
	struct str type;
	int64_t from_ns, until_ns;
};

struct pick {
	int64_t duration;
	uint64_t id, ordinal;
};

struct picks {
	VEC(struct pick) v;
};

static int wanted_init(struct store *s, const struct request_filter *f, struct wanted *w,
		       struct error *err)
{
	*w = (struct wanted){ .typed = f->type.n, .from_ns = f->from_ns, .until_ns = f->until_ns };
	if (s->writing)
		return error_set(err, EINVAL, "the run is not finished yet");
	if (w->typed && store_find_type(s, f->type, &w->type, err) <= 0)
		return err && err->code ? -err->code : -ENOENT;
	return 0;
}

static bool wants(const struct wanted *w, const struct request *r)
{
	if (w->typed && !str_eq(w->type, r->type))
		return false;
	return w->until_ns <= 0 || (r->start >= w->from_ns && r->start < w->until_ns);
}

static int slowest_first(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	if (a->duration != b->duration)
		return a->duration > b->duration ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_ordinal(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static void sort_picks(struct pick *v, size_t nr, int (*compare)(const void *, const void *))
{
	if (nr)
		qsort(v, nr, sizeof(*v), compare);
}

static void keep_slowest(struct picks *p, uint64_t limit)
{
	sort_picks(p->v.v, p->v.nr, slowest_first);
	if (limit && p->v.nr > limit)
		p->v.nr = limit;
}

/* Twice the limit is gathered before the slower half is kept: a heap without a heap. */
static int pick(struct store *s, const struct request_filter *f, const struct wanted *w,
		struct picks *p, struct error *err)
{
	struct rows c = { .next = 1 };
	struct request r;
	uint64_t ordinal;
	int result;

	while ((result = rows_next(s, &c, &r, &ordinal, err)) > 0) {
		if (!wants(w, &r))
			continue;
		if (f->limit && f->order == BY_ID && p->v.nr == f->limit)
			break;
		if (f->limit && p->v.nr >= BATCH && p->v.nr / 2 >= f->limit)
			keep_slowest(p, f->limit);
		vec_push(&p->v, (struct pick){ (int64_t)((uint64_t)r.end - (uint64_t)r.start), r.id,
					       ordinal });
	}
	if (f->order == BY_SLOWEST)
		keep_slowest(p, f->limit);
	rows_done(&c);
	return result < 0 ? result : 0;
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
	sort_picks(order, nr, by_id);
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

static int each_slowest(struct store *s, const struct request_filter *f, const struct wanted *w,
			int (*each)(void *ctx, const struct request *r), void *ctx,
			struct error *err)
{
	struct picks p = { 0 };
	struct arena arena = { 0 };
	int r = pick(s, f, w, &p, err);

	for (size_t i = 0; i < p.v.nr && !r; i += BATCH) {
		size_t nr = p.v.nr - i < BATCH ? p.v.nr - i : BATCH;

		r = each_of_batch(s, p.v.v + i, nr, &arena, each, ctx, err);
		arena_reset(&arena);
	}
	arena_done(&arena);
	vec_done(&p.v);
	return r;
}

int store_each_request(struct store *s, const struct request_filter *f,
		       int (*each)(void *ctx, const struct request *r), void *ctx,
		       struct error *err)
{
	static const struct request_filter all;
	struct rows c = { .next = 1 };
	struct request r;
	struct wanted w;
	uint64_t ordinal, nr = 0;
	int result = wanted_init(s, f ? f : &all, &w, err);

	if (result)
		return result;
	if (f && f->order == BY_SLOWEST)
		return each_slowest(s, f, &w, each, ctx, err);
	while (!result && (!f || !f->limit || nr < f->limit)) {
		result = rows_next(s, &c, &r, &ordinal, err);
		if (result <= 0)
			break;
		result = 0;
		if (!wants(&w, &r))
			continue;
		nr++;
		result = each(ctx, &r);
	}
	rows_done(&c);
	return result;
}

/* --- bodies ---------------------------------------------------------------------------------- */

typedef int body_fn(void *ctx, const struct request *r, const struct request_body *body);

static int hand_body(struct store *s, uint64_t id, struct str record, const struct wanted *w,
		     struct arena *arena, body_fn *each, void *ctx, struct error *err)
{
	struct request r = { .id = id };
	struct request_body body;

	if (!code_take_request(&record, &s->syms, &r))
		return db_damaged(s->db, "a request cannot be read", err);
	if (!wants(w, &r))
		return 0;
	arena_reset(arena);
	if (!body_take(&record, &s->syms, &r, arena, &body))
		return db_damaged(s->db, "the body of a request cannot be read", err);
	return each(ctx, &r, &body);
}

static int each_picked_body(struct store *s, const struct request_filter *f, const struct wanted *w,
			    struct arena *arena, body_fn *each, void *ctx, struct error *err)
{
	struct picks p = { 0 };
	struct bodies c = { 0 };
	struct str record;
	uint64_t id;
	int r = pick(s, f, w, &p, err);

	sort_picks(p.v.v, p.v.nr, by_ordinal);
	for (size_t i = 0; i < p.v.nr && !r; i++) {
		r = bodies_seek(s, &c, p.v.v[i].ordinal, err);
		if (!r && bodies_next(s, &c, &id, &record, err) <= 0)
			r = db_damaged(s->db, "the body of a request is missing", err);
		if (!r)
			r = hand_body(s, id, record, w, arena, each, ctx, err);
	}
	bodies_done(&c);
	vec_done(&p.v);
	return r;
}

static int each_body(struct store *s, const struct wanted *w, struct arena *arena, body_fn *each,
		     void *ctx, struct error *err)
{
	struct bodies c = { 0 };
	struct str record;
	uint64_t id;
	int r = 0;

	while (!r) {
		r = bodies_next(s, &c, &id, &record, err);
		if (r <= 0)
			break;
		r = hand_body(s, id, record, w, arena, each, ctx, err);
	}
	bodies_done(&c);
	return r;
}

int store_each_body(struct store *s, const struct request_filter *f, body_fn *each, void *ctx,
		    struct error *err)
{
	static const struct request_filter all;
	struct arena arena = { 0 };
	struct wanted w;
	int r;

	if (!f)
		f = &all;
	r = wanted_init(s, f, &w, err);
	if (!r && f->limit)
		r = each_picked_body(s, f, &w, &arena, each, ctx, err);
	else if (!r)
		r = each_body(s, &w, &arena, each, ctx, err);
	arena_done(&arena);
	return r;
}
