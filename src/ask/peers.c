/*
 * For each kind of work and each label: every sample that bears the label is compared with the
 * median of those samples near in time that do not (so that load which slows all of them down says
 * nothing), in logarithms. The stretch of time in which it stays above most is the candidate
 * (largest sum of consecutive values). It counts when its mean deviates beyond chance (work that
 * waits in one queue is slow together, so neighbours that repeat each other count for less; and
 * every label, kind and stretch that was looked at is corrected for), when one with the label takes
 * longer than one without nearly always, and by a good factor.
 *
 * Cost: n log n for each group and label.
 */
#include "ask/peers.h"

#include <math.h>
#include <stdlib.h>

#include "ask/alike.h"
#include "ask/stats.h"
#include "base/time.h"

#define KEPT 4096           /* samples of a group */
#define KEPT_ALL (1u << 21) /* samples of all groups, before further groups are refused */
#define LEAST 6             /* samples on each side */
#define NEAR 8              /* samples before and after that are a baseline */
#define SLOWER 1.4          /* a stretch goes on while samples are slower by this factor */
#define LEAST_SLOWER 1.8    /* and counts when their median is by this one */
#define LONE_SLOWER 3.0     /* all the time, against a single peer: they may just differ */
#define LEAST_REQUESTS 4    /* that they are of, on each side */
#define LEAST_RANK 0.75     /* chance that a sample with the label takes longer than one without */
#define MOST_CHANCE 1e-3    /* after correction */
#define LEAST_ALWAYS 30     /* samples on each side, of teams that never were otherwise */
#define OUTSIDE_TIMES 2     /* as much outside a stretch as inside is most of the time */
#define SELDOM 0.3          /* of the samples may miss the one who is blamed */
#define LEAST_SPREAD STATS_LEAST_SPREAD
#define CAP 1.5       /* of a logarithm: one giant does not decide */
#define SAME_WORK 0.6 /* nodes that share so much of their work are replicas */
#define LEAST_SHARED 3

void peers_done(struct peers *p)
{
	vec_each (&p->v, g)
		vec_done(&g->v);
	vec_done(&p->v);
	names_done(&p->names);
	names_done(&p->keys);
	names_done(&p->labels);
	buf_done(&p->key);
}

sym_t peers_label(struct peers *p, struct str label)
{
	return names_add(&p->labels, label);
}

static struct peer_group *group_of(struct peers *p, const struct peer_work *w)
{
	sym_t key;

	buf_clear(&p->key);
	buf_varint(&p->key, w->type);
	buf_varint(&p->key, w->size);
	buf_varint(&p->key, w->shape);
	buf_add(&p->key, w->name);
	key = names_find(&p->keys, buf_str(&p->key));
	if (!key) {
		if (p->nr_samples >= KEPT_ALL)
			return NULL;
		key = names_add(&p->keys, buf_str(&p->key));
		vec_push(&p->v, (struct peer_group){ .type = w->type,
						     .size = w->size,
						     .name = names_add(&p->names, w->name) });
	}
	return &p->v.v[key - 1];
}

static bool bit_of(struct peer_group *g, sym_t label, uint64_t *bit)
{
	unsigned i = 0;

	while (i < g->nr_labels && g->labels[i] != label)
		i++;
	if (i == PEERS_LABELS)
		return false;
	if (i == g->nr_labels)
		g->labels[g->nr_labels++] = label;
	*bit = (uint64_t)1 << i;
	return true;
}

void peers_add(struct peers *p, const struct peer_work *w, const sym_t *labels, unsigned nr,
	       const struct peer_sample *sample)
{
	struct peer_group *g = group_of(p, w);
	struct peer_sample s = *sample;
	struct dice dice;

	if (!g) {
		p->nr_left_out++;
		return;
	}
	s.labels = s.absent = 0;
	for (unsigned i = 0; i < nr; i++) {
		uint64_t bit;

		if (!bit_of(g, labels[i], &bit))
			return;
		s.labels |= bit;
		if (sample->absent >> i & 1)
			s.absent |= bit;
	}
	g->seen++;
	if (g->v.nr < KEPT) {
		vec_push(&g->v, s);
		p->nr_samples++;
		return;
	}
	dice = (struct dice){ g->seen };
	if (dice_below(&dice, g->seen) < KEPT)
		g->v.v[dice_below(&dice, KEPT)] = s;
}

/* --- who is a peer of whom ------------------------------------------------------------------ */

