/*
 * Every request of either set is split by hop along its critical path, so that the means of the
 * hops add up to the mean duration, and the differences of the hops to the difference of the sets.
 *
 * How sure: the requests kept of each set are drawn anew with replacement (a bootstrap, the dice
 * always fall the same way); a claim is as sure as the share of the draws in which it holds, times
 * the trust that so few requests deserve, because a draw from one request always agrees with
 * itself.
 */
#include "ask/contrast.h"

#include <math.h>
#include <stdlib.h>

#include "ask/stats.h"
#include "model/attr.h"

#define DRAWS 200
#define ONCE 0.02 /* so near to one call in every request is one */

static void sample_done(struct contrast_sample *s)
{
	vec_done(&s->parts);
	vec_done(&s->ends);
	vec_done(&s->ids);
}

void contrast_done(struct contrast *c)
{
	vec_each (&c->sets, s) {
		sample_done(&s->sample[SIDE_BASE]);
		sample_done(&s->sample[SIDE_OTHER]);
	}
	vec_done(&c->sets);
	vec_done(&c->sums);
	vec_done(&c->row_of);
	strata_done(&c->strata);
	breakdown_done(&c->split);
	hops_done(&c->hops);
}

double contrast_trust(uint64_t nr)
{
	return 1 - 1 / (1 + (double)nr);
}

static void look_for_messages(struct contrast *c, const struct request_body *body)
{
	struct attr a;

	for (size_t i = 0; i < body->nr_spans; i++) {
		struct hop_sum *sum = &c->sums.v[c->split.span_hop[i]];

		if (!sum->looked_at)
			sum->message = attr_find(body->spans[i].attrs, STR("message"), &a);
		sum->looked_at = true;
	}
}

void contrast_add(struct contrast *c, uint32_t type, enum contrast_side side, bool keep,
		  const struct request *r, const struct request_body *body)
{
	struct contrast_set *set;

	while (c->sets.nr <= type)
		vec_push(&c->sets, (struct contrast_set){ 0 });
	set = &c->sets.v[type];
	breakdown_make(&c->split, &c->hops, type, r, body);
	strata_add(&c->strata, &c->split, &c->hops, side, body);
	while (c->sums.nr < c->hops.v.nr)
		vec_push(&c->sums, (struct hop_sum){ 0 });
	look_for_messages(c, body);
	vec_each (&c->split.parts, p) {
		struct hop_sum *sum = &c->sums.v[p->hop];

		sum->ns[side] += (double)p->ns;
		sum->busy[side] += p->busy;
		sum->requests[side]++;
		sum->spans[side] += p->spans;
		set->ns[side] += (double)p->ns;
		if (keep)
			vec_push(&set->sample[side].parts, *p);
	}
	set->nr[side]++;
	if (keep) {
		vec_push(&set->sample[side].ends, set->sample[side].parts.nr);
		vec_push(&set->sample[side].ids, r->id);
	}
}

struct witness {
	uint64_t id;
	int64_t ns;
};

static int longest_first(const void *a, const void *b)
{
	const struct witness *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

size_t contrast_witnesses(const struct contrast *c, uint32_t type, uint32_t hop, uint64_t *ids,
			  size_t most)
{
	const struct contrast_sample *s = &c->sets.v[type].sample[SIDE_OTHER];
	VEC(struct witness) v = { 0 };
	size_t nr;

	for (size_t i = 0, at = 0; i < s->ends.nr; i++)
		for (; at < s->ends.v[i]; at++)
			if (s->parts.v[at].hop == hop && s->parts.v[at].ns > 0)
				vec_push(&v, (struct witness){ s->ids.v[i], s->parts.v[at].ns });
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), longest_first);
	nr = v.nr < most ? v.nr : most;
	for (size_t i = 0; i < nr; i++)
		ids[i] = v.v[i].id;
	vec_done(&v);
	return nr;
}

/* The culprit first: the most of what the difference is made of, then by number. */
static int largest_first(const void *a, const void *b)
{
	const struct contrast_row *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->hop != y->hop)
		return x->hop < y->hop ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static void finish_rows(struct contrast_row *rows, size_t nr, double whole)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		rows[i].delta = rows[i].mean[SIDE_OTHER] - rows[i].mean[SIDE_BASE];
		rows[i].confidence = -1;
		sum += rows[i].delta;
	}
	if (fabs(whole) < 1)
		whole = sum;
	for (size_t i = 0; i < nr; i++)
		rows[i].share = whole != 0 ? rows[i].delta / whole : 0;
	if (nr)
		qsort(rows, nr, sizeof(*rows), largest_first);
}

