/*
 * What varies from line to line is a token (a run of bytes that no blank, bracket, quote or sign
 * parts) with a digit in it, a path, or a stretch in quotes; the path behind an HTTP method is kept
 * but for the parts that vary, because it says what was asked for. Neighbouring masks melt into
 * one, so that a list is one mask however long it is.
 *
 * Titles are made for most lines of some logs, so bytes are judged sixteen at a time first: one bit
 * set says which part tokens, the other which are odd, that is, cannot be copied as they are. The
 * pass then goes from one odd byte to the next and copies what is between.
 */
#include "source/title.h"

#include <ctype.h>

#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MASK STR("<*>")
#define READ_BYTES_MAX 1024 /* of the line: what comes later hardly ever reaches the title */
#define NR_WORDS (READ_BYTES_MAX / 64 + 1)
#define VECTOR 16

struct line {
	struct str text;          /* in copy */
	uint64_t parts[NR_WORDS]; /* bytes that part tokens */
	uint64_t odd[NR_WORDS];   /* digits, quotes, slashes that begin a token, controls and every
				     blank behind another one, bytes that are not ASCII */
	char copy[READ_BYTES_MAX + VECTOR]; /* so that whole vectors may be read over the end */
};

struct writer {
	char out[TITLE_BYTES_MAX + VECTOR];
	size_t n;
	size_t mask_end; /* where the last mask ended, if what follows may melt into it; else 0 */
	bool full;
};

/* --- bits for bytes ------------------------------------------------------------------------ */

/* What one vector says of its bytes, a bit for each. */
struct judged {
	uint32_t parts, blanks, slashes, odd;
};

