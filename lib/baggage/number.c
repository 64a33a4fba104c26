/* How numbers are folded: every fold gives the same whatever comes first. */
#include <math.h>

#include "lib/baggage/number.h"

static long double wide(const struct culprit_number *a)
{
	return a->is_real ? (long double)a->real : (long double)a->integer;
}

static struct culprit_number real(double d)
{
	return (struct culprit_number){ .real = d, .is_real = 1 };
}

static struct culprit_number sum(const struct culprit_number *a, const struct culprit_number *b)
{
	struct culprit_number s = { .is_real = 0 };

	if (!a->is_real && !b->is_real &&
	    !__builtin_add_overflow(a->integer, b->integer, &s.integer))
		return s;
	return real((double)(wide(a) + wide(b)));
}

static bool is_nan(const struct culprit_number *a)
{
	return a->is_real && isnan(a->real);
}

/* Of equal ones the integer, and -0 before 0, so that it does not matter which one comes first. */
static int order(const struct culprit_number *a, const struct culprit_number *b)
{
	long double x = wide(a), y = wide(b);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->is_real != b->is_real)
		return a->is_real ? 1 : -1;
	return a->is_real ? (int)!!signbit(b->real) - (int)!!signbit(a->real) : 0;
}

/* What is no number says nothing of the least or the greatest. */
static struct culprit_number extreme(const struct culprit_number *a, const struct culprit_number *b,
				     int sign)
{
	if (is_nan(a) || is_nan(b))
		return is_nan(a) ? *b : *a;
	return order(a, b) * sign <= 0 ? *a : *b;
}

struct culprit_number number_fold(uint8_t fold, const struct culprit_number *a,
				  const struct culprit_number *b)
{
	if (fold == CULPRIT_MIN)
		return extreme(a, b, 1);
	if (fold == CULPRIT_MAX)
		return extreme(a, b, -1);
	return sum(a, b);
}

struct culprit_number number_result(uint8_t fold, const struct culprit_number *a, uint64_t count)
{
	if (fold == CULPRIT_AVERAGE)
		return real(count ? (double)(wide(a) / (long double)count) : 0);
	if (fold != CULPRIT_COUNT)
		return *a;
	if (count > INT64_MAX)
		return real((double)count);
	return (struct culprit_number){ .integer = (int64_t)count };
}
