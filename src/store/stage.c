#include "store/stage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "store/code.h"
#include "store/order.h"
#include "store/scratch.h"
#include "store/sym.h"

/*
 * Rows go into buckets by the hash of their key. A bucket is a buffer in memory and, each time that
 * is full, a compressed chunk at the end of one scratch file. A part is as many neighbouring
 * buckets as fit in the memory that a part may take: all of them for a small run, one for a large
 * one.
 */

enum {
	NR_BUCKETS = 256,
	CHUNK_BYTES = 32 << 10, /* raw */
};
#define PART_BYTES ((uint64_t)24 << 20)

enum what { WHAT_EVENTS, WHAT_SPANS, WHATS };

struct bucket {
	struct buf rows;
	VEC(struct chunk) chunks;
	uint64_t nr;
	uint64_t memory; /* that its rows would take when read at once */
};

struct stage {
	struct scratch scratch;
	struct syms *syms;
	struct bucket buckets[WHATS][NR_BUCKETS];
};

struct stage *stage_new(const struct place *place, struct syms *syms)
{
	struct stage *g = mem_zalloc(sizeof(*g));

	scratch_init(&g->scratch, place);
	g->syms = syms;
	return g;
}

static void bucket_done(struct bucket *b)
{
	buf_done(&b->rows);
	vec_done(&b->chunks);
}

void stage_free(struct stage *g)
{
	if (!g)
		return;
	for (int w = 0; w < WHATS; w++)
		for (int i = 0; i < NR_BUCKETS; i++)
			bucket_done(&g->buckets[w][i]);
	scratch_done(&g->scratch);
	free(g);
}

static int spill(struct stage *g, struct bucket *b, struct error *err)
{
	struct chunk c;
	int r;

	if (b->rows.n < CHUNK_BYTES)
		return 0;
	r = scratch_put(&g->scratch, buf_str(&b->rows), &c, err);
	if (r)
		return r;
	vec_push(&b->chunks, c);
	buf_clear(&b->rows);
	return 0;
}

static struct bucket *bucket_of(struct stage *g, enum what what, struct str key)
{
	return &g->buckets[what][str_hash(key) >> 56];
}

int stage_add_event(struct stage *g, const struct event *ev, const struct event_syms *syms,
		    uint64_t number, struct error *err)
{
	struct bucket *b = bucket_of(g, WHAT_EVENTS, ev->key);
	size_t before;

	/* lines that only tell a duration stand alone, so any bucket will do; points of a causal
	 * graph refer to each other, with a key or without */
	if (!ev->key.n && ev->kind != EVENT_POINT)
		b = &g->buckets[WHAT_EVENTS][number % NR_BUCKETS];
	before = b->rows.n;
	code_add_event(&b->rows, syms, ev, number);
	b->nr++;
	b->memory += sizeof(*ev) + sizeof(number) + b->rows.n - before;
	return spill(g, b, err);
}

int stage_add_span(struct stage *g, const struct span *s, struct error *err)
{
	struct bucket *b = bucket_of(g, WHAT_SPANS, s->key);
	size_t before = b->rows.n;

	code_add_span(&b->rows, g->syms, s, 0);
	b->nr++;
	b->memory += sizeof(*s) + b->rows.n - before;
	return spill(g, b, err);
}

/* A power of two, so that each part has as many buckets as any other. */
unsigned stage_nr_parts(const struct stage *g)
{
	uint64_t memory = 0;
	unsigned nr = 1;

	for (int w = 0; w < WHATS; w++)
		for (int i = 0; i < NR_BUCKETS; i++)
			memory += g->buckets[w][i].memory;
	while (nr < NR_BUCKETS && memory / nr > PART_BYTES)
		nr *= 2;
	return nr;
}

/* --- leaving out ----------------------------------------------------------------------------- */

struct leaver {
	struct stage *g;
	bool (*is_left)(const void *ctx, uint64_t number);
	const void *ctx;
	struct bucket kept; /* of the bucket at hand */
};

