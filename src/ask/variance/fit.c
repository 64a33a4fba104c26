#include "ask/variance/fit.h"

#define LEAST 8
#define CLOCK_SHARE 0.98 /* what a clock explains at least, … */
#define CLOCK_OFF 0.02   /* … and by how much its unit may differ */

double fit_share(const struct fit *f)
{
	double n = (double)f->nr;
	double amounts = n * f->amount2 - f->amount * f->amount;
	double times = n * f->ns2 - f->ns * f->ns;
	double both = n * f->both - f->amount * f->ns;

	/* what is left of two equal numbers is no variance */
	if (f->nr < LEAST || amounts <= 1e-12 * n * f->amount2 || times <= 1e-12 * n * f->ns2)
		return 0;
	return both <= 0 ? 0 : both * both / (amounts * times);
}

bool fit_is_clock(const struct fit *f)
{
	double n = (double)f->nr;
	double amounts = n * f->amount2 - f->amount * f->amount;
	double slope;

	if (fit_share(f) < CLOCK_SHARE)
		return false;
	slope = (n * f->both - f->amount * f->ns) / amounts;
	for (double unit = 1; unit <= 1000; unit *= 1000)
		if (slope > unit * (1 - CLOCK_OFF) && slope < unit * (1 + CLOCK_OFF))
			return true;
	return false;
}
