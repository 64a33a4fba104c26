/*
 * A client that was started for one request has a name of its own, and all that it calls is of that
 * request, however slow the system is. A client that stays does one request after another. How long
 * after one call the next one of the same request comes is learned from the former, for in a system
 * in which something has failed that may be seconds, and no number fits all.
 */
#include "infer/requests/stay.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "infer/requests/akin.h"

enum { FEW = 4 }; /* calls that show what is called, and how late */
#define MOST 0.9
#define NS_PER_MS 1000000

static unsigned bin_of(int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;
	unsigned bin = ms > 0 ? (unsigned)log2((double)ms) : 0;

	return bin < STAY_BINS ? bin : STAY_BINS - 1;
}

static uint32_t caller_of(const struct stay *t, const struct unit *u, const struct candidate *c)
{
	if (!t->names_caller[c->unit] || !t->names_caller[u - t->w->units.v])
		return 0;
	return akin_caller(t->w, t->o, &t->w->units.v[c->unit], u, c->thing);
}

bool stay_is_guest(const struct stay *t, const struct unit *u, const struct candidate *c)
{
	uint32_t caller = caller_of(t, u, c);

	return caller && !t->w->is_hub[caller];
}

bool stay_is_due(const struct stay *t, const struct unit *u, const struct candidate *c)
{
	const uint32_t *kind_of = t->w->g->kind_of.v;
	uint32_t caller;

	if (t->o->caller[kind_of[c->thing]] || work_look(t->w, c->thing)->is_numbers)
		return false;
	caller = caller_of(t, u, c);
	return caller && t->o->caller[kind_of[caller]] == CALLER_SURE && !t->w->is_hub[caller];
}

static void note(struct stay *t, const struct unit *u, const struct candidate *c, int64_t least)
{
	const struct unit *a = &t->w->units.v[c->unit];
	uint64_t *nr = map_at(&t->nr, map_pair(a->type, u->type));
	bool is_late = u->start - a->end > least;

	/* what is not late is counted as far as it matters */
	if ((*nr >= FEW && !is_late) || !stay_is_guest(t, u, c))
		return;
	++*nr;
	t->late[bin_of(u->start - a->end)] += is_late;
}

/* Whether the unit names what may be a caller: most units are asked about many times. */
static bool names_caller(const struct stay *t, const struct unit *u)
{
	const struct seen_line *l = work_line(t->w, u->main);

	for (unsigned i = 0; i < l->nr_names; i++)
		if (t->o->caller[t->w->g->kind_of.v[line_names(t->w, l)[i]]])
			return true;
	return false;
}

void stay_begin(struct stay *t, const struct work *w, const struct owners *o, const struct ties *l,
		int64_t least)
{
	*t = (struct stay){ .w = w, .o = o, .names_caller = mem_zalloc(w->units.nr + 1) };
	for (uint32_t unit = 0; unit < w->units.nr; unit++)
		t->names_caller[unit] = names_caller(t, &w->units.v[unit]);
	for (uint32_t unit = 0; unit < w->units.nr; unit++)
		for (uint32_t i = l->at.v[unit]; i < l->at.v[unit + 1]; i++)
			note(t, &w->units.v[unit], &l->v.v[i], least);
}

void stay_done(struct stay *t)
{
	map_done(&t->nr);
	free(t->names_caller);
}

/* Whether guests call both, and one in ten of what they call late is about as late. */
static bool is_usual(const struct stay *t, const struct unit *a, const struct unit *u)
{
	const uint64_t *nr = map_find(&t->nr, map_pair(a->type, u->type));
	unsigned bin = bin_of(u->start - a->end);
	uint32_t all = 0, sooner = 0;

	for (unsigned i = 0; i < STAY_BINS; i++) {
		all += t->late[i];
		sooner += i + 1 < bin ? t->late[i] : 0;
	}
	return nr && *nr >= FEW && all >= FEW && sooner < MOST * all;
}

bool stay_is_one(const struct stay *t, const struct unit *u, const struct candidate *c)
{
	uint32_t caller = caller_of(t, u, c);

	return caller && (!t->w->is_hub[caller] || is_usual(t, &t->w->units.v[c->unit], u));
}
