/*
 * A lexer for what matters: comments, brackets, and literals with their prefixes. Literals that
 * stand beside each other are one. What begins a line is a docstring and is never printed. An
 * f-string says itself where its values go; others are looked at for % and {} as everywhere.
 */
#include "program/strings_python.h"

#include <stdint.h>

#include "base/buf.h"
#include "program/strings.h"
#include "program/strings_text.h"

struct lexer {
	struct str rest;
	unsigned brackets;
	bool begins_line; /* nothing but white space since the last line end */
	struct buf text;  /* of literals beside each other */
	bool has_text, is_marked, is_doc;
	const struct strings_sink *to;
	struct losses *losses;
};

struct prefix {
	bool is_raw, is_bytes, is_format;
};

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* Ends the literals that stood beside each other. */
static void give_text(struct lexer *l)
{
	if (l->has_text && !l->is_doc && l->is_marked)
		strings_give_marked(l->to, buf_str(&l->text), l->losses);
	else if (l->has_text && !l->is_doc)
		strings_give(l->to, buf_str(&l->text), l->losses);
	buf_clear(&l->text);
	l->has_text = l->is_marked = l->is_doc = false;
}

static void put_character(struct buf *b, uint64_t c)
{
	if (c < 0x80) {
		buf_char(b, c < ' ' && c != '\t' ? '\n' : (char)c);
		return;
	}
	if (c < 0x800) {
		buf_char(b, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		buf_char(b, (char)(0xe0 | c >> 12));
		buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		buf_char(b, (char)(0xf0 | (c >> 18 & 7)));
		buf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_char(b, (char)(0x80 | (c & 0x3f)));
}

/* So many hexadecimal digits, as a character. */
static void put_hex(struct buf *b, struct str *s, size_t digits)
{
	struct str head = str_head(*s, digits), rest = head;
	uint64_t c = 0;

	str_take_hex(&rest, &c);
	*s = str_skip(*s, head.n - rest.n);
	put_character(b, c);
}

/* Up to three digits, the first of which is taken. */
static bool is_octal(char first, struct str *s)
{
	if (first < '0' || first > '7')
		return false;
	for (int i = 0; i < 2 && s->n && s->p[0] >= '0' && s->p[0] <= '7'; i++)
		*s = str_skip(*s, 1);
	return true;
}

/* What follows a backslash. */
static void put_escape(struct buf *b, struct str *s)
{
	static const char plain[] = "\\'\"", other[] = "abfnrtv", value[] = "\n\n\n\n\n\t\n";
	char c = s->p[0];
	const char *at = c ? strchr(other, c) : NULL;
	struct str name;

	*s = str_skip(*s, 1);
	if (c == 'x')
		put_hex(b, s, 2);
	else if (c == 'u')
		put_hex(b, s, 4);
	else if (c == 'U')
		put_hex(b, s, 8);
	else if ((c == 'N' && str_take_char(s, '{') && str_take_until(s, '}', &name)) ||
		 is_octal(c, s))
		buf_char(b, '\n'); /* some character, mostly of control */
	else if (at)
		buf_char(b, value[at - other]);
	else if (c && strchr(plain, c))
		buf_char(b, c);
	else if (c != '\n') {
		buf_char(b, '\\');
		buf_char(b, c);
	}
}

/* The quotes that a literal ends with: one or three. */
static struct str take_quotes(struct str *s)
{
	struct str three = str_head(*s, 3);
	char c = s->p[0];

	if (three.n == 3 && three.p[1] == c && three.p[2] == c) {
		*s = str_skip(*s, 3);
		return three;
	}
	*s = str_skip(*s, 1);
	return str_head(three, 1);
}

/* Passes a literal within the braces of an f-string; its quotes are taken. */
static void skip_literal(struct str *s, struct str quotes)
{
	while (s->n && !str_take(s, quotes)) {
		if (quotes.n == 1 && s->p[0] == '\n')
			return;
		*s = str_skip(*s, s->p[0] == '\\' ? 2 : 1);
	}
}

/* Whether the expression asks to be printed itself, as in {count=}. */
static bool shows_itself(struct str e)
{
	e = str_trim(e);
	return e.n > 1 && e.p[e.n - 1] == '=' && !strchr("=!<>", e.p[e.n - 2]);
}

/* Passes an expression and how it is formatted, up to the brace that ends it. */
static void skip_expression(struct str *s, struct buf *b)
{
	struct str from = *s;
	size_t expression = SIZE_MAX;
	unsigned depth = 0;

	while (s->n && (depth || s->p[0] != '}')) {
		char c = s->p[0];

		if (c == '"' || c == '\'') {
			struct str quotes = take_quotes(s);

			skip_literal(s, quotes);
			continue;
		}
		if (!depth && expression == SIZE_MAX && (c == ':' || c == '!') &&
		    !(s->n > 1 && s->p[1] == '='))
			expression = from.n - s->n;
		depth += c == '{' || c == '(' || c == '[';
		depth -= depth && (c == '}' || c == ')' || c == ']');
		*s = str_skip(*s, 1);
	}
	if (expression == SIZE_MAX)
		expression = from.n - s->n;
	if (shows_itself(str_head(from, expression)))
		buf_add(b, str_head(from, expression));
	buf_char(b, STRING_ANY);
	str_take_char(s, '}');
}

/* The inside of a literal, up to and with its last quotes; false where the file ends first. */
static bool take_inside(struct lexer *l, struct prefix p, struct str quotes)
{
	struct str *s = &l->rest;

	while (s->n && !str_take(s, quotes)) {
		char c = s->p[0];

		if (quotes.n == 1 && c == '\n')
			return false;
		*s = str_skip(*s, 1);
		if (c == '\\' && p.is_raw) {
			buf_char(&l->text, c);
			if (str_take_char(s, quotes.p[0]))
				buf_char(&l->text, quotes.p[0]);
		} else if (c == '\\' && s->n) {
			put_escape(&l->text, s);
		} else if (p.is_format && c == '{' && !str_take_char(s, c)) {
			skip_expression(s, &l->text);
		} else {
			if (p.is_format && c == '}')
				str_take_char(s, c);
			buf_char(&l->text, c);
		}
	}
	return true;
}

static void take_literal(struct lexer *l, struct prefix p)
{
	size_t before = l->text.n;

	if (!l->has_text)
		l->is_doc = l->begins_line && !l->brackets;
	take_inside(l, p, take_quotes(&l->rest));
	if (p.is_bytes)
		l->text.n = before;
	l->has_text = true;
	l->is_marked |= p.is_format;
	l->begins_line = false;
}

/* A name; true when it is the prefix of the literal that follows. */
static bool take_name(struct lexer *l, struct prefix *p)
{
	struct str name;
	size_t n = 0;

	while (n < l->rest.n && is_name(l->rest.p[n]))
		n++;
	name = str_head(l->rest, n);
	l->rest = str_skip(l->rest, n);
	if (n > 2 || !l->rest.n || (l->rest.p[0] != '"' && l->rest.p[0] != '\''))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = name.p[i] | 0x20;

		p->is_raw |= c == 'r';
		p->is_bytes |= c == 'b';
		p->is_format |= c == 'f' || c == 't';
		if (!strchr("rbuft", c))
			return false;
	}
	return true;
}

/* One token that is no literal and no name. */
static void take_other(struct lexer *l)
{
	char c = l->rest.p[0];

	if (c == '#') {
		l->rest = str_skip(l->rest, str_find_char(l->rest, '\n'));
		return;
	}
	l->rest = str_skip(l->rest, 1);
	if (c == '\\' && str_take_char(&l->rest, '\n'))
		return;
	if (c == '\n' && !l->brackets) {
		give_text(l);
		l->begins_line = true;
	}
	if (c == ' ' || (c >= '\t' && c <= '\r'))
		return;
	give_text(l);
	l->begins_line = c == ';';
	l->brackets += c == '(' || c == '[' || c == '{';
	l->brackets -= l->brackets && (c == ')' || c == ']' || c == '}');
}

void strings_of_python(struct str source, const struct strings_sink *to, struct losses *losses)
{
	struct lexer l = { .rest = source, .begins_line = true, .to = to, .losses = losses };

	str_take(&l.rest, STR("\xef\xbb\xbf"));
	while (l.rest.n) {
		struct prefix p = { 0 };
		char c = l.rest.p[0];

		if (c == '"' || c == '\'' || (is_name(c) && take_name(&l, &p))) {
			take_literal(&l, p);
		} else if (!is_name(c)) {
			take_other(&l);
		} else {
			give_text(&l);
			l.begins_line = false;
		}
	}
	give_text(&l);
	buf_done(&l.text);
}
