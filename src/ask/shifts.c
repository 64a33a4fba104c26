/*
 * Slower for a while: the episode of ask/series.h, unless it begins with the run (systems warm up).
 * Counts: the time in which there are requests of the type is cut into equal steps. The stretch of
 * steps that lies furthest above twice the median, or below half of it, counts when it is beyond
 * what the steps vary by anyhow, and when the type's part of all requests changes too: more or less
 * load is no anomaly of a type.
 *
 * Load comes in waves, and latency with it. So in both cases the rest is cut into stretches of the
 * same length, and the odd one must stand out against the worst of them, not just on average.
 */
#include "ask/shifts.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"
#include "ask/types.h"
#include "base/time.h"

#define STEPS 60
#define TYPES_MOST 50
#define LEAST_OF_TYPE 40
#define LEAST_SLOWER 3.0 /* than the rest on average */
#define STANDS_OUT 2.0   /* against the worst stretch of the rest */
#define COUNT_STANDS_OUT 3.0
#define LEAST_OTHERS 3 /* stretches that the rest must give */
#define LEAST_LENGTHS 5
#define MANY_TIMES 4.0
#define FEW_TIMES 0.3
#define PART_CHANGES 1.5
#define LEAST_SIGMA 7.0
#define LEAST_SHORT 40 /* requests that came beyond, or did not come */

/* The largest mean of any stretch as long before or after; false when there are too few. */
static bool worst_outside(const struct type_stat *t, const struct episode *e, double *worst)
{
	size_t nr = 0;

	*worst = 0;
	for (size_t at = 0; at + e->nr <= t->timings.nr; at += e->nr) {
		double sum = 0;

		if (at < e->first + e->nr && at + e->nr > e->first) {
			at = e->first; /* and go on behind it */
			continue;
		}
		for (size_t i = at; i < at + e->nr; i++)
			sum += (double)t->timings.v[i].duration;
		sum /= (double)e->nr;
		*worst = sum > *worst ? sum : *worst;
		nr++;
	}
	return nr >= LEAST_OTHERS;
}

static void find_slower(const struct type_stat *t, struct anomaly_list *out)
{
	double worst;
	struct anomaly a = { .kind = ANOMALY_LATENCY, .type = t->name };
	struct arena arena = { 0 };
	struct episode e = t->since;

	if (!t->is_searched)
		series_episode(t->timings.v, t->timings.nr, &arena, &e);
	arena_done(&arena);
	/* what is over before a few of its requests are is one event, not a time */
	if (!e.found || e.from_first || length_ns(e.begin, e.end) / LEAST_LENGTHS < e.mean_in ||
	    t->timings.nr < LEAST_OF_TYPE ||
	    (double)e.mean_in < LEAST_SLOWER * (double)e.mean_out ||
	    !worst_outside(t, &e, &worst) || (double)e.mean_in < STANDS_OUT * worst)
		return;
	a.begin = e.begin;
	a.end = e.to_last ? NS_NONE : e.end;
	a.took = e.mean_in;
	a.usual = e.mean_out;
	a.often = (double)e.nr;
	a.before = (double)(t->timings.nr - e.nr);
	a.requests = e.nr;
	a.lost = ((double)e.mean_in - (double)e.mean_out) * (double)e.nr;
	a.confidence = e.confidence;
	for (size_t i = e.first; i < e.first + e.nr; i++)
		if (t->timings.v[i].duration >= e.mean_in)
			anomaly_example(&a, t->timings.v[i].id);
	vec_push(&out->v, a);
}

/* --- counts ---------------------------------------------------------------------------------- */

struct steps {
	double of_type[STEPS], of_all[STEPS];
	int64_t from, width;
};

static size_t step_of(const struct steps *s, int64_t ns)
{
	int64_t at = length_ns(s->from, ns) / s->width;

	return at >= STEPS ? STEPS - 1 : (size_t)at;
}

static double median_of(const double *v)
{
	int64_t x[STEPS];

	for (size_t i = 0; i < STEPS; i++)
		x[i] = (int64_t)v[i];
	stats_sort(x, STEPS);
	return (double)stats_percentile(x, STEPS, 0.5);
}

/* The stretch with the largest sum of sign * (count - level). */
static bool stretch(const struct steps *s, double level, double sign, size_t *first, size_t *nr)
{
	double best = 0, sum = 0;
	size_t begin = 0;

	*nr = 0;
	for (size_t i = 0; i < STEPS; i++) {
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += sign * (s->of_type[i] - level);
		if (sum > best) {
			best = sum;
			*first = begin;
			*nr = i + 1 - begin;
		}
	}
	return *nr > 0 && *nr < STEPS / 2;
}

struct counted {
	double in, out, all_in, all_out, steps_in, steps_out, spread;
};

static struct counted count(const struct steps *s, size_t first, size_t nr)
{
	struct counted c = { 0 };
	double squares = 0, mean;

