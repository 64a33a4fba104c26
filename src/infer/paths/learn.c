/*
 * LEARN of the note "paths": a curriculum. Spans that few others were open beside teach first,
 * because their kids are hardly in doubt; then more and more, until all do.
 */
#include "infer/paths/learn.h"

#include <math.h>
#include <stdlib.h>

#include "infer/paths/fifo.h"
#include "infer/paths/sweep.h"

enum { AT_LEAST = 20, MARKS = 60 };

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* How long all spans together had been open by t: v in order, sums of the ones before each. */
static double open_until(const int64_t *v, const double *sum, uint32_t nr, int64_t origin,
			 int64_t t)
{
	uint32_t lo = 0, hi = nr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (v[mid] <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo * (double)(t - origin) - sum[lo];
}

static void measure_crowds(struct piece *p)
{
	uint32_t nr = p->nr_spans;
	int64_t *v[2], origin = nr ? p->spans[0].t1 : 0;
	double *sum[2];

	for (int k = 0; k < 2; k++) {
		v[k] = mem_alloc(mem_bytes(nr + 1, sizeof(int64_t)));
		sum[k] = mem_alloc(mem_bytes(nr + 1, sizeof(double)));
		for (uint32_t i = 0; i < nr; i++)
			v[k][i] = k ? p->spans[i].t4 : p->spans[i].t1;
		if (k && nr)
			qsort(v[k], nr, sizeof(int64_t), by_value);
		sum[k][0] = 0;
		for (uint32_t i = 0; i < nr; i++)
			sum[k][i + 1] = sum[k][i] + (double)(v[k][i] - origin);
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct pspan *s = &p->spans[i];
		int64_t end = s->t4 > s->t1 ? s->t4 : s->t1 + 1;
		double open = open_until(v[0], sum[0], nr, origin, end) -
			      open_until(v[0], sum[0], nr, origin, s->t1) -
			      open_until(v[1], sum[1], nr, origin, end) +
			      open_until(v[1], sum[1], nr, origin, s->t1);

		s->crowd = (float)(open / (double)(end - s->t1));
	}
	for (int k = 0; k < 2; k++) {
		free(v[k]);
		free(sum[k]);
	}
}

static int by_crowd(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* Lets the least crowded share of the spans of each type teach, but not fewer than a few. */
static void activate(struct piece *p, uint32_t nr_types, double share)
{
	float *v = mem_alloc(mem_bytes(p->nr_spans + 1, sizeof(*v)));

	for (uint32_t t = 0; t < nr_types; t++) {
		uint32_t nr = 0, keep;

		for (uint32_t i = 0; i < p->nr_spans; i++)
			if (p->spans[i].type == t && !p->spans[i].cut)
				v[nr++] = p->spans[i].crowd;
		if (!nr)
			continue;
		qsort(v, nr, sizeof(*v), by_crowd);
		keep = (uint32_t)(share * nr);
		keep = keep < AT_LEAST ? AT_LEAST : keep;
		keep = keep > nr ? nr : keep;
		for (uint32_t i = 0; i < p->nr_spans; i++)
			if (p->spans[i].type == t)
				p->spans[i].active =
					!p->spans[i].cut && p->spans[i].crowd <= v[keep - 1];
	}
	free(v);
}

static void fit_to(struct model *m, struct piece *p, unsigned samples, double sharpen,
		   uint64_t *seed, int only_active)
{
	struct sights s = { .weight = samples ? 1.0f / (float)samples : 1 };

	for (unsigned i = 0; i < samples; i++) {
		sweep(p, m, seed, only_active);
		sweep(p, m, seed, only_active);
		model_see(m, p, &s);
	}
	if (!samples)
		model_see(m, p, &s);
	model_fit(m, &s, sharpen);
	model_ll_all(m, p);
	vec_done(&s.v);
}

static struct learned judge(const struct piece *p)
{
	struct learned l = { 0, 0 };
	double sure = 0;

	for (uint32_t i = 0; i < p->nr_calls; i++) {
		const struct pcall *c = &p->calls[i];
		uint32_t best = 0;

		for (uint32_t k = c->first; k < c->first + c->nr; k++)
			best = p->marks[k] > best ? p->marks[k] : best;
		sure += c->nr > 1 ? (double)best / p->nr_marked : 1;
	}
	for (uint32_t i = 0; i < p->nr_spans; i++)
		l.ll += p->spans[i].ll;
	l.confidence = p->nr_calls ? sure / p->nr_calls : 1;
	return l;
}

struct learned learn_model(struct model *m, struct piece *p, const struct view *v, enum start start,
			   uint64_t *seed)
{
	static const double shares[] = { 0.05, 0.2, 0.5, 1 };

	bool is_easy = 2 * p->nr_unsure < p->nr_calls; /* most calls teach from the beginning */
	int first = !is_easy ? 0 : start == START_EVENTS ? 3 : 1;

	start_assign(p, v, m->bins, start);
	measure_crowds(p);
	for (int round = first; round < 4; round++) {
		int last = round == 3, nr = last ? (is_easy ? 10 : 20) : 5;

		m->overlap = start == START_ARRIVALS && !last ? 4 : 0;
		activate(p, m->nr_types, shares[round]);
		if (round == first)
			fit_to(m, p, 0, 1.5, seed, 0);
		for (int i = 0; i < nr; i++) {
			double sharpen = !last ? 1.5 : 2 * i < nr ? 1.5 - 1.0 * i / nr : 1;

			fit_to(m, p, 2, sharpen, seed, !last);
			if (round >= 2)
				fifo_learn(m, p);
		}
	}
	for (int i = 0; i < 10; i++)
		sweep(p, m, seed, 0);
	sweep_marks(p, m, seed, MARKS);
	return judge(p);
}
