#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shelf.h"

#define SLOTS_MIN 64
#define GROUP ((size_t)64) /* slots beside each other for keys beside each other */
#define SLOTS_GROUPED ((size_t)4096)
#define LOOK_SLOTS ((size_t)2048) /* filled between two looks at the memory of the process */

static uint64_t mixed(uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

/* Keys are mostly numbers that were given out one after the other, and what is asked for together
 * has numbers close by. A large table that may lie in a file has them in one group of slots: at
 * random, each would be on a page of its own. */
static bool is_grouped(const struct map *m)
{
	return m->shelf && m->nr_slots >= SLOTS_GROUPED;
}

/* Groups are found by chance, the place in a group goes by the key, turned by as much as the
 * group says, so that keys that are all even do not meet. Who finds a slot taken goes to the same
 * place in the next group, and after all groups to the next place. */
static struct map_slot *slot_in_groups(const struct map *m, uint64_t key)
{
	uint64_t h = mixed(key / GROUP);
	size_t mask = m->nr_slots - 1, first, i;

	first = i = ((size_t)h * GROUP & mask) | ((key + (h >> 56)) & (GROUP - 1));
	while (m->slots[i].key && m->slots[i].key != key) {
		i = (i + GROUP) & mask;
		if (i == first)
			first = i = (i + 1) & mask;
	}
	return &m->slots[i];
}

/* Where the key stands or would stand; it is not 0. */
static struct map_slot *slot_of(const struct map *m, uint64_t key)
{
	size_t i;

	if (is_grouped(m))
		return slot_in_groups(m, key);
	i = (size_t)mixed(key) & (m->nr_slots - 1);
	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->nr_slots - 1);
	return &m->slots[i];
}

static void look(const struct map *m, size_t nr)
{
	if (m->shelf && nr % LOOK_SLOTS == LOOK_SLOTS - 1)
		shelf_look(m->shelf);
}

static void resize(struct map *m, size_t nr_slots)
{
	struct map old = *m;

	m->nr_slots = nr_slots;
	m->slots = shelf_table(m->shelf, mem_bytes(m->nr_slots, sizeof(*m->slots)), old.slots);
	for (size_t i = 0; i < old.nr_slots; i++) {
		shelf_leave(m->shelf, old.slots, i * sizeof(*old.slots));
		look(m, i);
		if (old.slots[i].key)
			*slot_of(m, old.slots[i].key) = old.slots[i];
	}
	shelf_give(m->shelf, old.slots);
}

void map_reserve(struct map *m, size_t nr)
{
	size_t nr_slots = m->nr_slots ? m->nr_slots : SLOTS_MIN;

	while (nr_slots < 2 * nr)
		nr_slots *= 2;
	if (nr_slots > m->nr_slots)
		resize(m, nr_slots);
}

void map_done(struct map *m)
{
	shelf_give(m->shelf, m->slots);
	*m = (struct map){ .shelf = m->shelf };
}

void map_clear(struct map *m)
{
	if (m->slots)
		memset(m->slots, 0, m->nr_slots * sizeof(*m->slots));
	m->nr = 0;
	m->has_zero = false;
}

static uint64_t *at_zero(struct map *m)
{
	if (!m->has_zero) {
		m->zero = (struct map_slot){ 0 };
		m->has_zero = true;
		m->nr++;
	}
	return &m->zero.value;
}

uint64_t *map_at(struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (!key)
		return at_zero(m);
	if (2 * (m->nr + 1) > m->nr_slots)
		resize(m, m->nr_slots ? 2 * m->nr_slots : SLOTS_MIN);
	s = slot_of(m, key);
	if (!s->key) {
		*s = (struct map_slot){ .key = key };
		look(m, m->nr++);
	}
	return &s->value;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (!key)
		return m->has_zero ? (uint64_t *)&m->zero.value : NULL;
	if (!m->nr_slots)
		return NULL;
	s = slot_of(m, key);
	return s->key ? &s->value : NULL;
}

const struct map_slot *map_next(const struct map *m, const struct map_slot *s)
{
	size_t i = s && s != &m->zero ? (size_t)(s - m->slots) + 1 : 0;

	if (!s && m->has_zero)
		return &m->zero;
	while (i < m->nr_slots && !m->slots[i].key)
		i++;
	return i < m->nr_slots ? &m->slots[i] : NULL;
}
