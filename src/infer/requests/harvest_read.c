/*
 * Lines come back in the order of time: a block is read when the lines in front of it are due, and
 * what it holds of later times waits. A line is due at the latest time that its log had reached, so
 * that the lines of a log stay in order.
 */
#include <string.h>

#include "base/time.h"
#include "infer/requests/gather_pack.h"
#include "infer/requests/harvest.h"

#define SET_BACK_NS (60 * NS_S)

int64_t harvest_reach(int64_t reached, const struct seen_line *l)
{
	bool is_back = reached != INT64_MIN && l->ns < reached - SET_BACK_NS;

	return !l->is_undated && (l->ns > reached || is_back) ? l->ns : reached;
}

int64_t harvest_shifted(int64_t ns, int64_t shift)
{
	int64_t sum;

	return __builtin_add_overflow(ns, shift, &sum) ? ns : sum;
}

int harvest_bytes(struct harvest *h, uint32_t nr, struct buf *bytes, struct error *err)
{
	int got;

	pthread_mutex_lock(&h->reading);
	got = scratch_get(&h->scratch, &h->blocks.v[nr].chunk, bytes, err);
	pthread_mutex_unlock(&h->reading);
	return got;
}

int harvest_get(struct harvest *h, uint32_t nr, struct gather *g, struct error *err)
{
	struct buf bytes = { 0 };
	int got = harvest_bytes(h, nr, &bytes, err);

	if (got >= 0 && !gather_unpack(g, buf_str(&bytes)))
		got = scratch_changed(err);
	buf_done(&bytes);
	return got;
}

static const struct harvest_log *about(const struct harvest *h, struct str log)
{
	return &h->of_log.v[names_find(&h->logs, log)];
}

static void tell_shifts(const struct harvest *h, struct gather *g)
{
	vec_clear(&g->shift);
	for (sym_t i = 0; i < (g->logs.nr ? g->logs.nr : 1); i++)
		vec_push(&g->shift, about(h, names_str(&g->logs, i))->shift);
}

/* Begins with the block in which the log reaches that time. */
void harvest_cursor(struct harvest *h, struct harvest_cursor *c, int64_t from)
{
	*c = (struct harvest_cursor){ .from = from };
	vec_each (&h->of_log, log) {
		size_t nr = 0;

		while (nr + 1 < log->blocks.nr &&
		       harvest_shifted(h->blocks.v[log->blocks.v[nr + 1]].reached, log->shift) <
			       from)
			nr++;
		vec_push(&c->nr_read, nr);
	}
}

void harvest_cursor_done(struct harvest_cursor *c)
{
	gather_done(&c->ahead);
	vec_done(&c->ahead_at);
	vec_done(&c->nr_read);
}

struct sharing {
	struct harvest_cursor *c;
	struct gather *g;
	int64_t until;
	struct gather_map now, then;
};

/* A line goes where it was asked for, or waits. */
static void place(struct sharing *s, const struct gather *from, const struct seen_line *l,
		  int64_t at)
{
	if (at < s->c->from)
		return;
	if (at < s->until) {
		gather_take(s->g, from, &s->now, l);
		return;
	}
	gather_take(&s->c->ahead, from, &s->then, l);
	vec_push(&s->c->ahead_at, at);
}

static void sharing_done(struct sharing *s)
{
	gather_map_done(&s->now);
	gather_map_done(&s->then);
}

static void place_waiting(struct harvest_cursor *c, struct gather *g, int64_t until)
{
	struct sharing s = { .c = c, .g = g, .until = until };
	struct gather waiting = c->ahead;
	int64_t *at = c->ahead_at.v;

	c->ahead = (struct gather){ 0 };
	c->ahead_at.v = NULL;
	vec_done(&c->ahead_at);
	for (size_t i = 0; i < waiting.lines.nr; i++)
		place(&s, &waiting, &waiting.lines.v[i], at[i]);
	sharing_done(&s);
	gather_done(&waiting);
	free(at);
}

/* The next block of the log: 1, or 0 when it begins later. */
static int place_block(struct harvest *h, struct harvest_cursor *c, size_t nr, struct gather *g,
		       int64_t until, struct error *err)
{
	const struct harvest_log *log = &h->of_log.v[nr];
	struct sharing s = { .c = c, .g = g, .until = until };
	struct gather part = { 0 };
	int64_t reached;
	int got;

	if (c->nr_read.v[nr] == log->blocks.nr)
		return 0;
	reached = h->blocks.v[log->blocks.v[c->nr_read.v[nr]]].reached;
	if (harvest_shifted(reached, log->shift) >= until)
		return 0;
	got = harvest_get(h, log->blocks.v[c->nr_read.v[nr]++], &part, err);
	for (size_t i = 0; i < part.lines.nr && got >= 0; i++) {
		struct seen_line l = part.lines.v[i];

		reached = harvest_reach(reached, &l);
		if (!l.is_undated)
			l.ns = harvest_shifted(l.ns, log->shift);
		place(&s, &part, &l, harvest_shifted(reached, log->shift));
	}
	sharing_done(&s);
	gather_done(&part);
	return got < 0 ? got : 1;
}

int harvest_upto(struct harvest *h, struct harvest_cursor *c, struct gather *g, int64_t until,
		 struct error *err)
{
	int got = 0;

	if (h->is_out) {
		while (c->nr_read.nr < h->of_log.nr) /* one that came later */
			vec_push(&c->nr_read, 0);
		place_waiting(c, g, until);
		for (size_t i = 0; i < h->order.nr && got >= 0; i++)
			while ((got = place_block(h, c, h->order.v[i], g, until, err)) > 0)
				;
	} else if (h->block.lines.nr) {
		gather_done(g);
		*g = h->block;
		h->block = (struct gather){ 0 };
	}
	if (h->doubts_requests)
		gather_doubt_keys(g);
	if (h->is_out) {
		gather_date(g);
		tell_shifts(h, g);
	}
	return got;
}
