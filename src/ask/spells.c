/*
 * Where nearly every piece of work needs all nodes, a slow one makes nearly everything slow, and
 * few pieces are left to compare with: too few to find both when and who at once (ask/peers.h
 * does). When can be told by all pieces together: a stretch of time in which they take longer than
 * in the rest (the largest sum of deviations from the mean, in logarithms, each against the median
 * of its like). That stretch was not chosen by who took part, so it may be tested as if it had been
 * given: pieces with a node against pieces without it, like against like (strata: type of request,
 * how many took part), by one Student's test over all strata. The whole time is a stretch as well.
 *
 * Cost: n log n for each kind of work, n for each label of it.
 */
#include "ask/spells.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"
#include "ask/stretches.h"
#include "base/time.h"

#define LEAST 6           /* pieces, and requests that they are of, on each side */
#define LEAST_SLOWER 1.8  /* with the node, as a factor */
#define ALWAYS_SLOWER 3.0 /* when it was never otherwise: nodes may just differ */
#define LEAST_ALWAYS 30   /* pieces on each side, then */
#define STANDS_OUT 1.5    /* against the rest of the time */
#define MOST_CHANCE 5e-3  /* after correction for all that was looked at */
#define NEAR 6            /* pieces before and after that are a baseline */
#define SELDOM 0.3        /* of the pieces may miss the one who is blamed */
#define SPELLS \
	(1 + 2 * STRETCH_LEVELS) /* all, the slowest of the work itself, and of all requests */

struct piece {
	const struct peer_sample *sample;
	uint32_t group; /* position in the pool's groups */
	double off;     /* logarithm against the median of the group */
};

/* Groups with one kind of work. */
struct pool {
	const struct peers *p;
	const struct peer_group **groups;
	size_t nr_groups;
	struct piece *v; /* in order of time */
	size_t nr;
	double share;                  /* of the time that all kinds of work take */
	double nr_tests;               /* labels and stretches */
	const struct stretch *slow;    /* times in which requests are slow */
	struct arena *arena, *scratch; /* scratch: of one trial */
};

/* One group in the light of one label. */
struct stratum {
	uint64_t bit, others; /* of the group's labels: it, its peers */
	double n[2], sum[2];  /* without, with */
	size_t nr_others;
};

struct trial {
	const struct pool *pool;
	sym_t label;
	struct stratum *strata;
	const struct piece *v;
	size_t nr;
	double n[2];
	double effect, t, freedom;
	size_t main; /* the stratum that tells most */
};

static double logged(int64_t ns, int64_t floor)
{
	return log((double)(ns > 0 ? ns : 0) + (double)floor);
}

static int by_time(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->sample->at != y->sample->at)
		return x->sample->at < y->sample->at ? -1 : 1;
	if (x->sample->request != y->sample->request)
		return x->sample->request < y->sample->request ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static void add_group(struct pool *pool, const struct peer_group *g)
{
	int64_t *ns = arena_array(pool->arena, int64_t, g->v.nr + 1);
	int64_t floor = peers_floor(g), median;
	size_t n = 0;

	vec_each (&g->v, s)
		ns[n++] = s->ns;
	stats_sort(ns, n);
	median = stats_percentile(ns, n, 0.5);
	vec_each (&g->v, s) {
		double off = stretches_capped(logged(s->ns, floor) - logged(median, floor));

		pool->v[pool->nr++] = (struct piece){ s, (uint32_t)pool->nr_groups, off };
	}
	pool->groups[pool->nr_groups++] = g;
}

/* --- one label ------------------------------------------------------------------------------- */

/* 1: with it, 0: without it but with a peer, -1: neither. */
static int side_of(const struct trial *t, const struct piece *x)
{
	const struct stratum *s = &t->strata[x->group];

	if (x->sample->labels & s->bit)
		return 1;
	return x->sample->labels & s->others ? 0 : -1;
}

