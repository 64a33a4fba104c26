#include "ask/variance/tails.h"

#include "ask/variance/inside.h"

static void tails_of_bands(const struct variance_tree *t, double *slow, double *usual)
{
	for (size_t i = 0; i < t->nodes.nr; i++) {
		slow[i] =
			ratio((double)t->nodes.v[i].band[BAND_SLOW], (double)t->nr_band[BAND_SLOW]);
		usual[i] = ratio((double)t->nodes.v[i].band[BAND_USUAL],
				 (double)t->nr_band[BAND_USUAL]);
	}
}

static void add_tail(const struct variance_tree *t, const struct sample_interval *s, double *sums)
{
	for (uint32_t i = 0; i < s->nr; i++)
		for (uint32_t n = tree_leaf(t, s->v[i].node); n != NODE_NONE;
		     n = t->nodes.v[n].parent)
			sums[n] += (double)s->v[i].ns;
}

static void tails_of_sample(const struct variance_tree *t, const struct variance_bands *b,
			    double *slow, double *usual, struct variance_answer *a)
{
	vec_each (&t->sample.v, s) {
		if (s->ns >= b->slow_from) {
			add_tail(t, s, slow);
			a->nr_slow++;
		} else if (s->ns >= b->usual_from && s->ns <= b->usual_until) {
			add_tail(t, s, usual);
			a->nr_usual++;
		}
	}
	for (size_t i = 0; i < t->nodes.nr; i++) {
		slow[i] = ratio(slow[i], (double)a->nr_slow);
		usual[i] = ratio(usual[i], (double)a->nr_usual);
	}
}

void tails_bands(const int64_t *sorted, size_t nr, struct variance_bands *b)
{
	b->slow_from = stats_percentile(sorted, nr, 0.99);
	b->usual_from = stats_percentile(sorted, nr, 0.45);
	b->usual_until = stats_percentile(sorted, nr, 0.55);
	/* where the slowest hundredth is as fast as the usual ones, the slowest of all are slow */
	if (b->slow_from <= b->usual_until && nr)
		b->slow_from = sorted[nr - 1];
}

void tails_find(const struct variance_tree *t, double *slow, double *usual,
		struct variance_answer *a)
{
	size_t nr = t->sample.v.nr;
	int64_t *sorted = mem_alloc(mem_bytes(nr + 1, sizeof(*sorted)));
	struct variance_bands b;

	for (size_t i = 0; i < nr; i++)
		sorted[i] = t->sample.v.v[i].ns;
	stats_sort(sorted, nr);
	a->p50 = stats_percentile(sorted, nr, 0.5);
	a->p99 = stats_percentile(sorted, nr, 0.99);
	a->nr_kept = nr;
	if (t->has_bands) {
		a->nr_slow = t->nr_band[BAND_SLOW];
		a->nr_usual = t->nr_band[BAND_USUAL];
		tails_of_bands(t, slow, usual);
	} else {
		tails_bands(sorted, nr, &b);
		tails_of_sample(t, &b, slow, usual, a);
	}
	a->slow_mean = slow[0];
	a->usual_mean = usual[0];
	free(sorted);
}
