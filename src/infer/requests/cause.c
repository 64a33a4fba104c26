/* Which of the earlier units that a unit may be tied to it follows: by how surely such work does,
 * how late it is, who calls, and what has not come yet. */
#include "infer/requests/cause.h"

#include <stdlib.h>

#include "base/mem.h"
#include "infer/requests/akin.h"

enum {
	FEW_TO_TELL = 8,   /* fewer units show nothing of what follows them */
	LATE_MIN = 60,     /* units of a type that show what comes late */
	SHARES_SHIFT = 20, /* of 32 bits: what is left numbers the shares that are kept */
};
#define MUST_FOLLOW 0.85
#define SILENT_NS INT64_C(1000000000)
#define LATE_SPREAD 0.8
#define LATE_FOLLOWS 0.9 /* so surely does what comes late */
#define SOON_NS INT64_C(200000000)
#define AT_ONCE_NS INT64_C(100000000)
#define MUCH_RARER 5       /* bits */
#define FOLLOWS_ENTRY 0.88 /* where requests come in, what is not sure is another one */
#define FOLLOWS_HALF 0.5   /* when both are called by the same one */
#define SURE_OF_PART 0.95
#define FOLLOWS 0.7 /* a unit follows another one that is followed by such so surely */

static double surest(const struct ties *l, size_t a, size_t b)
{
	double best = 0;

	for (uint32_t i = l->types_at.v[b]; i < l->types_at.v[b + 1]; i++)
		for (uint32_t k = l->types_at.v[a]; k < l->types_at.v[a + 1]; k++) {
			double share = k == l->types_at.v[a]
					       ? ties_share(l, l->types.v[k], l->types.v[i])
					       : ties_share_beside(l, l->types.v[k], l->types.v[i]);

			best = share > best ? share : best;
		}
	return best;
}

/* How surely the unit follows such an earlier one: by the surest of their lines. */
static double follows(const struct sitting *s, const struct unit *u, const struct unit *earlier)
{
	const struct ties *l = s->l;
	size_t a = (size_t)(earlier - s->w->units.v), b = (size_t)(u - s->w->units.v);
	struct share want = { .earlier = l->sort[a] + 1, .later = l->sort[b] + 1 };
	struct share *known =
		&s->shares[(want.earlier * 0x9e3779b1u ^ want.later * 0x85ebca77u) >> SHARES_SHIFT];

	if (known->earlier != want.earlier || known->later != want.later) {
		want.share = surest(l, a, b);
		*known = want;
	}
	return known->share;
}

/* What happens to a thing is due to whatever was begun with it last; then to what it shares the
 * rarest name with. */
static bool is_nearer(const struct sitting *s, const struct candidate *c,
		      const struct candidate *best)
{
	const struct work *w = s->w;
	uint32_t x, y;

	if (!best)
		return true;
	if (c->bits - best->bits > MUCH_RARER || best->bits - c->bits > MUCH_RARER)
		return c->bits > best->bits;
	x = s->first.v[w->units.v[c->unit].session];
	y = s->first.v[w->units.v[best->unit].session];
	if (x != y)
		return x > y;
	return c->bits != best->bits ? c->bits > best->bits : c->unit > best->unit;
}

