/*
 * The variance tree of VProfiler (Huang, Mozafari, Wenisch, EuroSys 2017, section 3.2), as a
 * stream. Of each function and those that it calls, sums of times and of products of times are
 * kept: with N intervals, N² times the covariance of X and Y is N ΣXY - ΣX ΣY, a whole number,
 * so that what is told of the children adds up to their parent to the last digit.
 *
 * An interval costs its parts, times their depth, plus the pairs of children that are in it: a
 * child that is not has taken 0 ns, which changes no product. Memory: a number of 32 bytes for each
 * pair of siblings that exist, of which there are at most PAIRS_MAX.
 *
 * Differs from the paper in that nothing is rounded, and in that a function that is found to call
 * others only later hands its past over to its body.
 */
#include "ask/variance/tree.h"

#include <math.h>
#include <string.h>

#include "ask/variance/inside.h"

#define PAIRS_MAX 131072
#define KEPT 16384
#define OTHERS STR("(others)")
#define WORK STR("work")

struct variance_tree *variance_tree_new(void)
{
	struct variance_tree *t = mem_zalloc(sizeof(*t));

	t->sample.most = KEPT;
	t->batches.size = 1;
	return t;
}

void variance_tree_free(struct variance_tree *t)
{
	if (!t)
		return;
	vec_each (&t->nodes, n)
		vec_done(&n->children);
	vec_done(&t->nodes);
	vec_done(&t->pairs);
	vec_done(&t->touched);
	vec_done(&t->node_of);
	vec_done(&t->rest);
	vec_done(&t->all);
	map_done(&t->by_name);
	batches_done(&t->batches);
	sample_done(&t->sample);
	arena_done(&t->arena);
	free(t);
}

void variance_tree_keep(struct variance_tree *t, size_t nr)
{
	t->sample.most = nr;
}

void variance_tree_bands(struct variance_tree *t, const struct variance_bands *b)
{
	t->bands = *b;
	t->has_bands = true;
}

void variance_tree_count(const struct variance_tree *t, struct variance_counts *c)
{
	*c = t->counts;
	c->nr_kept = t->sample.v.nr;
}

/* --- what is told of the sums ---------------------------------------------------------------- */

size_t tree_pair(const struct variance_tree *t, uint32_t a, uint32_t b)
{
	const struct tree_node *x = &t->nodes.v[a], *y = &t->nodes.v[b];

	return x->place >= y->place ? x->first_pair + y->place : y->first_pair + x->place;
}

struct exact tree_covariance(const struct variance_tree *t, uint32_t a, uint32_t b)
{
	struct exact both = t->pairs.v[tree_pair(t, a, b)];

	return exact_less(exact_times(both, t->counts.nr),
			  exact_product(t->nodes.v[a].sum, t->nodes.v[b].sum));
}

/* --- nodes ----------------------------------------------------------------------------------- */

static uint32_t new_node(struct variance_tree *t, uint32_t parent, struct str name, uint32_t site)
{
	uint32_t number = (uint32_t)t->nodes.nr;
	struct tree_node n = { .parent = parent, .body = NODE_NONE, .site = site };

	n.name = arena_str(&t->arena, name);
	n.first_pair = t->pairs.nr;
	if (parent != NODE_NONE) {
		n.place = (uint32_t)t->nodes.v[parent].children.nr;
		n.depth = t->nodes.v[parent].depth + 1;
		vec_push(&t->nodes.v[parent].children, number);
	}
	for (uint32_t i = 0; i <= n.place; i++)
		vec_push(&t->pairs, (struct exact){ 0 });
	vec_push(&t->nodes, n);
	return number;
}

static uint64_t key_of(uint32_t parent, struct str name, uint32_t site)
{
	uint64_t key = str_hash(name) ^ (map_pair(parent, site) + 1) * 0x9e3779b97f4a7c15u;

	return key ^ key >> 31;
}

static bool is_node(const struct variance_tree *t, uint32_t node, uint32_t parent, struct str name,
		    uint32_t site)
{
	const struct tree_node *n = &t->nodes.v[node];

	return n->parent == parent && n->site == site && str_eq(n->name, name);
}

