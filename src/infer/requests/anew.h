/* Things that are emptied and begun anew by one request: a file that is overwritten. */
#ifndef CULPRIT_INFER_REQUESTS_ANEW_H
#define CULPRIT_INFER_REQUESTS_ANEW_H

#include "infer/requests/tie.h"

struct anew {
	const struct work *w;
	const struct owners *o;
	bool *is_last;   /* of each type: nobody asks for a part any more after such a unit */
	int64_t *within; /* of each type: what is begun anew after it comes so soon, ns */
};

/* Requests come in where is_entry of a family of threads. */
void anew_begin(struct anew *a, const struct work *w, const struct owners *o, const struct ties *l,
		const bool *is_entry);
void anew_done(struct anew *a);
/* Whether the unit begins anew what the earlier one has just taken a part away from. */
bool anew_is(const struct anew *a, const struct unit *u, const struct candidate *c);

#endif
