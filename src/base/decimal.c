#include "base/decimal.h"

/* The digits end at the end of out; as many zeros go in front as are needed for the least number
 * of digits. */
static char *put_digits(char *end, uint64_t value, unsigned least)
{
	char *p = end;

	for (; value || end - p < (int)least; value /= 10)
		*--p = (char)('0' + value % 10);
	return p;
}

static struct str put(char *from, const char *end, bool negative)
{
	if (negative)
		*--from = '-';
	return (struct str){ from, (size_t)(end - from) };
}

struct str decimal_uint(char out[DECIMAL_BYTES], uint64_t value)
{
	char *end = out + DECIMAL_BYTES;

	return put(put_digits(end, value, 1), end, false);
}

struct str decimal_int(char out[DECIMAL_BYTES], int64_t value)
{
	char *end = out + DECIMAL_BYTES;
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	return put(put_digits(end, size, 1), end, value < 0);
}

/*
 * A double is m / 2^shift. What is before the point and the parts behind it are whole numbers
 * of at most 83 bits, so the rounding is exact: to nearest, and ties to even as the C library does.
 */
struct str decimal_fixed(char out[DECIMAL_BYTES], double value, unsigned places)
{
	static const uint32_t powers[] = { 1,      10,      100,      1000,      10000,
					   100000, 1000000, 10000000, 100000000, 1000000000 };
	char *end = out + DECIMAL_BYTES, *p;
	uint64_t bits, m, whole, parts = 0;
	int shift;

	memcpy(&bits, &value, sizeof(bits));
	shift = 1075 - (int)(bits >> 52 & 0x7ff);
	m = bits & ((UINT64_C(1) << 52) - 1);
	if (shift < 0) /* 2^53 and more, infinite or no number */
		return STR("");
	m |= (uint64_t)(shift < 1075) << 52;
	whole = shift < 64 ? m >> shift : 0;
	if (shift && shift < 100) {
		uint64_t behind = shift < 64 ? m & ((UINT64_C(1) << shift) - 1) : m;
		unsigned __int128 product = (unsigned __int128)behind * powers[places];
		unsigned __int128 rest = product & (((unsigned __int128)1 << shift) - 1);
		unsigned __int128 half = (unsigned __int128)1 << (shift - 1);

		parts = (uint64_t)(product >> shift);
		parts += rest > half || (rest == half && parts & 1);
		whole += parts == powers[places];
		parts %= powers[places];
	}
	p = put_digits(end, parts, places);
	*--p = '.';
	return put(put_digits(p, whole, 1), end, bits >> 63);
}
