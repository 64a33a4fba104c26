/*
 * Log files: what a line says is the business of layout.h, what a file is made of is ours. A line
 * that begins no event goes on with the event before it, as stack traces do.
 */
#include <ctype.h>
#include <errno.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/utf8.h"
#include "model/sink.h"
#include "source/chunks.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/layout.h"
#include "source/lines.h"
#include "source/nodename.h"
#include "source/source.h"

#define LINE_BYTES_MAX ((size_t)1 << 20)
#define SNIFF_BYTES ((size_t)4 << 10)
#define FIT_LINES 200
#define SNIFF_SURE 30 /* any format that knows its own marks is surer than this */

struct logs {
	struct layout *layout;
	const struct statements *statements; /* NULL: not asked for */
	bool has_more;
	uint32_t file;
};

/* Characters that no text has, in more than a twentieth of it; NUL bytes alone do not count, since
 * a crash leaves stretches of them in a log. */
static bool is_binary(struct str head)
{
	size_t odd = 0, nul = 0, all = head.n;

	while (head.n) {
		unsigned char c = (unsigned char)head.p[0];
		size_t n = c < 0x80 ? 1 : utf8_length(head);

		nul += !c;
		odd += !n || (c && c < ' ' && !isspace(c) && c != 0x1b) || c == 0x7f;
		head = str_skip(head, n ? n : 1);
	}
	return odd > (all - nul) / 20 || nul > all / 2;
}

static bool can_learn(struct str head)
{
	const struct layout_hints hints = { .zone = STR("UTC"), .node = STR("") };
	struct layout *layout = NULL;
	struct error err;

	if (layout_learn(&layout, head, &hints, &err) < 0)
		return false;
	layout_free(layout);
	return true;
}

/* Learning is dear beside a small file, so few lines are tried first; a long preamble needs all. */
static int sniff(struct str head, bool whole)
{
	(void)whole;
	if (!head.n || is_binary(head))
		return 0;
	return can_learn(str_head(head, SNIFF_BYTES)) || (head.n > SNIFF_BYTES && can_learn(head))
		       ? SNIFF_SURE
		       : 0;
}

static void *open_worker(void *ctx)
{
	return layout_worker_new(((struct logs *)ctx)->layout);
}

static void close_worker(void *state)
{
	layout_worker_free(state);
}

static size_t cut(void *ctx, struct str bytes)
{
	return layout_cut(((struct logs *)ctx)->layout, bytes);
}

/* What a careful look at a strange line finds is counted; the line is kept as it is. */
static void note_strange(struct batch *b, struct str line)
{
	if (memchr(line.p, 0, line.n))
		b->losses.count[LOSS_LINES_NUL]++;
	while (line.n) {
		size_t n = (unsigned char)line.p[0] < 0x80 ? 1 : utf8_length(line);

		if (!n) {
			b->losses.count[LOSS_LINES_NOT_UTF8]++;
			return;
		}
		line = str_skip(line, n);
	}
}

/* A line that begins no event, the nr-th of its chunk from 0. Blank ones at the end of an event are
 * left out of it. */
static void go_on(struct logs *logs, struct batch *b, struct str line, uint64_t nr)
{
	struct event *last = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;
	uint64_t end = (uint64_t)(line.p - b->bytes.p) + line.n;

	if (last && logs->has_more)
		layout_more(logs->layout, b->worker_state, line, &b->arena, last, &b->losses);
	if (!line.n)
		return;
	if (!last) {
		b->continued_bytes = end;
		b->continued_lines = (uint32_t)(nr + 1);
		return;
	}
	last->length = b->offset + end - last->offset;
	last->nr_lines = (uint32_t)(b->first_line + nr - last->line + 1);
}

/* The last event is whole: all lines that go on with it are known, up to the end of the chunk. */
static void find_statement(const struct logs *logs, struct batch *b, struct str message)
{
	struct event *ev = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;
	const char *end;

	if (!ev)
		return;
	end = b->bytes.p + (ev->offset - b->offset) + ev->length;
	/* a message that stands in the line itself, up to its end, goes on in the next ones */
	if (ev->nr_lines > 1 && message.p >= b->bytes.p && message.p + message.n < end &&
	    (message.p[message.n] == '\n' || message.p[message.n] == '\r'))
		message.n = (size_t)(end - message.p);
	logs->statements->find(logs->statements->ctx, ev, message, &b->arena);
	b->losses.count[LOSS_LINES_NO_STATEMENT] += logs->statements->knows_all && !ev->statement;
}

