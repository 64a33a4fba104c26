/*
 * One pass over the tokens of the line. A token is a run of bytes that no blank, bracket, quote or
 * sign parts; it varies when it holds a digit, looks like a hash, or is a path (the path behind an
 * HTTP method is kept, but for its varying parts: it says what was asked for). What is quoted
 * varies. Neighbouring masks melt into one, so that a list is one mask however long it is.
 */
#include "source/title.h"

#include <ctype.h>

#include "base/utf8.h"

#define MASK STR("<*>")
#define READ_BYTES_MAX 2048 /* of the line: what comes later never reaches the title */

struct writer {
	char out[TITLE_BYTES_MAX];
	size_t n;
	size_t mask_end; /* where the last mask ended, 0 for none */
	bool full;
};

/* Whole or not at all: half a character or half a mask would be another title. */
static void put(struct writer *w, struct str s)
{
	if (w->full || w->n + s.n > sizeof(w->out)) {
		w->full = true;
		return;
	}
	memcpy(w->out + w->n, s.p, s.n);
	w->n += s.n;
}

/* Whether only signs that join the parts of one value stand between the last mask and here. */
static bool follows_mask(const struct writer *w)
{
	if (!w->mask_end)
		return false;
	for (size_t i = w->mask_end; i < w->n; i++)
		if (!strchr(":.,-/+_@ ", w->out[i]))
			return false;
	return true;
}

static void put_mask(struct writer *w)
{
	if (w->full)
		return;
	if (follows_mask(w)) {
		w->n = w->mask_end;
		return;
	}
	put(w, MASK);
	if (!w->full)
		w->mask_end = w->n;
}

/* Only what is valid text comes through; each other byte is a question mark. */
static void put_text(struct writer *w, struct str s)
{
	while (s.n && !w->full) {
		size_t n = (unsigned char)s.p[0] < 0x80 ? 1 : utf8_length(s);

		if (n)
			put(w, str_head(s, n));
		else
			put(w, STR("?"));
		s = str_skip(s, n ? n : 1);
	}
}

static bool parts_tokens(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f || strchr("\"'`()[]{}<>=,;|:&?!", c);
}

static bool varies(struct str s)
{
	bool hex = s.n >= 8;

	for (size_t i = 0; i < s.n; i++) {
		if (isdigit((unsigned char)s.p[i]))
			return true;
		hex &= isxdigit((unsigned char)s.p[i]) != 0;
	}
	return hex;
}

/* "/api/orders/17" asked for by a method: the parts that vary are masked one by one. */
static void put_path_parts(struct writer *w, struct str path)
{
	struct str part;

	while (path.n && !w->full) {
		size_t n = str_find_char(path, '/');

		part = str_head(path, n);
		if (varies(part)) {
			w->mask_end = 0;
			put_mask(w);
		} else {
			put_text(w, part);
		}
		path = str_skip(path, n);
		if (str_take_char(&path, '/'))
			put(w, STR("/"));
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

static void put_token(struct writer *w, struct str token, struct str before)
{
	bool path = token.p[0] == '/' && token.n > 1;

	if (path && is_method(before))
		put_path_parts(w, token);
	else if (path || varies(token))
		put_mask(w);
	else
		put_text(w, token);
}

/* A quoted stretch at the front; an apostrophe inside a word is none. */
static size_t quoted(struct str s, char before)
{
	size_t n;

	if (!strchr("\"'`", s.p[0]) || isalnum((unsigned char)before))
		return 0;
	n = str_find_char(str_skip(s, 1), s.p[0]);
	return n + 1 < s.n ? n + 2 : 0;
}

static struct str first_line(struct str text)
{
	struct str line = STR("");

	while (!line.n && str_take_line(&text, &line))
		line = str_trim(str_head(line, READ_BYTES_MAX));
	return line;
}

/* Anything between tokens: blanks and controls become one blank. */
static void put_sign(struct writer *w, char c)
{
	if ((unsigned char)c > ' ' && c != 0x7f)
		put(w, (struct str){ &c, 1 });
	else if (w->n && w->out[w->n - 1] != ' ')
		put(w, STR(" "));
}

struct str title_mask(struct arena *a, struct str text)
{
	struct str line = first_line(text), token = STR("");
	struct writer w = { .n = 0 };
	size_t at = 0;

	while (at < line.n && !w.full) {
		struct str rest = str_skip(line, at);
		size_t n = quoted(rest, at ? line.p[at - 1] : ' ');

		if (n) {
			put_mask(&w);
		} else if (parts_tokens(rest.p[0])) {
			put_sign(&w, rest.p[0]);
			n = 1;
		} else {
			while (n < rest.n && !parts_tokens(rest.p[n]))
				n++;
			put_token(&w, str_head(rest, n), token);
			token = str_head(rest, n);
		}
		at += n;
	}
	while (w.n && w.out[w.n - 1] == ' ')
		w.n--;
	return arena_str(a, (struct str){ w.out, w.n });
}
