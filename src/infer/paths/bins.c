#include "infer/paths/bins.h"

#include <math.h>

#define UNIT_S 1e-5
#define STEP 0.04

void bins_init(struct bins *b, int64_t tick_ns)
{
	for (unsigned i = 0; i < BIN_TABLE; i++) {
		double v = ldexp(1 + ((i & ((1 << BIN_MANTISSA) - 1)) + 0.5) / (1 << BIN_MANTISSA),
				 (int)(i >> BIN_MANTISSA));
		double at = round(log(v) / STEP);

		b->of[i] = at < BINS - BIN_ZERO ? (uint16_t)at : BINS - BIN_ZERO - 1;
	}
	b->of[0] = 0;
	for (int i = 0; i < BINS; i++) {
		int k = i < BIN_ZERO ? BIN_ZERO - i : i - BIN_ZERO;
		double outer = UNIT_S * expm1(STEP * (k + 0.5)),
		       inner = k ? UNIT_S * expm1(STEP * (k - 0.5)) : -outer;

		b->log_seconds[i] = (float)log(fmax(outer - inner, (double)tick_ns * 1e-9));
	}
}

static void gauss(const float *in, float *out, double width, unsigned lo, unsigned hi)
{
	float kernel[2 * 16 + 1], sum = 0;
	int reach = (int)ceil(3 * width);

	if (reach > 16)
		reach = 16;
	for (int k = -reach; k <= reach; k++)
		sum += kernel[k + reach] = (float)exp(-0.5 * k * k / width / width);
	memset(out, 0, BINS * sizeof(*out));
	for (int i = (int)lo; i < (int)hi; i++)
		for (int k = -reach; in[i] > 0 && k <= reach; k++)
			if (i + k >= 0 && i + k < BINS)
				out[i + k] += in[i] * kernel[k + reach] / sum;
}

/* A mean over 2r + 1 bins, three times over, is close to a bell curve. */
static void box(float *v, int r)
{
	float sum[BINS + 1];

	sum[0] = 0;
	for (int i = 0; i < BINS; i++)
		sum[i + 1] = sum[i] + v[i];
	for (int i = 0; i < BINS; i++) {
		int from = i - r < 0 ? 0 : i - r, to = i + r + 1 > BINS ? BINS : i + r + 1;

		v[i] = (sum[to] - sum[from]) / (float)(2 * r + 1);
		if (v[i] < 0)
			v[i] = 0;
	}
}

void bins_blur(const float *in, float *out, double width, unsigned *lo, unsigned *hi)
{
	int r = (int)lround((sqrt(4 * width * width + 1) - 1) / 2);
	int reach = width <= 5 ? 16 : 3 * r;

	if (width <= 5) {
		gauss(in, out, width, *lo, *hi);
	} else {
		memcpy(out, in, BINS * sizeof(*out));
		for (int i = 0; i < 3; i++)
			box(out, r);
	}
	*lo = (int)*lo > reach ? *lo - (unsigned)reach : 0;
	*hi = *hi + (unsigned)reach < BINS ? *hi + (unsigned)reach : BINS;
}
