/*
 * Puts units of work together into sessions, one for each request. A unit joins the session of the
 * unit that it follows; it follows what nearly always is followed by it. What names a thing that is
 * one request by itself (an application, a job) belongs to that.
 */
#include "infer/requests/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/agreed.h"
#include "infer/requests/akin.h"
#include "infer/requests/anew.h"
#include "infer/requests/deeds.h"
#include "infer/requests/family.h"
#include "infer/requests/interim.h"
#include "infer/requests/list.h"
#include "infer/requests/stay.h"

enum {
	SELDOM = 20,     /* what begins work is seen more often */
	FEW_TO_TELL = 8, /* fewer units show nothing of what follows them */
	RARE_BITS = 5,
	LATE_MIN = 60,     /* units of a type that show what comes late */
	BORN_MIN = 5,      /* things that are named first in a family of threads */
	SHARES_SHIFT = 20, /* of 32 bits: what is left numbers the shares that are kept */
	NAMED_NR = 4096,
};
#define MUST_FOLLOW 0.85
#define SILENT_NS INT64_C(1000000000)
#define LATE_SPREAD 0.8
#define LATE_FOLLOWS 0.9 /* so surely does what comes late */
#define LATE_NS INT64_C(300000000)
#define SOON_NS INT64_C(200000000)
#define AT_ONCE_NS INT64_C(100000000)
#define LOOP_NS INT64_C(10000000)
#define SAME_THREAD_NS INT64_C(300000000)
#define MUCH_RARER 5 /* bits */
#define BORN_SHARE 0.02
#define FOLLOWS_ENTRY 0.88 /* where requests come in, what is not sure is another one */
#define FOLLOWS_HALF 0.5   /* when both are called by the same one */
#define SURE_OF_PART 0.95
#define FOLLOWS 0.7 /* a unit follows another one that is followed by such so surely */

/* Of two sorts of units. */
struct share {
	uint32_t earlier, later; /* 1 + their numbers */
	double share;
};

struct sitting {
	struct work *w;
	const struct owners *o;
	const struct ties *l;
	uint32_t *live;       /* of each thing: the session that named it last; 0: none */
	struct map families;  /* family: its session */
	struct map turns;     /* turn: its session */
	bool *is_entry;       /* of each family of threads: requests come in there */
	uint32_t *executions; /* without a parent: 1 + the last unit that began work */
	struct map seen;      /* session and type, of those that nearly always follow another */
	bool *is_must;        /* of each type: it does */
	struct map kinds;     /* type and kind: such a unit names such a thing itself */
	uint32_t *ends;       /* where units end in by_thread: 1 + the unit */
	struct deeds deeds;
	struct anew anew;
	struct interim interim;
	struct stay stay;
	struct map anew_in;   /* sessions that have emptied something and begun it anew */
	struct share *shares; /* how surely units follow others, those asked for last */
	VEC(uint64_t) musts;  /* two types: the second nearly always follows the first */
	uint32_t *unit_of;    /* of each line that is answered; NULL: none is */
	VEC(int64_t) end;     /* of each session, ns */
	VEC(uint32_t) first;  /* of each session: its first unit */
	uint32_t nr;
};

static struct held *held(struct work *w, const struct unit *u)
{
	return w->held.v + u->held_at;
}

/* --- where requests come in --------------------------------------------------------------- */

static uint32_t family_of_thread(const struct work *w, const struct unit *u)
{
	return w->family[work_line(w, u->from)->thread];
}

/* Whether nobody named before what the unit names. A number that two ends agree on is used again
 * and again: it does not count. */
static bool is_born(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];

	for (uint32_t i = 0; i < u->nr_held; i++)
		if (!agreed_is(w, w->held.v[u->held_at + i].thing))
			return s->l->at.v[unit] == s->l->at.v[unit + 1];
	return false;
}

/* Threads in which things are named that nobody named before. */
static void find_entries(struct sitting *s)
{
	const struct work *w = s->w;
	size_t nr = w->nr_families + 1;
	uint32_t *born = mem_realloc(NULL, mem_bytes(2 * nr, sizeof(*born))), *all = born + nr;

	memset(born, 0, 2 * nr * sizeof(*born));
	for (uint32_t i = 0; i < w->units.nr; i++) {
		uint32_t family = family_of_thread(w, &w->units.v[i]);

		all[family]++;
		born[family] += is_born(s, i);
	}
	for (size_t i = 0; i < nr; i++)
		s->is_entry[i] = born[i] >= BORN_MIN && born[i] >= BORN_SHARE * all[i];
	free(born);
}

/* --- sessions ---------------------------------------------------------------------------- */