static void prepare(struct trial *t)
{
	for (size_t i = 0; i < t->pool->nr_groups; i++) {
		const struct peer_group *g = t->pool->groups[i];
		struct stratum *s = &t->strata[i];

		*s = (struct stratum){ 0 };
		for (unsigned k = 0; k < g->nr_labels; k++)
			if (g->labels[k] == t->label) {
				s->bit = (uint64_t)1 << k;
				s->others = peers_of(t->pool->p, g, k);
				s->nr_others = (size_t)__builtin_popcountll(s->others);
			}
	}
}

/* Where the node was not there yet, or no more, it cannot be compared. */
static void keep_life(struct trial *t)
{
	while (t->nr && side_of(t, &t->v[0]) != 1) {
		t->v++;
		t->nr--;
	}
	while (t->nr && side_of(t, &t->v[t->nr - 1]) != 1)
		t->nr--;
}

static bool is_used(const struct stratum *s)
{
	return s->n[0] > 0 && s->n[1] > 0;
}

/* How much longer it takes with the label (logarithm); false where there is nothing to compare. */
static bool compare(struct trial *t)
{
	double weight = 0, most = 0;

	t->n[0] = t->n[1] = t->effect = 0;
	for (size_t i = 0; i < t->pool->nr_groups; i++)
		for (int side = 0; side < 2; side++)
			t->strata[i].n[side] = t->strata[i].sum[side] = 0;
	for (size_t i = 0; i < t->nr; i++) {
		int side = side_of(t, &t->v[i]);

		if (side < 0)
			continue;
		t->strata[t->v[i].group].n[side]++;
		t->strata[t->v[i].group].sum[side] += t->v[i].off;
	}
	for (size_t i = 0; i < t->pool->nr_groups; i++) {
		const struct stratum *s = &t->strata[i];
		double w = is_used(s) ? s->n[0] * s->n[1] / (s->n[0] + s->n[1]) : 0;

		if (w <= 0)
			continue;
		t->effect += w * (s->sum[1] / s->n[1] - s->sum[0] / s->n[0]);
		weight += w;
		t->n[0] += s->n[0];
		t->n[1] += s->n[1];
		if (w > most) {
			most = w;
			t->main = i;
		}
	}
	if (weight <= 0 || t->n[0] < LEAST || t->n[1] < LEAST)
		return false;
	t->effect /= weight;
	t->t = weight;
	return true;
}

/* How sure that is: by how much pieces differ that are alike, neighbours that repeat each other
 * counting for less. */
static void judge(struct trial *t)
{
	double *rest[2], squares = 0, per_one = 1, sd, used = 0;
	size_t nr[2] = { 0, 0 };

	for (int side = 0; side < 2; side++)
		rest[side] = arena_array(t->pool->scratch, double, t->nr + 1);
	for (size_t i = 0; i < t->nr; i++) {
		const struct stratum *s = &t->strata[t->v[i].group];
		int side = side_of(t, &t->v[i]);
		double d;

		if (side < 0 || !is_used(s))
			continue;
		d = t->v[i].off - s->sum[side] / s->n[side];
		rest[side][nr[side]++] = d;
		squares += d * d;
	}
	for (int side = 0; side < 2; side++) {
		struct spread s = stats_spread(rest[side], nr[side]);

		per_one = s.per_one > per_one ? s.per_one : per_one;
	}
	for (size_t i = 0; i < t->pool->nr_groups; i++)
		used += is_used(&t->strata[i]);
	t->freedom = t->n[0] + t->n[1] - 2 * used;
	sd = t->freedom > 0 ? sqrt(squares / t->freedom) : 0;
	sd = sd > STATS_LEAST_SPREAD ? sd : STATS_LEAST_SPREAD;
	t->t = t->effect / sd * sqrt(t->t / per_one);
	t->freedom /= per_one;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t distinct(uint64_t *v, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_number);
	for (size_t i = 0; i < nr; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

/* Pieces of one request are no two witnesses. */
static bool has_witnesses(const struct trial *t)
{
	uint64_t *v = arena_array(t->pool->scratch, uint64_t, t->nr + 1);

	for (int side = 0; side < 2; side++) {
		size_t nr = 0;

		for (size_t i = 0; i < t->nr; i++)
			if (side_of(t, &t->v[i]) == side && is_used(&t->strata[t->v[i].group]))
				v[nr++] = t->v[i].sample->request;
		if (distinct(v, nr) < LEAST && v[0])
			return false;
	}
	return true;
}

/* Who is to blame for what takes long is there all the while. */
static bool is_there(const struct trial *t)
{
	double absent = 0, nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct piece *x = &t->v[i];

		if (side_of(t, x) != 1)
			continue;
		nr++;
		absent += (x->sample->absent & t->strata[x->group].bit) > 0;
	}
	return absent <= SELDOM * nr;
}

static int64_t median_of(const struct trial *t, int side)
{
	int64_t *ns = arena_array(t->pool->scratch, int64_t, t->nr + 1);
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].group == t->main && side_of(t, &t->v[i]) == side)
			ns[nr++] = t->v[i].sample->ns;
	stats_sort(ns, nr);
	return stats_percentile(ns, nr, 0.5);
}