static int keep_rows(struct leaver *l, struct str rows, struct error *err)
{
	int r = 0;

	while (rows.n && !r) {
		struct str row = rows;
		struct event ev;
		uint64_t number;

		if (!code_take_event(&rows, l->g->syms, &ev, &number))
			return scratch_changed(err);
		if (l->is_left(l->ctx, number))
			continue;
		row.n -= rows.n;
		buf_add(&l->kept.rows, row);
		l->kept.nr++;
		l->kept.memory += sizeof(ev) + sizeof(number) + row.n;
		r = spill(l->g, &l->kept, err);
	}
	return r;
}

static int keep_bucket(struct leaver *l, struct bucket *b, struct buf *raw, struct error *err)
{
	int r = 0;

	l->kept = (struct bucket){ 0 };
	for (size_t i = 0; i < b->chunks.nr && !r; i++) {
		r = scratch_get(&l->g->scratch, &b->chunks.v[i], raw, err);
		if (!r)
			r = keep_rows(l, buf_str(raw), err);
	}
	if (!r)
		r = keep_rows(l, buf_str(&b->rows), err);
	bucket_done(b);
	*b = l->kept;
	return r;
}

int stage_leave(struct stage *g, bool (*is_left)(const void *ctx, uint64_t number), const void *ctx,
		struct error *err)
{
	struct leaver l = { .g = g, .is_left = is_left, .ctx = ctx };
	struct buf raw = { 0 };
	int r = 0;

	for (unsigned i = 0; i < NR_BUCKETS && !r; i++)
		r = keep_bucket(&l, &g->buckets[WHAT_EVENTS][i], &raw, err);
	buf_done(&raw);
	return r;
}

/* --- reading back ---------------------------------------------------------------------------- */

struct filler {
	struct stage *g;
	struct part *part;
	enum what what;
};

static int take_rows(const struct filler *f, struct str rows, struct error *err)
{
	struct part *p = f->part;
	bool ok = true;

	while (rows.n && ok) {
		if (f->what == WHAT_SPANS) {
			ok = code_take_span(&rows, f->g->syms, &p->spans[p->nr_spans], 0);
			p->nr_spans++;
		} else {
			ok = code_take_event(&rows, f->g->syms, &p->events[p->nr_events],
					     &p->numbers[p->nr_events]);
			p->nr_events++;
		}
	}
	return ok ? 0 : scratch_changed(err);
}

static int take_bucket(const struct filler *f, struct bucket *b, struct arena *arena,
		       struct error *err)
{
	struct buf raw = { 0 };
	int r = 0;

	for (size_t i = 0; i < b->chunks.nr && !r; i++) {
		r = scratch_get(&f->g->scratch, &b->chunks.v[i], &raw, err);
		if (!r)
			r = take_rows(f, arena_str(arena, buf_str(&raw)), err);
	}
	buf_done(&raw);
	return r ? r : take_rows(f, arena_str(arena, buf_str(&b->rows)), err);
}

static size_t count(const struct bucket *buckets, unsigned nr)
{
	size_t sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += buckets[i].nr;
	return sum;
}

int stage_part(struct stage *g, unsigned nr, struct arena *arena, struct part *part,
	       struct error *err)
{
	unsigned each = NR_BUCKETS / stage_nr_parts(g);
	struct part got = { 0 };
	size_t nr_spans, nr_events;
	int r = 0;

	if (nr >= stage_nr_parts(g))
		return error_set(err, EINVAL, "there is no part %u", nr);
	nr_spans = count(&g->buckets[WHAT_SPANS][nr * each], each);
	nr_events = count(&g->buckets[WHAT_EVENTS][nr * each], each);
	got.spans = arena_array(arena, struct span, nr_spans + 1);
	got.events = arena_array(arena, struct event, nr_events + 1);
	got.numbers = arena_array(arena, uint64_t, nr_events + 1);
	for (int w = 0; w < WHATS; w++)
		for (unsigned i = nr * each; i < (nr + 1) * each && !r; i++)
			r = take_bucket(&(struct filler){ g, &got, w }, &g->buckets[w][i], arena,
					err);
	if (r)
		return r;
	order_part(&got);
	*part = got;
	return 0;
}
