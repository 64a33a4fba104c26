#include "lib/advice/real.h"

#define FRACTION (((uint64_t)1 << 52) - 1)
#define INFINITE ((uint64_t)2047 << 52)
#define NOT_A_NUMBER (INFINITE | (uint64_t)1 << 51 | REAL_SIGN)

/* digits * 2^exponent */
struct parts {
	uint64_t sign, digits;
	int exponent;
};

static bool is_nan(uint64_t a)
{
	return (a & ~REAL_SIGN) > INFINITE;
}

static bool is_infinite(uint64_t a)
{
	return (a & ~REAL_SIGN) == INFINITE;
}

/* Of a finite number that is not zero; the highest digit is bit 52. */
static struct parts parts_of(uint64_t a)
{
	struct parts p = { a & REAL_SIGN, a & FRACTION, (int)(a >> 52 & 2047) };
	int shift;

	if (p.exponent) {
		p.digits |= FRACTION + 1;
		p.exponent -= 1075;
		return p;
	}
	shift = __builtin_clzll(p.digits) - 11;
	p.digits <<= shift;
	p.exponent = -1074 - shift;
	return p;
}

static uint64_t rounded(uint64_t digits, int shift)
{
	uint64_t whole, rest, half;

	if (shift > 64)
		return 0;
	if (shift == 64)
		return digits > REAL_SIGN;
	whole = digits >> shift;
	rest = digits & (((uint64_t)1 << shift) - 1);
	half = (uint64_t)1 << (shift - 1);
	return whole + (rest > half || (rest == half && (whole & 1)));
}

/* digits are not 0; their lowest bit may stand for all that is below it. */
static uint64_t pack(uint64_t sign, uint64_t digits, int exponent)
{
	int shift = __builtin_clzll(digits), e = exponent - shift + 63 + 1023;

	digits <<= shift;
	if (e >= 2047)
		return sign | INFINITE;
	if (e <= 0)
		return sign | rounded(digits, 12 - e);
	return sign | (((uint64_t)(e - 1) << 52) + rounded(digits, 11));
}

uint64_t real_of(int64_t i)
{
	uint64_t size = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

	return i ? pack(i < 0 ? REAL_SIGN : 0, size, 0) : 0;
}

static uint64_t shifted(uint64_t digits, int by)
{
	if (by > 63)
		return 1;
	return digits >> by | ((digits & (((uint64_t)1 << by) - 1)) != 0);
}

uint64_t real_add(uint64_t a, uint64_t b)
{
	struct parts x, y, swap;

	if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_infinite(b) && a != b))
		return NOT_A_NUMBER;
	if (is_infinite(a) || is_infinite(b))
		return is_infinite(a) ? a : b;
	if (real_is_zero(a) || real_is_zero(b))
		return real_is_zero(a) && real_is_zero(b) ? a & b : real_is_zero(a) ? b : a;
	x = parts_of(a);
	y = parts_of(b);
	if (x.exponent < y.exponent) {
		swap = x;
		x = y;
		y = swap;
	}
	x.digits <<= 10;
	x.exponent -= 10;
	y.digits = shifted(y.digits << 10, x.exponent + 10 - y.exponent);
	if (x.sign == y.sign)
		return pack(x.sign, x.digits + y.digits, x.exponent);
	if (x.digits == y.digits)
		return 0;
	return x.digits > y.digits ? pack(x.sign, x.digits - y.digits, x.exponent)
				   : pack(y.sign, y.digits - x.digits, x.exponent);
}

uint64_t real_mul(uint64_t a, uint64_t b)
{
	uint64_t sign = (a ^ b) & REAL_SIGN;
	unsigned __int128 product;
	struct parts x, y;

	if (is_nan(a) || is_nan(b))
		return NOT_A_NUMBER;
	if (is_infinite(a) || is_infinite(b))
		return real_is_zero(a) || real_is_zero(b) ? NOT_A_NUMBER : sign | INFINITE;
	if (real_is_zero(a) || real_is_zero(b))
		return sign;
	x = parts_of(a);
	y = parts_of(b);
	product = (unsigned __int128)x.digits * y.digits;
	return pack(sign,
		    (uint64_t)(product >> 42) |
			    (((uint64_t)product & (((uint64_t)1 << 42) - 1)) != 0),
		    x.exponent + y.exponent + 42);
}

uint64_t real_div(uint64_t a, uint64_t b)
{
	uint64_t sign = (a ^ b) & REAL_SIGN, quotient = 0;
	struct parts x, y;

	if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_infinite(b)) ||
	    (real_is_zero(a) && real_is_zero(b)))
		return NOT_A_NUMBER;
	if (is_infinite(a) || real_is_zero(b))
		return sign | INFINITE;
	if (is_infinite(b) || real_is_zero(a))
		return sign;
	x = parts_of(a);
	y = parts_of(b);
	for (int i = 0; i < 57; i++) {
		quotient <<= 1;
		if (x.digits >= y.digits) {
			x.digits -= y.digits;
			quotient |= 1;
		}
		x.digits <<= 1;
	}
	return pack(sign, quotient | (x.digits != 0), x.exponent - y.exponent - 56);
}

uint64_t real_mod(uint64_t a, uint64_t b)
{
	struct parts x, y;

	if (is_nan(a) || is_nan(b) || is_infinite(a) || real_is_zero(b))
		return NOT_A_NUMBER;
	if (is_infinite(b) || real_is_zero(a))
		return a;
	x = parts_of(a);
	y = parts_of(b);
	if (x.exponent < y.exponent)
		return a;
	for (; x.digits; x.digits <<= 1, x.exponent--) {
		if (x.digits >= y.digits)
			x.digits -= y.digits;
		if (x.exponent == y.exponent)
			break;
	}
	return x.digits ? pack(x.sign, x.digits, x.exponent) : x.sign;
}

/* Numbers in the order of whole ones. */
static int64_t ordered(uint64_t a)
{
	return a & REAL_SIGN ? -(int64_t)(a & ~REAL_SIGN) : (int64_t)a;
}

int real_cmp(uint64_t a, uint64_t b)
{
	if (is_nan(a) || is_nan(b))
		return 0;
	return (ordered(a) > ordered(b)) - (ordered(a) < ordered(b));
}

uint64_t real_ceil(uint64_t a)
{
	struct parts p;

	if (real_is_zero(a))
		return 0;
	p = parts_of(a);
	if (p.exponent >= 0)
		return p.exponent > 10 ? (uint64_t)1 << 63 : p.digits << p.exponent;
	if (p.exponent < -52)
		return 1;
	return (p.digits >> -p.exponent) + ((p.digits & (((uint64_t)1 << -p.exponent) - 1)) != 0);
}