/* What pieces with it take beyond what those without it do on average. */
static void count_loss(const struct trial *t, struct peer_fault *f)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct piece *x = &t->v[i];
		const struct peer_group *g = t->pool->groups[x->group];
		const struct stratum *s = &t->strata[x->group];
		double usual;

		if (side_of(t, x) != 1 || !is_used(s) || x->off <= s->sum[0] / s->n[0])
			continue;
		usual = (double)x->sample->ns * exp(s->sum[0] / s->n[0] - x->off);
		f->lost += ((double)x->sample->ns - usual) * (double)g->seen / (double)g->v.nr;
		peer_request_add(f, x->sample->request, x->sample->ns - (int64_t)usual);
	}
	peer_requests_sort(f);
}

/* How much longer it takes with the label in the rest of the time. */
static double effect_outside(const struct trial *in, size_t first, size_t nr)
{
	struct trial t = *in;
	struct piece *v = arena_array(in->pool->scratch, struct piece, in->pool->nr - nr + 1);
	double effect;

	t.nr = 0;
	for (size_t i = 0; i < in->pool->nr; i++)
		if (i < first || i >= first + nr)
			v[t.nr++] = in->pool->v[i];
	t.v = v;
	effect = compare(&t) && t.effect > 0 ? t.effect : 0;
	t = *in;
	compare(&t); /* the strata are shared */
	return effect;
}

/* How far a piece is above the mean of those in its stratum that do without the label. */
static double beyond(const struct trial *t, size_t i)
{
	const struct stratum *s = &t->strata[t->v[i].group];

	return t->v[i].off - s->sum[0] / s->n[0];
}

/* The pieces without the label, in order of time, and their sums up to each. */
struct baseline {
	size_t *at; /* positions in the trial's pieces */
	double *sum;
	size_t nr;
};

static struct baseline baseline_of(const struct trial *t)
{
	struct baseline b = { arena_array(t->pool->scratch, size_t, t->nr + 1),
			      arena_array(t->pool->scratch, double, t->nr + 1), 0 };

	for (size_t i = 0; i < t->nr; i++) {
		if (side_of(t, &t->v[i]) || !is_used(&t->strata[t->v[i].group]))
			continue;
		b.at[b.nr] = i;
		b.sum[b.nr + 1] = b.sum[b.nr] + beyond(t, i);
		b.nr++;
	}
	return b;
}

/* All of the work told when; the pieces with the label, each against those without it near in time,
 * tell it better once it is known who. */
