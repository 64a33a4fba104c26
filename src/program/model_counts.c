/* What the table of a model counts: threads, points, the methods where requests begin. */
#include <stdlib.h>

#include "program/model_making.h"

static bool is_usual_node(const struct making *m, const struct order_node *n)
{
	for (uint32_t i = 0; !n->is_exceptional && i < n->nr_points; i++)
		if (making_is_usual(m, n->points[i]))
			return true;
	return false;
}

static bool is_usual_order(const struct making *m, const struct order *o)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (is_usual_node(m, &o->nodes[i]))
			return true;
	return false;
}

static void count_threads(struct making *m)
{
	const struct learned *l = m->learned;
	uint32_t nr = (uint32_t)l->program->methods.nr;
	bool *is_started = mem_zalloc(nr + 1U);

	for (uint32_t i = 0; i < nr; i++)
		callgraph_each(&l->graph, i, e) is_started[e->to] |= e->kind == EDGE_START;
	for (uint32_t i = 0; i < nr; i++) {
		m->counts[COUNT_THREADS] += is_started[i];
		m->counts[COUNT_THREADS_LOG] += is_started[i] && l->identifiers.speaks[i];
		m->counts[COUNT_THREADS_USUAL] +=
			is_started[i] && is_usual_order(m, &l->orders.of[i]);
	}
	free(is_started);
}

static void count_points(struct making *m)
{
	uint32_t nr = (uint32_t)m->learned->points.v.nr;

	m->counts[COUNT_POINTS] = nr;
	for (uint32_t i = 0; i < nr; i++) {
		bool is_usual = making_is_usual(m, i), has_id = m->flags[i] & POINT_HAS_ID;

		m->counts[COUNT_POINTS_ID] += has_id;
		m->counts[COUNT_USUAL] += is_usual;
		m->counts[COUNT_USUAL_ID] += is_usual && has_id;
		m->counts[COUNT_USUAL_VALUE] += is_usual && (m->flags[i] & POINT_HAS_VALUE);
	}
}

/* Different usual points of an order; mark is by point, the number of the order that had it last.
 */
static uint32_t nr_usual(const struct making *m, const struct order *o, uint32_t *mark,
			 uint32_t now)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < o->nr; i++) {
		const struct order_node *n = &o->nodes[i];

		for (uint32_t k = 0; !n->is_exceptional && k < n->nr_points; k++) {
			if (mark[n->points[k]] == now || !making_is_usual(m, n->points[k]))
				continue;
			mark[n->points[k]] = now;
			nr++;
		}
	}
	return nr;
}

static void count_tops(struct making *m)
{
	const struct identifiers *ids = &m->learned->identifiers;
	uint32_t *mark = mem_zalloc(mem_bytes(m->learned->points.v.nr + 1, sizeof(*mark)));
	uint32_t now = 0;

	m->counts[COUNT_TOPS] = ids->tops.nr;
	vec_each (&ids->tops, top) {
		const struct order *o = &m->learned->orders.of[*top];
		uint32_t usual = nr_usual(m, o, mark, ++now);

		if (ids->top[*top] != TOP_NOT && ids->top[*top] <= TOP_REST)
			m->counts[COUNT_TOPS_DROP + ids->top[*top] - TOP_DROP]++;
		m->counts[COUNT_TOPS_USUAL] += usual > 0;
		m->counts[COUNT_DAG_USUAL] += usual;
		m->counts[COUNT_DAG_NODES] += o->nr;
		if (o->nr > m->counts[COUNT_DAG_NODES_MAX])
			m->counts[COUNT_DAG_NODES_MAX] = o->nr;
	}
	free(mark);
}

void making_counts(struct making *m)
{
	const struct program *p = m->learned->program;

	m->counts[COUNT_CLASSES] = p->classes.nr;
	m->counts[COUNT_METHODS] = p->methods.nr;
	m->counts[COUNT_CONTAINERS] = p->nr_containers;
	m->counts[COUNT_BYTES] = p->nr_bytes;
	count_points(m);
	count_threads(m);
	count_tops(m);
	for (int i = 0; i < COUNT_NR; i++) {
		uint32_t d[2] = { (uint32_t)m->counts[i], (uint32_t)(m->counts[i] >> 32) };

		making_add(m, SECTION_COUNTS, d);
	}
}