/* What it did before it had children was all its own. */
static void add_body(struct variance_tree *t, uint32_t node)
{
	struct str name = arena_fmt(&t->arena, "body:" STR_FMT, STR_ARG(t->nodes.v[node].name));
	uint32_t body = new_node(t, node, name, 0);
	const struct tree_node *of = &t->nodes.v[node];
	struct tree_node *n = &t->nodes.v[body];

	*map_at(&t->by_name, key_of(node, name, 0)) = body + 1u;
	t->nodes.v[node].body = body;
	t->pairs.v[n->first_pair] = t->pairs.v[tree_pair(t, node, node)];
	n->sum = of->sum;
	n->with_whole = of->with_whole;
	memcpy(n->band, of->band, sizeof(n->band));
	if (of->waits) {
		n->waits = arena_new(&t->arena, struct wait_sums);
		*n->waits = *of->waits;
	}
	batches_inherit(t, body, node);
}

static uint32_t add_child(struct variance_tree *t, uint32_t parent, struct str name, uint32_t site)
{
	uint32_t child;

	if (t->nodes.v[parent].body == NODE_NONE)
		add_body(t, parent);
	child = new_node(t, parent, name, site);
	*map_at(&t->by_name, key_of(parent, name, site)) = child + 1u;
	return child;
}

static uint32_t find_child(const struct variance_tree *t, uint32_t parent, struct str name,
			   uint32_t site)
{
	uint64_t *found = map_find(&t->by_name, key_of(parent, name, site));

	if (found && is_node(t, (uint32_t)*found - 1, parent, name, site))
		return (uint32_t)*found - 1;
	return NODE_NONE;
}

static uint32_t child_of(struct variance_tree *t, uint32_t parent, struct str name, uint32_t site)
{
	const struct tree_node *p = &t->nodes.v[parent];
	uint32_t child = find_child(t, parent, name, site);

	if (child != NODE_NONE)
		return child;
	if (p->is_fold || p->depth + 1 >= VARIANCE_DEPTH_MAX) {
		t->counts.nr_folded++;
		return parent;
	}
	/* room for the body, this one, and one for all others */
	if (p->children.nr + 3 <= VARIANCE_CHILDREN_MAX && t->pairs.nr + p->children.nr < PAIRS_MAX)
		return add_child(t, parent, name, site);
	t->counts.nr_folded++;
	child = find_child(t, parent, OTHERS, 0);
	if (child == NODE_NONE) {
		child = add_child(t, parent, OTHERS, 0);
		t->nodes.v[child].is_fold = true;
	}
	return child;
}

/* --- one interval ---------------------------------------------------------------------------- */

/* Above part i, which is not the root: what has no other parent is below the root. */
static size_t above(const struct variance_part *v, size_t i)
{
	return v[i].parent < i ? v[i].parent : 0;
}

/* What each part does itself, and what it takes with all that is below; false where that is too
 * long to be added up. */
static bool find_times(struct variance_tree *t, const struct variance_part *v, size_t nr)
{
	bool uneven = false;

	vec_reserve(&t->rest, nr);
	vec_reserve(&t->all, nr);
	for (size_t i = 0; i < nr; i++) {
		int64_t ns = v[i].ns > 0 ? v[i].ns : 0;
		int64_t *of = i ? &t->rest.v[above(v, i)] : NULL;

		uneven |= v[i].ns < 0;
		t->rest.v[i] = ns;
		if (of && __builtin_sub_overflow(*of, ns, of))
			return false;
	}
	for (size_t i = 0; i < nr; i++) {
		uneven |= t->rest.v[i] < 0;
		t->rest.v[i] = t->rest.v[i] > 0 ? t->rest.v[i] : 0;
		t->all.v[i] = t->rest.v[i];
	}
	for (size_t i = nr; i-- > 1;) {
		int64_t *of = &t->all.v[above(v, i)];

		if (__builtin_add_overflow(*of, t->all.v[i], of))
			return false;
	}
	t->counts.nr_uneven += uneven;
	return true;
}

