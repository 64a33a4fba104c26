/* How well time goes with an amount of work: a straight line through both, and what it explains. */
#ifndef CULPRIT_ASK_VARIANCE_FIT_H
#define CULPRIT_ASK_VARIANCE_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* Sums beyond the first point, so that large numbers that differ by little keep their digits. */
struct fit {
	uint64_t nr;
	double amount0, ns0;
	double amount, ns, amount2, ns2, both;
};

static inline void fit_add(struct fit *f, double amount, double ns)
{
	if (!f->nr++) {
		f->amount0 = amount;
		f->ns0 = ns;
		return;
	}
	amount -= f->amount0;
	ns -= f->ns0;
	f->amount += amount;
	f->ns += ns;
	f->amount2 += amount * amount;
	f->ns2 += ns * ns;
	f->both += amount * ns;
}

/* The share of the variance of time that the amount explains (R²); 0 where one of them is constant
 * or there are too few to tell. */
double fit_share(const struct fit *f);
/* Whether the amount is the time itself, as some clock has measured it: in ns or us. */
bool fit_is_clock(const struct fit *f);

#endif
