/*
 * The nesting algorithm of "Performance debugging for distributed systems of black boxes" (SOSP
 * 2003), Figure 4, in its order: candidates (FindCallPairs), ScoreNestings, FindNestedPairs.
 *
 * Cost: O(calls x parallelism) time; memory is one histogram per (A, B, C) and, per node, the list
 * of open calls. The candidates are not kept: both passes find them again, which costs less than
 * storing them. Nodes are independent, so each is done alone.
 *
 * Where we differ: penalties are (1 + count)^-x, because 0^-x is no number; a child's confidence is
 * the winner's share of all scores; children are visited in the order of their returns, as Figure
 * 4's T_callpairs grows.
 */
#include "infer/paths/nesting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"

enum { NR_BINS = 340, NR_PENALTIES = 64 };
#define LOG_BIN 0.048790164169432 /* log 1.05 */
#define FIRST_NS 1e6              /* up to a millisecond there is one bin */
#define NONE UINT32_MAX

/* What is known of a call while it may be a parent. */
struct parent {
	uint32_t call;
	uint32_t sender;      /* its number within the node */
	uint32_t nr_children; /* given to it so far */
	uint32_t last_child;  /* a list, the latest return first */
};

struct child {
	uint32_t call, previous;
};

/* The work on one node. */
struct nesting {
	struct window *w;
	const struct nesting_options *o;
	const uint32_t *in, *out; /* the calls that it receives and makes */
	uint32_t nr_in, nr_out;
	uint32_t *order;  /* those it makes, by return */
	uint32_t *callee; /* node -> number within this node */
	uint32_t *sender; /* likewise; all sources are one */
	uint32_t nr_callees, nr_senders;
	float **boards; /* by sender * nr_callees + callee */
	float overlapping[NR_PENALTIES];
	VEC(struct parent) open; /* by t1 */
	uint32_t next_in;        /* the first that is not in open yet */
	uint32_t trace; /* the request that the child at hand names, if a parent names it too */
	VEC(struct child) children;
};

static unsigned bin_of(int64_t ns)
{
	double at = (double)ns <= FIRST_NS ? 0 : log((double)ns / FIRST_NS) / LOG_BIN;

	return at >= NR_BINS ? NR_BINS - 1 : (unsigned)at;
}

static bool may_cause(const struct nesting *n, const struct parent *p, const struct call *child)
{
	const struct call *c = &n->w->calls.v[p->call];

	return c->t1 <= child->t1 + n->o->skew_ns && c != child &&
	       (n->trace ? c->trace == n->trace : !call_is_foreign(c->trace, child->trace));
}

/* Makes open hold the calls that had come and not gone when the child returned. */
static void advance(struct nesting *n, const struct call *child)
{
	const struct call *calls = n->w->calls.v;
	size_t kept = 0;

	for (; n->next_in < n->nr_in && calls[n->in[n->next_in]].t1 <= child->t4; n->next_in++) {
		uint32_t call = n->in[n->next_in];

		if (calls[call].t4 == CALL_OPEN)
			continue;
		vec_push(&n->open, (struct parent){ call, n->sender[calls[call].from], 0, NONE });
	}
	for (size_t i = 0; i < n->open.nr; i++)
		if (calls[n->open.v[i].call].t4 + n->o->skew_ns >= child->t4)
			n->open.v[kept++] = n->open.v[i];
	n->open.nr = kept;
	n->trace = 0;
	for (size_t i = 0; child->trace && !n->trace && i < n->open.nr; i++)
		if (calls[n->open.v[i].call].trace == child->trace &&
		    may_cause(n, &n->open.v[i], child))
			n->trace = child->trace;
}

static float *board_of(struct nesting *n, const struct parent *p, const struct call *child)
{
	float **b = &n->boards[(size_t)p->sender * n->nr_callees + n->callee[child->to]];

	if (!*b)
		*b = mem_zalloc(NR_BINS * sizeof(**b));
	return *b;
}

static void begin_pass(struct nesting *n)
{
	n->next_in = 0;
	vec_clear(&n->open);
}

static void score_nestings(struct nesting *n)
{
	begin_pass(n);
	for (uint32_t i = 0; i < n->nr_out; i++) {
		const struct call *child = &n->w->calls.v[n->order[i]];
		uint32_t nr = 0;

		advance(n, child);
		vec_each (&n->open, p)
			nr += may_cause(n, p, child);
		vec_each (&n->open, p)
			if (may_cause(n, p, child))
				board_of(n, p,
					 child)[bin_of(child->t1 - n->w->calls.v[p->call].t1)] +=
					1.0f / (float)nr;
	}
}

static void smooth(float *board, double width)
{
	float out[NR_BINS] = { 0 };
	int reach = (int)ceil(3 * width);

	for (int i = 0; i < NR_BINS; i++)
		for (int k = -reach; board[i] > 0 && k <= reach; k++)
			if (i + k >= 0 && i + k < NR_BINS)
				out[i + k] += board[i] * (float)exp(-0.5 * k * k / width / width);
	memcpy(board, out, sizeof(out));
}

