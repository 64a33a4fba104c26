/*
 * The tree of calls as parts: what a function does itself becomes a part of its own where it calls
 * others, and so does each way of waiting at the root. Further down, waits are told beside the
 * function that waited.
 */
#include <string.h>

#include "infer/intervals/state.h"

static bool is_wait(const struct tree_node *n)
{
	return n->function >= PART_WAIT;
}

/* Waits below the root are no parts. */
static bool is_part(const struct tree_node *n)
{
	return !is_wait(n) || !n->parent;
}

static int64_t *waits_of(struct intervals *s, size_t node)
{
	return s->waits.v + node * NR_WAITS;
}

static void add_waits(int64_t *to, const int64_t *from)
{
	for (int i = 0; i < NR_WAITS; i++)
		to[i] += from[i];
}

/* Of each node, itself and below. */
static void sum_waits(struct intervals *s)
{
	size_t nr = s->tree.nodes.nr;

	vec_reserve(&s->waits, nr * NR_WAITS);
	memset(s->waits.v, 0, nr * NR_WAITS * sizeof(*s->waits.v));
	for (size_t i = nr; i-- > 0;) {
		const struct tree_node *n = &s->tree.nodes.v[i];

		if (is_wait(n))
			waits_of(s, i)[n->function - PART_WAIT] += n->ns;
		if (n->parent != TREE_NONE)
			add_waits(waits_of(s, n->parent), waits_of(s, i));
	}
}

static struct interval_part part_of(struct intervals *s, size_t i)
{
	const struct tree_node *n = &s->tree.nodes.v[i];
	struct interval_part p = {
		.parent = n->parent == TREE_NONE ? UINT32_MAX : s->place.v[n->parent],
		.function = n->function,
		.site = n->site,
		.ns = n->ns,
		.nr_calls = n->nr,
		.nr_amounts = n->nr_amounts,
		.amount = n->amount,
	};

	memcpy(p.waits, waits_of(s, i), sizeof(p.waits));
	return p;
}

static size_t put_nodes(struct intervals *s, struct interval_part *parts)
{
	size_t nr = 0;

	vec_reserve(&s->place, s->tree.nodes.nr);
	for (size_t i = 0; i < s->tree.nodes.nr; i++) {
		if (!is_part(&s->tree.nodes.v[i]))
			continue;
		s->place.v[i] = (uint32_t)nr;
		parts[nr++] = part_of(s, i);
	}
	return nr;
}

/* What no part below takes of a part that has some. */
static size_t put_bodies(struct interval_part *parts, size_t nr)
{
	size_t all = nr;
	struct interval_part *bodies = parts + nr;

	for (size_t i = 0; i < nr; i++)
		bodies[i] = (struct interval_part){ .parent = UINT32_MAX };
	for (size_t i = 1; i < nr; i++) {
		struct interval_part *b = &bodies[parts[i].parent];

		b->parent = parts[i].parent;
		b->ns += parts[i].ns;
		add_waits(b->waits, parts[i].waits);
	}
	for (size_t i = 0; i < nr; i++) {
		struct interval_part b = bodies[i];

		if (b.parent == UINT32_MAX || b.ns == parts[i].ns)
			continue;
		b.function = PART_BODY;
		b.ns = parts[i].ns - b.ns;
		for (int k = 0; k < NR_WAITS; k++)
			b.waits[k] = parts[i].waits[k] - b.waits[k];
		parts[all++] = b; /* never in front of what is still to be read */
	}
	return all;
}

struct done_interval *parts_done(struct intervals *s, const struct interval *v)
{
	struct done_interval *d;
	size_t room, nr;

	stops_lift(&s->tree);
	room = 2 * s->tree.nodes.nr;
	d = mem_alloc(sizeof(*d) + mem_bytes(room, sizeof(*d->parts)));
	sum_waits(s);
	nr = put_nodes(s, d->parts);
	nr = put_bodies(d->parts, nr);
	d->v = *v;
	d->v.nr_parts = nr;
	d->v.body = NULL;
	d->body = (struct request_body){ 0 };
	d->arena = (struct arena){ 0 };
	d = mem_realloc(d, sizeof(*d) + mem_bytes(nr, sizeof(*d->parts)));
	d->v.parts = d->parts;
	intervals_lose(s, LOSS_CALLS_LEFT, s->tree.nr_left);
	intervals_lose(s, LOSS_CALLS_SHARED, s->tree.nr_shared);
	s->tree.nr_left = s->tree.nr_shared = 0;
	return d;
}