	for (size_t i = 0; i < STEPS; i++) {
		bool in = i >= first && i < first + nr;

		*(in ? &c.in : &c.out) += s->of_type[i];
		*(in ? &c.all_in : &c.all_out) += s->of_all[i];
		*(in ? &c.steps_in : &c.steps_out) += 1;
		squares += in ? 0 : s->of_type[i] * s->of_type[i];
	}
	mean = c.out / c.steps_out;
	c.spread = squares / c.steps_out - mean * mean;
	return c;
}

/* Whether the stretch stands out against every other of its length. */
static bool stands_out(const struct steps *s, size_t first, size_t nr, bool many)
{
	double in = 0, most = 0, least = INFINITY;
	size_t others = 0;

	for (size_t i = first; i < first + nr; i++)
		in += s->of_type[i];
	for (size_t at = 0; at + nr <= STEPS; at++) {
		double sum = 0;

		if (at < first + nr && at + nr > first)
			continue;
		for (size_t i = at; i < at + nr; i++)
			sum += s->of_type[i];
		most = sum > most ? sum : most;
		least = sum < least ? sum : least;
		others++;
	}
	if (others < LEAST_OTHERS * nr)
		return false;
	return many ? in >= COUNT_STANDS_OUT * most : in * COUNT_STANDS_OUT <= least;
}

static void judge(const struct type_stat *t, const struct steps *s, size_t first, size_t nr,
		  bool many, struct anomaly_list *out)
{
	struct counted c = count(s, first, nr);
	double expected = c.out / c.steps_out * c.steps_in;
	double part_in = c.in / (c.all_in > 0 ? c.all_in : 1), part_out = c.out / c.all_out;
	double spread = c.spread > c.out / c.steps_out ? c.spread : c.out / c.steps_out;
	double sigma = fabs(c.in - expected) / sqrt(spread * c.steps_in + 1);
	double factor = (c.in + 1) / (expected + 1);
	bool part = many ? part_in > PART_CHANGES * part_out : part_in * PART_CHANGES < part_out;

	if (!stands_out(s, first, nr, many) || fabs(c.in - expected) < LEAST_SHORT ||
	    c.out < LEAST_SHORT || sigma < LEAST_SIGMA || !part ||
	    (many ? factor < MANY_TIMES : factor > FEW_TIMES))
		return;
	vec_push(&out->v,
		 (struct anomaly){
			 .kind = ANOMALY_COUNT,
			 .type = t->name,
			 .begin = length_after(s->from, (int64_t)first * s->width),
			 .end = first + nr == STEPS
					? NS_NONE
					: length_after(s->from, (int64_t)(first + nr) * s->width),
			 .often = c.in,
			 .before = expected,
			 .requests = (uint64_t)c.in,
			 .confidence = 1 - erfc(sigma / sqrt(2)) });
}

/* How many of the moments, which are in order, are before that one. */
static size_t before(const int64_t *v, size_t nr, int64_t ns)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid] < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Requests of all types within the time of this one. */
static void count_all(struct steps *s, const int64_t *starts, size_t nr, int64_t whole)
{
	int64_t end = length_after(s->from, whole);
	size_t until = before(starts, nr, end), at = before(starts, nr, s->from);

	while (until < nr && starts[until] == end)
		until++;
	for (size_t i = 0; i < STEPS; i++) {
		size_t next = i + 1 == STEPS
				      ? until
				      : before(starts, nr,
					       length_after(s->from, (int64_t)(i + 1) * s->width));

		next = next > until ? until : next;
		s->of_all[i] = (double)(next - at);
		at = next;
	}
}

static void find_counts(const struct types *types, const struct type_stat *t, const int64_t *starts,
			struct anomaly_list *out)
{
	struct steps s = { .from = t->timings.v[0].start };
	int64_t whole = length_ns(s.from, t->timings.v[t->timings.nr - 1].start);
	size_t first = 0, nr;
	double median;

	s.width = whole / STEPS + 1;
	vec_each (&t->timings, m)
		s.of_type[step_of(&s, m->start)]++;
	count_all(&s, starts, types->nr_requests, whole);
	median = median_of(s.of_type);
	if (stretch(&s, 2 * median + 1, 1, &first, &nr))
		judge(t, &s, first, nr, true, out);
	if (stretch(&s, median / 2, -1, &first, &nr) && types->order.nr > 1)
		judge(t, &s, first, nr, false, out);
}

void shifts_find(const struct types *types, struct anomaly_list *out)
{
	int64_t *starts = types_starts(types);

	for (size_t i = 0; i < types->order.nr && i < TYPES_MOST; i++) {
		const struct type_stat *t = &types->v.v[types->order.v[i]];

		if (t->timings.nr < LEAST_OF_TYPE)
			continue;
		find_slower(t, out);
		find_counts(types, t, starts, out);
	}
	free(starts);
}