/* Things of one kind that different sessions have named: of several requests at once. */
static bool is_spread(struct sitting *s, const struct unit *u)
{
	struct work *w = s->w;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held a = held(w, u)[i];
		uint32_t kind = w->g->kind_of.v[a.thing];

		if (a.depth || !s->live[a.thing] || !list_is_of(w, kind))
			continue;
		for (uint32_t k = i + 1; k < u->nr_held; k++) {
			struct held b = held(w, u)[k];

			if (!b.depth && w->g->kind_of.v[b.thing] == kind && s->live[b.thing] &&
			    s->live[a.thing] != s->live[b.thing])
				return true;
		}
	}
	return false;
}

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

/* What nearly always follows: pairs of types, in order. */
static void find_musts(struct sitting *s)
{
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

	return share >= 1 && !s->is_entry[family_of_thread(s->w, u)] &&
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
	if (s->is_entry[family_of_thread(s->w, u)])
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

static const struct candidate *cause_of(struct sitting *s, uint32_t unit, double *sure)
{
	struct work *w = s->w;
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];
		bool is_fine = best && is_finer(s, c, best);
		double share;

		/* the same work on the same thing again is another request */
		if (a->is_batch || a->type == w->units.v[unit].type ||
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

/* Whether the session of the unit began with such work. */
static bool began_so(const struct sitting *s, const struct unit *u)
{
	return s->w->units.v[s->first.v[u->session]].type == u->type;
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
	return u->start - a->end <= AT_ONCE_NS ? akin_by_the_same(s->w, a, u, c->thing)
					       : !began_so(s, a) && stay_is_guest(&s->stay, u, c);
}

/* The same work again that is part of the same request. */
static const struct candidate *go_on_with(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		/* what has begun anew was emptied before that, not again afterwards */
		if (a->is_batch ||
		    (a->type == u->type && began_so(s, a) && map_find(&s->anew_in, a->session)))
			continue;
		if (is_awaited(s, a, u, c) || is_repeated(s, a, u, c))
			return c;
	}
	return NULL;
}

/* Where requests come in they are served, unless it is another server that calls on its own. */
static bool is_served(const struct sitting *s, const struct unit *u)
{
	const struct work *w = s->w;
	const struct unit *first;

	if (akin_dedicated(w, u))
		return true;
	if (!s->is_entry[family_of_thread(w, u)])
		return false;
	if (u->parent == NO_UNIT)
		return true;
	first = &w->units.v[s->first.v[u->session]];
	if (u->why == WHY_AGAIN && first->is_served)
		return true;
	return first->is_served &&
	       ((s->is_entry[family_of_thread(w, first)] && akin_for_the_same(w, s->o, first, u)) ||
		akin_of_one_caller(w, s->o, first, u));
}

static void tie_to(struct unit *u, const struct candidate *cause, enum why_how why)
{
	if (!cause)
		return;
	u->parent = cause->unit;
	u->thing = cause->thing;
	u->why = why;
}

/* What is too seldom to show a habit, but comes at once and by the same one. */
static const struct candidate *follow_at_once(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];
	const struct candidate *best = NULL;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		if (a->type != u->type && !a->is_batch && u->start - a->end <= AT_ONCE_NS &&
		    (!best || c->unit > best->unit) && akin_by_the_same(w, a, u, c->thing))
			best = c;
	}
	return best;
}

/* The unit right before it in its thread, if nothing was long silent. */
static uint32_t before_in_thread(const struct sitting *s, const struct unit *u, int64_t silence)
{
	const struct work *w = s->w;
	uint32_t before = s->ends[u->from];
	const struct unit *a;

	if (!before)
		return NO_UNIT;
	a = &w->units.v[before - 1];
	if (a->is_batch || work_line(w, a->from)->thread != work_line(w, u->from)->thread ||
	    work_line(w, a->from)->file != work_line(w, u->from)->file ||
	    u->start - a->end > silence)
		return NO_UNIT;
	return before - 1;
}

/* Whether both hold the same rare thing: no further away from what they name than most, and for the
 * later unit no nearer than least. */
static bool hold_same(const struct sitting *s, const struct unit *a, unsigned most,
		      const struct unit *u, unsigned least)
{
	const struct work *w = s->w;

	for (uint32_t i = 0; i < u->nr_held; i++)
		for (uint32_t k = 0; k < a->nr_held; k++) {
			struct held x = w->held.v[u->held_at + i], y = w->held.v[a->held_at + k];

			if (x.thing == y.thing && x.depth >= least && x.depth <= most &&
			    y.depth <= most && s->l->bits[x.thing] >= RARE_BITS)
				return true;
		}
	return false;
}

/* The unit right before it in its thread, if both name the same thing: where it was cut, nothing
 * began. */