/* The kinds of work that a label was seen with, as bits of a hash: enough to compare. */
static void profile(const struct peers *p, sym_t label, uint64_t *bits)
{
	*bits = 0;
	vec_each (&p->v, g)
		for (unsigned i = 0; i < g->nr_labels && g->size == 1; i++)
			if (g->labels[i] == label)
				*bits |= (uint64_t)1 << (g->name * 0x9e3779b1u >> 26);
}

static bool are_peers(const struct peers *p, sym_t a, sym_t b)
{
	uint64_t x, y;

	if (alike_names(names_str(&p->labels, a), names_str(&p->labels, b)))
		return true;
	profile(p, a, &x);
	profile(p, b, &y);
	return __builtin_popcountll(x & y) >= LEAST_SHARED &&
	       __builtin_popcountll(x & y) >= SAME_WORK * __builtin_popcountll(x | y);
}

uint64_t peers_of(const struct peers *p, const struct peer_group *g, unsigned label)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < g->nr_labels; i++)
		if (i != label && are_peers(p, g->labels[label], g->labels[i]))
			bits |= (uint64_t)1 << i;
	return bits;
}

/* --- one label against its peers ------------------------------------------------------------ */

struct side {
	const struct peer_sample **v; /* in order of time */
	size_t nr;
};

struct trial {
	const struct peers *p;
	struct peer_group *g;
	unsigned label;
	struct side with, without;
	double *off;        /* of each with: how far it is off, as a logarithm */
	int64_t floor;      /* how finely time was told: nothing less is a difference */
	unsigned nr_others; /* peers */
	double tests;
	struct arena *arena;
};

static double logged(const struct trial *t, int64_t ns)
{
	return log((double)(ns > 0 ? ns : 0) + (double)t->floor);
}

static double capped(double d)
{
	return d > CAP ? CAP : d < -CAP ? -CAP : d;
}

static int64_t median_of(const struct peer_sample **v, size_t nr, int64_t *scratch)
{
	for (size_t i = 0; i < nr; i++)
		scratch[i] = v[i]->ns;
	stats_sort(scratch, nr);
	return stats_percentile(scratch, nr, 0.5);
}

/* Where in the samples of others a moment falls. */
static size_t place(const struct side *s, int64_t at)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid]->at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void near_range(const struct side *s, int64_t from, int64_t until, size_t *first, size_t *nr)
{
	size_t a = place(s, from), b = place(s, until);

	a = a > NEAR ? a - NEAR : 0;
	b = b + NEAR < s->nr ? b + NEAR : s->nr;
	*first = a;
	*nr = b - a;
}

/* The stretch of samples with the label that stays above its surroundings most. */
static bool find_stretch(const struct trial *t, size_t *first, size_t *nr)
{
	double best = 0, sum = 0;
	int64_t near[2 * NEAR + 1];
	size_t begin = 0;

	*nr = 0;
	for (size_t i = 0; i < t->with.nr; i++) {
		const struct peer_sample *s = t->with.v[i];
		size_t from, len;
		double d;

		near_range(&t->without, s->at, s->at, &from, &len);
		d = logged(t, s->ns) - logged(t, median_of(t->without.v + from, len, near));
		d = capped(d);
		t->off[i] = d;
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += d - log(SLOWER);
		if (sum > best) {
			best = sum;
			*first = begin;
			*nr = i + 1 - begin;
		}
	}
	return *nr >= LEAST;
}

/* How far the samples of peers lie around their median. */
static double spread_of_peers(const struct trial *t, size_t first, size_t nr, int64_t median)
{
	double *d = arena_array(t->arena, double, nr + 1);

	for (size_t i = 0; i < nr; i++)
		d[i] = capped(logged(t, t->without.v[first + i]->ns) - logged(t, median));
	return stats_spread(d, nr).sd;
}

/* The chance that a stretch deviates so much, by how much deviations differ inside, outside and
 * among the peers (peers_sd). */
static double chance_of(const struct trial *t, const struct peer_fault *f, double peers_sd)
{
	struct spread in = stats_spread(t->off + f->first, f->nr), out = { 0, 0, 1 };
	size_t rest = t->with.nr - f->nr;
	double *others = arena_array(t->arena, double, rest + 1);
	double sd, per_one, base, worth;

	for (size_t i = 0, n = 0; i < t->with.nr; i++)
		if (i < f->first || i >= f->first + f->nr)
			others[n++] = t->off[i];
	if (rest >= LEAST)
		out = stats_spread(others, rest);
	sd = in.sd > out.sd ? in.sd : out.sd;
	sd = sd > peers_sd ? sd : peers_sd;
	sd = sd > LEAST_SPREAD ? sd : LEAST_SPREAD;
	/* inside, what is looked for repeats itself; outside, if that is most, is how it is without
	 */
	per_one = rest >= OUTSIDE_TIMES * f->nr || out.per_one > in.per_one ? out.per_one
									    : in.per_one;
	/* what the node always takes longer is not what makes the stretch stand out */
	base = rest > f->nr && out.mean > 0 ? out.mean : 0;
	worth = (double)f->nr / per_one;
	return stats_student_tail((in.mean - base) / sd * sqrt(worth), worth - 1);
}

