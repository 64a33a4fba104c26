#include "base/exact.h"

#include <string.h>

struct exact exact_sum(struct exact a, struct exact b)
{
	uint64_t carry = 0;

	for (int i = 0; i < 4; i++) {
		uint128_t s = (uint128_t)a.w[i] + b.w[i] + carry;

		a.w[i] = (uint64_t)s;
		carry = (uint64_t)(s >> 64);
	}
	return a;
}

static struct exact negated(struct exact a)
{
	for (int i = 0; i < 4; i++)
		a.w[i] = ~a.w[i];
	return exact_sum(a, (struct exact){ { 1 } });
}

struct exact exact_less(struct exact a, struct exact b)
{
	return exact_sum(a, negated(b));
}

struct exact exact_times(struct exact a, uint64_t by)
{
	uint64_t carry = 0;

	for (int i = 0; i < 4; i++) {
		uint128_t p = (uint128_t)a.w[i] * by + carry;

		a.w[i] = (uint64_t)p;
		carry = (uint64_t)(p >> 64);
	}
	return a;
}

struct exact exact_product(uint128_t a, uint128_t b)
{
	struct exact wide = { { (uint64_t)a, (uint64_t)(a >> 64) } };
	struct exact low = exact_times(wide, (uint64_t)b);
	struct exact high = exact_times(wide, (uint64_t)(b >> 64));

	memmove(high.w + 1, high.w, 3 * sizeof(*high.w));
	high.w[0] = 0;
	return exact_sum(low, high);
}

bool exact_is_negative(struct exact a)
{
	return a.w[3] >> 63;
}

bool exact_eq(struct exact a, struct exact b)
{
	return !memcmp(a.w, b.w, sizeof(a.w));
}

double exact_double(struct exact a)
{
	bool minus = exact_is_negative(a);
	double d = 0;

	if (minus)
		a = negated(a);
	for (int i = 3; i >= 0; i--)
		d = d * 0x1p64 + (double)a.w[i];
	return minus ? -d : d;
}