static void add_to_node(const struct contrast *c, const struct contrast_row *hop,
			struct contrast_row *node)
{
	const struct strata_change *from = &hop->change;
	struct strata_change *to = &node->change;
	double together = (from->calls[SIDE_BASE] + from->calls[SIDE_OTHER]) / 2;
	bool enters = hops_enters(&c->hops, hop->hop);

	for (int side = 0; side < SIDES; side++) {
		node->mean[side] += hop->mean[side];
		node->spans[side] += hop->spans[side];
		if (hop->requests[side] > node->requests[side])
			node->requests[side] = hop->requests[side];
		to->own[side] += together * from->own[side]; /* divided by the visits at the end */
		to->calls[side] += enters ? from->calls[side] : 0;
	}
	to->time += from->time;
	to->mix += from->mix;
	to->mixed |= from->mixed;
	if (from->confidence < to->confidence)
		to->confidence = from->confidence;
}

static size_t fold_nodes(const struct contrast *c, const struct contrast_row *hops, size_t nr_hops,
			 struct contrast_row *nodes)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_hops; i++) {
		sym_t node = c->hops.v.v[hops[i].hop].node;
		size_t j = 0;

		while (j < nr && nodes[j].node != node)
			j++;
		if (j == nr)
			nodes[nr++] = (struct contrast_row){ .hop = HOP_NONE,
							     .node = node,
							     .change.confidence = 1 };
		add_to_node(c, &hops[i], &nodes[j]);
	}
	for (size_t j = 0; j < nr; j++) {
		struct strata_change *x = &nodes[j].change;
		double visits = (x->calls[SIDE_BASE] + x->calls[SIDE_OTHER]) / 2;

		for (int side = 0; side < SIDES && visits > 0; side++)
			x->own[side] /= visits;
	}
	return nr;
}

void contrast_answer(struct contrast *c, uint32_t type, struct arena *arena,
		     struct contrast_answer *out)
{
	const struct contrast_set *set = &c->sets.v[type];
	uint32_t top = hops_type(&c->hops, type);
	size_t room = 0;

	*out = (struct contrast_answer){ .confidence = -1 };
	for (int side = 0; side < SIDES; side++)
		out->mean[side] = set->nr[side] ? set->ns[side] / (double)set->nr[side] : 0;
	for (uint32_t i = top; i != HOP_NONE; i = c->hops.v.v[i].next)
		room++;
	out->hops = arena_array(arena, struct contrast_row, room);
	out->nodes = arena_array(arena, struct contrast_row, room);
	for (uint32_t i = top; i != HOP_NONE; i = c->hops.v.v[i].next) {
		struct contrast_row *row = &out->hops[out->nr_hops];
		const struct hop_sum *sum = &c->sums.v[i];

		if (!(sum->requests[SIDE_BASE] + sum->requests[SIDE_OTHER]))
			continue;
		*row = (struct contrast_row){ .hop = i, .node = c->hops.v.v[i].node };
		for (int side = 0; side < SIDES; side++) {
			row->mean[side] = set->nr[side] ? sum->ns[side] / (double)set->nr[side] : 0;
			row->requests[side] = sum->requests[side];
			row->spans[side] = sum->spans[side];
		}
		strata_change(&c->strata, i, set->nr, &row->change);
		out->nr_hops++;
	}
	out->nr_nodes = fold_nodes(c, out->hops, out->nr_hops, out->nodes);
	finish_rows(out->hops, out->nr_hops, out->mean[SIDE_OTHER] - out->mean[SIDE_BASE]);
	finish_rows(out->nodes, out->nr_nodes, out->mean[SIDE_OTHER] - out->mean[SIDE_BASE]);
}

static bool is_once(double calls)
{
	return fabs(calls - 1) < ONCE;
}