struct ranked {
	int64_t ns;
	bool with;
};

static int by_ns(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The chance that one of the first takes longer than one of the second. */
static double longer(const struct peer_sample **a, size_t n, const struct peer_sample **b, size_t m,
		     struct arena *arena)
{
	struct ranked *all = arena_array(arena, struct ranked, n + m);
	double sum = 0, nn = (double)n, mm = (double)m;

	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){ a[i]->ns, true };
	for (size_t i = 0; i < m; i++)
		all[n + i] = (struct ranked){ b[i]->ns, false };
	qsort(all, n + m, sizeof(*all), by_ns);
	for (size_t i = 0, j; i < n + m; i = j) {
		double in = 0;

		for (j = i; j < n + m && all[j].ns == all[i].ns; j++)
			in += all[j].with;
		sum += in * ((double)i + ((double)(j - i) + 1) / 2);
	}
	return (sum - nn * (nn + 1) / 2) / (nn * mm);
}

static bool is_far(const struct trial *t, const struct peer_fault *f)
{
	double factor =
		((double)f->took + (double)t->floor) / ((double)f->usual + (double)t->floor);
	/* not seen otherwise, and a single peer or teams only: they may just differ */
	bool lone = f->from_first &&
		    (t->nr_others < 2 || (f->to_last && (t->g->size > 1 || !t->g->name)));

	if (f->took - f->usual < 2 * t->floor)
		return false;
	if (lone && (f->nr < LEAST_ALWAYS || f->nr_peers < LEAST_ALWAYS))
		return false;
	return factor >= (lone ? LONE_SLOWER : LEAST_SLOWER);
}

/* Pieces of one request are no two witnesses: of how many they are, if that is known. */
static bool has_witnesses(const struct peer_sample **v, size_t nr)
{
	struct peer_fault f = { .nr = 0 };
	bool enough;

	for (size_t i = 0; i < nr; i++)
		vec_push(&f.requests, v[i]->request);
	peer_requests_sort(&f);
	enough = f.requests.nr >= LEAST_REQUESTS || !f.requests.v[0];
	vec_done(&f.requests);
	return enough;
}

