/*
 * Lines 21 to 26 of Figure 6 of the black-boxes paper: the messages that a spike stands for. The
 * paper takes every message that is the delay, give or take v, after some cause. That counts
 * accidents twice over when traffic is dense, so here each cause and each effect is used once, the
 * pairs nearest to the mean delay first; the mean is found by doing so twice. What a pair's
 * confidence says is how much of the density of delays it holds among all pairs that its cause or
 * its effect could have been in.
 *
 * Whether there is anything to pair is asked first, of the messages that are still free: a window
 * must hold clearly more pairs than those of the same width before and after it. No more pairs are
 * made than that.
 *
 * O(P) for P pairs within the window, of which one cause has at most CANDIDATES.
 */
#include "infer/convolve/match.h"

#include <math.h>
#include <stdlib.h>

#define CANDIDATES 64
#define PAIRS_MOST ((size_t)1 << 25) /* a gigabyte: with more causes, each has fewer candidates */
#define ROUNDS 2
#define STEPS ((uint32_t)1 << 16) /* of distances that are told apart */
#define CORE 5.0                  /* deviations of the delays that belong together */
#define BUSY 3.0 /* deviations that a cause which has an effect already is put behind */
/* The share of a pair's rivals that have no better pair of their own. Set by hand on generated
 * traces of the kind that it is tested with: no held-out check was made. */
#define UNSETTLED 0.45
#define BINS 32
#define BESIDE 4 /* windows on each side that tell the noise */

struct pair {
	uint32_t cause, effect; /* positions: among the causes, and within the route */
	double delay, off;      /* ns, and how far from the mean */
	bool is_busy;           /* the cause has an effect already */
};

void matcher_done(struct matcher *m)
{
	vec_done(&m->v);
	vec_done(&m->order);
	vec_done(&m->chosen);
	vec_done(&m->counts);
	vec_done(&m->delays);
	vec_done(&m->free_ns);
	vec_done(&m->cause_weight);
	vec_done(&m->effect_weight);
	vec_done(&m->cause_used);
	vec_done(&m->effect_used);
	free(m->pairs);
	*m = (struct matcher){ 0 };
}

static void push_pair(struct matcher *m, struct pair p)
{
	if (m->nr_pairs == m->room) {
		m->room = m->room ? 2 * m->room : 1024;
		m->pairs = mem_realloc(m->pairs, mem_bytes(m->room, sizeof(*m->pairs)));
	}
	m->pairs[m->nr_pairs++] = p;
}

static void find_pairs(struct matcher *m, const struct traffic *t, const uint32_t *causes,
		       size_t nr_causes, const struct route *to, struct delay_window w)
{
	const struct sent *effects = &t->v.v[to->first];
	size_t most = nr_causes ? PAIRS_MOST / nr_causes : 0;
	uint32_t low = 0;

	most = most < CANDIDATES ? most + 1 : CANDIDATES;

	m->nr_pairs = 0;
	for (uint32_t c = 0; c < nr_causes; c++) {
		int64_t ns = t->v.v[causes[c]].ns;
		unsigned nr = 0;

		while (low < to->nr && (double)effects[low].ns - (double)ns < (double)w.low)
			low++;
		for (uint32_t e = low; e < to->nr && nr < most; e++) {
			double delay = (double)effects[e].ns - (double)ns;

			if (delay > (double)w.high)
				break;
			if (effects[e].placed)
				continue;
			push_pair(m, (struct pair){ c, e, delay, 0, t->v.v[causes[c]].is_cause });
			nr++;
		}
	}
}

/* The delay around which the pairs are densest. */
static double mode_of(const struct matcher *m, struct delay_window w)
{
	double width = ((double)w.high - (double)w.low + 1) / BINS, high = 0, mode = 0;
	double count[BINS + 2] = { 0 };

	for (size_t i = 0; i < m->nr_pairs; i++) {
		size_t bin = (size_t)((m->pairs[i].delay - (double)w.low) / width);

		count[1 + (bin < BINS ? bin : BINS - 1)]++;
	}
	for (int i = 1; i <= BINS; i++) {
		double here = count[i - 1] + 2 * count[i] + count[i + 1];

		if (here > high) {
			high = here;
			mode = (double)w.low + width * (i - 0.5);
		}
	}
	return mode;
}

