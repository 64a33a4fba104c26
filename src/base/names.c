#include "base/names.h"

#include <stdlib.h>

#include "base/shelf.h"

void names_done(struct names *t)
{
	struct shelf *shelf = t->arena.shelf;

	arena_done(&t->arena);
	shelf_give(shelf, t->v);
	shelf_give(shelf, t->hash);
	shelf_give(shelf, t->slots);
	*t = (struct names){ .arena.shelf = shelf };
}

static uint32_t fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

static struct names_slot *names_slot(const struct names *t, struct str s, uint32_t hash)
{
	uint32_t mask = t->nr_slots - 1, at = hash & mask;

	for (;; at = (at + 1) & mask) {
		struct names_slot *slot = &t->slots[at];

		if (!slot->sym || (slot->hash == hash && str_eq(t->v[slot->sym], s)))
			return slot;
	}
}

enum { LOOK_SLOTS = 2048 }; /* moved between two looks at the memory of the process */

/* Two slots in three are taken at the most. */
static void grow_slots(struct names *t)
{
	struct names_slot *old = t->slots;
	uint32_t nr_old = t->nr_slots;

	t->nr_slots = nr_old ? 2 * nr_old : 128;
	t->slots = shelf_table(t->arena.shelf, mem_bytes(t->nr_slots, sizeof(*t->slots)), old);
	for (uint32_t i = 0; i < nr_old; i++) {
		uint32_t at = old[i].hash & (t->nr_slots - 1);

		shelf_leave(t->arena.shelf, old, i * sizeof(*old));
		if (i % LOOK_SLOTS == LOOK_SLOTS - 1)
			shelf_look(t->arena.shelf);
		if (!old[i].sym)
			continue;
		while (t->slots[at].sym)
			at = (at + 1) & (t->nr_slots - 1);
		t->slots[at] = old[i];
	}
	shelf_give(t->arena.shelf, old);
}

static void names_grow(struct names *t)
{
	uint32_t room = t->room ? 2 * t->room : 64;
	struct shelf *shelf = t->arena.shelf;

	t->v = shelf_realloc(shelf, t->v, t->room * sizeof(*t->v), mem_bytes(room, sizeof(*t->v)));
	t->hash = shelf_realloc(shelf, t->hash, t->room * sizeof(*t->hash),
				mem_bytes(room, sizeof(*t->hash)));
	t->room = room;
	if (!t->nr)
		t->v[t->nr++] = STR("");
}

sym_t names_add(struct names *t, struct str s)
{
	return s.n ? names_add_hashed(t, s, str_hash(s)) : 0;
}

sym_t names_add_hashed(struct names *t, struct str s, uint64_t hash)
{
	struct names_slot *slot;

	if (!s.n)
		return 0;
	if (t->nr + 1 >= t->room)
		names_grow(t);
	if ((uint64_t)t->nr * 3 >= (uint64_t)t->nr_slots * 2)
		grow_slots(t);
	slot = names_slot(t, s, fold(hash));
	if (slot->sym)
		return slot->sym;
	t->v[t->nr] = arena_str(&t->arena, s);
	t->hash[t->nr] = hash;
	*slot = (struct names_slot){ fold(hash), t->nr };
	return t->nr++;
}

sym_t names_find(const struct names *t, struct str s)
{
	return s.n && t->nr_slots ? names_slot(t, s, fold(str_hash(s)))->sym : 0;
}

struct str names_str(const struct names *t, sym_t sym)
{
	return sym && sym < t->nr ? t->v[sym] : STR("");
}
