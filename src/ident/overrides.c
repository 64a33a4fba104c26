#include "ident/overrides.h"

#include <errno.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/shown.h"

enum { WORD_MAX = 512 }; /* bytes of a word that expressions are tried on */
#define FILE_MAX ((size_t)1 << 20)

/* What a line of the file speaks of. Several threads mark it at once, and the same way. */
struct subject {
	struct str text;
	atomic_bool is_seen;
};

struct expression {
	regex_t regex;
	struct str type, numbered;
	struct subject *of;
};

struct overrides {
	struct arena arena;
	struct names shown;
	VEC(struct str) instead;  /* by the number of the type that is shown; empty: nothing */
	VEC(struct str) numbered; /* the same for names that hold numbers */
	VEC(struct subject *) of; /* the same: what was written */
	VEC(struct expression) expressions;
};

/* The type of names that hold numbers is shown as one of such. */
static struct str numbered(struct overrides *o, struct str name)
{
	return arena_fmt(&o->arena, STR_FMT "_#", STR_ARG(name));
}

static struct subject *subject_new(struct overrides *o, struct str text)
{
	struct subject *of = arena_new(&o->arena, struct subject);

	of->text = arena_str(&o->arena, text);
	atomic_init(&of->is_seen, false);
	return of;
}

static void replace(struct overrides *o, struct str shown, struct str by, struct str by_numbered)
{
	sym_t sym = names_add(&o->shown, shown);

	while (o->instead.nr <= sym) {
		vec_push(&o->instead, STR(""));
		vec_push(&o->numbered, STR(""));
		vec_push(&o->of, NULL);
	}
	if (!o->of.v[sym])
		o->of.v[sym] = subject_new(o, shown);
	o->instead.v[sym] = arena_str(&o->arena, by);
	o->numbered.v[sym] = arena_str(&o->arena, by_numbered);
}

static bool is_numbered(struct str shown)
{
	return memchr(shown.p, '#', shown.n) || memchr(shown.p, '*', shown.n);
}

static int add_expression(struct overrides *o, struct str type, struct str text, struct error *err)
{
	struct expression e = { .type = arena_str(&o->arena, type), .numbered = numbered(o, type) };
	struct buf whole = { 0 };
	char why[128];
	int code;

	buf_fmt(&whole, "^(" STR_FMT ")$", STR_ARG(text));
	buf_char(&whole, 0);
	code = regcomp(&e.regex, whole.p, REG_EXTENDED | REG_NOSUB);
	buf_done(&whole);
	if (code) {
		regerror(code, &e.regex, why, sizeof(why));
		return error_set(err, EINVAL, "'" STR_FMT "' is no expression: %s", STR_ARG(text),
				 why);
	}
	e.of = subject_new(o, text);
	vec_push(&o->expressions, e);
	return 0;
}

static int add_name(struct overrides *o, struct str name, struct str value, struct error *err)
{
	if (!name.n || !value.n)
		return error_set(err, EINVAL, "a type is named like 'app = application_#_#'");
	if (value.n > 2 && value.p[0] == '/' && value.p[value.n - 1] == '/')
		return add_expression(o, name, str_head(str_skip(value, 1), value.n - 2), err);
	replace(o, value, is_numbered(value) ? numbered(o, name) : name, numbered(o, name));
	return 0;
}

/* Words of a line: the first is what the others are. */
static int add_same(struct overrides *o, struct str words, struct error *err)
{
	struct str first, other, all;
	bool is_any = false;

	if (!str_take_word(&words, &first))
		first = STR("");
	all = is_numbered(first) ? first : numbered(o, first);
	while (str_take_word(&words, &other)) {
		replace(o, first, first, all);
		replace(o, other, first, all);
		is_any = true;
	}
	return is_any ? 0 : error_set(err, EINVAL, "'same' wants two types or more");
}

