/*
 * The FIFO term of the note "paths" (v2), with one difference: how often calls overtake is counted
 * only where one of the two has a single candidate. Counted on samples it feeds on itself: a
 * penalty makes crossings rarer, which raises the penalty.
 */
#include "infer/paths/fifo.h"

#include <math.h>

enum { CALLEES = 8, NEIGHBOURS = 20 };
#define USUAL 0.4 /* how often those cross who do not queue, */
#define PRIOR 3.0 /* held for true as after this many pairs */

/* The first call to a callee, and since when it was waited for. */
struct first {
	uint32_t callee;
	int64_t since, t;
	bool sure;
};

static unsigned firsts(const struct piece *p, const struct pspan *s, const uint32_t *kids,
		       uint32_t nr, struct first *out)
{
	int64_t since = s->t1;
	unsigned found = 0;

	for (uint32_t i = 0; i < nr && found < CALLEES; i++) {
		const struct pcall *c = &p->calls[kids[i]];
		unsigned k = 0;

		while (k < found && out[k].callee != c->callee)
			k++;
		if (k == found)
			out[found++] = (struct first){ c->callee, since, c->t1, c->nr == 1 };
		since = c->t4 > since ? c->t4 : since;
	}
	return found;
}

/* 1 crossed, 0 in order, -1 they did not wait at the same time. */
static int crossing(const struct first *a, const struct first *b)
{
	int64_t later = a->since > b->since ? a->since : b->since;

	if (a->callee != b->callee || a->since == b->since || a->t == b->t || later >= a->t ||
	    later >= b->t)
		return -1;
	return (a->since < b->since) != (a->t < b->t);
}

uint32_t fifo_crossed(const struct piece *p, const struct pspan *a, const uint32_t *kids_a,
		      uint32_t nr_a, const struct pspan *b, const uint32_t *kids_b, uint32_t nr_b)
{
	struct first fa[CALLEES], fb[CALLEES];
	unsigned na = firsts(p, a, kids_a, nr_a, fa), nb = firsts(p, b, kids_b, nr_b, fb);
	uint32_t crossed = 0;

	for (unsigned i = 0; i < na; i++)
		for (unsigned k = 0; k < nb; k++)
			crossed += crossing(&fa[i], &fb[k]) == 1;
	return crossed;
}

static void count(const struct piece *p, const struct pspan *a, const struct pspan *b,
		  double *pairs, double *crossed)
{
	struct first fa[CALLEES], fb[CALLEES];
	unsigned na = firsts(p, a, a->kids, a->nr, fa), nb = firsts(p, b, b->kids, b->nr, fb);

	for (unsigned i = 0; i < na; i++)
		for (unsigned k = 0; k < nb; k++) {
			int c = fa[i].sure || fb[k].sure ? crossing(&fa[i], &fb[k]) : -1;

			*pairs += c >= 0;
			*crossed += c == 1;
		}
}

void fifo_learn(struct model *m, const struct piece *p)
{
	double pairs[KINDS_MAX + 1] = { 0 }, crossed[KINDS_MAX + 1] = { 0 };

	for (uint32_t i = 0; i < p->nr_spans; i++) {
		const struct pspan *a = &p->spans[i];
		uint32_t end = i + NEIGHBOURS < p->nr_spans ? i + NEIGHBOURS : p->nr_spans - 1;

		for (uint32_t k = i + 1; k <= end && p->spans[k].t1 <= a->t4; k++)
			if (p->spans[k].type == a->type)
				count(p, a, &p->spans[k], &pairs[a->type], &crossed[a->type]);
	}
	for (uint32_t t = 0; t < m->nr_types; t++) {
		double r = (crossed[t] + PRIOR * USUAL) / (pairs[t] + PRIOR);

		r = r < 0.005 ? 0.005 : r;
		m->overtaking[t] =
			r < USUAL ? (float)(log(USUAL / (1 - USUAL)) - log(r / (1 - r))) : 0;
	}
}
