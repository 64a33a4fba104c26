/*
 * Loads in three steps: containers are walked in order, classes are unpacked and read by all cores,
 * and their places in the program are given in order again. Then names become numbers and kin is
 * linked.
 *
 * The first of several classes with one name counts, as with a class path; in a multi-release jar
 * the one of the newest Java does. Memory is that of the class files and about as much again.
 */
#include "program/program.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/pipeline.h"
#include "model/loss.h"
#include "program/container.h"

#define NR_SLOTS 64

struct slot {
	struct packed packed;
	struct arena *arena;
	struct class class;
	bool is_good;
};

struct loader {
	struct program *program;
	struct container *container;
	struct losses *losses;
};

static int fill(void *ctx, void *slot, struct error *err)
{
	struct loader *l = ctx;
	struct slot *s = slot;

	return container_next(l->container, &s->packed, err);
}

static void work(void *ctx, void *slot)
{
	struct slot *s = slot;
	struct str bytes;

	(void)ctx;
	s->is_good = packed_unpack(&s->packed, s->arena, &bytes) &&
		     class_read(&s->class, bytes, s->arena, NULL) >= 0;
}

static bool is_module(const struct class *c)
{
	return c->access & ACCESS_MODULE;
}

static void place_class(struct program *p, struct slot *s, struct losses *losses)
{
	struct program_class new = { .c = s->class,
				     .super = NO_CLASS,
				     .release = s->packed.release,
				     .name = names_add(&p->names, s->class.name) };

	while (p->nr_by_name < p->names.nr) {
		uint32_t nr = 2 * p->names.nr;

		p->class_by_name =
			mem_realloc(p->class_by_name, mem_bytes(nr, sizeof(*p->class_by_name)));
		while (p->nr_by_name < nr)
			p->class_by_name[p->nr_by_name++] = NO_CLASS;
	}
	new.origin = arena_str(&p->arena, str_of(s->packed.path));
	if (p->class_by_name[new.name] == NO_CLASS) {
		p->class_by_name[new.name] = (uint32_t)p->classes.nr;
		vec_push(&p->classes, new);
	} else if (new.release > p->classes.v[p->class_by_name[new.name]].release) {
		p->classes.v[p->class_by_name[new.name]] = new;
	} else if (!new.release) {
		losses->count[LOSS_CLASSES_TWICE]++;
	}
}

static int drain(void *ctx, void *slot, struct error *err)
{
	struct loader *l = ctx;
	struct slot *s = slot;

	(void)err;
	l->program->nr_bytes += s->packed.size;
	if (!s->is_good)
		l->losses->count[LOSS_CLASSES_BROKEN]++;
	else if (!is_module(&s->class))
		place_class(l->program, s, l->losses);
	if (s->is_good)
		l->losses->count[LOSS_ATTRIBUTES_BROKEN] += s->class.nr_damaged;
	packed_done(&s->packed);
	return 0;
}

static int load_classes(struct loader *l, unsigned threads, struct error *err)
{
	const struct pipeline line = { fill, work, drain, l };
	struct slot slots[NR_SLOTS] = { 0 };
	void *places[NR_SLOTS];
	struct program *p = l->program;
	int r;

	p->loaded = mem_zalloc(sizeof(*p->loaded) * NR_SLOTS);
	p->nr_loaded = NR_SLOTS;
	for (unsigned i = 0; i < NR_SLOTS; i++) {
		slots[i].arena = &p->loaded[i];
		places[i] = &slots[i];
	}
	r = pipeline_run(&line, places, NR_SLOTS, threads, err);
	for (unsigned i = 0; i < NR_SLOTS; i++)
		packed_done(&slots[i].packed);
	return r;
}

static uint64_t method_hash(uint32_t class, sym_t name, sym_t type)
{
	uint64_t h = class * 0x9E3779B97F4A7C15ULL;

	h = (h ^ name) * 0xC2B2AE3D27D4EB4FULL;
	h = (h ^ (h >> 29) ^ type) * 0x165667B19E3779F9ULL;
	return h ^ (h >> 32);
}

static uint32_t *method_slot(const struct program *p, uint32_t class, sym_t name, sym_t type)
{
	uint32_t mask = p->nr_method_slots - 1;
	uint32_t at = (uint32_t)method_hash(class, name, type) & mask;

	for (;; at = (at + 1) & mask) {
		const struct program_method *m;

		if (p->method_slots[at] == NO_METHOD)
			return &p->method_slots[at];
		m = &p->methods.v[p->method_slots[at]];
		if (m->class == class && m->name == name && m->type == type)
			return &p->method_slots[at];
	}
}

static void number_methods(struct program *p)
{
	size_t total = 0;

	vec_each (&p->classes, c)
		total += c->c.nr_methods;
	for (p->nr_method_slots = 16; p->nr_method_slots < 2 * total;)
		p->nr_method_slots *= 2;
	p->method_slots = mem_alloc(mem_bytes(p->nr_method_slots, sizeof(*p->method_slots)));
	memset(p->method_slots, 0xff, p->nr_method_slots * sizeof(*p->method_slots));
	for (uint32_t i = 0; i < p->classes.nr; i++) {
		struct program_class *c = &p->classes.v[i];

		c->first_method = (uint32_t)p->methods.nr;
		for (uint16_t k = 0; k < c->c.nr_methods; k++) {
			const struct member *m = &c->c.methods[k];
			struct program_method new = { i, names_add(&p->names, m->name),
						      names_add(&p->names, m->type), m };
			uint32_t *slot = method_slot(p, i, new.name, new.type);

			if (*slot == NO_METHOD)
				*slot = (uint32_t)p->methods.nr;
			vec_push(&p->methods, new);
		}
	}
}

