#include "capture/probe/turns.h"

#include <stddef.h>
#include <stdlib.h>

#define UNITS_LEAST 20 /* in a turn, to be compared */
#define FOUND_LEAST 6  /* turns, to tell something by */
#define DRAWS 200
/* Until something is known: our code is not in the caches of a program that does other things. */
#define USUAL 2.5
#define USUAL_MOST 5
#define WIDEST 10 /* from low to high, to say that it was measured */

static bool turn_of(const struct turn_counts *a, const struct turn_counts *b, struct turn *out)
{
	double nr = (double)(b->nr_units - a->nr_units);

	*out = (struct turn){ 0 };
	if (a->who != b->who || b->nr_units < a->nr_units + UNITS_LEAST || b->cpu_ns <= a->cpu_ns)
		return false;
	*out = (struct turn){ .nr_units = nr,
			      .cpu_ns = (double)(b->cpu_ns - a->cpu_ns) / nr,
			      .loop_ns = (b->loop_ns - a->loop_ns) / nr };
	return true;
}

/* What was watched, beside the pauses before and after it: so a load that grows or falls does not
 * matter. The more we do for a piece of work, the more a turn tells. */
static void compare(struct turns *t, const struct turn *after)
{
	const struct turn *w = &t->watched;
	double nr = t->before.nr_units + after->nr_units;
	double without =
		(t->before.cpu_ns * t->before.nr_units + after->cpu_ns * after->nr_units) / nr;

	if (w->loop_ns > 0)
		t->found[t->nr_found++ % TURNS_KEPT] =
			(struct turn_found){ (w->cpu_ns - without) / w->loop_ns,
					     w->loop_ns * w->loop_ns / (1 / w->nr_units + 1 / nr) };
}

void turns_begin(struct turns *t, const struct turn_counts *now, bool is_watched)
{
	struct turn turn;
	bool is_good = t->is_begun && !t->is_spoilt && turn_of(&t->began, now, &turn);

	if (t->is_begun && t->is_watched) {
		t->watched = is_good ? turn : (struct turn){ 0 };
	} else if (t->is_begun) {
		if (is_good && t->watched.nr_units > 0 && t->before.nr_units > 0)
			compare(t, &turn);
		t->before = is_good ? turn : (struct turn){ 0 };
		t->watched = (struct turn){ 0 };
	}
	t->began = *now;
	t->is_begun = true;
	t->is_watched = is_watched;
	t->is_spoilt = false;
}

void turns_spoil(struct turns *t)
{
	t->is_spoilt = true;
}

static int by_cost(const void *a, const void *b)
{
	double x = ((const struct turn_found *)a)->times, y = ((const struct turn_found *)b)->times;

	return (x > y) - (x < y);
}

/* Half of the weight is below. */
static double median(struct turn_found *v, size_t nr)
{
	double all = 0, sum = 0;
	size_t i;

	qsort(v, nr, sizeof(*v), by_cost);
	for (i = 0; i < nr; i++)
		all += v[i].weight;
	for (i = 0; i + 1 < nr; i++) {
		sum += v[i].weight;
		if (2 * sum >= all)
			break;
	}
	return v[i].times;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Turns are drawn again and again; the dice always fall the same way. */
static void draw(const struct turn_found *v, size_t nr, struct turns_cost *out)
{
	struct turn_found some[TURNS_KEPT];
	double got[DRAWS];
	uint64_t dice = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < DRAWS; i++) {
		for (size_t k = 0; k < nr; k++) {
			dice = dice * 6364136223846793005u + 1442695040888963407u;
			some[k] = v[(dice >> 33) % nr];
		}
		got[i] = median(some, nr);
	}
	qsort(got, DRAWS, sizeof(*got), by_value);
	out->low = got[DRAWS / 40];
	out->high = got[DRAWS - 1 - DRAWS / 40];
}

/* It cannot cost less than in a loop. */
static double at_least(double times, double least)
{
	return times < least ? least : times;
}

struct turns_cost turns_cost(const struct turns *t)
{
	const struct turns_cost usual = { USUAL, 1, USUAL_MOST, false };
	size_t nr = t->nr_found < TURNS_KEPT ? (size_t)t->nr_found : TURNS_KEPT;
	struct turn_found v[TURNS_KEPT];
	struct turns_cost c = { .is_measured = true };

	if (nr < FOUND_LEAST)
		return usual;
	for (size_t i = 0; i < nr; i++)
		v[i] = t->found[i];
	draw(v, nr, &c);
	/* too noisy to tell anything */
	if (c.high - c.low > WIDEST)
		return usual;
	c.low = at_least(c.low, 1);
	c.times = at_least(median(v, nr), c.low);
	c.high = at_least(c.high, c.times);
	return c;
}