/* Who is to blame for what takes long is there all the while. */
static bool is_there(const struct trial *t, const struct peer_fault *f)
{
	size_t absent = 0;

	for (size_t i = f->first; i < f->first + f->nr; i++)
		absent += t->with.v[i]->absent >> t->label & 1;
	return (double)absent <= SELDOM * (double)f->nr;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void peer_requests_sort(struct peer_fault *f)
{
	size_t kept = 0;

	if (f->requests.nr)
		qsort(f->requests.v, f->requests.nr, sizeof(*f->requests.v), by_number);
	for (size_t i = 0; i < f->requests.nr; i++)
		if (!kept || f->requests.v[kept - 1] != f->requests.v[i])
			f->requests.v[kept++] = f->requests.v[i];
	f->requests.nr = kept;
}

void peer_witness_add(struct peer_fault *f, uint64_t request, int64_t ns)
{
	struct peer_witness one = { request, ns };

	for (size_t i = 0; i < PEERS_WITNESSES; i++) {
		struct peer_witness was = f->worst[i];

		if (was.request && was.ns >= one.ns) {
			if (was.request == request)
				return;
			continue;
		}
		f->worst[i] = one;
		if (!was.request || was.request == request)
			return;
		one = was;
	}
}

void peer_request_add(struct peer_fault *f, uint64_t request, int64_t ns)
{
	if (!request)
		return;
	vec_push(&f->requests, request);
	peer_witness_add(f, request, ns);
}

static void note_requests(const struct trial *t, struct peer_fault *f)
{
	for (size_t i = f->first; i < f->first + f->nr; i++) {
		const struct peer_sample *s = t->with.v[i];

		if (s->ns <= f->usual)
			continue;
		f->lost += (double)(s->ns - f->usual);
		peer_request_add(f, s->request, s->ns - f->usual);
	}
	f->lost *= (double)t->g->seen / (double)t->g->v.nr;
	peer_requests_sort(f);
}

static bool try_label(const struct trial *t, struct peer_fault *f)
{
	int64_t *scratch = arena_array(t->arena, int64_t, t->with.nr + t->without.nr);
	double chance;
	size_t first, nr;

	if (!find_stretch(t, &f->first, &f->nr))
		return false;
	f->from_first = f->first == 0;
	f->to_last = f->first + f->nr == t->with.nr;
	f->begin = t->with.v[f->first]->at;
	f->end = t->with.v[f->first + f->nr - 1]->at;
	near_range(&t->without, f->begin, f->end, &first, &nr);
	if (nr < LEAST)
		return false;
	f->nr_peers = nr;
	f->took = median_of(t->with.v + f->first, f->nr, scratch);
	f->usual = median_of(t->without.v + first, nr, scratch);
	if (!is_far(t, f) || !is_there(t, f) || !has_witnesses(t->with.v + f->first, f->nr) ||
	    !has_witnesses(t->without.v + first, nr) ||
	    longer(t->with.v + f->first, f->nr, t->without.v + first, nr, t->arena) < LEAST_RANK)
		return false;
	/* every stretch of that length was looked at, and every label of every group */
	chance = chance_of(t, f, spread_of_peers(t, first, nr, f->usual)) * t->tests * 2 *
		 (double)t->with.nr / (double)f->nr;
	if (chance > MOST_CHANCE)
		return false;
	/* few samples prove little, however far apart they are */
	f->confidence = (1 - chance) * (1 - 1 / (1 + (double)(f->nr < nr ? f->nr : nr)));
	f->label = t->g->labels[t->label];
	note_requests(t, f);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct peer_sample *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->request != y->request)
		return x->request < y->request ? -1 : 1;
	return (x->labels > y->labels) - (x->labels < y->labels);
}

static void split(struct trial *t, uint64_t others)
{
	uint64_t bit = (uint64_t)1 << t->label;

	t->with = (struct side){ arena_array(t->arena, const struct peer_sample *, t->g->v.nr), 0 };
	t->off = arena_array(t->arena, double, t->g->v.nr);
	t->without =
		(struct side){ arena_array(t->arena, const struct peer_sample *, t->g->v.nr), 0 };
	vec_each (&t->g->v, s) {
		if (s->labels & bit)
			t->with.v[t->with.nr++] = s;
		else if (s->labels & others)
			t->without.v[t->without.nr++] = s;
	}
}

/* Times in a log are told by the millisecond: such a step is no difference. */
int64_t peers_floor(const struct peer_group *g)
{
	int64_t floor = NS_MS;

	vec_each (&g->v, s)
		while (floor > 1 && (s->ns % floor || s->at % floor))
			floor = floor > NS_US ? NS_US : 1;
	return floor > NS_US ? floor : NS_US;
}

static void find_in_group(struct peers *p, uint32_t group, double tests, struct peer_faults *out)
{
	struct peer_group *g = &p->v.v[group];
	struct arena arena = { 0 };
	struct trial t = { .p = p, .g = g, .tests = tests, .arena = &arena };

	qsort(g->v.v, g->v.nr, sizeof(*g->v.v), by_time);
	t.floor = peers_floor(g);
	for (t.label = 0; t.label < g->nr_labels; t.label++) {
		uint64_t others = peers_of(p, g, t.label);
		struct peer_fault f = { .group = group };

		arena_reset(&arena);
		split(&t, others);
		t.nr_others = (unsigned)__builtin_popcountll(others);
		if (t.with.nr >= LEAST && t.without.nr >= LEAST && try_label(&t, &f))
			vec_push(&out->v, f);
	}
	arena_done(&arena);
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

void peers_find(struct peers *p, struct peer_faults *out)
{
	double tests = 0;

	vec_each (&p->v, g)
		tests += g->nr_labels > 1 && g->v.nr >= 2 * LEAST ? g->nr_labels : 0;
	for (uint32_t i = 0; i < p->v.nr; i++)
		if (p->v.v[i].nr_labels > 1 && p->v.v[i].v.nr >= 2 * LEAST)
			find_in_group(p, i, tests, out);
	if (out->v.nr)
		qsort(out->v.v, out->v.nr, sizeof(*out->v.v), largest_first);
}

void peer_faults_done(struct peer_faults *f)
{
	vec_each (&f->v, one)
		vec_done(&one->requests);
	vec_done(&f->v);
}
