/* One execution of one piece of work, and what it is made of. */
#ifndef CULPRIT_MODEL_REQUEST_H
#define CULPRIT_MODEL_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "model/event.h"
#include "model/span.h"

/* Below this, what was inferred is marked as unsure wherever it is shown. */
#define CONFIDENCE_LOW 0.9

struct request {
	uint64_t id; /* from 1, in the order of their starts; given by the store at the end */
	struct str type;
	struct str key; /* the name that the input gives it */
	enum key_kind key_kind;
	struct str method; /* the inference that made it */
	int64_t start, end;
	uint64_t sequence; /* equal for requests that passed the same points in the same order */
	uint32_t nr_spans;
	uint32_t nr_events; /* log lines and other events placed in it */
	bool error;
	bool incomplete;  /* began before the input or had not ended with it */
	float confidence; /* that exactly these events belong together */
};

/* Spans stand so that a parent comes before its children; spans[0] is a root. */
struct request_body {
	struct span *spans;
	struct edge *edges;
	uint64_t *events;     /* their numbers in the store, in time order */
	uint32_t *event_span; /* the span that each event stands in, or SPAN_NONE */
	size_t nr_spans, nr_edges, nr_events;
};

/* When event i of the body happened by the corrected clock of its span; ns is what the event says.
 */
static inline int64_t body_event_ns(const struct request_body *b, size_t i, int64_t ns)
{
	uint32_t span = b->event_span ? b->event_span[i] : SPAN_NONE;

	return span < b->nr_spans ? (int64_t)((uint64_t)ns + (uint64_t)b->spans[span].shift) : ns;
}

#endif
