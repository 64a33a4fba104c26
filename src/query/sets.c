#include "query/sets.h"

#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	h ^= h >> 30;
	h = (h + b) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static uint64_t part_hash(const struct set_part *p)
{
	return mix(p->mask ^ p->level, (uint64_t)p->a << 32 | p->b);
}

void sets_done(struct sets *s)
{
	vec_done(&s->parts);
	free(s->slots);
	free(s->joined);
	*s = (struct sets){ 0 };
}

/* Executions are many and mostly small: what is free already is not cleared again. The last one
 * goes first, so that each is found where it was put. */
void sets_reset(struct sets *s)
{
	s->epoch++;
	if (!s->parts.nr)
		return;
	if (s->parts.nr > s->nr_slots / 16)
		memset(s->slots, 0, s->nr_slots * sizeof(*s->slots));
	else
		for (size_t i = s->parts.nr; i-- > 1;) {
			size_t at = part_hash(&s->parts.v[i]) & (s->nr_slots - 1);

			while (s->slots[at] != i)
				at = (at + 1) & (s->nr_slots - 1);
			s->slots[at] = 0;
		}
	s->parts.nr = 1;
}

static void grow(struct sets *s)
{
	size_t nr = s->nr_slots ? 2 * s->nr_slots : 64;

	free(s->slots);
	free(s->joined);
	s->slots = mem_zalloc(mem_bytes(nr, sizeof(*s->slots)));
	s->joined = mem_zalloc(mem_bytes(nr, sizeof(*s->joined)));
	s->nr_slots = nr;
	if (!s->parts.nr)
		vec_push(&s->parts, (struct set_part){ 0 });
	for (size_t i = 1; i < s->parts.nr; i++) {
		size_t at = part_hash(&s->parts.v[i]) & (nr - 1);

		while (s->slots[at])
			at = (at + 1) & (nr - 1);
		s->slots[at] = (uint32_t)i;
	}
}

static uint32_t part_of(struct sets *s, struct set_part want)
{
	size_t at;

	if (2 * (s->parts.nr + 1) > s->nr_slots)
		grow(s);
	at = part_hash(&want) & (s->nr_slots - 1);
	for (; s->slots[at]; at = (at + 1) & (s->nr_slots - 1)) {
		const struct set_part *p = &s->parts.v[s->slots[at]];

		if (p->mask == want.mask && p->a == want.a && p->b == want.b &&
		    p->level == want.level)
			return s->slots[at];
	}
	s->slots[at] = (uint32_t)s->parts.nr;
	vec_push(&s->parts, want);
	return s->slots[at];
}

static uint32_t halves(struct sets *s, uint32_t level, uint32_t a, uint32_t b)
{
	return part_of(s, (struct set_part){ .a = a, .b = b, .level = level });
}

/* The same numbers, as a part that covers more of them. */
static uint32_t raise_to(struct sets *s, uint32_t set, uint32_t level)
{
	for (uint32_t at = s->parts.v[set].level; at < level; at++)
		set = halves(s, at + 1, set, 0);
	return set;
}

static uint32_t join_equal(struct sets *s, uint32_t a, uint32_t b)
{
	struct set_part x, y;
	struct set_joined *seen;
	uint32_t low, high, both;

	if (a == b || !b)
		return a;
	if (!a)
		return b;
	if (a > b) {
		uint32_t t = a;

		a = b;
		b = t;
	}
	x = s->parts.v[a];
	y = s->parts.v[b];
	if (!x.level)
		return part_of(s, (struct set_part){ .mask = x.mask | y.mask, .a = x.a });
	seen = &s->joined[mix(a, b) & (s->nr_slots - 1)];
	if (seen->a == a && seen->b == b && seen->epoch == s->epoch)
		return seen->both;
	low = join_equal(s, x.a, y.a);
	high = join_equal(s, x.b, y.b);
	both = halves(s, x.level, low, high);
	s->joined[mix(a, b) & (s->nr_slots - 1)] = (struct set_joined){ a, b, both, s->epoch };
	return both;
}

uint32_t sets_join(struct sets *s, uint32_t a, uint32_t b)
{
	uint32_t la, lb;

	if (a == b || !b)
		return a;
	if (!a)
		return b;
	la = s->parts.v[a].level;
	lb = s->parts.v[b].level;
	if (la < lb)
		a = raise_to(s, a, lb);
	else if (lb < la)
		b = raise_to(s, b, la);
	return join_equal(s, a, b);
}

/* The part with one number, as high as it has to be and as the other set is. */
uint32_t sets_add(struct sets *s, uint32_t set, uint32_t number)
{
	uint32_t block = number >> 6, level = 0, one;

	if (!s->parts.nr)
		grow(s);
	one = part_of(s, (struct set_part){ .mask = (uint64_t)1 << (number & 63), .a = block });
	while (block >> level || (set && level < s->parts.v[set].level)) {
		one = (block >> level & 1) ? halves(s, level + 1, 0, one)
					   : halves(s, level + 1, one, 0);
		level++;
	}
	return sets_join(s, set, one);
}

uint32_t sets_masked(struct sets *s, uint32_t which, uint64_t mask)
{
	return mask ? part_of(s, (struct set_part){ .mask = mask, .a = which }) : 0;
}

void sets_each(const struct sets *s, uint32_t set, void (*each)(void *ctx, uint32_t number),
	       void *ctx)
{
	struct set_part p;

	if (!set)
		return;
	p = s->parts.v[set];
	if (p.level) {
		sets_each(s, p.a, each, ctx);
		sets_each(s, p.b, each, ctx);
		return;
	}
	for (uint64_t mask = p.mask; mask; mask &= mask - 1)
		each(ctx, p.a * 64 + (uint32_t)__builtin_ctzll(mask));
}
