/*
 * Few lines stay where they were gathered. Of many, each log is cut into blocks, which go to a
 * temporary file. When all are there, windows of whole seconds are told that hold about the same
 * number of lines each, whatever the order that the logs were delivered in:
 *
 *	log 1     block      | block   | block
 *	log 2     block  |       block        | block
 *	windows          1         |        2
 */
#include "infer/requests/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "infer/requests/clocks.h"
#include "infer/requests/gather_pack.h"
#include "model/event.h"
#include "store/place.h"

enum {
	BLOCK_LINES = 8192,
	FEW = 20, /* one in so many lines, at least, carries a request id where there are such */
};

static const struct place nowhere;

void harvest_done(struct harvest *h)
{
	gather_done(&h->block);
	names_done(&h->logs);
	names_done(&h->nodes);
	vec_each (&h->of_log, log)
		vec_done(&log->blocks);
	vec_done(&h->of_log);
	vec_done(&h->log_of);
	vec_done(&h->order);
	vec_done(&h->blocks);
	vec_done(&h->bounds);
	map_done(&h->slots);
	if (h->is_out) {
		scratch_done(&h->scratch);
		pthread_mutex_destroy(&h->reading);
	}
	*h = (struct harvest){ 0 };
}

static size_t window_of(const struct harvest *h)
{
	return h->window ? h->window : HARVEST_WINDOW;
}

/* What is known of a log, made on first sight. */
static struct harvest_log *about(struct harvest *h, sym_t log)
{
	while (h->of_log.nr <= log)
		vec_push(&h->of_log,
			 (struct harvest_log){ .reached = INT64_MIN, .put = INT64_MIN });
	return &h->of_log.v[log];
}

void harvest_files(struct harvest *h)
{
	vec_clear(&h->order);
	vec_each (&h->of_log, log)
		log->rank = 0;
}

static void rank(struct harvest *h, sym_t log)
{
	if (about(h, log)->rank)
		return;
	vec_push(&h->order, log);
	about(h, log)->rank = h->order.nr;
}

void harvest_file(struct harvest *h, uint32_t file, struct str log)
{
	while (h->log_of.nr <= file)
		vec_push(&h->log_of, 0);
	h->log_of.v[file] = names_add(&h->logs, log);
	rank(h, h->log_of.v[file]);
}

void harvest_file_again(struct harvest *h, struct str log)
{
	rank(h, names_add(&h->logs, log));
}

/* --- out of memory ------------------------------------------------------------------------- */

void harvest_open(struct harvest *h)
{
	if (h->is_out)
		return;
	scratch_init(&h->scratch, &nowhere);
	pthread_mutex_init(&h->reading, NULL);
	h->is_out = true;
}

int harvest_put(struct harvest *h, sym_t log, int64_t reached, struct str packed, struct error *err)
{
	struct harvest_block block = { .log = log, .reached = reached };
	int got = scratch_put(&h->scratch, packed, &block.chunk, err);

	vec_push(&about(h, log)->blocks, (uint32_t)h->blocks.nr);
	vec_push(&h->blocks, block);
	return got;
}

/* These are lines of one log. */
static int put_block(struct harvest *h, const struct gather *g, struct error *err)
{
	sym_t number = names_add(&h->logs, names_str(&g->logs, g->lines.v[0].file));
	struct harvest_log *log = about(h, number);
	struct buf bytes = { 0 };
	int got;

	harvest_open(h);
	gather_pack(g, &bytes);
	got = harvest_put(h, number, log->put, buf_str(&bytes), err);
	buf_done(&bytes);
	vec_each (&g->lines, l)
		log->put = harvest_reach(log->put, l);
	return got;
}

/* All that was gathered, cut into blocks. */
static int put_all(struct harvest *h, struct error *err)
{
	const struct gather *all = &h->block;
	struct gather part = { 0 };
	struct gather_map map = { 0 };
	int got = 0;

	for (size_t i = 0; i < all->lines.nr && got >= 0; i++) {
		const struct seen_line *l = &all->lines.v[i];

		gather_take(&part, all, &map, l);
		if (i + 1 < all->lines.nr && l[1].file == l->file && part.lines.nr < BLOCK_LINES)
			continue;
		got = put_block(h, &part, err);
		gather_done(&part);
		gather_map_done(&map);
	}
	return got;
}

