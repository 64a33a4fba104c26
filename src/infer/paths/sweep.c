/*
 * SWEEP of the note "paths": Metropolis steps of three kinds between the span p that has a call and
 * another candidate q. MOVE gives the call to q; SUFFIX exchanges all later kids as well, which
 * carries whole chains over; SWAP exchanges it with a kid of q to the same callee.
 */
#include "infer/paths/sweep.h"

#include <math.h>

#include "infer/paths/chance.h"
#include "infer/paths/fifo.h"
#include "infer/paths/model.h"

/* The kids of the two spans as they would be. */
struct proposal {
	uint32_t p, q;
	uint32_t nr_p, nr_q;
	uint32_t kids_p[2 * KIDS_MAX], kids_q[2 * KIDS_MAX];
	float log_ratio; /* of the chances to propose it and to propose it back */
};

static uint32_t insert(uint32_t *kids, uint32_t nr, uint32_t call)
{
	uint32_t at = nr;

	for (; at > 0 && kids[at - 1] > call; at--)
		kids[at] = kids[at - 1];
	kids[at] = call;
	return nr + 1;
}

static uint32_t copy_without(uint32_t *to, const struct pspan *s, uint32_t call)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->kids[i] != call)
			to[nr++] = s->kids[i];
	return nr;
}

static bool propose_move(const struct piece *p, struct proposal *o, uint32_t call)
{
	o->nr_p = copy_without(o->kids_p, &p->spans[o->p], call);
	o->nr_q = copy_without(o->kids_q, &p->spans[o->q], call);
	o->nr_q = insert(o->kids_q, o->nr_q, call);
	return true;
}

static uint32_t first_from(const struct pspan *s, uint32_t call)
{
	uint32_t i = 0;

	while (i < s->nr && s->kids[i] < call)
		i++;
	return i;
}

static bool propose_suffix(const struct piece *p, struct proposal *o, uint32_t call)
{
	const struct pspan *a = &p->spans[o->p], *b = &p->spans[o->q];
	uint32_t i = first_from(a, call), k = first_from(b, call);

	for (uint32_t n = i; n < a->nr; n++)
		if (a->kids[n] != call && piece_candidate(p, a->kids[n], o->q) == NO_SPAN)
			return false;
	for (uint32_t n = k; n < b->nr; n++)
		if (piece_candidate(p, b->kids[n], o->p) == NO_SPAN)
			return false;
	o->nr_p = o->nr_q = 0;
	for (uint32_t n = 0; n < i; n++)
		o->kids_p[o->nr_p++] = a->kids[n];
	for (uint32_t n = k; n < b->nr; n++)
		o->kids_p[o->nr_p++] = b->kids[n];
	for (uint32_t n = 0; n < k; n++)
		o->kids_q[o->nr_q++] = b->kids[n];
	for (uint32_t n = i; n < a->nr; n++)
		o->kids_q[o->nr_q++] = a->kids[n];
	return true;
}

static uint32_t count_same(const struct piece *p, const struct pspan *s, uint32_t callee)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		nr += p->calls[s->kids[i]].callee == callee;
	return nr;
}

static bool propose_swap(const struct piece *p, struct proposal *o, uint32_t call, uint64_t *seed)
{
	const struct pspan *a = &p->spans[o->p], *b = &p->spans[o->q];
	uint32_t callee = p->calls[call].callee, other = NO_SPAN, pick;
	uint32_t nr_a = count_same(p, a, callee), nr_b = count_same(p, b, callee);

	if (!nr_b)
		return false;
	pick = chance_below(seed, nr_b);
	for (uint32_t i = 0; i < b->nr; i++)
		if (p->calls[b->kids[i]].callee == callee && !pick--) {
			other = b->kids[i];
			break;
		}
	if (piece_candidate(p, other, o->p) == NO_SPAN)
		return false;
	o->nr_p = insert(o->kids_p, copy_without(o->kids_p, a, call), other);
	o->nr_q = insert(o->kids_q, copy_without(o->kids_q, b, other), call);
	if (nr_a != nr_b)
		o->log_ratio += logf((float)nr_b / (float)nr_a);
	return true;
}

