/*
 * What a node sends was caused by something that it got, or by nothing. The correlation says after
 * which delays a route may follow another; several such delays often explain the same messages,
 * because what follows a cause also follows the cause of that cause. So all links to a route
 * explain its messages together: each message is shared out among its possible causes by how
 * likely their delays are, the delays are learned from that, and so on (expectation-maximisation).
 * Of two links that explain the same messages, the one whose delays vary less wins.
 *
 * A sample of each route is looked at, STRETCHES pieces of it, so that the time is that of the
 * links: O(routes · SAMPLE · candidates).
 */
#include "infer/convolve/links.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE 6000 /* messages of a route */
#define STRETCHES 4
#define CANDIDATES 64 /* causes of one message by one link */
#define ROUNDS 14
#define KNOWN_AT 7    /* round from which it is known how much a cause causes */
#define SLACK 0.3     /* effects to a cause more than a whole number that are no further one */
#define PRUNE_AT 6    /* round from which links that explain little go */
#define UNIFORM 0.03  /* part of a density that is the same everywhere in its window */
#define UNCAUSED 0.02 /* first guess of the part of messages that nothing caused */

struct share {
	uint32_t cause, link; /* positions: in the route, among the links of the route */
	uint32_t bin;
	float weight;
};

struct learner {
	const struct traffic *t;
	struct link *links; /* to the route at hand */
	size_t nr;
	const struct route *to;
	VEC(struct share) shares;
	VEC(size_t) begin;    /* of the shares of each message of the sample, and the end */
	VEC(float) load;      /* by link and cause: how much of them it was given */
	VEC(size_t) load_of;  /* where the loads of each link begin */
	VEC(double) uncaused; /* of each message */
	double rate;          /* of messages that nothing caused, per ns */
	double part;          /* of the trace that the sample is */
};

void links_done(struct links *l)
{
	vec_done(&l->v);
	vec_done(&l->first);
	vec_done(&l->spontaneous);
	vec_done(&l->spontaneous_part);
}

void links_add(struct links *l, uint32_t from, uint32_t to, struct delay_window window)
{
	vec_push(&l->v, (struct link){ .from = from, .to = to, .window = window });
}

void links_forget(struct links *l, uint32_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->v.nr; i++)
		if (l->v.v[i].to != to)
			l->v.v[kept++] = l->v.v[i];
	l->v.nr = kept;
}

static double width_of(const struct link *l)
{
	return (double)l->window.high - (double)l->window.low + 1;
}

size_t link_bin(const struct link *l, double delay)
{
	double bin = (delay - (double)l->window.low) / width_of(l) * LINK_BINS;

	return bin <= 0 ? 0 : bin >= LINK_BINS ? LINK_BINS - 1 : (size_t)bin;
}

double link_density(const struct link *l, double delay)
{
	return (double)l->density[link_bin(l, delay)];
}

/* Smoothed as much as the counts are few. */
void link_fit(struct link *l, const float *counts)
{
	double bin_ns = width_of(l) / LINK_BINS, sum = 0, mean = 0, square = 0,
	       soft[LINK_BINS] = { 0 };
	double sigma;
	int reach;

	for (int i = 0; i < LINK_BINS; i++) {
		sum += (double)counts[i];
		mean += (double)counts[i] * i;
		square += (double)counts[i] * i * i;
	}
	if (sum <= 0) {
		for (int i = 0; i < LINK_BINS; i++)
			l->density[i] = (float)-log(width_of(l));
		return;
	}
	mean /= sum;
	sigma = sqrt(fmax(square / sum - mean * mean, 0.1));
	l->mean = (double)l->window.low + (mean + 0.5) * bin_ns;
	l->spread = sigma * bin_ns;
	sigma = fmax(sigma * pow(sum, -0.2), 0.5);
	reach = (int)(3 * sigma) + 1;
	for (int i = 0; i < LINK_BINS; i++)
		for (int k = -reach; k <= reach && counts[i] > 0; k++)
			if (i + k >= 0 && i + k < LINK_BINS)
				soft[i + k] +=
					(double)counts[i] * exp(-0.5 * k * k / sigma / sigma);
	sum = 0;
	for (int i = 0; i < LINK_BINS; i++)
		sum += soft[i];
	for (int i = 0; i < LINK_BINS; i++)
		l->density[i] =
			(float)log(((1 - UNIFORM) * soft[i] / sum + UNIFORM / LINK_BINS) / bin_ns);
}

/* --- sharing out ------------------------------------------------------------------------------ */

