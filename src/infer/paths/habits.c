/*
 * Times are followed by their logarithm with a slow moving mean and variance. What is counted is
 * first drawn in to three deviations: pairs that were tied wrongly must not make the wrong usual.
 *
 * A queue that is off by one makes each time longer (or shorter) by the time between two calls,
 * which a single pair does not show; but then the times also vary more than those of the right
 * pairs, as if chance were added to them. So it is added up, from return to return and never below
 * zero, how much nearer the time is to its mean if taken one place on or back, until that is enough
 * (Page's cumulative sum test).
 */
#include "infer/paths/habits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	EDGES_MAX = 1 << 16,
	LEAST = 32, /* answers before anything is called unusual */
	MEMORY = 512,
	QUICK = 64, /* answers over which the means of doubts are taken, at most */
};
#define DEVIATIONS 5.0f
#define HOPELESS 3           /* binary orders of magnitude beyond what is long */
#define LEAST_DEVIATION 0.1f /* of the logarithm: about 7 % */
#define ENOUGH 12.0f         /* evidence, in mean steps */
#define STEP_MAX 2.0f        /* what one answer can add */
#define LEAST_SCALE 0.01f    /* of the mean */
#define SLACK 0.25f          /* taken off each step: chance must not add up */

void habits_done(struct habits *h)
{
	free(h->v);
	*h = (struct habits){ 0 };
}

static struct habit *slot_of(const struct habits *h, uint64_t edge)
{
	uint64_t at = edge * 0x9e3779b97f4a7c15ULL;

	for (at ^= at >> 32;; at++) {
		struct habit *s = &h->v[at & (h->nr_slots - 1)];

		if (s->edge == edge || !s->edge)
			return s;
	}
}

static void grow(struct habits *h)
{
	struct habits made = { .nr = h->nr, .nr_slots = h->nr_slots ? 2 * h->nr_slots : 64 };

	made.v = mem_zalloc(mem_bytes(made.nr_slots, sizeof(*made.v)));
	for (uint32_t i = 0; i < h->nr_slots; i++)
		if (h->v[i].edge)
			*slot_of(&made, h->v[i].edge) = h->v[i];
	free(h->v);
	*h = made;
}

struct habit *habits_of(struct habits *h, uint32_t from, uint32_t to)
{
	uint64_t edge = (uint64_t)from << 32 | to; /* nodes are numbered from 1 */
	struct habit *s;

	if (2 * h->nr >= h->nr_slots && h->nr < EDGES_MAX)
		grow(h);
	s = slot_of(h, edge);
	if (s->edge)
		return s;
	if (h->nr >= EDGES_MAX)
		return NULL;
	h->nr++;
	*s = (struct habit){ .edge = edge };
	return s;
}

/* The binary logarithm, to a tenth. */
static float magnitude(int64_t ns)
{
	float v = ns < 1 ? 1 : (float)ns;
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return (float)(bits - 0x3f800000u) * 0x1p-23f;
}

static float deviation(const struct habit *h)
{
	return fmaxf(sqrtf(h->variance), LEAST_DEVIATION);
}

static float pull_of(const struct habit *h)
{
	return 1.0f / (float)(h->nr < MEMORY ? h->nr + 1 : MEMORY);
}

void habit_learn(struct habit *h, int64_t ns)
{
	float off, pull;

	if (!h)
		return;
	off = magnitude(ns) - h->mean;
	if (h->nr >= LEAST) {
		float most = 3 * deviation(h);

		off = off < -most ? -most : off > most ? most : off;
	}
	pull = pull_of(h);
	h->nr++;
	h->nr = h->nr > MEMORY ? MEMORY : h->nr;
	h->mean += pull * off;
	h->variance = (1 - pull) * (h->variance + pull * off * off);
}

bool habit_is_long(const struct habit *h, int64_t ns)
{
	return h && h->nr >= LEAST && magnitude(ns) > h->mean + DEVIATIONS * deviation(h);
}

bool habit_is_short(const struct habit *h, int64_t ns)
{
	return h && h->nr >= LEAST && magnitude(ns) < h->mean - DEVIATIONS * deviation(h);
}

bool habit_is_hopeless(const struct habit *h, int64_t ns)
{
	return habit_is_long(h, ns) && habit_is_long(h, ns >> HOPELESS);
}

/* off: how far the time is from its mean as it is; ns: the time if the doubt is right. */
static void weigh(struct doubt *d, float off, float ns, float pull)
{
	float better, least, step;

	d->mean += pull * (ns - d->mean);
	better = off - fabsf(ns - d->mean);
	d->scale += pull * (fabsf(better) - d->scale);
	least = LEAST_SCALE * fabsf(d->mean) + 1; /* times that are all equal differ by rounding */
	step = fmaxf(-STEP_MAX, fminf(STEP_MAX, better / fmaxf(d->scale, least)));
	d->evidence = fmaxf(0, d->evidence + step - SLACK);
}

/* The means move to where the pairs now are. */
static void begin_anew(struct habit *h, float mean)
{
	h->plain = mean;
	h->behind = h->ahead = (struct doubt){ .mean = mean };
}

enum shift habit_weigh(struct habit *h, int64_t first, int64_t second, int64_t now)
{
	float pull = fmaxf(pull_of(h), 1.0f / QUICK), ns = (float)(now - first), off;

	h->plain += pull * (ns - h->plain);
	off = fabsf(ns - h->plain);
	if (second != INT64_MAX)
		weigh(&h->behind, off, (float)(now - second), pull);
	if (h->before)
		weigh(&h->ahead, off, (float)(now - h->before), pull);
	if (h->nr < QUICK)
		return SHIFT_NONE;
	if (h->behind.evidence > ENOUGH && second != INT64_MAX) {
		begin_anew(h, h->behind.mean);
		return SHIFT_BEHIND;
	}
	if (h->ahead.evidence > ENOUGH) {
		begin_anew(h, h->ahead.mean);
		return SHIFT_AHEAD;
	}
	return SHIFT_NONE;
}