/*
 * Puts the pairs in order of their distance from the mean. A step of the distance is a STEPS-th of
 * the largest, and pairs within one step keep the order of their causes: so one round of counting
 * does, where comparing would take most of the time of the whole algorithm.
 */
static void order_pairs(struct matcher *m)
{
	uint32_t nr_steps = m->nr_pairs < STEPS ? (uint32_t)m->nr_pairs + 1 : STEPS, sum = 0;
	double most = 1, scale;

	for (size_t i = 0; i < m->nr_pairs; i++)
		most = fmax(most, m->pairs[i].off);
	scale = (nr_steps - 1) / most;
	vec_reserve(&m->counts, nr_steps + 1);
	memset(m->counts.v, 0, (nr_steps + 1) * sizeof(*m->counts.v));
	for (size_t i = 0; i < m->nr_pairs; i++)
		m->counts.v[(uint32_t)(m->pairs[i].off * scale) + 1]++;
	for (uint32_t i = 0; i <= nr_steps; i++)
		sum = m->counts.v[i] += sum;
	vec_reserve(&m->order, m->nr_pairs + 1);
	for (uint32_t i = 0; i < m->nr_pairs; i++)
		m->order.v[m->counts.v[(uint32_t)(m->pairs[i].off * scale)]++] = i;
}

