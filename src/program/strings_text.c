/*
 * Nobody tells whether a constant is handed to a function that formats. What looks like a
 * conversion is taken for one: a text with a percent sign or with braces that is printed as it is
 * then has a hole too many, which does no harm.
 */
#include "program/strings_text.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "model/loss.h"
#include "program/strings.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_any(struct str *s, const char *set)
{
	if (!s->n || !s->p[0] || !strchr(set, s->p[0]))
		return false;
	*s = str_skip(*s, 1);
	return true;
}

static char kind_of(char conversion)
{
	switch (conversion) {
	case 'd':
	case 'i':
	case 'u':
		return STRING_INTEGER;
	case 'x':
	case 'X':
	case 'o':
		return STRING_HEX;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
		return STRING_DECIMAL;
	case 'c':
		return STRING_CHAR;
	default:
		return STRING_ANY;
	}
}

/* "%-5.2lf", "%2$s", "%(name)s"; a space is no flag here, since "5 % done" is no conversion. */
static bool take_percent(struct str *s, char *hole)
{
	struct str rest = *s, name, numbered;
	uint64_t n;

	if (!str_take_char(&rest, '%'))
		return false;
	if (str_take_char(&rest, '(') && !str_take_until(&rest, ')', &name))
		return false;
	numbered = rest;
	if (str_take_uint(&numbered, &n) && str_take_char(&numbered, '$'))
		rest = numbered;
	while (take_any(&rest, "-+#0,'"))
		;
	while (take_any(&rest, "*0123456789."))
		;
	while (rest.n > 1 && is_letter(rest.p[1]) && take_any(&rest, "hlLqjzt"))
		;
	if (!rest.n || !is_letter(rest.p[0]))
		return false;
	*hole = kind_of(rest.p[0]);
	*s = str_skip(rest, 1);
	return true;
}

/* "{}", "{0}", "{name.x[1]!r:>10}": no blanks, no quotes, so that JSON and code are none. */
static bool take_brace(struct str *s, char *hole)
{
	struct str rest = *s, inside;
	size_t i = 0;

	if (!str_take_char(&rest, '{') || !str_take_until(&rest, '}', &inside) || inside.n > 64)
		return false;
	while (i < inside.n && (is_letter(inside.p[i]) || is_digit(inside.p[i]) ||
				(inside.p[i] && strchr("_.[]", inside.p[i]))))
		i++;
	if (i < inside.n && inside.p[i] != ':' && inside.p[i] != '!' && inside.p[i] != ',')
		return false;
	for (; i < inside.n; i++)
		if (strchr(" \"'{\t", inside.p[i]))
			return false;
	*hole = STRING_ANY;
	*s = rest;
	return true;
}

static bool is_worth_giving(struct str s)
{
	bool has_letter = false;

	for (size_t i = 0; i < s.n && !has_letter; i++)
		has_letter = is_letter(s.p[i]) || (unsigned char)s.p[i] >= 0x80;
	return has_letter && s.n >= STRING_MIN;
}

/* A text without control characters. What is too long to stand in a line is left out. */
static void give_line(const struct strings_sink *to, struct str s, struct losses *losses)
{
	if (!is_worth_giving(s))
		return;
	if (s.n > STRING_MAX)
		losses->count[LOSS_STRINGS_LEFT]++;
	else
		to->add(to->ctx, s);
}

/* Bytes at the front of s that some formatters take for a part of the conversion in front of it: a
 * letter or two that are no word. */
static size_t rest_of_conversion(struct str s)
{
	size_t n = 0;

	while (n < s.n && n < 3 && is_letter(s.p[n]))
		n++;
	return n < 3 ? n : 0;
}

/* Once more without what a formatter that spells conversions longer than printf would not print. */
static void give_without_rest(const struct strings_sink *to, struct str s, struct losses *losses)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < s.n; i++) {
		buf_char(&b, s.p[i]);
		if (s.p[i] == STRING_INTEGER || s.p[i] == STRING_HEX)
			i += rest_of_conversion(str_skip(s, i + 1));
	}
	if (b.n < s.n)
		give_line(to, buf_str(&b), losses);
	buf_done(&b);
}

static void give_pattern(const struct strings_sink *to, struct str s, struct buf *b,
			 struct losses *losses)
{
	char hole;

	buf_clear(b);
	while (s.n) {
		if (s.p[0] == '%' && str_take(&s, STR("%%"))) {
			buf_char(b, '%');
		} else if (take_percent(&s, &hole) || take_brace(&s, &hole)) {
			buf_char(b, hole);
		} else {
			buf_char(b, s.p[0]);
			s = str_skip(s, 1);
		}
	}
	give_line(to, buf_str(b), losses);
	give_without_rest(to, buf_str(b), losses);
}

/* Bytes of the next character that may stand in a line, 0 for what ends it. */
static size_t character(struct str s, bool is_marked)
{
	unsigned char c = (unsigned char)s.p[0];

	if (c >= 0x80)
		return utf8_length(s);
	return (c >= ' ' && c != 0x7f) || c == '\t' || (is_marked && string_is_hole((char)c));
}

/* The next line of it. */
static struct str take_part(struct str *s, bool is_marked)
{
	struct str part;
	size_t n = 0, step;

	while (n < s->n && (step = character(str_skip(*s, n), is_marked)))
		n += step;
	part = str_head(*s, n);
	*s = str_skip(*s, n + 1);
	return part;
}

void strings_give(const struct strings_sink *to, struct str raw, struct losses *losses)
{
	struct buf b = { 0 };

	while (raw.n) {
		struct str part = take_part(&raw, false);

		if (part.n < STRING_MIN)
			continue;
		if (memchr(part.p, '%', part.n) || memchr(part.p, '{', part.n))
			give_pattern(to, part, &b, losses);
		else
			give_line(to, part, losses);
	}
	buf_done(&b);
}

void strings_give_marked(const struct strings_sink *to, struct str marked, struct losses *losses)
{
	while (marked.n)
		give_line(to, take_part(&marked, true), losses);
}

bool strings_is_text(struct str s)
{
	while (s.n) {
		size_t n = character(s, false);

		if (!n && s.p[0] != '\n' && s.p[0] != '\r')
			return false;
		s = str_skip(s, n ? n : 1);
	}
	return true;
}
