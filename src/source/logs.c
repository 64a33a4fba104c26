/*
 * Log files: what a line says is the business of layout.h, what a file is made of is ours. A line
 * that begins no event goes on with the event before it, as stack traces do.
 *
 * What is found in an event must not depend on where the file happens to be cut for reading: chunks
 * end where events do, as far as those of TEXT_BYTES_MAX go, and no more of an event is looked at.
 */
#include "source/logs.h"

#include <errno.h>
#include <stdlib.h>

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
#include "source/undated.h"

#define LINE_BYTES_MAX ((size_t)1 << 20)
#define SNIFF_BYTES ((size_t)4 << 10)
#define TEXT_BYTES_MAX ((size_t)64 << 10)
#define FIT_LINES 200
#define SNIFF_SURE 30 /* any format that knows its own marks is surer than this */

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
	if (!head.n || undated_is_binary(head))
		return 0;
	return can_learn(str_head(head, SNIFF_BYTES)) || (head.n > SNIFF_BYTES && can_learn(head))
		       ? SNIFF_SURE
		       : 0;
}

/* What one thread works with. */
struct worker {
	struct layout_worker *layout;
	const struct statements *statements;
	void *memory; /* of the statements; may be NULL */
	const struct namers *namers;
	void *namer;
};

static void *open_worker(void *ctx)
{
	const struct logs *logs = ctx;
	struct worker *w = mem_zalloc(sizeof(*w));

	w->layout = layout_worker_new(logs->layout);
	w->statements = logs->statements;
	if (w->statements && w->statements->remember)
		w->memory = w->statements->remember();
	w->namers = logs->namers;
	if (w->namers)
		w->namer = w->namers->open(w->namers->ctx);
	return w;
}

static void close_worker(void *state)
{
	struct worker *w = state;

	if (w->memory)
		w->statements->forget(w->memory);
	if (w->namers)
		w->namers->close(w->namers->ctx, w->namer);
	layout_worker_free(w->layout);
	free(w);
}

static struct layout_worker *layout_of(const struct batch *b)
{
	return ((const struct worker *)b->worker_state)->layout;
}

static bool begins(const struct logs *logs, struct str line)
{
	struct arena arena = { 0 };
	struct losses losses = { 0 };
	struct event ev;
	bool is = layout_parse(logs->layout, logs->looker, line, &arena, &ev, &losses) == 1;

	arena_done(&arena);
	return is;
}

size_t logs_first(const struct logs *logs, struct str bytes)
{
	struct lines l = lines_of(bytes);
	struct line line;

	while (lines_next(&l, &line))
		if (line.text.n && begins(logs, str_head(line.text, LINE_BYTES_MAX)))
			return (size_t)(line.text.p - bytes.p);
	return bytes.n;
}

size_t logs_last(const struct logs *logs, struct str bytes, size_t near)
{
	size_t end = bytes.n;

	while (end && bytes.n - end < near) {
		const char *p = memrchr(bytes.p, '\n', end - 1);
		size_t start = p ? (size_t)(p - bytes.p) + 1 : 0;
		struct lines l = lines_of(str_head(str_skip(bytes, start), end - start));
		struct line line;

		if (lines_next(&l, &line) && line.text.n &&
		    begins(logs, str_head(line.text, LINE_BYTES_MAX)))
			return start;
		end = start;
	}
	return bytes.n;
}

size_t logs_cut(const struct logs *logs, struct str bytes)
{
	return layout_shows_beginnings(logs->layout) ? logs_last(logs, bytes, TEXT_BYTES_MAX)
						     : layout_cut(logs->layout, bytes);
}

