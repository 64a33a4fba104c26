#include "ask/variance/batches.h"

#include <math.h>
#include <string.h>

#include "ask/stats.h"
#include "ask/variance/inside.h"

#define DRAWS 400
#define OUTSIDE 0.025 /* of the draws, on either side */

static void batch_done(struct batch *b)
{
	vec_done(&b->pairs);
	vec_done(&b->sums);
}

void batches_done(struct batches *b)
{
	for (size_t i = 0; i < b->nr; i++)
		batch_done(&b->v[i]);
	b->nr = 0;
}

static void take_sums(const struct variance_tree *t, struct batch *b)
{
	*b = (struct batch){ .nr = t->counts.nr };
	vec_reserve(&b->pairs, t->pairs.nr);
	vec_reserve(&b->sums, t->nodes.nr);
	vec_each (&t->pairs, p)
		b->pairs.v[b->pairs.nr++] = exact_double(*p);
	vec_each (&t->nodes, n)
		b->sums.v[b->sums.nr++] = (double)n->sum;
}

/* Two neighbours become one: sums are since the beginning, so that every second one is enough. */
static void halve(struct batches *b)
{
	for (size_t i = 0; i < b->nr / 2; i++) {
		batch_done(&b->v[2 * i]);
		b->v[i] = b->v[2 * i + 1];
	}
	b->nr /= 2;
	b->size *= 2;
}

void batches_step(struct variance_tree *t)
{
	struct batches *b = &t->batches;
	uint64_t before = b->nr ? b->v[b->nr - 1].nr : 0;

	if (t->counts.nr - before < b->size)
		return;
	if (b->nr == BATCHES_MAX) {
		halve(b);
		return; /* the one that is under way is half of a larger one now */
	}
	take_sums(t, &b->v[b->nr++]);
}

void batches_inherit(struct variance_tree *t, uint32_t node, uint32_t from)
{
	size_t pair = tree_pair(t, node, node), from_pair = tree_pair(t, from, from);

	for (size_t i = 0; i < t->batches.nr; i++) {
		struct batch *b = &t->batches.v[i];

		if (from >= b->sums.nr)
			continue;
		while (b->sums.nr <= node)
			vec_push(&b->sums, 0);
		while (b->pairs.nr <= pair)
			vec_push(&b->pairs, 0);
		b->sums.v[node] = b->sums.v[from];
		b->pairs.v[pair] = b->pairs.v[from_pair];
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

/* The batches as they lie side by side: of each what happened in it. */
struct lots {
	const struct variance_tree *t;
	const struct batch *v[BATCHES_MAX + 1];
	size_t nr;
	double times[BATCHES_MAX + 2]; /* how often each was drawn */
	double intervals;
	double *sums; /* by node, in this draw; NAN: not asked for yet */
};

static double at(const double *v, size_t nr, size_t i)
{
	return i < nr ? v[i] : 0;
}

/* Of sums since the beginning, batch i counts for times[i]: each end counts as often as its batch
 * was drawn more often than the next one. */
static double drawn_sum(struct lots *l, uint32_t node)
{
	double sum = 0;

	if (!isnan(l->sums[node]))
		return l->sums[node];
	for (size_t i = 0; i < l->nr; i++)
		sum += (l->times[i] - l->times[i + 1]) *
		       at(l->v[i]->sums.v, l->v[i]->sums.nr, node);
	return l->sums[node] = sum;
}

static double drawn_covariance(struct lots *l, uint32_t a, uint32_t b)
{
	size_t pair = tree_pair(l->t, a, b);
	double both = 0;

	for (size_t i = 0; i < l->nr; i++)
		both += (l->times[i] - l->times[i + 1]) *
			at(l->v[i]->pairs.v, l->v[i]->pairs.nr, pair);
	return l->intervals * both - drawn_sum(l, a) * drawn_sum(l, b);
}

static void draw(struct lots *l, struct dice *dice)
{
	memset(l->times, 0, sizeof(l->times));
	l->intervals = 0;
	for (size_t i = 0; i < l->nr; i++) {
		size_t pick = dice_below(dice, l->nr);

		l->times[pick]++;
		l->intervals += (double)(l->v[pick]->nr - (pick ? l->v[pick - 1]->nr : 0));
	}
	for (size_t i = 0; i < l->t->nodes.nr; i++)
		l->sums[i] = NAN;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

bool batches_draw(const struct variance_tree *t, const struct batch_term *terms, size_t nr_terms,
		  size_t nr_factors, double *low, double *high, struct arena *arena)
{
	struct lots l = { .t = t };
	struct batch last = { 0 };
	struct dice dice = { 1 };
	double *shares = arena_array(arena, double, nr_factors *DRAWS + 1);
	size_t out = (size_t)(OUTSIDE * DRAWS);

	for (size_t i = 0; i < t->batches.nr; i++)
		l.v[l.nr++] = &t->batches.v[i];
	if (l.nr < BATCHES_LEAST)
		return false;
	if (l.v[l.nr - 1]->nr < t->counts.nr) {
		take_sums(t, &last);
		l.v[l.nr++] = &last;
	}
	l.sums = arena_array(arena, double, t->nodes.nr + 1);
	for (size_t d = 0; d < DRAWS; d++) {
		double whole;

		draw(&l, &dice);
		whole = drawn_covariance(&l, 0, 0);
		for (size_t i = 0; i < nr_terms && whole > 0; i++)
			shares[terms[i].factor * DRAWS + d] +=
				terms[i].weight * drawn_covariance(&l, terms[i].a, terms[i].b) /
				whole;
	}
	for (size_t i = 0; i < nr_factors; i++) {
		qsort(shares + i * DRAWS, DRAWS, sizeof(*shares), ascending);
		low[i] = shares[i * DRAWS + out];
		high[i] = shares[i * DRAWS + DRAWS - 1 - out];
	}
	batch_done(&last);
	return true;
}
