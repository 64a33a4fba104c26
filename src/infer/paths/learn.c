/*
 * LEARN of the note "paths", without its curriculum: expectation and maximisation in which the
 * expectation is a few samples. What keeps it from a wrong solution is that it begins from an
 * unbiased guess (start.h) and with delays that are smoothed more than they need to be, so that
 * nothing is believed early; and, in a second run, that the sampler moves more freely at first.
 */
#include "infer/paths/learn.h"

#include <math.h>

#include "infer/paths/fifo.h"
#include "infer/paths/start.h"
#include "infer/paths/sweep.h"

enum { ROUNDS = 40, ROUNDS_EASY = 14, SAMPLES = 2, MARKS = 60, SETTLE = 10 };
#define BLUR 3.0f       /* how much wider delays are smoothed at first */
#define SHARPEN 1.2     /* how much common steps are preferred at first */
#define FREE_UNTIL 0.7f /* of the rounds */
#define ANY_SPAN 0.1f   /* share of proposals that are drawn from all candidates alike */

static void fit_to(struct model *m, struct piece *p, unsigned samples, double sharpen,
		   uint64_t *seed)
{
	struct sights s = { .weight = samples ? 1.0f / (float)samples : 1 };

	for (unsigned i = 0; i < samples; i++) {
		sweep(p, m, seed);
		sweep(p, m, seed);
		model_see(m, p, &s);
	}
	if (!samples)
		model_see(m, p, &s);
	model_fit(m, &s, sharpen);
	model_ll_all(m, p);
	pull_learn(&m->pull, p, m->bins);
	pull_weigh(&m->pull, p, m->bins, ANY_SPAN);
	vec_done(&s.v);
}

double learn_model(struct model *m, struct piece *p, const struct view *v, float heat,
		   uint64_t *seed, bool (*is_stopped)(void))
{
	/* most calls teach from the beginning */
	int rounds = 2 * p->nr_unsure < p->nr_calls ? ROUNDS_EASY : ROUNDS;
	double ll = 0;

	start_assign(p, &m->pull, v, m->bins, seed);
	m->blur = BLUR;
	fit_to(m, p, 0, SHARPEN, seed);
	for (int i = 0; i < rounds && p->nr_unsure; i++) {
		float left = 1 - (float)i / ((float)rounds * FREE_UNTIL);

		if (is_stopped && is_stopped())
			break;
		left = left > 0 ? left : 0;
		m->blur = powf(BLUR, left);
		p->heat = powf(heat, left);
		fit_to(m, p, SAMPLES, 1 + (SHARPEN - 1) * (double)left, seed);
		if (2 * i >= rounds)
			fifo_learn(m, p);
	}
	m->blur = p->heat = 1;
	if (!p->nr_unsure)
		fit_to(m, p, 0, 1, seed);
	for (int i = 0; i < SETTLE; i++)
		sweep(p, m, seed);
	sweep_marks(p, m, seed, MARKS);
	for (uint32_t i = 0; i < p->nr_spans; i++)
		ll += (double)p->spans[i].ll;
	return ll;
}
