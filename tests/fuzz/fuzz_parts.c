/* Times of an interval out of any bytes: they are taken or not, and the variance of what was taken
 * adds up. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "ask/variance/factors.h"
#include "ask/variance/tree.h"
#include "model/parts.h"

#define PARTS_MOST 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct variance_tree *t, struct str *packed)
{
	struct variance_part v[PARTS_MOST];
	struct part_of p;
	size_t nr = 0;

	while (nr < PARTS_MOST && parts_take(packed, &p)) {
		v[nr] = (struct variance_part){ .parent = p.parent,
						.name = p.name,
						.ns = p.ns,
						.work = NAN,
						.nr_calls = p.nr_calls,
						.site = p.site };
		for (int why = 0; why < NR_WAITS; why++)
			v[nr].wait_ns[why] = p.wait_ns[why];
		if (nr++ && p.parent == UINT32_MAX)
			break; /* the next interval */
	}
	variance_tree_add(t, v, nr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct variance_options o = { .min_share = 0.01, .nr_what_if = 3, .nr_steps = 2 };
	struct variance_tree *t = variance_tree_new();
	struct str packed = { (const char *)data, size };
	struct variance_answer a;
	struct arena arena = { 0 };
	double sum = 0;
	size_t left;

	do {
		left = packed.n;
		add(t, &packed);
	} while (packed.n && packed.n < left);
	variance_answer(t, &o, &arena, &a);
	for (size_t i = 0; i < a.nr_factors; i++)
		sum += a.factors[i].share;
	if (a.variance > 0 && fabs(sum - 1) > 1e-6)
		abort();
	arena_done(&arena);
	variance_tree_free(t);
	return 0;
}
