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
#include "infer/requests/cause.h"
#include "infer/requests/family.h"
#include "infer/requests/list.h"

enum {
	SELDOM = 20, /* what begins work is seen more often */
	RARE_BITS = 5,
	BORN_MIN = 5, /* things that are named first in a family of threads */
	NAMED_NR = 4096,
};
#define LOOP_NS INT64_C(10000000)
#define SAME_THREAD_NS INT64_C(300000000)
#define BORN_SHARE 0.02

static struct held *held(struct work *w, const struct unit *u)
{
	return w->held.v + u->held_at;
}

/* --- where requests come in --------------------------------------------------------------- */

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
		uint32_t family = sitting_threads(w, &w->units.v[i]);

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

/* Where requests come in they are served, unless it is another server that calls on its own. */
static bool is_served(const struct sitting *s, const struct unit *u)
{
	const struct work *w = s->w;
	const struct unit *first;

	if (akin_dedicated(w, u))
		return true;
	if (!s->is_entry[sitting_threads(w, u)])
		return false;
	if (u->parent == NO_UNIT)
		return true;
	first = &w->units.v[s->first.v[u->session]];
	if (u->why == WHY_AGAIN && first->is_served)
		return true;
	return first->is_served &&
	       ((s->is_entry[sitting_threads(w, first)] && akin_for_the_same(w, s->o, first, u)) ||
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

	if (before == NO_UNIT || !s->is_entry[sitting_threads(w, u)] ||
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

		if (a->is_batch || !a->is_served || !sitting_began_so(s, a) ||
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
	const struct candidate *cause = cause_find(s, unit, &sure);

	tie_to(u, cause, WHY_FOLLOWS);
	if (!cause)
		tie_to(u, cause_again(s, unit), WHY_AGAIN);
	if (u->parent == NO_UNIT && is_seldom)
		tie_to(u, cause_at_once(s, unit), WHY_AGAIN);
	if (u->parent == NO_UNIT)
		tie_to(u, cause_beside(s, unit), WHY_AGAIN);
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
	deeds_begin(&s->deeds, s->w);
}

void session_find(struct work *w, const struct owners *o, const struct ties *l)
{
	struct sitting s = { .w = w, .o = o, .l = l };

	begin(&s);
	list_lines(&s);
	find_entries(&s);
	anew_begin(&s.anew, w, o, l, s.is_entry);
	interim_begin(&s.interim, w);
	stay_begin(&s.stay, w, o, l, LATE_NS);
	causes_begin(&s);
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
