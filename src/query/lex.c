#include "query/lex.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"

#define SHOWN 72 /* bytes of the line that are shown around the place */

static struct str line_at(struct str whole, size_t at, unsigned *line, size_t *column)
{
	size_t begin = 0;
	struct str rest;

	*line = 1;
	for (size_t i = 0; i < at && i < whole.n; i++)
		if (whole.p[i] == '\n') {
			begin = i + 1;
			++*line;
		}
	*column = at - begin;
	rest = str_skip(whole, begin);
	return str_head(rest, str_find_char(rest, '\n'));
}

/* Bytes that begin a character: columns are counted in these. */
static size_t characters(struct str s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s.n; i++)
		nr += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return nr;
}

int lex_error(struct str whole, struct place at, struct error *err, const char *fmt, ...)
{
	size_t where = at.at < whole.n ? at.at : whole.n, column, cut, caret;
	char said[300], shown[SHOWN + 1];
	struct str line;
	unsigned nr;
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	line = line_at(whole, where, &nr, &column);
	cut = column > SHOWN / 2 && line.n > SHOWN ? column - SHOWN / 2 : 0;
	while (cut && cut < line.n && ((unsigned char)line.p[cut] & 0xc0) == 0x80)
		cut--;
	caret = characters(str_head(str_skip(line, cut), column - cut));
	line = str_head(str_skip(line, cut), SHOWN);
	for (size_t i = 0; i < line.n; i++)
		shown[i] = (unsigned char)line.p[i] < ' ' ? ' ' : line.p[i];
	shown[line.n] = 0;
	return error_set(err, EINVAL, "line %u, column %zu: %s\n  %s\n  %*s^", nr, column + 1, said,
			 shown, (int)caret, "");
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Blanks and comments: # and // to the end of the line, and those between slash-star. */
static void skip(struct lexer *l)
{
	for (;;) {
		struct str rest = str_skip(l->whole, l->at);
		size_t end;

		if (!rest.n)
			return;
		if (rest.p[0] == ' ' || rest.p[0] == '\t' || rest.p[0] == '\n' ||
		    rest.p[0] == '\r') {
			l->at++;
		} else if (rest.p[0] == '#' || str_starts(rest, STR("//"))) {
			l->at += str_find_char(rest, '\n');
		} else if (str_starts(rest, STR("/*"))) {
			end = str_find(str_skip(rest, 2), STR("*/"));
			l->at += end + 4 <= rest.n ? end + 4 : rest.n;
		} else {
			return;
		}
	}
}

/* A doubled quote stands for itself. */
static int take_quoted(struct lexer *l, struct token *t, char quote, struct error *err)
{
	struct str rest = str_skip(l->whole, l->at + 1);
	char *to = arena_room(l->arena, rest.n + 1);
	size_t i = 0, n = 0;

	for (;; i++) {
		if (i >= rest.n)
			return lex_error(l->whole, t->place, err, "the closing %c is missing",
					 quote);
		if (rest.p[i] == quote) {
			if (i + 1 >= rest.n || rest.p[i + 1] != quote)
				break;
			i++;
		}
		to[n++] = rest.p[i];
	}
	t->text = (struct str){ to, n };
	t->place.length = (uint32_t)i + 2;
	if (quote == '`' && !n)
		return lex_error(l->whole, t->place, err, "a name is missing between backquotes");
	return 0;
}

static int take_number(struct lexer *l, struct token *t, struct error *err)
{
	struct str rest = str_skip(l->whole, l->at), at = rest;
	uint64_t whole;
	double d;

	if (str_take_uint(&at, &whole) && whole <= INT64_MAX &&
	    !(at.n && (at.p[0] == 'e' || at.p[0] == 'E' || at.p[0] == '.'))) {
		t->kind = TOKEN_INT;
		t->i = (int64_t)whole;
	} else {
		at = rest;
		if (!str_take_double(&at, &d) || !isfinite(d))
			return lex_error(l->whole, t->place, err, "this is no number");
		t->kind = TOKEN_DOUBLE;
		t->d = d;
	}
	t->place.length = (uint32_t)(rest.n - at.n);
	if (at.n && is_letter(at.p[0]))
		return lex_error(l->whole, t->place, err,
				 "this is no number; names that begin with digits stand in "
				 "backquotes");
	return 0;
}

static int take_sign(struct lexer *l, struct token *t, struct error *err)
{
	static const struct {
		struct str text;
		int sign;
	} signs[] = {
		{ STR("->"), SIGN_ARROW }, { STR("\xe2\x86\x92"), SIGN_ARROW },
		{ STR("<="), SIGN_LE },    { STR(">="), SIGN_GE },
		{ STR("!="), SIGN_NE },    { STR("<>"), SIGN_NE },
		{ STR("=="), '=' },        { STR("&&"), '&' },
		{ STR("||"), '|' },        { STR("\xe2\x88\x92"), '-' },
	};
	struct str rest = str_skip(l->whole, l->at);

	t->kind = TOKEN_SIGN;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (str_starts(rest, signs[i].text)) {
			t->sign = signs[i].sign;
			t->place.length = (uint32_t)signs[i].text.n;
			return 0;
		}
	t->sign = (unsigned char)rest.p[0];
	t->place.length = 1;
	if (t->sign && strchr("().,:;+-*/%<>=!", t->sign))
		return 0;
	return lex_error(l->whole, t->place, err,
			 "this character has no meaning here; odd names stand in backquotes");
}

int lex_next(struct lexer *l, struct token *t, struct error *err)
{
	struct str rest;
	size_t n = 0;
	int got = 0;

	skip(l);
	rest = str_skip(l->whole, l->at);
	*t = (struct token){ .kind = TOKEN_END, .place = { (uint32_t)l->at, 0 } };
	if (!rest.n)
		return 0;
	if (is_letter(rest.p[0])) {
		while (n < rest.n && (is_letter(rest.p[n]) || is_digit(rest.p[n])))
			n++;
		t->kind = TOKEN_WORD;
		t->text = str_head(rest, n);
		t->place.length = (uint32_t)n;
	} else if (rest.p[0] == '`') {
		t->kind = TOKEN_QUOTED;
		got = take_quoted(l, t, '`', err);
	} else if (rest.p[0] == '\'' || rest.p[0] == '"') {
		t->kind = TOKEN_TEXT;
		got = take_quoted(l, t, rest.p[0], err);
	} else if (is_digit(rest.p[0])) {
		got = take_number(l, t, err);
	} else {
		got = take_sign(l, t, err);
	}
	l->at += t->place.length;
	return got;
}
