/*
 * With n calls of a request in a stratum that take c each, n c changes by n' dc + c' dn, where n'
 * and c' are the means of both sides. The first is the effect of time, the second of the mix. What
 * a hop takes itself depends on what it calls, so that a change of the mix of paths would look like
 * a slower caller if all its calls were one stratum.
 */
#include "ask/strata.h"

#include <math.h>
#include <string.h>

#include "ask/own.h"

#define STRATA_OF_HOP 64 /* further ones are drawn together */
#define FEW_CALLS 8      /* that are told apart by their exact numbers */
#define LEAST_CALLS 5    /* of either side: fewer say nothing of their time */
#define MANY_CALLS 20    /* of one side where the other has few: a stratum that came or went */
#define KNOWN 0.9        /* how sure of what a call called makes strata worth more than all calls */
#define GUESSED 0.5      /* the same where the strata are known to differ in size */
#define SURE 4.0         /* standard deviations */
#define REST 1           /* calls_what of the strata drawn together; sums of hashes are even */

/* What one span calls, and how sure that is. */
struct called {
	uint64_t sum, which, nr;
	double sure;
};

void strata_done(struct strata *s)
{
	vec_done(&s->v);
	vec_done(&s->first);
	vec_done(&s->count);
	vec_done(&s->slots);
}

