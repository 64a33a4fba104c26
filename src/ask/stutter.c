/*
 * A stop is a short silence of one node in which a peer gave signs of life. Peers that do the same
 * work stop about equally often, each by chance, and those that wait for the one that stops are
 * silent with it, not while it goes on. So in any stretch of time each has its share of the stops
 * of all; the stretch in which one of them has most beyond that is tested against chance.
 *
 * Cost: linear in the ticks of the activity for each node, and in the stops for each.
 */
#include "ask/stutter.h"

#include <math.h>
#include <stdlib.h>

#include "ask/alike.h"
#include "ask/length.h"
#include "ask/stats.h"

#define LEAST_NS (100 * NS_MS)
#define MOST_NS (2 * NS_S) /* longer ones are told one by one */
#define LEAST_SIGNS 3      /* of a peer, in the middle of a stop */
#define LEAST_STOPS 12
#define LEAST_PEERS 2
#define LEAST_PART 0.3 /* of the time that it stands still */
#define MANY_TIMES 3.0 /* as many stops as a peer has */
#define AS_BUSY 0.5    /* signs of life, of what a peer gives: who has less to do is silent, too */
#define MOST_CHANCE 5e-3  /* after correction */
#define STOPS_MOST 100000 /* of all nodes of one kind */

struct stop {
	int64_t begin, end;
	sym_t node;
};

struct kind {
	const struct activity *a;
	VEC(sym_t) nodes;
	VEC(struct stop) stops; /* in order of time */
};

void stutters_done(struct stutters *s)
{
	vec_done(&s->v);
}

static int by_begin(const void *a, const void *b)
{
	const struct stop *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static bool peer_goes_on(const struct kind *k, sym_t node, const struct gap *g)
{
	size_t margin = (g->until - g->first) / 8;

	vec_each (&k->nodes, other)
		if (*other != node &&
		    activity_count(k->a, &k->a->v.v[*other - 1], g->first + margin,
				   g->until - margin) >= LEAST_SIGNS)
			return true;
	return false;
}

static void collect(struct kind *k, sym_t node)
{
	const struct activity *a = k->a;
	const struct life *l = &a->v.v[node - 1];
	size_t least = (size_t)(LEAST_NS / a->tick), most = (size_t)(MOST_NS / a->tick);
	size_t from = 0;
	struct gap g;

	/* who is first to start waits for the others, and they have much to say */
	vec_each (&k->nodes, other)
		from = a->v.v[*other - 1].first > from ? a->v.v[*other - 1].first : from;
	for (size_t at = from;
	     least && k->stops.nr < STOPS_MOST && activity_gap(l, at, SIZE_MAX, least, &g);
	     at = g.until)
		if (g.until - g.first <= most && peer_goes_on(k, node, &g))
			vec_push(&k->stops, (struct stop){ activity_ns(a, g.first),
							   activity_ns(a, g.until), node });
}

/* Its part of the stops outside [first, first + nr), at least its share among equals. */
static double usual_part(const struct kind *k, sym_t node, size_t first, size_t nr)
{
	double own = 1, all = (double)k->nodes.nr, even = 1 / (double)k->nodes.nr;

	for (size_t i = 0; i < k->stops.nr; i++) {
		if (i >= first && i < first + nr)
			continue;
		all++;
		own += k->stops.v[i].node == node;
	}
	return own / all > even ? own / all : even;
}

/* The stretch of stops of which most are the node's. */
static size_t find_stretch(const struct kind *k, sym_t node, double level, size_t *first)
{
	double sum = 0, best = 0;
	size_t begin = 0, nr = 0;

	for (size_t i = 0; i < k->stops.nr; i++) {
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += (k->stops.v[i].node == node) - level;
		if (sum > best) {
			best = sum;
			*first = begin;
			nr = i + 1 - begin;
		}
	}
	return nr;
}

static bool is_busy(const struct kind *k, const struct stutter *s)
{
	size_t from = activity_tick(k->a, s->begin), until = activity_tick(k->a, s->end);
	double own = (double)activity_count(k->a, &k->a->v.v[s->node - 1], from, until), sum = 0;

	vec_each (&k->nodes, other)
		if (*other != s->node)
			sum += (double)activity_count(k->a, &k->a->v.v[*other - 1], from, until);
	return own >= AS_BUSY * sum / (double)(k->nodes.nr - 1);
}

static void measure(const struct kind *k, size_t first, size_t nr, struct stutter *s)
{
	int64_t *ns = mem_zalloc(nr * sizeof(*ns));
	size_t n = 0;

	s->begin = k->stops.v[first].begin;
	for (size_t i = first; i < first + nr; i++) {
		const struct stop *x = &k->stops.v[i];

		s->end = x->end > s->end ? x->end : s->end;
		if (x->node != s->node) {
			s->of_peers++;
			continue;
		}
		ns[n] = length_ns(x->begin, x->end);
		s->stopped = length_after(s->stopped, ns[n++]);
	}
	s->stops = n;
	stats_sort(ns, n);
	s->usual = stats_percentile(ns, n, 0.5);
	free(ns);
}

static bool try_node(const struct kind *k, sym_t node, struct stutter *s)
{
	size_t first = 0, nr = find_stretch(k, node, (1 + 1 / (double)k->nodes.nr) / 2, &first);
	double part, sigma, chance;

	if (nr < LEAST_STOPS)
		return false;
	*s = (struct stutter){ .node = node, .end = INT64_MIN };
	measure(k, first, nr, s);
	part = usual_part(k, node, first, nr);
	if (s->stops < LEAST_STOPS || part >= 1 || !is_busy(k, s) ||
	    (double)s->stops < MANY_TIMES * (double)(s->of_peers + 1) / (double)(k->nodes.nr - 1) ||
	    (double)s->stopped < LEAST_PART * (double)length_ns(s->begin, s->end))
		return false;
	sigma = ((double)s->stops - part * (double)nr) / sqrt(part * (1 - part) * (double)nr);
	/* every stretch of that length was looked at, and every node */
	chance = 0.5 * erfc(sigma / sqrt(2)) * 2 * (double)k->stops.nr / (double)nr *
		 (double)k->nodes.nr;
	s->confidence = (1 - chance) * (1 - 1 / (1 + (double)s->stops));
	return sigma > 0 && chance <= MOST_CHANCE;
}

static void find_in_kind(struct stutters *out, struct kind *k)
{
	vec_each (&k->nodes, node)
		collect(k, *node);
	if (k->stops.nr)
		qsort(k->stops.v, k->stops.nr, sizeof(*k->stops.v), by_begin);
	vec_each (&k->nodes, node) {
		struct stutter s;

		if (try_node(k, *node, &s))
			vec_push(&out->v, s);
	}
}

void stutters_find(struct stutters *s, const struct activity *a)
{
	for (sym_t node = 1; node <= a->v.nr; node++) {
		struct kind k = { .a = a };
		bool first = true;

		for (sym_t other = 1; other <= a->v.nr; other++) {
			if (!alike_names(names_str(&a->nodes, node), names_str(&a->nodes, other)))
				continue;
			first &= other >= node;
			vec_push(&k.nodes, other);
		}
		if (first && k.nodes.nr > LEAST_PEERS)
			find_in_kind(s, &k);
		vec_done(&k.nodes);
		vec_done(&k.stops);
	}
}
