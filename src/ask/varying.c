/*
 * Durations are looked at in brief first, so that the slowest and the usual requests are known; a
 * few requests with their spans tell how steps are named; then one pass over all of them.
 */
#include "ask/varying.h"

#include <stdlib.h>

#include "ask/stats.h"
#include "ask/variance/tails.h"
#include "model/attr.h"
#include "model/parts.h"
#include "store/store.h"

#define KEPT 50000     /* requests in the sample */
#define LEARNED 400    /* requests that tell how steps are named */
#define WORKED 20000   /* requests whose amounts of work are looked at */
#define LEAST_WHOLE 10 /* requests that are not cut off: then those that are do not count */

void varying_done(struct varying *v)
{
	variance_tree_free(v->tree);
	variance_spans_done(&v->spans);
	types_done(&v->types);
}

double varying_squares(const struct type_stat *t)
{
	double mean = t->timings.nr ? t->total / (double)t->timings.nr : 0, sum = 0;

	for (size_t i = 0; i < t->timings.nr; i++) {
		double d = (double)t->timings.v[i].duration - mean;

		sum += d * d;
	}
	return sum;
}

int varying_collect(struct varying *v, struct store *s, const struct request_filter *f,
		    struct error *err)
{
	const struct request_filter all = { 0 };
	double largest = -1;
	int r = types_collect(&v->types, s, f ? f : &all, err);

	v->type = TYPE_NONE;
	for (size_t i = 0; r >= 0 && i < v->types.order.nr; i++) {
		double sum = varying_squares(&v->types.v.v[v->types.order.v[i]]);

		if (sum <= largest)
			continue;
		largest = sum;
		v->type = v->types.order.v[i];
	}
	return r;
}

static int learn(void *ctx, const struct request *r, const struct request_body *body)
{
	struct varying *v = ctx;

	(void)r;
	variance_spans_learn(&v->spans, body);
	return 0;
}

int varying_learn(struct varying *v, const struct varying *of, struct store *s, struct error *err)
{
	const struct type_stat *t = &of->types.v.v[of->type];
	size_t nr = t->timings.nr < LEARNED ? t->timings.nr : LEARNED;
	uint64_t ids[LEARNED];
	int r;

	/* in order of start, and so of number */
	for (size_t i = 0; i < nr; i++)
		ids[i] = t->timings.v[(size_t)((double)i * (double)t->timings.nr / (double)nr)].id;
	r = store_each_body_of(s, ids, nr, learn, v, err);
	variance_spans_learned(&v->spans);
	return r;
}

static bool is_left_out(const struct varying *v, bool incomplete)
{
	return v->whole_only && incomplete;
}

/* Which requests are slow and which are usual. */
static void look_at_durations(struct varying *v, struct variance_bands *bands)
{
	const struct type_stat *t = &v->types.v.v[v->type];
	int64_t *ns = mem_alloc(mem_bytes(t->timings.nr + 1, sizeof(*ns)));
	size_t nr = 0;

	for (size_t i = 0; i < t->timings.nr; i++)
		if (!is_left_out(v, t->timings.v[i].incomplete))
			ns[nr++] = t->timings.v[i].duration;
	stats_sort(ns, nr);
	v->p50 = stats_percentile(ns, nr, 0.5);
	v->p99 = stats_percentile(ns, nr, 0.99);
	tails_bands(ns, nr, bands);
	free(ns);
}

/* Of a run that was made from a running program one round is told: in others other functions were
 * watched. What was kept only because it was slow would count too often. */
static bool is_of_another_round(struct varying *v, const struct request_body *body)
{
	struct str attrs = body->nr_spans ? body->spans[0].attrs : STR("");
	struct attr a;

	if (!v->round)
		return false;
	return !attr_find(attrs, PARTS_ROUND, &a) || (uint64_t)a.i != v->round ||
	       attr_find(attrs, PARTS_EXTRA, &a);
}

static int see(void *ctx, const struct request *r, const struct request_body *body)
{
	struct varying *v = ctx;

	if (is_left_out(v, r->incomplete))
		return 0;
	if (is_of_another_round(v, body)) {
		v->nr_other_rounds++;
		return 0;
	}
	if (!variance_spans_measured(&v->spans, r, body))
		variance_spans_make(&v->spans, r, body, v->nr_seen % v->every == 0);
	v->nr_seen++;
	variance_tree_add(v->tree, v->spans.parts.v, v->spans.parts.nr);
	return 0;
}

int varying_see(struct varying *v, struct store *s, struct error *err)
{
	const struct type_stat *t = &v->types.v.v[v->type];
	struct request_filter filter = { .type = t->name };
	struct str fact = store_fact(s, PARTS_FACT);
	struct variance_bands bands;

	v->whole_only = t->timings.nr - t->incomplete >= LEAST_WHOLE;
	v->every = t->timings.nr / WORKED + 1;
	v->tree = variance_tree_new();
	variance_tree_keep(v->tree, KEPT);
	look_at_durations(v, &bands);
	if (!str_take_uint(&fact, &v->round))
		variance_tree_bands(v->tree, &bands);
	return store_each_body(s, &filter, see, v, err);
}
