/*
 * Spikes after section 5.2 of the black-boxes paper: local maxima N standard deviations above the
 * mean, apart from one another by a point that is less than S above it. We differ in three things.
 *
 * The correlation is looked at through windows of 1, 2, 4 … quanta, and each spike is taken at the
 * width at which it stands out most: delays that vary over many quanta make no point that is high.
 * The mean is that of the neighbourhood, because load that comes and goes makes correlations that
 * rise and fall slowly; the deviation is taken without what stands out itself, and is never less
 * than that of rare random coincidences. And N grows with the number of delays looked at, so that
 * chance alone makes a spike in one correlation of a thousand, not in each.
 *
 * O(L log W) for L delays and windows up to W.
 */
#include "infer/convolve/spikes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST 512        /* quanta of a window */
#define WIDEST_BOLD 64    /* wider ones take load that comes and goes for spikes */
#define CHANCE 0.001      /* how often chance may make a spike in one correlation */
#define NEIGHBOURHOOD 256 /* quanta on each side that make the mean, and 8 windows more */
#define CLIPPED 4.0       /* deviations beyond which a point does not count as noise */
#define ROUNDS 3          /* of clipping */

void spikes_done(struct spikes *s)
{
	free(s->sum);
	vec_done(&s->seen);
	free(s->rest);
	*s = (struct spikes){ 0 };
}

static void prepare(struct spikes *s, const float *c, size_t nr)
{
	if (nr + 1 > s->room) {
		s->room = nr + 1;
		s->sum = mem_realloc(s->sum, mem_bytes(s->room, sizeof(*s->sum)));
		s->rest = mem_realloc(s->rest, mem_bytes(s->room, sizeof(*s->rest)));
	}
	vec_clear(&s->seen);
	s->nr = 0;
	s->sum[0] = 0;
	for (size_t i = 0; i < nr; i++)
		s->sum[i + 1] = s->sum[i] + (c[i] > 0 ? (double)c[i] : 0);
}

/* Mean of one quantum around [at, at + width), which itself and one width on each side are not
 * counted in. */
static double mean_around(const struct spikes *s, size_t nr, size_t at, size_t width)
{
	size_t reach = NEIGHBOURHOOD + 8 * width;
	size_t from = at > reach ? at - reach : 0, until = at + width + reach;
	size_t gap_from = at > width ? at - width : 0, gap_until = at + 2 * width;
	double sum;
	size_t count;

	until = until < nr ? until : nr;
	gap_until = gap_until < until ? gap_until : until;
	sum = s->sum[until] - s->sum[gap_until] + s->sum[gap_from] - s->sum[from];
	count = until - gap_until + gap_from - from;
	return count ? sum / (double)count : 0;
}

/* The deviation of what is left of the windows, without those that stand out. */
static double deviation(const struct spikes *s, size_t nr_windows, double floor)
{
	double limit = INFINITY, sigma = floor;

	for (int round = 0; round < ROUNDS; round++) {
		double sum = 0, squares = 0;
		size_t count = 0;

		for (size_t i = 0; i < nr_windows; i++) {
			double x = (double)s->rest[i];

			if (fabs(x) > limit)
				continue;
			sum += x;
			squares += x * x;
			count++;
		}
		if (!count)
			break;
		sigma = sqrt(fmax(
			squares / (double)count - sum * sum / ((double)count * (double)count), 0));
		sigma = fmax(sigma, floor);
		limit = CLIPPED * sigma;
	}
	return sigma;
}

static void note(struct spikes *s, size_t from, size_t until, size_t width, double sigmas)
{
	/* the windows at its borders hold half of it */
	vec_push(&s->seen, (struct spike){ .from = from + (width - 1) / 2,
					   .until = until + width / 2,
					   .sigmas = sigmas });
}

/*
 * Notes the spikes in a run of windows above the fall, whose border is returned. The paper keeps
 * two spikes apart by a point below the fall; many messages make the foot of a spike higher than
 * that, so a valley of less than half the height does too, if it is no accident.
 */
static size_t split_run(struct spikes *s, size_t i, size_t nr, size_t width, double sigma,
			double rise, double fall)
{
	size_t from = i, valley = i;
	double high = 0;

	for (; i < nr && (double)s->rest[i] >= fall * sigma; i++) {
		double here = (double)s->rest[i], low = (double)s->rest[valley];

		if (here > high) {
			high = here;
			valley = i;
		} else if (here < low) {
			valley = i;
		} else if (low < high / 2 && here > 2 * low && here - low > rise * sigma) {
			if (high >= rise * sigma)
				note(s, from, valley, width, high / sigma);
			from = valley;
			valley = i;
			high = here;
		}
	}
	if (high >= rise * sigma)
		note(s, from, i, width, high / sigma);
	return i;
}

/* Notes what stands out at this width: where it is above the rise. */
static void look_at_width(struct spikes *s, size_t nr, size_t width, double rise,
			  const struct spike_options *o)
{
	size_t nr_windows = nr - width + 1;
	double mean = s->sum[nr] / (double)nr, sigma;

	for (size_t i = 0; i < nr_windows; i++)
		s->rest[i] = (float)(s->sum[i + width] - s->sum[i] -
				     (double)width * mean_around(s, nr, i, width));
	sigma = fmax(sqrt(mean * (double)width), 1);
	if (!o->is_bold)
		sigma = deviation(s, nr_windows, sigma);
	for (size_t i = 0; i < nr_windows; i++)
		if ((double)s->rest[i] >= o->fall * sigma)
			i = split_run(s, i, nr_windows, width, sigma, rise, o->fall);
}

static int by_sigmas(const void *a, const void *b)
{
	const struct spike *x = a, *y = b;

	if (x->sigmas != y->sigmas)
		return x->sigmas > y->sigmas ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static bool is_free(const struct spikes *s, const struct spike *x)
{
	for (size_t i = 0; i < s->nr; i++)
		if (x->from < s->v[i].until && s->v[i].from < x->until)
			return false;
	return true;
}

static int by_delay(const void *a, const void *b)
{
	const struct spike *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void spikes_find(struct spikes *s, const float *correlation, size_t nr_lags,
		 const struct spike_options *o)
{
	double rise = fmax(o->rise, sqrt(2 * log((double)nr_lags / CHANCE)));
	size_t widest = o->is_bold ? WIDEST_BOLD : WIDEST;

	prepare(s, correlation, nr_lags);
	for (size_t width = 1; width <= widest && (width == 1 || width * 16 <= nr_lags); width *= 2)
		look_at_width(s, nr_lags, width, rise, o);
	if (s->seen.nr)
		qsort(s->seen.v, s->seen.nr, sizeof(*s->seen.v), by_sigmas);
	for (size_t i = 0; i < s->seen.nr && s->nr < SPIKES_MOST; i++) {
		struct spike x = s->seen.v[i];

		if (!is_free(s, &x))
			continue;
		x.noise = mean_around(s, nr_lags, x.from, x.until - x.from) *
			  (double)(x.until - x.from);
		x.excess = s->sum[x.until] - s->sum[x.from] - x.noise;
		/* a wide window sees a narrow spike from afar, and takes it for its own */
		if (x.excess >= rise * sqrt(fmax(x.noise, 1)))
			s->v[s->nr++] = x;
	}
	qsort(s->v, s->nr, sizeof(*s->v), by_delay);
}
