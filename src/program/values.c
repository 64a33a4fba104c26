/*
 * Evaluates the stack away: every instruction becomes a value that names the values it works on, so
 * that "what is logged here" is a walk over values. Locals are followed in the way of Braun and
 * others (Simple and Efficient Construction of Static Single Assignment Form, 2013): a local is
 * looked for only when it is read, and a phi is made only where several blocks lead to one. A
 * handler sees every value that a local had anywhere in the blocks it guards. Phis that turn out to
 * have one source are replaced by it.
 *
 * Linear in the code but for phis, which cost their number of incoming edges.
 */
#include "program/values.h"

#include <stdlib.h>

#include "program/values_locals.h"
#include "program/values_make.h"

static void enter(struct maker *m, uint32_t block)
{
	const struct flow *f = &m->values->flow;
	const struct block *b = &f->blocks[block];
	const struct place *from = NULL;

	vec_clear(&m->stack);
	m->now = block + 1;
	m->pc = b->from;
	if (b->guard) {
		uint16_t type = m->code->guards[b->guard - 1].type;

		maker_push(m, maker_value(m, VALUE_CAUGHT, 0, type));
		return;
	}
	for (uint32_t i = 0; i < b->nr_before && !from; i++)
		if (m->places[f->before[b->first_before + i].block].is_done)
			from = &m->places[f->before[b->first_before + i].block];
	for (uint32_t i = 0; from && i < from->nr_out; i++) {
		uint32_t v = from->out[i];

		if (b->nr_before > 1 && v)
			v = locals_phi(m, block, m->code->max_locals + i);
		maker_push(m, v);
	}
}

static void leave(struct maker *m)
{
	struct place *p = &m->places[m->now - 1];

	p->nr_out = (uint32_t)m->stack.nr;
	p->out = arena_array(m->arena, uint32_t, m->stack.nr + 1);
	if (m->stack.nr)
		memcpy(p->out, m->stack.v, m->stack.nr * sizeof(*p->out));
	p->is_done = true;
}

static bool evaluate(struct maker *m)
{
	const struct flow *f = &m->values->flow;
	struct insn insn;

	for (uint32_t k = 0; k < f->nr_walk && !m->is_damaged; k++) {
		const struct block *b = &f->blocks[f->walk[k]];

		enter(m, f->walk[k]);
		for (uint32_t pc = b->from; pc < b->to && !m->is_damaged; pc = insn.next) {
			if (!insn_read(m->code->bytes, pc, &insn))
				return false;
			m->pc = pc;
			maker_insn(m, &insn);
		}
		leave(m);
	}
	return !m->is_damaged;
}

/* The one value that the phi stands for, or the phi itself. */
static uint32_t source_of(const struct maker *m, const uint32_t *same, uint32_t phi)
{
	const struct value *v = &m->v.v[phi];
	uint32_t found = phi;

	for (uint32_t i = 0; i < v->nr; i++) {
		uint32_t arg = same[m->args.v[v->first + i]];

		if (arg == phi || arg == found)
			continue;
		if (found != phi)
			return phi;
		found = arg;
	}
	return found;
}

/* Replaces phis with one source, again and again until none is left. */
static void simplify(struct maker *m)
{
	uint32_t *same = mem_alloc(mem_bytes(m->v.nr, sizeof(*same)));
	bool is_changed = m->pending.nr > 0;

	for (uint32_t i = 0; i < m->v.nr; i++)
		same[i] = i;
	for (unsigned round = 0; is_changed && round < 64; round++) {
		is_changed = false;
		vec_each (&m->pending, p) {
			uint32_t source = source_of(m, same, p->phi);

			while (same[source] != source)
				source = same[source];
			if (source == same[p->phi])
				continue;
			same[p->phi] = source;
			is_changed = true;
		}
	}
	for (size_t i = 0; i < m->args.nr; i++) {
		uint32_t arg = m->args.v[i];

		while (same[arg] != arg)
			arg = same[arg];
		m->args.v[i] = arg;
	}
	vec_each (&m->pending, p)
		if (same[p->phi] != p->phi)
			m->v.v[p->phi].kind = VALUE_UNKNOWN;
	free(same);
}

static void keep(struct maker *m)
{
	struct values *v = m->values;

	v->nr = (uint32_t)m->v.nr;
	v->v = arena_array(m->arena, struct value, m->v.nr);
	memcpy(v->v, m->v.v, m->v.nr * sizeof(*v->v));
	v->args = arena_array(m->arena, uint32_t, m->args.nr + 1);
	if (m->args.nr)
		memcpy(v->args, m->args.v, m->args.nr * sizeof(*v->args));
}

bool values_init(struct values *v, const struct class *c, const struct member *method,
		 struct arena *a)
{
	struct maker m = { .values = v, .code = method->code, .arena = a };
	bool is_good;

	*v = (struct values){ .class = c, .method = method };
	if (!method->code || !flow_init(&v->flow, method->code, a))
		return false;
	maker_init(&m);
	is_good = evaluate(&m);
	if (is_good) {
		locals_fill(&m);
		simplify(&m);
		keep(&m);
	}
	maker_done(&m);
	return is_good;
}
