/* What the next round of a live variance watches. */
#include <string.h>

#include "ask/variance/factors.h"
#include "base/error.h"
#include "cli/variance_learn.h"
#include "cli/variance_session.h"

/* Functions that one round brings, so that patching stays short. */
#define ADD_MAX 200
/* A function that spends less of its time for any one caller is shared. */
#define SHARED_BELOW 0.9

static bool is_wait(struct str name)
{
	return str_starts(name, STR("wait:"));
}

typedef VEC(uint32_t) numbers;

/* Looks into every function of that name; again into one that still varies by itself, and calls
 * others that nobody has seen: those that matter may run now and then only. */
static void expand(struct session *s, struct str name, numbers *into, struct error *err)
{
	uint32_t number = 0;

	if (str_starts(name, STR("body:")))
		name = str_skip(name, 5);
	for (; (number = watchlist_find_unclear(&s->list, name, number)) != UINT32_MAX; number++) {
		s->list.v.v[number].nr_looks++;
		vec_push(into, number);
	}
	while ((number = watchlist_find_leaf(&s->list, name)) != UINT32_MAX) {
		if (s->list.v.v[number].java) {
			java_expand(s, number, err);
			continue;
		}
		watchlist_expand(&s->list, number, err);
		vec_push(into, number);
	}
}

/* Waits that are told by themselves are those of the functions that work for the whole interval, or
 * of others below them that nobody has seen yet. */
static void expand_whole(struct session *s, numbers *into, struct error *err)
{
	for (uint32_t i = 0; i < s->list.v.nr; i++)
		if (s->list.v.v[i].role == ROLE_WHOLE || s->list.v.v[i].role == ROLE_CARRY)
			expand(s, s->list.roles.v[i].name, into, err);
}

static bool is_same_parent(const struct variance_answer *a, const struct variance_place *p,
			   struct str by)
{
	return p->parent != UINT32_MAX && str_eq(a->places[p->parent].name, by);
}

/* The part of a function's time that is spent for the one that calls it most. */
static double largest_share(const struct variance_answer *a, struct str name)
{
	double all = 0, most = 0;

	for (size_t i = 0; i < a->nr_places; i++) {
		const struct variance_place *p = &a->places[i];
		double below = 0;

		if (p->parent == UINT32_MAX || !str_eq(p->name, name))
			continue;
		for (size_t k = 0; k < a->nr_places; k++)
			if (str_eq(a->places[k].name, name) &&
			    is_same_parent(a, &a->places[k], a->places[p->parent].name))
				below += a->places[k].mean;
		all += p->mean;
		most = below > most ? below : most;
	}
	return all > 0 ? most / all : 1;
}

/* Whether it is a place where something is waited for, which is worth telling by its name. */
static bool is_waiting(const struct variance_answer *a, struct str name)
{
	double waits = 0, all = 0;

	for (size_t i = 0; i < a->nr_places; i++) {
		const struct variance_place *p = &a->places[i];

		if (!str_eq(p->name, name))
			continue;
		waits += p->mean * (p->waits[WAIT_LOCK] + p->waits[WAIT_QUEUE] + p->waits[WAIT_IO]);
		all += p->mean;
	}
	return waits > all / 2;
}

/* A function that several others call (a copy, a search) says less than who called it: its time is
 * that of its callers from now on. */
static int leave_shared(struct session *s, const struct variance_answer *a, struct error *err)
{
	VEC(uint32_t) out = { 0 };
	int got = 0;

	for (uint32_t i = 0; i < s->list.v.nr; i++) {
		struct watch *n = &s->list.v.v[i];

		struct str name = s->list.roles.v[i].name;

		if (!n->is_on || n->role != ROLE_NONE || largest_share(a, name) >= SHARED_BELOW ||
		    is_waiting(a, name))
			continue;
		n->is_on = false;
		n->out = WATCH_SHARED;
		vec_push(&out, i);
	}
	if (out.nr)
		got = session_unwatch(s, out.v, out.nr, err);
	got = got < 0 ? got : (int)out.nr;
	vec_done(&out);
	return got;
}

/* The first factors by their score, of which each part is looked into: a covariance says that both
 * vary together, for one reason. */
static void expand_top(struct session *s, const struct variance_answer *a,
		       const struct live_options *o, struct error *err)
{
	size_t looked = 0, before = s->list.v.nr;
	numbers into = { 0 };

	for (size_t i = 0; i < a->nr_factors && looked < o->nr_top; i++) {
		const struct variance_factor *f = &a->factors[i];

		if (f->share < o->min_share || s->list.v.nr - before >= ADD_MAX)
			continue;
		looked++;
		for (int k = 0; k < 2; k++)
			if (is_wait(f->name[k]))
				expand_whole(s, &into, err);
			else if (f->name[k].n)
				expand(s, f->name[k], &into, err);
	}
	if (into.nr)
		learn_begin(&s->learning, &s->list, &s->processes, into.v, into.nr);
	vec_done(&into);
}

int session_refine(struct session *s, const struct live_options *o, struct error *err)
{
	const struct variance_options options = { .min_share = o->min_share };
	struct variance_answer a;
	struct arena arena = { 0 };

	variance_answer(s->round.tree, &options, &arena, &a);
	s->nr_changed = leave_shared(s, &a, err);
	if (s->nr_changed >= 0)
		expand_top(s, &a, o, err);
	arena_done(&arena);
	return s->nr_changed < 0 ? s->nr_changed : 0;
}

int session_refined(struct session *s, struct error *err)
{
	int got = session_watch(s, err);

	if (got < 0)
		return got;
	got += s->nr_changed;
	s->nr_changed = 0;
	if (got)
		session_new_round(s);
	return got;
}
