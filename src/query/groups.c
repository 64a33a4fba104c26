#include "query/groups.h"

#include <stdlib.h>
#include <string.h>

static void grow(struct groups *g)
{
	free(g->slots);
	g->nr_slots = g->nr_slots ? 2 * g->nr_slots : 64;
	g->slots = mem_zalloc(mem_bytes(g->nr_slots, sizeof(*g->slots)));
	for (size_t i = 0; i < g->nr; i++) {
		size_t at = g->hashes.v[i] & (g->nr_slots - 1);

		while (g->slots[at])
			at = (at + 1) & (g->nr_slots - 1);
		g->slots[at] = (uint32_t)i + 1;
	}
}

static bool same_keys(const struct groups *g, size_t group, const struct value *keys)
{
	for (size_t i = 0; i < g->nr_keys; i++)
		if (!value_same(g->keys.v[group * g->nr_keys + i], keys[i]))
			return false;
	return true;
}

static uint64_t hash_of(const struct groups *g, const struct value *keys)
{
	uint64_t h = 0;

	for (size_t i = 0; i < g->nr_keys; i++)
		h = (h ^ value_hash(keys[i])) * 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

/* The slot of the group, or the free one where it would be. */
static size_t slot_of(const struct groups *g, uint64_t h, const struct value *keys)
{
	size_t at = h & (g->nr_slots - 1);

	for (; g->slots[at]; at = (at + 1) & (g->nr_slots - 1)) {
		size_t group = g->slots[at] - 1;

		if (g->hashes.v[group] == h && same_keys(g, group, keys))
			break;
	}
	return at;
}

bool groups_has(const struct groups *g, const struct value *keys)
{
	return g->nr && g->slots[slot_of(g, hash_of(g, keys), keys)];
}

size_t groups_find(struct groups *g, const struct value *keys, const struct value *row)
{
	uint64_t h = hash_of(g, keys);
	size_t at;

	if (2 * (g->nr + 1) > g->nr_slots)
		grow(g);
	at = slot_of(g, h, keys);
	if (g->slots[at])
		return g->slots[at] - 1;
	for (size_t i = 0; i < g->nr_keys; i++)
		vec_push(&g->keys, keys[i]);
	for (size_t i = 0; i < g->nr_variables; i++)
		vec_push(&g->rows, row[i]);
	for (size_t i = 0; i < g->nr_totals; i++)
		vec_push(&g->totals, (struct total){ 0 });
	vec_push(&g->hashes, h);
	g->slots[at] = (uint32_t)++g->nr;
	return g->nr - 1;
}

struct sorting {
	const struct groups *g;
	const struct names *names;
};

static int by_keys(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	size_t n = s->g->nr_keys;

	for (size_t i = 0; i < n; i++) {
		int cmp = value_cmp(s->g->keys.v[x * n + i], s->g->keys.v[y * n + i], s->names);

		if (cmp)
			return cmp;
	}
	return x < y ? -1 : x > y;
}

uint32_t *groups_sorted(const struct groups *g, const struct names *names)
{
	uint32_t *v = mem_realloc(NULL, mem_bytes(g->nr + 1, sizeof(*v)));
	struct sorting s = { g, names };

	for (size_t i = 0; i < g->nr; i++)
		v[i] = (uint32_t)i;
	qsort_r(v, g->nr, sizeof(*v), by_keys, &s);
	return v;
}

void groups_reset(struct groups *g)
{
	vec_each (&g->totals, t)
		total_done(t);
	if (g->slots)
		memset(g->slots, 0, g->nr_slots * sizeof(*g->slots));
	vec_clear(&g->keys);
	vec_clear(&g->rows);
	vec_clear(&g->totals);
	vec_clear(&g->hashes);
	g->nr = 0;
}

void groups_done(struct groups *g)
{
	groups_reset(g);
	vec_done(&g->keys);
	vec_done(&g->rows);
	vec_done(&g->totals);
	vec_done(&g->hashes);
	free(g->slots);
	*g = (struct groups){ 0 };
}
