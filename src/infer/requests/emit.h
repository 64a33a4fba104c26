/* Stores the requests that were rebuilt: spans for the units of work, edges from one to the next.
 */
#ifndef CULPRIT_INFER_REQUESTS_EMIT_H
#define CULPRIT_INFER_REQUESTS_EMIT_H

#include "infer/requests/work.h"

struct error;
struct matcher;
struct owners;
struct store;

/* The matcher names the statements; NULL: their text does. Sessions that are open are left out. */
int sessions_emit(const struct work *w, const struct owners *o, const struct matcher *m,
		  const bool *is_open, struct store *s, struct error *err);

#endif
