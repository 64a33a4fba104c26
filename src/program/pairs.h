/* Which pieces of work talk to each other, by what means, and which identifiers both know. */
#ifndef CULPRIT_PROGRAM_PAIRS_H
#define CULPRIT_PROGRAM_PAIRS_H

#include "program/identifiers.h"

enum pair_kind {
	PAIR_LOCAL,  /* one starts the thread or submits the task that is the other */
	PAIR_QUEUE,  /* through a shared object, or as an event that a dispatcher hands on */
	PAIR_RPC,    /* a call that is answered by another process */
	PAIR_SOCKET, /* one writes what the other reads: the same class, the same message */
	PAIR_KINDS,
};

/* One identifier as each end knows it; both paths are of the ends' own methods. */
struct shared_id {
	struct path from, to;
};

struct pair {
	uint32_t from, to; /* top-level methods; or links: entries of threads that do not log */
	enum pair_kind kind;
	bool is_many;      /* the point is in a loop: one of from, any number of to */
	bool from_is_link; /* the end has no log points of its own */
	bool to_is_link;
	uint32_t method;    /* where the communication stands, reached by from */
	uint16_t pc, line;  /* line 0: unknown */
	struct str through; /* what carries it: "PacketResponder", "OpWriteBlockProto" … */
	struct shared_id *shared;
	uint32_t nr_shared;
};

struct pairs {
	struct arena arena;
	VEC(struct pair) v; /* by from, to and kind, each once */
};

/* lprof, section 4.4. */
void pairs_find(struct pairs *p, const struct callgraph *g, const struct identifiers *ids,
		struct losses *losses);
void pairs_done(struct pairs *p);
/* "local", "queue", "rpc", "socket". */
struct str pair_kind_name(enum pair_kind kind);

#endif
