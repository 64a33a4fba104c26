/*
 * It is seldom asked what was done to a thing, and little was done twice: the units that did it are
 * strung together, and looked through when it is asked. Only where there are many of them are their
 * things put into a table.
 */
#include "infer/requests/deeds.h"

#include <stdlib.h>

#include "base/mem.h"

enum { STRING_MAX = 32 };

void deeds_begin(struct deeds *d, const struct work *w)
{
	*d = (struct deeds){ .w = w };
	d->before = mem_zalloc(mem_bytes(w->units.nr + 1, sizeof(*d->before)));
	map_reserve(&d->last, w->units.nr / 2);
}

void deeds_done(struct deeds *d)
{
	map_done(&d->last);
	map_done(&d->further);
	free(d->before);
}

static uint64_t key_of(const struct deeds *d, const struct unit *u, uint32_t session,
		       uint32_t thing)
{
	uint64_t key = map_pair(session, u->type);

	key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15u;
	return key ^ map_pair(work_line(d->w, u->from)->file, thing);
}

void deeds_add(struct deeds *d, uint32_t unit)
{
	const struct unit *u = &d->w->units.v[unit];
	uint64_t *at = map_at(&d->last, key_of(d, u, u->session, 0));
	uint32_t nr = (uint32_t)(*at >> 32);

	if (nr == STRING_MAX) {
		for (uint32_t i = 0; i < u->nr_held; i++)
			*map_at(&d->further,
				key_of(d, u, u->session, d->w->held.v[u->held_at + i].thing)) = 1;
		return;
	}
	d->before[unit] = (uint32_t)*at;
	*at = map_pair(nr + 1, unit + 1);
}

static bool holds(const struct work *w, const struct unit *u, uint32_t thing)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (w->held.v[u->held_at + i].thing == thing)
			return true;
	return false;
}

bool deeds_has(const struct deeds *d, const struct unit *u, uint32_t session, uint32_t thing)
{
	const uint64_t *at = map_find(&d->last, key_of(d, u, session, 0));

	for (uint32_t i = at ? (uint32_t)*at : 0; i; i = d->before[i - 1])
		if (holds(d->w, &d->w->units.v[i - 1], thing))
			return true;
	return at && *at >> 32 == STRING_MAX && map_find(&d->further, key_of(d, u, session, thing));
}