static uint64_t scatter(uint64_t x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

static size_t slot_of(const struct strata *s, uint32_t hop, uint64_t calls_what)
{
	size_t at = scatter(calls_what + hop) & (s->slots.nr - 1);

	for (; s->slots.v[at]; at = (at + 1) & (s->slots.nr - 1)) {
		const struct stratum *x = &s->v.v[s->slots.v[at] - 1];

		if (x->hop == hop && x->calls_what == calls_what)
			break;
	}
	return at;
}

static void grow(struct strata *s)
{
	size_t nr = s->slots.nr ? 2 * s->slots.nr : 64;

	vec_reserve(&s->slots, nr);
	s->slots.nr = nr;
	memset(s->slots.v, 0, nr * sizeof(*s->slots.v));
	for (size_t i = 0; i < s->v.nr; i++)
		s->slots.v[slot_of(s, s->v.v[i].hop, s->v.v[i].calls_what)] = (uint32_t)i + 1;
}

static struct stratum *find_or_add(struct strata *s, uint32_t hop, uint64_t calls_what)
{
	size_t at;

	while (s->first.nr <= hop) {
		vec_push(&s->first, HOP_NONE);
		vec_push(&s->count, 0);
	}
	if (2 * (s->v.nr + 1) > s->slots.nr)
		grow(s);
	at = slot_of(s, hop, calls_what);
	if (!s->slots.v[at] && s->count.v[hop] >= STRATA_OF_HOP)
		at = slot_of(s, hop, REST);
	if (!s->slots.v[at]) {
		if (s->count.v[hop] >= STRATA_OF_HOP)
			calls_what = REST;
		vec_push(&s->v, (struct stratum){ .hop = hop,
						  .next = s->first.v[hop],
						  .calls_what = calls_what });
		s->first.v[hop] = (uint32_t)s->v.nr - 1;
		s->count.v[hop]++;
		s->slots.v[at] = (uint32_t)s->v.nr;
	}
	return &s->v.v[s->slots.v[at] - 1];
}

/* What a span calls is the sum of a number for each call, in any order; of more than a few calls,
 * it is which there are and the magnitude of their number, or loops would be alike to nothing. */
static void sum_calls(const struct hops *hops, const struct breakdown *split,
		      const struct request_body *b, struct called *v)
{
	for (uint32_t i = 0; i < b->nr_spans; i++) {
		uint32_t parent = b->spans[i].parent;
		uint64_t number = scatter(hops->v.v[split->span_hop[i]].name + 1);

		v[i].sure = 1;
		if (parent >= i)
			continue;
		v[parent].nr++;
		v[parent].sum += number;
		v[parent].which |= 1ULL << (number & 63);
		v[parent].sure *= b->spans[i].confidence;
	}
	for (uint32_t i = 0; i < b->nr_spans; i++) {
		if (v[i].nr > FEW_CALLS)
			v[i].sum = scatter(v[i].which) + 64 - (uint64_t)__builtin_clzll(v[i].nr);
		v[i].sum *= 2; /* never REST */
	}
}

void strata_add(struct strata *s, struct breakdown *split, const struct hops *hops,
		enum contrast_side side, const struct request_body *body)
{
	const int64_t *own = own_times(body, &split->arena);
	struct called *called = arena_array(&split->arena, struct called, body->nr_spans + 1);

	sum_calls(hops, split, body, called);
	for (size_t i = 0; i < body->nr_spans; i++) {
		struct stratum *x = find_or_add(s, split->span_hop[i], called[i].sum);

		x->nr[side]++;
		x->sure[side] += called[i].sure;
		x->own[side] += (double)own[i];
	}
	for (size_t i = 0; i < split->path.nr; i++) {
		uint32_t span = split->path.v[i].span;

		if (span != SPAN_NONE)
			find_or_add(s, split->span_hop[span], called[span].sum)->ns[side] +=
				(double)split->section_ns[i];
	}
}

/* --- the comparison -------------------------------------------------------------------------- */

static bool few(const struct stratum *x)
{
	return x->nr[SIDE_BASE] < LEAST_CALLS || x->nr[SIDE_OTHER] < LEAST_CALLS;
}

/* Whether the stratum came or went: a side has few calls where the other lets one expect many. */
static bool went(const struct stratum *x, const uint64_t *nr)
{
	for (int side = 0; side < SIDES; side++)
		if (x->nr[side] < LEAST_CALLS && nr[!side] &&
		    (double)x->nr[!side] * (double)nr[side] / (double)nr[!side] >= MANY_CALLS)
			return true;
	return false;
}

static void add_stratum(struct strata_change *out, const struct stratum *x, const uint64_t *nr,
			double *common)
{
	double calls[SIDES], ns[SIDES], own[SIDES], spread = 0, together;
	bool both = x->nr[SIDE_BASE] && x->nr[SIDE_OTHER] && !went(x, nr);

	for (int side = 0; side < SIDES; side++) {
		/* where a side has none, the other says what it would have taken */
		int from = both || x->nr[side] > x->nr[!side] ? side : !side;

		calls[side] = nr[side] ? (double)x->nr[side] / (double)nr[side] : 0;
		ns[side] = x->ns[from] / (double)x->nr[from];
		own[side] = x->own[from] / (double)x->nr[from];
		spread += nr[side] ? calls[side] / (double)nr[side] : 0;
		out->calls[side] += calls[side];
	}
	together = (calls[SIDE_BASE] + calls[SIDE_OTHER]) / 2;
	out->time += together * (ns[SIDE_OTHER] - ns[SIDE_BASE]);
	out->mix += (ns[SIDE_BASE] + ns[SIDE_OTHER]) / 2 * (calls[SIDE_OTHER] - calls[SIDE_BASE]);
	if (fabs(calls[SIDE_OTHER] - calls[SIDE_BASE]) > SURE * sqrt(spread))
		out->mixed = true;
	for (int side = 0; side < SIDES && both; side++)
		out->own[side] += together * own[side];
	*common += both ? together : 0;
}

static void merge(struct stratum *to, const struct stratum *from)
{
	for (int side = 0; side < SIDES; side++) {
		to->nr[side] += from->nr[side];
		to->sure[side] += from->sure[side];
		to->own[side] += from->own[side];
		to->ns[side] += from->ns[side];
	}
}

void strata_change(const struct strata *s, uint32_t hop, const uint64_t *nr,
		   struct strata_change *out)
{
	struct stratum rest = { 0 }, all = { 0 };
	double common = 0;

	*out = (struct strata_change){ .confidence = 1 };
	for (uint32_t i = hop < s->first.nr ? s->first.v[hop] : HOP_NONE; i != HOP_NONE;
	     i = s->v.v[i].next) {
		const struct stratum *x = &s->v.v[i];

		merge(&all, x);
		if (few(x) && !went(x, nr))
			merge(&rest, x);
		else
			add_stratum(out, x, nr, &common);
	}
	if (rest.nr[SIDE_BASE] + rest.nr[SIDE_OTHER])
		add_stratum(out, &rest, nr, &common);
	if (all.nr[SIDE_BASE] + all.nr[SIDE_OTHER])
		out->confidence = (all.sure[SIDE_BASE] + all.sure[SIDE_OTHER]) /
				  (double)(all.nr[SIDE_BASE] + all.nr[SIDE_OTHER]);
	for (int side = 0; side < SIDES; side++) {
		/* wrongly given calls make strata, but leave the mean over all of them */
		if (common > 0 && out->confidence > (out->mixed ? GUESSED : KNOWN))
			out->own[side] /= common;
		else
			out->own[side] = all.nr[side] ? all.own[side] / (double)all.nr[side] : 0;
	}
}
