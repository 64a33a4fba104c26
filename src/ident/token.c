/*
 * One walk over the text. White space and brackets part tokens; signs within a word do so by what
 * stands around them. What has a shape of its own (a date, a path, an address, parts joined by
 * commas) is looked for first, where a token may begin.
 */
#include "ident/token.h"

#include <string.h>

#include "ident/chars.h"
#include "ident/look.h"

struct walk {
	struct tokens *t;
	struct str text;
	size_t at;
	uint16_t before;
};

static char char_at(const struct walk *w, size_t at)
{
	return at < w->text.n ? w->text.p[at] : 0;
}

static struct str rest_of(const struct walk *w)
{
	return str_skip(w->text, w->at);
}

static void add(struct walk *w, size_t from, size_t to, enum token_kind kind)
{
	if (w->t->nr == TOKENS_MAX) {
		w->t->is_cut = true;
		return;
	}
	w->t->v[w->t->nr++] = (struct token){ (uint16_t)from, (uint16_t)to, w->before, kind };
	w->before = 0;
}

/* Takes n bytes as a token. */
static void take(struct walk *w, size_t n, enum token_kind kind)
{
	add(w, w->at, w->at + n, kind);
	w->at += n;
}

static void pass(struct walk *w)
{
	uint16_t before;
	size_t n = chars_sign(rest_of(w), &before);

	w->before |= n ? before : chars_before(w->text.p[w->at]);
	w->at += n ? n : 1;
}

/* --- shapes of their own ------------------------------------------------------------------- */

static bool take_path(struct walk *w)
{
	struct str s = rest_of(w);
	size_t n;

	if (w->at && chars_is(w->text.p[w->at - 1], CHAR_WORD | CHAR_JOIN) &&
	    w->text.p[w->at - 1] != ':')
		return false;
	if (s.n > 1 && look_ip(str_skip(s, 1)))
		return false;
	n = look_path(s);
	if (!n)
		return false;
	take(w, n, TOKEN_PATH);
	return true;
}

/* The text at hand has the shape of a date, of parts joined, of a scheme with an address. */
static bool take_shape(struct walk *w)
{
	struct str s = rest_of(w);
	size_t n;

	if (chars_is(s.p[0], CHAR_DIGIT)) {
		n = look_date(s);
		if (n) {
			take(w, n, TOKEN_DATE);
			return true;
		}
		n = look_fraction(s);
		if (n) {
			take(w, n, TOKEN_FRACTION);
			return true;
		}
	}
	if (chars_is(s.p[0], CHAR_HEX) && token_is_uuid(s)) {
		take(w, TOKEN_UUID_BYTES, TOKEN_UUID);
		return true;
	}
	n = look_url(s);
	if (n) {
		take(w, n, TOKEN_URL);
		return true;
	}
	n = look_joined(s);
	if (n)
		take(w, n, TOKEN_JOINED);
	return n;
}

/* --- words --------------------------------------------------------------------------------- */

/* Whether the colon at this place, behind a word, parts it from what follows. */
static bool colon_parts(struct str word, struct str behind)
{
	bool is_plain = true;

	if (!behind.n || !chars_is(behind.p[0], CHAR_DIGIT) || look_ip(behind))
		return true;
	for (size_t i = 0; i < word.n && is_plain; i++)
		is_plain = chars_is(word.p[i], CHAR_LETTER | CHAR_UNDER);
	return is_plain && !str_eq(word, STR("localhost"));
}

/* Behind a host and its colon: where the port ends, if nothing else belongs to it. */
static size_t port_end(struct str s, size_t colon)
{
	size_t n = colon + 1;

	while (n < s.n && chars_is(s.p[n], CHAR_DIGIT))
		n++;
	return n < s.n && chars_is(s.p[n], CHAR_WORD) ? 0 : n;
}

/* "-0x17": a number of its own. */
static bool parts_number(struct str s)
{
	return s.n > 3 && s.p[0] == '-' && s.p[1] == '0' && s.p[2] == 'x' &&
	       chars_is(s.p[3], CHAR_HEX);
}