uint32_t program_class(const struct program *p, struct str name)
{
	sym_t sym = names_find(&p->names, name);

	return sym && sym < p->nr_by_name ? p->class_by_name[sym] : NO_CLASS;
}

static void link_above(struct program *p, struct program_class *c, struct losses *losses)
{
	uint32_t found;

	c->above = arena_array(&p->arena, uint32_t, c->c.nr_interfaces + 1U);
	if (c->c.super.n) {
		c->super = program_class(p, c->c.super);
		if (c->super != NO_CLASS)
			c->above[c->nr_above++] = c->super;
		else if (!str_starts(c->c.super, STR("java/")))
			losses->count[LOSS_SUPERS_MISSING]++;
	}
	for (uint16_t i = 0; i < c->c.nr_interfaces; i++) {
		found = program_class(p, c->c.interfaces[i]);
		if (found != NO_CLASS)
			c->above[c->nr_above++] = found;
		else if (!str_starts(c->c.interfaces[i], STR("java/")))
			losses->count[LOSS_SUPERS_MISSING]++;
	}
}

static void link_kin(struct program *p, struct losses *losses)
{
	vec_each (&p->classes, c) {
		link_above(p, c, losses);
		for (uint32_t i = 0; i < c->nr_above; i++)
			p->classes.v[c->above[i]].nr_below++;
	}
	vec_each (&p->classes, c) {
		c->below = arena_array(&p->arena, uint32_t, c->nr_below + 1U);
		c->nr_below = 0;
	}
	for (uint32_t i = 0; i < p->classes.nr; i++) {
		const struct program_class *c = &p->classes.v[i];

		for (uint32_t k = 0; k < c->nr_above; k++) {
			struct program_class *above = &p->classes.v[c->above[k]];

			above->below[above->nr_below++] = i;
		}
	}
}

uint32_t program_declared(const struct program *p, uint32_t class, sym_t name, sym_t type)
{
	return *method_slot(p, class, name, type);
}

/* Goes over the class and all above it, supers first; false at the end. */
struct ascent {
	uint32_t seen[KIN_MAX], nr, at;
};

static void ascent_add(struct ascent *a, uint32_t class)
{
	for (uint32_t i = 0; i < a->nr; i++)
		if (a->seen[i] == class)
			return;
	if (a->nr < KIN_MAX)
		a->seen[a->nr++] = class;
}

static void ascent_start(const struct program *p, struct ascent *a, uint32_t class)
{
	a->nr = a->at = 0;
	for (uint32_t c = class, i = 0; c != NO_CLASS && i < KIN_MAX / 2; i++) {
		ascent_add(a, c);
		c = p->classes.v[c].super;
	}
}

static bool ascent_next(const struct program *p, struct ascent *a, uint32_t *class)
{
	const struct program_class *c;

	if (a->at == a->nr)
		return false;
	*class = a->seen[a->at++];
	c = &p->classes.v[*class];
	for (uint32_t i = 0; i < c->nr_above; i++)
		ascent_add(a, c->above[i]);
	return true;
}

uint32_t program_kin(const struct program *p, uint32_t class, uint32_t kin[KIN_MAX])
{
	struct ascent a;
	uint32_t nr = 0;

	ascent_start(p, &a, class);
	while (ascent_next(p, &a, &kin[nr]))
		nr++;
	return nr;
}

uint32_t program_resolve(const struct program *p, uint32_t class, sym_t name, sym_t type)
{
	struct ascent a;
	uint32_t at, found = NO_METHOD, first = NO_METHOD;

	if (class == NO_CLASS)
		return NO_METHOD;
	ascent_start(p, &a, class);
	while (ascent_next(p, &a, &at)) {
		found = program_declared(p, at, name, type);
		if (found == NO_METHOD)
			continue;
		if (!(p->methods.v[found].member->access & ACCESS_ABSTRACT))
			return found;
		if (first == NO_METHOD)
			first = found;
	}
	return first;
}

bool program_is_a(const struct program *p, uint32_t class, struct str name)
{
	struct ascent a;
	uint32_t at;

	if (class == NO_CLASS)
		return false;
	ascent_start(p, &a, class);
	while (ascent_next(p, &a, &at)) {
		const struct class *c = &p->classes.v[at].c;

		if (str_eq(c->name, name) || str_eq(c->super, name))
			return true;
		for (uint16_t i = 0; i < c->nr_interfaces; i++)
			if (str_eq(c->interfaces[i], name))
				return true;
	}
	return false;
}

int program_load(struct program **out, const char *const *paths, size_t nr, unsigned threads,
		 struct losses *losses, struct error *err)
{
	struct program *p = mem_zalloc(sizeof(*p));
	struct loader l = { .program = p, .losses = losses };
	int r = container_open(&l.container, paths, nr, losses, err);

	p->threads = threads;
	if (r >= 0)
		r = load_classes(&l, threads ? threads : pipeline_cores(), err);
	if (r >= 0) {
		p->nr_containers = container_nr_opened(l.container);
		number_methods(p);
		link_kin(p, losses);
		*out = p;
	} else {
		program_free(p);
	}
	container_close(l.container);
	return r;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr_loaded; i++)
		arena_done(&p->loaded[i]);
	free(p->loaded);
	free(p->class_by_name);
	free(p->method_slots);
	vec_done(&p->classes);
	vec_done(&p->methods);
	names_done(&p->names);
	arena_done(&p->arena);
	free(p);
}
