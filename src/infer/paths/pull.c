/*
 * Of the many spans that are open around a call most are no match at all, and a sampler that tries
 * them all alike wastes its time. How long after the start of a span a call is sent, and how long
 * before its end it returns, is known long before anything else is: in proportion to that spans are
 * proposed, and the sampler corrects for it, so that nothing is decided here.
 */
#include "infer/paths/pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/paths/bins.h"
#include "infer/paths/piece.h"

#define WIDTH 3.0      /* of the smoothing, in bins */
#define ANYWHERE 0.05f /* share of the calls that may lie anywhere in a span */

void pull_init(struct pull *u, const struct view *v)
{
	size_t bytes = mem_bytes((size_t)v->nr_types * v->nr_callees * BINS, sizeof(float));

	*u = (struct pull){ .nr_types = v->nr_types, .nr_callees = v->nr_callees };
	u->since_start = mem_zalloc(bytes);
	u->until_end = mem_zalloc(bytes);
	u->spans = mem_zalloc(mem_bytes(v->nr_types, sizeof(float)));
}

void pull_done(struct pull *u)
{
	free(u->since_start);
	free(u->until_end);
	free(u->spans);
}

static void forget(struct pull *u, const struct piece *p)
{
	size_t bytes = (size_t)u->nr_types * u->nr_callees * BINS * sizeof(float);

	memset(u->since_start, 0, bytes);
	memset(u->until_end, 0, bytes);
	memset(u->spans, 0, u->nr_types * sizeof(float));
	for (uint32_t i = 0; i < p->nr_spans; i++)
		u->spans[p->spans[i].type]++;
}

static inline void see(struct pull *u, const struct bins *b, const struct pspan *s,
		       const struct pcall *c, float weight)
{
	size_t at = ((size_t)s->type * u->nr_callees + c->callee) * BINS;

	u->since_start[at + bins_of(b, c->t1 - s->t1)] += weight;
	u->until_end[at + bins_of(b, s->t4 - c->t4)] += weight;
}

static void to_log_density(float *h, const struct bins *b, float spans)
{
	float blurred[BINS], all = 0, rate;
	unsigned lo = 0, hi = BINS;

	for (int i = 0; i < BINS; i++)
		all += h[i];
	if (all > 0)
		bins_blur(h, blurred, WIDTH, &lo, &hi);
	rate = spans > 0 ? logf((all + 0.01f) / (spans + 1)) : 0;
	for (int i = 0; i < BINS; i++)
		h[i] = logf((all > 0 ? (1 - ANYWHERE) * blurred[i] / all : 0) + ANYWHERE / BINS) -
		       b->log_seconds[i] + rate;
}

static void fit(struct pull *u, const struct bins *b)
{
	for (uint32_t t = 0; t < u->nr_types; t++)
		for (uint32_t x = 0; x < u->nr_callees; x++) {
			size_t at = ((size_t)t * u->nr_callees + x) * BINS;

			to_log_density(u->since_start + at, b, u->spans[t] + 1);
			to_log_density(u->until_end + at, b, 0);
		}
}

void pull_learn(struct pull *u, const struct piece *p, const struct bins *b)
{
	forget(u, p);
	for (uint32_t i = 0; i < p->nr_spans; i++)
		for (uint32_t k = 0; k < p->spans[i].nr; k++)
			see(u, b, &p->spans[i], &p->calls[p->spans[i].kids[k]], 1);
	fit(u, b);
}

void pull_learn_all(struct pull *u, const struct piece *p, const struct bins *b, bool early)
{
	forget(u, p);
	for (uint32_t i = 0; i < p->nr_calls; i++) {
		const struct pcall *c = &p->calls[i];
		const float *sum = p->pull + c->first;
		float trust = early ? 1 / sqrtf((float)(c->nr ? c->nr : 1)) : 1, before = 0;

		for (uint32_t k = 0; k < c->nr; k++) {
			float w = c->nr > 1 ? (sum[k] - before) / sum[c->nr - 1] : 1;

			see(u, b, &p->spans[p->candidates.v[c->first + k]], c, w * trust);
			before = sum[k];
		}
	}
	fit(u, b);
}

void pull_weigh(const struct pull *u, struct piece *p, const struct bins *b, float any)
{
	for (uint32_t i = 0; i < p->nr_unsure; i++) {
		const struct pcall *c = &p->calls[p->unsure[i]];
		float *w = p->pull + c->first, best = -INFINITY, sum = 0, all = 0;

		for (uint32_t k = 0; k < c->nr; k++) {
			const struct pspan *s = &p->spans[p->candidates.v[c->first + k]];
			size_t at = ((size_t)s->type * u->nr_callees + c->callee) * BINS;

			w[k] = u->since_start[at + bins_of(b, c->t1 - s->t1)] +
			       u->until_end[at + bins_of(b, s->t4 - c->t4)];
			best = w[k] > best ? w[k] : best;
		}
		for (uint32_t k = 0; k < c->nr; k++)
			sum += w[k] = expf(w[k] - best);
		for (uint32_t k = 0; k < c->nr; k++) {
			all += (1 - any) * w[k] / sum + any / (float)c->nr;
			w[k] = all;
		}
	}
}

uint32_t pull_at(const struct piece *p, const struct pcall *c, float at)
{
	uint32_t lo = c->first, hi = c->first + c->nr - 1;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (p->pull[mid] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