/* Whether they are those of the interval before, one by one. */
static bool find_nodes(struct variance_tree *t, const struct variance_part *v, size_t nr)
{
	size_t guesses = t->node_of.nr;
	bool same = guesses == nr;

	if (!t->nodes.nr)
		new_node(t, NODE_NONE, v[0].name, v[0].site);
	vec_reserve(&t->node_of, nr);
	t->node_of.v[0] = 0;
	for (size_t i = 1; i < nr; i++) {
		uint32_t parent = t->node_of.v[above(v, i)];

		if (i < guesses && is_node(t, t->node_of.v[i], parent, v[i].name, v[i].site))
			continue;
		t->node_of.v[i] = child_of(t, parent, v[i].name, v[i].site);
		same = false;
	}
	t->node_of.nr = nr;
	return same;
}

/* Intervals resemble each other: what was linked for the one before need not be linked again. */
static void begin(struct variance_tree *t, bool same)
{
	if (!same) {
		t->stamp++;
		vec_clear(&t->touched);
		return;
	}
	vec_each (&t->touched, i) {
		t->nodes.v[*i].now = 0;
		t->nodes.v[*i].calls_now = 0;
	}
}

static void touch(struct variance_tree *t, uint32_t node)
{
	struct tree_node *n = &t->nodes.v[node], *p;

	if (n->stamp == t->stamp)
		return;
	n->stamp = t->stamp;
	n->now = 0;
	n->calls_now = 0;
	n->first_touched = NODE_NONE;
	n->next_touched = NODE_NONE;
	vec_push(&t->touched, node);
	if (n->parent == NODE_NONE)
		return;
	touch(t, n->parent);
	p = &t->nodes.v[n->parent];
	n->next_touched = p->first_touched;
	p->first_touched = node;
}

/* A part that fell in with its parent is in its time already. */
static void credit(struct variance_tree *t, const struct variance_part *v, size_t i)
{
	uint32_t node = t->node_of.v[i], body = t->nodes.v[node].body;

	touch(t, node);
	if (!i || node != t->node_of.v[above(v, i)])
		t->nodes.v[node].now += t->all.v[i];
	if (body == NODE_NONE || !t->rest.v[i])
		return;
	touch(t, body);
	t->nodes.v[body].now += t->rest.v[i];
}

static void credit_waits(struct variance_tree *t, uint32_t node, int why, int64_t ns)
{
	uint32_t leaf = tree_leaf(t, node);

	touch(t, leaf);
	for (; leaf != NODE_NONE; leaf = t->nodes.v[leaf].parent) {
		struct tree_node *n = &t->nodes.v[leaf];

		if (!n->waits)
			n->waits = arena_new(&t->arena, struct wait_sums);
		n->waits->now[why] += ns;
	}
}

/* Of the waits of a part those that none of its children tells of. */
static void find_waits(struct variance_tree *t, const struct variance_part *v, size_t nr)
{
	int64_t waits = 0;

	for (size_t i = 0; i < nr; i++)
		for (int why = 0; why < 8; why++)
			waits |= v[i].wait_ns[why];
	for (int why = WAIT_CPU; why < NR_WAITS && waits; why++) {
		bool any = false;

		for (size_t i = 0; i < nr; i++) {
			t->rest.v[i] = v[i].wait_ns[why] > 0 ? v[i].wait_ns[why] : 0;
			any |= t->rest.v[i] > 0;
		}
		for (size_t i = nr; any && i-- > 1;)
			if (t->rest.v[above(v, i)] > 0)
				t->rest.v[above(v, i)] -=
					v[i].wait_ns[why] > 0 ? v[i].wait_ns[why] : 0;
		for (size_t i = 0; any && i < nr; i++)
			if (t->rest.v[i] > 0)
				credit_waits(t, t->node_of.v[i], why, t->rest.v[i]);
	}
}

static void settle_waits(struct tree_node *n)
{
	for (int why = WAIT_CPU; why < NR_WAITS; why++) {
		int64_t ns = n->waits->now[why];

		if (!ns)
			continue;
		ns = ns < n->now ? ns : n->now;
		n->waits->sum[why] += (uint64_t)ns;
		exact_add_product(&n->waits->with[why], (uint64_t)ns, (uint64_t)n->now);
		n->waits->now[why] = 0;
	}
}

struct child_now {
	size_t first_pair;
	uint64_t ns;
	uint32_t place;
};

