/*
 * Factor selection (VProfiler, Algorithm 1): what has one name is one factor wherever it stands,
 * its score is its part of the variance times its specificity, (height of the tree - height of the
 * factor)². A leaf has height 0, so that a tree of one level scores all alike, by its part alone;
 * where there is nothing but the root, that is the factor, with specificity 1.
 *
 * Two of one name below one parent (call sites) are one factor with their covariance. All other
 * covariances of siblings are factors of two names. So the factors add up to the whole: the
 * variances of inner nodes are told apart from them.
 */
#include "ask/variance/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/variance/inside.h"
#include "ask/variance/suppose.h"
#include "ask/variance/tails.h"
#include "base/names.h"

#define LEAST_DRAWN 1e-4 /* shares below are not drawn */
#define MOST_DRAWN 50000 /* terms */

/* One factor while it is put together. */
struct gathered {
	uint32_t name[2]; /* symbols, or nodes + 1; the second is 0 for a variance */
	uint32_t node[2]; /* of the largest place */
	struct exact sum, largest;
	size_t nr_places;
	unsigned height;
};

struct gathering {
	const struct variance_tree *t;
	const struct variance_options *o;
	struct arena *arena;
	struct names names;
	struct map by_name; /* 1 + factor */
	unsigned *height;   /* by node */
	uint32_t *symbol;   /* by node */
	VEC(struct gathered) v;
	VEC(struct batch_term) terms;
};

static void find_heights(struct gathering *g)
{
	const struct variance_tree *t = g->t;

	g->height = arena_array(g->arena, unsigned, t->nodes.nr);
	g->symbol = arena_array(g->arena, uint32_t, t->nodes.nr);
	for (size_t i = t->nodes.nr; i-- > 0;) {
		uint32_t parent = t->nodes.v[i].parent;

		g->symbol[i] = g->o->sites ? (uint32_t)i + 1
					   : 1 + names_add(&g->names, t->nodes.v[i].name);
		if (parent != NODE_NONE && g->height[parent] < g->height[i] + 1)
			g->height[parent] = g->height[i] + 1;
	}
}

static int compare(struct exact a, struct exact b)
{
	if (exact_eq(a, b))
		return 0;
	return exact_is_negative(exact_less(a, b)) ? -1 : 1;
}

/* The covariance of two siblings, or of a leaf with itself. */
static void gather(struct gathering *g, uint32_t a, uint32_t b)
{
	struct exact part = tree_covariance(g->t, a, b);
	uint32_t x = g->symbol[a], y = a == b || g->symbol[a] == g->symbol[b] ? 0 : g->symbol[b];
	uint64_t *slot;
	struct gathered *f;

	if (a != b && exact_eq(part, (struct exact){ 0 }))
		return;
	if (y && str_cmp(g->t->nodes.v[a].name, g->t->nodes.v[b].name) > 0) {
		uint32_t swap = x;

		x = y;
		y = swap;
		swap = a;
		a = b;
		b = swap;
	}
	slot = map_at(&g->by_name, map_pair(x, y));
	if (!*slot) {
		vec_push(&g->v, (struct gathered){ .name = { x, y }, .node = { a, b } });
		*slot = g->v.nr;
	}
	f = &g->v.v[*slot - 1];
	vec_push(&g->terms, (struct batch_term){ (uint32_t)*slot - 1, a, b, a == b ? 1 : 2 });
	f->sum = exact_sum(f->sum, part);
	if (a != b)
		f->sum = exact_sum(f->sum, part);
	if (!f->nr_places || (compare(part, f->largest) > 0 && (y || a == b))) {
		f->largest = part;
		f->node[0] = a;
		f->node[1] = b;
	}
	f->nr_places += y || a == b;
	if (g->height[a] > f->height)
		f->height = g->height[a];
	if (g->height[b] > f->height)
		f->height = g->height[b];
}

static void gather_all(struct gathering *g)
{
	const struct variance_tree *t = g->t;

	for (uint32_t i = 0; i < t->nodes.nr; i++) {
		const struct tree_node *n = &t->nodes.v[i];

		if (!n->children.nr)
			gather(g, i, i);
		for (size_t a = 0; a < n->children.nr; a++)
			for (size_t b = a + 1; b < n->children.nr; b++)
				gather(g, n->children.v[a], n->children.v[b]);
	}
}

/* --- places ---------------------------------------------------------------------------------- */

struct whole {
	double nr, squared; /* intervals, and their square */
	double variance;    /* N² times it */
};

static double with_whole(const struct variance_tree *t, const struct tree_node *n)
{
	return exact_double(exact_less(exact_times(n->with_whole, t->counts.nr),
				       exact_product(n->sum, t->nodes.v[0].sum)));
}

/* N² times the covariance of a node's time with its waiting. */
static double with_wait(const struct variance_tree *t, const struct tree_node *n, int why)
{
	return exact_double(exact_less(exact_times(n->waits->with[why], t->counts.nr),
				       exact_product(n->waits->sum[why], n->sum)));
}

