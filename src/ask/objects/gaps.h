/* The times in an object's life in which nothing below it is alive, and whose end they wait for. */
#ifndef CULPRIT_ASK_OBJECTS_GAPS_H
#define CULPRIT_ASK_OBJECTS_GAPS_H

#include "ask/object_causes.h"

struct report;
struct section;

struct gap_cause {
	uint32_t gap; /* in waits */
	struct object_cause cause;
};

/* Zero is a valid start. */
struct gaps {
	struct object_waits waits; /* of all objects */
	VEC(struct gap_cause) causes;
};

/* A table of the gaps of one object, if there are any. */
void gaps_report(struct gaps *gaps, const struct object_kin *k, uint32_t object,
		 const struct object_ends *ends, struct report *report);
/* What they wait for, in words: how much was said. */
size_t gaps_tell(const struct gaps *gaps, const struct object_ends *ends, struct section *s);
void gaps_done(struct gaps *gaps);

#endif
