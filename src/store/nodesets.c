#include "store/nodesets.h"

#include "base/buf.h"

enum {
	NODES_MOST = 1 << 16, /* that are told apart; requests on others tell it in their bodies */
	IN_SET = 256,
};

void nodesets_done(struct nodesets *n)
{
	names_done(&n->nodes);
	names_done(&n->sets);
	vec_done(&n->seen);
	vec_done(&n->found);
	buf_done(&n->packed);
	*n = (struct nodesets){ 0 };
}

/* False where it is one too many. */
static bool see_node(struct nodesets *n, struct str name)
{
	sym_t node = names_find(&n->nodes, name);
	size_t at;

	if (!node && name.n && n->nodes.nr >= NODES_MOST)
		return false;
	if (!node)
		node = names_add(&n->nodes, name);
	while (n->seen.nr <= node)
		vec_push(&n->seen, 0);
	if (!node || n->seen.v[node] == n->nr_bodies)
		return true;
	n->seen.v[node] = n->nr_bodies;
	if (n->found.nr == IN_SET)
		return false;
	vec_push(&n->found, node);
	for (at = n->found.nr - 1; at && n->found.v[at - 1] > node; at--)
		n->found.v[at] = n->found.v[at - 1];
	n->found.v[at] = node;
	return true;
}

static uint64_t bit_of(sym_t node)
{
	return (uint64_t)1 << (node - 1) % NODESET_BITS;
}

static uint64_t mask_of(const struct nodesets *n)
{
	uint64_t mask = 0;

	vec_each (&n->found, node)
		mask |= bit_of(*node);
	return NODESET_MASK + mask;
}

uint64_t nodesets_of(struct nodesets *n, const struct request_body *body)
{
	struct str last = { 0 };
	sym_t set;

	n->nr_bodies++;
	vec_clear(&n->found);
	for (size_t i = 0; i < body->nr_spans; i++) {
		if (str_eq(last, body->spans[i].node))
			continue;
		last = body->spans[i].node;
		if (!see_node(n, last))
			return NODESET_UNKNOWN;
	}
	buf_clear(&n->packed);
	vec_each (&n->found, node)
		buf_varint(&n->packed, *node);
	set = names_find(&n->sets, buf_str(&n->packed));
	if (set || !n->packed.n)
		return set;
	return n->sets.nr < NODESET_MASK ? names_add(&n->sets, buf_str(&n->packed)) : mask_of(n);
}

static void add_names(struct buf *to, const struct names *names)
{
	buf_varint(to, names->nr ? names->nr - 1 : 0);
	for (sym_t i = 1; i < names->nr; i++)
		buf_bytes(to, names->v[i]);
}

static bool take_names(struct str *from, struct names *names)
{
	struct str name;
	uint64_t nr;

	if (!str_take_varint(from, &nr) || nr > from->n)
		return false;
	for (uint64_t i = 1; i <= nr; i++)
		if (!str_take_bytes(from, &name) || names_add(names, name) != i)
			return false;
	return true;
}

void nodesets_add(struct buf *to, const struct nodesets *n)
{
	add_names(to, &n->nodes);
	add_names(to, &n->sets);
}

bool nodesets_take(struct str *from, struct nodesets *n)
{
	return take_names(from, &n->nodes) && take_names(from, &n->sets);
}

enum nodeset_has nodesets_has(const struct nodesets *n, uint64_t set, sym_t node)
{
	struct str left;
	uint64_t one;

	if (set >= NODESET_MASK) {
		if (node && !((set - NODESET_MASK) & bit_of(node)))
			return NODESET_NO;
		/* with few nodes each has a bit of its own */
		return node && n->nodes.nr <= NODESET_BITS + 1 ? NODESET_YES : NODESET_MAYBE;
	}
	left = set < n->sets.nr ? n->sets.v[set] : STR("");
	while (str_take_varint(&left, &one))
		if (one == node)
			return NODESET_YES;
	return NODESET_NO;
}
