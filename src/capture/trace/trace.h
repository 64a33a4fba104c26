/* The requests of running Java machines, recorded with what live queries carry: docs/jvm.md. */
#ifndef CULPRIT_CAPTURE_TRACE_TRACE_H
#define CULPRIT_CAPTURE_TRACE_TRACE_H

#include <stddef.h>

struct buf;
struct capture;
struct error;
struct trace_points;

struct trace_options {
	const int *pids;
	size_t nr_pids;
	const struct trace_points *points; /* settled */
	double overhead;                   /* as struct weave_options has it */
	/* What cannot be watched, and why: a line each, told before it begins. */
	void (*told)(void *to, struct buf *lines);
	void *to;
};

/* As capture/capture.h says; nr_seen counts spans, nr_dropped rows that came too fast. */
int trace_record(const struct trace_options *o, const struct capture *c, struct error *err);

#endif
