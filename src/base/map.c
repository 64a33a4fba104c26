#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SLOTS_MIN 64

static size_t place_of(const struct map *m, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	return (size_t)h & (m->nr_slots - 1);
}

static struct map_slot *slot_of(const struct map *m, uint64_t key)
{
	size_t i = place_of(m, key);

	while (m->slots[i].is_used && m->slots[i].key != key)
		i = (i + 1) & (m->nr_slots - 1);
	return &m->slots[i];
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->nr_slots = old.nr_slots ? 2 * old.nr_slots : SLOTS_MIN;
	m->slots = mem_realloc(NULL, mem_bytes(m->nr_slots, sizeof(*m->slots)));
	memset(m->slots, 0, m->nr_slots * sizeof(*m->slots));
	for (size_t i = 0; i < old.nr_slots; i++)
		if (old.slots[i].is_used)
			*slot_of(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

void map_clear(struct map *m)
{
	if (m->slots)
		memset(m->slots, 0, m->nr_slots * sizeof(*m->slots));
	m->nr = 0;
}

uint64_t *map_at(struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (2 * (m->nr + 1) > m->nr_slots)
		grow(m);
	s = slot_of(m, key);
	if (!s->is_used) {
		*s = (struct map_slot){ .key = key, .is_used = true };
		m->nr++;
	}
	return &s->value;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s = m->nr ? slot_of(m, key) : NULL;

	return s && s->is_used ? &s->value : NULL;
}

const struct map_slot *map_next(const struct map *m, const struct map_slot *s)
{
	size_t i = s ? (size_t)(s - m->slots) + 1 : 0;

	while (i < m->nr_slots && !m->slots[i].is_used)
		i++;
	return i < m->nr_slots ? &m->slots[i] : NULL;
}
