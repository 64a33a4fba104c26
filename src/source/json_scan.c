/*
 * The text is read 64 bytes at a time into bit masks (one bit a byte): quotes, backslashes, opening
 * and closing brackets. Quotes that no backslash escapes, folded by a running exclusive or, mark
 * what is inside strings; brackets there do not count. As long as a block cannot close the
 * outermost bracket its brackets are only counted, so a value is passed over at memory speed.
 */
#include "source/json_scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK 64
#define EVEN 0x5555555555555555ULL
#define DEPTH_MAX 1024 /* what the parser accepts as well */

struct masks {
	uint64_t quote, backslash, open, close;
};

#ifdef __SSE2__

static uint64_t mask_of(const __m128i v[4], char c)
{
	const __m128i want = _mm_set1_epi8(c);
	uint64_t m = 0;

	for (unsigned i = 0; i < 4; i++)
		m |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], want)) << (16 * i);
	return m;
}

/* '[' and '{' differ in one bit, and so do ']' and '}': with that bit set they are equal. */
static struct masks masks_of(const char *p)
{
	const __m128i bit = _mm_set1_epi8(0x20);
	__m128i v[4], w[4];

	for (unsigned i = 0; i < 4; i++) {
		v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
		w[i] = _mm_or_si128(v[i], bit);
	}
	return (struct masks){ mask_of(v, '"'), mask_of(v, '\\'), mask_of(w, '{'),
			       mask_of(w, '}') };
}

#else

static struct masks masks_of(const char *p)
{
	struct masks m = { 0 };

	for (unsigned i = 0; i < BLOCK; i++) {
		uint64_t bit = 1ULL << i;

		m.quote |= p[i] == '"' ? bit : 0;
		m.backslash |= p[i] == '\\' ? bit : 0;
		m.open |= p[i] == '{' || p[i] == '[' ? bit : 0;
		m.close |= p[i] == '}' || p[i] == ']' ? bit : 0;
	}
	return m;
}

#endif

/* Bytes that a backslash in front escapes: those behind an odd run of backslashes. */
static uint64_t escaped_of(struct json_scan *s, uint64_t backslash)
{
	uint64_t follows, odd_starts, escaped, sum;
	bool carry;

	if (!backslash) {
		escaped = s->after_escape;
		s->after_escape = false;
		return escaped;
	}
	backslash &= ~(uint64_t)s->after_escape;
	follows = backslash << 1 | s->after_escape;
	odd_starts = backslash & ~EVEN & ~follows;
	carry = __builtin_add_overflow(odd_starts, backslash, &sum);
	s->after_escape = carry;
	return (EVEN ^ sum << 1) & follows;
}

/* Bit i becomes the parity of bits 0..i. */
static uint64_t parity_of(uint64_t m)
{
	m ^= m << 1;
	m ^= m << 2;
	m ^= m << 4;
	m ^= m << 8;
	m ^= m << 16;
	m ^= m << 32;
	return m;
}

/* Walks the brackets of one block; the position behind the one that closes all, or 0. */
static unsigned close_in(struct json_scan *s, uint64_t open, uint64_t close)
{
	uint64_t both = open | close;

	while (both) {
		unsigned i = (unsigned)__builtin_ctzll(both);

		both &= both - 1;
		if (open >> i & 1)
			s->depth++;
		else if (s->depth-- <= 1)
			return i + 1;
	}
	return 0;
}

/* One block of which nr bytes count: the position behind the end of the value, or 0. */
static unsigned scan_block(struct json_scan *s, const char *p, unsigned nr)
{
	struct masks m = masks_of(p);
	uint64_t valid = nr < BLOCK ? (1ULL << nr) - 1 : ~0ULL;
	uint64_t inside, quote = m.quote & ~escaped_of(s, m.backslash & valid) & valid;
	uint64_t closes;

	inside = parity_of(quote) ^ (s->in_string ? ~0ULL : 0);
	s->in_string = inside >> (nr - 1) & 1;
	m.open &= ~inside & valid;
	m.close &= ~inside & valid;
	closes = (uint64_t)__builtin_popcountll(m.close);
	if (s->depth > closes) {
		s->depth += (uint64_t)__builtin_popcountll(m.open) - closes;
		return 0;
	}
	return close_in(s, m.open, m.close);
}