static size_t cut(void *ctx, struct str bytes)
{
	return logs_cut(ctx, bytes);
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

/* A line that begins no event, the nr-th of its chunk from 0: every line is one of an event, blank
 * ones too. */
static void go_on(struct logs *logs, struct batch *b, struct str line, uint64_t nr)
{
	struct event *last = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;
	uint64_t end = (uint64_t)(line.p - b->bytes.p) + line.n;

	if (last && logs->has_more)
		layout_more(logs->layout, layout_of(b), line, &b->arena, last, &b->losses);
	if (!last) {
		b->continued_bytes = end;
		b->continued_lines = (uint32_t)(nr + 1);
		return;
	}
	last->length = b->offset + end - last->offset;
	last->nr_lines = (uint32_t)(b->first_line + nr - last->line + 1);
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* The statement that wrote the event, of which all lines are known, up to the end of the chunk. */
static void find_statement(const struct logs *logs, struct batch *b, struct event *ev,
			   struct str message)
{
	const struct worker *w = b->worker_state;
	const char *end;

	end = b->bytes.p + (ev->offset - b->offset);
	end += ev->length < TEXT_BYTES_MAX ? ev->length : TEXT_BYTES_MAX;
	/* a message that stands in the line itself, up to its end, goes on in the next ones */
	if (ev->nr_lines > 1 && message.p >= b->bytes.p && message.p + message.n < end &&
	    is_line_end(message.p[message.n]))
		message.n = (size_t)(end - message.p);
	while (message.n && is_line_end(message.p[message.n - 1]))
		message.n--;
	if (w->memory)
		w->statements->find_again(w->statements->ctx, w->memory, ev, message, &b->arena);
	else
		w->statements->find(w->statements->ctx, ev, message, &b->arena);
	b->losses.count[LOSS_LINES_NO_STATEMENT] += logs->statements->knows_all && !ev->statement;
}

/* The last event is whole. */
static void look_into(const struct logs *logs, struct batch *b, struct str message,
		      struct str naming)
{
	struct event *ev = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;
	const struct worker *w = b->worker_state;

	if (!ev)
		return;
	if (logs->statements)
		find_statement(logs, b, ev, message);
	if (w->namers)
		w->namers->name(w->namer, ev, naming, &b->arena, &b->losses);
}

static void parse(void *ctx, struct batch *b)
{
	struct logs *logs = ctx;
	struct lines l = lines_of(b->bytes);
	const struct worker *w = b->worker_state;
	bool looks = w->statements || w->namers;
	struct str message = { 0 }, naming = { 0 };
	struct line line;

	if (w->namers)
		w->namers->begin(w->namer);
	for (uint64_t nr = 0; lines_next(&l, &line); nr++) {
		struct event *ev;

		if (line.strange)
			note_strange(b, line.text);
		if (!line.text.n && !logs->has_more) {
			go_on(logs, b, line.text, nr);
			continue;
		}
		vec_reserve(&b->events, b->events.nr + 1);
		ev = &b->events.v[b->events.nr];
		if (!layout_parse(logs->layout, layout_of(b), line.text, &b->arena, ev,
				  &b->losses)) {
			go_on(logs, b, line.text, nr);
			if (logs->has_more)
				naming = message = layout_message(layout_of(b));
			continue;
		}
		if (looks) {
			look_into(logs, b, message, naming);
			message = layout_message(layout_of(b));
			naming = layout_naming(layout_of(b));
		}
		ev->mention = NULL;
		ev->kind = EVENT_LOG;
		ev->file = logs->file;
		ev->line = b->first_line + nr;
		ev->nr_lines = 1;
		ev->offset = b->offset + (uint64_t)(line.text.p - b->bytes.p);
		ev->length = line.text.n;
		b->events.nr++;
	}
	if (looks)
		look_into(logs, b, message, naming);
}

static void begin_undated(void *ctx, struct batch *b, struct str text, struct event *ev)
{
	const struct logs *logs = ctx;

	undated_event(ev, layout_node(logs->layout));
	ev->file = logs->file;
	undated_ask(logs->statements, ev, text, &b->arena, &b->losses);
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

int logs_open(struct logs *logs, const struct logs_about *about, const struct source_options *o,
	      struct error *err)
{
	struct arena arena = { 0 };
	const struct layout_hints hints = {
		.zone = str_of(o->zone ? o->zone : ""),
		.mtime_ns = about->mtime_ns,
		.node = nodename_of_path(&arena, str_of(about->path)),
		.is_bare = o->is_bare,
	};
	struct layout *layout = NULL;
	int r = o->layout ? layout_compile(&layout, o->layout, &hints, err)
			  : layout_learn(&layout, about->head, &hints, err);

	if (r >= 0 && !o->layout && about->kin.n > about->head.n)
		prefer_kin(&layout, about->head, about->kin, &hints);
	arena_done(&arena);
	if (r < 0)
		return r;
	*logs = (struct logs){ .layout = layout,
			       .looker = layout_worker_new(layout),
			       .statements = o->statements,
			       .namers = o->namers,
			       .has_more = layout_has_more(layout),
			       .is_settled = true };
	return 0;
}

void logs_close(struct logs *logs)
{
	if (logs->layout) {
		layout_worker_free(logs->looker);
		layout_free(logs->layout);
	}
	*logs = (struct logs){ 0 };
}

int logs_read(struct logs *logs, struct input *in, unsigned cores, struct sink *sink,
	      struct error *err)
{
	const struct chunk_format format = { .ctx = logs,
					     .line_bytes_max = LINE_BYTES_MAX,
					     .open_worker = open_worker,
					     .close_worker = close_worker,
					     .cut = cut,
					     .parse = parse,
					     .begin_undated = begin_undated,
					     .settle = logs->is_settled ? settle : NULL };

	return chunks_read(in, &format, cores, sink, err);
}

void logs_seen(const struct logs *logs, const struct input *in, struct file_seen *seen)
{
	*seen = (struct file_seen){ .path = str_of(input_path(in)),
				    .format = str_of(layout_name(logs->layout)),
				    .layout = layout_pattern(logs->layout),
				    .bytes = input_bytes(in),
				    .mtime_ns = input_mtime(in),
				    .mark = input_mark(in) };
}

static int read_logs(struct input *in, const struct source_options *o, struct sink *sink,
		     struct error *err)
{
	const struct logs_about about = { input_path(in), input_mtime(in), input_head(in, NULL),
					  o->kin };
	struct file_seen seen;
	struct logs logs = { 0 };
	int r = logs_open(&logs, &about, o, err);

	if (r < 0)
		return r;
	logs_seen(&logs, in, &seen);
	r = sink->file(sink->to, &seen, &logs.file, err);
	if (r >= 0)
		r = logs_read(&logs, in, o->cores, sink, err);
	logs_close(&logs);
	return r;
}

const struct source source_logs = {
	.name = "logs",
	.summary = "log files of any layout whose lines carry a time",
	.sniff = sniff,
	.read = read_logs,
};
