/* Numbers about numbers: order, percentiles, means, and dice that fall the same way every time. */
#ifndef CULPRIT_ASK_STATS_H
#define CULPRIT_ASK_STATS_H

#include <stddef.h>
#include <stdint.h>

void stats_sort(int64_t *v, size_t nr);
/* The nearest rank: the smallest value that at least the share p (0..1) of all do not exceed. */
int64_t stats_percentile(const int64_t *sorted, size_t nr, double p);
double stats_mean(const int64_t *v, size_t nr);

/* How sure one may be that a share of 'in of nr' is higher than 'other_in of other_nr': 0..1, by
 * the normal approximation with one half added everywhere, so that few cases never look sure. */
double stats_more_often(uint64_t in, uint64_t nr, uint64_t other_in, uint64_t other_nr);

/* Mean and spread of values in their order, and how many of them are worth one: neighbours that
 * repeat each other are not independent. */
struct spread {
	double mean, sd, per_one;
};
#define STATS_LEAST_SPREAD 0.2 /* of logarithms: no work is evener than this */
struct spread stats_spread(const double *d, size_t nr);
/* The tail of Student's distribution, by the approximation of Wallace. */
double stats_student_tail(double x, double freedom);

/* A sequence of dice (splitmix64); any seed is good. */
struct dice {
	uint64_t seed;
};
uint64_t dice_next(struct dice *d);
size_t dice_below(struct dice *d, size_t nr);

#endif
