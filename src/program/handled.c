#include "program/handled.h"

/* A handler, or a block that one of them dominates: the nearest block above tells. */
bool *handled_blocks(const struct flow *f, struct arena *a)
{
	bool *is_handled = arena_array(a, bool, f->nr + 1U);
	struct dominance d;

	dominance_init(&d, f, a);
	for (uint32_t i = 0; i < f->nr_walk; i++) {
		uint32_t block = f->walk[i], above = d.above[block];

		is_handled[block] = f->blocks[block].guard ||
				    (above != NO_BLOCK && above != block && is_handled[above]);
	}
	return is_handled;
}