/* The messages of a route before ns, by bisection. */
static uint32_t nr_before(const struct traffic *t, const struct route *r, double ns)
{
	uint32_t low = 0, high = r->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if ((double)t->v.v[r->first + mid].ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add_shares(struct learner *w, uint32_t effect)
{
	double ns = (double)w->t->v.v[effect].ns;

	vec_push(&w->begin, w->shares.nr);
	for (uint32_t k = 0; k < w->nr; k++) {
		const struct link *l = &w->links[k];
		const struct route *r = &w->t->routes.v[l->from];
		uint32_t at = nr_before(w->t, r, ns - (double)l->window.high);

		for (int nr = 0; at < r->nr && nr < CANDIDATES; at++, nr++) {
			double delay = ns - (double)w->t->v.v[r->first + at].ns;

			if (delay < (double)l->window.low)
				break;
			vec_push(&w->shares,
				 (struct share){ at, k, (uint32_t)link_bin(l, delay), 0 });
		}
	}
}

static void add_sample(struct learner *w)
{
	uint32_t nr = w->to->nr, piece = SAMPLE / STRETCHES;

	vec_clear(&w->shares);
	vec_clear(&w->begin);
	w->part = nr > SAMPLE ? (double)SAMPLE / nr : 1;
	for (uint32_t k = 0; k < STRETCHES && nr > SAMPLE; k++) {
		uint32_t at = (uint32_t)((double)(nr - piece) / (STRETCHES - 1) * k);

		for (uint32_t i = at; i < at + piece; i++)
			add_shares(w, w->to->first + i);
	}
	for (uint32_t i = 0; i < nr && nr <= SAMPLE; i++)
		add_shares(w, w->to->first + i);
	vec_push(&w->begin, w->shares.nr);
}

static void make_loads(struct learner *w)
{
	size_t nr = 0;

	vec_clear(&w->load_of);
	for (size_t k = 0; k < w->nr; k++) {
		vec_push(&w->load_of, nr);
		nr += w->t->routes.v[w->links[k].from].nr;
	}
	vec_reserve(&w->load, nr + 1);
	w->load.nr = nr;
}

static float *load_at(struct learner *w, const struct share *s)
{
	return &w->load.v[w->load_of.v[s->link] + s->cause];
}

/* Gives each message away whole; what is left over was not caused. */
static void share_out(struct learner *w)
{
	for (size_t e = 0; e + 1 < w->begin.nr; e++) {
		double sum = w->uncaused.v[e];

		for (size_t i = w->begin.v[e]; i < w->begin.v[e + 1]; i++)
			sum += (double)w->shares.v[i].weight;
		for (size_t i = w->begin.v[e]; i < w->begin.v[e + 1]; i++)
			w->shares.v[i].weight = (float)((double)w->shares.v[i].weight / sum);
		w->uncaused.v[e] /= sum;
	}
}

/* A cause that was given more than it usually causes has too much of each. Before it is known what
 * is usual, that is more than two. */
static void relieve(struct learner *w, bool is_known)
{
	memset(w->load.v, 0, w->load.nr * sizeof(*w->load.v));
	vec_each (&w->shares, s)
		*load_at(w, s) += s->weight;
	vec_each (&w->shares, s) {
		double usual = ceil(w->links[s->link].rate - SLACK);
		float most = (float)fmax(is_known ? 1 : 2, usual);

		if (*load_at(w, s) > most)
			s->weight *= most / *load_at(w, s);
	}
}

static void begin(struct learner *w)
{
	w->uncaused.nr = 0;
	for (size_t e = 0; e + 1 < w->begin.nr; e++) {
		vec_push(&w->uncaused, UNCAUSED);
		for (size_t i = w->begin.v[e]; i < w->begin.v[e + 1]; i++)
			w->shares.v[i].weight = 1 / (float)(w->begin.v[e + 1] - w->begin.v[e]);
	}
	share_out(w);
}

static void expect(struct learner *w, bool is_known)
{
	for (size_t e = 0; e + 1 < w->begin.nr; e++)
		w->uncaused.v[e] = w->rate;
	vec_each (&w->shares, s) {
		const struct link *l = &w->links[s->link];

		s->weight = (float)(l->rate * exp((double)l->density[s->bin]));
	}
	share_out(w);
	for (int i = 0; i < 2; i++) {
		relieve(w, is_known);
		share_out(w);
	}
}

static void maximise(struct learner *w, bool prune, double least, double least_share)
{
	float(*counts)[LINK_BINS] = mem_zalloc(mem_bytes(w->nr + 1, sizeof(*counts)));
	double length = ((double)w->t->last_ns - (double)w->t->first_ns + 1) * w->part;
	double nr = (double)w->uncaused.nr, uncaused = 0;

	vec_each (&w->shares, s)
		counts[s->link][s->bin] += s->weight;
	vec_each (&w->uncaused, x)
		uncaused += *x;
	w->rate = (uncaused + 0.01) / length;
	for (size_t k = 0; k < w->nr; k++) {
		struct link *l = &w->links[k];
		double sum = 0, causes = (double)w->t->routes.v[l->from].nr * w->part;

		for (int i = 0; i < LINK_BINS; i++)
			sum += (double)counts[k][i];
		link_fit(l, counts[k]);
		l->rate = sum / causes;
		l->share = sum / nr;
		if (prune && (sum < least * w->part || sum < least_share * fmin(causes, nr)))
			l->rate = l->share = 0;
	}
	free(counts);
}

static void learn_route(struct learner *w, uint32_t least, double least_share)
{
	add_sample(w);
	make_loads(w);
	begin(w);
	for (int i = 0; i < ROUNDS; i++) {
		maximise(w, i >= PRUNE_AT, least, least_share);
		expect(w, i >= KNOWN_AT);
	}
	maximise(w, true, least, least_share);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_to(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->window.low < y->window.low ? -1 : x->window.low > y->window.low;
}

static void list_links(struct links *l, size_t nr_routes)
{
	size_t at = 0;

	vec_clear(&l->first);
	for (uint32_t r = 0; r <= nr_routes; r++) {
		while (at < l->v.nr && l->v.v[at].to < r)
			at++;
		vec_push(&l->first, (uint32_t)at);
	}
}

static void drop_idle(struct links *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->v.nr; i++)
		if (l->v.v[i].rate > 0)
			l->v.v[kept++] = l->v.v[i];
	l->v.nr = kept;
}

void links_learn(struct links *l, const struct traffic *t, uint32_t least, double least_share)
{
	struct learner w = { .t = t };

	if (l->v.nr)
		qsort(l->v.v, l->v.nr, sizeof(*l->v.v), by_to);
	list_links(l, t->routes.nr);
	vec_clear(&l->spontaneous);
	vec_clear(&l->spontaneous_part);
	for (uint32_t r = 0; r < t->routes.nr; r++) {
		double part = 1;

		w.links = &l->v.v[l->first.v[r]];
		w.nr = l->first.v[r + 1] - l->first.v[r];
		w.to = &t->routes.v[r];
		w.rate = w.to->nr / ((double)t->last_ns - (double)t->first_ns + 1);
		if (w.nr)
			learn_route(&w, least, least_share);
		for (size_t k = 0; k < w.nr; k++)
			part -= w.links[k].share;
		vec_push(&l->spontaneous, log(w.rate));
		vec_push(&l->spontaneous_part, part);
	}
	drop_idle(l);
	list_links(l, t->routes.nr);
	vec_done(&w.shares);
	vec_done(&w.begin);
	vec_done(&w.load);
	vec_done(&w.load_of);
	vec_done(&w.uncaused);
}

static void insert(struct candidate *v, size_t *nr, size_t most, struct candidate c)
{
	size_t at = *nr;

	if (at == most) {
		at--; /* in place of the last, if it is better */
		if (c.density <= v[at].density)
			return;
	} else {
		++*nr;
	}
	for (; at > 0 && v[at - 1].density < c.density; at--)
		v[at] = v[at - 1];
	v[at] = c;
}

/* Of messages at the same time, the one that was delivered first; so no circle can close. */
static bool is_before(const struct sent *a, const struct sent *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->position < b->position);
}

size_t links_candidates(const struct links *l, const struct traffic *t, uint32_t m,
			struct candidate *v, size_t most)
{
	const struct sent *s = &t->v.v[m];
	double ns = (double)s->ns;
	size_t nr = 0;

	for (uint32_t k = l->first.v[s->route]; k < l->first.v[s->route + 1]; k++) {
		const struct link *x = &l->v.v[k];
		const struct route *r = &t->routes.v[x->from];
		uint32_t at = nr_before(t, r, ns - (double)x->window.high);

		for (int seen = 0; at < r->nr && seen < CANDIDATES; at++, seen++) {
			double delay = ns - (double)t->v.v[r->first + at].ns;

			if (delay < (double)x->window.low)
				break;
			if (!is_before(&t->v.v[r->first + at], s))
				continue;
			insert(v, &nr, most,
			       (struct candidate){
				       r->first + at, k,
				       (float)(link_density(x, delay) + log(x->rate)) });
		}
	}
	return nr;
}
