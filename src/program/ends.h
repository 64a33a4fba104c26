/* Places where a program gives something away or takes it in, and what it goes through. */
#ifndef CULPRIT_PROGRAM_ENDS_H
#define CULPRIT_PROGRAM_ENDS_H

#include "program/callgraph.h"
#include "program/pairs.h"
#include "program/scope.h"

struct end {
	struct str channel; /* "OpWriteBlockProto", "Verb.MUTATION", "BlockManager.queue" */
	enum pair_kind kind;
	bool takes;
	bool is_weak; /* a collection that is no queue: shared, perhaps for other reasons */
	uint32_t method;
	uint16_t pc; /* 0 when the method as a whole takes: a handler */
};

struct ends {
	struct arena arena;
	VEC(struct end) v; /* by kind, channel, giving first, method, pc */
};

/* Only channels with ends of both sorts are kept. */
void ends_find(struct ends *e, const struct callgraph *g);
void ends_done(struct ends *e);

#endif
