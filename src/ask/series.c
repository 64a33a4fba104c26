/*
 * The slow stretch is the run of requests whose summed deviation of log latency from the mean is
 * largest (the largest-subarray form of a CUSUM for an episode that begins and may end again). How
 * likely chance makes one as large is asked of shuffled copies. Logs keep one giant from deciding.
 * Cost: n for the stretch, and at most SHUFFLES * GROUPS for the shuffles.
 */
#include "ask/series.h"

#include <math.h>

#include "ask/length.h"
#include "ask/stats.h"

#define SHUFFLES 199
#define GROUPS 1024      /* longer series are shuffled in groups of neighbours */
#define LEAST_TIMINGS 12 /* fewer cannot tell a change from chance */
#define LEAST_SLOWER 1.3 /* times the mean of the rest */
#define LEAST_CONFIDENCE 0.95

static int64_t next_width(int64_t w)
{
	static const int64_t clock[] = { 1,   2,   5,    10,   15,   30,    60,    120,   300,
					 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400 };
	int64_t ten = 1;

	if (w >= 1000000000LL) {
		for (size_t i = 0; i < sizeof(clock) / sizeof(*clock); i++)
			if (clock[i] * 1000000000LL > w)
				return clock[i] * 1000000000LL;
		return w > INT64_MAX / 4 ? w : 2 * w;
	}
	while (ten * 10 <= w)
		ten *= 10;
	return w < 2 * ten ? 2 * ten : w < 5 * ten ? 5 * ten : 10 * ten;
}

int64_t series_width(int64_t whole_ns, size_t at_most)
{
	int64_t w = 1;

	while (whole_ns / w >= (int64_t)at_most && w <= INT64_MAX / 4)
		w = next_width(w);
	return w;
}

static void fill_step(struct series_step *s, const struct timing *t, size_t nr, int64_t *scratch)
{
	s->count = nr;
	for (size_t i = 0; i < nr; i++) {
		scratch[i] = t[i].duration;
		s->errors += t[i].error;
	}
	stats_sort(scratch, nr);
	s->p50 = stats_percentile(scratch, nr, 0.5);
	s->p90 = stats_percentile(scratch, nr, 0.9);
	s->p99 = stats_percentile(scratch, nr, 0.99);
	s->max = stats_percentile(scratch, nr, 1);
}

/* The multiple of width at or before ns, also before the epoch. */
static int64_t round_down(int64_t ns, int64_t width)
{
	int64_t rest = ns % width;

	return ns - (rest < 0 ? rest + width : rest);
}

void series_make(const struct timing *t, size_t nr, int64_t from, int64_t until, size_t about,
		 struct arena *arena, struct series *out)
{
	int64_t whole, *scratch;
	size_t at = 0;

	*out = (struct series){ 0 };
	if (!nr)
		return;
	if (until <= from || __builtin_sub_overflow(until, from, &whole))
		whole = 1;
	out->width = series_width(whole, about);
	from = round_down(from, out->width);
	out->nr = (size_t)(((uint64_t)until - (uint64_t)from) / (uint64_t)out->width) + 1;
	if (out->nr > about + 2) /* only when the whole did not fit in 63 bits */
		out->nr = about + 2;
	out->v = arena_array(arena, struct series_step, out->nr);
	scratch = arena_array(arena, int64_t, nr);
	for (size_t i = 0; i < out->nr; i++) {
		struct series_step *s = &out->v[i];
		size_t first = at;

		s->start = from + (int64_t)i * out->width;
		s->end = s->start + out->width;
		while (at < nr && (t[at].start < s->end || i + 1 == out->nr))
			at++;
		fill_step(s, t + first, at - first, scratch);
	}
}

/* The largest sum of consecutive values; where, when asked. */
static double largest_stretch(const double *x, size_t nr, size_t *first, size_t *len)
{
	double best = 0, sum = 0;
	size_t begin = 0;

	for (size_t i = 0; i < nr; i++) {
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += x[i];
		if (sum > best) {
			best = sum;
			if (first) {
				*first = begin;
				*len = i + 1 - begin;
			}
		}
	}
	return best;
}

static void center(double *x, size_t nr)
{
	double mean = 0;

	for (size_t i = 0; i < nr; i++)
		mean += x[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		x[i] -= mean;
}

/* Folds neighbours so that at most GROUPS values remain; returns how many. */
static size_t fold(const double *x, size_t nr, double *groups)
{
	size_t per = (nr + GROUPS - 1) / GROUPS, n = 0;

	for (size_t i = 0; i < nr; i += per, n++) {
		groups[n] = 0;
		for (size_t j = i; j < i + per && j < nr; j++)
			groups[n] += x[j];
	}
	return n;
}

static double chance_of(double *x, size_t nr)
{
	struct dice dice = { nr };
	double seen = largest_stretch(x, nr, NULL, NULL);
	unsigned as_large = 1;

	for (unsigned s = 0; s < SHUFFLES; s++) {
		for (size_t i = nr; i > 1; i--) {
			size_t j = dice_below(&dice, i);
			double swap = x[i - 1];

			x[i - 1] = x[j];
			x[j] = swap;
		}
		if (largest_stretch(x, nr, NULL, NULL) >= seen)
			as_large++;
	}
	return (double)as_large / (SHUFFLES + 1);
}

static void weigh(const struct timing *t, size_t nr, struct episode *e)
{
	double in = 0, out = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i >= e->first && i < e->first + e->nr)
			in += (double)t[i].duration;
		else
			out += (double)t[i].duration;
	}
	e->mean_in = length_of(in / (double)e->nr);
	e->mean_out = length_of(out / (double)(nr - e->nr));
}

void series_episode(const struct timing *t, size_t nr, struct arena *arena, struct episode *e)
{
	double *x, *groups;

	*e = (struct episode){ 0 };
	if (nr < LEAST_TIMINGS)
		return;
	x = arena_array(arena, double, nr);
	groups = arena_array(arena, double, GROUPS + 1);
	for (size_t i = 0; i < nr; i++)
		x[i] = log1p(t[i].duration > 0 ? (double)t[i].duration : 0);
	center(x, nr);
	largest_stretch(x, nr, &e->first, &e->nr);
	if (!e->nr || e->nr == nr)
		return;
	e->begin = t[e->first].start;
	e->end = t[e->first + e->nr - 1].start;
	e->from_first = !e->first;
	e->to_last = e->first + e->nr == nr;
	weigh(t, nr, e);
	if ((double)e->mean_in < LEAST_SLOWER * (double)e->mean_out)
		return;
	e->confidence = 1 - chance_of(groups, fold(x, nr, groups));
	e->found = e->confidence >= LEAST_CONFIDENCE;
}
