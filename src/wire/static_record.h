/* A static probe of a program was passed, as the kernel's side of capture/statics tells it. */
#ifndef CULPRIT_WIRE_STATIC_RECORD_H
#define CULPRIT_WIRE_STATIC_RECORD_H

#include <stdint.h>

#define STATIC_RING_BYTES (4 << 20)
#define STATIC_PROBES_MAX 64
#define STATIC_LOADS_MAX 4

/* What is taken of a probe, found by its number. */
struct static_take {
	uint32_t function; /* the number that the mark gets */
	uint8_t is_taken;  /* 0: it has no value */
	uint8_t argument, nr_loads, bytes;
	int32_t offsets[STATIC_LOADS_MAX];
};

struct static_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t value;
	uint32_t tgid, tid;
	uint32_t function;
	uint32_t has_value;
};

#endif
