/*
 * A step that several nodes do together (a block written through a row of replicas) takes as long
 * on each of them as on the slowest, so that single steps do not tell who is to blame. Which nodes
 * are in such a team does: teams with the slow node are slow, teams without it are not. A team is a
 * set of spans of one name on different nodes of one request that overlap in time.
 */
#include "ask/teams.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/own.h"

#define TOGETHER 3         /* a team's members begin within one part of so many of its time */
#define THERE 2            /* who is there for one part of so many of a request may be to blame */
#define SPANS_MOST 4096    /* of a request that are looked at */
#define ABOUT 3            /* one part of so many of a silence around it is still near */
#define WAITS_WORK 1000000 /* comparisons for the silences of one request */

void teams_done(struct teams *t)
{
	peers_done(&t->nodes);
	peers_done(&t->ways);
	arena_done(&t->arena);
	buf_done(&t->text);
}

struct member {
	const struct span *span;
	sym_t name, node;
	int64_t own;
};

struct cut {
	struct teams *t;
	uint32_t type;
	const struct request *r;
	const struct request_body *body;
	struct member *v;
	size_t nr;
};

static int by_name_and_start(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->span->start != y->span->start)
		return x->span->start < y->span->start ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static void add_singles(const struct cut *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct member *m = &c->v[i];
		struct peer_work w = { c->type, m->span->name, 1, 0 };

		peers_add(&c->t->nodes, &w, &m->node, 1,
			  &(struct peer_sample){
				  .at = m->span->start, .ns = m->own, .request = c->r->id });
	}
}

static bool has_node(const struct member *v, size_t nr, sym_t node)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].node == node)
			return true;
	return false;
}

static void add_team(const struct cut *c, const struct member *v, size_t nr, int64_t end)
{
	struct peer_work w = { c->type, v[0].span->name, (unsigned)nr, 0 };
	sym_t nodes[PEERS_LABELS];

	for (size_t i = 0; i < nr; i++)
		nodes[i] = v[i].node;
	peers_add(&c->t->nodes, &w, nodes, (unsigned)nr,
		  &(struct peer_sample){ .at = v[0].span->start,
					 .ns = length_ns(v[0].span->start, end),
					 .request = c->r->id });
}

/* A node that is twice in it makes it no team: there, several pieces of work overlap. */
static void add_teams(const struct cut *c)
{
	for (size_t i = 0, j; i < c->nr; i = j) {
		int64_t end = c->v[i].span->end;
		bool team = true;

		for (j = i + 1;
		     j < c->nr && c->v[j].name == c->v[i].name && c->v[j].span->start < end; j++) {
			if (j - i >= PEERS_LABELS || has_node(c->v + i, j - i, c->v[j].node))
				team = false;
			if (c->v[j].span->end > end)
				end = c->v[j].span->end;
		}
		/* what begins late was not done together */
		if (team && j - i > 1 &&
		    length_ns(c->v[i].span->start, c->v[j - 1].span->start) <=
			    length_ns(c->v[i].span->start, end) / TOGETHER)
			add_team(c, c->v + i, j - i, end);
	}
}

static unsigned bits_of(size_t n)
{
	return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x > y) - (x < y);
}

/* How long anything was done in the request: in the time between, it waited for its turn, which
 * tells nothing of those who took part. */
static int64_t worked(const struct cut *c, const uint32_t *nr_children)
{
	const struct span **leaf = arena_array(&c->t->arena, const struct span *, c->nr + 1);
	int64_t ns = 0, reach = INT64_MIN;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		if (!nr_children[c->v[i].span - c->body->spans])
			leaf[nr++] = c->v[i].span;
	if (nr)
		qsort(leaf, nr, sizeof(*leaf), by_start);
	for (size_t i = 0; i < nr; i++) {
		int64_t from = leaf[i]->start > reach ? leaf[i]->start : reach;

		if (leaf[i]->end <= from)
			continue;
		ns = length_after(ns, length_ns(from, leaf[i]->end));
		reach = leaf[i]->end;
	}
	return ns;
}

/* Whether one of the node's leaves is under way, or between two that are, for a good part of the
 * request. */
static bool is_there(const struct cut *c, const uint32_t *nr_children, sym_t node)
{
	int64_t from = INT64_MAX, until = INT64_MIN;

	for (size_t i = 0; i < c->nr; i++) {
		const struct span *s = c->v[i].span;

		if (c->v[i].node != node || nr_children[s - c->body->spans])
			continue;
		from = s->start < from ? s->start : from;
		until = s->end > until ? s->end : until;
	}
	return length_ns(from, until) >= length_ns(c->r->start, c->r->end) / THERE;
}

static unsigned list_nodes(const struct cut *c, sym_t *nodes)
{
	unsigned nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		unsigned j = 0;

		while (j < nr && nodes[j] != c->v[i].node)
			j++;
		if (j < nr)
			continue;
		if (nr == PEERS_LABELS)
			return 0;
		nodes[nr++] = c->v[i].node;
	}
	return nr;
}

/* The whole request, beside those that visit as many nodes and have about as many steps. */
static void add_whole(const struct cut *c, const uint32_t *nr_children)
{
	struct peer_work w = { .type = c->type, .shape = 1 + bits_of(c->nr) };
	struct peer_sample sample = { .at = c->r->start, .request = c->r->id };
	sym_t nodes[PEERS_LABELS];

	w.size = list_nodes(c, nodes);
	if (c->r->incomplete || !w.size)
		return;
	sample.ns = worked(c, nr_children);
	for (unsigned i = 0; i < w.size; i++)
		if (!is_there(c, nr_children, nodes[i]))
			sample.absent |= (uint64_t)1 << i;
	peers_add(&c->t->nodes, &w, nodes, w.size, &sample);
}

