/* Rebuilds the requests of a window of time: what is over is stored, what is not is handed on. */
#ifndef CULPRIT_INFER_REQUESTS_WINDOW_H
#define CULPRIT_INFER_REQUESTS_WINDOW_H

#include "infer/requests/emit.h"

struct error;

struct window {
	int64_t from;      /* requests that began earlier are somebody else's, unless ... */
	int64_t until;     /* where the lines end; INT64_MAX: there are no more */
	int64_t begun;     /* requests that begin from here on are somebody else's */
	bool has_families; /* found: requests of any length, by their names */
};

/* *g: the lines; then those that others may still follow. */
int window_infer(struct window *n, struct gather *g, struct course *course,
		 const struct outlet *out, struct error *err);

#endif
