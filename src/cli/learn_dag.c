/*
 * A node stands below the last one that is passed on every way to it (its dominator): indented when
 * it is one of several ways to go on, and at the same depth when it comes in any case. Nodes are
 * numbered in the order of time, so that one pass finds the dominators.
 *
 * An exception may come nearly everywhere. Ways into a handler are therefore no branches: what it
 * logs is shown, indented, below the last node that surely came before, and the rest as if it were
 * not there.
 */
#include "cli/learn_dag.h"

#include <stdlib.h>

enum { NODES_MAX = 500 }; /* that anyone would read */

/* Node 0 is the beginning, the nodes of the top follow. */
struct leaf {
	uint32_t above;     /* the dominator */
	uint32_t nr_before; /* ways that lead to it */
	uint32_t nr_next;   /* ways on, but for exceptions */
	uint32_t before;    /* the last of those that lead to it */
	uint32_t joined;    /* the last one below the same dominator where ways meet again */
	unsigned depth;
	bool is_thrown; /* comes only after an exception */
	bool is_usual;  /* may come without one */
	bool is_after;  /* joined comes before it */
	bool is_told;   /* one of its ways on was shown */
};

struct tree {
	const struct model_file *m;
	const struct model_top *top;
	struct leaf *v;
	uint32_t nr;
};

struct numbers {
	uint32_t *v;
	size_t nr, room;
};

/* Calls step for every way from a node to another, in the order of their numbers. */
static void each_way(struct tree *t, void (*step)(struct tree *t, uint32_t from, uint32_t to))
{
	for (uint32_t i = 1; i < t->nr; i++)
		if (model_node(t->m, t->top->nodes.first + i - 1).is_first)
			step(t, 0, i);
	for (uint32_t i = 1; i < t->nr; i++) {
		struct model_node n = model_node(t->m, t->top->nodes.first + i - 1);

		for (uint32_t k = 0; k < n.ahead.nr; k++)
			if (n.ahead.v[k] < t->nr - i)
				step(t, i, i + n.ahead.v[k]);
	}
}

static void find_usual(struct tree *t, uint32_t from, uint32_t to)
{
	t->v[to].is_usual |= !t->v[from].is_thrown;
}

static void lead(struct tree *t, uint32_t from, uint32_t to)
{
	struct leaf *l = &t->v[to];
	uint32_t x = from, y = l->nr_before ? l->above : from;

	if (t->v[from].is_thrown && !l->is_thrown && l->is_usual)
		return;
	while (x != y) {
		if (x > y)
			x = t->v[x].above;
		else
			y = t->v[y].above;
	}
	l->above = x;
	l->before = from;
	l->nr_before++;
	t->v[from].nr_next += !l->is_thrown;
}

static bool is_branch(const struct tree *t, uint32_t node)
{
	const struct leaf *l = &t->v[node];

	return !l->is_thrown && l->nr_before == 1 && t->v[l->before].nr_next > 1;
}

static bool is_join(const struct tree *t, uint32_t node)
{
	return !t->v[node].is_thrown && !is_branch(t, node);
}

/* Of several places where ways meet below one node, each may follow the one before, or not. */
static void follow(struct tree *t, uint32_t from, uint32_t to)
{
	struct leaf *l = &t->v[to];

	while (from && from != l->above && t->v[from].above != l->above)
		from = t->v[from].above;
	l->is_after |= from && from == l->joined;
}

static void grow(struct tree *t)
{
	uint32_t *joined = mem_zalloc(mem_bytes(t->nr, sizeof(*joined)));

	for (uint32_t i = 1; i < t->nr; i++)
		t->v[i].is_thrown = model_node(t->m, t->top->nodes.first + i - 1).is_exceptional;
	each_way(t, find_usual);
	each_way(t, lead);
	for (uint32_t i = 1; i < t->nr; i++) {
		if (!is_join(t, i))
			continue;
		t->v[i].joined = joined[t->v[i].above];
		joined[t->v[i].above] = i;
	}
	each_way(t, follow);
	free(joined);
}

/* The children of a node: exceptions, ways to go on, what comes in any case. Last ones first. */
static void push_children(const struct tree *t, uint32_t node, struct numbers *open)
{
	for (int kind = 0; kind < 3; kind++)
		for (uint32_t i = t->nr; --i > node;) {
			int is = t->v[i].is_thrown ? 2 : is_branch(t, i) ? 1 : 0;

			if (t->v[i].above == node && is == kind)
				vec_push(open, i);
		}
}

static struct dag_line line_of(struct tree *t, uint32_t node)
{
	struct leaf *l = &t->v[node], *above = &t->v[l->above];
	struct dag_line line = { node - 1, 0, DAG_THEN };

	l->depth = above->depth;
	if (l->is_thrown && !above->is_thrown) {
		l->depth++;
	} else if (is_branch(t, node)) {
		l->depth++;
		line.how = above->is_told ? DAG_OR : DAG_EITHER;
		above->is_told = true;
	} else if (!l->is_thrown && l->joined && !l->is_after) {
		line.how = DAG_OR;
	}
	line.depth = l->depth;
	return line;
}

static void read_down(struct tree *t, struct dag *d)
{
	struct numbers open = { 0 };

	if (t->v[0].nr_next > 1)
		vec_push(&d->lines, (struct dag_line){ DAG_BEGIN, 0, DAG_THEN });
	push_children(t, 0, &open);
	while (open.nr) {
		uint32_t node = open.v[--open.nr];

		vec_push(&d->lines, line_of(t, node));
		push_children(t, node, &open);
	}
	vec_done(&open);
}

void dag_init(struct dag *d, const struct model_file *m, const struct model_top *top)
{
	uint32_t nr = 1 + (top->nodes.nr < NODES_MAX ? top->nodes.nr : NODES_MAX);
	struct tree t = { m, top, mem_zalloc(mem_bytes(nr, sizeof(*t.v))), nr };

	*d = (struct dag){ .nr_left_out = top->nodes.nr + 1 - nr };
	grow(&t);
	read_down(&t, d);
	free(t.v);
}

void dag_done(struct dag *d)
{
	vec_done(&d->lines);
}
