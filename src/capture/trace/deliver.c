#include "capture/trace/deliver.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/jvm/name.h"
#include "capture/trace/marks.h"
#include "capture/trace/points.h"
#include "capture/trace/spans.h"
#include "model/attr.h"
#include "model/loss.h"
#include "model/sink.h"
#include "source/title.h"

#define NAME_MAX_BYTES 64

/* Where two DataNodes run on one host, a name is not enough. */
static void names_compare(struct deliver *d, const int *pids, size_t nr)
{
	char(*names)[NAME_MAX_BYTES] = mem_zalloc(mem_bytes(nr + 1, sizeof(*names)));

	for (size_t i = 0; i < nr; i++) {
		if (jvm_name(pids[i], names[i], sizeof(*names)) < 0)
			names[i][0] = 0;
		for (size_t k = 0; k < i; k++)
			if (names[i][0] && !strcmp(names[i], names[k]))
				vec_push(&d->shared, str_of(arena_z(&d->kept, str_of(names[i]))));
	}
	free(names);
}

void deliver_init(struct deliver *d, struct sink *sink, uint32_t file, const int *pids, size_t nr)
{
	*d = (struct deliver){ .sink = sink, .file = file };
	if (gethostname(d->host, sizeof(d->host) - 1) < 0)
		d->host[0] = 0;
	names_compare(d, pids, nr);
}

void deliver_done(struct deliver *d)
{
	vec_done(&d->shared);
	vec_done(&d->spans);
	vec_done(&d->events);
	arena_done(&d->arena);
	arena_done(&d->kept);
}

static struct str node_of(struct deliver *d, const struct trace_thread *t)
{
	vec_each (&d->shared, name)
		if (str_eq(*name, t->process_name))
			return arena_fmt(&d->arena, STR_FMT ":%lld", STR_ARG(t->process_name),
					 (long long)t->process);
	return arena_str(&d->arena, t->process_name);
}

static struct str id_of(struct deliver *d, const struct trace_mark *m)
{
	return arena_fmt(&d->arena, "%016llx", (unsigned long long)mark_name(m));
}

static struct str span_id(struct deliver *d, const struct trace_span *s)
{
	return id_of(d, &(struct trace_mark){ s->thread->process, s->thread->number, s->start });
}

/* Unique and in order of time: when a request began, and where. (Threads that others carry are
 * numbered from 1 << 32 on, those of the kernel are below 1 << 22.) */
static struct str trace_id(struct deliver *d, const struct trace_span *s)
{
	uint64_t thread = (uint64_t)s->root.thread;

	return arena_fmt(&d->arena, "%016llx%08x%08x", (unsigned long long)s->root.ns,
			 (unsigned)s->root.process, (unsigned)(thread | (thread >> 32) << 31));
}

static void span_add(struct deliver *d, const struct trace_span *s)
{
	struct span span = { .start = s->start,
			     .end = s->end,
			     .parent = SPAN_NONE,
			     .confidence = 1,
			     .kind = s->is_call ? SPAN_SERVER
				     : s->calls ? SPAN_CLIENT
						: SPAN_INTERNAL,
			     .status = s->is_error ? STATUS_ERROR : STATUS_UNSET,
			     .host = str_of(d->host) };

	d->sink->losses->count[LOSS_SPANS_OPEN] += s->is_open;
	span.key = trace_id(d, s);
	span.id = span_id(d, s);
	if (s->parent)
		span.parent_id = span_id(d, s->parent);
	else if (s->is_lost)
		span.parent_id = id_of(d, &s->link);
	span.follows = s->parent && !s->parent->is_running && s->parent->end < s->end;
	span.name = s->point->name;
	span.node = node_of(d, s->thread);
	span.thread = arena_fmt(&d->arena, "%lld", (long long)s->thread->number);
	span.attrs = arena_str(&d->arena, s->attrs);
	vec_push(&d->spans, span);
}

/* What a line says stands among what was exported with it. */
static void line_words(struct deliver *d, const struct trace_span *s, struct event *ev)
{
	struct str left = s->attrs;
	struct buf others = { 0 }, text = { 0 };
	struct attr a;

	while (attr_take(&left, &a)) {
		buf_clear(&text);
		attr_text(&text, &a);
		if (str_eq(a.key, STR("message")))
			ev->text = arena_str(&d->arena, buf_str(&text));
		else if (str_eq(a.key, STR("logger")))
			ev->point = arena_str(&d->arena, buf_str(&text));
		else if (str_eq(a.key, STR("level")))
			ev->level = level_of(buf_str(&text));
		else
			attr_add(&others, &a);
	}
	ev->attrs = arena_str(&d->arena, buf_str(&others));
	buf_done(&others);
	buf_done(&text);
}

static void line_add(struct deliver *d, const struct trace_span *s)
{
	struct event ev = { .ns = s->start,
			    .kind = EVENT_LOG,
			    .file = d->file,
			    .nr_lines = 1,
			    .duration = -1,
			    .key_kind = KEY_TRACE };

	if (!s->parent) {
		d->sink->losses->count[LOSS_LINES_OUTSIDE]++;
		return;
	}
	line_words(d, s, &ev);
	ev.node = node_of(d, s->thread);
	ev.thread = arena_fmt(&d->arena, "%lld", (long long)s->thread->number);
	ev.key = trace_id(d, s);
	ev.span = span_id(d, s->parent);
	ev.title = title_mask(&d->arena, ev.text);
	vec_push(&d->events, ev);
}

int deliver_one(void *ctx, const struct trace_span *s)
{
	if (s->point->is_line)
		line_add(ctx, s);
	else
		span_add(ctx, s);
	return 0;
}

int deliver_flush(struct deliver *d, struct error *err)
{
	int r = 0;

	if (d->spans.nr)
		r = d->sink->spans(d->sink->to, d->spans.v, d->spans.nr, err);
	if (r >= 0 && d->events.nr)
		r = d->sink->events(d->sink->to, d->events.v, d->events.nr, err);
	vec_clear(&d->spans);
	vec_clear(&d->events);
	arena_reset(&d->arena);
	return r;
}
