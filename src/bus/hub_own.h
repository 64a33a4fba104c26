/* What is inside a hub. */
#ifndef CULPRIT_BUS_HUB_OWN_H
#define CULPRIT_BUS_HUB_OWN_H

#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "bus/agent_own.h"
#include "bus/hub.h"
#include "bus/seen.h"
#include "query/partial.h"

#define PEER_NAME_MAX (2 * BUS_NAME_MAX + 1) /* with that of its key */
#define HUB_TICK_NS (100 * NS_MS)
#define HUB_SILENT_NS (3 * NS_S)    /* an agent that says nothing for so long is silent */
#define HUB_DEAD_NS (60 * NS_S)     /* … and gone for good */
#define HUB_FORGET_NS (600 * NS_S)  /* … and not shown any more */
#define HUB_OWNER_NS (15 * NS_S)    /* queries of an operator that says nothing for so long end */
#define HUB_HOLD_NS NS_S            /* a second is told so long after its first report */
#define HUB_HOLD_LATE_NS (NS_S / 2) /* what comes after that is told so long after it came */
/* A query that is removed takes what agents report in the end until all have said that it was all,
 * but no longer than this, and this where there are hubs between them and us. */
#define HUB_ENDING_NS (10 * NS_S)
#define HUB_ENDING_BELOW_NS (14 * NS_S)
#define HUB_GIVEN_UP_NS (6 * NS_S)       /* … nor for one that says nothing for so long */
#define HUB_LAST_NS (15 * NS_S)          /* … and for who reads its last results */
#define HUB_UNREAD 16                    /* results that are on their way to one operator */
#define HUB_KEPT_BYTES ((size_t)4 << 20) /* of a query's results that were not read */
#define HUB_EPOCHS 4                     /* of one agent that are told apart */
#define HUB_GROUPS 100000                /* of all of a query's results */
#define HUB_PEERS 100000
#define HUB_SECONDS 256
#define HUB_WINDOWS 120 /* seconds of a query that are open at once */

/* What a hub counts, by name. */
#define HUB_COUNTS(X) \
	X(MESSAGES, "messages") \
	X(REFUSED_KEYS, "handshakes refused") \
	X(REFUSED_KIND, "messages of who may not send them") \
	X(BROKEN, "messages that make no sense") \
	X(REPORTS, "reports taken") \
	X(REPORT_BYTES, "bytes of reports") \
	X(TWICE, "reports that came twice") \
	X(LATE, "reports that came late") \
	X(MISSING, "reports that never came") \
	X(NO_QUERY, "reports of no standing query") \
	X(OVER_ROWS, "reports over the tenant's rows") \
	X(INSTALLED, "queries installed") \
	X(REFUSED, "requests refused") \
	X(RESULTS, "results sent") \
	X(SKIPPED, "results that slow operators did not get") \
	X(PASSED, "messages between agents") \
	X(NOT_PASSED, "messages to agents that nobody knows") \
	X(DIED, "agents that fell silent for good") \
	X(SAVED, "times that the state was saved") \
	X(RESTORED, "queries restored from the state")

enum hub_count {
#define HUB_ENUM(id, name) HUB_##id,
	HUB_COUNTS(HUB_ENUM)
#undef HUB_ENUM
		HUB_COUNT_NR
};

struct hub_peer {
	struct buf id; /* whom to answer; empty: not connected */
	enum bus_role role;
	char name[PEER_NAME_MAX + 1], tenant[BUS_NAME_MAX + 1];
	uint64_t epoch;
	int64_t since_ns, heard_ns, heard_tick;
	bool has_left, is_dead, is_ack_due;
	bool is_awaited;              /* known from the state, and not heard of since */
	uint64_t safe;                /* reports up to there are in the saved state */
	struct seen seen[HUB_EPOCHS]; /* the newest epoch first */
	uint64_t nr_reports, nr_bytes, nr_twice, nr_late;
	struct bus_health health;
	uint32_t nr_below, nr_silent_below;
	struct buf names; /* by which others may know it, each with its length */
};

