/* Makes requests of what was put together: spans for the units of work, edges from one to the next.
 */
#ifndef CULPRIT_INFER_REQUESTS_EMIT_H
#define CULPRIT_INFER_REQUESTS_EMIT_H

#include "infer/requests/work.h"

struct error;
struct fragment;
struct losses;
struct matcher;
struct owners;

/* Where requests go. */
struct outlet {
	void *to;
	/* What it is given is borrowed, and may be changed. */
	int (*take)(void *to, struct fragment *f, struct error *err);
	/* What was left out, from one window. */
	void (*count)(void *to, const struct losses *losses);
	const struct matcher *matcher; /* names the statements; NULL: their text does */
};

/* What becomes of a session: only those that are over are handed on. */
enum sitting_state { SITTING_OVER, SITTING_OPEN, SITTING_ELSEWHERE };

int sessions_emit(const struct work *w, const struct owners *o, const enum sitting_state *state,
		  const struct outlet *out, struct error *err);

#endif