/* The last bytes of a text, fewer than a block; whether a backslash stays open is told apart. */
static unsigned scan_tail(struct json_scan *s, const char *p, unsigned nr)
{
	char block[BLOCK] = { 0 };
	bool was_escaped = s->after_escape;
	unsigned end, run = 0;

	memcpy(block, p, nr);
	end = scan_block(s, block, nr);
	while (run < nr && p[nr - 1 - run] == '\\')
		run++;
	s->after_escape = (run & 1) ^ (run == nr && was_escaped);
	return end;
}

bool json_scan_value(struct json_scan *s, struct str text, size_t *at)
{
	size_t i = *at;
	unsigned end = 0;

	for (; text.n - i >= BLOCK; i += BLOCK) {
		end = scan_block(s, text.p + i, BLOCK);
		if (end)
			break;
	}
	if (!end && i < text.n) {
		end = scan_tail(s, text.p + i, (unsigned)(text.n - i));
		if (!end)
			i = text.n;
	}
	*at = i + end;
	if (end)
		*s = (struct json_scan){ 0 };
	return end;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

size_t json_scan_space(struct str text, size_t at)
{
	while (at < text.n && is_space(text.p[at]))
		at++;
	return at;
}

size_t json_scan_string(struct str text, size_t at)
{
	for (at++; at < text.n; at++) {
		if (text.p[at] == '"')
			return at + 1;
		if (text.p[at] == '\\')
			at++;
	}
	return 0;
}

size_t json_scan_word(struct str text, size_t at)
{
	while (at < text.n && !is_space(text.p[at]) && !strchr(",:[]{}\"", text.p[at]))
		at++;
	return at;
}

size_t json_scan_any(struct str text, size_t at)
{
	struct json_scan s = { 0 };
	size_t end = at;

	if (at >= text.n)
		return 0;
	if (text.p[at] == '{' || text.p[at] == '[')
		return json_scan_value(&s, text, &end) ? end : 0;
	if (text.p[at] == '"')
		return json_scan_string(text, at);
	end = json_scan_word(text, at);
	return end > at && end < text.n ? end : 0;
}

bool json_scan_is_json(struct str head)
{
	size_t at;

	str_take(&head, STR("\xef\xbb\xbf"));
	at = json_scan_space(head, 0);
	return at < head.n && (head.p[at] == '{' || head.p[at] == '[');
}

bool json_scan_is_lines(struct str head, bool whole)
{
	size_t at = json_scan_space(head, 0), end;

	if (at >= head.n || (head.p[at] != '{' && head.p[at] != '['))
		return false;
	end = json_scan_any(head, at);
	if (!end || memchr(head.p + at, '\n', end - at))
		return false;
	while (end < head.n && (head.p[end] == ' ' || head.p[end] == '\t' || head.p[end] == '\r'))
		end++;
	return end < head.n ? head.p[end] == '\n' : whole;
}

bool json_scan_has_key(struct str text, struct str name)
{
	size_t at;

	for (; (at = str_find(text, name)) < text.n; text = str_skip(text, at + 1)) {
		size_t end = at + name.n;

		if (!at || text.p[at - 1] != '"' || end >= text.n || text.p[end] != '"')
			continue;
		end = json_scan_space(text, end + 1);
		if (end < text.n && text.p[end] == ':')
			return true;
	}
	return false;
}

/* Behind the digits from at on; whether they are more than 64 bits can hold. */
static size_t pass_digits(struct str text, size_t at, bool *is_big)
{
	size_t start = at;

	while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9')
		at++;
	*is_big = at - start > 20 ||
		  (at - start == 20 && memcmp(text.p + start, "18446744073709551615", 20) > 0) ||
		  (at - start >= 19 && start && text.p[start - 1] == '-' &&
		   (at - start > 19 || memcmp(text.p + start, "9223372036854775808", 19) > 0));
	*is_big &= at >= text.n || !strchr(".eE", text.p[at]);
	return at;
}

bool json_scan_soften(struct str text, struct buf *out)
{
	size_t from = 0, at = 0, end;
	bool is_big;

	while (at < text.n) {
		char c = text.p[at];

		if (c == '"') {
			end = json_scan_string(text, at);
			if (!end)
				break;
			at = end;
		} else if (c >= '0' && c <= '9') {
			at = pass_digits(text, at, &is_big);
			if (!is_big)
				continue;
			buf_add(out, (struct str){ text.p + from, at - from });
			buf_add(out, STR(".0"));
			from = at;
		} else {
			at++;
		}
	}
	if (from)
		buf_add(out, str_skip(text, from));
	return from;
}

/* What is open at a byte of a text that is being mended. */
struct mend {
	const struct json_units *units;
	struct str text;
	char stack[DEPTH_MAX];
	size_t depth;
	size_t unit_depth; /* of the array of units that is open, 0 for none */
	bool seen_unit;
	struct str key;        /* the last string seen */
	size_t key_end;        /* and where it ended */
	size_t cut, cut_depth; /* the last good place to cut */
};

static bool is_unit_array(const struct mend *m, size_t at)
{
	size_t colon = m->key_end ? json_scan_space(m->text, m->key_end) : at;
	size_t next;

	if (colon >= at || m->text.p[colon] != ':' || json_scan_space(m->text, colon + 1) != at) {
		next = json_scan_space(m->text, at + 1);
		return m->units->nameless && next < m->text.n && m->text.p[next] != '[';
	}
	for (size_t i = 0; i < m->units->nr_arrays; i++)
		if (str_eq(m->key, m->units->arrays[i]))
			return true;
	return false;
}

static bool mend_open(struct mend *m, size_t at)
{
	char c = m->text.p[at];

	if (m->depth == DEPTH_MAX)
		return false;
	m->stack[m->depth++] = c == '{' ? '}' : ']';
	if (!m->unit_depth && c == '[' && is_unit_array(m, at)) {
		m->unit_depth = m->depth;
		m->seen_unit = true;
	}
	return true;
}

static bool mend_close(struct mend *m, size_t at)
{
	if (!m->depth || m->stack[m->depth - 1] != m->text.p[at])
		return false;
	if (--m->depth < m->unit_depth)
		m->unit_depth = 0;
	if (m->unit_depth ? m->depth == m->unit_depth : m->seen_unit) {
		m->cut = at + 1;
		m->cut_depth = m->depth;
	}
	return true;
}

/* Takes the text up to where it ends, its value ends, or it goes wrong. */
static void mend_walk(struct mend *m)
{
	size_t end;

	for (size_t at = 0; at < m->text.n; at++) {
		char c = m->text.p[at];

		if (c == '"') {
			end = json_scan_string(m->text, at);
			if (!end)
				return;
			m->key = (struct str){ m->text.p + at + 1, end - at - 2 };
			m->key_end = end;
			at = end - 1;
		} else if (c == '{' || c == '[') {
			if (!mend_open(m, at))
				return;
		} else if (c == '}' || c == ']') {
			if (!mend_close(m, at) || !m->depth)
				return;
		} else if (c == '\\') {
			return; /* stands in strings only */
		}
	}
}

bool json_scan_mend(struct str text, const struct json_units *units, struct buf *out)
{
	struct mend m = { .units = units, .text = text };

	mend_walk(&m);
	if (!m.cut)
		return false;
	buf_add(out, str_head(text, m.cut));
	while (m.cut_depth)
		buf_char(out, m.stack[--m.cut_depth]);
	return true;
}
