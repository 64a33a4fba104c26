/* What the matcher found out about a line, packed into the event and read again. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_PACK_H
#define CULPRIT_INFER_REQUESTS_MATCH_PACK_H

#include <stdbool.h>

#include "infer/requests/match.h"

struct arena;
struct event;

/*
 * Asks the matcher about message and thread of an event and sets its statement and values. For
 * struct statements of source/source.h. Values that cannot name anything (yes or no, a fraction, an
 * exception, a letter, nothing) are left out.
 */
void match_event(const void *matcher, struct event *ev, struct str message, struct arena *arena);

/* A walk over the values of an event. */
struct match_packed {
	uint32_t version; /* of the statement's text; MODEL_NO: unknown */
	float sure;       /* of the statement */
	uint32_t thread;  /* number of the thread's name (matcher_thread_name); 0: unknown */
	unsigned nr_also;
	uint32_t also[MATCH_ALSO]; /* numbers of other statements that fit just as well */
	struct str rest;
	uint32_t left;  /* values of the message; those of the thread's name follow */
	bool is_thread; /* the value read last stands in the thread's name */
};

/* False when the event has nothing packed. */
bool match_unpack(struct match_packed *p, struct str values);
/* The next value, borrowed from what was packed; false at the end. */
bool match_packed_next(struct match_packed *p, struct match_value *value);

#endif
