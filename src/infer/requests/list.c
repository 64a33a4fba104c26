#include "infer/requests/list.h"

enum { BATCH_MIN = 6 }; /* names of one kind in one unit */

bool list_is_of(const struct work *w, uint32_t kind)
{
	return w->looks[kind].is_listed;
}

static bool is_list(const struct work *w, const struct unit *u)
{
	const struct held *held = w->held.v + u->held_at;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t kind = w->g->kind_of.v[held[i].thing];
		unsigned nr = 0;

		if (held[i].depth || !list_is_of(w, kind))
			continue;
		for (uint32_t k = 0; k < u->nr_held; k++)
			nr += !held[k].depth && w->g->kind_of.v[held[k].thing] == kind;
		if (nr >= BATCH_MIN)
			return true;
	}
	return false;
}

void list_mark(struct work *w)
{
	vec_each (&w->units, u)
		u->is_batch = is_list(w, u);
}
