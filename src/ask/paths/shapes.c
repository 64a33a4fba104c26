#include "ask/paths/shapes.h"

void shapes_done(struct shapes *s)
{
	vec_done(&s->v);
	vec_done(&s->kids);
	free(s->slots);
	s->slots = NULL;
	s->nr_slots = 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static uint64_t hash_of(sym_t node, const struct shape_kid *kids, uint32_t nr)
{
	uint64_t h = mix(nr + 1, node);

	for (uint32_t i = 0; i < nr; i++)
		h = mix(h, (uint64_t)kids[i].times << 32 | kids[i].shape);
	return h;
}

static void grow(struct shapes *s)
{
	size_t nr = s->nr_slots ? 2 * s->nr_slots : 256;

	free(s->slots);
	s->slots = mem_zalloc(mem_bytes(nr, sizeof(*s->slots)));
	s->nr_slots = nr;
	for (uint32_t i = 0; i < s->v.nr; i++) {
		size_t at = s->v.v[i].hash & (nr - 1);

		while (s->slots[at])
			at = (at + 1) & (nr - 1);
		s->slots[at] = i + 1;
	}
}

static bool same(const struct shapes *s, const struct shape *a, sym_t node,
		 const struct shape_kid *kids, uint32_t nr)
{
	return a->node == node && a->nr_kids == nr &&
	       (!nr || !memcmp(&s->kids.v[a->first], kids, nr * sizeof(*kids)));
}

uint32_t shapes_add(struct shapes *s, sym_t node, const struct shape_kid *kids, uint32_t nr)
{
	uint64_t hash = hash_of(node, kids, nr);
	struct shape n = {
		.node = node, .nr_hops = 1, .first = s->kids.nr, .nr_kids = nr, .hash = hash
	};
	size_t at;

	if (2 * (s->v.nr + 1) > s->nr_slots)
		grow(s);
	for (at = hash & (s->nr_slots - 1); s->slots[at]; at = (at + 1) & (s->nr_slots - 1)) {
		const struct shape *have = &s->v.v[s->slots[at] - 1];

		if (have->hash == hash && same(s, have, node, kids, nr))
			return s->slots[at] - 1;
	}
	if (s->v.nr + s->kids.nr + nr >= SHAPES_MOST)
		return SHAPE_NONE;
	for (uint32_t i = 0; i < nr; i++) {
		n.nr_hops += s->v.v[kids[i].shape].nr_hops;
		vec_push(&s->kids, kids[i]);
	}
	vec_push(&s->v, n);
	s->slots[at] = (uint32_t)s->v.nr;
	return (uint32_t)s->v.nr - 1;
}

struct frame {
	uint32_t shape, next, hop;
};

void shapes_hops(const struct shapes *s, uint32_t root, struct shape_hop *hops)
{
	VEC(struct frame) stack = { 0 };
	uint32_t nr = 0;

	vec_push(&stack, (struct frame){ root, 0, SHAPE_NONE });
	while (stack.nr) {
		struct frame *f = &stack.v[stack.nr - 1];
		const struct shape *up = &s->v.v[f->shape];
		struct shape_kid kid;

		if (f->next == up->nr_kids) {
			stack.nr--;
			continue;
		}
		kid = s->kids.v[up->first + f->next++];
		hops[nr] = (struct shape_hop){ s->v.v[kid.shape].node, (uint32_t)stack.nr - 1,
					       f->hop, kid.times };
		vec_push(&stack, (struct frame){ kid.shape, 0, nr++ });
	}
	vec_done(&stack);
}

static void add_name(struct buf *out, struct str name)
{
	bool odd = false;

	for (size_t i = 0; i < name.n; i++)
		odd |= strchr("(),*\"", name.p[i]) != NULL;
	if (!name.n)
		buf_char(out, '?');
	if (!odd) {
		buf_add(out, name);
		return;
	}
	buf_char(out, '"');
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '"' || name.p[i] == '\\')
			buf_char(out, '\\');
		buf_char(out, name.p[i]);
	}
	buf_char(out, '"');
}

/*
 * The factor of a folded call stands behind its whole tree, "AP1(DB1)*5", so it waits on the way
 * up: a stack of the places that are still open.
 */
void shapes_path(const struct shape_hop *hops, size_t nr, const struct str *names, struct buf *out)
{
	VEC(uint32_t) open = { 0 };

	for (uint32_t i = 0; i <= nr; i++) {
		uint32_t depth = i < nr ? hops[i].depth : 0;

		if (i && i < nr && depth == open.nr)
			buf_char(out, '(');
		for (bool first = true; open.nr > depth; first = false) {
			uint32_t done = open.v[--open.nr];

			if (!first)
				buf_char(out, ')');
			if (hops[done].times > 1)
				buf_fmt(out, "*%u", hops[done].times);
			if (open.nr == depth && i < nr)
				buf_char(out, ',');
		}
		if (i == nr)
			break;
		add_name(out, names[i]);
		vec_push(&open, i);
	}
	vec_done(&open);
}
