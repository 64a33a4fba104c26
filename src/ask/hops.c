#include "ask/hops.h"

#include <stdlib.h>

#define FOLDED STR("(other)")
#define ARROW STR(" \xe2\x86\x92 ") /* between nodes in the names of calls */

void hops_done(struct hops *h)
{
	names_done(&h->names);
	vec_done(&h->v);
	free(h->slots);
	h->slots = NULL;
	h->nr_slots = 0;
}

static uint64_t hash_of(uint32_t parent, uint32_t type, sym_t node, sym_t name)
{
	uint64_t x = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15u;

	x ^= ((uint64_t)type << 32 | node) + (x >> 29);
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ (x >> 32);
}

static void grow(struct hops *h)
{
	size_t nr = h->nr_slots ? 2 * h->nr_slots : 256;

	free(h->slots);
	h->slots = mem_zalloc(mem_bytes(nr, sizeof(*h->slots)));
	h->nr_slots = nr;
	for (uint32_t i = 0; i < h->v.nr; i++) {
		const struct hop *p = &h->v.v[i];
		size_t at = hash_of(p->parent, p->type, p->node, p->name) & (nr - 1);

		while (h->slots[at])
			at = (at + 1) & (nr - 1);
		h->slots[at] = i + 1;
	}
}

/* Its slot: where it is, or where it would be. */
static uint32_t *slot_of(struct hops *h, uint32_t parent, uint32_t type, sym_t node, sym_t name)
{
	size_t at;

	if (2 * (h->v.nr + 1) > h->nr_slots)
		grow(h);
	at = hash_of(parent, type, node, name) & (h->nr_slots - 1);
	for (; h->slots[at]; at = (at + 1) & (h->nr_slots - 1)) {
		const struct hop *p = &h->v.v[h->slots[at] - 1];

		if (p->parent == parent && p->type == type && p->node == node && p->name == name)
			break;
	}
	return &h->slots[at];
}

uint32_t hops_type(struct hops *h, uint32_t type)
{
	uint32_t *slot = slot_of(h, HOP_NONE, type, 0, 0), top = (uint32_t)h->v.nr;

	if (!*slot) {
		vec_push(&h->v,
			 (struct hop){
				 .parent = HOP_NONE, .type = type, .top = top, .next = HOP_NONE });
		*slot = (uint32_t)h->v.nr;
	}
	return *slot - 1;
}

static uint32_t find_or_add(struct hops *h, uint32_t parent, sym_t node_sym, sym_t name_sym)
{
	struct hop up = h->v.v[parent];
	uint32_t *slot;

	if (up.depth >= HOPS_DEPTH)
		return parent;
	slot = slot_of(h, parent, up.type, node_sym, name_sym);
	if (!*slot && up.nr_children >= HOPS_WIDTH) {
		node_sym = 0;
		name_sym = names_add(&h->names, FOLDED);
		slot = slot_of(h, parent, up.type, node_sym, name_sym);
	}
	if (!*slot) {
		h->v.v[parent].nr_children++;
		vec_push(&h->v, (struct hop){ .parent = parent,
					      .type = up.type,
					      .node = node_sym,
					      .name = name_sym,
					      .depth = up.depth + 1,
					      .top = up.top,
					      .next = h->v.v[up.top].next });
		h->v.v[up.top].next = (uint32_t)h->v.nr - 1;
		*slot = (uint32_t)h->v.nr;
	}
	return *slot - 1;
}

/* Which replica called is no part of a place: "service@host" stands there as "service". */
static uint32_t place_of(struct hops *h, uint32_t hop)
{
	struct hop p = h->v.v[hop];
	struct str node = names_str(&h->names, p.node);
	size_t at = node.n;

	while (at > 0 && node.p[at - 1] != '@')
		at--;
	if (at < 2 || p.parent == HOP_NONE)
		return hop;
	return find_or_add(h, p.parent, names_add(&h->names, str_head(node, at - 1)), p.name);
}

uint32_t hops_below(struct hops *h, uint32_t parent, struct str node, struct str name)
{
	sym_t node_sym = names_add(&h->names, node), name_sym = names_add(&h->names, name);

	return find_or_add(h, place_of(h, parent), node_sym, name_sym);
}

bool hops_enters(const struct hops *h, uint32_t hop)
{
	uint32_t up = h->v.v[hop].parent;
	struct str node, above;

	if (up == HOP_NONE)
		return false;
	node = hops_node(h, hop);
	above = hops_node(h, up);
	/* a parent's place is named without its replica */
	return !above.n || !str_starts(node, above) || (node.n > above.n && node.p[above.n] != '@');
}

struct str hops_node(const struct hops *h, uint32_t hop)
{
	return names_str(&h->names, h->v.v[hop].node);
}

struct str hops_name(const struct hops *h, uint32_t hop)
{
	if (h->v.v[hop].parent == HOP_NONE)
		return STR("(in no span)");
	return names_str(&h->names, h->v.v[hop].name);
}

/* Whether a call is named by who calls whom, as calls known from messages are. */
static bool is_arrow(struct str name, struct str node)
{
	return node.n && str_ends(name, node) && str_ends(str_head(name, name.n - node.n), ARROW);
}

static void add_step(const struct hops *h, const struct hop *p, const struct hop *up,
		     struct buf *out)
{
	struct str name = names_str(&h->names, p->name), node = names_str(&h->names, p->node);
	struct str above = names_str(&h->names, up->node);
	bool first = up->parent == HOP_NONE;

	if (is_arrow(name, node)) {
		if (first)
			buf_add(out, name);
		else if (str_starts(name, above) && name.n == above.n + ARROW.n + node.n)
			buf_add(out, str_skip(name, above.n)); /* who calls stands there already */
		else
			buf_fmt(out, " > " STR_FMT, STR_ARG(name));
		return;
	}
	if (!first)
		buf_add(out, STR(" > "));
	if (p->node && (first || p->node != up->node)) {
		buf_add(out, node);
		buf_char(out, ':');
	}
	buf_add(out, name);
}

void hops_path(const struct hops *h, uint32_t hop, struct buf *out)
{
	uint32_t up[HOPS_DEPTH + 1];
	size_t nr = 0;

	if (h->v.v[hop].parent == HOP_NONE)
		buf_add(out, hops_name(h, hop));
	for (; h->v.v[hop].parent != HOP_NONE; hop = h->v.v[hop].parent)
		up[nr++] = hop;
	for (; nr > 0; nr--)
		add_step(h, &h->v.v[up[nr - 1]], &h->v.v[h->v.v[up[nr - 1]].parent], out);
}