static uint32_t go_on_in_thread(const struct sitting *s, uint32_t unit)
{
	const struct unit *u = &s->w->units.v[unit];
	uint32_t before = before_in_thread(s, u, SAME_THREAD_NS);

	return before != NO_UNIT && hold_same(s, &s->w->units.v[before], 0, u, 0) ? before
										  : NO_UNIT;
}

/* The unit right before it in a thread that serves, which ends with the same statement about
 * another part of the same thing: a loop over its parts. */
static uint32_t go_on_with_parts(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];
	uint32_t before = before_in_thread(s, u, LOOP_NS);

	if (before == NO_UNIT || !s->is_entry[family_of_thread(w, u)] ||
	    work_line(w, w->units.v[before].to - 1)->type != u->type)
		return NO_UNIT;
	return hold_same(s, &w->units.v[before], DEPTH_PREFIX - 1, u, 1) ? before : NO_UNIT;
}

/* Goes on with what has just taken away a part of what is begun here. */
static void begin_anew(struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;

	for (uint32_t i = s->l->at.v[unit]; i < s->l->at.v[unit + 1]; i++) {
		const struct candidate *c = &s->l->v.v[i];
		const struct unit *a = &w->units.v[c->unit];

		if (a->is_batch || !a->is_served || !began_so(s, a) ||
		    !anew_is(&s->anew, &w->units.v[unit], c))
			continue;
		tie_to(&w->units.v[unit], c, WHY_AGAIN);
		*map_at(&s->anew_in, a->session) = 1;
		return;
	}
}

/* Which unit each line is of, when some lines answer others. */
static void list_lines(struct sitting *s)
{
	const struct work *w = s->w;

	if (!w->answers)
		return;
	s->unit_of = mem_realloc(NULL, mem_bytes(w->g->lines.nr, sizeof(*s->unit_of)));
	for (uint32_t i = 0; i < w->units.nr; i++)
		for (uint32_t at = w->units.v[i].from; at < w->units.v[i].to; at++)
			s->unit_of[w->by_thread[at]] = i;
}

/* An answer is due to its question, whatever else is named. */
static void answer(const struct sitting *s, uint32_t unit)
{
	const struct work *w = s->w;
	struct unit *u = &w->units.v[unit];

	for (uint32_t at = u->from; at < u->to && w->answers && u->parent == NO_UNIT; at++) {
		uint32_t asked = w->answers[w->by_thread[at]];
		uint32_t by = asked ? s->unit_of[asked - 1] : unit;

		if (by >= unit || w->units.v[by].is_batch)
			continue;
		u->parent = by;
		u->why = WHY_AGREED;
		u->thing = agreed_number(w, work_line(w, at));
	}
}

/* What the unit follows, and how surely: the surest ground first. */
static double find_parent(struct sitting *s, uint32_t unit)
{
	struct unit *u = &s->w->units.v[unit];
	bool is_seldom = s->l->nr_of_type[u->type] < SELDOM;
	double sure = 1;
	const struct candidate *cause = cause_of(s, unit, &sure);

	tie_to(u, cause, WHY_FOLLOWS);
	if (!cause)
		tie_to(u, go_on_with(s, unit), WHY_AGAIN);
	if (u->parent == NO_UNIT && is_seldom)
		tie_to(u, follow_at_once(s, unit), WHY_AGAIN);
	if (u->parent == NO_UNIT && is_seldom)
		u->parent = go_on_in_thread(s, unit);
	if (u->parent == NO_UNIT)
		u->parent = go_on_with_parts(s, unit);
	if (u->parent != NO_UNIT && u->why == WHY_FIRST)
		u->why = WHY_LOOP;
	if (u->parent == NO_UNIT)
		begin_anew(s, unit);
	if (u->parent == NO_UNIT)
		tie_to(u, interim_cause(&s->interim, s->l, unit), WHY_AGAIN);
	return sure;
}

/* The unit is of the session of its family or its turn, whatever it follows. */
static void sit_with(struct sitting *s, struct unit *u, uint64_t *session, enum why_how why,
		     uint32_t thing)
{
	if (!*session)
		*session = ++s->nr;
	u->session = (uint32_t)*session;
	u->why = why;
	u->thing = thing;
	if (u->parent != NO_UNIT && s->w->units.v[u->parent].session != u->session)
		u->parent = NO_UNIT;
}

/* Begins a session. Rounds of a loop that nothing else explains are one piece of work. */
static void sit_alone(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	struct unit *u = &w->units.v[unit];
	uint32_t *at = &s->executions[u->execution];
	bool is_round = *at && !u->is_batch && akin_beside(w, &w->units.v[*at - 1], u);

	u->why = is_round ? WHY_LOOP : WHY_FIRST;
	u->session = is_round ? w->units.v[*at - 1].session : ++s->nr;
	if (!is_round)
		*at = unit + 1u;
}

