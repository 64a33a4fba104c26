/* Nodes that stop for a moment again and again while their peers go on: a process that gets too
 * little of its processor, or is suspended and let go in turns. */
#ifndef CULPRIT_ASK_STUTTER_H
#define CULPRIT_ASK_STUTTER_H

#include "ask/activity.h"

struct stutter {
	sym_t node;
	int64_t begin, end;
	uint64_t stops, of_peers; /* of all its peers together, in that time */
	int64_t usual;            /* the median stop */
	int64_t stopped;          /* all of them together */
	double confidence;
};

/* Zero is empty. */
struct stutters {
	VEC(struct stutter) v;
};

void stutters_find(struct stutters *s, const struct activity *a);
void stutters_done(struct stutters *s);

#endif
