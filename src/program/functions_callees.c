/* Whom a function calls, as its instructions say. */
#include "program/functions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "program/functions_disasm.h"
#include "program/functions_image.h"
#include "program/functions_slots.h"

enum {
	PARTS_MAX = 64, /* of one function, that were put apart */
	CHOICES_MAX = 32,
	CHOOSER_BYTES = 256, /* looked at where its size is not known */
};

struct calling {
	struct functions *f;
	const struct function_of *fn;
	struct function_image *image;
	uint64_t from, until; /* of the code at hand */
	VEC(uint32_t) found;
	VEC(struct function_range) parts; /* reached by jumps, each once */
	bool is_indirect;
};

static void add(struct calling *c, uint32_t function)
{
	if (&c->f->v.v[function] != c->fn)
		vec_push(&c->found, function);
}

/* All functions of the first module that exports the symbol. */
static bool add_exported(struct calling *c, struct str symbol)
{
	const struct functions *f = c->f;
	uint64_t *first = map_find(&f->by_name, str_hash(symbol));
	uint32_t module = UINT32_MAX;

	for (size_t at = first ? *first : 0; at; at = f->aliases.v[at - 1].next) {
		const struct function_alias *a = &f->aliases.v[at - 1];
		const struct function_of *fn = &f->v.v[a->function];

		if (!fn->is_exported || fn->module > module || !str_eq(a->name, symbol))
			continue;
		module = fn->module;
		add(c, a->function);
	}
	return module != UINT32_MAX;
}

static uint32_t starting_at(const struct functions *f, uint32_t module, uint64_t address)
{
	uint32_t i = functions_at(f, module, address);

	return i != UINT32_MAX && f->v.v[i].address == address ? i : UINT32_MAX;
}

/* All that a function which chooses at the start may choose. */
static void add_chosen(struct calling *c, uint64_t chooser)
{
	uint32_t v[CHOICES_MAX], i = functions_at(c->f, c->fn->module, chooser);
	uint64_t size = i == UINT32_MAX ? CHOOSER_BYTES : c->f->v.v[i].size;
	size_t nr = functions_addressed(c->f, c->fn->module, chooser, size, v, CHOICES_MAX);

	for (size_t k = 0; k < nr; k++)
		add(c, v[k]);
}

static void through_slot(struct calling *c, uint64_t address)
{
	struct slot s;
	uint32_t i;

	if (!function_slot(c->image, address, &s)) {
		c->is_indirect = true;
	} else if (s.is_chooser) {
		add_chosen(c, s.address);
	} else if (s.symbol.n) {
		add_exported(c, s.symbol);
	} else {
		i = starting_at(c->f, c->fn->module, s.address);
		if (i != UINT32_MAX)
			add(c, i);
	}
}

/* The part that begins at the address or holds it; NULL for none. */
static const struct function_range *part_at(const struct function_image *m, uint64_t address)
{
	size_t low = 0, high = m->parts.v.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->parts.v.v[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - m->parts.v.v[low - 1].address >= m->parts.v.v[low - 1].size)
		return NULL;
	return &m->parts.v.v[low - 1];
}

static void add_part(struct calling *c, struct function_range r)
{
	vec_each (&c->parts, p)
		if (p->address == r.address)
			return;
	if (c->parts.nr < PARTS_MAX)
		vec_push(&c->parts, r);
}

static void to_address(struct calling *c, const struct step *s)
{
	uint32_t i = functions_at(c->f, c->fn->module, s->target);
	const struct function_range *part = part_at(c->image, s->target);
	bool is_start = i != UINT32_MAX && c->f->v.v[i].address == s->target;
	uint64_t slot;

	if (s->kind != STEP_CALL &&
	    (s->target - c->from < c->until - c->from || s->target - c->fn->address < c->fn->size))
		return;
	if (part && !is_start)
		add_part(c, *part);
	else if (is_start && s->kind == STEP_BRANCH && c->f->v.v[i].source >= FUNCTION_FRAME)
		/* compilers jump so only within a function: a part that nothing else gives away */
		add_part(c, (struct function_range){ s->target, c->f->v.v[i].size, true });
	else if (is_start || (i != UINT32_MAX && s->kind == STEP_CALL))
		add(c, i);
	else if (function_stub(c->image, s->target, &slot))
		through_slot(c, slot);
}

static void take_step(void *to, const struct step *s)
{
	struct calling *c = to;

	switch (s->kind) {
	case STEP_CALL:
	case STEP_JUMP:
	case STEP_BRANCH:
		to_address(c, s);
		break;
	case STEP_CALL_SLOT:
	case STEP_JUMP_SLOT:
		through_slot(c, s->target);
		break;
	case STEP_CALL_POINTER:
	case STEP_JUMP_POINTER:
		c->is_indirect = true;
		break;
	case STEP_ADDRESS:
		break;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Each once, in the arena. */
static void keep_found(struct calling *c, struct callees *out)
{
	size_t nr = 0;

	if (c->found.nr)
		qsort(c->found.v, c->found.nr, sizeof(*c->found.v), by_number);
	for (size_t i = 0; i < c->found.nr; i++)
		if (!nr || c->found.v[nr - 1] != c->found.v[i])
			c->found.v[nr++] = c->found.v[i];
	*out = (struct callees){ .v = arena_array(&c->f->arena, uint32_t, nr ? nr : 1),
				 .nr = nr,
				 .is_indirect = c->is_indirect };
	if (nr)
		memcpy(out->v, c->found.v, nr * sizeof(*out->v));
}

int functions_callees(struct functions *f, uint32_t function, struct callees *out,
		      struct error *err)
{
	const struct function_of *fn = &f->v.v[function];
	struct calling c = { .f = f, .fn = fn, .image = f->modules.v[fn->module].image };

	if (!functions_can_disassemble(f, fn->module))
		return error_set(err, ENOTSUP,
				 "the instructions of '" STR_FMT "' cannot be read here",
				 STR_ARG(f->modules.v[fn->module].path));
	vec_push(&c.parts, (struct function_range){ fn->address, fn->size, false });
	for (size_t i = 0; i < c.parts.nr; i++) {
		struct function_range r = c.parts.v[i];

		c.from = r.address;
		c.until = r.address + r.size;
		functions_steps(f, fn->module, r.address, r.size, take_step, &c);
	}
	keep_found(&c, out);
	vec_done(&c.found);
	vec_done(&c.parts);
	return 0;
}

struct addressed {
	const struct functions *f;
	uint32_t module, *out;
	size_t nr, max;
};

static void take_address(void *to, const struct step *s)
{
	struct addressed *a = to;
	uint32_t i = s->kind == STEP_ADDRESS ? starting_at(a->f, a->module, s->target) : UINT32_MAX;

	if (i != UINT32_MAX && a->nr < a->max)
		a->out[a->nr++] = i;
}

size_t functions_addressed(struct functions *f, uint32_t module, uint64_t address, uint64_t size,
			   uint32_t *out, size_t max)
{
	struct addressed a = { .f = f, .module = module, .out = out, .max = max };

	functions_steps(f, module, address, size, take_address, &a);
	return a.nr;
}
