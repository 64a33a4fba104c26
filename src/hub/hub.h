/* Where the messages of agents arrive: each is kept before it is acknowledged, and once. */
#ifndef CULPRIT_HUB_HUB_H
#define CULPRIT_HUB_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "hub/journal.h"

struct error;
struct hub;
struct wire_head;

struct hub_options {
	const char *state; /* the directory of the journal */
	uint64_t max_bytes;
};

int hub_open(struct hub **h, const struct hub_options *o, struct error *err);
void hub_close(struct hub *h);

/*
 * A message from the network, by any thread. 1: it is kept; 0: it was kept before, or is none of
 * ours, or is damaged, which is counted; negative: it cannot be kept now. is_acked: who sent it
 * will be told, so it must be on disk.
 */
int hub_accept(struct hub *h, struct str message, bool is_acked, struct error *err);
/* So many messages were too long to be taken. */
void hub_refuse(struct hub *h, uint64_t nr);

/* A message as it is kept. */
struct hub_message {
	struct str agent, body;
	struct str host;  /* as the agent says */
	const char *name; /* what to call that host: the same for no other */
	int64_t epoch_ns;
};
/* The next one behind the place, which begins as zero. Valid until the next call; 0: none yet. */
int hub_next(struct hub *h, struct journal_place *at, struct hub_message *m, struct error *err);

struct hub_state {
	size_t nr_agents;
	uint64_t nr_messages, nr_twice, nr_damaged, nr_foreign, nr_missing, nr_gone;
};
void hub_state(struct hub *h, struct hub_state *s);

#endif
