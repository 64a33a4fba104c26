/*
 * Expectation-maximisation for a point process: calls come at a rate of their own, and after each
 * event at a rate that depends on its kind and on the time since. A call is shared out among all
 * that may have caused it in proportion to the rates, and the rates are counted from the shares.
 * Calls that have nothing to do with the events come at the same rate whatever the time since, so
 * that the events then explain nothing, and are left alone.
 *
 * Cost: iterations x effects x causes of each.
 */
#include "infer/paths/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ITERATIONS = 20, PER_OCTAVE = 8, MANY = 100 };
#define AGAIN 0.05f          /* how often an event calls the same callee once more */
#define FIRST_NS 1024.0      /* the end of the first bin */
#define LEAST_GAIN 30.0      /* nats: more than the bins of a curve can win by chance */
#define LEAST_EXPLAINED 0.5f /* of the calls */

void rates_init(struct rates *r)
{
	*r = (struct rates){ .after = mem_zalloc(RATE_KINDS * sizeof(*r->after)) };
}

void rates_done(struct rates *r)
{
	free(r->after);
}

static unsigned bin_of(int64_t ns)
{
	double at = ns < FIRST_NS ? 0 : 1 + PER_OCTAVE * log2((double)ns / FIRST_NS);

	return at < RATE_BINS - 1 ? (unsigned)at : RATE_BINS - 1;
}

static double seconds_of(unsigned bin)
{
	double end = FIRST_NS * exp2((double)bin / PER_OCTAVE);

	return 1e-9 * (bin ? end - end / exp2(1.0 / PER_OCTAVE) : end);
}

static float rate_of(const struct rates *r, const struct cause *c, const struct effect *e)
{
	return r->after[c->kind][e->callee][bin_of(e->ns - c->ns)];
}

static float total_of(const struct rates *r, const struct cause *causes, const struct effect *e)
{
	float all = r->alone[e->callee];

	for (uint32_t i = e->first; i < e->last; i++)
		all += rate_of(r, &causes[i], e);
	return all;
}

/* Neighbours share, so that a curve and not the single calls is learned. */
static void smooth(float *v, int passes)
{
	for (int pass = 0; pass < passes; pass++) {
		float before = v[0];

		for (unsigned i = 0; i < RATE_BINS; i++) {
			float here = v[i], next = v[i + 1 < RATE_BINS ? i + 1 : i];

			v[i] = 0.25f * before + 0.5f * here + 0.25f * next;
			before = here;
		}
	}
}

/* Turns shares of calls into calls a second. */
static void count(struct rates *r, const uint32_t *nr_of_kind, int passes)
{
	for (unsigned k = 0; k < RATE_KINDS; k++)
		for (unsigned y = 0; y < RATE_CALLEES && nr_of_kind[k]; y++) {
			smooth(r->after[k][y], passes);
			for (unsigned b = 0; b < RATE_BINS; b++)
				r->after[k][y][b] /= (float)(nr_of_kind[k] * seconds_of(b));
		}
}

static void share_out(const struct rates *r, struct rates *to, const struct cause *causes,
		      const struct effect *e, bool is_first)
{
	float all = is_first ? (float)(e->last - e->first + 1) : total_of(r, causes, e);

	if (all <= 0)
		return;
	for (uint32_t i = e->first; i < e->last; i++)
		to->after[causes[i].kind][e->callee][bin_of(e->ns - causes[i].ns)] +=
			(is_first ? 1 : rate_of(r, &causes[i], e)) / all;
	to->alone[e->callee] += (is_first ? 1 : r->alone[e->callee]) / all;
}

/* Do the causes explain the calls to each callee better than a rate of their own does. */
static void judge(struct rates *r, const struct cause *causes, const struct effect *effects,
		  uint32_t nr, double seconds)
{
	double gain[RATE_CALLEES] = { 0 }, calls[RATE_CALLEES] = { 0 };
	float alone[RATE_CALLEES] = { 0 };

	for (uint32_t i = 0; i < nr; i++)
		calls[effects[i].callee]++;
	for (uint32_t i = 0; i < nr; i++) {
		unsigned y = effects[i].callee;
		float all = total_of(r, causes, &effects[i]);

		if (all <= 0)
			continue;
		gain[y] += log((double)all * seconds / calls[y]);
		alone[y] += r->alone[y] / all;
	}
	for (unsigned y = 0; y < RATE_CALLEES; y++)
		r->is_regular[y] = calls[y] > 0 && gain[y] > LEAST_GAIN &&
				   alone[y] < (1 - LEAST_EXPLAINED) * (float)calls[y];
}

void rates_learn(struct rates *r, const struct cause *causes, const struct effect *effects,
		 uint32_t nr, double seconds)
{
	uint32_t nr_of_kind[RATE_KINDS] = { 0 };
	struct rates next;

	for (uint32_t i = nr ? effects[0].first : 0; nr && i < effects[nr - 1].last; i++)
		nr_of_kind[causes[i].kind]++;
	rates_init(&next);
	for (int round = 0; round < ITERATIONS; round++) {
		float(*swap)[RATE_CALLEES][RATE_BINS] = r->after;

		memset(next.after, 0, RATE_KINDS * sizeof(*next.after));
		memset(next.alone, 0, sizeof(next.alone));
		for (uint32_t i = 0; i < nr; i++)
			share_out(r, &next, causes, &effects[i], round == 0);
		count(&next, nr_of_kind, nr < MANY ? 8 : 2);
		for (unsigned y = 0; y < RATE_CALLEES; y++)
			r->alone[y] = next.alone[y] / (float)seconds;
		r->after = next.after;
		next.after = swap;
	}
	judge(r, causes, effects, nr, seconds);
	rates_done(&next);
}

uint32_t rates_cause(const struct rates *r, const struct cause *causes, const struct effect *e,
		     uint16_t *used, float *sure)
{
	float all = r->alone[e->callee], most = all;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = e->first; i < e->last; i++) {
		float rate = rate_of(r, &causes[i], e) * (used[i] >> e->callee & 1 ? AGAIN : 1);

		all += rate;
		if (rate <= most)
			continue;
		most = rate;
		best = i;
	}
	*sure = all > 0 ? most / all : 1;
	if (best != UINT32_MAX)
		used[best] |= (uint16_t)(1 << e->callee);
	return best;
}
