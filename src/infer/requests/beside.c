#include "infer/requests/beside.h"

#include <string.h>

enum {
	LIST_FIRST = 4, /* places of a list at first */
	LIST_MAX = 64,  /* further pairs of a thing are looked up in a map */
};

void beside_done(struct beside *b)
{
	vec_done(&b->of);
	vec_done(&b->pool);
	map_done(&b->beyond);
	vec_done(&b->far);
	b->nr = 0;
}

static uint32_t *find(const struct beside *b, const struct beside_list *l, uint32_t other)
{
	struct beside_entry *v = b->pool.v + l->at;

	for (unsigned i = 0; i < l->nr; i++)
		if (v[i].other == other)
			return &v[i].value;
	return NULL;
}

const uint32_t *beside_find(const struct beside *b, uint32_t thing, uint32_t other)
{
	const struct beside_list *l = thing < b->of.nr ? &b->of.v[thing] : NULL;
	const uint32_t *value = l && l->nr ? find(b, l, other) : NULL;
	const uint64_t *at;

	if (value || !l || l->nr < LIST_MAX)
		return value;
	at = map_find(&b->beyond, map_pair(thing, other));
	return at ? &b->far.v[*at - 1].value : NULL;
}

/* Moves the list to a place with more room. */
static void grow(struct beside *b, struct beside_list *l)
{
	uint16_t room = l->room ? (uint16_t)(2 * l->room) : LIST_FIRST;
	size_t at = b->pool.nr;

	vec_reserve(&b->pool, at + room);
	b->pool.nr += room;
	if (l->nr)
		memcpy(b->pool.v + at, b->pool.v + l->at, l->nr * sizeof(*b->pool.v));
	*l = (struct beside_list){ (uint32_t)at, l->nr, room };
}

static uint32_t *at_far(struct beside *b, uint32_t thing, uint32_t other)
{
	uint64_t *at = map_at(&b->beyond, map_pair(thing, other));

	if (!*at) {
		vec_push(&b->far, (struct beside_pair){ thing, other, 0 });
		*at = b->far.nr;
		b->nr++;
	}
	return &b->far.v[*at - 1].value;
}

uint32_t *beside_at(struct beside *b, uint32_t thing, uint32_t other)
{
	struct beside_list *l;
	uint32_t *value;

	while (b->of.nr <= thing)
		vec_push(&b->of, (struct beside_list){ 0 });
	l = &b->of.v[thing];
	value = l->nr ? find(b, l, other) : NULL;
	if (value)
		return value;
	if (l->nr == LIST_MAX)
		return at_far(b, thing, other);
	if (l->nr == l->room)
		grow(b, l);
	b->pool.v[l->at + l->nr] = (struct beside_entry){ other, 0 };
	b->nr++;
	return &b->pool.v[l->at + l->nr++].value;
}

bool beside_next(const struct beside *b, struct beside_cursor *c, struct beside_pair *p)
{
	while (c->thing < b->of.nr && c->at >= b->of.v[c->thing].nr)
		*c = (struct beside_cursor){ c->thing + 1, 0 };
	if (c->thing < b->of.nr) {
		struct beside_entry e = b->pool.v[b->of.v[c->thing].at + c->at++];

		*p = (struct beside_pair){ (uint32_t)c->thing, e.other, e.value };
		return true;
	}
	if (c->at >= b->far.nr)
		return false;
	*p = b->far.v[c->at++];
	return true;
}
