#include "infer/named/type.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/utf8.h"

#define TYPE_COLUMNS 100
#define TITLE_LETTERS 12

static bool is_separator(char c)
{
	return c == '/' || c == ' ' || c == '?' || c == '&' || c == '=' || c == ',' || c == ':' ||
	       c == ';' || c == '(' || c == ')' || c == '[' || c == ']' || c == '"' || c == '\'';
}

/* Numbers, and long runs of hexadecimal digits and dashes with a digit in them: values, not names.
 */
static bool is_value(struct str word)
{
	size_t digits = 0, hex = 0, dashes = 0;

	for (size_t i = 0; i < word.n; i++) {
		unsigned char c = (unsigned char)word.p[i];

		digits += isdigit(c) != 0;
		hex += isxdigit(c) != 0;
		dashes += c == '-' || c == '_' || c == '.';
	}
	if (!digits)
		return false;
	return digits + dashes == word.n || (word.n >= 8 && hex + dashes == word.n);
}

static void mask(struct buf *out, struct str text)
{
	while (text.n) {
		size_t n = 0;

		while (n < text.n && !is_separator(text.p[n]))
			n++;
		buf_add(out, is_value(str_head(text, n)) ? STR("{}") : str_head(text, n));
		text = str_skip(text, n);
		if (text.n)
			buf_char(out, text.p[0]);
		text = str_skip(text, 1);
	}
}

static struct str finish(struct arena *arena, struct buf *b)
{
	struct str s = arena_str(arena, utf8_fit(buf_str(b), TYPE_COLUMNS));

	buf_done(b);
	return s;
}

struct str type_of_span(struct arena *arena, struct str service, struct str name)
{
	struct buf b = { 0 };

	buf_add(&b, service);
	if (service.n && name.n)
		buf_add(&b, STR(": "));
	mask(&b, name);
	if (!b.n)
		buf_add(&b, STR("(unnamed)"));
	return finish(arena, &b);
}

/* The last part of a dotted name: the class of a logger, not its package. */
static struct str last_part(struct str dotted)
{
	for (size_t i = dotted.n; i > 0; i--)
		if (dotted.p[i - 1] == '.' && i < dotted.n &&
		    !isdigit((unsigned char)dotted.p[i]) &&
		    !memchr(dotted.p + i, ':', dotted.n - i))
			return str_skip(dotted, i);
	return dotted;
}

/* Whether the text alone tells what it is about: "terminating" does not, "Receiving block <*>"
 * does. */
static bool speaks_for_itself(struct str title)
{
	size_t letters = 0;

	for (size_t i = 0; i < title.n; i++)
		letters += isalpha((unsigned char)title.p[i]) != 0;
	return letters >= TITLE_LETTERS;
}

struct str type_of_line(struct arena *arena, struct str point, struct str title)
{
	struct buf b = { 0 };

	point = speaks_for_itself(title) ? STR("") : last_part(point);
	buf_add(&b, point);
	if (point.n && title.n)
		buf_add(&b, STR(": "));
	buf_add(&b, title);
	if (!b.n)
		buf_add(&b, STR("(unnamed)"));
	return finish(arena, &b);
}