static double specificity(const struct variance_answer *a, unsigned height)
{
	double above = (double)(a->height - height);

	return a->height ? above * above : 1;
}

struct listing {
	const struct variance_tree *t;
	const struct gathering *g;
	struct variance_answer *a;
	struct whole w;
	const double *slow, *usual; /* by node */
	double *variance;           /* by node */
	struct arena *arena;
};

static struct variance_tail tail_of(const struct listing *l, double slow, double usual)
{
	double gap = l->a->slow_mean - l->a->usual_mean;

	return (struct variance_tail){ slow, usual, ratio(slow - usual, gap) };
}

static void list_place(const struct listing *l, uint32_t node, uint32_t parent)
{
	const struct tree_node *n = &l->t->nodes.v[node];
	struct variance_place *p = &l->a->places[l->a->nr_places++];

	*p = (struct variance_place){ .name = n->name, .parent = parent, .depth = n->depth };
	p->height = l->g->height[node];
	p->nr_children = n->children.nr;
	p->is_inner = n->children.nr > 0;
	p->of_variance = ratio(l->variance[node], l->w.variance);
	p->explains = ratio(with_whole(l->t, n), l->w.variance);
	p->mean = (double)n->sum / l->w.nr;
	p->sd = sqrt(l->variance[node] / l->w.squared);
	p->calls = (double)n->nr_calls / l->w.nr;
	for (int why = WAIT_CPU; n->waits && why < NR_WAITS; why++)
		p->waits[why] = ratio(with_wait(l->t, n, why), l->variance[node]);
	p->tail = tail_of(l, l->slow[node], l->usual[node]);
	p->specificity = specificity(l->a, p->height);
	p->score = p->specificity * l->variance[node] / l->w.squared;
}

struct ranked {
	double variance;
	uint32_t node;
};

static int largest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->variance != y->variance)
		return x->variance > y->variance ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

/* A node, then all that is below it. */
static void list_below(const struct listing *l, uint32_t node, uint32_t parent)
{
	const struct tree_node *n = &l->t->nodes.v[node];
	uint32_t at = (uint32_t)l->a->nr_places;
	struct ranked *v = arena_array(l->arena, struct ranked, n->children.nr + 1);

	list_place(l, node, parent);
	for (size_t i = 0; i < n->children.nr; i++)
		v[i] = (struct ranked){ l->variance[n->children.v[i]], n->children.v[i] };
	qsort(v, n->children.nr, sizeof(*v), largest_first);
	for (size_t i = 0; i < n->children.nr; i++)
		list_below(l, v[i].node, at);
}

/* --- factors --------------------------------------------------------------------------------- */

static struct str path_of(const struct variance_tree *t, uint32_t node, struct arena *arena)
{
	struct str path = t->nodes.v[node].name;

	for (node = t->nodes.v[node].parent; node != NODE_NONE; node = t->nodes.v[node].parent)
		path = arena_fmt(arena, STR_FMT " > " STR_FMT, STR_ARG(t->nodes.v[node].name),
				 STR_ARG(path));
	return path;
}

static void add_leaf(const struct listing *l, struct variance_factor *f, uint32_t node,
		     double *waited)
{
	const struct tree_node *n = &l->t->nodes.v[node];

	f->mean += (double)n->sum / l->w.nr;
	f->tail.slow += l->slow[node];
	f->tail.usual += l->usual[node];
	for (int why = WAIT_CPU; n->waits && why < NR_WAITS; why++) {
		f->waits[why] += with_wait(l->t, n, why);
		*waited += (double)n->waits->sum[why] / l->w.nr;
	}
}

/* Whether its largest place goes with an amount of work. Waiting is no work. */
static void find_work(const struct listing *l, struct variance_factor *f)
{
	const struct tree_node *n = &l->t->nodes.v[f->node];
	double waits = 0;

	f->work = fit_share(&n->calls);
	f->work_name = STR("calls");
	for (size_t i = 0; i < n->nr_works; i++) {
		double share = fit_share(&n->works[i].fit);

		if (share <= f->work || fit_is_clock(&n->works[i].fit))
			continue;
		f->work = share;
		f->work_name = n->works[i].name;
	}
	for (int why = WAIT_CPU; why < NR_WAITS; why++)
		waits += f->waits[why];
	f->is_inherent = f->work >= VARIANCE_INHERENT && waits < 0.5 &&
			 !str_starts(f->name[0], STR("wait:"));
}

static void list_factor(const struct listing *l, const struct gathered *of,
			struct variance_factor *f)
{
	double sum = exact_double(of->sum);

	*f = (struct variance_factor){ .low = NAN, .high = NAN, .node = of->node[0] };
	f->name[0] = l->t->nodes.v[of->node[0]].name;
	if (of->name[1])
		f->name[1] = l->t->nodes.v[of->node[1]].name;
	f->path = path_of(l->t, of->node[0], l->arena);
	f->share = ratio(sum, l->w.variance);
	f->contribution = sum / l->w.squared;
	f->nr_places = of->nr_places;
	f->height = of->height;
	f->specificity = specificity(l->a, of->height);
	f->score = f->specificity * f->contribution;
}

