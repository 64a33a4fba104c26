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
#define LEAN 10.0

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
static void density_of(const struct model *m, const float *h, double n, unsigned lo, unsigned hi,
		       float *out)
{
	static const float share[] = { 0.80f, 0.15f, 0.04f };
	double width = 3 * pow(n / 100, -0.2);
	float blurred[BINS];

	width = width < 1 ? 1 : width > 4 ? 4 : width;
	width *= (double)m->blur;
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
		out[i] = logf(out[i]) - m->bins->log_seconds[i];
}

/* Delays that were seen, from each reference. */
struct delays {
	float h[REFERENCES][BINS];
	unsigned lo[REFERENCES], hi[REFERENCES];
	double n;
};

static void add_delays(struct delays *d, const struct sight *const *v, size_t nr, float weight)
{
	for (uint32_t r = 0; r < REFERENCES; r++)
		for (size_t i = 0; i < nr; i++) {
			unsigned bin = v[i]->bin[r];

			d->h[r][bin] += weight;
			d->lo[r] = bin < d->lo[r] ? bin : d->lo[r];
			d->hi[r] = bin >= d->hi[r] ? bin + 1 : d->hi[r];
		}
	d->n += (double)nr * weight;
}

static void reset_delays(struct delays *d)
{
	memset(d, 0, sizeof(*d));
	for (uint32_t r = 0; r < REFERENCES; r++)
		d->lo[r] = BINS;
}

/* A few sights tell little: what all steps like this one show counts as some more of them. */
static void lean_on(struct delays *d, const struct delays *pool)
{
	float share = (float)(LEAN / pool->n);

	for (uint32_t r = 0; r < REFERENCES; r++) {
		for (unsigned i = pool->lo[r]; i < pool->hi[r]; i++)
			d->h[r][i] += share * pool->h[r][i];
		d->lo[r] = pool->lo[r] < d->lo[r] ? pool->lo[r] : d->lo[r];
		d->hi[r] = pool->hi[r] > d->hi[r] ? pool->hi[r] : d->hi[r];
	}
	d->n += LEAN;
}

/* The reference from which the delays are the sharpest, and their density from there. */
static uint32_t fit_density(const struct model *m, const struct delays *d, float *out)
{
	double best = -INFINITY;
	uint32_t chosen = 0;
	float density[BINS];

	for (uint32_t r = 0; r < REFERENCES; r++) {
		double sum = 0;

		density_of(m, d->h[r], d->n, d->lo[r], d->hi[r], density);
		for (unsigned i = d->lo[r]; i < d->hi[r]; i++)
			sum += d->h[r][i] > 0 ? (double)d->h[r][i] * density[i] : 0;
		if (sum <= best)
			continue;
		best = sum;
		chosen = r;
		memcpy(out, density, sizeof(density));
	}
	return chosen;
}

/* Sights in the order of their steps, by counting: order[first[step] ... first[step + 1]). */
static const struct sight **sorted(const struct sights *s, size_t nr_steps, uint32_t *first)
{
	const struct sight **order = mem_alloc(mem_bytes(s->v.nr + 1, sizeof(struct sight *)));

	vec_each (&s->v, it)
		first[it->step + 2]++;
	for (size_t i = 1; i < nr_steps + 2; i++)
		first[i] += first[i - 1];
	vec_each (&s->v, it)
		order[first[it->step + 1]++] = it;
	return order;
}

/* What fitting the steps of one type to one callee needs. */
struct fitting {
	struct model *m;
	const struct sight **order;
	uint32_t *first;
	float weight;
	struct delays pool, own;
};

static void fit_own(struct fitting *f, uint32_t step)
{
	struct model *m = f->m;
	size_t at = m->densities.nr;

	reset_delays(&f->own);
	add_delays(&f->own, f->order + f->first[step], f->first[step + 1] - f->first[step],
		   f->weight);
	if (f->own.n < EIGHT)
		return;
	lean_on(&f->own, &f->pool);
	vec_reserve(&m->densities, at + BINS);
	m->densities.nr = at + BINS;
	m->steps.v[step].density = (uint32_t)(at / BINS);
	m->steps.v[step].since = fit_density(m, &f->own, m->densities.v + at);
}

static void fit_pool(struct fitting *f, uint32_t type, uint32_t x)
{
	struct model *m = f->m;
	size_t pool = (size_t)type * m->stride + x;

	reset_delays(&f->pool);
	for (size_t st = 0; st < m->states.nr; st++) {
		size_t step = st * m->stride + x;

		if (m->states.v[st].type == type)
			add_delays(&f->pool, f->order + f->first[step],
				   f->first[step + 1] - f->first[step], f->weight);
	}
	if (f->pool.n <= 0) {
		density_of(m, f->pool.h[0], 1, 0, 0, m->densities.v + pool * BINS);
		return;
	}
	m->pool_since[pool] = fit_density(m, &f->pool, m->densities.v + pool * BINS);
	for (size_t st = 0; st < m->states.nr; st++) {
		if (m->states.v[st].type != type)
			continue;
		m->steps.v[st * m->stride + x].since = m->pool_since[pool];
		fit_own(f, (uint32_t)(st * m->stride + x));
	}
}

static void fit_densities(struct model *m, const struct sights *s)
{
	struct fitting *f = mem_zalloc(sizeof(*f));

	*f = (struct fitting){ .m = m, .weight = s->weight };
	f->first = mem_zalloc(mem_bytes(m->steps.nr + 2, sizeof(*f->first)));
	f->order = sorted(s, m->steps.nr, f->first);
	m->densities.nr = (size_t)m->nr_types * m->stride * BINS;
	for (uint32_t t = 0; t < m->nr_types; t++)
		for (uint32_t x = 0; x < m->stride; x++)
			fit_pool(f, t, x);
	free(f->order);
	free(f->first);
	free(f);
}

void model_fit(struct model *m, const struct sights *s, double sharpen)
{
	float *count = mem_zalloc(mem_bytes(m->steps.nr, sizeof(*count)));

	count_steps(m, s, count);
	fit_common(m, count);
	fit_steps(m, count, sharpen);
	fit_densities(m, s);
	free(count);
}
