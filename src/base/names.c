#include "base/names.h"

#include <stdlib.h>

void names_done(struct names *t)
{
	arena_done(&t->arena);
	free(t->v);
	free(t->hash);
	free(t->slots);
	*t = (struct names){ 0 };
}

static uint32_t *names_slot(const struct names *t, struct str s, uint64_t hash)
{
	uint32_t mask = t->nr_slots - 1, at = (uint32_t)hash & mask;

	for (;; at = (at + 1) & mask) {
		uint32_t sym = t->slots[at];

		if (!sym || (t->hash[sym] == hash && str_eq(t->v[sym], s)))
			return &t->slots[at];
	}
}

static void names_grow(struct names *t)
{
	t->room = t->room ? 2 * t->room : 64;
	t->v = mem_realloc(t->v, mem_bytes(t->room, sizeof(*t->v)));
	t->hash = mem_realloc(t->hash, mem_bytes(t->room, sizeof(*t->hash)));
	free(t->slots);
	t->nr_slots = 2 * t->room;
	t->slots = mem_zalloc(mem_bytes(t->nr_slots, sizeof(*t->slots)));
	if (!t->nr)
		t->v[t->nr++] = STR("");
	for (uint32_t i = 1; i < t->nr; i++)
		*names_slot(t, t->v[i], t->hash[i]) = i;
}

sym_t names_add(struct names *t, struct str s)
{
	return s.n ? names_add_hashed(t, s, str_hash(s)) : 0;
}

sym_t names_add_hashed(struct names *t, struct str s, uint64_t hash)
{
	uint32_t *slot;

	if (!s.n)
		return 0;
	if (t->nr + 1 >= t->room)
		names_grow(t);
	slot = names_slot(t, s, hash);
	if (*slot)
		return *slot;
	t->v[t->nr] = arena_str(&t->arena, s);
	t->hash[t->nr] = hash;
	return *slot = t->nr++;
}

sym_t names_find(const struct names *t, struct str s)
{
	return s.n && t->nr_slots ? *names_slot(t, s, str_hash(s)) : 0;
}

struct str names_str(const struct names *t, sym_t sym)
{
	return sym && sym < t->nr ? t->v[sym] : STR("");
}
