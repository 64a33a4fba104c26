#include "infer/requests/tokens_marks.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* Of one block, by itself. */
struct block {
	uint64_t word, digit, under, minus, slash;
};

#ifdef __SSE2__
static inline __m128i is_in(__m128i v, char first, char last)
{
	__m128i from = _mm_sub_epi8(v, _mm_set1_epi8(first));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static inline uint64_t bits_of(__m128i v, int at)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(v) << at;
}

static inline struct block look_at(const char *p)
{
	struct block b = { 0 };

	for (int i = 0; i < BLOCK; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i digit = is_in(v, '0', '9');
		__m128i under = _mm_cmpeq_epi8(v, _mm_set1_epi8('_'));
		__m128i letter = is_in(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 'z');

		b.digit |= bits_of(digit, i);
		b.under |= bits_of(under, i);
		b.word |= bits_of(_mm_or_si128(_mm_or_si128(digit, under), letter), i);
		b.minus |= bits_of(_mm_cmpeq_epi8(v, _mm_set1_epi8('-')), i);
		b.slash |= bits_of(_mm_cmpeq_epi8(v, _mm_set1_epi8('/')), i);
	}
	return b;
}
#else
static struct block look_at(const char *p)
{
	struct block b = { 0 };

	for (int i = 0; i < BLOCK; i++) {
		char c = p[i], small = (char)(c | 0x20);
		uint64_t bit = 1ULL << i;

		b.digit |= c >= '0' && c <= '9' ? bit : 0;
		b.under |= c == '_' ? bit : 0;
		b.word |= (small >= 'a' && small <= 'z') ? bit : 0;
		b.minus |= c == '-' ? bit : 0;
		b.slash |= c == '/' ? bit : 0;
	}
	b.word |= b.digit | b.under;
	return b;
}
#endif

/* What ends early is looked at in a copy, so that nothing behind the text is read. */
static struct block look_at_end(const char *p, size_t n)
{
	char copy[BLOCK] = { 0 };

	memcpy(copy, p, n);
	return look_at(copy);
}

/* What stands at the front of a UUID has minus signs 8 and 13 places further. */
static inline uint64_t fronts(uint64_t starts, uint64_t minus, uint64_t next_minus)
{
	return starts & (minus >> 8 | next_minus << 56) & (minus >> 13 | next_minus << 51);
}

void marks_of(struct marks *m, struct str text)
{
	struct block b = { 0 }, next = { 0 };
	uint64_t under_before = 0, word_before = 0;
	size_t nr = text.n / BLOCK + 1;

	if (text.n)
		next = text.n >= BLOCK ? look_at(text.p) : look_at_end(text.p, text.n);
	for (size_t i = 0; i < nr; i++) {
		size_t at = (i + 1) * BLOCK;

		b = next;
		next = (struct block){ 0 };
		if (at < text.n)
			next = text.n - at >= BLOCK ? look_at(text.p + at)
						    : look_at_end(text.p + at, text.n - at);
		/* blk_-17 is one word */
		b.word |=
			b.minus & (b.under << 1 | under_before) & (b.digit >> 1 | next.digit << 63);
		m->word[i] = b.word;
		m->digit[i] = b.digit;
		m->look[i] = b.digit | b.slash |
			     fronts(b.word & ~(b.word << 1 | word_before), b.minus, next.minus);
		under_before = b.under >> 63;
		word_before = b.word >> 63;
	}
}
