/*
 * Two runs on the mathematics of slow against normal: all requests of a type before against all of
 * it after. A type weighs as much as it is frequent (mean of its parts in both runs), so that the
 * differences of all hops add up to the difference that the mean request feels at equal traffic.
 * Types that only one run has, and changes of rate, are rows without a share.
 *
 * A hop is no slower because it is called more often, or because what it is called for needs more
 * calls: where the numbers of calls differ by more than chance, that part of the difference is a
 * row of its own, the mix. before and after of a hop are what one call takes itself, so that a
 * delay added on a node is seen in its size however often the node is called; the share is of the
 * time that requests wait for it.
 */
#include "ask/diff/changes.h"

#include <math.h>
#include <stdlib.h>

#include "store/store.h"

#define CANCELLED 0.05 /* the sum is so small a part of its parts that shares of it mean little */

void changes_done(struct diff *d)
{
	types_done(&d->types[SIDE_BASE]);
	types_done(&d->types[SIDE_OTHER]);
	contrast_done(&d->contrast);
	names_done(&d->names);
	vec_done(&d->changes);
	arena_done(&d->arena);
}

static int add_body(void *ctx, const struct request *r, const struct request_body *body)
{
	struct diff *d = ctx;

	contrast_add(&d->contrast, names_add(&d->names, r->type), d->side, false, r, body);
	return 0;
}

int changes_collect(struct diff *d, struct store *const *runs, const struct request_filter *filters,
		    struct error *err)
{
	int r = 0;

	for (int side = 0; side < SIDES && r >= 0; side++) {
		d->side = (enum contrast_side)side;
		if (!d->asked[side])
			continue;
		r = types_collect(&d->types[side], runs[side], &filters[side], err);
		if (r >= 0)
			r = store_each_body(runs[side], &filters[side], add_body, d, err);
	}
	return r;
}

/* How much a type counts: the mean of its parts of both runs, among types that both have. */
static double weight_of(const struct diff *d, uint32_t type, const double *common)
{
	const struct contrast_set *set = &d->contrast.sets.v[type];

	return ((double)set->nr[SIDE_BASE] / common[SIDE_BASE] +
		(double)set->nr[SIDE_OTHER] / common[SIDE_OTHER]) /
	       2;
}

static bool in_both(const struct contrast_set *s)
{
	return s->nr[SIDE_BASE] && s->nr[SIDE_OTHER];
}

/* A hop that came or went has no mix: it is what changed. */
static double mix_of(const struct contrast_row *row)
{
	const struct strata_change *c = &row->change;

	return c->mixed && c->calls[SIDE_BASE] > 0 && c->calls[SIDE_OTHER] > 0 ? c->mix : 0;
}

static void add_rows(struct diff *d, uint32_t type, double weight, const struct contrast_row *rows,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct contrast_row *row = &rows[i];
		/* time in no span has no calls */
		const double *took = row->spans[SIDE_BASE] + row->spans[SIDE_OTHER]
					     ? row->change.own
					     : row->mean;

		vec_push(&d->changes, (struct change){ .type = type,
						       .row = row,
						       .before = took[SIDE_BASE],
						       .after = took[SIDE_OTHER],
						       .weighed = weight * row->delta,
						       .mixed = weight * mix_of(row),
						       .place = i });
	}
}

/* A difference is as sure as both that it is between. */
static double sure_of(const struct contrast_row *row)
{
	return row->change.confidence * row->change.confidence;
}

/* What is asked of a node, as far as its calls can be mixed up with one another. */
static sym_t errand_of(const struct diff *d, const struct contrast_row *row, struct names *errands)
{
	const struct hop *hop = &d->contrast.hops.v.v[row->hop];
	struct buf key = { 0 };
	sym_t errand;

	buf_fmt(&key, "%u %u", (unsigned)hop->node, (unsigned)hop->name);
	errand = names_add(errands, buf_str(&key));
	buf_done(&key);
	return errand;
}

/* What all calls of a node that ask for the same take, before and after. */
struct together {
	double before, after, calls;
};

/* Where it is unsure which call of a node made which further calls, times are mixed up among the
 * hops of the node, but not their mean: so far as a hop is unsure it is taken to be, before as well
 * as after, like all calls of the node together that ask for the same. To move only the one after
 * by what these have changed would take more from a short hop than it has. */
