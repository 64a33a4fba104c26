/* How well one series of moments, shifted by each possible delay, covers another: the cross
 * correlation of their indicator functions. */
#ifndef CULPRIT_INFER_CONVOLVE_CORRELATE_H
#define CULPRIT_INFER_CONVOLVE_CORRELATE_H

#include <stddef.h>
#include <stdint.h>

struct correlator;
struct spectrum; /* one series, ready to be compared */

/* Time is cut into quanta from first_ns on; delays of 0 up to max_lag quanta are looked at. */
struct correlator *correlator_new(int64_t first_ns, int64_t last_ns, int64_t quantum_ns,
				  size_t max_lag);
void correlator_free(struct correlator *c);
size_t correlator_lags(const struct correlator *c);
/* Bytes of one spectrum. */
size_t correlator_cost(const struct correlator *c);

/* Count the moments of a series: begin, add each, take its spectrum. */
void correlator_begin(struct correlator *c);
void correlator_add(struct correlator *c, int64_t ns);
struct spectrum *correlator_take(struct correlator *c);
void spectrum_free(struct spectrum *s);

/* For each delay how much of the causes is followed by an effect after it; borrowed until the next
 * call. */
const float *correlate(struct correlator *c, const struct spectrum *causes,
		       const struct spectrum *effects);

#endif