/* Whether a span of the node is under way at a moment, about. */
static bool is_near(const struct cut *c, sym_t node, int64_t at, int64_t about)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].node == node && c->v[i].span->start <= length_after(at, about) &&
		    c->v[i].span->end >= length_after(at, -about))
			return true;
	return false;
}

/* What logs tell is often moments only: the work lies in the silence between two of them. Those
 * did it who are seen where it begins and where it ends. */
static void add_wait(const struct cut *c, const struct span *wait, const sym_t *nodes, unsigned nr)
{
	struct peer_work w = { c->type, wait->name, 0, 0 };
	int64_t ns = length_ns(wait->start, wait->end);
	sym_t there[PEERS_LABELS];

	for (unsigned i = 0; i < nr; i++)
		if (is_near(c, nodes[i], wait->start, ns / ABOUT) &&
		    is_near(c, nodes[i], wait->end, ns / ABOUT))
			there[w.size++] = nodes[i];
	/* alone, a node is told apart by its own steps */
	if (w.size > 1)
		peers_add(
			&c->t->nodes, &w, there, w.size,
			&(struct peer_sample){ .at = wait->start, .ns = ns, .request = c->r->id });
}

static void add_waits(const struct cut *c)
{
	sym_t nodes[PEERS_LABELS];
	unsigned nr = list_nodes(c, nodes);
	size_t left = WAITS_WORK;

	for (size_t i = 0; i < c->body->nr_spans && i < SPANS_MOST && nr; i++) {
		const struct span *s = &c->body->spans[i];

		if (s->kind != SPAN_WAIT)
			continue;
		if (left < nr * c->nr) {
			c->t->nodes.nr_left_out++;
			continue;
		}
		left -= nr * c->nr;
		add_wait(c, s, nodes, nr);
	}
}

static void add_way(const struct cut *c, const struct span *from, const struct span *to, int64_t ns)
{
	struct peer_work w = { c->type, to->name, 1, 0 };
	sym_t way;

	buf_clear(&c->t->text);
	buf_fmt(&c->t->text, STR_FMT " → " STR_FMT, STR_ARG(from->node), STR_ARG(to->node));
	way = peers_label(&c->t->ways, buf_str(&c->t->text));
	peers_add(&c->t->ways, &w, &way, 1,
		  &(struct peer_sample){
			  .at = from->start, .ns = ns > 0 ? ns : 0, .request = c->r->id });
}

static bool is_way(const struct span *from, const struct span *to)
{
	return from->node.n && to->node.n && !str_eq(from->node, to->node);
}

/* A call that does nothing but call: what the called one does not explain went by on the way. */
static void add_calls(const struct cut *c, const uint32_t *nr_children)
{
	for (size_t i = 0; i < c->body->nr_spans && i < SPANS_MOST; i++) {
		const struct span *s = &c->body->spans[i], *up;

		if (s->parent >= i || s->follows)
			continue;
		up = &c->body->spans[s->parent];
		if (up->kind == SPAN_CLIENT && nr_children[s->parent] == 1 && is_way(up, s))
			add_way(c, up, s,
				length_signed(length_ns(s->start, s->end),
					      length_ns(up->start, up->end)));
	}
}

/* What one span sent on when it had ended. */
static void add_messages(const struct cut *c)
{
	for (size_t i = 0; i < c->body->nr_edges; i++) {
		const struct edge *e = &c->body->edges[i];
		const struct span *from, *to;

		if (e->from >= c->body->nr_spans || e->to >= c->body->nr_spans ||
		    (e->kind != EDGE_CALL && e->kind != EDGE_RETURN && e->kind != EDGE_MESSAGE))
			continue;
		from = &c->body->spans[e->from];
		to = &c->body->spans[e->to];
		/* for what comes after the end nobody waits: it may take its time */
		if (is_way(from, to) && to->start >= from->end && to->start <= c->r->end)
			add_way(c, from, to, length_ns(from->end, to->start));
	}
}

void teams_add(struct teams *t, uint32_t type, const struct request *r,
	       const struct request_body *body)
{
	size_t nr = body->nr_spans < SPANS_MOST ? body->nr_spans : SPANS_MOST;
	struct cut c = { .t = t, .type = type, .r = r, .body = body };
	uint32_t *nr_children;
	int64_t *own;

	arena_reset(&t->arena);
	c.v = arena_array(&t->arena, struct member, nr + 1);
	nr_children = arena_array(&t->arena, uint32_t, nr + 1);
	own = own_times(body, &t->arena);
	for (size_t i = 0; i < nr; i++) {
		const struct span *s = &body->spans[i];

		if (s->parent < i && !s->follows)
			nr_children[s->parent]++;
		if (s->node.n && s->kind != SPAN_WAIT)
			c.v[c.nr++] = (struct member){ s, names_add(&t->nodes.names, s->name),
						       peers_label(&t->nodes, s->node), own[i] };
	}
	if (c.nr)
		qsort(c.v, c.nr, sizeof(*c.v), by_name_and_start);
	add_singles(&c);
	add_teams(&c);
	add_whole(&c, nr_children);
	add_waits(&c);
	add_calls(&c, nr_children);
	add_messages(&c);
}
