/* Objects one by one: as a tree below their parents for people, as rows for scripts. */
#ifndef CULPRIT_ASK_OBJECTS_INSTANCES_H
#define CULPRIT_ASK_OBJECTS_INSTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "ask/object_kin.h"

struct report;

struct instances_filter {
	uint32_t type;             /* UINT32_MAX: all */
	uint32_t under;            /* this object and what is below it; UINT32_MAX: all */
	int64_t from_ns, until_ns; /* alive then: at or after the one, before the other */
	uint64_t slowest;          /* only so many, the longest first; 0: in their order */
	uint64_t limit;            /* rows; 0: as many as are good to read, or all for scripts */
	bool for_people;
	bool has_events; /* for scripts: with the moments at which lines name each */
};

/* 0, or 1 when no object passes. */
int instances_report(const struct object_kin *k, const struct instances_filter *f,
		     struct report *report);

#endif
