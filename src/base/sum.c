#include "base/sum.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/exact.h"
#include "base/mem.h"

#define LIMB_BITS 32
#define LOW_BITS 1088 /* behind the point: a whole number of limbs, and all of a double's 1074 */
#define NR_LIMBS 72   /* up to 2^1024 times 2^64, and the sign */
#define LIMB_MASK ((int64_t)UINT32_MAX)

void sum_done(struct sum *s)
{
	free(s->limbs);
	*s = (struct sum){ 0 };
}

/* Limbs from..to-1 are there. */
static void cover(struct sum *s, unsigned from, unsigned to)
{
	unsigned begin = s->nr && s->from < from ? s->from : from;
	unsigned end = s->nr && s->from + s->nr > to ? (unsigned)(s->from + s->nr) : to;
	int64_t sign = s->nr && s->limbs[s->nr - 1] < 0 ? -1 : 0, *v;

	if (s->nr && begin == s->from && end == (unsigned)(s->from + s->nr))
		return;
	v = mem_zalloc(mem_bytes(end - begin, sizeof(*v)));
	for (unsigned i = 0; i < s->nr; i++)
		v[s->from - begin + i] = s->limbs[i];
	/* the sign moves up to the limb that is now the highest */
	if (sign && end > (unsigned)(s->from + s->nr)) {
		unsigned top = s->from - begin + s->nr - 1;

		v[top] &= LIMB_MASK;
		while (++top < end - begin - 1)
			v[top] = LIMB_MASK;
		v[top] = -1;
	}
	free(s->limbs);
	s->limbs = v;
	s->from = (uint16_t)begin;
	s->nr = (uint16_t)(end - begin);
}

/* All limbs but the highest are within 32 bits again. */
static void carry(struct sum *s)
{
	for (unsigned i = 0; i + 1 < s->nr; i++) {
		s->limbs[i + 1] += s->limbs[i] >> LIMB_BITS;
		s->limbs[i] &= LIMB_MASK;
	}
	if (s->limbs[s->nr - 1] > INT_MAX || s->limbs[s->nr - 1] < INT_MIN) {
		int64_t top = s->limbs[s->nr - 1];

		s->limbs[s->nr - 1] = 0;
		cover(s, s->from, s->from + s->nr + 1u);
		s->limbs[s->nr - 2] = top & LIMB_MASK;
		s->limbs[s->nr - 1] = top >> LIMB_BITS;
	}
}

/* A magnitude times 2^exponent, the lowest bit behind the point being 2^-LOW_BITS. */
static void add_product(struct sum *s, uint128_t p, int exponent, bool is_minus)
{
	unsigned at = (unsigned)(exponent + LOW_BITS) / LIMB_BITS;
	unsigned shift = (unsigned)(exponent + LOW_BITS) % LIMB_BITS;
	uint64_t part[5];

	if (!p)
		return;
	part[0] = (uint32_t)((uint32_t)p << shift);
	p = p >> (LIMB_BITS - shift);
	for (int i = 1; i < 5; i++, p >>= LIMB_BITS)
		part[i] = (uint32_t)p;
	cover(s, at, at + 6);
	for (unsigned i = 0; i < 5; i++)
		s->limbs[at - s->from + i] += is_minus ? -(int64_t)part[i] : (int64_t)part[i];
	carry(s);
}

void sum_int(struct sum *s, int64_t v, uint64_t times)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	int64_t product, whole;

	if (!__builtin_mul_overflow(v, times, &product) &&
	    !__builtin_add_overflow(s->whole, product, &whole)) {
		s->whole = whole;
		return;
	}
	add_product(s, (uint128_t)size * times, 0, v < 0);
}

bool sum_double(struct sum *s, double v, uint64_t times)
{
	int exponent;
	double part;

	if (!isfinite(v))
		return false;
	s->is_double = true;
	part = frexp(fabs(v), &exponent);
	/* a subnormal has fewer bits, which stand as high */
	if (exponent < -1021) {
		part = ldexp(part, exponent + 1021);
		exponent = -1021;
	}
	add_product(s, (uint128_t)(uint64_t)ldexp(part, 53) * times, exponent - 53, signbit(v));
	return true;
}

void sum_merge(struct sum *to, const struct sum *from)
{
	to->is_double |= from->is_double;
	sum_int(to, from->whole, 1);
	if (!from->nr)
		return;
	cover(to, from->from, from->from + from->nr + 1u);
	for (unsigned i = 0; i < from->nr; i++)
		to->limbs[from->from - to->from + i] += from->limbs[i];
	carry(to);
}

static bool magnitude(const struct sum *s, uint32_t *v);

