/*
 * Read from left to right. What names an interval is a small expression in the manner of C, which
 * becomes a base, and offsets with a load behind each:
 *
 *	*(*(arg0 + 8) + 4)      arg0, load at +8, load at +4
 *	*(uint32_t *)arg1       arg1, load at +0, of which 4 bytes
 *
 * Of what may be a Java method it is tried as a path of Java first.
 */
#include "capture/probe/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/advice/java_path.h"

enum {
	LOADS_MAX = 4,
	BRACKETS_MAX = 16,
	ARGUMENTS = 6,       /* that are in registers */
	USDT_ARGUMENTS = 12, /* of a static probe */
	SHOWN_MAX = 72,      /* of a long text, around the place */
	TEXT_MAX = 4096,
};

struct reading {
	struct str all, rest;
	struct error *err;
	int r; /* of what went wrong */
	unsigned depth;
	bool is_usdt;
	bool may_be_java; /* the name could be that of a method */
};

static size_t place(const struct reading *p)
{
	return p->all.n - p->rest.n;
}

/* The text and a mark below the place, behind the message. */
static void show_place(struct str text, size_t at, struct error *err)
{
	size_t from = at > SHOWN_MAX / 2 ? at - SHOWN_MAX / 2 : 0;
	struct str shown = str_head(str_skip(text, from), SHOWN_MAX);
	char line[SHOWN_MAX + 1];
	int column = 0;
	size_t n = strlen(err->msg);

	for (size_t i = 0; i < shown.n; i++) {
		bool is_control = (unsigned char)shown.p[i] < ' ' || shown.p[i] == 0x7f;

		line[i] = is_control ? '?' : shown.p[i];
		/* a letter of several bytes is one wide */
		column += from + i < at && ((unsigned char)shown.p[i] & 0xc0) != 0x80;
	}
	line[shown.n] = '\0';
	if (at - from > shown.n)
		column = (int)shown.n;
	snprintf(err->msg + n, sizeof(err->msg) - n, "\n  %s\n  %*s^", line, column, "");
}

/* Fails at a place; the first failure counts. */
__attribute__((format(printf, 3, 4))) static bool fail(struct reading *p, size_t at,
						       const char *fmt, ...)
{
	char why[256];
	va_list args;

	if (p->r)
		return false;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	p->r = error_set(p->err, EINVAL, "%s (column %zu)", why, at + 1);
	if (p->err)
		show_place(p->all, at, p->err);
	return false;
}

bool spec_has_value(const struct interval_spec *s)
{
	return s->take.from != TAKE_NOTHING || s->path.n;
}

int spec_show(const struct interval_spec *s, struct error *err)
{
	if (!err)
		return -EINVAL;
	show_place(s->text, s->at, err);
	return -err->code;
}

static void skip_spaces(struct reading *p)
{
	str_take_spaces(&p->rest);
}

static bool take_mark(struct reading *p, char c)
{
	skip_spaces(p);
	return str_take_char(&p->rest, c);
}

static struct str take_word(struct reading *p)
{
	size_t n = 0;

	skip_spaces(p);
	while (n < p->rest.n && (isalnum((unsigned char)p->rest.p[n]) || p->rest.p[n] == '_'))
		n++;
	p->rest = str_skip(p->rest, n);
	return (struct str){ p->rest.p - n, n };
}

static bool take_number(struct reading *p, uint64_t *v)
{
	skip_spaces(p);
	if (str_take(&p->rest, STR("0x")))
		return str_take_hex(&p->rest, v);
	return str_take_uint(&p->rest, v);
}

/* What an expression is so far: loads, and what is to be added before the next. */
struct value {
	struct probe_take take;
	int64_t offset;
};

static bool take_sum(struct reading *p, struct value *v);

static bool take_base(struct reading *p, struct value *v)
{
	size_t at;
	struct str word, digits;
	uint64_t n, max = p->is_usdt ? USDT_ARGUMENTS : ARGUMENTS;

	skip_spaces(p);
	at = place(p);
	digits = word = take_word(p);
	if (str_eq(word, STR("ret")) && !p->is_usdt) {
		v->take.from = TAKE_RETURN;
		return true;
	}
	if (str_take(&digits, STR("arg")) && str_take_uint(&digits, &n) && !digits.n && n < max) {
		v->take.from = TAKE_ARGUMENT;
		v->take.argument = (uint8_t)n;
		return true;
	}
	if (!word.n)
		return fail(p, at, "a value is expected here: arg0, ret or *(arg0+16)");
	if (p->is_usdt)
		return fail(p, at, "'" STR_FMT "' is no value of a static probe: arg0 to arg%u",
			    STR_ARG(str_head(word, 40)), USDT_ARGUMENTS - 1);
	if (p->may_be_java)
		return fail(p, at,
			    "'" STR_FMT "' is no value: arg0 to arg%u, or ret; of a Java method "
			    "arg0, ret, this, or what is in them (arg0.id, this.getId())",
			    STR_ARG(str_head(word, 40)), ARGUMENTS - 1);
	return fail(p, at, "'" STR_FMT "' is no value: arg0 to arg%u, or ret",
		    STR_ARG(str_head(word, 40)), ARGUMENTS - 1);
}