static int add_line(struct overrides *o, struct str line, struct error *err)
{
	size_t at = str_find(line, STR(" = "));
	struct str rest = line, word;

	if (!str_take_word(&rest, &word) || word.p[0] == '#')
		return 0;
	if (at < line.n)
		return add_name(o, str_trim(str_head(line, at)), str_trim(str_skip(line, at + 3)),
				err);
	if (str_eq(word, STR("same")))
		return add_same(o, rest, err);
	if (str_eq(word, STR("ignore")) && str_trim(rest).n) {
		while (str_take_word(&rest, &word))
			replace(o, word, STR(""), STR(""));
		return 0;
	}
	return error_set(err, EINVAL,
			 "'" STR_FMT "' is none of 'NAME = TYPE', 'ignore TYPE', 'same TYPE TYPE'",
			 STR_ARG(line));
}

int overrides_parse(struct overrides **made, struct str text, struct error *err)
{
	struct overrides *o = mem_zalloc(sizeof(*o));
	struct str line;
	int got = 0;

	for (int nr = 1; got >= 0 && str_take_line(&text, &line); nr++) {
		got = add_line(o, str_trim(line), err);
		if (got < 0)
			error_prefix(err, "line %d", nr);
	}
	if (got < 0) {
		overrides_free(o);
		return got;
	}
	*made = o;
	return 0;
}

int overrides_read(struct overrides **o, const char *path, struct error *err)
{
	FILE *f = fopen(path, "re");
	struct buf text = { 0 };
	int got = 0;

	if (!f)
		return error_set(err, errno, "cannot open '%s': %m", path);
	text.n = fread(buf_room(&text, FILE_MAX), 1, FILE_MAX, f);
	if (ferror(f) || text.n == FILE_MAX)
		got = error_set(err, EINVAL, "'%s' cannot be read, or is too large", path);
	fclose(f);
	if (got >= 0) {
		got = overrides_parse(o, buf_str(&text), err);
		if (got < 0)
			error_prefix(err, "%s", path);
	}
	buf_done(&text);
	return got;
}

void overrides_free(struct overrides *o)
{
	if (!o)
		return;
	vec_each (&o->expressions, e)
		regfree(&e->regex);
	vec_done(&o->expressions);
	vec_done(&o->instead);
	vec_done(&o->numbered);
	vec_done(&o->of);
	names_done(&o->shown);
	arena_done(&o->arena);
	free(o);
}

static void mark(struct subject *of)
{
	if (!atomic_load_explicit(&of->is_seen, memory_order_relaxed))
		atomic_store_explicit(&of->is_seen, true, memory_order_relaxed);
}

struct str overrides_type(const struct overrides *o, struct str shown)
{
	sym_t sym = names_find(&o->shown, shown);
	char name[WORD_MAX];

	if (sym) {
		mark(o->of.v[sym]);
		return o->instead.v[sym];
	}
	/* reports tell types by their names, so that is what a user writes down */
	if (shown.n > WORD_MAX || !is_numbered(shown))
		return shown;
	sym = names_find(&o->shown, (struct str){ name, shown_name(shown, name) });
	if (!sym)
		return shown;
	mark(o->of.v[sym]);
	return o->numbered.v[sym];
}

bool overrides_match(const struct overrides *o, struct str word, struct str *type)
{
	char z[WORD_MAX + 1];

	if (!o->expressions.nr || word.n > WORD_MAX)
		return false;
	memcpy(z, word.p, word.n);
	z[word.n] = 0;
	vec_each (&o->expressions, e) {
		if (regexec(&e->regex, z, 0, NULL, 0))
			continue;
		mark(e->of);
		*type = strpbrk(z, "0123456789") ? e->numbered : e->type;
		return true;
	}
	return false;
}

bool overrides_has_expressions(const struct overrides *o)
{
	return o->expressions.nr;
}

static bool is_idle(const struct subject *of)
{
	return of && !atomic_load_explicit(&of->is_seen, memory_order_relaxed);
}

size_t overrides_idle(const struct overrides *o, struct str *v, size_t room)
{
	size_t nr = 0;

	vec_each (&o->of, of) {
		if (is_idle(*of) && nr++ < room)
			v[nr - 1] = (*of)->text;
	}
	vec_each (&o->expressions, e) {
		if (is_idle(e->of) && nr++ < room)
			v[nr - 1] = e->of->text;
	}
	return nr;
}
