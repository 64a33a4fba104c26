/*
 * One pass over the tokens of the line. A token is a run of bytes that no blank, bracket, quote or
 * sign parts; it varies when it holds a digit, looks like a hash, or is a path (the path behind an
 * HTTP method is kept, but for its varying parts: it says what was asked for). What is quoted
 * varies. Neighbouring masks melt into one, so that a list is one mask however long it is.
 *
 * Titles are made for most lines of some logs, so the bytes are judged sixteen at a time first: bit
 * sets say which part tokens, which are digits and which are not ASCII, and the pass then goes from
 * bit to bit. The line is copied, so that whole vectors may be read and copied over its end.
 */
#include "source/title.h"

#include <ctype.h>

#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MASK STR("<*>")
#define READ_BYTES_MAX 1024 /* of the line: what comes later hardly ever reaches the title */
#define NR_WORDS (READ_BYTES_MAX / 64)
#define SLACK 16 /* bytes that a copy may write too many */

struct line {
	struct str text; /* in copy */
	uint64_t parts[NR_WORDS + 1], digits[NR_WORDS + 1], high[NR_WORDS + 1];
	bool ascii; /* no bit of high is set */
	char copy[READ_BYTES_MAX + 64];
};

struct writer {
	char out[TITLE_BYTES_MAX + SLACK];
	size_t n;
	size_t mask_end; /* where the last mask ended, if what follows may melt into it; else 0 */
	bool full;
};

/* --- bits for bytes ------------------------------------------------------------------------ */

#ifdef __SSE2__
static __m128i in_range(__m128i v, int first, int last)
{
	__m128i from = _mm_sub_epi8(v, _mm_set1_epi8((char)first));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static __m128i either(__m128i a, __m128i b)
{
	return _mm_or_si128(a, b);
}

static uint64_t bits_of(__m128i v, unsigned at)
{
	return (uint64_t)(uint16_t)_mm_movemask_epi8(v) << at;
}

/* Controls and blank ! "  & ' ( ) * + ,  : ; < = > ?  and, with one bit set, [ \ ] { | } */
static void judge(const char *p, uint64_t *parts, uint64_t *digits, uint64_t *high)
{
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
		__m128i low = either(in_range(v, 0, '"'), in_range(v, '&', ','));
		__m128i top = either(in_range(v, ':', '?'), in_range(folded, '{', '}'));

		*parts |= bits_of(either(low, top), i);
		*digits |= bits_of(in_range(v, '0', '9'), i);
		*high |= bits_of(v, i);
	}
}
#else
static void judge(const char *p, uint64_t *parts, uint64_t *digits, uint64_t *high)
{
	for (unsigned i = 0; i < 64; i++) {
		unsigned char c = (unsigned char)p[i];
		bool part = c <= '"' || strchr("&'()*+,:;<=>?[\\]{|}", c);

		*parts |= (uint64_t)part << i;
		*digits |= (uint64_t)(c >= '0' && c <= '9') << i;
		*high |= (uint64_t)(c >> 7) << i;
	}
}
#endif

/* The first bit that is set at or after this place, or the limit. */
static size_t next_bit(const uint64_t *bits, size_t at, size_t limit)
{
	size_t word = at / 64;
	uint64_t left = bits[word] >> (at % 64);

	if (left)
		at += (size_t)__builtin_ctzll(left);
	else
		for (at = limit; ++word * 64 < limit;)
			if (bits[word]) {
				at = word * 64 + (size_t)__builtin_ctzll(bits[word]);
				break;
			}
	return at < limit ? at : limit;
}

static struct str first_line(struct str text)
{
	struct str line = STR("");

	while (!line.n && str_take_line(&text, &line))
		line = str_trim(str_head(line, READ_BYTES_MAX));
	return line;
}

static void line_init(struct line *l, struct str text)
{
	struct str from = first_line(text);
	size_t nr = from.n / 64 + 1;

	l->text = (struct str){ l->copy, from.n };
	if (from.n)
		memcpy(l->copy, from.p, from.n);
	memset(l->copy + from.n, ' ', 64);
	l->ascii = true;
	for (size_t i = 0; i < nr; i++) {
		uint64_t parts = 0, digits = 0, high = 0;

		judge(l->copy + i * 64, &parts, &digits, &high);
		l->parts[i] = parts;
		l->digits[i] = digits;
		l->high[i] = high;
		l->ascii &= !high;
	}
}

/* --- writing ------------------------------------------------------------------------------- */

/* Whole or not at all: half a character or half a mask would be another title. */
static void put(struct writer *w, struct str s)
{
	if (w->full || w->n + s.n > TITLE_BYTES_MAX) {
		w->full = true;
		return;
	}
	memcpy(w->out + w->n, s.p, s.n);
	w->n += s.n;
}

static void put_char(struct writer *w, char c)
{
	if (w->n < TITLE_BYTES_MAX)
		w->out[w->n++] = c;
	else
		w->full = true;
}