static void parse(void *ctx, struct batch *b)
{
	struct logs *logs = ctx;
	struct lines l = lines_of(b->bytes);
	struct str message = { 0 };
	struct line line;

	for (uint64_t nr = 0; lines_next(&l, &line); nr++) {
		struct event *ev;

		if (line.strange)
			note_strange(b, line.text);
		if (!line.text.n && !logs->has_more)
			continue;
		vec_reserve(&b->events, b->events.nr + 1);
		ev = &b->events.v[b->events.nr];
		if (!layout_parse(logs->layout, b->worker_state, line.text, &b->arena, ev,
				  &b->losses)) {
			go_on(logs, b, line.text, nr);
			if (logs->has_more)
				message = layout_message(b->worker_state);
			continue;
		}
		if (logs->statements) {
			find_statement(logs, b, message);
			message = layout_message(b->worker_state);
		}
		ev->kind = EVENT_LOG;
		ev->file = logs->file;
		ev->line = b->first_line + nr;
		ev->nr_lines = 1;
		ev->offset = b->offset + (uint64_t)(line.text.p - b->bytes.p);
		ev->length = line.text.n;
		b->events.nr++;
	}
	if (logs->statements)
		find_statement(logs, b, message);
}

static int settle(void *ctx, struct batch *b, struct error *err)
{
	(void)err;
	return layout_settle(((struct logs *)ctx)->layout, b->events.v, b->events.nr, &b->losses);
}

/* How many of the first lines begin an event. */
static size_t fit(const struct layout *layout, struct str head)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct arena arena = { 0 };
	struct losses losses = { 0 };
	struct event ev;
	struct str line;
	size_t nr = 0;

	for (int i = 0; i < FIT_LINES && str_take_line(&head, &line); i++)
		nr += layout_parse(layout, worker, line, &arena, &ev, &losses) == 1;
	arena_done(&arena);
	layout_worker_free(worker);
	return nr;
}

/*
 * Few lines may look like another layout than they are of, and say too little of units. One that
 * was learned from a larger file of the same log is taken if it fits them as well; of those only
 * that name the year, since what else is known of the time is of the file itself.
 */
static void prefer_kin(struct layout **layout, struct str head, struct str kin,
		       const struct layout_hints *hints)
{
	struct layout *other = NULL;
	struct error err;

	if (layout_learn(&other, kin, hints, &err) < 0)
		return;
	if (str_find(layout_pattern(other), STR("yyyy")) < layout_pattern(other).n &&
	    fit(other, head) >= fit(*layout, head)) {
		struct layout *own = *layout;

		*layout = other;
		other = own;
	}
	layout_free(other);
}

static int find_layout(struct input *in, const struct source_options *o, struct layout **layout,
		       struct error *err)
{
	struct arena arena = { 0 };
	const struct layout_hints hints = {
		.zone = str_of(o->zone ? o->zone : ""),
		.mtime_ns = input_mtime(in),
		.node = nodename_of_path(&arena, str_of(input_path(in))),
		.is_bare = o->is_bare,
	};
	int r = o->layout ? layout_compile(layout, o->layout, &hints, err)
			  : layout_learn(layout, input_head(in, NULL), &hints, err);

	if (r >= 0 && !o->layout && o->kin.n > input_head(in, NULL).n)
		prefer_kin(layout, input_head(in, NULL), o->kin, &hints);
	arena_done(&arena);
	return r;
}

static int read_logs(struct input *in, const struct source_options *o, struct sink *sink,
		     struct error *err)
{
	struct logs logs = { .statements = o->statements };
	struct chunk_format format = { .ctx = &logs,
				       .line_bytes_max = LINE_BYTES_MAX,
				       .open_worker = open_worker,
				       .close_worker = close_worker,
				       .parse = parse,
				       .settle = settle };
	struct file_seen seen = { .path = str_of(input_path(in)),
				  .bytes = input_bytes(in),
				  .mtime_ns = input_mtime(in),
				  .mark = input_mark(in) };
	int r = find_layout(in, o, &logs.layout, err);

	if (r < 0)
		return r;
	logs.has_more = layout_has_more(logs.layout);
	if (logs.has_more)
		format.cut = cut;
	seen.format = str_of(layout_name(logs.layout));
	seen.layout = layout_pattern(logs.layout);
	r = sink->file(sink->to, &seen, &logs.file, err);
	if (r >= 0)
		r = chunks_read(in, &format, o->cores, sink, err);
	layout_free(logs.layout);
	return r;
}

const struct source source_logs = {
	.name = "logs",
	.summary = "log files of any layout whose lines carry a time",
	.sniff = sniff,
	.read = read_logs,
};
