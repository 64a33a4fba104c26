/* An agent: finds the logs of its host, reads what is new of them each epoch, and puts what they
 * name into its spool, from where it is sent to a hub. */
#ifndef CULPRIT_HOST_AGENT_H
#define CULPRIT_HOST_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct agent;
struct error;
struct losses;
struct overrides;
struct spool_ack;

/* All is borrowed for as long as the agent lives. */
struct agent_options {
	const char *state;   /* the directory of the spool */
	const char *host;    /* what this host calls itself */
	char *const *inputs; /* logs and folders of logs; none: all that processes write */
	size_t nr_inputs;
	const char *layout, *zone;         /* as struct source_options has them */
	const struct overrides *overrides; /* what the user says of types; may be NULL */
	bool has_no_programs;              /* what programs print is not looked for */
	uint64_t spool_bytes, backlog_bytes;
	int64_t epoch_ns;
};

int agent_open(struct agent **a, const struct agent_options *o, struct error *err);
void agent_close(struct agent *a);

/* One epoch: what is new goes into the spool. After a failure, what could not be kept comes again
 * with the next one. */
int agent_look(struct agent *a, struct error *err);
/* Gives up room that is not needed, or not to be had. */
void agent_trim(struct agent *a, const struct spool_ack *ack);

/* Whether all that is in the spool was taken, as taken(ctx, inode) tells. */
bool agent_is_sent(const struct agent *a, uint64_t (*taken)(void *ctx, uint64_t inode), void *ctx);

struct agent_state {
	size_t nr_logs;
	uint64_t nr_lines;    /* since it was opened */
	uint64_t nr_messages; /* likewise */
	uint64_t bytes;       /* of the spool */
};
void agent_state(const struct agent *a, struct agent_state *s);
const struct losses *agent_losses(const struct agent *a);

#endif
