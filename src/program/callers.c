#include "program/callers.h"

#include <stdlib.h>

#include "base/crew.h"
#include "program/insn.h"

enum { CHUNK = 256 };

struct naming {
	uint32_t method, class;
};

struct chunk {
	VEC(struct naming) v;
};

struct search {
	const struct program *program;
	bool (*wanted)(const struct program *p, uint32_t method, const void *ctx);
	const void *ctx;
	struct chunk *chunks;
};

/* The method that a constant of the class names, where it is given. */
static uint32_t named_method(const struct program *p, const struct class *c, uint16_t constant)
{
	enum constant_tag tag = class_tag(c, constant);
	struct member_ref m;

	if ((tag != CONSTANT_METHOD && tag != CONSTANT_INTERFACE_METHOD) ||
	    !class_member(c, constant, &m))
		return NO_METHOD;
	return program_resolve(p, program_class(p, m.owner), names_find(&p->names, m.name),
			       names_find(&p->names, m.type));
}

static void look_at_chunk(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	const struct program *p = s->program;
	size_t end = ((size_t)item + 1) * CHUNK;

	for (size_t i = (size_t)item * CHUNK; i < end && i < p->classes.nr; i++) {
		const struct class *c = &p->classes.v[i].c;

		for (uint32_t k = 1; k < c->nr_constants; k++) {
			uint32_t method = named_method(p, c, (uint16_t)k);

			if (method != NO_METHOD && (!s->wanted || s->wanted(p, method, s->ctx)))
				vec_push(&s->chunks[item].v,
					 (struct naming){ method, (uint32_t)i });
		}
	}
}

void callers_init(struct callers *c, const struct program *p,
		  bool (*wanted)(const struct program *p, uint32_t method, const void *ctx),
		  const void *ctx)
{
	uint32_t nr_chunks = (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK), total = 0;
	struct search s = { p, wanted, ctx,
			    mem_zalloc(mem_bytes(nr_chunks + 1U, sizeof(*s.chunks))) };

	crew_run_with(p->threads, nr_chunks, look_at_chunk, &s);
	c->first = mem_zalloc(mem_bytes(p->methods.nr + 2, sizeof(*c->first)));
	for (uint32_t i = 0; i < nr_chunks; i++)
		vec_each (&s.chunks[i].v, n)
			c->first[n->method + 2]++;
	for (size_t i = 2; i < p->methods.nr + 2; i++)
		c->first[i] += c->first[i - 1];
	total = c->first[p->methods.nr + 1];
	c->classes = mem_alloc(mem_bytes(total + 1U, sizeof(*c->classes)));
	for (uint32_t i = 0; i < nr_chunks; i++) {
		vec_each (&s.chunks[i].v, n)
			c->classes[c->first[n->method + 1]++] = n->class;
		vec_done(&s.chunks[i].v);
	}
	free(s.chunks);
}

void callers_done(struct callers *c)
{
	free(c->first);
	free(c->classes);
}

/* The constants of a class that name the method. */
struct names_of {
	uint16_t v[8];
	uint32_t nr;
};

static void find_names(const struct program *p, const struct class *c, uint32_t method,
		       struct names_of *n)
{
	struct str name = p->methods.v[method].member->name;
	struct member_ref m;

	n->nr = 0;
	for (uint32_t k = 1; k < c->nr_constants && n->nr < 8; k++)
		if ((class_tag(c, (uint16_t)k) == CONSTANT_METHOD ||
		     class_tag(c, (uint16_t)k) == CONSTANT_INTERFACE_METHOD) &&
		    class_member(c, (uint16_t)k, &m) && str_eq(m.name, name) &&
		    named_method(p, c, (uint16_t)k) == method)
			n->v[n->nr++] = (uint16_t)k;
}

static bool is_one_of(const struct names_of *n, uint32_t constant)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (n->v[i] == constant)
			return true;
	return false;
}

/* Adds the calls in one class. */
static uint32_t calls_in(const struct program *p, uint32_t class, uint32_t method,
			 struct caller *places, uint32_t nr, uint32_t max)
{
	const struct program_class *c = &p->classes.v[class];
	struct names_of names;
	struct insn i;

	find_names(p, &c->c, method, &names);
	for (uint16_t k = 0; k < c->c.nr_methods; k++) {
		const struct code *code = c->c.methods[k].code;

		for (uint32_t pc = 0; code && pc < code->bytes.n && nr < max; pc = i.next) {
			if (!insn_read(code->bytes, pc, &i))
				break;
			if (i.op >= OP_INVOKEVIRTUAL && i.op <= OP_INVOKEINTERFACE &&
			    is_one_of(&names, i.operand))
				places[nr++] = (struct caller){ c->first_method + k, (uint16_t)pc };
		}
	}
	return nr;
}

uint32_t callers_of(const struct callers *c, const struct program *p, uint32_t method,
		    struct caller *places, uint32_t max)
{
	uint32_t nr = 0, last = NO_CLASS;

	for (uint32_t i = c->first[method]; i < c->first[method + 1] && nr < max; i++) {
		if (c->classes[i] != last)
			nr = calls_in(p, c->classes[i], method, places, nr, max);
		last = c->classes[i];
	}
	return nr;
}
