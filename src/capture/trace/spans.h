/*
 * Rows of a recording (points.h) into spans and lines, and each of them into its request.
 *
 * On one thread, spans nest as calls do. What begins on a thread after something happened on
 * another has a link: to the moment, there, that its request passed last. Where that is the
 * beginning of a span, this one is the parent; where it is an end, it is what was around it and
 * still is open. What has neither a span around it nor a link to one begins a request.
 *
 * Threads that others carry are told of by several; their rows are put in order first (ordered.h).
 *
 * Threads are read in no order among each other, so links are followed only when a span has ended
 * for a while. What a link may lead to is kept for some minutes, and as long as it is open.
 */
#ifndef CULPRIT_CAPTURE_TRACE_SPANS_H
#define CULPRIT_CAPTURE_TRACE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct reaped;
struct trace_point;
struct trace_points;
struct trace_spans;

/* Something that a thread did: when is unique within it. */
struct trace_mark {
	int64_t process, thread, ns;
};

struct trace_thread {
	int64_t process, number;
	struct str process_name;
};

/* A span, or a line. */
struct trace_span {
	const struct trace_point *point;
	const struct trace_thread *thread;
	int64_t start, end;
	bool is_error;       /* left by an exception */
	bool is_open;        /* not seen to end */
	bool is_lost;        /* its parent, named by link, is not known */
	bool calls, is_call; /* another process; and from there */
	struct trace_span *parent;
	struct trace_mark link, root; /* root: the beginning of its request */
	struct str attrs;             /* packed, model/attr.h */
	/* only of who makes them */
	struct trace_span *below;
	uint32_t nr_users;
	uint8_t state;
	bool has_link, is_running;
};

struct trace_counts {
	uint64_t nr_spans, nr_lines;
	uint64_t nr_cut;    /* rows with texts that were cut */
	uint64_t nr_broken; /* rows that make no sense */
};

struct trace_spans *trace_spans_new(const struct trace_points *points);
void trace_spans_free(struct trace_spans *s);
/* What began before is not told, nor what begins afterwards; INT64_MAX: nothing does yet. */
void trace_spans_from(struct trace_spans *s, int64_t ns);
void trace_spans_until(struct trace_spans *s, int64_t ns);

/* As struct weave_request has it; ctx: the trace_spans. */
void trace_spans_row(void *ctx, const struct reaped *row);
void trace_spans_link(void *ctx, const struct reaped *row);

/* All threads have been read once more. */
void trace_spans_pass(struct trace_spans *s);

/* Tells what has been over for a while, each once; is_over: everything, with what is open. What is
 * told is gone after the next call. */
typedef int trace_tell(void *ctx, const struct trace_span *s);
int trace_spans_tell(struct trace_spans *s, bool is_over, trace_tell *tell, void *ctx);
const struct trace_counts *trace_spans_counts(const struct trace_spans *s);

#endif