struct type_name {
	const char *name;
	uint8_t bytes;
};

static const struct type_name types[] = {
	{ "char", 1 },     { "int8_t", 1 },    { "uint8_t", 1 }, { "short", 2 },
	{ "int16_t", 2 },  { "uint16_t", 2 },  { "int", 4 },     { "int32_t", 4 },
	{ "uint32_t", 4 }, { "unsigned", 4 },  { "signed", 4 },  { "long", 8 },
	{ "int64_t", 8 },  { "uint64_t", 8 },  { "size_t", 8 },  { "void", 8 },
	{ "ssize_t", 8 },  { "uintptr_t", 8 },
};

static uint8_t type_bytes(struct str word)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_eq(word, str_of(types[i].name)))
			return types[i].bytes;
	return 0;
}

/* "(uint32_t *)": how many bytes are pointed to; 0 when none stands here. */
static uint8_t take_cast(struct reading *p)
{
	struct str before = p->rest, word;
	uint8_t bytes = 0, last;
	unsigned nr_stars = 0;

	if (!take_mark(p, '('))
		return 0;
	for (word = take_word(p); word.n; word = take_word(p)) {
		last = type_bytes(word);
		if (!last && !str_eq(word, STR("const")))
			break;
		if (last && (!bytes || last != 4))
			bytes = last; /* "unsigned char", "long int" */
	}
	while (take_mark(p, '*'))
		nr_stars++;
	if (word.n || !bytes || !nr_stars || !take_mark(p, ')')) {
		p->rest = before;
		return 0;
	}
	return nr_stars > 1 ? 8 : bytes;
}

static bool add_load(struct reading *p, size_t at, struct value *v, uint8_t bytes)
{
	if (v->take.nr_loads == LOADS_MAX)
		return fail(p, at, "at most %d pointers are followed", LOADS_MAX);
	if (v->offset < INT32_MIN || v->offset > INT32_MAX)
		return fail(p, at, "an offset is too large");
	v->take.offsets[v->take.nr_loads++] = (int32_t)v->offset;
	v->take.bytes = bytes ? bytes : 8;
	v->offset = 0;
	return true;
}

/* A value, what it points to, or a sum in brackets. */
static bool take_term(struct reading *p, struct value *v)
{
	size_t at;
	uint8_t bytes;
	bool is_done;

	skip_spaces(p);
	at = place(p);
	if (++p->depth > BRACKETS_MAX)
		return fail(p, at, "brackets are nested too deeply");
	if (take_mark(p, '*')) {
		bytes = take_cast(p);
		is_done = take_term(p, v) && add_load(p, at, v, bytes);
	} else if (take_mark(p, '(')) {
		is_done = take_sum(p, v) &&
			  (take_mark(p, ')') || fail(p, place(p), "')' is expected here"));
	} else {
		is_done = take_base(p, v);
	}
	p->depth--;
	return is_done;
}

static bool take_sum(struct reading *p, struct value *v)
{
	if (!take_term(p, v))
		return false;
	for (;;) {
		bool is_minus = take_mark(p, '-');
		uint64_t n;

		if (!is_minus && !take_mark(p, '+'))
			return true;
		if (!take_number(p, &n) || n > INT32_MAX)
			return fail(p, place(p), "a number of bytes is expected here");
		v->offset += is_minus ? -(int64_t)n : (int64_t)n;
	}
}

/* ":4" */
static bool take_width(struct reading *p, struct value *v)
{
	uint64_t n;
	size_t at;

	if (!take_mark(p, ':'))
		return true;
	skip_spaces(p);
	at = place(p);
	if (!take_number(p, &n) || (n != 1 && n != 2 && n != 4 && n != 8))
		return fail(p, at, "a width is 1, 2, 4 or 8 bytes");
	v->take.bytes = (uint8_t)n;
	return true;
}

/* "id=" in front of a key: any name, which only tells people what it is. */
static void take_label(struct reading *p)
{
	struct str before = p->rest;

	if (!take_word(p).n || !take_mark(p, '='))
		p->rest = before;
}