static void lean_on_nodes(struct diff *d)
{
	struct together *sums = arena_alloc(&d->arena, mem_bytes(d->changes.nr + 2, sizeof(*sums)));
	struct names errands = { 0 };

	vec_each (&d->changes, c) {
		const struct contrast_row *row = c->row;
		double calls = (double)(row->spans[SIDE_BASE] + row->spans[SIDE_OTHER]);
		struct together *all;

		if (!row->spans[SIDE_BASE] || !row->spans[SIDE_OTHER])
			continue;
		all = &sums[errand_of(d, row, &errands)];
		all->before += calls * c->before;
		all->after += calls * c->after;
		all->calls += calls;
	}
	vec_each (&d->changes, c) {
		const struct contrast_row *row = c->row;
		const struct together *all;
		double doubt = 1 - sure_of(row);

		if (!row->spans[SIDE_BASE] || !row->spans[SIDE_OTHER])
			continue;
		all = &sums[errand_of(d, row, &errands)];
		c->before += doubt * (all->before / all->calls - c->before);
		c->after += doubt * (all->after / all->calls - c->after);
	}
	names_done(&errands);
}

/* What the calls of a request take before and after, if one takes the same; where it is not their
 * number that changed, the mean with the effect of the mix. */
static void set_mix_times(struct change *mix)
{
	const struct strata_change *c = &mix->row->change;
	double more = c->calls[SIDE_OTHER] - c->calls[SIDE_BASE];

	mix->before = mix->row->mean[SIDE_BASE];
	if (fabs(more) > CHANGES_MATTER * c->calls[SIDE_BASE] && c->mix / more > 0)
		mix->before = c->calls[SIDE_BASE] * c->mix / more;
	mix->after = mix->before + c->mix;
	/* an effect beyond what there was before is told from the other end */
	if (mix->after < 0) {
		mix->after = mix->row->mean[SIDE_OTHER];
		mix->before = mix->after - c->mix;
	}
}

/* Makes the mix a change of its own where it matters. */
static void part_the_mix(struct diff *d)
{
	size_t nr = d->changes.nr;
	double size = 0;

	vec_each (&d->changes, c)
		size += fabs(c->weighed - c->mixed) + fabs(c->mixed);
	for (size_t i = 0; i < nr; i++) {
		struct change mix = d->changes.v[i];

		if (fabs(mix.mixed) <= CHANGES_MATTER * size)
			continue;
		d->changes.v[i].weighed -= mix.mixed;
		mix.weighed = mix.mixed;
		set_mix_times(&mix);
		mix.mix = true;
		vec_push(&d->changes, mix);
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->mix != y->mix)
		return x->mix ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static void share_out(struct diff *d)
{
	double sum = 0, size = 0;

	vec_each (&d->changes, c) {
		sum += c->weighed;
		size += fabs(c->weighed);
	}
	d->cancelled = fabs(sum) < CANCELLED * size;
	vec_each (&d->changes, c) {
		if (d->cancelled)
			c->share = size > 0 ? fabs(c->weighed) / size : 0;
		else
			c->share = sum != 0 ? c->weighed / sum : 0;
	}
	if (d->changes.nr)
		qsort(d->changes.v, d->changes.nr, sizeof(*d->changes.v), largest_first);
}

void changes_compare(struct diff *d, char by)
{
	double common[SIDES] = { 0 };

	for (uint32_t t = 0; t < d->contrast.sets.nr; t++)
		for (int side = 0; side < SIDES && in_both(&d->contrast.sets.v[t]); side++)
			common[side] += (double)d->contrast.sets.v[t].nr[side];
	for (uint32_t t = 0; t < d->contrast.sets.nr; t++) {
		struct contrast_answer a;
		double weight;

		if (!in_both(&d->contrast.sets.v[t]))
			continue;
		weight = weight_of(d, t, common);
		contrast_answer(&d->contrast, t, &d->arena, &a);
		if (by == 'h')
			add_rows(d, t, weight, a.hops, a.nr_hops);
		else if (by == 'n')
			add_rows(d, t, weight, a.nodes, a.nr_nodes);
		else
			vec_push(&d->changes,
				 (struct change){ .type = t,
						  .before = a.mean[SIDE_BASE],
						  .after = a.mean[SIDE_OTHER],
						  .weighed = weight * (a.mean[SIDE_OTHER] -
								       a.mean[SIDE_BASE]) });
	}
	if (by == 'h')
		lean_on_nodes(d);
	part_the_mix(d);
	share_out(d);
}
