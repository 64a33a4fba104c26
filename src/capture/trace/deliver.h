/* Spans and lines of recorded requests (spans.h) on their way to a sink. */
#ifndef CULPRIT_CAPTURE_TRACE_DELIVER_H
#define CULPRIT_CAPTURE_TRACE_DELIVER_H

#include "base/arena.h"
#include "base/vec.h"
#include "model/event.h"
#include "model/span.h"

struct error;
struct sink;
struct trace_span;

struct deliver {
	struct sink *sink;
	uint32_t file;
	char host[64];
	VEC(struct str) shared; /* names that several of the processes have */
	struct arena kept;      /* of them */
	struct arena arena;     /* of what waits */
	VEC(struct span) spans;
	VEC(struct event) events;
};

/* The processes that are recorded; the sink has been told of the file. */
void deliver_init(struct deliver *d, struct sink *sink, uint32_t file, const int *pids, size_t nr);
void deliver_done(struct deliver *d);
/* As trace_tell; ctx: the deliver. */
int deliver_one(void *ctx, const struct trace_span *s);
int deliver_flush(struct deliver *d, struct error *err);

#endif
