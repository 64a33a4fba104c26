/*
 * Records come in the order of files, parts and lines. Those of a part are counted, and the bytes
 *of its parts against the file: a part that is missing, or there twice, ends it all, since a run
 *with a hole in it would look like a system with one.
 *
 *	part 1:  event event … tail  \  the lines of an event that was cut: read here, as if it had
 *	part 2:  front event …       /  never been
 */
#include "cli/engine_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/engine_lines.h"
#include "cli/engine_plan.h"
#include "cli/observe.h"
#include "infer/requests/record.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/layout.h"
#include "source/logs.h"
#include "source/source.h"
#include "source/split.h"

enum { BATCH = 512 };

struct merging {
	const struct plan *plan;
	struct engine_lines lines;
	bool has_record, at_end;
	struct record_key key; /* of the record at hand */
	enum record_kind kind;
	struct str body;
};

/* The file at hand. */
struct reading {
	const struct plan_file *file;
	struct sink *sink;
	struct logs logs;
	struct buf raw; /* lines that are not read yet, since they may go on */
	uint64_t raw_offset, raw_line;
	uint64_t part, offset, line; /* of the part at hand: its name, and where it begins */
	uint32_t nr;                 /* the record of it that comes next */
	uint64_t nr_parts;
	bool in_part;
	struct record_last last;
	struct record_block block;
	struct buf event;
	struct arena arena;
	VEC(struct event) events;
};

static int broken(struct error *err, const char *what)
{
	return error_set(err, ESTALE, "the records of the workers are not whole: %s", what);
}

/* 1: a record is at hand; 0: there are no more. */
static int peek(struct merging *r, struct error *err)
{
	struct record_key before = r->key;
	struct str line;
	int got;

	if (r->has_record || r->at_end)
		return r->has_record;
	got = engine_lines_next(&r->lines, &line, err);
	if (got > 0 && !record_take(line, &r->key, &r->kind, &r->body))
		return broken(err, "a line is none of theirs");
	if (got > 0 && r->key.file < before.file)
		return broken(err, "they are not in order (LC_ALL=C sort)");
	r->has_record = got > 0;
	r->at_end = !got;
	return got;
}

static int flush(struct reading *g, struct error *err)
{
	int got = 0;

	for (size_t i = 0; i < g->events.nr; i++)
		g->events.v[i].file = g->logs.file;
	if (g->events.nr)
		got = layout_settle(g->logs.layout, g->events.v, g->events.nr, g->sink->losses);
	if (got >= 0 && g->events.nr)
		got = g->sink->events(g->sink->to, g->events.v, g->events.nr, err);
	vec_clear(&g->events);
	arena_reset(&g->arena);
	return got;
}

static int take_raw_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct reading *g = to;
	int got = 0;

	for (size_t i = 0; i < nr && got >= 0; i++) {
		struct event ev = events[i];

		ev.offset += g->raw_offset;
		ev.line += g->raw_line;
		vec_push(&g->events, ev);
		got = flush(g, err);
	}
	return got;
}

/* Lines at the seam of two parts, which nobody else can add to any more. */
static int read_raw(struct reading *g, struct error *err)
{
	const struct split_taker taker = { .to = g, .events = take_raw_events };
	int got = flush(g, err);

	if (got >= 0)
		got = split_read(&g->logs, buf_str(&g->raw), &taker, g->sink->losses, err);
	buf_clear(&g->raw);
	return got;
}

static int take_raw(struct reading *g, const struct merging *r, struct error *err)
{
	struct arena arena = { 0 };
	struct record_raw raw;
	int got = r->kind == RECORD_TAIL ? read_raw(g, err) : 0;

	if (got >= 0 && !record_take_raw(r->body, &arena, &raw))
		got = broken(err, "lines are damaged");
	if (got >= 0) {
		if (!g->raw.n) {
			g->raw_offset = g->offset + raw.offset;
			g->raw_line = g->line + raw.line;
		}
		buf_add(&g->raw, raw.lines);
		g->nr++;
	}
	arena_done(&arena);
	return got;
}

static int take_event(struct reading *g, struct str body, struct error *err)
{
	struct event ev;

	body = arena_str(&g->arena, body);
	if (!record_take_event(&body, &g->last, &g->arena, &ev))
		return broken(err, "an event is damaged");
	ev.offset += g->offset;
	ev.line += g->line + 1;
	vec_push(&g->events, ev);
	g->nr++;
	return g->events.nr < BATCH ? 0 : flush(g, err);
}

static int take_block(struct reading *g, struct str body, struct error *err)
{
	uint32_t nr;
	int got = 0;

	if (!record_block_open(&g->block, body, &nr))
		return broken(err, "a block is damaged");
	for (; nr && got >= 0; nr--)
		got = record_block_next(&g->block, &g->event)
			      ? take_event(g, buf_str(&g->event), err)
			      : broken(err, "a block is damaged");
	return got;
}

