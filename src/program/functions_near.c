/*
 * The distance is how many letters must be changed, left out or put in, all of which is found for
 * 64 letters at once (Myers, "A fast bit-vector algorithm for approximate string matching", in the
 * form of Hyyrö). Names that hold the one asked for, as a method holds its name, are near as well.
 */
#include "program/functions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

enum { PATTERN_MAX = 64, NEAR_MAX = 16, SHOWN = 3 };

struct near {
	struct str name;
	unsigned cost;
};

struct pattern {
	struct str name;
	uint64_t letters[256]; /* where each stands, upper case as lower */
};

static void pattern_init(struct pattern *p, struct str name)
{
	*p = (struct pattern){ .name = str_head(name, PATTERN_MAX) };
	for (size_t i = 0; i < p->name.n; i++)
		p->letters[tolower((unsigned char)name.p[i])] |= (uint64_t)1 << i;
}

/* How far the text is from the pattern, regardless of case. */
static unsigned distance(const struct pattern *p, struct str text)
{
	uint64_t plus = ~(uint64_t)0, minus = 0, last = (uint64_t)1 << (p->name.n - 1);
	unsigned d = (unsigned)p->name.n;

	for (size_t i = 0; i < text.n; i++) {
		uint64_t equal = p->letters[tolower((unsigned char)text.p[i])];
		uint64_t diagonal = (((equal & plus) + plus) ^ plus) | equal | minus;
		uint64_t up = minus | ~(diagonal | plus), down = plus & diagonal;

		if (up & last)
			d++;
		else if (down & last)
			d--;
		up = up << 1 | 1;
		down <<= 1;
		plus = down | ~(diagonal | up);
		minus = up & diagonal;
	}
	return d;
}

/* What stands behind the last "::" or ".". */
static struct str last_part(struct str name)
{
	for (size_t i = name.n; i-- > 1;)
		if (name.p[i] == '.' || (name.p[i] == ':' && name.p[i - 1] == ':'))
			return str_skip(name, i + 1);
	return name;
}

/* 4 for each letter that differs; UINT_MAX when it is not near. */
static unsigned cost_of(const struct pattern *p, struct str name)
{
	size_t n = p->name.n, bound = n < 4 ? 1 : n < 9 ? 2 : n / 4 + 1;
	struct str last = last_part(name);
	unsigned d;

	if (last.n != name.n && str_eq(last, p->name))
		return 2;
	if (name.n > n && n >= 3 && (str_starts(name, p->name) || str_ends(name, p->name)))
		return 4 + (unsigned)(name.n - n > 40 ? 40 : name.n - n) / 2;
	if (name.n > n && n >= 4 && str_find(name, p->name) < name.n)
		return 8 + (unsigned)(name.n - n > 40 ? 40 : name.n - n) / 2;
	if (name.n + bound < n || last.n > n + bound)
		return UINT32_MAX;
	d = distance(p, name);
	if (last.n != name.n) {
		unsigned of_last = distance(p, last);

		d = of_last + 1 < d ? of_last + 1 : d;
	}
	return d <= bound ? 4 * d : UINT32_MAX;
}

static bool is_before(const struct near *a, const struct near *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n;
	return str_cmp(a->name, b->name) < 0;
}

/* Into a list that stays in order and short. */
static size_t insert(struct near *v, size_t nr, size_t max, struct near n)
{
	size_t at = nr;

	for (size_t i = 0; i < nr; i++)
		if (str_eq(v[i].name, n.name))
			return nr;
	while (at && is_before(&n, &v[at - 1]))
		at--;
	if (at == max)
		return nr;
	if (nr < max)
		nr++;
	memmove(v + at + 1, v + at, (nr - at - 1) * sizeof(*v));
	v[at] = n;
	return nr;
}

size_t functions_near(const struct functions *f, struct str name, struct str *out, size_t max)
{
	struct near v[NEAR_MAX];
	struct pattern p;
	struct str module;
	size_t nr = 0;

	if (str_find_char(name, '!') < name.n)
		str_take_until(&name, '!', &module);
	if (max > NEAR_MAX)
		max = NEAR_MAX;
	if (!name.n || !max)
		return 0;
	pattern_init(&p, name);
	vec_each (&f->v, fn) {
		struct near n = { fn->folded, UINT32_MAX };

		if (fn->source == FUNCTION_TOLD) /* the mark of doubt is no part of it */
			n.name.n--;
		if (fn->source != FUNCTION_FRAME)
			n.cost = cost_of(&p, n.name);
		if (n.cost != UINT32_MAX)
			nr = insert(v, nr, max, n);
	}
	for (size_t i = 0; i < nr; i++)
		out[i] = v[i].name;
	return nr;
}

/* A function of the program itself that is called by its address, for want of a name. */
static const struct function_of *nameless(const struct functions *f)
{
	vec_each (&f->v, fn)
		if (fn->source == FUNCTION_FRAME && f->modules.v[fn->module].is_main &&
		    f->modules.v[fn->module].is_stripped)
			return fn;
	return NULL;
}

int functions_missing(const struct functions *f, struct str name, struct error *err)
{
	struct str near[SHOWN];
	size_t nr = functions_near(f, name, near, SHOWN), nr_named = 0;
	const struct function_of *fn;

	if (nr == 1)
		return error_set(err, ENOENT,
				 "no function '" STR_FMT "'; did you mean " STR_FMT "?",
				 STR_ARG(name), STR_ARG(near[0]));
	if (nr == 2)
		return error_set(err, ENOENT,
				 "no function '" STR_FMT "'; did you mean " STR_FMT " or " STR_FMT
				 "?",
				 STR_ARG(name), STR_ARG(near[0]), STR_ARG(near[1]));
	if (nr)
		return error_set(err, ENOENT,
				 "no function '" STR_FMT "'; did you mean " STR_FMT ", " STR_FMT
				 " or " STR_FMT "?",
				 STR_ARG(name), STR_ARG(near[0]), STR_ARG(near[1]),
				 STR_ARG(near[2]));
	vec_each (&f->v, v)
		nr_named += v->source != FUNCTION_FRAME;
	fn = nameless(f);
	return error_set(err, ENOENT,
			 "no function '" STR_FMT "' among %zu that have a name, nor one like it"
			 "%s" STR_FMT,
			 STR_ARG(name), nr_named,
			 fn ? "; the program is stripped: its functions are called by their "
			      "address, like "
			    : "",
			 STR_ARG(fn ? fn->name : STR("")));
}
