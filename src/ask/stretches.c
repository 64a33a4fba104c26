#include "ask/stretches.h"

#include <math.h>
#include <stdlib.h>

#include "ask/types.h"
#include "base/mem.h"
#include "base/time.h"

#define HIGHER 0.5 /* each level than the one before, in standard deviations */
#define CAP 2.5    /* of a logarithm */

double stretches_capped(double off)
{
	return off > CAP ? CAP : off < -CAP ? -CAP : off;
}

static int by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->off > y->off) - (x->off < y->off);
}

/* The stretch of values that lies furthest above a level. */
static struct stretch above(const struct moment *v, size_t nr, double level)
{
	struct stretch s = { INT64_MAX, INT64_MIN };
	double sum = 0, best = 0;
	size_t begin = 0;

	for (size_t i = 0; i < nr; i++) {
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += v[i].off - level;
		if (sum > best) {
			best = sum;
			s = (struct stretch){ v[begin].at, v[i].at };
		}
	}
	return s;
}

void stretches_find(const struct moment *v, size_t nr, struct stretch *out)
{
	double mean = 0, squares = 0, sd;

	for (size_t i = 0; i < nr; i++) {
		mean += v[i].off / (double)nr;
		squares += v[i].off * v[i].off / (double)nr;
	}
	sd = sqrt(fmax(squares - mean * mean, 0));
	for (int k = 0; k < STRETCH_LEVELS; k++)
		out[k] = above(v, nr, mean + HIGHER * k * sd);
}

static double log_of(int64_t ns)
{
	return log((double)(ns > 0 ? ns : 0) + NS_MS);
}

/* They come in order of time mostly: then only equal times are put in order. */
static void put_in_order(struct moment *v, size_t nr)
{
	size_t first = 0;

	for (size_t i = 1; i < nr; i++)
		if (v[i].at < v[i - 1].at) {
			qsort(v, nr, sizeof(*v), by_moment);
			return;
		}
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && v[i].at == v[first].at)
			continue;
		if (i - first > 1)
			qsort(v + first, i - first, sizeof(*v), by_moment);
		first = i;
	}
}

void stretches_of_requests(const struct types *types, struct stretch *out)
{
	struct moment *v = mem_alloc(mem_bytes(types->nr_requests + 1, sizeof(*v)));
	size_t *next = mem_zalloc(mem_bytes(types->v.nr + 1, sizeof(*next)));
	double *usual = mem_alloc(mem_bytes(types->v.nr + 1, sizeof(*usual)));

	for (size_t i = 0; i < types->v.nr; i++)
		usual[i] = log((double)types->v.v[i].p50 + NS_MS);
	for (uint64_t i = 0; i < types->nr_requests; i++) {
		uint32_t type = types->in_turn[i];
		const struct timing *m = &types->v.v[type].timings.v[next[type]++];

		v[i] = (struct moment){ m->start,
					stretches_capped(log_of(m->duration) - usual[type]) };
	}
	put_in_order(v, types->nr_requests);
	stretches_find(v, types->nr_requests, out);
	free(usual);
	free(next);
	free(v);
}
