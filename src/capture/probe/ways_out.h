/* Where a function is left, read from its instructions: the places for probes that must not touch
 * its return address. */
#ifndef CULPRIT_CAPTURE_PROBE_WAYS_OUT_H
#define CULPRIT_CAPTURE_PROBE_WAYS_OUT_H

#include <stddef.h>
#include <stdint.h>

#define WAYS_OUT_MAX 16

/* From its beginning on, each behind the first instruction. 0: that cannot be told for sure, or
 * there are too many. */
size_t ways_out(const uint8_t *bytes, size_t size, uint64_t address, uint32_t out[WAYS_OUT_MAX]);

#endif