static void trim(const struct trial *t, struct peer_fault *f)
{
	struct baseline b = baseline_of(t);
	double sum = 0, best = 0;
	size_t begin = 0, first = 0, last = t->nr - 1, near = 0;

	for (size_t i = 0; i < t->nr; i++) {
		size_t from, until;

		while (near < b.nr && b.at[near] < i)
			near++;
		if (side_of(t, &t->v[i]) != 1 || !is_used(&t->strata[t->v[i].group]))
			continue;
		from = near > NEAR ? near - NEAR : 0;
		until = near + NEAR < b.nr ? near + NEAR : b.nr;
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += beyond(t, i) - (b.sum[until] - b.sum[from]) / (double)(until - from) -
		       t->effect / 2;
		if (sum > best) {
			best = sum;
			first = begin;
			last = i;
		}
	}
	f->from_first &= first < NEAR;
	f->to_last &= last + NEAR >= t->nr;
	f->begin = t->v[first].sample->at;
	f->end = t->v[last].sample->at;
}

/* How many pieces begin before a moment. */
static size_t place(const struct pool *pool, int64_t at)
{
	size_t low = 0, high = pool->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (pool->v[mid].sample->at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool try_stretch(const struct pool *pool, sym_t label, const struct stretch *at,
			struct peer_fault *f, double *clear)
{
	struct trial t = { .pool = pool, .label = label };
	size_t first = place(pool, at->begin), nr;
	bool always;
	double chance;

	nr = at->end >= at->begin ? place(pool, length_after(at->end, 1)) - first : 0;
	always = nr == pool->nr;
	t.v = pool->v + first;
	t.nr = nr;

	arena_reset(pool->scratch);
	t.strata = arena_array(pool->scratch, struct stratum, pool->nr_groups);
	prepare(&t);
	keep_life(&t);
	if (!compare(&t) || t.effect < log(always ? ALWAYS_SLOWER : LEAST_SLOWER) ||
	    (always && (t.n[0] < LEAST_ALWAYS || t.n[1] < LEAST_ALWAYS)) ||
	    (!always && t.effect - effect_outside(&t, first, nr) < log(STANDS_OUT)))
		return false;
	judge(&t);
	chance = stats_student_tail(t.t, t.freedom - 1) * pool->nr_tests / pool->share;
	if (chance > MOST_CHANCE || !is_there(&t) || !has_witnesses(&t))
		return false;
	*f = (struct peer_fault){ .label = label,
				  .group = (uint32_t)(pool->groups[t.main] - pool->p->v.v),
				  .begin = t.v[0].sample->at,
				  .end = t.v[t.nr - 1].sample->at,
				  .from_first = !first,
				  .to_last = first + nr == pool->nr,
				  .nr = (size_t)t.n[1],
				  .nr_peers = (uint64_t)t.n[0],
				  .took = median_of(&t, 1),
				  .usual = median_of(&t, 0) };
	f->confidence = (1 - chance) * (1 - 1 / (1 + fmin(t.n[0], t.n[1])));
	trim(&t, f);
	if (f->took - f->usual < 2 * peers_floor(pool->groups[t.main]) ||
	    (double)f->took < LEAST_SLOWER * (double)f->usual)
		return false;
	count_loss(&t, f);
	*clear = t.t;
	return true;
}

/* --- all of them ----------------------------------------------------------------------------- */

static void choose_stretches(const struct pool *pool, struct stretch *v)
{
	struct moment *all = arena_array(pool->arena, struct moment, pool->nr);

	for (size_t i = 0; i < pool->nr; i++)
		all[i] = (struct moment){ pool->v[i].sample->at, pool->v[i].off };
	v[0] = (struct stretch){ all[0].at, all[pool->nr - 1].at };
	stretches_find(all, pool->nr, v + 1);
	for (int k = 0; k < STRETCH_LEVELS; k++)
		v[1 + STRETCH_LEVELS + k] = pool->slow[k];
}

static unsigned labels_of(const struct pool *pool, sym_t *labels)
{
	unsigned nr = 0;

	for (size_t i = 0; i < pool->nr_groups; i++)
		for (unsigned k = 0; k < pool->groups[i]->nr_labels; k++) {
			unsigned at = 0;

			while (at < nr && labels[at] != pool->groups[i]->labels[k])
				at++;
			if (at == nr && nr < PEERS_LABELS)
				labels[nr++] = pool->groups[i]->labels[k];
		}
	return nr;
}

/* Of the stretches in which a label stands out, the one where it does so most clearly. */
static void try_pool(struct pool *pool, struct peer_faults *out)
{
	struct stretch stretches[SPELLS];
	sym_t labels[PEERS_LABELS];
	unsigned nr = labels_of(pool, labels);

	pool->nr_tests = nr * SPELLS;
	choose_stretches(pool, stretches);
	for (unsigned i = 0; i < nr; i++) {
		struct peer_fault best = { .nr = 0 };
		double clearest = 0, t;

		for (int k = 0; k < SPELLS; k++) {
			struct peer_fault f = { .nr = 0 };

			if (!try_stretch(pool, labels[i], &stretches[k], &f, &t) || t <= clearest) {
				vec_done(&f.requests);
				continue;
			}
			vec_done(&best.requests);
			best = f;
			clearest = t;
		}
		if (clearest > 0)
			vec_push(&out->v, best);
	}
}

/* Single steps and those done together are told apart: the latter are made of the former. */
static int by_kind(const void *a, const void *b)
{
	const struct peer_group *x = *(const struct peer_group *const *)a;
	const struct peer_group *y = *(const struct peer_group *const *)b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if ((x->size > 1) != (y->size > 1))
		return x->size > 1 ? 1 : -1;
	return (x > y) - (x < y);
}

static bool same_kind(const struct peer_group *x, const struct peer_group *y)
{
	return x->name == y->name && (x->size > 1) == (y->size > 1);
}

static int largest_first(const void *a, const void *b)
{
	const struct peer_fault *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost > y->lost ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->label > y->label) - (x->label < y->label);
}

static bool is_comparable(const struct peer_group *g)
{
	return g->nr_labels > 1 && g->v.nr > 1;
}

/* What the pieces of groups took together. */
static double time_of(const struct peer_group **groups, size_t nr)
{
	double ns = 0;

	for (size_t i = 0; i < nr; i++)
		vec_each (&groups[i]->v, s)
			ns += (double)s->ns;
	return ns;
}

void spells_find(const struct peers *p, const struct types *types, struct peer_faults *out)
{
	struct arena all = { 0 }, one = { 0 }, scratch = { 0 };
	const struct peer_group **groups =
		arena_array(&all, const struct peer_group *, p->v.nr + 1);
	size_t nr = 0;
	struct stretch slow[STRETCH_LEVELS];
	double all_ns;

	stretches_of_requests(types, slow);
	vec_each (&p->v, g)
		if (is_comparable(g))
			groups[nr++] = g;
	if (nr)
		qsort(groups, nr, sizeof(*groups), by_kind);
	all_ns = time_of(groups, nr);
	for (size_t i = 0, j; i < nr; i = j) {
		struct pool pool = { .p = p, .slow = slow, .arena = &one, .scratch = &scratch };
		size_t samples = 0;

		for (j = i; j < nr && same_kind(groups[i], groups[j]); j++)
			samples += groups[j]->v.nr;
		pool.share = time_of(groups + i, j - i) / all_ns;
		if (samples < 2 * LEAST || pool.share <= 0)
			continue;
		arena_reset(&one);
		pool.v = arena_array(&one, struct piece, samples);
		pool.groups = arena_array(&one, const struct peer_group *, j - i);
		for (size_t k = i; k < j; k++)
			add_group(&pool, groups[k]);
		qsort(pool.v, pool.nr, sizeof(*pool.v), by_time);
		try_pool(&pool, out);
	}
	arena_done(&scratch);
	arena_done(&one);
	arena_done(&all);
	if (out->v.nr)
		qsort(out->v.v, out->v.nr, sizeof(*out->v.v), largest_first);
}
