/* As Cooper, Harvey and Kennedy do it: A Simple, Fast Dominance Algorithm, 2001. */
#include "program/dominance.h"

#include <stdlib.h>

#include "base/vec.h"

static uint32_t meet(const struct dominance *d, uint32_t x, uint32_t y)
{
	const struct block *b = d->flow->blocks;

	while (x != y) {
		while (b[x].order > b[y].order)
			x = d->above[x];
		while (b[y].order > b[x].order)
			y = d->above[y];
	}
	return x;
}

static uint32_t nearest(const struct dominance *d, uint32_t block)
{
	const struct block *b = &d->flow->blocks[block];
	uint32_t found = NO_BLOCK;

	for (uint32_t i = 0; i < b->nr_before; i++) {
		uint32_t before = d->flow->before[b->first_before + i].block;

		if (d->above[before] == NO_BLOCK)
			continue;
		found = found == NO_BLOCK ? before : meet(d, before, found);
	}
	return found;
}

void dominance_init(struct dominance *d, const struct flow *f, struct arena *a)
{
	bool is_changed = true;

	*d = (struct dominance){ .flow = f, .above = arena_array(a, uint32_t, f->nr + 1U) };
	for (uint32_t i = 0; i < f->nr; i++)
		d->above[i] = NO_BLOCK;
	d->above[0] = 0;
	while (is_changed) {
		is_changed = false;
		for (uint32_t k = 1; k < f->nr_walk; k++) {
			uint32_t block = f->walk[k], found = nearest(d, block);

			if (d->above[block] != found) {
				d->above[block] = found;
				is_changed = true;
			}
		}
	}
}

bool dominance_holds(const struct dominance *d, uint32_t above, uint32_t block)
{
	while (block != NO_BLOCK && block != above && block)
		block = d->above[block];
	return block == above;
}

bool flow_returns(const struct flow *f, uint32_t block, uint32_t avoid)
{
	bool *seen = mem_zalloc(f->nr + 1U);
	VEC(uint32_t) open = { 0 };
	bool is_back = false;

	vec_push(&open, block);
	while (open.nr && !is_back) {
		const struct block *b = &f->blocks[open.v[--open.nr]];

		for (uint32_t i = 0; i < b->nr_next + b->nr_handlers; i++) {
			uint32_t to = f->edges[b->first_next + i];

			is_back |= to == block && to != avoid;
			if (to == avoid || seen[to])
				continue;
			seen[to] = true;
			vec_push(&open, to);
		}
	}
	vec_done(&open);
	free(seen);
	return is_back;
}
