#include "lib/advice/java_path.h"

#include <errno.h>

#define DIGITS 15 /* of a real number: such are exact, and so are powers of ten up to 22 */

static const struct {
	struct str name;
	enum java_root root;
	int64_t number;
} roots[] = {
	{ STR("this"), JAVA_THIS, 0 },     { STR("return"), JAVA_RETURN, 0 },
	{ STR("thrown"), JAVA_THROWN, 0 }, { STR("duration"), JAVA_DURATION, 0 },
	{ STR("true"), JAVA_BOOL, 1 },     { STR("false"), JAVA_BOOL, 0 },
};

struct reading {
	struct str text, rest;
	struct java_mistake *m;
};

static int wrong(struct reading *r, size_t length, const char *what)
{
	*r->m = (struct java_mistake){ .at = r->text.n - r->rest.n,
				       .length = length ? length : 1,
				       .what = what };
	return -EINVAL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '$' || (unsigned char)c >= 0x80;
}

static struct str name_of(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_of_name(s.p[n]))
		n++;
	return str_head(s, n);
}

/* All of s is digits, and the number is at most `most`. */
static bool number_of(struct str s, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned)(s.p[i] - '0');

		if (!is_digit(s.p[i]) || n > (most - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return s.n > 0;
}

static bool hex_of(struct str s, uint64_t *number)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = (char)(s.p[i] | 0x20);

		if (n > INT64_MAX >> 4 || !(is_digit(c) || (c >= 'a' && c <= 'f')))
			return false;
		n = n * 16 + (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*number = n;
	return s.n > 0;
}

/* --- constants -------------------------------------------------------------------------------- */

static int take_text(struct reading *r, struct java_path *p)
{
	struct str inside = str_skip(r->rest, 1);
	size_t n = str_find_char(inside, r->rest.p[0]);

	if (n == inside.n || str_find_char(inside, '\n') < n)
		return wrong(r, 1, "the quote does not end");
	p->root = JAVA_TEXT;
	p->text = str_head(inside, n);
	r->rest = str_skip(inside, n + 1);
	return 0;
}

/* Digits, a point behind `whole`, digits. By hand, since a JVM may have any locale. */
static int take_real(struct reading *r, struct java_path *p, struct str whole, bool is_minus)
{
	struct str part = name_of(str_skip(r->rest, is_minus + whole.n + 1));
	size_t length = is_minus + whole.n + 1 + part.n;
	uint64_t high, low;
	double ten = 1;

	if (whole.n + part.n > DIGITS || !number_of(whole, INT64_MAX, &high) ||
	    !number_of(part, INT64_MAX, &low))
		return wrong(r, length, "a number has at most 15 digits around its point");
	for (size_t i = 0; i < part.n; i++) {
		ten *= 10;
		high *= 10;
	}
	p->root = JAVA_REAL;
	p->real = (double)(high + low) / ten;
	if (is_minus)
		p->real = -p->real;
	r->rest = str_skip(r->rest, length);
	return 0;
}

static int take_number(struct reading *r, struct java_path *p)
{
	struct str rest = r->rest, word;
	bool is_minus = str_take_char(&rest, '-');
	uint64_t n;

	word = name_of(rest);
	rest = str_skip(rest, word.n);
	if (rest.n && rest.p[0] == '.')
		return take_real(r, p, word, is_minus);
	if (!(str_starts(word, STR("0x")) ? hex_of(str_skip(word, 2), &n)
					  : number_of(word, INT64_MAX, &n)))
		return wrong(r, is_minus + word.n, "a number is expected, of at most 64 bits");
	p->root = JAVA_INT;
	p->number = is_minus ? -(int64_t)n : (int64_t)n;
	r->rest = rest;
	return 0;
}

/* --- roots and steps -------------------------------------------------------------------------- */

static int take_named_root(struct reading *r, struct java_path *p)
{
	struct str word = name_of(r->rest);
	uint64_t n;

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (str_eq(word, roots[i].name)) {
			p->root = roots[i].root;
			p->number = roots[i].number;
			r->rest = str_skip(r->rest, word.n);
			return 0;
		}
	if (str_starts(word, STR("arg")) && number_of(str_skip(word, 3), UINT32_MAX, &n)) {
		if (n >= JAVA_PATH_ARGUMENTS)
			return wrong(r, word.n, "arguments are arg0 to arg254");
		p->root = JAVA_ARGUMENT;
		p->argument = (uint8_t)n;
		r->rest = str_skip(r->rest, word.n);
		return 0;
	}
	return wrong(r, word.n,
		     "a value is expected: this, arg0, return, thrown, duration or a constant");
}

static int take_root(struct reading *r, struct java_path *p)
{
	char c = r->rest.n ? r->rest.p[0] : 0;

	if (c == '\'' || c == '"')
		return take_text(r, p);
	if (c == '-' || is_digit(c))
		return take_number(r, p);
	return take_named_root(r, p);
}

/* Behind a point. */
static int take_member(struct reading *r, struct java_step *s)
{
	s->name = name_of(r->rest);
	if (!s->name.n || is_digit(s->name.p[0]))
		return wrong(r, s->name.n, "the name of a field or of a getter is expected");
	r->rest = str_skip(r->rest, s->name.n);
	if (str_take_char(&r->rest, '(')) {
		s->kind = JAVA_GETTER;
		if (!str_take_char(&r->rest, ')'))
			return wrong(r, 1,
				     "')' is expected: only methods without arguments are called");
	} else if (str_eq(s->name, STR("class"))) {
		s->kind = JAVA_CLASS;
	} else {
		s->kind = str_eq(s->name, STR("length")) ? JAVA_LENGTH : JAVA_FIELD;
	}
	return 0;
}

static int take_element(struct reading *r, struct java_step *s)
{
	struct str word;
	uint64_t n = 0;

	str_take_char(&r->rest, '[');
	word = name_of(r->rest);
	if (word.n && !number_of(word, INT32_MAX, &n))
		return wrong(r, word.n, "a number is expected, or ']' for all elements");
	s->kind = word.n ? JAVA_INDEX : JAVA_EACH;
	s->index = (uint32_t)n;
	r->rest = str_skip(r->rest, word.n);
	return str_take_char(&r->rest, ']') ? 0 : wrong(r, 1, "']' is expected");
}

static int take_steps(struct reading *r, struct java_path *p)
{
	while (r->rest.n && (r->rest.p[0] == '.' || r->rest.p[0] == '[')) {
		struct java_step *s = &p->steps[p->nr_steps];
		int got;

		if (p->root >= JAVA_DURATION)
			return wrong(r, 1, "this has neither fields nor elements");
		if (p->nr_steps && s[-1].kind == JAVA_CLASS)
			return wrong(r, 1, "nothing follows '.class'");
		if (p->nr_steps == JAVA_PATH_STEPS)
			return wrong(r, 1, "a path has at most 8 steps");
		*s = (struct java_step){ 0 };
		got = str_take_char(&r->rest, '.') ? take_member(r, s) : take_element(r, s);
		if (got < 0)
			return got;
		p->nr_steps++;
	}
	return 0;
}

int java_path_take(struct str *from, struct java_path *p, struct java_mistake *m)
{
	struct reading r = { *from, *from, m };
	struct java_path path = { 0 };
	int got = take_root(&r, &path);

	if (got >= 0)
		got = take_steps(&r, &path);
	if (got < 0)
		return got;
	*p = path;
	*from = r.rest;
	return 0;
}

int java_path_parse(struct str text, struct java_path *p, struct java_mistake *m)
{
	struct str rest = text;
	int got = java_path_take(&rest, p, m);

	if (got < 0 || !rest.n)
		return got;
	*m = (struct java_mistake){ text.n - rest.n, rest.n,
				    "a path such as arg0.getName() ends here" };
	return -EINVAL;
}
