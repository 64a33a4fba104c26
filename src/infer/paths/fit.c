/*
 * FIT of the note "paths": probabilities of the next step in each state, smoothed towards how
 * common the step is at all; and for each step a density of its delay, a mixture of bell curves of
 * three widths over a logarithmic scale, from the reference that makes it the sharpest. Steps seen
 * fewer than EIGHT times share the density of their type and callee.
 */
#include "infer/paths/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EIGHT 8

static void count_steps(struct model *m, const struct sights *s, float *count)
{
	vec_each (&s->v, it)
		count[it->step] += s->weight;
	(void)m;
}

/* How common each step is among the spans of a type. */
static void fit_common(struct model *m, const float *count)
{
	float *n = mem_zalloc(mem_bytes((size_t)m->nr_types * m->stride, sizeof(*n)));

	for (size_t st = 0; st < m->states.nr; st++)
		for (uint32_t x = 0; x < m->stride; x++)
			n[m->states.v[st].type * m->stride + x] += count[st * m->stride + x];
	for (uint32_t t = 0; t < m->nr_types; t++) {
		float all = 0;

		for (uint32_t x = 0; x < m->stride; x++)
			all += n[t * m->stride + x];
		for (uint32_t x = 0; x < m->stride; x++)
			m->logq[t * m->stride + x] =
				logf(0.98f * (all > 0 ? n[t * m->stride + x] / all : 0) +
				     0.02f / (float)m->stride);
	}
	free(n);
}

static void fit_steps(struct model *m, const float *count, double sharpen)
{
	for (size_t st = 0; st < m->states.nr; st++) {
		const float *n = count + st * m->stride;
		const float *logq = m->logq + m->states.v[st].type * m->stride;
		struct step *step = m->steps.v + st * m->stride;
		double all = 0, powers = 0;

		for (uint32_t x = 0; x < m->stride; x++) {
			all += n[x];
			powers += n[x] > 0 ? pow(n[x], sharpen) : 0;
		}
		for (uint32_t x = 0; x < m->stride; x++) {
			double share = n[x] > 0 ? pow(n[x], sharpen) * all / powers : 0;

			step[x].logp = all > 0 ? (float)log((share + 0.5 * exp((double)logq[x])) /
							    (all + 0.5))
					       : -9.21034f + logq[x];
			step[x].density = m->states.v[st].type * m->stride + x;
			step[x].since = SINCE_START;
		}
	}
}

/* The density of a histogram of n sights, as log per second. */
static void density_of(const struct bins *b, const float *h, double n, unsigned lo, unsigned hi,
		       float *out)
{
	static const float share[] = { 0.80f, 0.15f, 0.04f };
	double width = 3 * pow(n / 100, -0.2);
	float blurred[BINS];

	width = width < 1 ? 1 : width > 4 ? 4 : width;
	for (int i = 0; i < BINS; i++)
		out[i] = 0.01f / BINS;
	for (int k = 0; k < 3; k++) {
		unsigned from = lo, to = hi;

		bins_blur(h, blurred, width, &from, &to);
		for (unsigned i = from; i < to; i++)
			out[i] += share[k] * blurred[i] / (float)n;
		width *= 4;
	}
	for (int i = 0; i < BINS; i++)
		out[i] = logf(out[i]) - b->log_seconds[i];
}

/* All sights of one step (or of several that share a density): finds reference and density. */
static uint32_t fit_density(const struct model *m, const struct sight *const *v, size_t nr,
			    float weight, float *out)
{
	double best = -INFINITY;
	uint32_t chosen = 0;
	float density[BINS];

	for (uint32_t r = 0; r < REFERENCES; r++) {
		float h[BINS] = { 0 };
		unsigned lo = BINS, hi = 0;
		double sum = 0;

		for (size_t i = 0; i < nr; i++) {
			unsigned bin = v[i]->bin[r];

			h[bin] += weight;
			lo = bin < lo ? bin : lo;
			hi = bin >= hi ? bin + 1 : hi;
		}
		density_of(m->bins, h, (double)nr * weight, lo, hi, density);
		for (unsigned i = lo; i < hi; i++)
			sum += h[i] > 0 ? (double)h[i] * density[i] : 0;
		if (sum <= best)
			continue;
		best = sum;
		chosen = r;
		memcpy(out, density, sizeof(density));
	}
	return chosen;
}

static size_t pool_of(const struct model *m, const struct sight *s)
{
	return m->states.v[s->step / m->stride].type * m->stride + s->step % m->stride;
}

/* Sights in the order of a key, by counting: order[first[key] ... first[key + 1]). */
static const struct sight **sorted(const struct model *m, const struct sights *s, bool pooled,
				   size_t nr_keys, uint32_t *first)
{
	const struct sight **order = mem_alloc(mem_bytes(s->v.nr + 1, sizeof(struct sight *)));

	vec_each (&s->v, it)
		first[(pooled ? pool_of(m, it) : it->step) + 2]++;
	for (size_t i = 1; i < nr_keys + 2; i++)
		first[i] += first[i - 1];
	vec_each (&s->v, it)
		order[first[(pooled ? pool_of(m, it) : it->step) + 1]++] = it;
	return order;
}

static void fit_pools(struct model *m, const struct sights *s)
{
	size_t nr = (size_t)m->nr_types * m->stride;
	uint32_t *first = mem_zalloc(mem_bytes(nr + 2, sizeof(*first)));
	const struct sight **order = sorted(m, s, true, nr, first);

	for (size_t k = 0; k < nr; k++) {
		float none[BINS] = { 0 };

		if (first[k + 1] > first[k])
			m->pool_since[k] = fit_density(m, order + first[k], first[k + 1] - first[k],
						       s->weight, m->densities.v + k * BINS);
		else
			density_of(m->bins, none, 1, 0, 0, m->densities.v + k * BINS);
	}
	for (size_t st = 0; st < m->states.nr; st++)
		for (uint32_t x = 0; x < m->stride; x++) {
			struct step *step = &m->steps.v[st * m->stride + x];

			step->since = m->pool_since[step->density];
		}
	free(order);
	free(first);
}

static void fit_own(struct model *m, const struct sights *s)
{
	size_t nr = m->steps.nr;
	uint32_t *first = mem_zalloc(mem_bytes(nr + 2, sizeof(*first)));
	const struct sight **order = sorted(m, s, false, nr, first);

	m->densities.nr = (size_t)m->nr_types * m->stride * BINS;
	for (size_t k = 0; k < nr; k++) {
		size_t seen = first[k + 1] - first[k], at = m->densities.nr;

		if ((float)seen * s->weight < EIGHT)
			continue;
		vec_reserve(&m->densities, at + BINS);
		m->densities.nr = at + BINS;
		m->steps.v[k].density = (uint32_t)(at / BINS);
		m->steps.v[k].since =
			fit_density(m, order + first[k], seen, s->weight, m->densities.v + at);
	}
	free(order);
	free(first);
}

void model_fit(struct model *m, const struct sights *s, double sharpen)
{
	float *count = mem_zalloc(mem_bytes(m->steps.nr, sizeof(*count)));

	count_steps(m, s, count);
	fit_common(m, count);
	fit_steps(m, count, sharpen);
	fit_pools(m, s);
	fit_own(m, s);
	free(count);
}
