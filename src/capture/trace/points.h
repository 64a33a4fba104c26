/*
 * What a recording watches: methods that are spans, calls that write log lines, each with what it
 * exports; as tracepoints and queries of our own, by number.
 */
#ifndef CULPRIT_CAPTURE_TRACE_POINTS_H
#define CULPRIT_CAPTURE_TRACE_POINTS_H

#include "base/arena.h"
#include "base/vec.h"

struct buf;
struct error;
struct tracepoint;

#define TRACE_EXPORTS 16 /* of one moment; rows have room for little more */

enum trace_moment { TRACE_ENTRY, TRACE_EXIT, TRACE_THROWN, TRACE_MOMENTS };

struct trace_export {
	struct str name, expression;
};

struct trace_exports {
	struct trace_export v[TRACE_EXPORTS];
	size_t nr;
};

struct trace_point {
	struct str name;  /* of its spans */
	struct str place; /* a.b.C.method(types) */
	bool is_line;     /* what exports a message writes a line, and is no span */
	bool begins_request;
	bool is_offered; /* nobody named it: it need not be there */
	struct trace_exports at[TRACE_MOMENTS];
};

/* Zero is empty. */
struct trace_points {
	struct arena arena;
	VEC(struct trace_point) v;
	size_t nr_columns; /* exports of a row */
	bool are_offered;  /* those that are added from now on */
};

void trace_points_done(struct trace_points *p);
/* What is no method of a class is told as left out, a line each. */
void trace_points_add(struct trace_points *p, const struct tracepoint *t, struct buf *told);
/* "a.b.C.method" or "a.b.C.method(types)". */
int trace_points_method(struct trace_points *p, struct str method, struct error *err);
/* When all are there: how a failure is told. */
void trace_points_settle(struct trace_points *p);

bool trace_points_have_spans(const struct trace_points *p);

/* Definitions of tracepoints: "e3", "x3" and "t3" are where the third method begins, ends and is
 * left by an exception. */
void trace_points_define(const struct trace_points *p, struct buf *text);
/* A row for each of these moments: tracepoint, time, procId, thread, procName, out (true at ends,
 * otherwise null), exports. */
void trace_points_rows(const struct trace_points *p, struct buf *query);
#define TRACE_ROW_EXPORTS 6
/*
 * For each beginning and line, what of spans its request passed last before: time, procId and
 * thread of both. The exports stand behind only so that both queries read the same at each place:
 * then it is one place, and has one time.
 */
void trace_points_links(const struct trace_points *p, struct buf *query);
/* By the name of a tracepoint of ours; NULL: it is none. */
const struct trace_point *trace_points_find(const struct trace_points *p, struct str name,
					    enum trace_moment *moment);

#endif