/* Behind the ')' that closes the '(' at the place given, or s.n. */
static size_t behind_bracket(struct str s, size_t at)
{
	unsigned depth = 0;

	for (; at < s.n; at++) {
		depth += s.p[at] == '(';
		if (s.p[at] == ')' && !--depth)
			return at + 1;
	}
	return s.n;
}

/* "ret" is "return", alone or with something behind it. */
static bool take_returned(struct str *value)
{
	struct str rest = *value;

	if (!str_take(&rest, STR("ret")) || (rest.n && rest.p[0] != '.' && rest.p[0] != '['))
		return false;
	*value = rest;
	return true;
}

/* One value, and not a row of them. */
static bool is_path(struct str value)
{
	struct java_mistake mistake;
	struct java_path path;
	char text[SHOWN_MAX * 4];
	struct str rest = value;

	if (take_returned(&rest)) {
		value.p = text;
		value.n = (size_t)snprintf(text, sizeof(text), "return" STR_FMT, STR_ARG(rest));
	}
	if (value.n >= sizeof(text) || java_path_parse(value, &path, &mistake) < 0 ||
	    (path.root != JAVA_THIS && path.root != JAVA_ARGUMENT && path.root != JAVA_RETURN))
		return false;
	for (size_t i = 0; i < path.nr_steps; i++)
		if (path.steps[i].kind == JAVA_EACH || path.steps[i].kind == JAVA_CLASS)
			return false;
	return true;
}

/* The text up to the bracket that closes: a value of a Java method. */
static bool take_path(struct reading *p, struct interval_spec *s)
{
	size_t at = place(p), open = at;
	struct str value;

	if (!p->may_be_java)
		return false;
	while (open && p->all.p[open] != '(')
		open--;
	value = str_head(p->all, behind_bracket(p->all, open));
	if (!str_ends(value, STR(")")))
		return false;
	value = str_trim(str_skip(str_head(value, value.n - 1), at));
	if (!is_path(value))
		return false;
	s->path = value;
	return true;
}

/* Whether a value of a function stands here, up to a bracket that closes. */
static bool is_of_function(const struct reading *p)
{
	struct reading trial = *p;
	struct value v = { .take.bytes = 8 };

	trial.err = NULL;
	return take_sum(&trial, &v) && take_width(&trial, &v) && take_mark(&trial, ')');
}

/* "(id=arg0)" or nothing. */
static bool take_key(struct reading *p, struct interval_spec *s)
{
	struct value v = { .take.bytes = 8 };
	size_t at;

	if (!take_mark(p, '('))
		return true;
	if (take_mark(p, ')'))
		return true;
	take_label(p);
	skip_spaces(p);
	at = place(p);
	if (take_path(p, s) && !is_of_function(p)) {
		p->rest = str_skip(s->path, s->path.n);
		p->rest.n = p->all.n - (size_t)(p->rest.p - p->all.p);
		return take_mark(p, ')');
	}
	if (!take_sum(p, &v) || !take_width(p, &v))
		return false;
	if (v.offset)
		return fail(p, at, "an offset is for what is pointed to, as in *(arg0+16)");
	if (!take_mark(p, ')'))
		return fail(p, place(p), "')' is expected here");
	s->take = v.take;
	return true;
}

/* Behind the '>' that closes the '<' at the place given; behind the '<' where none does. */
static size_t behind_template(struct str s, size_t at)
{
	unsigned depth = 0;

	for (size_t i = at; i < s.n; i++) {
		if (s.p[i] == '(')
			i = behind_bracket(s, i) - 1;
		depth += s.p[i] == '<';
		if (s.p[i] == '>' && !--depth)
			return i + 1;
	}
	return at + 1;
}

/* "operator<<", "operator()", "operator,": their signs mean nothing else. */
static size_t behind_operator(struct str s, size_t at)
{
	static const char *const signs[] = { "()", "<=>", "<<=", ">>=", "->*", "<<", ">>",
					     "<=", ">=",  "->",  "<",   ">",   "," };

	if (!str_ends(str_head(s, at), STR("operator")))
		return at;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (str_starts(str_skip(s, at), str_of(signs[i])))
			return at + strlen(signs[i]);
	return at;
}

/* Names of C++ hold brackets themselves: "(anonymous namespace)::f", "operator()", "f<void ()>". */
static size_t name_length(struct str s)
{
	size_t at = 0;

	while (at < s.n) {
		size_t behind = behind_operator(s, at);

		if (behind > at) {
			at = behind;
		} else if (str_starts(str_skip(s, at), STR(".."))) {
			return at;
		} else if (s.p[at] == '<') {
			at = behind_template(s, at);
		} else if (s.p[at] != '(') {
			at++;
		} else {
			behind = behind_bracket(s, at);
			if (!str_starts(str_skip(s, behind), STR("::")))
				return at;
			at = behind;
		}
	}
	return at;
}

