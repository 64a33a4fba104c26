/*
 * Which message caused which, decided together. What is likely:
 * - the delay of each message after its cause, or that it has none (links.c);
 * - what each message causes: the set of its effects, by link, given its kind. Its kind is the way
 *   on which it came, link by link from the root, as far as the messages before it are decided: so
 *   an answer goes back to where the question came from without our knowing what an answer is.
 * Both are learned from the decisions, which are sampled (Metropolis): a message moves to another
 * of its candidates, or changes places with the message that has it. Each message itself does not
 * count among those that it is compared with.
 *
 * How often a decision came up is its confidence; the one that is kept comes from a few sweeps at
 * the end that take only what is better. As each effect takes one place, wrong pairs that are left
 * are exchanges, and the mean delay of a link stays what it is.
 *
 * O(SWEEPS · candidates of the messages), of which each has at most CANDIDATES.
 */
#include "infer/convolve/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/convolve/links.h"

#define CANDIDATES 12
#define WORTH 12.0 /* a candidate so much less likely than the best, by log, is none */
#define LEARNING 12
#define COUNTING 24
#define COOLING 3
#define COLD 4.0
#define CLEAR 9.0       /* by log: the best is so much better that others are seldom tried */
#define SELDOM 4        /* sweeps */
#define LEAN 1.0        /* messages that the habit of a route counts for in that of a kind */
#define NEVER_SEEN 0.02 /* messages that a set which was never seen counts for */
#define TABLE_MOST ((size_t)1 << 19) /* counts; they are hashed, and few are shared by accident */

