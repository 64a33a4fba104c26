/*
 * Procedure FindCorrelation of Figure 6 of the black-boxes paper, discretized as in section 5.2.1:
 * a series becomes an array by quantum whose values are the square roots of the counts, and the
 * correlation of two is the inverse transform of the product of one's spectrum with the conjugate
 * of the other's. Only delays from 0 on are kept, so that no effect precedes its cause, and only up
 * to max_lag, so that the padding against wrapping around is as long as that and not as the trace.
 *
 * O(S log S) for S = duration / quantum + max_lag, in single precision: counts are small.
 */
#include "infer/convolve/correlate.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct spectrum {
	fftwf_complex *v;
};

struct correlator {
	int64_t first_ns, quantum_ns;
	size_t nr_quanta, max_lag, size; /* size: quanta and padding */
	float *series;
	fftwf_complex *product;
	fftwf_plan forward, back;
};

/* The next length that FFTW is fast at: 2^a * 3^b * 5^c, even. */
static size_t fast_size(size_t want)
{
	for (size_t n = want + (want & 1);; n += 2) {
		size_t rest = n;

		while (!(rest % 2))
			rest /= 2;
		while (!(rest % 3))
			rest /= 3;
		while (!(rest % 5))
			rest /= 5;
		if (rest == 1)
			return n;
	}
}

static void *checked(void *p)
{
	if (!p)
		mem_alloc(SIZE_MAX / 2); /* ends the program as every lack of memory does */
	return p;
}

struct correlator *correlator_new(int64_t first_ns, int64_t last_ns, int64_t quantum_ns,
				  size_t max_lag)
{
	struct correlator *c = mem_zalloc(sizeof(*c));

	c->first_ns = first_ns;
	c->quantum_ns = quantum_ns > 0 ? quantum_ns : 1;
	c->nr_quanta =
		(size_t)(((uint64_t)last_ns - (uint64_t)first_ns) / (uint64_t)c->quantum_ns) + 1;
	c->max_lag = max_lag < c->nr_quanta ? max_lag : c->nr_quanta - 1;
	c->size = fast_size(c->nr_quanta + c->max_lag);
	c->series = checked(fftwf_alloc_real(c->size));
	c->product = checked(fftwf_alloc_complex(c->size / 2 + 1));
	c->forward = fftwf_plan_dft_r2c_1d((int)c->size, c->series, c->product, FFTW_ESTIMATE);
	c->back = fftwf_plan_dft_c2r_1d((int)c->size, c->product, c->series, FFTW_ESTIMATE);
	return c;
}

void correlator_free(struct correlator *c)
{
	if (!c)
		return;
	fftwf_destroy_plan(c->forward);
	fftwf_destroy_plan(c->back);
	fftwf_free(c->series);
	fftwf_free(c->product);
	free(c);
}

size_t correlator_lags(const struct correlator *c)
{
	return c->max_lag;
}

size_t correlator_cost(const struct correlator *c)
{
	return (c->size / 2 + 1) * sizeof(fftwf_complex);
}

void correlator_begin(struct correlator *c)
{
	memset(c->series, 0, c->size * sizeof(*c->series));
}

void correlator_add(struct correlator *c, int64_t ns)
{
	uint64_t at = ((uint64_t)ns - (uint64_t)c->first_ns) / (uint64_t)c->quantum_ns;

	if (ns >= c->first_ns && at < c->nr_quanta)
		c->series[at]++;
}

struct spectrum *correlator_take(struct correlator *c)
{
	struct spectrum *s = mem_alloc(sizeof(*s));

	for (size_t i = 0; i < c->nr_quanta; i++)
		if (c->series[i] > 1)
			c->series[i] = sqrtf(c->series[i]);
	s->v = checked(fftwf_alloc_complex(c->size / 2 + 1));
	fftwf_execute_dft_r2c(c->forward, c->series, s->v);
	return s;
}

void spectrum_free(struct spectrum *s)
{
	if (!s)
		return;
	fftwf_free(s->v);
	free(s);
}

const float *correlate(struct correlator *c, const struct spectrum *causes,
		       const struct spectrum *effects)
{
	float scale = 1 / (float)c->size;

	for (size_t i = 0; i < c->size / 2 + 1; i++) {
		const float *a = causes->v[i], *b = effects->v[i];

		c->product[i][0] = (a[0] * b[0] + a[1] * b[1]) * scale;
		c->product[i][1] = (a[0] * b[1] - a[1] * b[0]) * scale;
	}
	fftwf_execute(c->back);
	/* the longer the delay, the fewer causes have an effect that the trace still holds */
	for (size_t i = 0; i < c->max_lag; i++)
		c->series[i] *= (float)c->nr_quanta / (float)(c->nr_quanta - i);
	return c->series;
}
