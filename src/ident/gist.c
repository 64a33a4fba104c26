/*
 * Bytes are judged sixteen at a time: a bit for each that is a digit, and one for each that is a
 * letter or digit. Then the walk goes from one run of digits to the next and copies what is
 * between. Only where a run is part of a long word of letters and digits are these looked at.
 */
#include "ident/gist.h"

#include <string.h>

#include "ident/chars.h"
#include "ident/token.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { VECTOR = 16, WORDS = GIST_BYTES / 64 + 2, HEX_MIN = 8 };
enum { SIGN_HEX = 1, SIGN_UUID = 2, SIGN_OX = 3 };

struct bits {
	uint64_t digit[WORDS], alnum[WORDS];
};

#ifdef __SSE2__
static inline __m128i in_range(__m128i v, int first, int last)
{
	__m128i from = _mm_sub_epi8(v, _mm_set1_epi8((char)first));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static inline void judge(const char *p, uint64_t *digit, uint64_t *alnum)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i d = in_range(v, '0', '9');
	__m128i l = in_range(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 'z');

	*digit = (uint32_t)_mm_movemask_epi8(d);
	*alnum = (uint32_t)_mm_movemask_epi8(_mm_or_si128(d, l));
}
#else
static inline void judge(const char *p, uint64_t *digit, uint64_t *alnum)
{
	*digit = *alnum = 0;
	for (unsigned i = 0; i < VECTOR; i++) {
		*digit |= (uint64_t)chars_is(p[i], CHAR_DIGIT) << i;
		*alnum |= (uint64_t)chars_is(p[i], CHAR_ALNUM) << i;
	}
}
#endif

static void judge_all(struct bits *b, struct str text)
{
	size_t words = text.n / 64 + 2;
	uint64_t digit, alnum;
	char tail[VECTOR] = { 0 };
	size_t i = 0;

	memset(b->digit, 0, words * sizeof(*b->digit));
	memset(b->alnum, 0, words * sizeof(*b->alnum));
	for (; i + VECTOR <= text.n; i += VECTOR) {
		judge(text.p + i, &digit, &alnum);
		b->digit[i / 64] |= digit << (i % 64);
		b->alnum[i / 64] |= alnum << (i % 64);
	}
	if (i == text.n)
		return;
	memcpy(tail, text.p + i, text.n - i);
	judge(tail, &digit, &alnum);
	b->digit[i / 64] |= digit << (i % 64);
	b->alnum[i / 64] |= alnum << (i % 64);
}

/* The first bit at or after this place that is set; the limit when there is none. */
static inline size_t next_set(const uint64_t *bits, size_t at, size_t limit)
{
	size_t word = at / 64;
	uint64_t left = bits[word] >> (at % 64);

	if (left)
		return at + (size_t)__builtin_ctzll(left);
	while (++word * 64 < limit)
		if (bits[word])
			return word * 64 + (size_t)__builtin_ctzll(bits[word]);
	return limit;
}

/* The first that is not: one word more is always clear. */
static inline size_t next_clear(const uint64_t *bits, size_t at)
{
	size_t word = at / 64;
	uint64_t left = ~bits[word] >> (at % 64);

	if (left)
		return at + (size_t)__builtin_ctzll(left);
	while (!~bits[++word])
		;
	return word * 64 + (size_t)__builtin_ctzll(~bits[word]);
}

/* Where the word of letters and digits begins that this digit is in, not before from. */
static inline size_t word_start(const uint64_t *alnum, size_t at, size_t from)
{
	while (at > from && (alnum[(at - 1) / 64] >> ((at - 1) % 64) & 1))
		at--;
	return at;
}

/* What stands for the digits at *from, which may turn out to be part of more. */
static char sign_of(const struct bits *b, struct str text, size_t done, size_t *from, size_t *to)
{
	size_t start = word_start(b->alnum, *from, done), end = next_clear(b->alnum, *from);
	struct str word = { text.p + start, end - start };

	/* the rest of a word that had digits before is no number of its own */
	if (start && start == done && chars_is(text.p[start - 1], CHAR_ALNUM))
		word.n = end = 0;
	if (word.n == HEX_MIN && token_is_uuid(str_skip(text, start))) {
		*from = start;
		*to = start + TOKEN_UUID_BYTES;
		return SIGN_UUID;
	}
	if (word.n > 2 && (word.n >= HEX_MIN || word.p[1] == 'x' || word.p[1] == 'X') &&
	    token_is_hex(word)) {
		*from = start;
		*to = end;
		return word.p[1] > 'f' || word.p[1] == 'X' ? SIGN_OX : SIGN_HEX;
	}
	*to = next_clear(b->digit, *from);
	switch (token_digits(*to - *from)) {
	case 1:
		return '0';
	case 4:
		return '4';
	default:
		return '9';
	}
}

/* Most stretches are short: a fixed number of bytes is copied at once. */
static inline char *copy(char *to, const char *end, const char *from, size_t n, const char *limit)
{
	if (n <= VECTOR && from + VECTOR <= limit && to + VECTOR <= end)
		memcpy(to, from, VECTOR);
	else
		memcpy(to, from, n);
	return to + n;
}

/* The digit of %2C, a comma in the name of a file. */
static bool is_escaped(struct str text, size_t at)
{
	return at && text.p[at - 1] == '%' && at + 1 < text.n && text.p[at] == '2' &&
	       (text.p[at + 1] | 0x20) == 'c';
}

bool gist_make(struct gist *g, struct str text)
{
	const char *limit = text.p + text.n, *end = g->text + sizeof(g->text);
	struct bits b;
	char *to = g->text;
	size_t done = 0;

	if (text.n > GIST_BYTES)
		return false;
	judge_all(&b, text);
	g->nr = 0;
	for (;;) {
		size_t from = next_set(b.digit, done, text.n), past;
		char sign;

		if (from >= text.n)
			break;
		if (is_escaped(text, from)) {
			to = copy(to, end, text.p + done, from + 2 - done, limit);
			done = from + 2;
			continue;
		}
		if (g->nr == GIST_RUNS)
			return false;
		sign = sign_of(&b, text, done, &from, &past);
		to = copy(to, end, text.p + done, from - done, limit);
		*to++ = sign;
		g->starts[g->nr] = (uint16_t)from;
		g->ends[g->nr++] = (uint16_t)past;
		done = past;
	}
	if (done < text.n)
		to = copy(to, end, text.p + done, text.n - done, limit);
	g->n = (size_t)(to - g->text);
	g->hash = str_hash((struct str){ g->text, g->n });
	return true;
}

bool gist_note(const struct gist *g, size_t at, struct gist_place *place)
{
	size_t run = 0;

	while (run < g->nr && g->ends[run] <= at)
		run++;
	if (run < g->nr && g->starts[run] < at)
		return false;
	*place =
		(struct gist_place){ (uint16_t)run, (uint16_t)(at - (run ? g->ends[run - 1] : 0)) };
	return true;
}