struct str specs_next(struct str *list)
{
	struct str s = *list;
	size_t at = 0;

	while (at < s.n) {
		size_t behind = behind_operator(s, at);

		if (behind > at)
			at = behind;
		else if (s.p[at] == ',')
			break;
		else if (s.p[at] == '(')
			at = behind_bracket(s, at);
		else
			at = s.p[at] == '<' ? behind_template(s, at) : at + 1;
	}
	*list = str_skip(s, at + 1);
	return str_trim(str_head(s, at));
}

/* "usdt:provider:name", a provider being optional. */
static bool split_usdt(struct reading *p, struct interval_spec *s)
{
	struct str rest = s->name, provider;

	s->is_usdt = str_take(&rest, STR("usdt:")) && !str_starts(rest, STR(":"));
	if (!s->is_usdt)
		return true;
	if (str_take_until(&rest, ':', &provider))
		s->provider = provider;
	s->name = rest;
	if (!rest.n)
		return fail(p, s->at, "a static probe is named usdt:provider:name");
	return true;
}

static bool take_point(struct reading *p, struct interval_spec *s)
{
	size_t n;

	skip_spaces(p);
	n = name_length(p->rest);
	*s = (struct interval_spec){ .name = str_trim(str_head(p->rest, n)), .at = place(p) };
	if (!s->name.n)
		return fail(p, s->at, "the name of a function is expected here");
	p->rest = str_skip(p->rest, n);
	if (!split_usdt(p, s))
		return false;
	p->is_usdt = s->is_usdt;
	p->may_be_java = !s->is_usdt && str_find_char(s->name, '.') < s->name.n &&
			 str_find_char(s->name, '!') == s->name.n;
	if (!take_key(p, s))
		return false;
	skip_spaces(p);
	return true;
}

/* A value that says which interval it is must be there for what happens in other threads. */
static bool check_key(struct reading *p, const struct interval_spec *s, const char *option)
{
	if (spec_has_value(s))
		return true;
	if (s->role == SPEC_WORK)
		return fail(p, s->at,
			    "--work needs a value that is an amount, as in " STR_FMT "(arg1)",
			    STR_ARG(str_head(s->name, 60)));
	return fail(p, s->at,
		    "--%s needs what tells one interval from another, as in " STR_FMT "(id=arg0)",
		    option, STR_ARG(str_head(s->name, 60)));
}

static bool read_interval(struct reading *p, struct interval_spec *first,
			  struct interval_spec *second)
{
	size_t at;

	if (!take_point(p, first))
		return false;
	first->role = SPEC_WHOLE;
	if (!p->rest.n && first->is_usdt)
		return fail(p, place(p), "a static probe is a moment: '.. usdt:%s' is missing",
			    "provider:name");
	if (!p->rest.n)
		return true;
	at = place(p);
	if (!str_take(&p->rest, STR("..")))
		return fail(p, at, "'..' and what ends the interval are expected here");
	if (!take_point(p, second))
		return false;
	first->role = SPEC_BEGIN;
	second->role = SPEC_END;
	if (spec_has_value(first) != spec_has_value(second))
		return fail(p, !spec_has_value(first) ? first->at : second->at,
			    "both ends are named by a value, or none: (id=arg0) is missing here");
	return true;
}

static bool read_single(struct reading *p, enum spec_option option, struct interval_spec *s)
{
	static const char *const names[] = { "interval", "carry", "put", "take", "work" };
	static const enum spec_role roles[] = { SPEC_WHOLE, SPEC_CARRY, SPEC_PUT, SPEC_TAKE,
						SPEC_WORK };

	if (!take_point(p, s))
		return false;
	s->role = roles[option];
	return check_key(p, s, names[option]);
}

int specs_add(struct interval_specs *to, enum spec_option option, struct str text,
	      struct error *err)
{
	struct interval_spec v[2] = { 0 };
	struct reading p = { .err = err };

	if (text.n > TEXT_MAX)
		return error_set(err, EINVAL, "this is too long for the name of an interval");
	p.all = p.rest = arena_str(&to->arena, text);
	if (option == SPEC_OF_INTERVAL)
		read_interval(&p, &v[0], &v[1]);
	else
		read_single(&p, option, &v[0]);
	if (!p.r && p.rest.n)
		fail(&p, place(&p), "this is not understood");
	if (p.r)
		return p.r;
	for (unsigned i = 0; i < 2 && v[i].name.n; i++) {
		v[i].text = p.all;
		vec_push(&to->v, v[i]);
	}
	return 0;
}

void specs_done(struct interval_specs *s)
{
	vec_done(&s->v);
	arena_done(&s->arena);
}
