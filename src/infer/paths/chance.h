/* Random numbers that are the same in every run. */
#ifndef CULPRIT_INFER_PATHS_CHANCE_H
#define CULPRIT_INFER_PATHS_CHANCE_H

#include <stdint.h>

static inline uint64_t chance_bits(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline uint32_t chance_below(uint64_t *seed, uint32_t n)
{
	return (uint32_t)((chance_bits(seed) >> 32) * n >> 32);
}

/* From 0 to below 1. */
static inline float chance_float(uint64_t *seed)
{
	return (float)(chance_bits(seed) >> 40) / 16777216.0f;
}

#endif
