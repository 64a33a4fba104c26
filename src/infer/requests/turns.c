#include "infer/requests/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/family.h"
#include "infer/requests/timeline.h"

#define ASKED 0.1 /* so few turns begin with what another one made */
#define MADE 0.6  /* of the lines about it, what a turn made is named in that turn */

/* A line about something that another turn made. */
struct guest {
	uint32_t line, thing;
};

struct turner {
	struct work *w;
	const struct subjects *s;
	struct timeline t;
	VEC(struct guest) guests;
};

/* --- guests --------------------------------------------------------------------------------- */

static bool names_subject(const struct turner *t, const struct seen_line *l)
{
	for (unsigned i = 0; i < l->nr_names; i++)
		if (t->w->g->kind_of.v[line_names(t->w, l)[i]] == t->s->kind)
			return true;
	return false;
}

/* What is said of the things of a kind. */
struct talk {
	struct habit lines; /* soon: in the turn that they were born in; late: elsewhere */
	uint32_t asked;     /* elsewhere, beside their object, by what a turn begins with */
};

static void listen(const struct turner *t, const struct step *s, const uint32_t *born,
		   struct talk *kinds)
{
	const struct seen_line *l = &t->w->g->lines.v[s->line];
	bool is_asked = s->begins && names_subject(t, l);

	for (unsigned i = 0; i < l->nr_names; i++) {
		uint32_t thing = line_names(t->w, l)[i];
		struct talk *k = &kinds[t->w->g->kind_of.v[thing]];

		if (!t->s->owner[thing])
			continue;
		habit_count(&k->lines, born[thing] != s->turn);
		k->asked += is_asked && born[thing] != s->turn;
	}
}

/* Kinds of things that one turn alone deals with, by and large, and that no other one begins with:
 * they are made in it. */
static bool *find_made(const struct turner *t, const uint32_t *born)
{
	const struct gather *g = t->w->g;
	struct talk *kinds = mem_zalloc(mem_bytes(g->kinds.nr + 1, sizeof(*kinds)));
	bool *is_made = mem_zalloc(g->kinds.nr + 1);
	uint32_t nr = 0;

	vec_each (&t->t.v, s) {
		nr += s->begins && !s->is_first;
		listen(t, s, born, kinds);
	}
	for (uint32_t k = 1; k < g->kinds.nr; k++) {
		const struct habit *h = &kinds[k].lines;

		is_made[k] = h->soon && h->soon >= MADE * (h->soon + h->late) &&
			     kinds[k].asked <= ASKED * nr;
	}
	free(kinds);
	return is_made;
}

/* What made in another turn the line names, if it names nothing else of the object. */
static uint32_t guest_of(const struct turner *t, const struct step *s, const uint32_t *born,
			 const bool *is_made)
{
	const struct seen_line *l = &t->w->g->lines.v[s->line];
	uint32_t found = 0;

	for (unsigned i = 0; i < l->nr_names; i++) {
		uint32_t thing = line_names(t->w, l)[i], kind = t->w->g->kind_of.v[thing];

		if (!t->s->owner[thing])
			continue;
		if (!is_made[kind] || born[thing] == s->turn)
			return 0;
		found = thing;
	}
	return found && !names_subject(t, l) ? found : 0;
}

static void note_births(const struct turner *t, uint32_t *born)
{
	memset(born, 0, (t->w->g->things.nr + 1) * sizeof(*born));
	vec_each (&t->t.v, s) {
		const struct seen_line *l = &t->w->g->lines.v[s->line];

		for (unsigned i = 0; i < l->nr_names; i++)
			if (!born[line_names(t->w, l)[i]])
				born[line_names(t->w, l)[i]] = s->turn;
	}
}

/* Takes lines out of the time line that are about something that another turn made: they are of
 * that. Whether there are any. */
static bool find_guests(struct turner *t)
{
	uint32_t *born = mem_zalloc(mem_bytes(t->w->g->things.nr + 1, sizeof(*born)));
	bool *is_made;
	size_t nr = 0;

	note_births(t, born);
	is_made = find_made(t, born);
	vec_each (&t->t.v, s) {
		uint32_t thing = guest_of(t, s, born, is_made);

		if (thing)
			vec_push(&t->guests, (struct guest){ s->line, thing });
		else
			t->t.v.v[nr++] = *s;
	}
	t->t.v.nr = nr;
	free(born);
	free(is_made);
	return t->guests.nr > 0;
}