static int put_out(struct harvest *h, struct error *err)
{
	struct gather *g = &h->block;
	uint64_t nr_events = g->nr_events, nr_cut = g->nr_cut, nr_lacking = g->nr_lacking;
	int got = 0;

	if (g->lines.nr)
		got = h->is_out ? put_block(h, g, err) : put_all(h, err);
	gather_done(g);
	g->nr_events = nr_events;
	g->nr_cut = nr_cut;
	g->nr_lacking = nr_lacking;
	return got;
}

/* --- gathering ------------------------------------------------------------------------------ */

static void end_slot(struct harvest *h)
{
	if (h->nr_slot)
		*map_at(&h->slots, h->slot) += h->nr_slot;
	h->nr_slot = 0;
}

static uint32_t second_of(int64_t ns)
{
	return ns < 0 ? 0 : ns / NS_S > UINT32_MAX ? UINT32_MAX : (uint32_t)(ns / NS_S);
}

static void count_lines(struct harvest *h, size_t from, sym_t log)
{
	struct harvest_log *a = about(h, log);

	for (size_t i = from; i < h->block.lines.nr; i++) {
		const struct seen_line *l = &h->block.lines.v[i];
		uint64_t slot;

		a->reached = harvest_reach(a->reached, l);
		slot = map_pair(log, second_of(a->reached));
		if (slot != h->slot)
			end_slot(h);
		h->slot = slot;
		h->nr_slot++;
		h->nr_lines++;
		h->nr_keyed += l->is_keyed;
		h->nr_requests += l->is_request;
	}
	if (from < h->block.lines.nr)
		a->node = names_add(
			&h->nodes,
			names_str(&h->block.nodes, h->block.lines.v[h->block.lines.nr - 1].node));
}

/* Events of one file. */
static int take_events(struct harvest *h, const struct event *ev, size_t nr, struct error *err)
{
	sym_t log = ev->file < h->log_of.nr ? h->log_of.v[ev->file] : 0;
	int got = 0;

	while (nr && got >= 0) {
		struct gather *g = &h->block;
		size_t room = (h->is_out ? BLOCK_LINES : window_of(h)) + 1, n, from;

		if (g->lines.nr + 1 >= room ||
		    (h->is_out && g->lines.nr &&
		     !str_eq(names_str(&g->logs, g->lines.v[0].file), names_str(&h->logs, log))))
			got = put_out(h, err);
		from = g->lines.nr;
		n = nr < room - from ? nr : room - from;
		gather_file(g, ev->file, names_str(&h->logs, log));
		gather_events(g, ev, n);
		count_lines(h, from, log);
		ev += n;
		nr -= n;
	}
	return got;
}

int harvest_events(struct harvest *h, const struct event *ev, size_t nr, struct error *err)
{
	int got = 0;

	for (size_t from = 0, i = 1; i <= nr && got >= 0; i++) {
		if (i < nr && ev[i].file == ev[from].file)
			continue;
		got = take_events(h, ev + from, i - from, err);
		from = i;
	}
	return got;
}

/* --- windows -------------------------------------------------------------------------------- */

/* What the clocks of logs are off by is what it was in the first lines of each. */
static int align(struct harvest *h, struct error *err)
{
	struct gather sample = { 0 };
	size_t most = window_of(h) / (h->of_log.nr ? h->of_log.nr : 1);
	int got = 0;

	vec_each (&h->of_log, log)
		for (size_t i = 0, nr = 0; i < log->blocks.nr && nr < most + 1 && got >= 0; i++) {
			struct gather part = { 0 };
			struct gather_map map = { 0 };

			got = harvest_get(h, log->blocks.v[i], &part, err);
			vec_each (&part.lines, l)
				gather_take(&sample, &part, &map, l);
			nr += part.lines.nr;
			gather_map_done(&map);
			gather_done(&part);
		}
	clocks_align(&sample);
	for (sym_t i = 1; i < sample.logs.nr && got >= 0; i++) {
		struct harvest_log *log =
			about(h, names_find(&h->logs, names_str(&sample.logs, i)));

		if (log->is_set)
			continue;
		log->shift = sample.shift.v[i];
		log->things = sample.shift_things.v[i];
	}
	gather_done(&sample);
	return got;
}

