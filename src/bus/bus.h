/*
 * How queries travel to agents and results back: operators install queries at a hub, agents get
 * them from it and report what they saw each second, a hub puts reports together and is itself an
 * agent of the hub above it. docs/bus.md tells what is promised when any of them dies.
 *
 * An endpoint is tcp://HOST:PORT, HOST:PORT or ipc:///PATH. All functions of one handle are called
 * on one thread; nothing waits but where a timeout is given.
 */
#ifndef CULPRIT_BUS_BUS_H
#define CULPRIT_BUS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/loss.h"

struct error;
struct partial;

#define BUS_PORT 4785           /* where a hub listens unless told otherwise */
#define BUS_NAME_MAX 64         /* bytes of an agent's, hub's or tenant's name */
#define BUS_TEXT_MAX (64 << 10) /* of a query, and of its tracepoints */

/* --- who is who ---------------------------------------------------------------------------- */

enum bus_role { BUS_AGENT, BUS_OPERATOR, BUS_HUB };

/* A file of keys as `culprit hub --keys` writes it; NULL instead of one: nothing is encrypted and
 * nobody proves who he is, which is refused but for this host (loopback, ipc). */
struct bus_keys;

int bus_keys_load(struct bus_keys **k, const char *path, struct error *err);
void bus_keys_free(struct bus_keys *k);
enum bus_role bus_keys_role(const struct bus_keys *k);

/* Where many agents of one process share their threads (a simulation). */
struct bus_context;
struct bus_context *bus_context_new(int nr_links);
void bus_context_free(struct bus_context *c);

/* --- queries ------------------------------------------------------------------------------- */

/* Borrowed, valid during the call that hands it over. */
struct bus_query {
	uint64_t id; /* the same everywhere */
	struct str text;
	struct str tracepoints; /* definitions, as in files of them */
	struct str tenant;
	int64_t until_ns; /* wall clock when it ends by itself; 0: it stands */
};

/* --- agents -------------------------------------------------------------------------------- */

/* What an agent says of itself with each report. */
struct bus_health {
	uint32_t nr_processes; /* that advice is in */
	uint32_t nr_tracepoints;
	uint64_t overhead_ppm; /* of the processor time of those processes, in millionths */
	uint64_t resident_bytes;
	struct losses losses; /* since it began */
};

struct bus_agent;

struct bus_agent_calls {
	void *ctx;
	/* A query is to be installed; it comes once, also where the hub was away or began anew. */
	void (*installed)(void *ctx, const struct bus_query *q);
	void (*removed)(void *ctx, uint64_t id);
	/* Bytes that another agent sent to this one; NULL: none are wanted. */
	void (*received)(void *ctx, struct str from, struct str bytes);
	/* It says itself (bus_agent_ended) when it has reported all of a query that was removed;
	 * otherwise that is so when removed returns. */
	bool says_ended;
};

struct bus_agent_options {
	const char *endpoint;
	const struct bus_keys *keys;
	const char *name;        /* of the host; unique below the topmost hub */
	const char *const *also; /* addresses by which others may know it, up to NULL */
	struct bus_agent_calls calls;
	size_t keep_bytes;           /* of results while the hub is away; 0: 64 MiB */
	struct bus_context *context; /* NULL: its own */
};

/* Connecting goes on in the background, also when nobody is there yet. */
int bus_agent_open(struct bus_agent **a, const struct bus_agent_options *o, struct error *err);
/* Waits at most timeout_ms for reports that were not acknowledged; how many are left. */
size_t bus_agent_close(struct bus_agent *a, int timeout_ms);
/* Takes what came, calls back, sends what is due. Waits up to so long for something to come. */
int bus_agent_poll(struct bus_agent *a, int timeout_ms, struct error *err);
/* To poll together with others; readable: call bus_agent_poll. */
int bus_agent_fd(const struct bus_agent *a);
/* What was seen of a query from one moment (wall clock) until another, both of one second: not
 * what was reported before. It is kept until the hub has it, put together with its neighbours when
 * that takes long. An empty partial without losses costs nothing. */
void bus_agent_report(struct bus_agent *a, uint64_t query, int64_t from_ns, int64_t until_ns,
		      struct partial *seen);
/* All that was seen of a query that is gone is reported: the hub hears so behind the last report.
 */