/* One that reads a query's results; it may be away for a while. */
struct hub_watcher {
	struct hub_peer *peer;
	uint64_t sent, read; /* numbers of results */
	bool is_waited_for;  /* it has not said yet where it goes on */
	bool is_new;         /* it has nothing: the whole comes first */
	bool wants_whole;    /* as some are gone that it has not read, or it is new */
	bool has_missed;     /* … and has to hear of that with the next one */
};

/* A result as it is sent, until all that watch have read it. */
struct hub_kept {
	uint64_t seq;
	int64_t from_ns, until_ns;
	VEC(struct buf) pieces;
	size_t bytes;
};

/* A second of a query that is not told yet. */
struct hub_window {
	int64_t from_ns, until_ns; /* from_ns: the second's begin */
	int64_t close_tick;
	struct partial seen;
};

struct hubquery {
	uint64_t id;
	char *text, *tracepoints, *operator_name;
	char tenant[BUS_NAME_MAX + 1];
	int64_t until_ns;
	uint64_t owner;     /* epoch of the operator with whom it ends; 0: nobody */
	int64_t owner_tick; /* when that was heard last */
	bool is_from_parent;
	const char *why_ending;        /* it is removed, agents have heard so; NULL: it stands */
	int64_t end_tick;              /* … and takes no reports then, whoever has not ended it */
	bool is_closed;                /* all of it was told, and is to be read */
	int64_t gone_tick;             /* … until then */
	VEC(struct hub_peer *) ending; /* those that have not */
	size_t nr_advice;
	struct partial_shape shape;
	struct partial whole; /* all that was told */
	uint64_t nr_rows;
	int64_t told_ns;           /* seconds up to there were told */
	uint64_t result;           /* number of the last result */
	uint64_t safe;             /* … that is in the saved state, and may be sent */
	VEC(struct hub_kept) kept; /* by number */
	size_t kept_bytes;
	VEC(struct hub_window) windows;
	VEC(struct hub_watcher) watchers;
	VEC(struct agent_told) told;
};

struct hub_tenant {
	char name[BUS_NAME_MAX + 1];
	/* by the second that reports tell of, not when they come: who catches up is no offender */
	struct {
		int64_t second;
		uint64_t nr_rows;
	} of[HUB_SECONDS];
};

struct bus_hub {
	struct buslink *link;
	struct bus_agent *parent;
	char name[BUS_NAME_MAX + 1];
	char *state;
	uint64_t epoch;
	struct bus_limits limits;
	VEC(struct hub_peer *) peers;
	struct map by_id, by_name; /* hashes to peers */
	struct map routes;         /* of names and addresses of agents below, likewise */
	VEC(struct hubquery *) queries;
	VEC(struct hub_tenant) tenants;
	uint64_t counts[HUB_COUNT_NR];
	int64_t tick, saved_tick, save_cost_ns, second_tick;
	bool is_dirty;
	uint64_t nr_announced; /* how often the hub above heard all names */
	struct buf scratch;
};

/* In place of a peer: several have that address. */
#define HUB_ROUTE_SEVERAL 1
static inline struct hub_peer *hub_route_peer(uint64_t route)
{
	return route == HUB_ROUTE_SEVERAL ? NULL : (struct hub_peer *)(uintptr_t)route;
}

/* hub.c: one that listens nowhere yet */
struct bus_hub *bus_hub_new(const char *name, const struct bus_limits *limits);
int hub_say(struct bus_hub *h, struct hub_peer *to, const struct message *m);
struct hub_peer *hub_peer_of(struct bus_hub *h, enum bus_role role, struct str name,
			     uint64_t epoch);
struct hub_peer *hub_peer_make(struct bus_hub *h, enum bus_role role, struct str name,
			       uint64_t epoch);
bool hub_peer_is_silent(const struct bus_hub *h, const struct hub_peer *p);
char *hub_copied(struct str text);
/* "*" stands for all. */
bool hub_may_see(const char *tenant, const char *of);

