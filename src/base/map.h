/* A table from 64-bit keys to 64-bit values; zero is a valid, empty one. */
#ifndef CULPRIT_BASE_MAP_H
#define CULPRIT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shelf;

struct map_slot {
	uint64_t key, value; /* key 0: free */
};

struct map {
	struct map_slot *slots;
	size_t nr, nr_slots;
	struct map_slot zero; /* of the key that marks free slots */
	bool has_zero;
	struct shelf
		*shelf; /* where the slots lie; NULL: in memory. It stays when all is forgotten */
};

void map_done(struct map *m);
/* Forgets everything, keeps the memory. */
void map_clear(struct map *m);
/* Makes room for so many keys at once. */
void map_reserve(struct map *m, size_t nr);
/* Where the value of the key stands, zero on first sight; valid until the next map_at. */
uint64_t *map_at(struct map *m, uint64_t key);
/* The same, or NULL when it was never seen. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* Every slot in use, in no order: for (s = NULL; (s = map_next(m, s));) */
const struct map_slot *map_next(const struct map *m, const struct map_slot *s);

/* Two small numbers as one key. */
static inline uint64_t map_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* Three numbers as one key; other keys may be the same, as improbable as that is. Those that differ
 * in the last number by little are close to each other, as with two. */
static inline uint64_t map_three(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t front = map_pair(a, c >> 8) * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;

	front ^= front >> 29;
	return (front * 0xbf58476d1ce4e5b9u & ~(uint64_t)255) | (c & 255);
}

#endif