static int take_end(struct reading *g, struct str body, struct error *err)
{
	struct record_end end;

	if (!record_take_end(body, &end, g->sink->losses))
		return broken(err, "the end of a part is damaged");
	if (end.nr != g->nr)
		return broken(err, "some of a part are missing");
	g->offset += end.bytes;
	g->line += end.lines;
	g->in_part = false;
	return 0;
}

/* The part that the record at hand is of. */
static int enter_part(struct reading *g, const struct record_key *key, struct error *err)
{
	if (g->in_part && g->part != key->part)
		return broken(err, "the end of a part is missing");
	if (!g->in_part && g->nr_parts && key->part <= g->part)
		return broken(err, "a part is there twice, or they are not in order");
	if (!g->in_part) {
		g->in_part = true;
		g->part = key->part;
		g->nr_parts++;
		g->nr = 0;
		g->last = (struct record_last){ 0 };
	}
	return key->nr == g->nr ? 0 : broken(err, "some are missing, or not in order");
}

static int take_record(struct reading *g, const struct merging *r, struct error *err)
{
	int got = enter_part(g, &r->key, err);

	if (got < 0)
		return got;
	switch (r->kind) {
	case RECORD_FRONT:
	case RECORD_TAIL:
		return take_raw(g, r, err);
	case RECORD_END:
		return take_end(g, r->body, err);
	default:
		if (g->raw.n)
			got = read_raw(g, err);
		if (got < 0)
			return got;
		return r->kind == RECORD_BLOCK ? take_block(g, r->body, err)
					       : take_event(g, r->body, err);
	}
}

static int take_records(struct merging *r, struct reading *g, uint32_t file, struct error *err)
{
	int got;

	while ((got = peek(r, err)) > 0 && r->key.file == file) {
		r->has_record = false;
		got = take_record(g, r, err);
		if (got < 0)
			return got;
	}
	if (got >= 0 && g->in_part)
		return broken(err, "the end of a part is missing");
	if (got >= 0 && (!g->nr_parts || (g->file->is_plain && g->offset < g->file->bytes))) {
		broken(err, "a part is missing");
		return error_prefix(err, "'%s'", g->file->path);
	}
	if (got >= 0)
		got = read_raw(g, err);
	return got;
}

static int read_recorded(struct merging *r, size_t nr, const struct source_options *o,
			 struct sink *sink, struct error *err)
{
	const struct plan_file *f = &r->plan->files.v[nr];
	struct reading g = { .file = f, .sink = sink };
	struct file_seen seen = {
		.path = str_of(f->path), .bytes = f->bytes, .mtime_ns = f->mtime_ns, .mark = f->mark
	};
	int got = plan_logs(r->plan, nr, o->statements, &g.logs, err);

	if (got < 0)
		return got;
	g.logs.is_settled = false;
	seen.format = str_of(layout_name(g.logs.layout));
	seen.layout = layout_pattern(g.logs.layout);
	got = sink->file(sink->to, &seen, &g.logs.file, err);
	if (got >= 0)
		got = take_records(r, &g, (uint32_t)nr, err);
	if (got >= 0 && sink->progress)
		sink->progress(sink->to, f->bytes);
	logs_close(&g.logs);
	record_block_done(&g.block);
	buf_done(&g.raw);
	buf_done(&g.event);
	vec_done(&g.events);
	arena_done(&g.arena);
	return got < 0 ? got : 1;
}

static int read_file(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		     struct error *err)
{
	struct merging *r = to;
	const struct plan_file *f = &r->plan->files.v[nr];
	struct source_options own = *o;

	own.layout = r->plan->layout;
	own.zone = r->plan->zone;
	own.kin = f->kin;
	own.keeps_text = f->is_found;
	return *f->uri ? read_recorded(r, nr, &own, sink, err)
		       : source_read(f->path, &own, sink, err);
}

static const char *name_of(void *to, size_t nr)
{
	return ((struct merging *)to)->plan->files.v[nr].name;
}

int engine_merge(const struct call *call, const struct plan *plan, const char *records,
		 const struct reducers *reducers, const char *path, struct store **s,
		 struct error *err)
{
	struct merging r = { .plan = plan };
	struct observed_files files = { .to = &r,
					.nr = plan->files.nr,
					.name = name_of,
					.read = read_file,
					.reducers = reducers };
	int got = engine_lines_open(&r.lines, records, err);

	if (got < 0)
		return got;
	for (size_t i = 0; i < plan->files.nr; i++)
		files.bytes += plan->files.v[i].bytes;
	got = observe_files(call, &files, path, s, err);
	engine_lines_close(&r.lines);
	return got;
}