/* hub_queries.c */
struct hubquery *hubquery_find(struct bus_hub *h, uint64_t id);
/* Plans it; -EINVAL and why not otherwise. */
int hubquery_new(struct hubquery **s, struct str text, struct str tracepoints, struct error *err);
void hubquery_free(struct hubquery *s);
void hubquery_add(struct bus_hub *h, struct hubquery *s);
/* Agents hear that it is gone now, and operators when their last reports have come. */
void hubquery_remove(struct bus_hub *h, struct hubquery *s, const char *why);
/* It is removed: these may have something left to say of it. */
void hubquery_await(const struct bus_hub *h, struct hubquery *s);
/* One that was to end it has, or never will. */
void hubquery_ended(struct hubquery *s, const struct hub_peer *p);
/* All have, or it took too long. */
bool hubquery_is_over(const struct bus_hub *h, const struct hubquery *s);
/* All that is there is told. */
void hubquery_close(struct bus_hub *h, struct hubquery *s);
/* … and was read, or that took too long: those that watch hear that it is gone. */
void hubquery_end(struct bus_hub *h, struct hubquery *s);
/* Whether that second was told already. */
bool hubquery_is_late(const struct hubquery *s, int64_t from_ns);
/* Into its second. */
void hubquery_take(struct bus_hub *h, struct hubquery *s, int64_t from_ns, int64_t until_ns,
		   const struct partial *seen);
/* Something is missing from it; those that watch and the hub above hear so. */
void hubquery_lose(struct bus_hub *h, struct hubquery *s, enum loss loss, uint64_t nr);
void hubquery_tick(struct bus_hub *h, struct hubquery *s);
/* Agents below that should report to it, and those of them that are silent. */
void hubquery_agents(const struct bus_hub *h, const struct hubquery *s, uint32_t *nr,
		     uint32_t *nr_silent);
/* What an agent says of it; kept for operators that come later. */
void hubquery_told(struct bus_hub *h, struct hubquery *s, struct str agent, struct str sentence);
void hubquery_send(struct bus_hub *h, const struct hubquery *s, struct hub_peer *to);
/* All of them to one that has just come. */
void hubquery_send_all(struct bus_hub *h, struct hub_peer *to);

/* hub_readers.c: results on their way to operators */
/* The last result, for those that watch. */
void hubquery_keep(struct bus_hub *h, struct hubquery *s, int64_t from_ns, int64_t until_ns,
		   struct partial *seen);
/* A piece of one, from the state; false: it makes no sense. */
bool hubquery_keep_again(struct hubquery *s, const struct message *m);
/* All results so far are saved: they may be sent. */
void hubquery_saved(struct bus_hub *h, struct hubquery *s);
/* It will watch, beginning behind that result. */
void hubquery_expect(struct hubquery *s, struct hub_peer *by, uint64_t read);
/* has: one more than the last result that it has, 0: nothing. */
void hubquery_watch(struct bus_hub *h, struct hubquery *s, struct hub_peer *by, uint64_t has,
		    bool wants_whole);
void hubquery_read(struct bus_hub *h, struct hubquery *s, struct hub_peer *by, uint64_t result);
void hubquery_unwatch(struct hubquery *s, const struct hub_peer *by);
bool hubquery_is_read(const struct bus_hub *h, const struct hubquery *s);
void hubquery_forget_kept(struct hubquery *s);

/* hub_agents.c, hub_operators.c: messages of those who said hello */
void hub_take_agent(struct bus_hub *h, struct hub_peer *p, const struct message *m);
void hub_take_operator(struct bus_hub *h, struct hub_peer *p, const struct message *m);
/* Tells the hub above which agents are below, by each of their names. */
void hub_announce(struct bus_hub *h, const struct hub_peer *p, bool is_there);

/* hub_state.c */
int hub_state_save(struct bus_hub *h, struct error *err);
/* 0 also where there is none yet. */
int hub_state_load(struct bus_hub *h, struct error *err);
/* Of those bytes; -EBADMSG: they make no sense. */
int hub_state_read(struct bus_hub *h, struct str bytes, struct error *err);

#endif
