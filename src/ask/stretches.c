#include "ask/stretches.h"

#include <math.h>
#include <stdlib.h>

#include "ask/types.h"
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

void stretches_of_requests(const struct types *types, struct stretch *out)
{
	VEC(struct moment) v = { 0 };

	vec_each (&types->v, t)
		vec_each (&t->timings, m)
			vec_push(&v,
				 (struct moment){
					 m->start,
					 stretches_capped(
						 log((double)(m->duration > 0 ? m->duration : 0) +
						     NS_MS) -
						 log((double)t->p50 + NS_MS)) });
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), by_moment);
	stretches_find(v.v, v.nr, out);
	vec_done(&v);
}
