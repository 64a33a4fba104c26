/* Requests of all chains come together in the store, wherever each chain was worked on. */
#ifndef CULPRIT_INFER_REQUESTS_MERGE_H
#define CULPRIT_INFER_REQUESTS_MERGE_H

#include <pthread.h>

#include "base/vec.h"
#include "infer/requests/emit.h"
#include "infer/requests/fragment.h"
#include "store/scratch.h"

struct error;
struct losses;
struct store;

struct chunks {
	struct chunk *v;
	size_t nr, room;
};

/* What came of one chain: packets that wait, and how many there were. */
struct merge_chain {
	struct chunks waiting;          /* until the chains in front are over */
	struct chunks seams;            /* of its end: until all are */
	uint32_t nr_requests, nr_seams; /* records of each that came from elsewhere */
	bool is_over;
};

/* Several threads may add at once, each to its chain. Requests are stored in the order of chains
 * all the same, so that a run does not depend on who was first. */
struct merge {
	struct store *s;
	pthread_mutex_t lock;
	struct scratch scratch;
	VEC(struct merge_chain) of_chain;
	size_t at; /* the first chain that is not over, whose requests are stored as they come */
	uint64_t nr_orders; /* the most methods that a chain knew no order of */
};

void merge_init(struct merge *m, struct store *s, size_t nr_chains);
void merge_done(struct merge *m);
/* Requests of the windows of a chain that is worked on here; who made it gives the packet back. */
struct merge_out {
	struct merge *m;
	size_t chain;
	struct packet packet;
};
struct outlet merge_outlet(struct merge_out *out, const struct matcher *matcher);
/* After the last of them. */
int merge_over(struct merge_out *out, struct error *err);
/* Those of the end of a chain, as a packet. */
int merge_seam(struct merge *m, size_t chain, struct str packet, struct error *err);
void merge_count(struct merge *m, const struct losses *losses);
void merge_orders(struct merge *m, uint64_t nr);
/* A record of a chain that was reduced elsewhere (reduce.h), without its end of line. */
int merge_record(struct merge *m, struct str record, struct error *err);
/* Fails unless all records of all chains came. */
int merge_check(const struct merge *m, struct error *err);
/* When all chains are done: the ends of them, in their order. */
int merge_end(struct merge *m, struct error *err);

#endif
