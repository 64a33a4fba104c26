/*
 * Nothing in the statements tells a renaming that ends the making of a thing from one that is a
 * request of its own. The names do: the old one is the new one with an ending, and nearly all that
 * has this ending loses it so.
 */
#include "infer/requests/interim.h"

#include <string.h>

#include "infer/requests/akin.h"

enum {
	ENDINGS_MAX = 16, /* that are counted */
	ENDING_MAX = 32,  /* bytes of one */
	LOST_MIN = 5,
};
#define LOST_SHARE 0.85

static uint64_t hash_of(struct str s)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	return hash ? hash : 1;
}

/* The name that the unit takes away, if it gives the same without its ending; 0: it does not. */
static uint32_t old_name(const struct work *w, const struct unit *u, struct str *ending)
{
	uint32_t paths[2];
	unsigned nr = 0;
	struct str p, q;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (!h.depth && work_is_path(w, h.thing) && nr++ < 2)
			paths[nr - 1] = h.thing;
	}
	if (nr != 2)
		return 0;
	p = gather_value(w->g, paths[0]);
	q = gather_value(w->g, paths[1]);
	if (p.n <= q.n || p.n - q.n > ENDING_MAX || !str_eq((struct str){ p.p, q.n }, q) ||
	    memchr(p.p + q.n, '/', p.n - q.n))
		return 0;
	*ending = (struct str){ p.p + q.n, p.n - q.n };
	return paths[0];
}

/* How many names have the ending. */
static uint32_t nr_with(const struct work *w, struct str ending)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < w->g->kind_of.nr; i++) {
		struct str s;

		if (!work_is_path(w, i))
			continue;
		s = gather_value(w->g, i);
		nr += s.n > ending.n &&
		      str_eq((struct str){ s.p + s.n - ending.n, ending.n }, ending);
	}
	return nr;
}

void interim_begin(struct interim *n, const struct work *w)
{
	*n = (struct interim){ .w = w };
	vec_each (&w->units, u) {
		struct str ending;
		uint64_t *at;

		if (!old_name(w, u, &ending))
			continue;
		at = map_find(&n->shares, hash_of(ending));
		if (!at && n->shares.nr < ENDINGS_MAX) {
			at = map_at(&n->shares, hash_of(ending));
			*at = map_pair(nr_with(w, ending), 0);
		}
		if (at)
			++*at;
	}
}

void interim_done(struct interim *n)
{
	map_done(&n->shares);
}

const struct candidate *interim_cause(const struct interim *n, const struct ties *l, uint32_t unit)
{
	const struct work *w = n->w;
	struct str ending;
	uint32_t name = old_name(w, &w->units.v[unit], &ending);
	const uint64_t *at = name ? map_find(&n->shares, hash_of(ending)) : NULL;
	const struct candidate *best = NULL;

	if (!at || (uint32_t)*at < LOST_MIN || (uint32_t)*at < LOST_SHARE * (double)(*at >> 32))
		return NULL;
	for (uint32_t i = l->at.v[unit]; i < l->at.v[unit + 1]; i++) {
		const struct candidate *c = &l->v.v[i];

		if (c->thing == name && !w->units.v[c->unit].is_batch &&
		    akin_names(w, &w->units.v[c->unit], name) && (!best || c->unit > best->unit))
			best = c;
	}
	return best;
}
