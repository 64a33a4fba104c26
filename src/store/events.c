#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/block.h"
#include "store/db.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/sym.h"

/* --- the sink -------------------------------------------------------------------------------- */

static int sink_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	struct store *s = to;
	int r = run_writable(s, err);

	if (!r)
		*number = catalog_add_file(&s->catalog, file);
	return r;
}

static int sink_again(void *to, uint32_t number, const struct file_seen *file, struct error *err)
{
	struct store *s = to;
	int r = run_writable(s, err);

	if (!r)
		catalog_renew_file(&s->catalog, number, file);
	return r;
}

int events_flush(struct store *s, struct error *err)
{
	uint64_t first = s->catalog.totals.nr_events - block_nr(s->block);

	if (!block_nr(s->block))
		return 0;
	buf_clear(&s->scratch);
	block_close(s->block, &s->scratch);
	return db_put(s->db, DB_EVENTS, first, buf_str(&s->scratch), err);
}

static void count_event(struct catalog *c, const struct event *ev)
{
	struct catalog_file *file = catalog_file(c, ev->file);

	c->totals.nr_events++;
	catalog_saw(c, ev->ns);
	if (ev->kind == EVENT_LOG)
		c->totals.nr_log_lines += ev->nr_lines;
	if (!file)
		return;
	file->f.nr_events++;
	file->f.nr_lines += ev->nr_lines;
}

/* Messages name no request: who wants them walks the events in order. */
static bool is_staged(const struct event *ev)
{
	if (ev->kind == EVENT_MESSAGE)
		return false;
	return ev->key_kind != KEY_NONE || ev->duration >= 0 || ev->kind != EVENT_LOG;
}

static int sink_event(struct store *s, const struct event *ev, struct error *err)
{
	uint64_t number = s->catalog.totals.nr_events;
	struct event_syms syms;
	bool full;
	int r = 0;

	syms_of_event(&s->syms, ev, &syms);
	full = block_add(s->block, &syms, ev);
	count_event(&s->catalog, ev);
	if (full)
		r = events_flush(s, err);
	if (!r && is_staged(ev))
		r = stage_add_event(s->stage, ev, &syms, number, err);
	return r;
}

static int sink_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct store *s = to;
	int r = run_writable(s, err);

	for (size_t i = 0; i < nr && !r; i++)
		r = sink_event(s, &events[i], err);
	return run_wrote(s, r);
}

static int sink_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	struct store *s = to;
	int r = run_writable(s, err);

	for (size_t i = 0; i < nr && !r; i++) {
		catalog_saw(&s->catalog, spans[i].start);
		catalog_saw(&s->catalog, spans[i].end);
		r = stage_add_span(s->stage, &spans[i], err);
	}
	return run_wrote(s, r);
}

struct sink store_sink(struct store *s)
{
	return (struct sink){
		.to = s,
		.file = sink_file,
		.events = sink_events,
		.spans = sink_spans,
		.losses = &s->catalog.losses,
		.again = sink_again,
	};
}

/* --- reading --------------------------------------------------------------------------------- */

struct events_read {
	struct buf raw;
	uint64_t first;
	uint32_t nr;
	struct event v[BLOCK_EVENTS];
};

void events_read_free(struct events_read *e)
{
	if (!e)
		return;
	buf_done(&e->raw);
	free(e);
}

static int events_load(struct store *s, struct events_read *e, uint64_t at, struct error *err)
{
	int r;

	if (at - e->first < e->nr)
		return 0;
	e->nr = 0;
	r = db_get(s->db, DB_EVENTS, at, &e->first, &e->raw, err);
	if (r < 0)
		return r;
	if (r)
		e->nr = block_count(buf_str(&e->raw));
	if (at - e->first >= e->nr)
		return db_damaged(s->db, "a block of events is missing", err);
	if (block_decode(buf_str(&e->raw), &s->syms, e->v))
		return 0;
	e->nr = 0;
	return db_damaged(s->db, "a block of events cannot be read", err);
}

/* The block is taken out of the store for the walk, so that a callback may walk events too. */
static struct events_read *events_take(struct store *s)
{
	struct events_read *e = s->events;

	s->events = NULL;
	return e ? e : mem_zalloc(sizeof(*e));
}

static void events_give_back(struct store *s, struct events_read *e)
{
	events_read_free(s->events);
	s->events = e;
}

int store_each_event(struct store *s, uint64_t first, uint64_t nr,
		     int (*each)(void *ctx, uint64_t number, const struct event *ev), void *ctx,
		     struct error *err)
{
	uint64_t end = s->catalog.totals.nr_events;
	struct events_read *e;
	int r = s->writing ? run_wrote(s, events_flush(s, err)) : 0;

	if (r || first >= end)
		return r;
	if (nr < end - first)
		end = first + nr;
	e = events_take(s);
	while (first < end && !r) {
		r = events_load(s, e, first, err);
		for (; !r && first < end && first - e->first < e->nr; first++)
			r = each(ctx, first, &e->v[first - e->first]);
	}
	events_give_back(s, e);
	return r;
}
