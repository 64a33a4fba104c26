/* The indexes of a model: what finds the point that wrote a line. */
#include <stdlib.h>

#include "program/model_making.h"

enum { BELOW_MAX = 1024 }; /* classes that a logger may be named after */

struct entry {
	struct str text; /* literal, name of a logger, file */
	uint32_t line, number;
};

static int by_text(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = str_cmp(x->text, y->text);

	if (!r && x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return r ? r : x->number < y->number ? -1 : x->number > y->number;
}

static int by_ending(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = model_ending_cmp(x->text, y->text);

	return r ? r : x->number < y->number ? -1 : x->number > y->number;
}

struct entries {
	struct entry *v;
	size_t nr, room;
};

static void sort(struct entries *e, int (*cmp)(const void *, const void *))
{
	if (e->nr)
		qsort(e->v, e->nr, sizeof(*e->v), cmp);
}

static void add_literals(struct making *m)
{
	const struct disk_version *versions = (const void *)m->sections[SECTION_VERSIONS].v;
	const struct disk_part *parts = (const void *)m->sections[SECTION_PARTS].v;
	struct entries e = { 0 };

	for (uint32_t i = 0; i < making_nr(m, SECTION_VERSIONS); i++)
		if (versions[i].literal != MODEL_NONE && versions[i].point != MODEL_NONE)
			vec_push(&e, (struct entry){ names_str(&m->strings,
							       parts[versions[i].literal].text),
						     0, i });
	sort(&e, by_text);
	vec_each (&e, x) {
		struct disk_literal d = { making_string(m, x->text), x->number };

		making_add(m, SECTION_LITERALS, &d);
	}
	vec_done(&e);
}

static void add_places(struct making *m)
{
	const struct disk_point *points = (const void *)m->sections[SECTION_POINTS].v;
	const struct disk_method *methods = (const void *)m->sections[SECTION_METHODS].v;
	struct entries e = { 0 };

	for (uint32_t i = 0; i < making_nr(m, SECTION_POINTS); i++) {
		struct str file = names_str(&m->strings, methods[points[i].method].file);

		if (file.n && points[i].line)
			vec_push(&e, (struct entry){ file, points[i].line, i });
	}
	sort(&e, by_text);
	vec_each (&e, x) {
		struct disk_place d = { making_string(m, x->text), x->line, x->number };

		making_add(m, SECTION_PLACES, &d);
	}
	vec_done(&e);
}

/* The names of the classes below, for a logger that is named after the class of its object. */
static void add_below(struct making *m, struct entries *e, struct str class, uint32_t point)
{
	const struct program *p = m->learned->program;
	VEC(uint32_t) open = { 0 };
	char *z = arena_z(&m->scratch, class);
	uint32_t at;

	for (size_t i = 0; i < class.n; i++)
		if (z[i] == '.')
			z[i] = '/';
	at = program_class(p, (struct str){ z, class.n });
	if (at != NO_CLASS)
		vec_push(&open, at);
	for (size_t k = 0; k < open.nr; k++) {
		const struct program_class *c = &p->classes.v[open.v[k]];
		struct str name = names_str(&m->strings, making_class(m, c->c.name));

		if (k)
			vec_push(e, (struct entry){ name, 0, point });
		for (uint32_t i = 0; i < c->nr_below && open.nr < BELOW_MAX; i++)
			vec_push(&open, c->below[i]);
	}
	vec_done(&open);
}

static void keep_loggers(struct making *m, const struct entries *e)
{
	VEC(uint32_t) points = { 0 };

	for (size_t from = 0, to; from < e->nr; from = to) {
		struct disk_logger d = { .name = making_string(m, e->v[from].text) };

		vec_clear(&points);
		for (to = from; to < e->nr && str_eq(e->v[to].text, e->v[from].text); to++)
			if (!points.nr || points.v[points.nr - 1] != e->v[to].number)
				vec_push(&points, e->v[to].number);
		d.points = making_list(m, SECTION_POINT_LISTS, points.v, (uint32_t)points.nr);
		making_add(m, SECTION_LOGGERS, &d);
	}
	vec_done(&points);
}

static void add_loggers(struct making *m)
{
	const struct disk_point *points = (const void *)m->sections[SECTION_POINTS].v;
	struct entries e = { 0 };

	for (uint32_t i = 0; i < making_nr(m, SECTION_POINTS); i++) {
		struct str name = names_str(&m->strings, points[i].logger);

		if (!name.n)
			continue;
		vec_push(&e, (struct entry){ name, 0, i });
		if (points[i].flags & POINT_ANY_BELOW)
			add_below(m, &e, name, i);
	}
	sort(&e, by_ending);
	keep_loggers(m, &e);
	vec_done(&e);
	arena_reset(&m->scratch);
}

void making_index(struct making *m)
{
	add_literals(m);
	add_loggers(m);
	add_places(m);
}
