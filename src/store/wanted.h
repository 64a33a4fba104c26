/* Whether a request is one that a filter lets through. */
#ifndef CULPRIT_STORE_WANTED_H
#define CULPRIT_STORE_WANTED_H

#include "store/store.h"

struct wanted {
	bool is_all, is_typed;
	uint32_t type; /* its place in the catalog */
	int64_t from_ns, until_ns, min_ns, max_ns;
};

/* Fails where the type is not one of the run, or the run is not finished. */
int wanted_init(struct wanted *w, struct store *s, const struct request_filter *f,
		struct error *err);

static inline bool wanted_brief(const struct wanted *w, const struct brief *b)
{
	return w->is_all ||
	       ((!w->is_typed || b->type == w->type) &&
		(w->until_ns <= 0 || (b->start >= w->from_ns && b->start < w->until_ns)) &&
		(w->max_ns <= 0 || (b->duration >= w->min_ns && b->duration <= w->max_ns)));
}

#endif
