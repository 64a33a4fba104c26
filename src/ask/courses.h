/* The courses that requests of a type take: those that did not exist before, and those that stop in
 * the middle of a usual one. */
#ifndef CULPRIT_ASK_COURSES_H
#define CULPRIT_ASK_COURSES_H

#include "ask/repeats.h"

#define COURSE_STEPS 32 /* of which prefixes are known */

/* Requests of one type with the same sequence of steps. */
struct course {
	uint32_t type, nr_steps;
	uint64_t steps[COURSE_STEPS]; /* a hash of the first, of the first two … */
	sym_t last_name, last_node;
	VEC(struct course_seen) seen;
	bool stops;
};

struct course_seen {
	int64_t start, end;
	uint64_t request;
	bool error;
};

struct course_moments {
	VEC(int64_t) v;
};

/* Zero is empty. */
struct courses {
	struct names keys, names, nodes;
	VEC(struct course) v; /* by key - 1 */
	struct arena arena;
	struct buf key;
	uint64_t nr_left_out;
};

void courses_done(struct courses *c);
void courses_add(struct courses *c, uint32_t type, const struct request *r,
		 const struct request_body *body);
void courses_find(struct courses *c, const struct types *types, struct anomaly_list *out);

#endif