/* A mask, unless only signs that join the parts of one value stand between here and the last. */
static void put_mask(struct writer *w)
{
	if (w->mask_end) {
		w->n = w->mask_end;
		return;
	}
	put(w, MASK);
	if (!w->full)
		w->mask_end = w->n;
}

/* Only what is valid text comes through; each other byte is a question mark. */
static void put_characters(struct writer *w, struct str s)
{
	while (s.n && !w->full) {
		size_t n = (unsigned char)s.p[0] < 0x80 ? 1 : utf8_length(s);

		if (n)
			put(w, str_head(s, n));
		else
			put_char(w, '?');
		s = str_skip(s, n ? n : 1);
	}
}

/* ASCII from the copy of the line, whole vectors at a time; cut where the title is full. */
static void put_ascii(struct writer *w, struct str s)
{
	size_t room = TITLE_BYTES_MAX - w->n, n = s.n < room ? s.n : room;

	for (size_t i = 0; i < n; i += SLACK)
		memcpy(w->out + w->n + i, s.p + i, SLACK);
	w->n += n;
	w->full = n < s.n;
}

static bool joins(char c)
{
	return c == ' ' || c == ',' || c == ':' || (c >= '+' && c <= '/') || c == '_' || c == '@';
}

static void put_text(struct writer *w, struct str s, bool ascii)
{
	if (s.n > 1 || !joins(s.p[0]))
		w->mask_end = 0;
	if (ascii)
		put_ascii(w, s);
	else
		put_characters(w, s);
}

/* Anything between tokens: blanks and controls become one blank. */
static void put_sign(struct writer *w, char c)
{
	if ((unsigned char)c <= ' ') {
		if (w->n && w->out[w->n - 1] != ' ')
			put_char(w, ' ');
		return;
	}
	if (!joins(c))
		w->mask_end = 0;
	put_char(w, c);
}

/* --- tokens -------------------------------------------------------------------------------- */

/* Long enough and made of hexadecimal digits only, though none of them is decimal. */
static bool is_hash(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)((s.p[i] | 0x20) - 'a') > 'f' - 'a')
			return false;
	return s.n >= 8;
}

static bool varies(const struct line *l, size_t from, size_t to)
{
	return next_bit(l->digits, from, to) < to ||
	       is_hash((struct str){ l->copy + from, to - from });
}

static bool is_ascii(const struct line *l, size_t from, size_t to)
{
	return l->ascii || next_bit(l->high, from, to) == to;
}

/* "/api/orders/17" asked for by a method: the parts that vary are masked one by one. */
static void put_path_parts(struct writer *w, const struct line *l, size_t from, size_t to)
{
	while (from < to && !w->full) {
		struct str rest = { l->copy + from, to - from };
		size_t end = from + str_find_char(rest, '/');

		w->mask_end = 0;
		if (varies(l, from, end))
			put_mask(w);
		else if (end > from)
			put_text(w, str_head(rest, end - from), is_ascii(l, from, end));
		if (end < to)
			put_char(w, '/');
		from = end + 1;
	}
}

static bool is_method(struct str s)
{
	static const struct str methods[] = { STR("GET"),    STR("POST"),  STR("PUT"),
					      STR("DELETE"), STR("PATCH"), STR("HEAD"),
					      STR("OPTIONS") };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (str_eq(s, methods[i]))
			return true;
	return false;
}

static void put_token(struct writer *w, const struct line *l, size_t from, size_t to,
		      struct str before)
{
	bool path = l->copy[from] == '/' && to - from > 1;

	if (path && is_method(before))
		put_path_parts(w, l, from, to);
	else if (path || varies(l, from, to))
		put_mask(w);
	else
		put_text(w, (struct str){ l->copy + from, to - from }, is_ascii(l, from, to));
}

/* Where the quoted stretch that begins here ends, or 0; an apostrophe in a word begins none. */
static size_t end_of_quote(const struct line *l, size_t at)
{
	char quote = l->copy[at];
	struct str rest = str_skip(l->text, at + 1);
	size_t n;

	if ((quote != '"' && quote != '\'') || (at && isalnum((unsigned char)l->copy[at - 1])))
		return 0;
	n = str_find_char(rest, quote);
	return n < rest.n ? at + n + 2 : 0;
}

struct str title_mask(struct arena *a, struct str text)
{
	struct str token = STR("");
	struct writer w;
	struct line l;
	size_t at = 0, end;

	w.n = w.mask_end = 0;
	w.full = false;
	line_init(&l, text);
	for (; at < l.text.n && !w.full; at = end) {
		end = next_bit(l.parts, at, l.text.n);
		if (end > at) {
			put_token(&w, &l, at, end, token);
			token = (struct str){ l.copy + at, end - at };
			continue;
		}
		end = end_of_quote(&l, at);
		if (end)
			put_mask(&w);
		else
			put_sign(&w, l.copy[at]);
		end = end ? end : at + 1;
	}
	while (w.n && w.out[w.n - 1] == ' ')
		w.n--;
	return arena_str(a, (struct str){ w.out, w.n });
}
