/* The messages of a run by route, that is by who sent them to whom, each route in order of time. */
#ifndef CULPRIT_INFER_CONVOLVE_TRAFFIC_H
#define CULPRIT_INFER_CONVOLVE_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/vec.h"

struct error;
struct store;

#define SENT_NONE UINT32_MAX

/* One message, 40 bytes. */
struct sent {
	int64_t ns;
	uint64_t number;   /* of the event in the store */
	uint64_t position; /* among all messages as delivered, from 1 */
	uint32_t route;
	uint32_t cause;   /* the message that caused it; SENT_NONE for the first of a request */
	float confidence; /* in that */
	bool placed;      /* in a request */
	bool is_cause;    /* of another message */
	bool is_short;    /* nearly all of its kind cause something, and it was not found what */
};

struct route {
	sym_t from, to;
	uint32_t first, nr; /* of its messages */
};

/* Zero is valid and empty. */
struct traffic {
	struct names nodes;
	VEC(struct sent) v; /* by route, then time, once settled */
	VEC(struct route) routes;
	VEC(uint32_t) out, out_first; /* routes by sender: out[out_first[node]] … */
	VEC(uint32_t) in, in_first;   /* and by receiver */
	int64_t first_ns, last_ns;
	uint64_t position; /* of the last message delivered */
};

void traffic_done(struct traffic *t);
void traffic_add(struct traffic *t, struct str from, struct str to, int64_t ns, uint64_t number);
/* Call when all were added: makes routes and puts everything in order. */
void traffic_settle(struct traffic *t);
/* Adds the messages of a store that are neither call nor return, or all of them; not settled yet.
 */
int traffic_read(struct traffic *t, struct store *s, bool all, struct error *err);

#endif
