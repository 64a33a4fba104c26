/* Callers that come for one piece of work and callers that stay: what the same one calls late is
 * told by how late the former call. */
#ifndef CULPRIT_INFER_REQUESTS_STAY_H
#define CULPRIT_INFER_REQUESTS_STAY_H

#include "infer/requests/tie.h"

enum { STAY_BINS = 24 };

struct stay {
	const struct work *w;
	const struct owners *o;
	bool *names_caller; /* of each unit: its main line names one who may call */
	struct map nr; /* two types: how often one who came for one piece of work called both */
	uint32_t late[STAY_BINS]; /* delays in between, by the logarithm of milliseconds */
};

/* Delays up to *least* are not late. */
void stay_begin(struct stay *t, const struct work *w, const struct owners *o, const struct ties *l,
		int64_t least);
void stay_done(struct stay *t);
/* Whether one who came for one piece of work calls both. */
bool stay_is_guest(const struct stay *t, const struct unit *u, const struct candidate *c);
/* Whether one who surely is a guest calls both about something else that they have in common: then
 * the later one is due, however seldom it is done. */
bool stay_is_due(const struct stay *t, const struct unit *u, const struct candidate *c);
/* Whether the same one calls both: a guest, or one who stays and is no later than guests are. */
bool stay_is_one(const struct stay *t, const struct unit *u, const struct candidate *c);

#endif