/* The same of both parts, put together in a copy. */
static bool magnitude_of_both(const struct sum *s, uint32_t *v)
{
	struct sum both = { 0 }, limbs = *s;
	uint64_t size = s->whole < 0 ? 0 - (uint64_t)s->whole : (uint64_t)s->whole;
	bool is_minus;

	limbs.whole = 0;
	sum_merge(&both, &limbs);
	add_product(&both, size, 0, s->whole < 0);
	is_minus = magnitude(&both, v);
	sum_done(&both);
	return is_minus;
}

/* Without a sign: limbs by their absolute place; whether it was negative. */
static bool magnitude(const struct sum *s, uint32_t *v)
{
	bool is_minus = s->nr && s->limbs[s->nr - 1] < 0;
	int64_t borrow = 0;

	if (s->whole)
		return magnitude_of_both(s, v);
	memset(v, 0, NR_LIMBS * sizeof(*v));
	for (unsigned i = 0; i < s->nr && s->from + i < NR_LIMBS; i++) {
		int64_t x = (is_minus ? -s->limbs[i] : s->limbs[i]) + borrow;

		v[s->from + i] = (uint32_t)x;
		borrow = x >> LIMB_BITS;
	}
	return is_minus;
}

/* The highest limb that is not zero; -1: none. */
static int highest(const uint32_t *v)
{
	int i = NR_LIMBS - 1;

	while (i >= 0 && !v[i])
		i--;
	return i;
}

static int lowest(const uint32_t *v)
{
	int i = 0;

	while (i < NR_LIMBS && !v[i])
		i++;
	return i;
}

bool sum_whole(const struct sum *s, int64_t *v)
{
	const unsigned one = LOW_BITS / LIMB_BITS;
	uint32_t limbs[NR_LIMBS];
	bool is_minus;
	uint64_t size;

	if (!s->nr && !s->is_double) {
		*v = s->whole;
		return true;
	}
	is_minus = magnitude(s, limbs);
	size = (uint64_t)limbs[one + 1] << LIMB_BITS | limbs[one];
	if (s->is_double || highest(limbs) > (int)one + 1 || size > (uint64_t)INT64_MAX + is_minus)
		return false;
	*v = is_minus ? (int64_t)(0 - size) : (int64_t)size;
	return true;
}

double sum_value(const struct sum *s)
{
	uint32_t limbs[NR_LIMBS];
	bool is_minus = magnitude(s, limbs);
	int top = highest(limbs), low = lowest(limbs);
	uint128_t part = 0;
	double d;

	if (top < 0)
		return 0;
	for (int i = top; i > top - 4; i--)
		part = part << LIMB_BITS | (i >= 0 ? limbs[i] : 0);
	/* what is lower still decides between two doubles only where these bits do not */
	if (low < top - 3)
		part |= 1;
	d = ldexp((double)part, (top - 3) * LIMB_BITS - LOW_BITS);
	return is_minus ? -d : d;
}

#define PACKED_WHOLE (NR_LIMBS + 1) /* instead of a number of limbs */

void sum_pack(struct buf *b, const struct sum *s)
{
	uint32_t limbs[NR_LIMBS];
	int top, low;
	bool is_minus;
	int64_t whole;

	if (sum_whole(s, &whole)) {
		buf_varint(b, PACKED_WHOLE << 2);
		buf_svarint(b, whole);
		return;
	}
	is_minus = magnitude(s, limbs);
	top = highest(limbs);
	low = top < 0 ? 0 : lowest(limbs);
	buf_varint(b, (uint64_t)(top < 0 ? 0 : top - low + 1) << 2 | (unsigned)is_minus << 1 |
			      (unsigned)s->is_double);
	if (top < 0)
		return;
	buf_varint(b, (uint64_t)low);
	for (int i = low; i <= top; i++)
		buf_varint(b, limbs[i]);
}

bool sum_take(struct str *bytes, struct sum *s)
{
	uint64_t head, low = 0, limb;

	if (!str_take_varint(bytes, &head))
		return false;
	if (head == PACKED_WHOLE << 2)
		return str_take_svarint(bytes, &s->whole);
	if (head >> 2 > NR_LIMBS ||
	    (head >> 2 && (!str_take_varint(bytes, &low) || low + (head >> 2) > NR_LIMBS)))
		return false;
	s->is_double = head & 1;
	if (!(head >> 2))
		return true;
	cover(s, (unsigned)low, (unsigned)(low + (head >> 2)) + 1);
	for (unsigned i = 0; i < head >> 2; i++) {
		if (!str_take_varint(bytes, &limb) || limb > UINT32_MAX) {
			sum_done(s);
			return false;
		}
		s->limbs[i] = head & 2 ? -(int64_t)limb : (int64_t)limb;
	}
	carry(s);
	return true;
}
