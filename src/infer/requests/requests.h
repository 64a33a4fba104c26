/* Requests rebuilt from log lines that carry no name of their request: lprof's method, with more
 * evidence. */
#ifndef CULPRIT_INFER_REQUESTS_REQUESTS_H
#define CULPRIT_INFER_REQUESTS_REQUESTS_H

#include "infer/inference.h"

/*
 * While lines are still to come: takes the windows that are over (harvest_settle), stores what is
 * over in them, and keeps the rest for the next time, or for the inference itself, which is told of
 * it. *b is NULL at first.
 */
struct requests_begun;
int requests_go_on(struct requests_begun **b, struct store *s, const struct infer_options *o,
		   struct error *err);
void requests_begun_free(struct requests_begun *b);

struct merge;
struct shuffle;

/* Who works on the chains of many windows instead of this program, which does one alone. */
struct reducers {
	void *to;
	/* Has the records of shuffle_write reduced, and hands what comes of them to merge_record.
	 */
	int (*run)(void *to, const struct shuffle *sh, struct merge *m, struct error *err);
	bool is_asked_always; /* also when there is one chain alone: then with none */
};

extern const struct inference infer_requests;

#endif