/* A sign, or where writing without blanks begins or ends. */
static bool parts_script(struct str rest, bool is_dense)
{
	unsigned char c = (unsigned char)rest.p[0];
	uint16_t before;

	if (c < 0x80)
		return is_dense;
	if (c < 0xc0)
		return false; /* within a character */
	return chars_is_dense(rest) != is_dense || chars_sign(rest, &before);
}

/* Where the word that begins here ends. */
static size_t word_end(struct str s)
{
	bool is_dense = chars_is_dense(s);
	size_t i = 0;

	for (; i < s.n; i++) {
		struct str rest = str_skip(s, i);
		char next = rest.n > 1 ? rest.p[1] : 0;

		if (i && parts_script(rest, is_dense))
			break;
		if (chars_is(s.p[i], CHAR_WORD))
			continue;
		if (!chars_is(s.p[i], CHAR_JOIN))
			break;
		if (s.p[i] == ':') {
			size_t end = port_end(s, i);

			if (colon_parts(str_head(s, i), str_skip(rest, 1)))
				break;
			if (end && (end >= s.n || s.p[end] != ':'))
				return end;
		}
		if ((s.p[i] == '-' && next == '>') || (s.p[i] == '@' && next == '/') ||
		    (i && parts_number(rest)))
			break;
	}
	return i;
}

/* Signs at the ends of a word belong to the sentence. */
static struct str trim(struct str s)
{
	while (s.n && strchr(".:-+~^", s.p[s.n - 1]))
		s.n--;
	while (s.n && strchr(".:~^@", s.p[0]))
		s = str_skip(s, 1);
	while (s.n > 1 && strchr("-+", s.p[0]) && strchr("-+", s.p[1]))
		s = str_skip(s, 1);
	return parts_number(s) ? str_skip(s, 1) : s;
}

/* "job_1_2Job": a word that follows without a blank. */
static size_t without_sentence(struct str s)
{
	size_t at = s.n;

	while (at && chars_is(s.p[at - 1], CHAR_LOWER))
		at--;
	if (at < 2 || s.n - at < 2 || !chars_is(s.p[at - 1], CHAR_UPPER) ||
	    !chars_is(s.p[at - 2], CHAR_DIGIT))
		return s.n;
	return memchr(s.p, '_', at) ? at - 1 : s.n;
}

static void take_word(struct walk *w)
{
	struct str s = str_head(rest_of(w), word_end(rest_of(w))), word = trim(s);
	size_t end = w->at + s.n, from, n;
	enum token_kind kind;

	if (!word.n) {
		w->before |= BEFORE_OTHER;
		w->at = end;
		return;
	}
	from = (size_t)(word.p - w->text.p);
	kind = token_look(word);
	n = kind == TOKEN_MIXED ? without_sentence(word) : word.n;
	add(w, from, from + n, kind);
	if (n < word.n)
		add(w, from + n, from + word.n, TOKEN_WORD);
	w->at = end;
	for (size_t i = from + word.n; i < end; i++)
		w->before |= chars_before(w->text.p[i]);
}

void tokens_cut(struct tokens *t, struct str text)
{
	struct walk w = { .t = t, .text = str_head(text, TOKENS_TEXT) };

	t->nr = 0;
	t->is_cut = text.n > TOKENS_TEXT;
	while (w.at < w.text.n && !(t->nr == TOKENS_MAX && t->is_cut)) {
		char c = char_at(&w, w.at);
		uint16_t before;

		if (c == '/' && take_path(&w))
			continue;
		if ((!chars_is(c, CHAR_WORD) &&
		     !(c == '-' && chars_is(char_at(&w, w.at + 1), CHAR_WORD | CHAR_JOIN))) ||
		    chars_sign(rest_of(&w), &before)) {
			pass(&w);
			continue;
		}
		if (!take_shape(&w))
			take_word(&w);
	}
	t->behind = w.before;
}