struct decider {
	struct traffic *t;
	struct links *l;
	/* Messages are numbered by time here, so that what is near in time is near in memory. */
	uint32_t *order; /* which message each is */
	int64_t *ns;
	uint32_t *route;
	bool *is_clear; /* hardly anything but the first candidate comes into question */
	size_t *begin;  /* of the candidates of each, and the end */
	VEC(struct candidate) candidates;
	uint16_t *hits;      /* of each candidate */
	uint8_t *choice;     /* of each message, CANDIDATES for none */
	uint64_t *kind;      /* the way it came on … */
	uint64_t *set;       /* … and what it caused, sums of links */
	uint64_t *told_kind; /* both as they were counted */
	uint64_t *told_set;
	uint32_t *first, *next; /* of the effects of each */
	uint32_t *counts;       /* by hash of kind, kind and set, route, route and set */
	size_t nr_counts;       /* a power of two */
	uint64_t seed;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double dice(struct decider *d)
{
	return ((double)(mix(d->seed++, 7) >> 11) + 0.5) / 9007199254740992.0;
}

/* --- what is likely --------------------------------------------------------------------------- */

static uint32_t *count_of(const struct decider *d, uint64_t kind, uint64_t set)
{
	return &d->counts[mix(kind, set) & (d->nr_counts - 1)];
}

static uint64_t any_set(uint64_t set)
{
	return set ^ 0xa5a5a5a55a5a5a5au;
}

static uint64_t kind_of_route(uint32_t route)
{
	return mix(route, 11);
}

/* How likely it is that message m, if it is of this kind, causes this set. */
static double habit(const struct decider *d, uint32_t m, uint64_t kind, uint64_t set)
{
	uint64_t route = kind_of_route(d->route[m]) ^ 1;
	bool same_set = d->told_set[m] == set, same_kind = d->told_kind[m] == kind;
	double of_route = *count_of(d, route, any_set(0)) - 1.0;
	double of_kind = (double)*count_of(d, kind, any_set(0)) - same_kind;
	double seen = (double)*count_of(d, route, set) - same_set;
	double q = (fmax(seen, 0) + NEVER_SEEN) / (fmax(of_route, 0) + 1);

	seen = (double)*count_of(d, kind, set) - (same_kind && same_set);
	return log((fmax(seen, 0) + LEAN * q) / (fmax(of_kind, 0) + LEAN));
}

static void tell(struct decider *d, uint32_t m)
{
	uint64_t route = kind_of_route(d->route[m]) ^ 1;

	d->told_kind[m] = d->kind[m];
	d->told_set[m] = d->set[m];
	++*count_of(d, d->kind[m], d->set[m]);
	++*count_of(d, d->kind[m], any_set(0));
	++*count_of(d, route, d->set[m]);
	++*count_of(d, route, any_set(0));
}

static const struct candidate *chosen(const struct decider *d, uint32_t m)
{
	return d->choice[m] == CANDIDATES ? NULL : &d->candidates.v[d->begin[m] + d->choice[m]];
}

static double delay_of(const struct decider *d, uint32_t m, const struct candidate *c)
{
	return (double)d->ns[m] - (double)d->ns[c->cause];
}

/* Of the time of m, when it has this cause. */
static double density(const struct decider *d, uint32_t m, const struct candidate *c)
{
	if (!c)
		return d->l->spontaneous.v[d->route[m]];
	return link_density(&d->l->v.v[c->link], delay_of(d, m, c));
}

static uint64_t link_sign(uint32_t link)
{
	return mix(link, 3);
}

static uint64_t kind_by(const struct decider *d, uint32_t m, const struct candidate *c)
{
	return c ? mix(d->kind[c->cause], c->link) : kind_of_route(d->route[m]);
}

/* Learns habits and delays from what is decided now. */
static void learn(struct decider *d)
{
	size_t nr = d->t->v.nr;
	float(*bins)[LINK_BINS] = mem_zalloc(mem_bytes(d->l->v.nr + 1, sizeof(*bins)));
	double *uncaused = mem_zalloc(mem_bytes(d->t->routes.nr + 1, sizeof(*uncaused)));
	double length = (double)d->t->last_ns - (double)d->t->first_ns + 1;

	memset(d->counts, 0, d->nr_counts * sizeof(*d->counts));
	for (uint32_t m = 0; m < nr; m++) {
		const struct candidate *c = chosen(d, m);

		d->kind[m] = kind_by(d, m, c);
		tell(d, m);
		if (c)
			bins[c->link][link_bin(&d->l->v.v[c->link], delay_of(d, m, c))]++;
		else
			uncaused[d->route[m]]++;
	}
	for (size_t k = 0; k < d->l->v.nr; k++)
		link_fit(&d->l->v.v[k], bins[k]);
	for (size_t r = 0; r < d->t->routes.nr; r++)
		d->l->spontaneous.v[r] = log((uncaused[r] + 0.1) / length);
	free(bins);
	free(uncaused);
}

/* --- moving ----------------------------------------------------------------------------------- */

static void take_from(struct decider *d, uint32_t m, const struct candidate *c)
{
	uint32_t *at;

	if (!c)
		return;
	at = &d->first[c->cause];
	while (*at != m)
		at = &d->next[*at];
	*at = d->next[m];
	d->set[c->cause] -= link_sign(c->link);
}

static void give_to(struct decider *d, uint32_t m, const struct candidate *c)
{
	if (!c)
		return;
	d->next[m] = d->first[c->cause];
	d->first[c->cause] = m;
	d->set[c->cause] += link_sign(c->link);
}

static void change(struct decider *d, uint32_t m, uint8_t to)
{
	take_from(d, m, chosen(d, m));
	d->choice[m] = to;
	give_to(d, m, chosen(d, m));
	d->kind[m] = kind_by(d, m, chosen(d, m));
}

/* What is gained by m itself when it goes from one cause to another. */
static double own_gain(const struct decider *d, uint32_t m, const struct candidate *from,
		       const struct candidate *to)
{
	uint64_t kind = kind_by(d, m, to);
	double gain = density(d, m, to) - density(d, m, from);

	if (kind != d->kind[m])
		gain += habit(d, m, kind, d->set[m]) - habit(d, m, d->kind[m], d->set[m]);
	return gain;
}

/* What is gained by a cause when it gets and loses effects. */
static double cause_gain(const struct decider *d, uint32_t cause, uint64_t more)
{
	return habit(d, cause, d->kind[cause], d->set[cause] + more) -
	       habit(d, cause, d->kind[cause], d->set[cause]);
}

static double move_gain(const struct decider *d, uint32_t m, const struct candidate *from,
			const struct candidate *to)
{
	double gain = own_gain(d, m, from, to);

	if (from && to && from->cause == to->cause)
		return gain + cause_gain(d, to->cause, link_sign(to->link) - link_sign(from->link));
	if (from)
		gain += cause_gain(d, from->cause, -link_sign(from->link));
	if (to)
		gain += cause_gain(d, to->cause, link_sign(to->link));
	return gain;
}

/* An effect of a candidate's cause by the same link, or SENT_NONE. */
static uint32_t holder_of(const struct decider *d, uint32_t m, const struct candidate *c)
{
	for (uint32_t e = d->first[c->cause]; e != SENT_NONE; e = d->next[e])
		if (e != m && chosen(d, e)->link == c->link)
			return e;
	return SENT_NONE;
}

/* Which of the candidates of m is this one; CANDIDATES + 1 when there is none. */
static uint8_t place_of(const struct decider *d, uint32_t m, const struct candidate *c)
{
	if (!c)
		return d->begin[m + 1] > d->begin[m] ? CANDIDATES : CANDIDATES + 1;
	for (size_t i = d->begin[m]; i < d->begin[m + 1]; i++)
		if (d->candidates.v[i].cause == c->cause && d->candidates.v[i].link == c->link)
			return (uint8_t)(i - d->begin[m]);
	return CANDIDATES + 1;
}

static bool accept(struct decider *d, double gain, double cold)
{
	return gain >= 0 || dice(d) < exp(cold * gain);
}

/* m goes to one of its candidates, or to none. */
static void try_one(struct decider *d, uint32_t m, uint8_t to, double cold)
{
	const struct candidate *from = chosen(d, m);
	const struct candidate *c = to == CANDIDATES ? NULL : &d->candidates.v[d->begin[m] + to];
	uint32_t other = c ? holder_of(d, m, c) : SENT_NONE;
	uint8_t place;

	if (other != SENT_NONE && dice(d) < 0.75) {
		place = place_of(d, other, from);
		if (place > CANDIDATES)
			return;
		if (accept(d, own_gain(d, m, from, c) + own_gain(d, other, c, from), cold)) {
			change(d, m, to);
			change(d, other, place);
		}
		return;
	}
	if (accept(d, move_gain(d, m, from, c), cold))
		change(d, m, to);
}

static bool is_clear(const struct decider *d, uint32_t m)
{
	size_t at = d->begin[m], nr = d->begin[m + 1] - at;
	const struct candidate *v = &d->candidates.v[at];
	double rival = d->l->spontaneous.v[d->route[m]];

	if (nr > 1)
		rival = fmax(rival, (double)v[1].density);
	return nr && (double)v->density > rival + CLEAR;
}

static void sweep(struct decider *d, int round, double cold)
{
	for (uint32_t m = 0; m < d->t->v.nr; m++) {
		size_t nr = d->begin[m + 1] - d->begin[m];

		if (!nr || (d->is_clear[m] && !d->choice[m] && (m + (uint32_t)round) % SELDOM))
			continue;
		for (size_t tries = nr < 4 ? 1 : 2; tries > 0; tries--) {
			uint8_t to = (uint8_t)(dice(d) * (double)(nr + 1));

			to = to == nr ? CANDIDATES : to;
			if (to != d->choice[m])
				try_one(d, m, to, cold);
		}
	}
}

static void count(struct decider *d)
{
	for (uint32_t m = 0; m < d->t->v.nr; m++)
		if (d->choice[m] != CANDIDATES)
			d->hits[d->begin[m] + d->choice[m]]++;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b, void *ctx)
{
	const struct sent *v = ctx, *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void find_candidates(struct decider *d)
{
	uint32_t *number = mem_alloc(mem_bytes(d->t->v.nr + 1, sizeof(*number)));
	struct candidate v[CANDIDATES];

	for (uint32_t m = 0; m < d->t->v.nr; m++)
		number[d->order[m]] = m;
	for (uint32_t m = 0; m < d->t->v.nr; m++) {
		size_t nr = links_candidates(d->l, d->t, d->order[m], v, CANDIDATES);

		d->begin[m] = d->candidates.nr;
		for (size_t i = 0; i < nr && v[i].density > v[0].density - (float)WORTH; i++) {
			v[i].cause = number[v[i].cause];
			vec_push(&d->candidates, v[i]);
		}
		d->choice[m] = CANDIDATES;
	}
	d->begin[d->t->v.nr] = d->candidates.nr;
	free(number);
}

/* The likeliest cause that is still free; without one, the likeliest. */
static void guess(struct decider *d, uint32_t m)
{
	size_t nr = d->begin[m + 1] - d->begin[m];
	uint8_t best = CANDIDATES;

	for (uint8_t i = 0; i < nr && best == CANDIDATES; i++)
		if (holder_of(d, m, &d->candidates.v[d->begin[m] + i]) == SENT_NONE)
			best = i;
	change(d, m, nr && best == CANDIDATES ? 0 : best);
}

static void number_messages(struct decider *d)
{
	size_t nr = d->t->v.nr;

	d->order = mem_alloc(mem_bytes(nr + 1, sizeof(*d->order)));
	d->ns = mem_alloc(mem_bytes(nr + 1, sizeof(*d->ns)));
	d->route = mem_alloc(mem_bytes(nr + 1, sizeof(*d->route)));
	for (uint32_t m = 0; m < nr; m++)
		d->order[m] = m;
	qsort_r(d->order, nr, sizeof(*d->order), by_time, d->t->v.v);
	for (uint32_t m = 0; m < nr; m++) {
		d->ns[m] = d->t->v.v[d->order[m]].ns;
		d->route[m] = d->t->v.v[d->order[m]].route;
	}
}

static void init(struct decider *d)
{
	size_t nr = d->t->v.nr;

	number_messages(d);
	d->begin = mem_alloc(mem_bytes(nr + 1, sizeof(*d->begin)));
	d->choice = mem_alloc(nr + 1);
	d->is_clear = mem_alloc(nr + 1);
	d->kind = mem_zalloc(mem_bytes(4 * nr + 1, sizeof(*d->kind)));
	d->set = d->kind + nr;
	d->told_kind = d->set + nr;
	d->told_set = d->told_kind + nr;
	d->first = mem_alloc(mem_bytes(2 * nr + 1, sizeof(*d->first)));
	d->next = d->first + nr;
	for (d->nr_counts = 1024; d->nr_counts < 8 * nr && d->nr_counts < TABLE_MOST;)
		d->nr_counts *= 2;
	d->counts = mem_alloc(d->nr_counts * sizeof(*d->counts));
	for (uint32_t m = 0; m < nr; m++)
		d->first[m] = d->next[m] = SENT_NONE;
	find_candidates(d);
	d->hits = mem_zalloc(mem_bytes(d->candidates.nr + 1, sizeof(*d->hits)));
	for (uint32_t m = 0; m < nr; m++) {
		d->is_clear[m] = is_clear(d, m);
		guess(d, m);
	}
}

static void done(struct decider *d)
{
	free(d->order);
	free(d->ns);
	free(d->route);
	free(d->is_clear);
	free(d->begin);
	vec_done(&d->candidates);
	free(d->hits);
	free(d->choice);
	free(d->kind);
	free(d->first);
	free(d->counts);
}

static void write_down(struct decider *d)
{
	for (uint32_t m = 0; m < d->t->v.nr; m++) {
		struct sent *s = &d->t->v.v[d->order[m]];
		const struct candidate *c = chosen(d, m);

		s->cause = c ? d->order[c->cause] : SENT_NONE;
		s->confidence = 1;
		if (c)
			s->confidence = ((float)d->hits[d->begin[m] + d->choice[m]] + 0.5F) /
					(COUNTING + 1);
	}
}

void decide(struct traffic *t, struct links *l)
{
	struct decider d = { .t = t, .l = l, .seed = 1 };

	init(&d);
	for (int i = 0; i < LEARNING; i++) {
		learn(&d);
		sweep(&d, i, 1);
	}
	for (int i = 0; i < COUNTING; i++) {
		if (i % 4 == 0)
			learn(&d);
		sweep(&d, i, 1);
		count(&d);
	}
	for (int i = 0; i < COOLING; i++) {
		learn(&d);
		sweep(&d, i, COLD);
	}
	write_down(&d);
	done(&d);
}