/* Whether there is a log whose clock may still be set right. */
static bool has_unset(const struct harvest *h)
{
	vec_each (&h->of_log, log)
		if (!log->is_set && log->blocks.nr)
			return true;
	return false;
}

struct second {
	int64_t ns; /* where it ends */
	uint64_t nr;
};

static int by_time(const void *a, const void *b)
{
	const struct second *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* A window ends with the second in which it is full, and what is left goes to the last one. Those
 * that are over stay. */
static void tell_windows(struct harvest *h)
{
	VEC(struct second) v = { 0 };
	int64_t over = h->nr_over ? h->bounds.v[h->nr_over - 1] : INT64_MIN;
	uint64_t nr = 0, left = 0, most = window_of(h);

	h->bounds.nr = h->nr_over;
	for (const struct map_slot *s = NULL; (s = map_next(&h->slots, s));) {
		int64_t end = ((int64_t)(uint32_t)s->key + 1) * NS_S;

		end = harvest_shifted(end, about(h, (sym_t)(s->key >> 32))->shift);
		if (end <= over)
			continue;
		vec_push(&v, (struct second){ end, s->value });
		left += s->value;
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), by_time);
	for (size_t i = 0; i < v.nr; i++) {
		nr += v.v[i].nr;
		left -= v.v[i].nr;
		if (nr < most || left < most / 2 || v.v[i].ns == v.v[i + (i + 1 < v.nr)].ns)
			continue;
		vec_push(&h->bounds, v.v[i].ns);
		nr = 0;
	}
	vec_done(&v);
	vec_push(&h->bounds, INT64_MAX);
}

struct ranked {
	size_t rank, line;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines that came in turns become those of one log after the other. */
static void put_in_order(struct harvest *h)
{
	struct gather *g = &h->block, ordered = { 0 };
	struct gather_map map = { 0 };
	VEC(struct ranked) v = { 0 };
	bool is_ordered = true;

	for (size_t i = 0; i < g->lines.nr; i++) {
		sym_t log = names_find(&h->logs, names_str(&g->logs, g->lines.v[i].file));

		vec_push(&v, (struct ranked){ about(h, log)->rank, i });
		is_ordered &= !i || v.v[i - 1].rank <= v.v[i].rank;
	}
	if (!is_ordered) {
		qsort(v.v, v.nr, sizeof(*v.v), by_rank);
		vec_each (&v, r)
			gather_take(&ordered, g, &map, &g->lines.v[r->line]);
		ordered.nr_events = g->nr_events;
		ordered.nr_cut = g->nr_cut;
		ordered.nr_lacking = g->nr_lacking;
		gather_map_done(&map);
		gather_done(g);
		*g = ordered;
	}
	vec_done(&v);
}

uint64_t harvest_nr_keyed(const struct harvest *h)
{
	return h->nr_keyed - (h->doubts_requests ? h->nr_requests : 0);
}

int harvest_settle(struct harvest *h, struct error *err)
{
	size_t before = h->nr_over;
	int got;

	/* a window is told when it is full and the next one is half so */
	if (!h->is_out || 2 * (h->nr_lines - h->nr_over_lines) < 3 * window_of(h))
		return 0;
	got = harvest_end(h, err);
	h->nr_over = h->bounds.nr - 1;
	h->nr_over_lines = h->nr_lines;
	vec_each (&h->of_log, log)
		log->is_set |= log->blocks.nr && h->nr_over;
	return got < 0 ? got : h->nr_over > before;
}

int harvest_end(struct harvest *h, struct error *err)
{
	int got = 0;

	end_slot(h);
	/* few request ids among many lines are other numbers */
	h->doubts_requests = h->nr_requests && h->nr_requests * FEW < h->nr_lines;
	for (sym_t i = 0; i < h->of_log.nr; i++)
		rank(h, i);
	if (!h->is_out) {
		put_in_order(h);
		gather_date(&h->block);
		clocks_align(&h->block);
		for (sym_t i = 0; i < h->block.logs.nr; i++) {
			sym_t number = names_find(&h->logs, names_str(&h->block.logs, i));

			about(h, number)->shift = h->block.shift.v[i];
			about(h, number)->things = h->block.shift_things.v[i];
		}
		vec_push(&h->bounds, INT64_MAX);
		return 0;
	}
	got = put_out(h, err);
	if (got >= 0 && has_unset(h))
		got = align(h, err);
	tell_windows(h);
	return got;
}
