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

extern const struct inference infer_requests;

#endif
