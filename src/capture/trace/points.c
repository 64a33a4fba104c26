#include "capture/trace/points.h"

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "query/tracepoint.h"

static const char letters[] = { [TRACE_ENTRY] = 'e', [TRACE_EXIT] = 'x', [TRACE_THROWN] = 't' };
static const char *const moments[] = {
	[TRACE_ENTRY] = "entry", [TRACE_EXIT] = "exit", [TRACE_THROWN] = "exception"
};

void trace_points_done(struct trace_points *p)
{
	vec_done(&p->v);
	arena_done(&p->arena);
}

static struct trace_point *point_of(struct trace_points *p, struct str place, struct str name)
{
	struct trace_point new = { .is_offered = p->are_offered };

	vec_each (&p->v, at)
		if (str_eq(at->place, place))
			return at;
	new.name = arena_str(&p->arena, name);
	new.place = arena_str(&p->arena, place);
	vec_push(&p->v, new);
	return &p->v.v[p->v.nr - 1];
}

static bool exports_have(const struct trace_exports *e, struct str name)
{
	for (size_t i = 0; i < e->nr; i++)
		if (str_eq(e->v[i].name, name))
			return true;
	return false;
}

static bool export_add(struct trace_points *p, struct trace_exports *e, struct str name,
		       struct str expression)
{
	if (exports_have(e, name))
		return true;
	if (e->nr == TRACE_EXPORTS)
		return false;
	e->v[e->nr++] = (struct trace_export){ arena_str(&p->arena, name),
					       arena_str(&p->arena, expression) };
	if (e->nr > p->nr_columns)
		p->nr_columns = e->nr;
	return true;
}

static bool exports_message(const struct tracepoint *t)
{
	for (size_t i = 0; i < t->nr_exports; i++)
		if (str_eq(t->exports[i].name, STR("message")))
			return true;
	return false;
}

/* How long it took is what a span says itself. */
static void exports_add(struct trace_points *p, struct trace_exports *to,
			const struct tracepoint *t, struct buf *told)
{
	for (size_t i = 0; i < t->nr_exports; i++) {
		const struct tracepoint_export *e = &t->exports[i];
		struct str expression = str_trim(e->expression);

		if (str_eq(expression, STR("duration")))
			continue;
		if (!export_add(p, to, e->name, expression))
			buf_fmt(told,
				STR_FMT ": '" STR_FMT "' is left out: a span has at most %d\n",
				STR_ARG(t->name), STR_ARG(e->name), TRACE_EXPORTS);
	}
}

void trace_points_add(struct trace_points *p, const struct tracepoint *t, struct buf *told)
{
	static const enum trace_moment of[] = { [MOMENT_ENTRY] = TRACE_ENTRY,
						[MOMENT_EXIT] = TRACE_EXIT,
						[MOMENT_EXCEPTION] = TRACE_THROWN };

	for (size_t i = 0; i < t->nr_places; i++) {
		const struct tracepoint_place *at = &t->places[i];
		struct trace_point *point;

		if (at->where != WHERE_CLASS || at->moment == MOMENT_LINE) {
			buf_fmt(told, STR_FMT ": is left out, being no method of a class\n",
				STR_ARG(t->name));
			continue;
		}
		point = point_of(p, at->name, t->name);
		point->begins_request |= t->begins_request;
		point->is_line |= exports_message(t);
		exports_add(p, &point->at[of[at->moment]], t, told);
	}
}

int trace_points_method(struct trace_points *p, struct str method, struct error *err)
{
	struct str name = str_head(method, str_find_char(method, '('));
	size_t dots = 0, at = name.n;

	for (; at && (name.p[at - 1] != '.' || !dots); at--)
		dots += name.p[at - 1] == '.';
	if (!dots || name.p[0] == '.' || name.p[name.n - 1] == '.')
		return error_set(err, EINVAL,
				 "'" STR_FMT
				 "' is no method of a class: write it like a.b.C.method",
				 STR_ARG(method));
	point_of(p, method, str_skip(name, at));
	return 0;
}