void bus_agent_ended(struct bus_agent *a, uint64_t query);
void bus_agent_health(struct bus_agent *a, const struct bus_health *h);
/* Why a query does not run here, or not as a whole: a sentence for the operator; empty: it does. */
void bus_agent_tell(struct bus_agent *a, uint64_t query, struct str sentence);
/* Hands bytes (of at most 64 KiB) to the agent of that name or address, if any hub knows it. What
 * cannot be delivered is counted by the hub that could not. -EAGAIN: too much is under way. */
int bus_agent_send(struct bus_agent *a, struct str to, struct str bytes);
/* The addresses by which others may know it, instead of those that it had; copied. */
void bus_agent_known_as(struct bus_agent *a, const char *const *also, size_t nr);
/* Reports that the hub has not acknowledged yet. */
size_t bus_agent_pending(const struct bus_agent *a);
bool bus_agent_is_connected(const struct bus_agent *a);

/* --- operators ----------------------------------------------------------------------------- */

struct bus_operator;

/* Of one second, or more where seconds were put together. */
struct bus_result {
	uint64_t query;
	int64_t from_ns, until_ns;
	/* All of the query since it began, instead of a part of it: when a watch begins, and again
	 * where this operator was too slow or too long away; what came before is replaced. Any
	 * other comes once, also where the hub began anew. */
	bool is_whole;
	uint64_t nr_skipped; /* parts in front of it that are gone, as they were not read in time */
	uint32_t nr_agents;  /* that have reported to it */
	uint32_t nr_silent;  /* that should have and did not */
	struct partial *seen; /* the callee may take from it */
};

/* Of an agent or hub, as the hub that is asked knows it. */
struct bus_peer {
	struct str name;
	enum bus_role role;
	struct str tenant;
	uint32_t nr_below, nr_silent_below; /* agents of a hub */
	int64_t since_ns, heard_ns;
	bool is_connected, has_left; /* the latter: it said so */
	uint64_t nr_reports, nr_bytes, nr_twice, nr_late, nr_missing;
	struct bus_health health;
};

struct bus_standing {
	struct bus_query query;
	struct str operator_name;
	uint32_t nr_agents, nr_silent;
	uint64_t nr_groups, nr_rows;
	struct losses losses;
};

struct bus_operator_calls {
	void *ctx;
	void (*result)(void *ctx, struct bus_result *r);
	/* An agent cannot run a query; an empty sentence takes it back. */
	void (*told)(void *ctx, uint64_t query, struct str agent, struct str sentence);
	void (*removed)(void *ctx, uint64_t query, struct str why);
};

struct bus_operator_options {
	const char *endpoint;
	const struct bus_keys *keys;
	const char *name;
	struct bus_operator_calls calls;
};

/* -ETIMEDOUT or -EACCES with a word where the hub does not answer or does not let him in. */
int bus_operator_open(struct bus_operator **o, const struct bus_operator_options *with,
		      struct error *err);
void bus_operator_close(struct bus_operator *o);
/* -EINVAL: the hub could not plan it; -EDQUOT: the tenant's limits; -EACCES: no operator. A query
 * with a time (for_ns > 0) ends then; is_mine: it ends when this operator is gone. */
int bus_operator_install(struct bus_operator *o, struct str text, struct str tracepoints,
			 int64_t for_ns, bool is_mine, uint64_t *id, struct error *err);
int bus_operator_remove(struct bus_operator *o, uint64_t id, struct error *err);
/* Calls back during the call. */
int bus_operator_list(struct bus_operator *o, void (*each)(void *ctx, const struct bus_standing *q),
		      void *ctx, struct error *err);
int bus_operator_peers(struct bus_operator *o, void (*each)(void *ctx, const struct bus_peer *p),
		       void *ctx, struct error *err);
/* What the hub counts, each thing by its name. */
int bus_operator_counts(struct bus_operator *o,
			void (*each)(void *ctx, struct str name, uint64_t count), void *ctx,
			struct error *err);
/* Results come by bus_operator_poll from now on. */
int bus_operator_watch(struct bus_operator *o, uint64_t id, struct error *err);
int bus_operator_poll(struct bus_operator *o, int timeout_ms, struct error *err);
int bus_operator_fd(const struct bus_operator *o);

#endif
