#include "program/model_making.h"

#include <stdlib.h>
#include <string.h>

#include "program/origin.h"

static const uint8_t words_of[] = {
#define SECTION_WORDS(id, words) words,
	MODEL_SECTIONS(SECTION_WORDS)
#undef SECTION_WORDS
};

uint32_t making_nr(const struct making *m, enum model_section section)
{
	return (uint32_t)(m->sections[section].nr / words_of[section]);
}

uint32_t making_add(struct making *m, enum model_section section, const void *record)
{
	uint32_t nr = making_nr(m, section);
	const uint32_t *words = record;

	for (unsigned i = 0; i < words_of[section]; i++)
		vec_push(&m->sections[section], words[i]);
	return nr;
}

static uint32_t *list_slot(struct making *m, enum model_section section, const uint32_t *v,
			   uint32_t nr)
{
	struct lists *l = &m->lists[section];
	uint32_t mask = l->nr_slots - 1;
	uint32_t at = (uint32_t)str_hash((struct str){ (const char *)v, nr * sizeof(*v) }) & mask;

	for (;; at = (at + 1) & mask) {
		const struct disk_range *r;

		if (!l->slots[at])
			return &l->slots[at];
		r = &l->made.v[l->slots[at] - 1];
		if (r->nr == nr && !memcmp(m->sections[section].v + r->first, v, nr * sizeof(*v)))
			return &l->slots[at];
	}
}

static void grow_lists(struct making *m, enum model_section section)
{
	struct lists *l = &m->lists[section];

	l->nr_slots = l->nr_slots ? 2 * l->nr_slots : 1024;
	free(l->slots);
	l->slots = mem_zalloc(mem_bytes(l->nr_slots, sizeof(*l->slots)));
	for (uint32_t i = 0; i < l->made.nr; i++) {
		const struct disk_range *r = &l->made.v[i];

		*list_slot(m, section, m->sections[section].v + r->first, r->nr) = i + 1;
	}
}

struct disk_range making_list(struct making *m, enum model_section section, const uint32_t *v,
			      uint32_t nr)
{
	struct lists *l = &m->lists[section];
	struct disk_range r;
	uint32_t *slot;

	if (!nr)
		return (struct disk_range){ 0, 0 };
	if (2 * l->made.nr >= l->nr_slots)
		grow_lists(m, section);
	slot = list_slot(m, section, v, nr);
	if (!*slot) {
		vec_push(&l->made, (struct disk_range){ (uint32_t)m->sections[section].nr, nr });
		for (uint32_t i = 0; i < nr; i++)
			vec_push(&m->sections[section], v[i]);
		*slot = (uint32_t)l->made.nr;
	}
	r = l->made.v[*slot - 1];
	return (struct disk_range){ r.first / words_of[section], r.nr / words_of[section] };
}

uint32_t making_string(struct making *m, struct str s)
{
	return names_add(&m->strings, s);
}

uint32_t making_class(struct making *m, struct str internal_name)
{
	char *z = arena_z(&m->scratch, internal_name);

	for (size_t i = 0; i < internal_name.n; i++)
		if (z[i] == '/')
			z[i] = '.';
	return making_string(m, (struct str){ z, internal_name.n });
}

uint32_t making_method(struct making *m, uint32_t method)
{
	const struct program *p = m->learned->program;
	const struct member *member = p->methods.v[method].member;
	const struct class *c = program_class_of(p, method);
	struct disk_method d = { .top = m->tops[method] ? m->tops[method] - 1 : MODEL_NONE };

	if (!m->methods[method]) {
		d.class = making_class(m, c->name);
		d.name = making_string(m, member->name);
		d.type = making_string(m, member->type);
		d.file = making_string(m, c->source);
		m->methods[method] = 1 + making_add(m, SECTION_METHODS, &d);
	}
	return m->methods[method] - 1;
}

static bool is_static(const struct making *m, uint32_t method)
{
	const struct program *p = m->learned->program;

	return method < p->methods.nr && (p->methods.v[method].member->access & ACCESS_STATIC);
}

static void write_root(const struct making *m, const struct path *p, struct buf *b)
{
	if (p->root == ROOT_STATIC)
		buf_add(b, STR("static"));
	else if (p->root < 0)
		buf_add(b, STR("local"));
	else if (!p->root && !is_static(m, p->method))
		buf_add(b, STR("this"));
	else
		buf_fmt(b, "#%d", p->root);
}

uint32_t making_path(struct making *m, const struct path *p)
{
	struct buf b = { 0 };
	uint32_t s;

	write_root(m, p, &b);
	for (uint16_t i = 0; i < p->nr; i++) {
		buf_char(&b, '/');
		buf_add(&b, p->fields[i]);
	}
	s = making_string(m, buf_str(&b));
	buf_done(&b);
	return s;
}

uint32_t making_path_end(struct making *m, const struct path *p)
{
	const struct program *program = m->learned->program;
	struct str class;

	if (p->nr)
		return making_string(m, p->fields[p->nr - 1]);
	if (p->root < 0 || p->method >= program->methods.nr)
		return 0;
	class = origin_simple(program_class_of(program, p->method)->name);
	if (!p->root && !is_static(m, p->method))
		return making_string(m, class);
	return making_string(m, arena_fmt(&m->scratch, STR_FMT "." STR_FMT "#%d", STR_ARG(class),
					  STR_ARG(program->methods.v[p->method].member->name),
					  p->root));
}
