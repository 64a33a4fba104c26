/* Delays on a scale of logarithmic bins on both sides of zero, found without a logarithm. */
#ifndef CULPRIT_INFER_PATHS_BINS_H
#define CULPRIT_INFER_PATHS_BINS_H

#include <stdint.h>
#include <string.h>

enum {
	BINS = 700,
	BIN_ZERO = 200, /* the bin of no delay; the times of a capture let delays be negative */
	BIN_MANTISSA = 8,
	BIN_TABLE = 48 << BIN_MANTISSA,
};

struct bins {
	uint16_t of[BIN_TABLE];  /* steps from zero, by exponent and mantissa of 1 + |d| / 10 us */
	float log_seconds[BINS]; /* the width of each bin, at least a tick of the clock */
};

/* tick_ns: of the clock; delays are not told apart any finer. */
void bins_init(struct bins *b, int64_t tick_ns);

static inline unsigned bins_of(const struct bins *b, int64_t ns)
{
	float v = 1.0f + (float)(ns < 0 ? -ns : ns) * 1e-4f;
	uint32_t bits, at;

	memcpy(&bits, &v, sizeof(bits));
	at = (bits - 0x3f800000u) >> (23 - BIN_MANTISSA);
	at = b->of[at < BIN_TABLE ? at : BIN_TABLE - 1];
	if (ns >= 0)
		return BIN_ZERO + at;
	return at < BIN_ZERO ? BIN_ZERO - at : 0;
}

/* Blurs a histogram with a bell curve of this width in bins; lo and hi (exclusive) say where
 * anything stands, and are widened. */
void bins_blur(const float *in, float *out, double width, unsigned *lo, unsigned *hi);

#endif
