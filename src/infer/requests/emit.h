/* Stores the requests that were rebuilt: spans for the units of work, edges from one to the next.
 */
#ifndef CULPRIT_INFER_REQUESTS_EMIT_H
#define CULPRIT_INFER_REQUESTS_EMIT_H

#include <pthread.h>

#include "infer/requests/work.h"

struct error;
struct matcher;
struct owners;
struct store;

/* Where requests go. */
struct outlet {
	struct store *store;
	const struct matcher *matcher; /* names the statements; NULL: their text does */
	pthread_mutex_t *lock;         /* held while the store is asked */
	bool skips_placed;             /* lines that are of a request already are left out */
};

/* What becomes of a session: only those that are over are stored. */
enum sitting_state { SITTING_OVER, SITTING_OPEN, SITTING_ELSEWHERE };

int sessions_emit(const struct work *w, const struct owners *o, const enum sitting_state *state,
		  const struct outlet *out, struct error *err);

#endif