void trace_points_settle(struct trace_points *p)
{
	vec_each (&p->v, at) {
		if (at->is_line)
			continue;
		export_add(p, &at->at[TRACE_THROWN], STR("exception.type"), STR("thrown.class"));
		export_add(p, &at->at[TRACE_THROWN], STR("exception.message"),
			   STR("thrown.detailMessage"));
	}
}

/* A line is told where it is written, and nowhere else. */
static bool is_watched(const struct trace_point *p, enum trace_moment m)
{
	return m == TRACE_ENTRY || !p->is_line;
}

static void define(const struct trace_point *p, size_t number, enum trace_moment m,
		   struct buf *text)
{
	const struct trace_exports *e = &p->at[m];

	buf_fmt(text, "tracepoint %c%zu at class " STR_FMT " %s", letters[m], number,
		STR_ARG(p->place), moments[m]);
	if (m == TRACE_ENTRY && p->begins_request)
		buf_add(text, STR(" begins a request"));
	for (size_t i = 0; i < e->nr; i++)
		buf_fmt(text, "%s a%zu = " STR_FMT, i ? "," : " export", i,
			STR_ARG(e->v[i].expression));
	if (m != TRACE_ENTRY)
		buf_fmt(text, "%s out = true", e->nr ? "," : " export");
	buf_char(text, '\n');
}

void trace_points_define(const struct trace_points *p, struct buf *text)
{
	for (size_t i = 0; i < p->v.nr; i++)
		for (enum trace_moment m = 0; m < TRACE_MOMENTS; m++)
			if (is_watched(&p->v.v[i], m))
				define(&p->v.v[i], i, m, text);
}

enum { ROWS, LINKS, SPANS };

/* Where a query's stage is; ends have nothing to link, but for their exports. */
static void sources(const struct trace_points *p, int stage, struct buf *query)
{
	const char *between = "";

	for (size_t i = 0; i < p->v.nr; i++) {
		const struct trace_point *at = &p->v.v[i];

		for (enum trace_moment m = 0; m < TRACE_MOMENTS; m++) {
			if (!is_watched(at, m) || (stage == SPANS && at->is_line) ||
			    (stage == LINKS && m != TRACE_ENTRY && !at->at[m].nr))
				continue;
			buf_fmt(query, "%s%c%zu", between, letters[m], i);
			between = ", ";
		}
	}
}

bool trace_points_have_spans(const struct trace_points *p)
{
	vec_each (&p->v, at)
		if (!at->is_line)
			return true;
	return false;
}

static void exports_select(const struct trace_points *p, struct buf *query)
{
	buf_add(query, STR(", e.out"));
	for (size_t i = 0; i < p->nr_columns; i++)
		buf_fmt(query, ", e.a%zu", i);
}

void trace_points_rows(const struct trace_points *p, struct buf *query)
{
	buf_add(query, STR("From e In "));
	sources(p, ROWS, query);
	buf_add(query, STR(" Select e.tracepoint, e.time, e.procId, e.thread, e.procName"));
	exports_select(p, query);
}

void trace_points_links(const struct trace_points *p, struct buf *query)
{
	buf_add(query, STR("From e In "));
	sources(p, LINKS, query);
	buf_add(query, STR(" Join p In MostRecent("));
	sources(p, SPANS, query);
	buf_add(query, STR(") On p -> e Where e.out = null "
			   "Select e.time, e.procId, e.thread, p.time, p.procId, p.thread, "
			   "p.out"));
	exports_select(p, query);
}

const struct trace_point *trace_points_find(const struct trace_points *p, struct str name,
					    enum trace_moment *moment)
{
	struct str digits = str_skip(name, 1);
	uint64_t number;

	for (enum trace_moment m = 0; m < TRACE_MOMENTS; m++)
		if (name.n && name.p[0] == letters[m])
			*moment = m;
	if (!str_take_uint(&digits, &number) || digits.n || number >= p->v.nr)
		return NULL;
	return &p->v.v[number];
}
