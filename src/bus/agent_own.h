/* What is inside an agent; a hub is one of the hub above it, and saves its outbox with its state.
 */
#ifndef CULPRIT_BUS_AGENT_OWN_H
#define CULPRIT_BUS_AGENT_OWN_H

#include "base/vec.h"
#include "bus/buslink.h"
#include "bus/message.h"
#include "bus/outbox.h"

#define ALSO_MAX (MESSAGE_TEXTS - 1)

struct bus_hub;

struct agent_told {
	uint64_t query;
	char *agent;
	char *sentence;
};

struct bus_agent {
	struct buslink *link;
	struct outbox outbox;
	struct bus_hub *hub; /* that is the agent of another one; NULL: a plain agent */
	enum bus_role role;
	struct bus_agent_calls calls;
	char *name, *also[ALSO_MAX];
	size_t nr_also;
	VEC(uint64_t) queries;
	VEC(uint64_t) ended;         /* queries of which the hub has to hear that */
	VEC(struct agent_told) told; /* to a hub that begins anew, too */
	struct bus_health health;
	uint32_t nr_below, nr_silent; /* agents of a hub */
	int64_t heard_tick, ping_tick;
	bool is_welcome;
	uint64_t nr_welcomes;
	struct buf scratch;
};

/* As an agent of that epoch, or as a hub. */
int bus_agent_open_as(struct bus_agent **a, const struct bus_agent_options *o, enum bus_role role,
		      uint64_t epoch, struct error *err);
/* An epoch that nobody had before. */
uint64_t bus_epoch_new(void);
/* 0, or as buslink_send. */
int bus_agent_say(struct bus_agent *a, const struct message *m);
void bus_agent_tell_of(struct bus_agent *a, uint64_t query, struct str agent, struct str sentence);

/* hub_agents.c: to the agent below that it is for */
void hub_pass(struct bus_hub *h, const struct message *m);

#endif
