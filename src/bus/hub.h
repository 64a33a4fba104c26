/*
 * The rendezvous: keeps standing queries, hands them to agents, puts reports together second by
 * second, and hands the results to operators and to the hub above. What it has acknowledged is in
 * its state, so that it may be killed at any moment.
 */
#ifndef CULPRIT_BUS_HUB_H
#define CULPRIT_BUS_HUB_H

#include "bus/bus.h"

struct bus_hub;

/* Of each tenant; 0: as by default. */
struct bus_limits {
	uint64_t queries; /* that stand at once; 64 */
	uint64_t advice;  /* tracepoints of all stages of them; 512 */
	uint64_t rows;    /* groups in reports of one second; 200,000 */
	uint64_t seconds; /* of each query that are kept until they were read; 256 */
};

struct bus_hub_options {
	const char *listen; /* endpoints, parted by commas */
	const struct bus_keys *keys;
	const char *name;
	const char *state;  /* a folder; NULL: nothing outlives the process */
	const char *parent; /* endpoint of the hub above; NULL: none */
	const struct bus_keys *parent_keys;
	struct bus_limits limits;
};

int bus_hub_open(struct bus_hub **h, const struct bus_hub_options *o, struct error *err);
void bus_hub_close(struct bus_hub *h);
/* Works for about so long. A failure to save its state is told, and tried again. */
int bus_hub_poll(struct bus_hub *h, int timeout_ms, struct error *err);
/* All standing queries with what is known of them so far. */
void bus_hub_each(struct bus_hub *h,
		  void (*each)(void *ctx, const struct bus_standing *q, struct partial *whole),
		  void *ctx);

#endif