static void settle_children(struct variance_tree *t, const struct tree_node *p)
{
	struct child_now v[VARIANCE_CHILDREN_MAX];
	size_t nr = 0;

	for (uint32_t i = p->first_touched; i != NODE_NONE; i = t->nodes.v[i].next_touched) {
		const struct tree_node *n = &t->nodes.v[i];

		if (n->now)
			v[nr++] = (struct child_now){ n->first_pair, (uint64_t)n->now, n->place };
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t j = i; j < nr; j++) {
			size_t pair = v[i].place >= v[j].place ? v[i].first_pair + v[j].place
							       : v[j].first_pair + v[i].place;

			exact_add_product(&t->pairs.v[pair], v[i].ns, v[j].ns);
		}
}

static void settle(struct variance_tree *t)
{
	int64_t whole = t->nodes.v[0].now;
	int band = NR_BANDS;

	if (t->has_bands && whole >= t->bands.slow_from)
		band = BAND_SLOW;
	else if (t->has_bands && whole >= t->bands.usual_from && whole <= t->bands.usual_until)
		band = BAND_USUAL;
	if (band < NR_BANDS)
		t->nr_band[band]++;
	exact_add_product(&t->pairs.v[0], (uint64_t)whole, (uint64_t)whole);
	vec_each (&t->touched, i) {
		struct tree_node *n = &t->nodes.v[*i];

		n->nr_calls += n->calls_now;
		n->sum += (uint64_t)n->now;
		exact_add_product(&n->with_whole, (uint64_t)n->now, (uint64_t)whole);
		if (band < NR_BANDS)
			n->band[band] += (uint64_t)n->now;
		if (n->calls_now)
			fit_add(&n->calls, n->calls_now, (double)n->now);
		if (n->waits)
			settle_waits(n);
		if (n->first_touched != NODE_NONE)
			settle_children(t, n);
	}
}

static struct fit *work_of(struct variance_tree *t, struct tree_node *n, struct str name)
{
	for (size_t i = 0; i < n->nr_works; i++)
		if (str_eq(n->works[i].name, name))
			return &n->works[i].fit;
	if (n->nr_works == NODE_WORKS)
		return NULL;
	if (!n->works)
		n->works = arena_array(&t->arena, struct named_fit, NODE_WORKS);
	n->works[n->nr_works].name = arena_str(&t->arena, name);
	return &n->works[n->nr_works++].fit;
}

/* By part: of several calls in an interval, each is a point. */
static void add_works(struct variance_tree *t, const struct variance_part *v, uint32_t node,
		      double ns)
{
	struct tree_node *n = &t->nodes.v[node];
	struct fit *f = isnan(v->work) ? NULL : work_of(t, n, WORK);

	if (f)
		fit_add(f, v->work, ns);
	for (size_t i = 0; i < v->nr_works; i++) {
		f = work_of(t, n, v->works[i].name);
		if (f)
			fit_add(f, v->works[i].amount, ns);
	}
}

/* What a function does itself goes with its amounts as well. */
static void add_amounts(struct variance_tree *t, const struct variance_part *v, size_t i)
{
	uint32_t node = t->node_of.v[i], body = t->nodes.v[node].body;

	add_works(t, v, node, (double)v->ns);
	if (body != NODE_NONE)
		add_works(t, v, body, (double)t->rest.v[i]);
}

void variance_tree_add(struct variance_tree *t, const struct variance_part *v, size_t nr)
{
	struct sample_interval *kept;

	if (!nr)
		return;
	if (!find_times(t, v, nr)) {
		t->counts.nr_refused++;
		return;
	}
	begin(t, find_nodes(t, v, nr));
	kept = sample_place(&t->sample, t->counts.nr);
	for (size_t i = 0; i < nr; i++) {
		credit(t, v, i);
		t->nodes.v[t->node_of.v[i]].calls_now += v[i].nr_calls;
		if (kept && t->rest.v[i])
			sample_put(kept, t->node_of.v[i], t->rest.v[i]);
		if (v[i].nr_works || !isnan(v[i].work))
			add_amounts(t, &v[i], i);
	}
	find_waits(t, v, nr);
	settle(t);
	t->counts.nr++;
	batches_step(t);
}
