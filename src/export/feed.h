/* Hands a run to an exporter request by request, with the events placed in it, and writes what it
 * makes of them. */
#ifndef CULPRIT_EXPORT_FEED_H
#define CULPRIT_EXPORT_FEED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/request.h"

struct error;
struct store;

/* One request as exporters see it; borrowed for the call. */
struct fed {
	const struct request *r;
	const struct request_body *body; /* at least one span */
	const struct event *events;      /* one for each of body->events, text filled where known */
	/* The events of each span in time order, as a chain: those in no span are with the first.
	 */
	uint32_t *first_event; /* per span; FED_END for none */
	uint32_t *next_event;  /* per event */
	uint32_t *first_edge;  /* the edges that lead to each span, likewise */
	uint32_t *next_edge;
	struct arena *arena; /* for the exporter, emptied after the request */
};

#define FED_END UINT32_MAX

/* What an exporter does at each point; any but request may be NULL. */
struct feed {
	bool events; /* whether it shows them */
	void (*begin)(void *state, struct buf *out);
	void (*request)(void *state, const struct fed *x, struct buf *out);
	void (*end)(void *state, struct buf *out);
};

int feed_run(struct store *s, const struct feed *feed, void *state, FILE *to, struct error *err);
/* Completes *x from r, body and events, for those who have them at hand (and for tests). */
void fed_init(struct fed *x, const struct request *r, const struct request_body *body,
	      const struct event *events, struct arena *arena);
/* Writes and empties the buffer. */
int feed_flush(struct buf *out, FILE *to, struct error *err);

#endif
