/*
 * Items stand behind what is below them, so that from the last to the first each comes before its
 * callees. No item gets more than its caller has left: what is below adds up to at most the whole,
 * whatever clocks say. Time and memory are linear in items; a node costs one look into a table.
 */
#include "infer/intervals/call_tree.h"

#include <string.h>

#include "base/mem.h"
#include "infer/intervals/thread_log.h"

void call_tree_done(struct call_tree *t)
{
	vec_done(&t->nodes);
	vec_done(&t->frames);
	free(t->table);
	*t = (struct call_tree){ 0 };
}

static size_t hash_of(const struct call_tree *t, uint32_t parent, uint32_t function, uint32_t site)
{
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ site) * 0xbf58476d1ce4e5b9u;
	return (size_t)(h >> 32) & (t->nr_slots - 1);
}

static size_t hash_of_node(const struct call_tree *t, const struct tree_node *n)
{
	return hash_of(t, n->parent, n->function, n->site);
}

/* As many steps as there are nodes, not slots. */
void call_tree_clear(struct call_tree *t)
{
	if (t->nodes.nr * 8 > t->nr_slots) {
		if (t->table)
			memset(t->table, 0, t->nr_slots * sizeof(*t->table));
	} else {
		/* from the last one on: nothing stands behind a hole that is still looked for */
		for (size_t i = t->nodes.nr; i-- > 0;) {
			size_t at = hash_of_node(t, &t->nodes.v[i]);

			while (t->table[at] != i + 1)
				at = (at + 1) & (t->nr_slots - 1);
			t->table[at] = 0;
		}
	}
	vec_clear(&t->nodes);
}

static void grow(struct call_tree *t)
{
	t->nr_slots = t->nr_slots ? t->nr_slots * 2 : 256;
	free(t->table);
	t->table = mem_zalloc(mem_bytes(t->nr_slots, sizeof(*t->table)));
	for (size_t i = 0; i < t->nodes.nr; i++) {
		size_t at = hash_of_node(t, &t->nodes.v[i]);

		while (t->table[at])
			at = (at + 1) & (t->nr_slots - 1);
		t->table[at] = (uint32_t)i + 1;
	}
}

uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t site)
{
	size_t at;

	if (t->nodes.nr * 2 >= t->nr_slots)
		grow(t);
	for (at = hash_of(t, parent, function, site); t->table[at];
	     at = (at + 1) & (t->nr_slots - 1)) {
		const struct tree_node *n = &t->nodes.v[t->table[at] - 1];

		if (n->parent == parent && n->function == function && n->site == site)
			return t->table[at] - 1;
	}
	if (t->nodes.nr >= TREE_NODES_MAX)
		return TREE_NONE;
	vec_push(&t->nodes, (struct tree_node){ .parent = parent,
						.function = function,
						.site = site,
						.start = INT64_MAX,
						.end = INT64_MIN });
	t->table[at] = (uint32_t)t->nodes.nr;
	return (uint32_t)t->nodes.nr - 1;
}

/* Time that counts in front of a moment. */
static int64_t counted_before(const struct tree_measure *m, int64_t ns)
{
	size_t low = 0, high = m->nr_windows;
	const struct tree_window *w;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (m->windows[middle].from <= ns)
			low = middle;
		else
			high = middle;
	}
	w = &m->windows[low];
	if (ns <= w->from)
		return w->before_ns;
	return w->before_ns + (ns < w->to ? ns : w->to) - w->from;
}

static int64_t counted_ns(struct call_tree *t, const struct tree_measure *m,
			  const struct log_item *i, bool *is_out)
{
	int64_t ns, whole = i->end - i->start;

	*is_out = false;
	if (!m->windows)
		return i->ns;
	ns = counted_before(m, i->end) - counted_before(m, i->start);
	if (ns == whole &&
	    (ns || (i->start >= m->windows[0].from && i->end <= m->windows[m->nr_windows - 1].to)))
		return i->ns;
	*is_out = !ns;
	if (i->ns == whole || !ns)
		return ns;
	t->nr_shared++;
	return (int64_t)((__int128)i->ns * ns / whole);
}

/* The node of one more call. */
static uint32_t add_item(struct call_tree *t, struct tree_frame *above, const struct log_item *i,
			 int64_t ns)
{
	uint32_t at = call_tree_child(t, above->node, i->function, i->site);
	struct tree_node *n;

	if (at == TREE_NONE)
		return at;
	n = &t->nodes.v[at];
	n->ns += ns;
	n->nr += i->nr;
	n->nr_amounts += i->nr_amounts;
	n->amount += i->amount;
	if (i->start < n->start)
		n->start = i->start;
	if (i->end > n->end)
		n->end = i->end;
	if (n->parent != TREE_NONE)
		t->nodes.v[n->parent].below_ns += ns;
	above->left_ns -= ns;
	return at;
}

int64_t call_tree_add(struct call_tree *t, uint32_t parent, int64_t left_ns,
		      const struct log_item *items, size_t nr, const struct tree_measure *m)
{
	vec_clear(&t->frames);
	vec_push(&t->frames, (struct tree_frame){ 0, parent, left_ns });
	for (size_t at = nr; at-- > 0;) {
		const struct log_item *i = &items[at];
		struct tree_frame *above;
		uint32_t node;
		int64_t ns;
		bool is_out;

		while (at < t->frames.v[t->frames.nr - 1].low)
			t->frames.nr--;
		above = &t->frames.v[t->frames.nr - 1];
		ns = counted_ns(t, m, i, &is_out);
		if (is_out) {
			at -= i->size - 1;
			continue;
		}
		if (m->is_around && m->is_around(m->to, i))
			continue;
		if (ns > above->left_ns)
			ns = above->left_ns;
		node = add_item(t, above, i, ns);
		if (node == TREE_NONE) {
			t->nr_left += i->size;
			at -= i->size - 1;
			continue;
		}
		if (i->size > 1)
			vec_push(&t->frames, (struct tree_frame){ at - (i->size - 1), node, ns });
	}
	return left_ns - t->frames.v[0].left_ns;
}