static bool propose(const struct piece *p, struct proposal *o, uint32_t call, uint64_t *seed)
{
	uint64_t kind = chance_bits(seed) >> 32;

	kind = kind * 3 >> 32;
	if (kind == 0)
		return propose_move(p, o, call);
	if (kind == 1)
		return propose_suffix(p, o, call);
	return propose_swap(p, o, call, seed);
}

/* The call's next owner by chance, as the pull of its candidates is; false for none. */
static bool draw_other(const struct piece *p, uint32_t call, uint64_t *seed, struct proposal *o)
{
	const struct pcall *c = &p->calls[call];
	uint32_t has = c->at, got;
	float own = p->pull[has] - (has > c->first ? p->pull[has - 1] : 0), pull;

	/* the surer its place is, the seldomer another one is tried */
	got = pull_at(p, c, chance_float(seed) * p->pull[c->first + c->nr - 1]);
	if (got == has)
		return false;
	pull = p->pull[got] - (got > c->first ? p->pull[got - 1] : 0);
	o->p = c->span;
	o->q = p->candidates.v[got];
	o->log_ratio = logf(own / pull);
	return p->spans[o->p].nr < KIDS_MAX && p->spans[o->q].nr < KIDS_MAX;
}

/* Only the order between the two spans themselves is looked at: an approximation. */
static float queueing(const struct model *m, const struct piece *p, const struct proposal *o)
{
	const struct pspan *a = &p->spans[o->p], *b = &p->spans[o->q];
	float penalty = a->type == b->type ? m->overtaking[a->type] : 0;
	uint32_t before, after;

	if (penalty <= 0)
		return 0;
	before = fifo_crossed(p, a, a->kids, a->nr, b, b->kids, b->nr);
	after = fifo_crossed(p, a, o->kids_p, o->nr_p, b, o->kids_q, o->nr_q);
	return penalty * ((float)before - (float)after);
}

static void step(struct piece *p, struct model *m, uint32_t call, uint64_t *seed)
{
	struct proposal o;
	float ll_p, ll_q, gain;

	if (!draw_other(p, call, seed, &o) || !propose(p, &o, call, seed))
		return;
	ll_p = model_ll(m, p, &p->spans[o.p], o.kids_p, o.nr_p);
	ll_q = model_ll(m, p, &p->spans[o.q], o.kids_q, o.nr_q);
	gain = ll_p + ll_q - p->spans[o.p].ll - p->spans[o.q].ll + queueing(m, p, &o);
	gain = gain / p->heat + o.log_ratio;
	if (gain < 0) {
		float u = ((float)(chance_bits(seed) >> 40) + 0.5f) / 16777216.0f;

		if (gain < -17 || u >= expf(gain))
			return;
	}
	piece_set_kids(p, o.p, o.kids_p, o.nr_p);
	piece_set_kids(p, o.q, o.kids_q, o.nr_q);
	p->spans[o.p].ll = ll_p;
	p->spans[o.q].ll = ll_q;
}

void sweep(struct piece *p, struct model *m, uint64_t *seed)
{
	for (uint32_t i = 0; i < p->nr_unsure; i++) {
		uint32_t call = p->unsure[i], nr = p->calls[call].nr;

		for (int k = p->tries * (nr < 4 ? 1 : nr < 10 ? 2 : 3); k > 0; k--)
			step(p, m, call, seed);
	}
}

void sweep_marks(struct piece *p, struct model *m, uint64_t *seed, unsigned nr)
{
	for (unsigned k = 0; k < nr; k++) {
		sweep(p, m, seed);
		for (uint32_t i = 0; i < p->nr_unsure; i++)
			p->marks[p->calls[p->unsure[i]].at]++;
		p->nr_marked++;
	}
}
