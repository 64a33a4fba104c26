#include "ask/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

#define MOST_REPEATED 0.95

static uint64_t value_of(const void *v)
{
	return sort_signed(*(const int64_t *)v);
}

void stats_sort(int64_t *v, size_t nr)
{
	sort_records(v, nr, sizeof(*v), value_of);
}

int64_t stats_percentile(const int64_t *sorted, size_t nr, double p)
{
	double rank = ceil(p * (double)nr);

	if (!nr)
		return 0;
	if (rank < 1)
		return sorted[0];
	return sorted[rank >= (double)nr ? nr - 1 : (size_t)rank - 1];
}

double stats_mean(const int64_t *v, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (double)v[i];
	return nr ? sum / (double)nr : 0;
}

double stats_more_often(uint64_t in, uint64_t nr, uint64_t other_in, uint64_t other_nr)
{
	double n = (double)nr + 1, m = (double)other_nr + 1;
	double p = ((double)in + 0.5) / n, q = ((double)other_in + 0.5) / m;
	double z = (p - q) / sqrt(p * (1 - p) / n + q * (1 - q) / m);

	return 0.5 * erfc(-z / sqrt(2));
}

struct spread stats_spread(const double *d, size_t nr)
{
	struct spread s = { 0, 0, 1 };
	double both = 0, all = 0;

	for (size_t i = 0; i < nr; i++)
		s.mean += d[i] / (double)nr;
	for (size_t i = 0; i < nr; i++) {
		both += i ? (d[i] - s.mean) * (d[i - 1] - s.mean) : 0;
		all += (d[i] - s.mean) * (d[i] - s.mean);
	}
	if (nr < 2 || all <= 0)
		return s;
	s.sd = sqrt(all / (double)(nr - 1));
	/* where hardly anything varies, nothing is repeated either */
	both /= all + (double)nr * STATS_LEAST_SPREAD * STATS_LEAST_SPREAD;
	both = both > MOST_REPEATED ? MOST_REPEATED : both;
	if (both > 0)
		s.per_one = (1 + both) / (1 - both);
	return s;
}

double stats_student_tail(double x, double freedom)
{
	double z;

	if (x <= 0 || freedom <= 0)
		return 0.5;
	z = sqrt(freedom * log1p(x * x / freedom)) * (8 * freedom + 1) / (8 * freedom + 3);
	return 0.5 * erfc(z / sqrt(2));
}

uint64_t dice_next(struct dice *d)
{
	uint64_t z = d->seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

size_t dice_below(struct dice *d, size_t nr)
{
	return (size_t)(((unsigned __int128)dice_next(d) * nr) >> 64);
}
