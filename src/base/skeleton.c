#include "base/skeleton.h"

#ifdef __SSE2__
#include <emmintrin.h>

static inline void put_16(char *to, const char *from)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)from);
	__m128i past = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(past, _mm_set1_epi8(9)), past);

	/* what it is past the zero is taken away */
	_mm_storeu_si128((__m128i *)(void *)to, _mm_sub_epi8(v, _mm_and_si128(digit, past)));
}
#else
static inline void put_16(char *to, const char *from)
{
	for (int i = 0; i < 16; i++)
		to[i] = from[i] >= '0' && from[i] <= '9' ? '0' : from[i];
}
#endif

bool skeleton_begin(struct skeleton *k, struct str text)
{
	char copy[16] = { 0 };

	if (text.n > SKELETON_BYTES)
		return false;
	k->n = text.n;
	if (text.n < 16) {
		if (text.n)
			memcpy(copy, text.p, text.n);
		put_16(k->text, copy);
		return true;
	}
	for (size_t i = 0; i + 16 < text.n; i += 16)
		put_16(k->text + i, text.p + i);
	put_16(k->text + text.n - 16, text.p + text.n - 16);
	return true;
}

bool skeleton_add(struct skeleton *k, struct str more)
{
	if (more.n > SKELETON_BYTES - k->n)
		return false;
	if (more.n)
		memcpy(k->text + k->n, more.p, more.n);
	k->n += more.n;
	return true;
}

void skeleton_end(struct skeleton *k)
{
	k->hash = str_hash((struct str){ k->text, k->n });
}
