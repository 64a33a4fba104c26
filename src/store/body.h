/* The coded form of the body of a request: its spans, edges and events as columns. */
#ifndef CULPRIT_STORE_BODY_H
#define CULPRIT_STORE_BODY_H

#include <stdbool.h>

#include "base/buf.h"
#include "model/request.h"

struct arena;
struct syms;

/* A body follows the request it belongs to, whose nr_spans and nr_events are its sizes. */
void body_add(struct buf *to, struct syms *t, const struct request *r,
	      const struct request_body *b);
bool body_take(struct str *from, const struct syms *t, const struct request *r, struct arena *arena,
	       struct request_body *b);
/* Only the numbers of the events, in an array that the caller made. */
bool body_take_event_numbers(struct str *from, const struct syms *t, const struct request *r,
			     uint64_t *events);

#endif
