#include "base/lists.h"

#include <string.h>

void lists_done(struct lists *t)
{
	vec_done(&t->v);
	vec_done(&t->at);
	vec_done(&t->hash);
	free(t->slots);
	*t = (struct lists){ 0 };
}

static uint32_t hash_of(const uint32_t *v, size_t nr)
{
	uint64_t h = nr;

	for (size_t i = 0; i < nr; i++) {
		h = (h ^ v[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	h *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(h >> 32);
}

static void grow(struct lists *t)
{
	t->nr_slots = t->nr_slots ? 2 * t->nr_slots : 64;
	free(t->slots);
	t->slots = mem_zalloc(mem_bytes(t->nr_slots, sizeof(*t->slots)));
	for (uint32_t i = 0; i < t->nr; i++) {
		uint32_t at = t->hash.v[i] & (t->nr_slots - 1);

		while (t->slots[at])
			at = (at + 1) & (t->nr_slots - 1);
		t->slots[at] = i + 1;
	}
}

uint32_t lists_add(struct lists *t, const uint32_t *v, size_t nr)
{
	uint32_t hash = hash_of(v, nr), at;

	if (2 * (t->nr + 1) > t->nr_slots)
		grow(t);
	for (at = hash & (t->nr_slots - 1); t->slots[at]; at = (at + 1) & (t->nr_slots - 1)) {
		uint32_t list = t->slots[at] - 1;

		if (t->hash.v[list] == hash && lists_length(t, list) == nr &&
		    (!nr || !memcmp(lists_of(t, list), v, nr * sizeof(*v))))
			return list;
	}
	if (!t->nr)
		vec_push(&t->at, 0);
	vec_reserve(&t->v, t->v.nr + nr);
	if (nr)
		memcpy(t->v.v + t->v.nr, v, nr * sizeof(*v));
	t->v.nr += nr;
	vec_push(&t->at, (uint32_t)t->v.nr);
	vec_push(&t->hash, hash);
	t->slots[at] = t->nr + 1;
	return t->nr++;
}
