/* How long answers on each edge usually take, learned as they come. */
#ifndef CULPRIT_INFER_PATHS_HABITS_H
#define CULPRIT_INFER_PATHS_HABITS_H

#include <stdbool.h>
#include <stdint.h>

/* A test whether the answers fit better one place on, or one place back. */
struct doubt {
	float mean;     /* of the times, if so */
	float scale;    /* of how much better or worse they fit */
	float evidence; /* added up, never below zero */
};

struct habit {
	uint64_t edge;
	uint32_t nr;
	float mean, variance; /* of the binary logarithm of the time */
	float plain;          /* mean of the time itself, in ns */
	int64_t before;       /* when the call was sent that was answered last */
	struct doubt behind, ahead;
};

/* Zero is empty. */
struct habits {
	struct habit *v;
	uint32_t nr, nr_slots;
};

void habits_done(struct habits *h);
/* NULL when there are too many edges to follow each; the functions below then know nothing. */
struct habit *habits_of(struct habits *h, uint32_t from, uint32_t to);
void habit_learn(struct habit *h, int64_t ns);
/* Far longer, or far shorter, than nearly all; so long that the answer will not come any more. */
bool habit_is_long(const struct habit *h, int64_t ns);
bool habit_is_short(const struct habit *h, int64_t ns);
bool habit_is_hopeless(const struct habit *h, int64_t ns);

/* Where answers stand to the calls of a queue. */
enum shift {
	SHIFT_NONE,
	SHIFT_BEHIND, /* the first of the queue will not be answered: a return was lost */
	SHIFT_AHEAD,  /* the return answers a call that is not in the queue: that was lost */
};
/* Weighs, return by return, whether the usual times fit better one place on or one place back. The
 * return comes at now; first and second are when the calls were sent, second INT64_MAX for none. */
enum shift habit_weigh(struct habit *h, int64_t first, int64_t second, int64_t now);

#endif
