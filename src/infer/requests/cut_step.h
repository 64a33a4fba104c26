/* Steps from one line of a thread to the next, and what can be said of them before anything is
 * learned. */
#ifndef CULPRIT_INFER_REQUESTS_CUT_STEP_H
#define CULPRIT_INFER_REQUESTS_CUT_STEP_H

#include "infer/requests/work.h"

enum relation { NOTHING, SHARES, MAY_CONTRADICT, CONTRADICTS, RELATION_NR };

/* From one line of a thread to the next. */
struct step {
	uint32_t at; /* of the later line, in by_thread */
	uint32_t family;
	uint32_t before, after; /* family and type, as one number */
	uint8_t relation, gap;
	bool is_about_the_same; /* as the line before the last, which it may go on with */
	bool is_certain;
	bool is_led;  /* the line before, which names nothing, is there for the later one */
	float begins; /* how likely a piece of work begins with the later line */
};

struct steps_seen {
	struct step *v;
	size_t nr, room;
};

/* Marks steps with which work certainly begins or goes on, by what stands around them everywhere.
 * Families and types are numbered up to nr_pairs. */
void steps_be_sure(struct steps_seen *steps, uint32_t nr_pairs);

#endif
