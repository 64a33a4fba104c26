#include "capture/trace/spans.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/trace/marks.h"
#include "capture/trace/ordered.h"
#include "capture/trace/points.h"
#include "capture/weave/reap.h"
#include "model/attr.h"

#define SETTLE_NS (1 * NS_S) /* all threads have been read by then */
#define KEEP_NS (120 * NS_S) /* what links may lead to, at least */
#define ROW_CUT 2u           /* ADVICE_ROW_CUT of lib/advice/vm.h */
#define CHAIN_MAX 1000       /* ends that are followed one after the other */
#define LINK_COLUMNS 6

enum { FRESH, BEING_TIED, TIED };

struct thread {
	struct trace_thread who; /* first: spans lead here */
	uint32_t nr_users;       /* spans, and who finds it by its number */
	bool was_seen;           /* since this was last asked */
	VEC(struct trace_span *) open;
	struct trace_mark link; /* of what comes next, … */
	int64_t link_ns;        /* … if it is of this time */
	int64_t last;           /* when it was last seen to begin or end something */
};

struct due {
	struct trace_span *span;
	int64_t tick; /* when it was over */
};

struct trace_spans {
	const struct trace_points *points;
	struct map threads; /* by process and number, to struct thread */
	struct ordered ordered;
	struct marks marks;
	struct names names;
	VEC(struct due) due;
	size_t due_at; /* those in front were told */
	int64_t from, until, last, renewed;
	struct trace_counts counts;
	struct buf attrs;
};

struct trace_spans *trace_spans_new(const struct trace_points *points)
{
	struct trace_spans *s = mem_zalloc(sizeof(*s));

	s->points = points;
	s->from = s->until = INT64_MAX;
	s->renewed = time_tick();
	return s;
}

static void thread_unuse(struct thread *t)
{
	if (--t->nr_users)
		return;
	vec_done(&t->open);
	free(t);
}

static void span_unuse(struct trace_span *p)
{
	while (p && !--p->nr_users) {
		struct trace_span *parent = p->parent;

		thread_unuse((struct thread *)p->thread);
		free((char *)p->attrs.p);
		free(p);
		p = parent;
	}
}

static void mark_drop(void *ctx, struct trace_span *p)
{
	(void)ctx;
	span_unuse(p);
}

void trace_spans_free(struct trace_spans *s)
{
	if (!s)
		return;
	for (const struct map_slot *at = NULL; (at = map_next(&s->threads, at));) {
		struct thread *t = (struct thread *)(uintptr_t)at->value;

		vec_each (&t->open, p)
			span_unuse(*p);
		thread_unuse(t);
	}
	for (size_t i = s->due_at; i < s->due.nr; i++)
		span_unuse(s->due.v[i].span);
	marks_done(&s->marks, mark_drop, NULL);
	map_done(&s->threads);
	ordered_done(&s->ordered);
	names_done(&s->names);
	vec_done(&s->due);
	buf_done(&s->attrs);
	free(s);
}

void trace_spans_from(struct trace_spans *s, int64_t ns)
{
	s->from = ns;
}