static int by_pair(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void causes_begin(struct sitting *s)
{
	s->shares = mem_zalloc(mem_bytes((size_t)1 << (32 - SHARES_SHIFT), sizeof(*s->shares)));
	for (const struct map_slot *f = NULL; (f = map_next(&s->l->follows, f));) {
		uint32_t type = (uint32_t)(f->key >> 32), next = (uint32_t)f->key;

		if (type != next && ties_share(s->l, type, next) >= MUST_FOLLOW)
			vec_push(&s->musts, f->key);
	}
	vec_each (&s->musts, pair)
		s->is_must[(uint32_t)*pair] = true;
	if (s->musts.nr)
		qsort(s->musts.v, s->musts.nr, sizeof(*s->musts.v), by_pair);
}

static size_t musts_at(const struct sitting *s, uint32_t type)
{
	size_t from = 0, to = s->musts.nr;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (s->musts.v[mid] >> 32 < type)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool must_follow(const struct sitting *s, uint32_t type, uint32_t next)
{
	uint64_t key = map_pair(type, next);

	return s->musts.nr && bsearch(&key, s->musts.v, s->musts.nr, sizeof(key), by_pair);
}

/* Whether such a type names what both units deal with, themselves or as the owner. */
static bool names_common(const struct sitting *s, uint32_t type, const struct unit *a,
			 const struct unit *b)
{
	const struct work *w = s->w;

	for (uint32_t i = 0; i < a->nr_held; i++) {
		struct held h = w->held.v[a->held_at + i];

		if (h.depth >= DEPTH_PREFIX ||
		    !map_find(&s->kinds, map_pair(type, w->g->kind_of.v[h.thing])))
			continue;
		for (uint32_t k = 0; k < b->nr_held; k++)
			if (w->held.v[b->held_at + k].thing == h.thing &&
			    w->held.v[b->held_at + k].depth < DEPTH_PREFIX)
				return true;
	}
	return false;
}

/* Whether something that nearly always follows such a unit has not come yet in its session; with
 * another unit it must follow that as well, unless that is the same or seldom, and name what both
 * deal with. */
static bool is_open(const struct sitting *s, const struct unit *a, const struct unit *u)
{
	bool is_like = !u || u->type == a->type;

	for (size_t i = musts_at(s, a->type); i < s->musts.nr && s->musts.v[i] >> 32 == a->type;
	     i++) {
		uint32_t next = (uint32_t)s->musts.v[i];

		if (map_find(&s->seen, map_pair(a->session, next)))
			continue;
		if (is_like ||
		    ((s->l->nr_of_type[u->type] < FEW_TO_TELL || must_follow(s, u->type, next)) &&
		     names_common(s, next, a, u)))
			return true;
	}
	return false;
}

/* Whether what mostly comes soon is late for once: it surely comes, nobody asked for it anew, and
 * it has not come yet. */
static bool is_just_slow(const struct sitting *s, const struct unit *u, const struct candidate *c,
			 double share)
{
	const struct unit *earlier = &s->w->units.v[c->unit];

	return share >= 1 && !s->is_entry[sitting_threads(s->w, u)] &&
	       ties_delay(s->l, earlier->type, u->type) <=
		       (akin_dedicated(s->w, u) ? SILENT_NS : SOON_NS) &&
	       !deeds_has(&s->deeds, u, earlier->session, c->thing);
}

/* Whether what follows so surely is due to the earlier unit, as what one does who came for that is
 * in any case. Where requests come in, what is not
 * sure is another one; elsewhere it must come soon.
 * What comes late must be called by the same one, or have been seen to do so often, and about as
 * late. */
static bool is_due(const struct sitting *s, const struct unit *u, const struct candidate *c,
		   double share)
{
	const struct unit *earlier = &s->w->units.v[c->unit];

	if (stay_is_due(&s->stay, u, c))
		return true;
	if (u->start - earlier->end > LATE_NS &&
	    (share < LATE_FOLLOWS || !stay_is_one(&s->stay, u, c)) &&
	    (s->l->nr_of_type[earlier->type] < LATE_MIN || share < LATE_FOLLOWS ||
	     (ties_spread(s->l, earlier->type, u->type) > LATE_SPREAD &&
	      !is_just_slow(s, u, c, share))))
		return false;
	if (s->is_entry[sitting_threads(s->w, u)])
		return share >= FOLLOWS_ENTRY && !work_look(s->w, c->thing)->is_mixed;
	if (share >= MUST_FOLLOW)
		return true;
	/* where work fails, less of it is followed; what the same one does is due all the same */
	return u->start - earlier->end <= SOON_NS &&
	       (share >= FOLLOWS ||
		(share >= FOLLOWS_HALF && akin_called_by_one(s->w, s->o, earlier, u)));
}

/* Whether the session has done just this to the thing and has been silent since, or all has come
 * that it waited for and a thread was begun anew: then it is another request that does it again. */
static bool was_done(const struct sitting *s, const struct unit *u, const struct candidate *c)
{
	const struct unit *a = &s->w->units.v[c->unit];

	return (u->start - s->end.v[a->session] > SILENT_NS ||
		(akin_dedicated(s->w, u) && !is_open(s, a, NULL))) &&
	       deeds_has(&s->deeds, u, a->session, c->thing);
}

/* Whether the thing that the first shares is owned by what the other one shares. */
static bool is_finer(const struct sitting *s, const struct candidate *c,
		     const struct candidate *other)
{
	const struct gather *g = s->w->g;

	return hold_is_owner(s->o, g->kind_of.v[c->thing], g->kind_of.v[other->thing]);
}

/* Whether an earlier one of that type has done so to a part of what the last one shares. */
static bool is_of_owner(const struct sitting *s, uint32_t unit, const struct candidate *last)
{
	uint32_t type = s->w->units.v[last->unit].type;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1] && last->is_last; i++) {
		const struct candidate *c = &s->l->v.v[i];

		if (!c->is_last && s->w->units.v[c->unit].type == type && is_finer(s, c, last))
			return true;
	}
	return false;
}