static void clear_used(struct matcher *m, size_t nr_causes, size_t nr_effects)
{
	vec_reserve(&m->cause_used, nr_causes + 1);
	vec_reserve(&m->effect_used, nr_effects + 1);
	memset(m->cause_used.v, 0, nr_causes + 1);
	memset(m->effect_used.v, 0, nr_effects + 1);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* By the median and the median distance from it, so that accidents at the borders do not count. */
static void find_core(struct matcher *m)
{
	size_t nr = m->chosen.nr;
	double median, sigma;

	vec_clear(&m->delays);
	vec_each (&m->chosen, i)
		vec_push(&m->delays, m->pairs[*i].delay);
	qsort(m->delays.v, nr, sizeof(double), by_size);
	median = m->delays.v[nr / 2];
	for (size_t i = 0; i < nr; i++)
		m->delays.v[i] = fabs(m->delays.v[i] - median);
	qsort(m->delays.v, nr, sizeof(double), by_size);
	sigma = 1.4826 * m->delays.v[nr / 2] + 1;
	m->core.low = (int64_t)fmax(median - CORE * sigma, 0);
	m->core.high = (int64_t)(median + CORE * sigma);
}

/* The pairs nearest to the mean first. */
static void choose(struct matcher *m, size_t nr_causes, size_t nr_effects, size_t most, double busy)
{
	double sum = 0, squares = 0, nr;

	for (size_t i = 0; i < m->nr_pairs; i++)
		m->pairs[i].off = fabs(m->pairs[i].delay - m->mean) +
				  (m->pairs[i].is_busy ? busy * m->spread : 0);
	order_pairs(m);
	clear_used(m, nr_causes, nr_effects);
	vec_clear(&m->chosen);
	for (size_t i = 0; i < m->nr_pairs && m->chosen.nr < most; i++) {
		const struct pair *p = &m->pairs[m->order.v[i]];

		if (m->cause_used.v[p->cause] || m->effect_used.v[p->effect])
			continue;
		m->cause_used.v[p->cause] = m->effect_used.v[p->effect] = 1;
		vec_push(&m->chosen, m->order.v[i]);
		sum += p->delay;
		squares += p->delay * p->delay;
	}
	if (!m->chosen.nr)
		return;
	nr = (double)m->chosen.nr;
	m->mean = sum / nr;
	m->spread = sqrt(fmax(squares / nr - m->mean * m->mean, 0));
}

static double weight(const struct matcher *m, const struct pair *p)
{
	double off = (p->delay - m->mean) / (m->spread + 1);

	return exp(-0.5 * off * off) + 1e-9;
}

static void weigh(struct matcher *m, size_t nr_causes, size_t nr_effects)
{
	vec_reserve(&m->cause_weight, nr_causes + 1);
	vec_reserve(&m->effect_weight, nr_effects + 1);
	memset(m->cause_weight.v, 0, (nr_causes + 1) * sizeof(double));
	memset(m->effect_weight.v, 0, (nr_effects + 1) * sizeof(double));
	for (size_t i = 0; i < m->nr_pairs; i++) {
		double w = weight(m, &m->pairs[i]);

		m->cause_weight.v[m->pairs[i].cause] += w;
		m->effect_weight.v[m->pairs[i].effect] += w;
	}
}

static int by_cause(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	return x->cause < y->cause ? -1 : x->cause > y->cause;
}

/* --- evidence --------------------------------------------------------------------------------- */

/* How many pairs there are with a delay less than so long. */
static double pairs_below(const struct matcher *m, const struct traffic *t, const uint32_t *causes,
			  size_t nr_causes, double delay)
{
	double nr = 0;
	size_t e = 0;

	for (size_t c = 0; c < nr_causes; c++) {
		double until = (double)t->v.v[causes[c]].ns + delay;

		while (e < m->free_ns.nr && (double)m->free_ns.v[e] < until)
			e++;
		nr += (double)e;
	}
	return nr;
}

struct evidence matcher_weigh(struct matcher *m, const struct traffic *t, const uint32_t *causes,
			      size_t nr_causes, const struct route *to, struct delay_window w)
{
	double width = (double)w.high - (double)w.low + 1, beside[2 * BESIDE];
	struct evidence got = { 0 };

	vec_clear(&m->free_ns);
	for (uint32_t i = to->first; i < to->first + to->nr; i++)
		if (!t->v.v[i].placed)
			vec_push(&m->free_ns, t->v.v[i].ns);
	got.pairs = pairs_below(m, t, causes, nr_causes, (double)w.high + 1) -
		    pairs_below(m, t, causes, nr_causes, (double)w.low);
	for (int side = 0; side < 2; side++) {
		/* half a width is left for what a spike has beyond its window */
		double at = side ? (double)w.high + 1 + width / 2 : (double)w.low - width / 2;
		double before = pairs_below(m, t, causes, nr_causes, at);

		for (int i = 0; i < BESIDE; i++) {
			double here;

			at += side ? width : -width;
			here = pairs_below(m, t, causes, nr_causes, at);
			beside[side * BESIDE + i] = fabs(here - before);
			before = here;
		}
	}
	qsort(beside, 2 * BESIDE, sizeof(*beside), by_size);
	got.noise = (beside[BESIDE - 1] + beside[BESIDE]) / 2;
	got.sigmas = (got.pairs - got.noise) / sqrt(fmax(got.noise, 1));
	return got;
}

void matcher_run(struct matcher *m, const struct traffic *t, const uint32_t *causes,
		 size_t nr_causes, const struct route *to, struct delay_window window, size_t most,
		 bool idle_first)
{
	vec_clear(&m->v);
	m->spread = 0;
	find_pairs(m, t, causes, nr_causes, to, window);
	m->mean = mode_of(m, window);
	for (int i = 0; i < ROUNDS; i++)
		choose(m, nr_causes, to->nr, most, idle_first ? BUSY : 0);
	if (!m->chosen.nr)
		return;
	find_core(m);
	weigh(m, nr_causes, to->nr);
	vec_each (&m->chosen, i) {
		const struct pair *p = &m->pairs[*i];
		double own = weight(m, p);
		double all = fmax(m->cause_weight.v[p->cause], m->effect_weight.v[p->effect]);

		/* the position of the cause until all are found: the order to come back in */
		vec_push(&m->v, (struct match){ p->cause, to->first + p->effect,
						(float)(own / (own + UNSETTLED * (all - own))) });
	}
	qsort(m->v.v, m->v.nr, sizeof(*m->v.v), by_cause);
	vec_each (&m->v, x)
		x->cause = causes[x->cause];
}