/* --- units ---------------------------------------------------------------------------------- */

static uint32_t *turns_of_lines(const struct turner *t)
{
	uint32_t *turn_of = mem_zalloc(mem_bytes(t->w->g->lines.nr + 1, sizeof(*turn_of)));
	uint32_t *born = mem_zalloc(mem_bytes(t->w->g->things.nr + 1, sizeof(*born)));

	vec_each (&t->t.v, s)
		turn_of[s->line] = s->turn;
	note_births(t, born);
	vec_each (&t->guests, g)
		turn_of[g->line] = born[g->thing];
	free(born);
	return turn_of;
}

/* Where the unit goes on with another turn, or with lines that are aside, or with others. */
static uint32_t next_part(const struct turner *t, const uint32_t *turn_of, struct unit *u)
{
	const struct work *w = t->w;
	bool is_aside = t->s->is_aside[w->by_thread[u->from]];
	uint32_t at = u->from;

	u->turn = u->subject = 0;
	for (; at < u->to && t->s->is_aside[w->by_thread[at]] == is_aside; at++) {
		uint32_t here = turn_of[w->by_thread[at]];

		if (u->turn && here && here != u->turn)
			break;
		u->turn = here ? here : u->turn;
		u->subject = here ? subject_at(w, t->s, at) : u->subject;
	}
	u->is_aside = is_aside;
	return at;
}

static bool has_turn(const struct work *w, const uint32_t *turn_of, const struct unit *u)
{
	for (uint32_t at = u->from; at < u->to; at++)
		if (turn_of[w->by_thread[at]])
			return true;
	return false;
}

/* Lines of one unit that are of several turns, or of none, make several units. */
static void cut_units(struct turner *t)
{
	struct work *w = t->w;
	uint32_t *turn_of = turns_of_lines(t);
	size_t nr = w->units.nr;

	for (size_t i = 0; i < nr; i++) {
		struct unit rest = w->units.v[i];
		bool is_first = true, has_any = has_turn(w, turn_of, &rest);

		while (has_any && rest.from < rest.to) {
			struct unit part = rest;

			rest.from = next_part(t, turn_of, &part);
			work_fit(w, &part, part.from, rest.from);
			if (is_first)
				w->units.v[i] = part;
			else
				vec_push(&w->units, part);
			is_first = false;
		}
	}
	if (w->units.nr > nr)
		work_sort(w);
	free(turn_of);
}

void turns_find(struct work *w, const struct subjects *s)
{
	struct turner t = { .w = w, .s = s };

	if (!s->kind)
		return;
	timeline_init(&t.t, w, s);
	timeline_cut(&t.t);
	if (timeline_is_by_turns(&t.t)) {
		if (find_guests(&t))
			timeline_cut(&t.t);
		cut_units(&t);
	}
	vec_done(&t.guests);
	timeline_done(&t.t);
}

static uint32_t unit_family(const struct work *w, const struct unit *u)
{
	uint32_t found = 0;

	for (uint32_t at = u->from; at < u->to && !found; at++)
		found = timeline_family(w, work_line(w, at));
	return found;
}

void turns_join(struct work *w)
{
	uint32_t nr = 0;
	uint32_t *of;

	vec_each (&w->units, u) {
		nr = u->turn > nr ? u->turn : nr;
		/* what else it names may be of a family that dealt with it at another time */
		if (u->turn)
			u->family = unit_family(w, u);
	}
	of = mem_zalloc(mem_bytes(nr + (size_t)1, sizeof(*of)));
	vec_each (&w->units, u)
		if (u->turn && u->family)
			of[u->turn] = !of[u->turn] || of[u->turn] == u->family ? u->family
									       : FAMILY_SEVERAL;
	vec_each (&w->units, u) {
		if (!u->turn || !of[u->turn])
			continue;
		if (!u->family && of[u->turn] != FAMILY_SEVERAL)
			u->family = of[u->turn];
		if (u->family)
			u->turn = 0;
	}
	free(of);
}