void trace_spans_until(struct trace_spans *s, int64_t ns)
{
	s->until = ns;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Of a thread that others carry, which may be very many. */
static bool is_virtual(int64_t number)
{
	return number < 0 || number > UINT32_MAX;
}

/* Processes have at most 22 bits, and threads that others carry are numbered from 1 << 32 on. */
static uint64_t thread_key(int64_t process, int64_t number)
{
	return (uint64_t)process << 42 ^ (uint64_t)number;
}

static struct thread *thread_of(struct trace_spans *s, int64_t process, int64_t number)
{
	uint64_t *at = map_at(&s->threads, thread_key(process, number));
	struct thread *t = (struct thread *)(uintptr_t)*at;

	if (!t) {
		t = mem_zalloc(sizeof(*t));
		t->who = (struct trace_thread){ .process = process, .number = number };
		t->nr_users = 1;
		*at = (uintptr_t)t;
	}
	t->was_seen = true;
	return t;
}

/* Those of which nothing was told for a whole turn are not looked for any more. */
static void threads_renew(struct trace_spans *s)
{
	struct map kept = { 0 };

	for (const struct map_slot *at = NULL; (at = map_next(&s->threads, at));) {
		struct thread *t = (struct thread *)(uintptr_t)at->value;

		if (is_virtual(t->who.number) && !t->was_seen && !t->open.nr) {
			thread_unuse(t);
			continue;
		}
		t->was_seen = false;
		*map_at(&kept, at->key) = at->value;
	}
	map_done(&s->threads);
	s->threads = kept;
}

static bool ints_read(const struct reaped *row, size_t first, size_t nr, int64_t *to)
{
	if (row->nr_columns < first + nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (row->columns[first + i].type != ADVICE_INT)
			return false;
		to[i] = row->columns[first + i].i;
	}
	return true;
}

static struct str text_read(const struct reaped *row, size_t column)
{
	const struct advice_value *v = &row->columns[column];

	return v->type == ADVICE_TEXTUAL ? (struct str){ v->text, v->length } : STR("");
}

/* What was exported at this moment goes behind what is there. */
static void attrs_add(struct trace_spans *s, struct trace_span *p, const struct trace_exports *e,
		      const struct reaped *row)
{
	buf_clear(&s->attrs);
	buf_add(&s->attrs, p->attrs);
	for (size_t i = 0; i < e->nr && TRACE_ROW_EXPORTS + i < row->nr_columns; i++) {
		const struct advice_value *v = &row->columns[TRACE_ROW_EXPORTS + i];
		struct attr a = { .scope = ATTR_SPAN, .key = e->v[i].name };

		if (v->type == ADVICE_NULL)
			continue;
		a.type = v->type == ADVICE_TEXTUAL ? ATTR_STRING
			 : v->type == ADVICE_REAL  ? ATTR_DOUBLE
			 : v->type == ADVICE_BOOL  ? ATTR_BOOL
						   : ATTR_INT;
		a.i = v->i;
		if (v->type == ADVICE_REAL)
			memcpy(&a.d, &v->real, sizeof(a.d));
		if (v->type == ADVICE_TEXTUAL)
			a.text = (struct str){ v->text, v->length };
		attr_add(&s->attrs, &a);
	}
	free((char *)p->attrs.p);
	p->attrs = (struct str){ NULL, s->attrs.n };
	if (s->attrs.n)
		p->attrs.p = memcpy(mem_alloc(s->attrs.n), s->attrs.p, s->attrs.n);
}

static void finish(struct trace_spans *s, struct trace_span *p)
{
	p->is_running = false;
	vec_push(&s->due, (struct due){ p, time_tick() });
}

/* The innermost open one of these, counted from 1; 0: there is none. */
static size_t open_of(const struct thread *t, const struct trace_point *point)
{
	size_t at = t->open.nr;

	while (at && t->open.v[at - 1]->point != point)
		at--;
	return at;
}

/* Those from there on have ended, nobody saw when. */
static void cut(struct trace_spans *s, struct thread *t, size_t from, int64_t ns)
{
	while (t->open.nr > from) {
		struct trace_span *p = t->open.v[--t->open.nr];

		p->end = ns;
		p->is_open = true;
		finish(s, p);
	}
}

/*
 * What is carried tells of something that this thread did later than all that was told of it: rows
 * were dropped, ends among them. Otherwise all that follows would stand in a span that is over.
 */
static void mend(struct trace_spans *s, struct thread *t, const struct trace_point *point,
		 int64_t ns)
{
	size_t at;

	if (t->link_ns != ns || t->link.process != t->who.process ||
	    t->link.thread != t->who.number || t->link.ns <= t->last)
		return;
	at = open_of(t, point);
	if (at)
		cut(s, t, at - 1, t->link.ns);
}

static struct trace_span *begin(struct trace_spans *s, struct thread *t,
				const struct trace_point *point, int64_t ns)
{
	struct trace_span *p = mem_zalloc(sizeof(*p)),
			  *around = t->open.nr ? t->open.v[t->open.nr - 1] : NULL;

	p->point = point;
	p->thread = &t->who;
	t->nr_users++;
	p->start = p->end = ns;
	p->nr_users = 1;
	p->has_link = t->link_ns == ns;
	p->link = t->link;
	if (around && (!point->begins_request || point->is_line)) {
		p->parent = around;
		around->nr_users++;
	}
	s->last = ns > s->last ? ns : s->last;
	return p;
}

static struct trace_mark mark_of(const struct thread *t, int64_t ns)
{
	return (struct trace_mark){ t->who.process, t->who.number, ns };
}

static void mark(struct trace_spans *s, const struct thread *t, int64_t ns, struct trace_span *p,
		 bool is_end)
{
	struct trace_mark m = mark_of(t, ns);

	p->nr_users++;
	marks_add(&s->marks, &m, p, is_end, mark_drop, NULL);
}

/* Calls of which the end was not seen ended before what was around them. */
static void end(struct trace_spans *s, struct thread *t, const struct trace_point *point,
		int64_t ns, const struct reaped *row, enum trace_moment m)
{
	size_t at = open_of(t, point);
	struct trace_span *p;

	/* it began before the recording, or what told of its beginning was dropped and counted */
	if (!at)
		return;
	cut(s, t, at, ns);
	p = t->open.v[--t->open.nr];
	p->end = ns;
	p->is_error = m == TRACE_THROWN;
	attrs_add(s, p, &point->at[m], row);
	mark(s, t, ns, p, true);
	finish(s, p);
	s->last = ns > s->last ? ns : s->last;
}

static void name_thread(struct trace_spans *s, struct thread *t, struct str name)
{
	if (!t->who.process_name.n && name.n)
		t->who.process_name = names_str(&s->names, names_add(&s->names, name));
}

static void row_take(void *ctx, const struct reaped *row)
{
	struct trace_spans *s = ctx;
	enum trace_moment m = TRACE_ENTRY;
	const struct trace_point *point = trace_points_find(s->points, text_read(row, 0), &m);
	struct trace_span *p;
	struct thread *t;
	int64_t v[3]; /* time, process, thread */

	if (!point || !ints_read(row, 1, 3, v)) {
		s->counts.nr_broken++;
		return;
	}
	t = thread_of(s, v[1], v[2]);
	name_thread(s, t, text_read(row, 4));
	if (m == TRACE_ENTRY && !point->is_line)
		mend(s, t, point, v[0]);
	if (!point->is_line)
		t->last = v[0];
	if (m != TRACE_ENTRY) {
		end(s, t, point, v[0], row, m);
		return;
	}
	if (v[0] < s->from || v[0] > s->until)
		return;
	p = begin(s, t, point, v[0]);
	attrs_add(s, p, &point->at[m], row);
	if (point->is_line) {
		s->counts.nr_lines++;
		finish(s, p);
		return;
	}
	s->counts.nr_spans++;
	p->is_running = true;
	vec_push(&t->open, p);
	mark(s, t, v[0], p, false);
}

static void link_take(void *ctx, const struct reaped *row)
{
	struct trace_spans *s = ctx;
	int64_t v[LINK_COLUMNS]; /* time, process, thread; the same of what was before */
	struct thread *t;

	if (!ints_read(row, 0, LINK_COLUMNS, v))
		return;
	t = thread_of(s, v[1], v[2]);
	t->link_ns = v[0];
	t->link = (struct trace_mark){ v[4], v[5], v[3] };
}

/* v: time, process, thread. */
static void take(struct trace_spans *s, const int64_t *v, ordered_row *to, const struct reaped *row)
{
	if (is_virtual(v[2]))
		ordered_add(&s->ordered, v[0], to, row);
	else
		to(s, row);
}

void trace_spans_row(void *ctx, const struct reaped *row)
{
	struct trace_spans *s = ctx;
	int64_t v[3];

	s->counts.nr_cut += row->flags & ROW_CUT ? 1 : 0;
	if (row->nr_columns >= TRACE_ROW_EXPORTS && ints_read(row, 1, 3, v))
		take(s, v, row_take, row);
	else
		s->counts.nr_broken++;
}

void trace_spans_link(void *ctx, const struct reaped *row)
{
	struct trace_spans *s = ctx;
	int64_t v[LINK_COLUMNS];

	if (ints_read(row, 0, LINK_COLUMNS, v))
		take(s, v, link_take, row);
	else
		s->counts.nr_broken++;
}

void trace_spans_pass(struct trace_spans *s)
{
	ordered_pass(&s->ordered, false, s);
}

/* --- links ------------------------------------------------------------------------------------ */

static void tie(struct trace_spans *s, struct trace_span *p, unsigned depth);

static void adopt(struct trace_span *p, struct trace_span *parent)
{
	struct trace_span *was = p->parent;

	if (parent)
		parent->nr_users++;
	p->parent = parent;
	span_unuse(was);
}

/* What was around an end, and was not over when the span began. */
static struct trace_span *around(struct trace_spans *s, struct trace_span *ended,
				 const struct trace_span *p, unsigned depth)
{
	struct trace_span *at;

	tie(s, ended, depth + 1);
	if (ended->state != TIED)
		return NULL;
	for (at = ended->parent; at && !at->is_running && at->end < p->start;)
		at = at->parent;
	return at;
}

static void follow(struct trace_spans *s, struct trace_span *p, unsigned depth)
{
	struct trace_span *to = NULL;
	bool is_end = false;

	if (depth < CHAIN_MAX)
		to = marks_find(&s->marks, &p->link, &is_end);
	p->is_lost = !to && !p->parent;
	if (to && is_end)
		to = around(s, to, p, depth);
	/* what a thread does within a span belongs there, unless it is known to be of another */
	if (to)
		adopt(p, to);
}

/* A parent that is not tied would be its own child: what stands in the rows makes no sense. */
static void settle(struct trace_span *p)
{
	p->root = (struct trace_mark){ p->thread->process, p->thread->number, p->start };
	if (p->parent && p->parent->state != TIED) {
		adopt(p, NULL);
		p->is_lost = true;
	}
	if (p->parent) {
		p->root = p->parent->root;
		p->is_call = p->parent->thread->process != p->thread->process;
		p->parent->calls |= p->is_call && !p->point->is_line;
	}
	p->state = TIED;
}

/* Up to one whose request is known, and down again. */
static void tie(struct trace_spans *s, struct trace_span *p, unsigned depth)
{
	struct trace_span *top = NULL;

	for (; p && p->state == FRESH; p = p->parent) {
		p->state = BEING_TIED;
		if (p->has_link)
			follow(s, p, depth);
		p->below = top;
		top = p;
	}
	for (; top; top = top->below)
		settle(top);
}

/* --- telling ---------------------------------------------------------------------------------- */

static void close_open(struct trace_spans *s)
{
	for (const struct map_slot *at = NULL; (at = map_next(&s->threads, at));) {
		struct thread *t = (struct thread *)(uintptr_t)at->value;

		while (t->open.nr) {
			struct trace_span *p = t->open.v[--t->open.nr];

			p->is_open = true;
			p->end = s->last > p->start ? s->last : p->start;
			finish(s, p);
		}
	}
}

int trace_spans_tell(struct trace_spans *s, bool is_over, trace_tell *tell, void *ctx)
{
	int64_t now = time_tick();
	size_t last;
	int r = 0;

	if (is_over) {
		ordered_pass(&s->ordered, true, s);
		close_open(s);
	}
	for (last = s->due_at; last < s->due.nr; last++) {
		if (!is_over && now - s->due.v[last].tick < SETTLE_NS)
			break;
		/* before any of them is told: its parent may not be, yet */
		tie(s, s->due.v[last].span, 0);
	}
	for (; s->due_at < last && r >= 0; s->due_at++) {
		r = tell(ctx, s->due.v[s->due_at].span);
		span_unuse(s->due.v[s->due_at].span);
	}
	if (s->due_at == s->due.nr) {
		vec_clear(&s->due);
		s->due_at = 0;
	}
	if (now - s->renewed > KEEP_NS) {
		marks_renew(&s->marks, mark_drop, NULL);
		threads_renew(s);
		s->renewed = now;
	}
	return r;
}

const struct trace_counts *trace_spans_counts(const struct trace_spans *s)
{
	return &s->counts;
}