#ifdef __SSE2__
static __m128i in_range(__m128i v, int first, int last)
{
	__m128i from = _mm_sub_epi8(v, _mm_set1_epi8((char)first));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static __m128i is_char(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static __m128i either(__m128i a, __m128i b)
{
	return _mm_or_si128(a, b);
}

static uint32_t bits_of(__m128i v)
{
	return (uint32_t)_mm_movemask_epi8(v);
}

/* Parts: controls and blank ! "  & ' ( ) * + ,  : ; < = > ?  and, with a bit set, [ \ ] { | } */
static struct judged judge(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i folded = either(v, _mm_set1_epi8(0x20));
	__m128i low = either(in_range(v, 0, '"'), in_range(v, '&', ','));
	__m128i top = either(in_range(v, ':', '?'), in_range(folded, '{', '}'));
	__m128i quote = either(is_char(v, '"'), is_char(v, '\''));
	__m128i odd = either(in_range(v, '0', '9'), either(in_range(v, 0, 0x1f), quote));

	return (struct judged){ .parts = bits_of(either(low, top)),
				.blanks = bits_of(in_range(v, 0, ' ')),
				.slashes = bits_of(is_char(v, '/')),
				.odd = bits_of(either(odd, v)) };
}
#else
static struct judged judge(const char *p)
{
	struct judged j = { 0 };

	for (unsigned i = 0; i < VECTOR; i++) {
		unsigned char c = (unsigned char)p[i];
		bool part = c <= '"' || strchr("&'()*+,:;<=>?[\\]{|}", c);
		bool odd = (c >= '0' && c <= '9') || c < ' ' || c == '"' || c == '\'' || c >= 0x80;

		j.parts |= (uint32_t)part << i;
		j.blanks |= (uint32_t)(c <= ' ') << i;
		j.slashes |= (uint32_t)(c == '/') << i;
		j.odd |= (uint32_t)odd << i;
	}
	return j;
}
#endif

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
	uint32_t part_before = 1, blank_before = 0;

	l->text = (struct str){ l->copy, from.n };
	if (from.n)
		memcpy(l->copy, from.p, from.n);
	memset(l->copy + from.n, ' ', VECTOR);
	for (size_t i = 0; i <= from.n; i += VECTOR) {
		struct judged j = judge(l->copy + i);
		uint64_t parts = j.parts, odd = j.odd;

		odd |= j.slashes & (j.parts << 1 | part_before);
		odd |= j.blanks & (j.blanks << 1 | blank_before);
		part_before = j.parts >> (VECTOR - 1);
		blank_before = j.blanks >> (VECTOR - 1);
		if (i % 64 == 0)
			l->parts[i / 64] = l->odd[i / 64] = 0;
		l->parts[i / 64] |= parts << (i % 64);
		l->odd[i / 64] |= odd << (i % 64);
	}
}

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

/* Where the token that holds this place begins, but not before least. */
static size_t token_start(const struct line *l, size_t at, size_t least)
{
	size_t word = at / 64;
	uint64_t before = l->parts[word] & ((1ULL << (at % 64)) - 1);

	while (!before && word > least / 64)
		before = l->parts[--word];
	if (!before)
		return least;
	at = word * 64 + 64 - (size_t)__builtin_clzll(before);
	return at > least ? at : least;
}

/* --- writing ------------------------------------------------------------------------------- */

static void put_char(struct writer *w, char c)
{
	if (w->n < TITLE_BYTES_MAX)
		w->out[w->n++] = c;
	else
		w->full = true;
}

/* Whole or not at all: half a character or half a mask would be another title. */
static void put_whole(struct writer *w, struct str s)
{
	w->full = w->full || w->n + s.n > TITLE_BYTES_MAX;
	if (w->full)
		return;
	memcpy(w->out + w->n, s.p, s.n);
	w->n += s.n;
}

/* A mask, unless only signs that join the parts of one value stand between here and the last. */
static void put_mask(struct writer *w)
{
	if (w->mask_end) {
		w->n = w->mask_end;
		return;
	}
	put_whole(w, MASK);
	w->mask_end = w->full ? 0 : w->n;
}

static bool joins(char c)
{
	return c == ' ' || c == ':' || (c >= '+' && c <= '/') || c == '_' || c == '@';
}

/* Bytes of the line that need no care, whole vectors at a time; cut where the title is full. */
static void put_plain(struct writer *w, const struct line *l, size_t from, size_t to)
{
	size_t room = TITLE_BYTES_MAX - w->n, n = to - from;

	if (n > room) {
		n = room;
		w->full = true;
	}
	for (size_t i = 0; i < n; i += VECTOR)
		memcpy(w->out + w->n + i, l->copy + from + i, VECTOR);
	w->n += n;
	for (size_t i = from; w->mask_end && i < to; i++)
		if (!joins(l->copy[i]))
			w->mask_end = 0;
}

/* A character that is valid, or a question mark for one byte that is not; how long it was. */
static size_t put_character(struct writer *w, struct str s)
{
	size_t n = utf8_length(s);

	w->mask_end = 0;
	put_whole(w, n ? str_head(s, n) : STR("?"));
	return n ? n : 1;
}

/* --- what is odd --------------------------------------------------------------------------- */

/* Whether an HTTP method and one blank stand before this place. */
static bool follows_method(const struct line *l, size_t at)
{
	static const struct str methods[] = { STR("GET"),    STR("POST"),  STR("PUT"),
					      STR("DELETE"), STR("PATCH"), STR("HEAD"),
					      STR("OPTIONS") };
	struct str before = at ? str_head(l->text, at - 1) : STR("");
	struct str word = str_skip(before, token_start(l, before.n, 0));

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (str_eq(word, methods[i]))
			return true;
	return false;
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (isdigit((unsigned char)s.p[i]))
			return true;
	return false;
}

/* "/api/orders/17" asked for by a method: the parts that vary are masked one by one. */
static void put_path(struct writer *w, struct str path)
{
	while (path.n && !w->full) {
		size_t n = str_find_char(path, '/');
		struct str part = str_head(path, n);

		w->mask_end = 0;
		if (has_digit(part))
			put_mask(w);
		else
			while (part.n && !w->full)
				part = str_skip(part, put_character(w, part));
		path = str_skip(path, n);
		if (str_take_char(&path, '/'))
			put_char(w, '/');
	}
}

/* A token that varies, with a digit or the slash of a path at this place; where it ends. */
static size_t put_token(struct writer *w, const struct line *l, size_t from, size_t at)
{
	size_t start = token_start(l, at, from), end = next_bit(l->parts, at, l->text.n);

	put_plain(w, l, from, start);
	if (l->copy[start] == '/' && follows_method(l, start))
		put_path(w, (struct str){ l->copy + start, end - start });
	else if (l->copy[at] == '/' && end - at == 1)
		put_plain(w, l, start, end);
	else
		put_mask(w);
	return end;
}

/* A quoted stretch, or the sign alone where none begins, as an apostrophe; where it ends. */
static size_t put_quote(struct writer *w, const struct line *l, size_t at)
{
	struct str rest = str_skip(l->text, at + 1);
	size_t n = rest.n;

	if (!at || !isalnum((unsigned char)l->copy[at - 1]))
		n = str_find_char(rest, l->copy[at]);
	if (n == rest.n) {
		w->mask_end = 0;
		put_char(w, l->copy[at]);
		return at + 1;
	}
	put_mask(w);
	return at + n + 2;
}

/* Copies up to the next odd byte and deals with that; where to go on. */
static size_t step(struct writer *w, const struct line *l, size_t from)
{
	size_t at = next_bit(l->odd, from, l->text.n);
	char c = l->copy[at];

	if (at < l->text.n && (c == '/' || (c >= '0' && c <= '9')))
		return put_token(w, l, from, at);
	put_plain(w, l, from, at);
	if (at == l->text.n || w->full)
		return l->text.n;
	if (c == '"' || c == '\'')
		return put_quote(w, l, at);
	if ((unsigned char)c >= 0x80)
		return at + put_character(w, str_skip(l->text, at));
	if (w->n && w->out[w->n - 1] != ' ')
		put_char(w, ' ');
	return at + 1;
}

struct str title_mask(struct arena *a, struct str text)
{
	struct writer w;
	struct line l;
	size_t at = 0;

	w.n = w.mask_end = 0;
	w.full = false;
	line_init(&l, text);
	while (at < l.text.n && !w.full)
		at = step(&w, &l, at);
	while (w.n && w.out[w.n - 1] == ' ')
		w.n--;
	return arena_str(a, (struct str){ w.out, w.n });
}