static void list_leaves(const struct listing *l, struct variance_factor *factors)
{
	const struct gathering *g = l->g;
	double *waited = arena_array(l->arena, double, g->v.nr + 1);

	vec_each (&g->terms, x)
		if (x->a == x->b)
			add_leaf(l, &factors[x->factor], x->a, &waited[x->factor]);
	for (size_t i = 0; i < g->v.nr; i++) {
		struct variance_factor *f = &factors[i];

		if (f->name[1].n)
			continue;
		f->sd = f->contribution > 0 ? sqrt(f->contribution) : 0;
		f->waited = ratio(waited[i], f->mean);
		for (int why = WAIT_CPU; why < NR_WAITS; why++)
			f->waits[why] = ratio(f->waits[why], f->contribution * l->w.squared);
		f->tail = tail_of(l, f->tail.slow, f->tail.usual);
		find_work(l, f);
	}
}

static int highest_score(const void *a, const void *b)
{
	const struct variance_factor *x = a, *y = b;
	int names;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	names = str_cmp(x->name[0], y->name[0]);
	if (!names)
		names = str_cmp(x->name[1], y->name[1]);
	return names ? names : str_cmp(x->path, y->path);
}

/* How sure the shares are of those factors that matter at all. */
static void draw_shares(const struct listing *l, struct variance_factor *f)
{
	const struct gathering *g = l->g;
	struct batch_term *terms = arena_array(l->arena, struct batch_term, g->terms.nr + 1);
	double *low = arena_array(l->arena, double, g->v.nr + 1);
	double *high = arena_array(l->arena, double, g->v.nr + 1);
	uint32_t *drawn = arena_array(l->arena, uint32_t, g->v.nr + 1);
	size_t nr = 0, nr_factors = 0;

	for (size_t i = 0; i < g->terms.nr && nr < MOST_DRAWN; i++) {
		uint32_t of = g->terms.v[i].factor;

		if (fabs(f[of].share) < LEAST_DRAWN)
			continue;
		if (!drawn[of])
			drawn[of] = (uint32_t)++nr_factors;
		terms[nr] = g->terms.v[i];
		terms[nr++].factor = drawn[of] - 1;
	}
	if (!batches_draw(l->t, terms, nr, nr_factors, low, high, l->arena))
		return;
	for (size_t i = 0; i < g->v.nr; i++) {
		if (!drawn[i])
			continue;
		f[i].low = low[drawn[i] - 1];
		f[i].high = high[drawn[i] - 1];
	}
}

/* Not sure to be there at all, or to be as much as is asked for. */
static void judge(struct variance_factor *f, double least)
{
	double sure = f->share >= 0 ? f->low : -f->high;

	f->is_noise = isnan(f->low) || sure <= 0 || (fabs(f->share) >= least && sure < least);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void list_factors(const struct listing *l)
{
	const struct gathering *g = l->g;
	struct variance_factor *f = arena_array(l->arena, struct variance_factor, g->v.nr + 1);

	for (size_t i = 0; i < g->v.nr; i++)
		list_factor(l, &g->v.v[i], &f[i]);
	list_leaves(l, f);
	draw_shares(l, f);
	for (size_t i = 0; i < g->v.nr; i++)
		judge(&f[i], g->o->min_share);
	qsort(f, g->v.nr, sizeof(*f), highest_score);
	suppose_factors(l->t, g->o, l->arena, f, g->v.nr);
	l->a->factors = f;
	l->a->nr_factors = g->v.nr;
}

void variance_answer(const struct variance_tree *t, const struct variance_options *o,
		     struct arena *arena, struct variance_answer *a)
{
	struct gathering g = { .t = t, .o = o, .arena = arena };
	struct listing l = { .t = t, .g = &g, .a = a, .arena = arena };
	double *slow = arena_array(arena, double, t->nodes.nr + 1);
	double *usual = arena_array(arena, double, t->nodes.nr + 1);

	*a = (struct variance_answer){ .nr = t->counts.nr };
	if (!a->nr)
		return;
	find_heights(&g);
	gather_all(&g);
	l.w.nr = (double)a->nr;
	l.w.squared = l.w.nr * l.w.nr;
	l.variance = arena_array(arena, double, t->nodes.nr);
	for (uint32_t i = 0; i < t->nodes.nr; i++)
		l.variance[i] = exact_double(tree_covariance(t, i, i));
	l.w.variance = l.variance[0];
	a->name = t->nodes.v[0].name;
	a->height = g.height[0];
	a->mean = (double)t->nodes.v[0].sum / l.w.nr;
	a->variance = l.w.variance / l.w.squared;
	a->sd = sqrt(a->variance);
	tails_find(t, slow, usual, a);
	l.slow = slow;
	l.usual = usual;
	a->places = arena_array(arena, struct variance_place, t->nodes.nr);
	list_below(&l, 0, NODE_NONE);
	list_factors(&l);
	vec_done(&g.v);
	vec_done(&g.terms);
	map_done(&g.by_name);
	names_done(&g.names);
}