const double *contrast_took(const struct contrast_row *row, bool *by_call)
{
	const struct strata_change *c = &row->change;

	*by_call = c->calls[SIDE_BASE] > 0 && c->calls[SIDE_OTHER] > 0 &&
		   !(is_once(c->calls[SIDE_BASE]) && is_once(c->calls[SIDE_OTHER])) &&
		   fabs(c->time) > fabs(c->mix);
	return *by_call ? c->own : row->mean;
}

/* --- how sure -------------------------------------------------------------------------------- */

struct lots {
	const struct contrast_answer *a;
	uint32_t *row_of;             /* by hop: position in a->hops */
	uint32_t *node_row_of;        /* by position in a->hops: position in a->nodes */
	double *hops, *nodes;         /* the differences in this draw */
	uint64_t *hops_up, *nodes_up; /* draws in which they had the sign of the whole answer */
	uint64_t top;                 /* draws in which a->hops[0] was the largest */
};

static void draw(struct lots *l, const struct contrast_sample *s, struct dice *dice, double sign)
{
	size_t nr = s->ends.nr;

	for (size_t i = 0; i < nr; i++) {
		size_t pick = dice_below(dice, nr), at = pick ? s->ends.v[pick - 1] : 0;

		for (; at < s->ends.v[pick]; at++) {
			uint32_t row = l->row_of[s->parts.v[at].hop];
			double ns = sign * (double)s->parts.v[at].ns / (double)nr;

			l->hops[row] += ns;
			l->nodes[l->node_row_of[row]] += ns;
		}
	}
}

static void judge(struct lots *l)
{
	const struct contrast_answer *a = l->a;
	double towards = a->mean[SIDE_OTHER] >= a->mean[SIDE_BASE] ? 1 : -1;
	double named = l->hops[0] * towards;
	bool top = true;

	for (size_t i = 0; i < a->nr_hops; i++) {
		l->hops_up[i] += l->hops[i] * a->hops[i].delta > 0;
		if (l->hops[i] * towards > named)
			top = false;
		l->hops[i] = 0;
	}
	l->top += top;
	for (size_t i = 0; i < a->nr_nodes; i++) {
		l->nodes_up[i] += l->nodes[i] * a->nodes[i].delta > 0;
		l->nodes[i] = 0;
	}
}

static void lots_init(struct lots *l, struct contrast *c, const struct contrast_answer *a,
		      struct arena *arena)
{
	*l = (struct lots){ .a = a };
	vec_reserve(&c->row_of, c->hops.v.nr);
	l->row_of = c->row_of.v;
	l->node_row_of = arena_array(arena, uint32_t, a->nr_hops);
	l->hops = arena_array(arena, double, a->nr_hops);
	l->nodes = arena_array(arena, double, a->nr_nodes);
	l->hops_up = arena_array(arena, uint64_t, a->nr_hops);
	l->nodes_up = arena_array(arena, uint64_t, a->nr_nodes);
	for (uint32_t i = 0; i < a->nr_hops; i++) {
		l->row_of[a->hops[i].hop] = i;
		while (a->nodes[l->node_row_of[i]].node != a->hops[i].node)
			l->node_row_of[i]++;
	}
}

void contrast_confidence(struct contrast *c, uint32_t type, struct arena *arena,
			 struct contrast_answer *a)
{
	const struct contrast_set *set = &c->sets.v[type];
	double trust = contrast_trust(set->nr[SIDE_BASE]) * contrast_trust(set->nr[SIDE_OTHER]);
	struct dice dice = { set->nr[SIDE_BASE] * 31 + set->nr[SIDE_OTHER] };
	struct lots l;

	if (!a->nr_hops || !set->sample[SIDE_BASE].ends.nr || !set->sample[SIDE_OTHER].ends.nr)
		return;
	lots_init(&l, c, a, arena);
	for (int i = 0; i < DRAWS; i++) {
		draw(&l, &set->sample[SIDE_BASE], &dice, -1);
		draw(&l, &set->sample[SIDE_OTHER], &dice, 1);
		judge(&l);
	}
	for (size_t i = 0; i < a->nr_hops; i++)
		a->hops[i].confidence = trust * (double)l.hops_up[i] / DRAWS;
	for (size_t i = 0; i < a->nr_nodes; i++)
		a->nodes[i].confidence = trust * (double)l.nodes_up[i] / DRAWS;
	a->confidence = trust * (double)l.top / DRAWS;
}
