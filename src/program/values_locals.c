#include "program/values_locals.h"

#include "program/values_make.h"

#define UNSET UINT32_MAX

uint32_t locals_phi(struct maker *m, uint32_t block, uint32_t slot)
{
	uint32_t now = m->now, phi;

	m->now = block + 1;
	phi = maker_value(m, VALUE_PHI, 0, 0);
	m->now = now;
	m->v.v[phi].pc = (uint16_t)m->values->flow.blocks[block].from;
	vec_push(&m->pending, (struct pending){ phi, block, slot });
	return phi;
}

void locals_write(struct maker *m, uint32_t slot, uint32_t value)
{
	if (slot >= m->code->max_locals) {
		m->is_damaged = true;
		return;
	}
	vec_push(&m->places[m->now - 1].defines, (struct define){ slot, value });
	m->current[slot] = value;
	m->stamp[slot] = m->now;
}

static uint32_t found_at_entry(const struct place *p, uint32_t slot)
{
	vec_each (&p->entries, d)
		if (d->slot == slot)
			return d->value;
	return UNSET;
}

static uint32_t found_at_end(const struct place *p, uint32_t slot)
{
	for (size_t i = p->defines.nr; i--;)
		if (p->defines.v[i].slot == slot)
			return p->defines.v[i].value;
	return found_at_entry(p, slot);
}

/* The only block that leads here, in the ordinary way; NO_BLOCK where there is choice or none. */
static uint32_t only_before(const struct flow *f, uint32_t block)
{
	const struct block *b = &f->blocks[block];
	const struct edge_in *e = &f->before[b->first_before];

	return block && b->nr_before == 1 && !e->is_exceptional ? e->block : NO_BLOCK;
}

/* The value of a local at the beginning of a block. */
static uint32_t read_at_entry(struct maker *m, uint32_t block, uint32_t slot)
{
	const struct flow *f = &m->values->flow;
	uint32_t at = block, before, value = found_at_entry(&m->places[at], slot);

	while (value == UNSET) {
		before = only_before(f, at);
		if (before == NO_BLOCK) {
			value = at || f->blocks[0].nr_before ? locals_phi(m, at, slot)
							     : m->parameters[slot];
			vec_push(&m->places[at].entries, (struct define){ slot, value });
			break;
		}
		at = before;
		value = found_at_end(&m->places[at], slot);
	}
	if (at != block)
		vec_push(&m->places[block].entries, (struct define){ slot, value });
	return value;
}

uint32_t locals_read(struct maker *m, uint32_t slot)
{
	uint32_t block = m->now - 1;

	if (slot >= m->code->max_locals) {
		m->is_damaged = true;
		return 0;
	}
	if (m->stamp[slot] != m->now) {
		m->current[slot] = read_at_entry(m, block, slot);
		m->stamp[slot] = m->now;
	}
	return m->current[slot];
}

static uint32_t read_at_end(struct maker *m, uint32_t block, uint32_t slot)
{
	uint32_t value = found_at_end(&m->places[block], slot);

	return value == UNSET ? read_at_entry(m, block, slot) : value;
}

/* From what the phi may come, into *sources. */
static void find_sources(struct maker *m, const struct pending *p, const struct edge_in *e,
			 uint32_t **sources, size_t *nr, size_t *room)
{
	VEC(uint32_t) found = { *sources, *nr, *room };
	uint32_t locals = m->code->max_locals;

	if (p->slot >= locals) {
		const struct place *from = &m->places[e->block];
		uint32_t depth = p->slot - locals;

		vec_push(&found, depth < from->nr_out ? from->out[depth] : 0);
	} else if (!e->is_exceptional) {
		vec_push(&found, read_at_end(m, e->block, p->slot));
	} else {
		vec_push(&found, read_at_entry(m, e->block, p->slot));
		vec_each (&m->places[e->block].defines, d)
			if (d->slot == p->slot)
				vec_push(&found, d->value);
	}
	*sources = found.v;
	*nr = found.nr;
	*room = found.room;
}

void locals_fill(struct maker *m)
{
	const struct flow *f = &m->values->flow;
	VEC(uint32_t) sources = { 0 };

	for (size_t i = 0; i < m->pending.nr; i++) { /* grows on the way */
		struct pending p = m->pending.v[i];
		const struct block *b = &f->blocks[p.block];

		vec_clear(&sources);
		if (!p.block && p.slot < m->code->max_locals)
			vec_push(&sources, m->parameters[p.slot]);
		for (uint32_t e = 0; e < b->nr_before; e++)
			find_sources(m, &p, &f->before[b->first_before + e], &sources.v,
				     &sources.nr, &sources.room);
		m->v.v[p.phi].first = (uint32_t)m->args.nr;
		m->v.v[p.phi].nr = 0;
		vec_each (&sources, s)
			maker_arg(m, p.phi, *s);
	}
	vec_done(&sources);
}
