/*
 * Blocks of 64 bytes become one word with a bit for each newline. Most lines of a log end within
 * two blocks, so this costs a few nanoseconds a line, and the test for strange bytes comes along
 * for the price of three instructions a vector. The plain C below says the same for any machine.
 */
#include "source/lines.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK 64

#ifdef __SSE2__
static uint64_t scan_block(const char *p, bool *strange)
{
	const __m128i newline = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
	__m128i odd = zero;
	uint64_t bits = 0;

	for (int i = 0; i < BLOCK; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));

		bits |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, newline)) << i;
		odd = _mm_or_si128(odd, _mm_or_si128(v, _mm_cmpeq_epi8(v, zero)));
	}
	*strange |= _mm_movemask_epi8(odd) != 0;
	return bits;
}
#else
static uint64_t scan_block(const char *p, bool *strange)
{
	uint64_t bits = 0;
	unsigned char odd = 0;

	for (int i = 0; i < BLOCK; i++) {
		unsigned char c = (unsigned char)p[i];

		bits |= (uint64_t)(c == '\n') << i;
		odd |= c & 0x80 || !c;
	}
	*strange |= odd != 0;
	return bits;
}
#endif

/* A block that ends early is looked at in a copy, so that nothing behind the text is read. */
static uint64_t scan(const char *p, const char *end, bool *strange)
{
	char copy[BLOCK];

	if (end - p >= BLOCK)
		return scan_block(p, strange);
	memset(copy, ' ', sizeof(copy));
	memcpy(copy, p, (size_t)(end - p));
	return scan_block(copy, strange);
}

struct lines lines_of(struct str bytes)
{
	struct lines l = { .at = bytes.p, .end = bytes.p + bytes.n, .block = bytes.p };

	if (bytes.n)
		l.newlines = scan(l.block, l.end, &l.strange);
	return l;
}

static bool hand_out(struct lines *l, const char *stop, const char *next, bool strange,
		     struct line *line)
{
	line->text = (struct str){ l->at, (size_t)(stop - l->at) };
	line->strange = strange;
	if (line->text.n && stop[-1] == '\r')
		line->text.n--;
	l->at = next;
	return true;
}

bool lines_next(struct lines *l, struct line *line)
{
	bool strange = l->strange, here = strange;

	if (l->at == l->end)
		return false;
	while (!l->newlines) {
		if (l->end - l->block <= BLOCK)
			return hand_out(l, l->end, l->end, strange, line);
		l->block += BLOCK;
		here = false;
		l->newlines = scan(l->block, l->end, &here);
		strange |= here;
	}
	const char *stop = l->block + __builtin_ctzll(l->newlines);

	l->newlines &= l->newlines - 1;
	l->strange = here; /* the rest of the block belongs to the next line */
	return hand_out(l, stop, stop + 1, strange, line);
}

#ifdef __SSE2__
/* Each byte of sum counts the newlines of its column, so it is emptied before it can run over. */
static uint64_t count_vectors(const char *p, size_t nr_vectors)
{
	const __m128i newline = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
	uint64_t nr = 0;

	while (nr_vectors) {
		size_t some = nr_vectors < 255 ? nr_vectors : 255;
		__m128i sum = zero;

		nr_vectors -= some;
		for (; some; some--, p += 16) {
			__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

			sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(v, newline));
		}
		sum = _mm_sad_epu8(sum, zero);
		nr += (uint64_t)_mm_cvtsi128_si64(sum) +
		      (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
	}
	return nr;
}
#endif

uint64_t lines_count(struct str bytes)
{
	uint64_t nr = 0;

#ifdef __SSE2__
	nr = count_vectors(bytes.p, bytes.n / 16);
	bytes = str_skip(bytes, bytes.n & ~(size_t)15);
#endif
	for (size_t i = 0; i < bytes.n; i++)
		nr += bytes.p[i] == '\n';
	return nr;
}
