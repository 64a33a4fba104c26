/*
 * Every call has one span; where it lies in that span, seen from both ends, is learned by
 * expectation and maximisation over all spans that could have it, each call by itself. In the crowd
 * that is little, but it is unbiased: calls are then given at random by it. The likeliest choice
 * for each would show the model delays much sharper than they are, and it would never doubt them.
 */
#include "infer/paths/start.h"

#include "infer/paths/bins.h"
#include "infer/paths/chance.h"
#include "infer/paths/piece.h"
#include "infer/paths/pull.h"

enum { ROUNDS = 50 };
#define NOT_LATE 0.01f /* how likely it is that others than the late span of a join go on */

static void begin(struct piece *p, const struct view *v)
{
	for (uint32_t i = 0; i < p->nr_unsure; i++) {
		const struct pcall *c = &p->calls[p->unsure[i]];
		float sum = 0;

		for (uint32_t k = c->first; k < c->first + c->nr; k++) {
			uint32_t type = p->spans[p->candidates.v[k]].type;

			sum += v->late && type != v->nr_types - 1 ? NOT_LATE : 1;
			p->pull[k] = sum;
		}
	}
}

void start_draw(struct piece *p, uint64_t *seed)
{
	for (uint32_t i = 0; i < p->nr_unsure; i++) {
		const struct pcall *c = &p->calls[p->unsure[i]];
		float at = chance_float(seed) * p->pull[c->first + c->nr - 1];

		piece_give(p, p->unsure[i], p->candidates.v[pull_at(p, c, at)]);
	}
}

void start_assign(struct piece *p, struct pull *u, const struct view *v, const struct bins *b,
		  uint64_t *seed)
{
	begin(p, v);
	for (int i = 0; i < ROUNDS; i++) {
		pull_learn_all(u, p, b, i < ROUNDS / 2);
		pull_weigh(u, p, b, 0);
	}
	start_draw(p, seed);
}