/* Children stand in the order of their returns, so those that overlap are the last ones. */
static double penalty(const struct nesting *n, const struct parent *p, const struct call *child)
{
	const struct call *calls = n->w->calls.v;
	uint32_t overlapping = 0, same = 0;
	double score = 1;

	for (uint32_t k = p->last_child; k != NONE; k = n->children.v[k].previous) {
		const struct call *c = &calls[n->children.v[k].call];

		if (c->t4 <= child->t1 && n->o->same <= 0)
			break;
		overlapping += c->t4 > child->t1;
		same += c->to == child->to;
	}
	score = n->overlapping[overlapping < NR_PENALTIES ? overlapping : NR_PENALTIES - 1];
	if (n->o->same > 0)
		score *= pow(1 + same, -n->o->same);
	if (n->o->any > 0)
		score *= pow(1 + p->nr_children, -n->o->any);
	return score;
}

static void choose_parent(struct nesting *n, uint32_t at)
{
	struct call *child = &n->w->calls.v[at];
	double best = 0, all = 0;
	struct parent *chosen = NULL;

	advance(n, child);
	vec_each (&n->open, p) {
		double score;

		if (!may_cause(n, p, child))
			continue;
		score = board_of(n, p, child)[bin_of(child->t1 - n->w->calls.v[p->call].t1)] *
			penalty(n, p, child);
		all += score;
		if (chosen && score <= best)
			continue;
		best = score;
		chosen = p;
	}
	if (child->is_decided)
		return;
	child->parent = chosen ? chosen->call : CALL_NONE;
	child->confidence = all > 0 ? (float)(best / all) : 1;
	if (!chosen)
		return;
	vec_push(&n->children, (struct child){ at, chosen->last_child });
	chosen->last_child = (uint32_t)n->children.nr - 1;
	chosen->nr_children++;
}

static int by_return(const void *pa, const void *pb, void *ctx)
{
	const struct call *calls = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (calls[a].t4 != calls[b].t4)
		return calls[a].t4 < calls[b].t4 ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Numbers the senders and callees of the node and puts what it calls in the order of returns. */
static void prepare(struct nesting *n)
{
	const struct call *calls = n->w->calls.v;
	uint32_t nr = 0;

	n->sender = mem_zalloc(mem_bytes(n->w->nr_nodes, sizeof(uint32_t)));
	n->callee = mem_zalloc(mem_bytes(n->w->nr_nodes, sizeof(uint32_t)));
	n->order = mem_alloc(mem_bytes(n->nr_out + 1, sizeof(uint32_t)));
	for (uint32_t i = 0; i < n->nr_in; i++) {
		uint32_t from = calls[n->in[i]].from;

		if (!n->w->is_source[from] && !n->sender[from])
			n->sender[from] = ++n->nr_senders;
	}
	n->nr_senders++;
	for (uint32_t i = 0; i < n->nr_out; i++) {
		const struct call *c = &calls[n->out[i]];

		if (c->t4 == CALL_OPEN)
			continue;
		n->order[nr++] = n->out[i];
		if (!n->callee[c->to])
			n->callee[c->to] = ++n->nr_callees;
	}
	n->nr_callees++;
	n->nr_out = nr;
	qsort_r(n->order, nr, sizeof(*n->order), by_return, n->w->calls.v);
	n->boards =
		mem_zalloc(mem_bytes((size_t)n->nr_senders * n->nr_callees, sizeof(*n->boards)));
	for (unsigned i = 0; i < NR_PENALTIES; i++)
		n->overlapping[i] = (float)pow(1 + i, -n->o->overlapping);
}

static void run_node(struct nesting *n)
{
	prepare(n);
	score_nestings(n);
	for (size_t i = 0; i < (size_t)n->nr_senders * n->nr_callees; i++)
		if (n->boards[i] && n->o->smooth_bins > 0)
			smooth(n->boards[i], n->o->smooth_bins);
	begin_pass(n);
	for (uint32_t i = 0; i < n->nr_out; i++)
		choose_parent(n, n->order[i]);
	for (size_t i = 0; i < (size_t)n->nr_senders * n->nr_callees; i++)
		free(n->boards[i]);
	free(n->boards);
	free(n->sender);
	free(n->callee);
	free(n->order);
	vec_done(&n->open);
	vec_done(&n->children);
}

struct all {
	struct window *w;
	const struct nesting_options *o;
	struct sides sides;
};

void nesting_node(struct window *w, const struct nesting_options *o, const struct sides *s,
		  uint32_t node)
{
	struct nesting n = { .w = w,
			     .o = o,
			     .in = s->in + s->in_first[node],
			     .nr_in = s->in_first[node + 1] - s->in_first[node],
			     .out = s->out + s->out_first[node],
			     .nr_out = s->out_first[node + 1] - s->out_first[node] };

	if (n.nr_in && n.nr_out) {
		run_node(&n);
		return;
	}
	for (uint32_t i = 0; i < n.nr_out; i++)
		w->calls.v[n.out[i]].confidence = 1;
}

static void work(void *ctx, uint32_t node)
{
	struct all *a = ctx;

	nesting_node(a->w, a->o, &a->sides, node);
}

void nesting_run(struct window *w, const struct nesting_options *o)
{
	struct all all = { .w = w, .o = o };

	sides_init(&all.sides, w);
	crew_run(w->nr_nodes, work, &all);
	sides_done(&all.sides);
}