/* What later units may follow. */
static void remember(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	const struct unit *u = &w->units.v[unit];

	for (uint32_t at = u->from; at < u->to; at++)
		if (s->is_must[work_line(w, at)->type])
			*map_at(&s->seen, map_pair(u->session, work_line(w, at)->type)) = 1;
	s->ends[u->to] = unit + 1;
	while (s->first.nr <= u->session) {
		vec_push(&s->first, unit);
		vec_push(&s->end, u->end);
	}
	if (u->end > s->end.v[u->session])
		s->end.v[u->session] = u->end;
	if (u->is_batch)
		return;
	deeds_add(&s->deeds, unit);
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (!held(w, u)[i].depth)
			s->live[held(w, u)[i].thing] = u->session;
}

static void sit(struct sitting *s, uint32_t unit)
{
	struct work *w = s->w;
	struct unit *u = &w->units.v[unit];
	double sure = 1;

	u->is_batch = u->family == FAMILY_SEVERAL || u->is_aside ||
		      (!u->family && !u->turn && (u->is_batch || is_spread(s, u)));
	if (!u->is_batch && !u->is_undated)
		answer(s, unit);
	if (!u->is_batch && !u->is_undated && u->parent == NO_UNIT)
		sure = find_parent(s, unit);
	if (u->family && !u->is_batch) {
		sit_with(s, u, map_at(&s->families, u->family), WHY_FAMILY, u->family);
	} else if (u->turn && !u->is_batch) {
		sit_with(s, u, map_at(&s->turns, u->turn), WHY_TURN, u->subject);
	} else if (u->parent != NO_UNIT) {
		u->session = w->units.v[u->parent].session;
		u->sure = (float)sure;
	} else {
		sit_alone(s, unit);
	}
	u->is_served = is_served(s, u);
	remember(s, unit);
}

/* Which kinds of things units of each type name. */
static void find_kinds(struct sitting *s)
{
	const struct work *w = s->w;
	uint64_t *last = mem_zalloc(mem_bytes(NAMED_NR, sizeof(*last)));

	for (uint32_t k = 0; k < w->units.nr; k++) {
		const struct unit *u = &w->units.v[k];
		uint64_t named = map_pair(u->type, s->l->set[k] + 1);
		uint64_t *at = &last[(u->type * 31 + s->l->set[k]) % NAMED_NR];

		/* many name the very same */
		if (*at == named)
			continue;
		*at = named;
		for (uint32_t i = 0; i < u->nr_held; i++) {
			struct held h = w->held.v[u->held_at + i];

			if (!h.depth)
				*map_at(&s->kinds, map_pair(u->type, w->g->kind_of.v[h.thing])) = 1;
		}
	}
	free(last);
}

static void begin(struct sitting *s)
{
	const struct gather *g = s->w->g;

	s->is_entry = mem_zalloc(s->w->nr_families + 1);
	s->is_must = mem_zalloc((size_t)g->types.nr + 1);
	s->live = mem_zalloc(mem_bytes((size_t)g->things.nr + 1, sizeof(*s->live)));
	s->executions = mem_zalloc(mem_bytes(g->lines.nr + 1, sizeof(*s->executions)));
	s->ends = mem_zalloc(mem_bytes(g->lines.nr + 1, sizeof(*s->ends)));
	s->shares = mem_zalloc(mem_bytes((size_t)1 << (32 - SHARES_SHIFT), sizeof(*s->shares)));
	deeds_begin(&s->deeds, s->w);
}

void session_find(struct work *w, const struct owners *o, const struct ties *l)
{
	struct sitting s = { .w = w, .o = o, .l = l };

	begin(&s);
	list_lines(&s);
	find_entries(&s);
	anew_begin(&s.anew, w, o, s.is_entry);
	interim_begin(&s.interim, w);
	stay_begin(&s.stay, w, o, l, LATE_NS);
	find_musts(&s);
	find_kinds(&s);
	for (uint32_t i = 0; i < w->units.nr; i++)
		sit(&s, i);
	deeds_done(&s.deeds);
	anew_done(&s.anew);
	interim_done(&s.interim);
	stay_done(&s.stay);
	free(s.is_entry);
	free(s.is_must);
	free(s.unit_of);
	free(s.executions);
	free(s.live);
	free(s.ends);
	free(s.shares);
	map_done(&s.seen);
	map_done(&s.anew_in);
	map_done(&s.kinds);
	vec_done(&s.musts);
	vec_done(&s.end);
	vec_done(&s.first);
	map_done(&s.families);
	map_done(&s.turns);
}
