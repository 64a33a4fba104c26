#include "program/insn.h"
#include "program/wording.h"

enum { ARGS_MAX = 64 };

uint32_t wording_elements(struct where array, struct where *elements, uint32_t max)
{
	struct where source = where_source(array);
	const struct values *v = source.scope->v;
	uint32_t nr = 0;

	if (where_value(source)->kind != VALUE_ARRAY)
		return 0;
	for (uint32_t i = source.value + 1; i < v->nr; i++) {
		const struct value *put = &v->v[i];
		const struct value *at;

		if (put->kind != VALUE_PUT_ELEMENT || v->args[put->first] != source.value)
			continue;
		at = &v->v[v->args[put->first + 1]];
		if (at->kind != VALUE_NUMBER || at->number < 0 || at->number >= max)
			continue;
		while (nr <= at->number)
			elements[nr++] = (struct where){ source.scope, 0 };
		elements[at->number] = (struct where){ source.scope, v->args[put->first + 2] };
	}
	return nr;
}

struct formatter {
	struct wording *w;
	const struct where *args;
	uint32_t nr, next;
	unsigned depth;
	struct text text;
};

static void add_text(struct formatter *f, struct str s)
{
	if (s.n)
		f->text = text_join(f->w->arena, f->text, text_of(f->w->arena, s));
}

static void add_arg(struct formatter *f, uint32_t n)
{
	struct text t;

	if (n < f->nr && f->args[n].value)
		t = wording_part(f->w, f->args[n], STR(""), f->depth + 1);
	else
		t = text_hole(f->w->arena, HOLE_OBJECT, STR(""));
	f->text = text_join(f->w->arena, f->text, t);
}

static void add_hole(struct formatter *f, enum hole_type type, uint32_t n)
{
	struct text t = n < f->nr && f->args[n].value ? wording_hole(f->w, f->args[n])
						      : text_hole(f->w->arena, type, STR(""));

	if (t.versions->nr && t.versions->parts->type == HOLE_OBJECT)
		t.versions->parts->type = type;
	f->text = text_join(f->w->arena, f->text, t);
}

/* Each {} takes the next argument; a backslash in front makes it text. */
static void use_braces(struct formatter *f, struct str s)
{
	while (s.n) {
		size_t n = str_find(s, STR("{}"));
		bool is_escaped = n < s.n && n && s.p[n - 1] == '\\';

		add_text(f, str_head(s, is_escaped ? n - 1 : n));
		s = str_skip(s, n);
		if (is_escaped)
			add_text(f, STR("{}"));
		else if (s.n)
			add_arg(f, f->next++);
		s = str_skip(s, 2);
	}
}

/* {0}, {1,number}; two quotes are one, what one quote encloses is text. */
static void use_numbers(struct formatter *f, struct str s)
{
	struct str inside;
	uint64_t n;
	size_t at;

	while (s.n) {
		for (at = 0; at < s.n && s.p[at] != '{' && s.p[at] != '\''; at++)
			;
		add_text(f, str_head(s, at));
		s = str_skip(s, at);
		if (str_take(&s, STR("''"))) {
			add_text(f, STR("'"));
		} else if (str_take_char(&s, '\'')) {
			if (!str_take_until(&s, '\'', &inside)) {
				inside = s;
				s = STR("");
			}
			add_text(f, inside);
		} else if (str_take_char(&s, '{')) {
			if (!str_take_until(&s, '}', &inside))
				return;
			if (str_take_uint(&inside, &n) && n < ARGS_MAX)
				add_arg(f, (uint32_t)n);
			else
				add_text(f, inside);
		}
	}
}

/* One conversion behind its percent sign, such as -5.2f, 1$s or n. */
static void use_conversion(struct formatter *f, struct str *s)
{
	struct str rest = *s;
	uint64_t n = 0;
	uint32_t arg;
	char c;

	if (str_take_uint(&rest, &n) && str_take_char(&rest, '$') && n)
		*s = rest;
	else
		n = 0;
	while (s->n && strchr("-#+ 0,(<.123456789", s->p[0]))
		*s = str_skip(*s, 1);
	if (!s->n)
		return;
	c = s->p[0];
	*s = str_skip(*s, 1);
	if (c == 'n' || c == '%') {
		add_text(f, c == 'n' ? STR("\n") : STR("%"));
		return;
	}
	arg = n ? (uint32_t)n - 1 : f->next++;
	if (c == 't' || c == 'T')
		*s = str_skip(*s, 1);
	if (c == 's' || c == 'S')
		add_arg(f, arg);
	else
		add_hole(f,
			 strchr("dxXo", c)      ? HOLE_INTEGER
			 : strchr("feEgGaA", c) ? HOLE_DECIMAL
			 : strchr("bB", c)      ? HOLE_BOOLEAN
			 : strchr("cC", c)      ? HOLE_CHAR
						: HOLE_OBJECT,
			 arg);
}

static void use_percents(struct formatter *f, struct str s)
{
	while (s.n) {
		size_t n = str_find_char(s, '%');

		add_text(f, str_head(s, n));
		s = str_skip(s, n);
		if (str_take_char(&s, '%'))
			use_conversion(f, &s);
	}
}

/* Formats one version of the format; what varies in the format itself stays as it is. */
static struct text use_version(struct formatter *f, enum format_style style,
			       const struct version *v)
{
	f->text = text_empty(f->w->arena);
	f->next = 0;
	for (uint32_t i = 0; i < v->nr; i++) {
		const struct part *p = &v->parts[i];

		if (p->kind != PART_TEXT) {
			struct text hole = { arena_new(f->w->arena, struct version), 1 };

			hole.versions->parts = &v->parts[i];
			hole.versions->nr = 1;
			f->text = text_join(f->w->arena, f->text, hole);
		} else if (style == FORMAT_BRACES) {
			use_braces(f, p->text);
		} else if (style == FORMAT_NUMBERS) {
			use_numbers(f, p->text);
		} else {
			use_percents(f, p->text);
		}
	}
	return f->text;
}

struct text wording_format(struct wording *w, enum format_style style, struct where format,
			   const struct where *args, uint32_t nr, unsigned depth)
{
	struct text versions = text_tidy(w->arena, wording_of(w, format, depth)), t = { 0 };
	struct where elements[ARGS_MAX];
	struct formatter f = { .w = w, .args = args, .nr = nr, .depth = depth };

	if (nr == 1) {
		f.nr = wording_elements(args[0], elements, ARGS_MAX);
		if (f.nr)
			f.args = elements;
		else
			f.nr = nr;
	}
	for (uint32_t i = 0; i < versions.nr; i++) {
		struct text one = use_version(&f, style, &versions.versions[i]);

		t = t.nr ? text_or(w->arena, t, one) : one;
	}
	return t.nr ? t : wording_hole(w, format);
}
