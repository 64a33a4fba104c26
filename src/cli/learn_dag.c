/*
 * A node stands below the last one that is passed on every way to it (its dominator): indented when
 * it is one of several ways to go on, and at the same depth when all ways lead to it again. Nodes
 * are numbered in the order of time, so that one pass finds the dominators.
 */
#include "cli/learn_dag.h"

#include <stdlib.h>

enum { NODES_MAX = 2000 }; /* that anyone would read */

/* Node 0 is the beginning, the nodes of the top follow. */
struct tree {
	uint32_t nr;
	uint32_t *above;     /* the dominator */
	uint32_t *nr_before; /* edges that lead to it */
	uint32_t *nr_next;
	uint32_t *before; /* the last of those that lead to it */
	unsigned *depth;
};

struct numbers {
	uint32_t *v;
	size_t nr, room;
};

static void lead(struct tree *t, uint32_t from, uint32_t to)
{
	uint32_t x = from, y = t->nr_before[to] ? t->above[to] : from;

	while (x != y) {
		if (x > y)
			x = t->above[x];
		else
			y = t->above[y];
	}
	t->above[to] = x;
	t->before[to] = from;
	t->nr_before[to]++;
	t->nr_next[from]++;
}

static void grow(struct tree *t, const struct model_file *m, const struct model_top *top)
{
	for (uint32_t i = 0; i < t->nr - 1; i++)
		if (model_node(m, top->nodes.first + i).is_first)
			lead(t, 0, i + 1);
	for (uint32_t i = 0; i < t->nr - 1; i++) {
		struct model_node n = model_node(m, top->nodes.first + i);

		if (!t->nr_before[i + 1]) /* cannot be; but it is shown */
			lead(t, 0, i + 1);
		for (uint32_t k = 0; k < n.ahead.nr; k++)
			if (n.ahead.v[k] < t->nr - 1 - i)
				lead(t, i + 1, i + 1 + n.ahead.v[k]);
	}
}

static bool is_branch(const struct tree *t, uint32_t node)
{
	return t->nr_before[node] == 1 && t->nr_next[t->before[node]] > 1;
}

/* The children of a node: ways to go on first, then where they meet. The last is put down first. */
static void push_children(const struct tree *t, uint32_t node, struct numbers *open)
{
	for (int want_branch = 0; want_branch < 2; want_branch++)
		for (uint32_t i = t->nr; --i > node;)
			if (t->above[i] == node && is_branch(t, i) == (want_branch == 1))
				vec_push(open, i);
}

static void read_down(struct tree *t, struct dag *d)
{
	struct numbers open = { 0 };
	bool *is_told = mem_zalloc(t->nr + 1U); /* by node: one way on was shown already */

	vec_push(&open, 0);
	while (open.nr) {
		uint32_t node = open.v[--open.nr], above = t->above[node];
		struct dag_line line = { node ? node - 1 : DAG_BEGIN, 0, DAG_THEN };

		if (node && is_branch(t, node)) {
			t->depth[node] = t->depth[above] + 1;
			line.how = is_told[above] ? DAG_OR : DAG_EITHER;
			is_told[above] = true;
		} else if (node) {
			t->depth[node] = t->depth[above];
		}
		line.depth = t->depth[node];
		if (node || t->nr_next[0] > 1)
			vec_push(&d->lines, line);
		push_children(t, node, &open);
	}
	vec_done(&open);
	free(is_told);
}

void dag_init(struct dag *d, const struct model_file *m, const struct model_top *top)
{
	uint32_t nr = 1 + (top->nodes.nr < NODES_MAX ? top->nodes.nr : NODES_MAX);
	size_t bytes = mem_bytes(nr + 1U, sizeof(uint32_t));
	struct tree t = { nr,
			  mem_zalloc(bytes),
			  mem_zalloc(bytes),
			  mem_zalloc(bytes),
			  mem_zalloc(bytes),
			  mem_zalloc(mem_bytes(nr + 1U, sizeof(unsigned))) };

	*d = (struct dag){ .nr_left_out = top->nodes.nr + 1 - nr };
	grow(&t, m, top);
	read_down(&t, d);
	free(t.above);
	free(t.nr_before);
	free(t.nr_next);
	free(t.before);
	free(t.depth);
}

void dag_done(struct dag *d)
{
	vec_done(&d->lines);
}