const struct candidate *cause_find(struct sitting *s, uint32_t unit, double *sure)
{
	struct work *w = s->w;
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];
		bool is_fine = best && is_finer(s, c, best);
		double share;

		/* the same work on the same thing again is another request */
		if (a->is_batch || a->type == w->units.v[unit].type || is_of_owner(s, unit, c) ||
		    (!is_fine && !is_nearer(s, c, best)) ||
		    (best && *sure >= SURE_OF_PART && is_finer(s, best, c)))
			continue;
		share = follows(s, &w->units.v[unit], a);
		/* what surely follows from what was done to a part is not due to its owner */
		if (is_fine && share < SURE_OF_PART && !is_nearer(s, c, best))
			continue;
		if (!is_due(s, &w->units.v[unit], c, share) || was_done(s, &w->units.v[unit], c))
			continue;
		best = c;
		*sure = share;
	}
	return best;
}

/* Whether what the earlier unit began with is not over, and this is part of it. */
static bool is_awaited(const struct sitting *s, const struct unit *a, const struct unit *u,
		       const struct candidate *c)
{
	return is_open(s, a, u) &&
	       (u->start - s->end.v[a->session] <= LATE_NS ||
		(a->type != u->type && stay_is_one(&s->stay, u, c))) &&
	       akin_names(s->w, u, c->thing) && akin_names(s->w, a, c->thing);
}

/* Whether the same is done again by the same one: at once, or by one who came for this alone. */
static bool is_repeated(const struct sitting *s, const struct unit *a, const struct unit *u,
			const struct candidate *c)
{
	if (a->type != u->type)
		return false;
	return u->start - a->end <= AT_ONCE_NS
		       ? akin_by_the_same(s->w, a, u, c->thing)
		       : !sitting_began_so(s, a) && stay_is_guest(&s->stay, u, c);
}

const struct candidate *cause_again(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		/* what has begun anew was emptied before that, not again afterwards */
		if (a->is_batch || (a->type == u->type && sitting_began_so(s, a) &&
				    map_find(&s->anew_in, a->session)))
			continue;
		if (is_awaited(s, a, u, c) || is_repeated(s, a, u, c))
			return c;
	}
	return NULL;
}

/* Whether the thread is called after the thing, and names nobody who calls. */
static bool is_called_after(const struct sitting *s, const struct unit *u, uint32_t thing)
{
	const struct work *w = s->w;
	const struct seen_line *l = work_line(w, u->from);
	struct str thread = names_str(&w->g->threads, l->thread);
	bool is_so = false;

	for (unsigned i = 0; i < l->nr_names; i++) {
		uint32_t name = line_names(w, l)[i];

		if (i < l->nr_own && str_find(thread, gather_value(w->g, name)) == thread.n)
			continue;
		if (s->o->caller[w->g->kind_of.v[name]])
			return false;
		is_so |= name == thing && work_look(w, name)->stem;
	}
	return is_so;
}

const struct candidate *cause_beside(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		if (!a->is_batch && u->start - a->end <= AT_ONCE_NS &&
		    work_line(w, a->from)->file == work_line(w, u->from)->file &&
		    (!best || c->unit > best->unit) && is_called_after(s, u, c->thing))
			best = c;
	}
	return best;
}

const struct candidate *cause_at_once(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		if (a->type != u->type && !a->is_batch && !c->is_last &&
		    u->start - a->end <= AT_ONCE_NS && (!best || c->unit > best->unit) &&
		    akin_by_the_same(w, a, u, c->thing))
			best = c;
	}
	return best;
}
