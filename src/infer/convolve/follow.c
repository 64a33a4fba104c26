/*
 * The convolution algorithm, Figure 6 of the black-boxes paper. From the messages of a root we look
 * for delays after which their receiver sends again (correlate.c, spikes.c), take the messages that
 * do (match.c), and go on from those.
 *
 * Where we differ, and what the paper only names:
 * - Each route of the receiver is correlated by itself: less noise than all that it sends.
 * - Paths are followed in the order of time since the root, not depth first. Of several that lead
 *   to the same messages at the same time, the one whose last delay varies least (else is shortest)
 *   takes them, and the others have too few left to be paths: so A>B>A is no path where
 *   A>B>C>B>A explains as many messages, and is one where it does not. That is the filtering by
 *   frequency counts which the paper leaves open.
 * - Noise: fewer messages than least, or than least_share of those before, or than chance gives.
 * - Cycles: a path ends where it comes back to the node that it began with, and no message has two
 *   causes. Negative delays are not looked at. Accidentally short paths: the window of a spike is
 *   wider than the spike by the tolerance, up to half the way to the next, and where nearly all
 *   messages of a kind go on, those that do not are marked. A message that has caused one of
 * several alternatives is asked last for another.
 * - Roots are found: routes whose messages follow no other, the least explained first.
 *
 * Time O(E S log S) for E edges of the result and the pairs of routes at each node, memory
 * O(M + S) for M messages and a few spectra.
 */
#include "infer/convolve/follow.h"

#include <math.h>
#include <stdlib.h>

#include "infer/convolve/correlate.h"
#include "infer/convolve/match.h"

#define QUANTA ((int64_t)1 << 17)      /* of a trace, when the quantum is ours to choose */
#define QUANTA_MOST ((int64_t)1 << 19) /* of a long one, to stay below COARSE_NS */
#define COARSE_NS 5000000
#define LAGS_MOST ((size_t)1 << 14)
#define SPECTRA_BYTES ((size_t)256 << 20) /* kept for reuse */
#define VERTICES_MOST 4096
#define DEPTH_MOST 64
#define CORRELATIONS_MOST 20000 /* nodes with thousands of neighbours end here */
#define SAME_SPIKE 3            /* further leads that one spike may give */
#define SURE 4.0                /* deviations above chance that a path must be */
#define ONE_EACH 1.1            /* effects to a cause, when each has one of several */
#define NEARLY_ALL 0.9          /* so many of a kind go on: the others should too */
#define SHARPER 0.7             /* a spread so much smaller decides between two causes */
#define SPONTANEOUS 0.5         /* a route less explained than this begins requests */

/* A path found and not yet followed. */
struct lead {
	struct vertex at;
	struct delay_window spike;  /* as the correlation shows it */
	struct delay_window window; /* as the messages do */
	unsigned nr_before;         /* leads that the same spike gave already */
	double after;               /* ns since the root, mean */
};

struct messages {
	uint32_t *v;
	size_t nr;
	size_t nr_caused; /* messages that were found to be caused by these */
};

struct work {
	struct traffic *t;
	const struct follow_options *o;
	struct followed *out;
	struct correlator *c;
	struct spikes spikes;
	struct matcher matcher;
	struct spectrum **spectra; /* by route, NULL until wanted */
	size_t nr_spectra;
	uint32_t pinned; /* a route whose spectrum is in use */
	uint64_t correlations_most;
	VEC(struct lead) leads;
	VEC(struct messages) of_vertex; /* in order of time */
};

/* --- correlations ----------------------------------------------------------------------------- */

static struct spectrum *spectrum_of(struct work *w, const uint32_t *messages, size_t nr)
{
	correlator_begin(w->c);
	for (size_t i = 0; i < nr; i++)
		correlator_add(w->c, w->t->v.v[messages[i]].ns);
	return correlator_take(w->c);
}

static struct spectrum *route_spectrum(struct work *w, uint32_t route)
{
	const struct route *r = &w->t->routes.v[route];

	if (w->spectra[route])
		return w->spectra[route];
	if ((w->nr_spectra + 1) * correlator_cost(w->c) > SPECTRA_BYTES) {
		for (size_t i = 0; i < w->t->routes.nr; i++) {
			if (i == w->pinned)
				continue;
			spectrum_free(w->spectra[i]);
			w->spectra[i] = NULL;
		}
		w->nr_spectra = w->pinned != SENT_NONE;
	}
	correlator_begin(w->c);
	for (uint32_t i = 0; i < r->nr; i++)
		correlator_add(w->c, w->t->v.v[r->first + i].ns);
	w->nr_spectra++;
	return w->spectra[route] = correlator_take(w->c);
}

/* Spikes of the delay from some messages to those of a route; false when there was enough work. */
static bool find_spikes(struct work *w, const struct spectrum *causes, uint32_t route)
{
	w->spikes.nr = 0;
	if (w->out->nr_correlations >= w->correlations_most)
		return false;
	w->out->nr_correlations++;
	spikes_find(&w->spikes, correlate(w->c, causes, route_spectrum(w, route)),
		    correlator_lags(w->c), &w->o->spikes);
	return true;
}

/* The delays of spike i: bins d quanta apart hold messages less than one quantum more or less
 * apart. Wider by the tolerance, but not beyond half the way to the next spike. */
static struct delay_window window_of(const struct work *w, size_t i)
{
	const struct spike *s = w->spikes.v;
	double q = (double)w->out->quantum_ns;
	double low = (double)s[i].from - 1, high = (double)s[i].until;
	double more = fmax(w->o->tolerance * (high - low), 1);
	double floor = i ? ((double)s[i - 1].until + (double)s[i].from) / 2 : 0;
	double ceiling =
		i + 1 < w->spikes.nr ? ((double)s[i].until + (double)s[i + 1].from) / 2 : INFINITY;

	low = fmax(fmin(low, fmax(low - more, floor)), 0);
	high = fmax(high, fmin(high + more, ceiling));
	return (struct delay_window){ (int64_t)(low * q), (int64_t)(high * q) };
}

/* --- following -------------------------------------------------------------------------------- */

/* Whether there are more pairs in a window than noise makes, and how many at most. */
static size_t nr_pairs(struct work *w, struct messages causes, const struct route *r,
		       struct delay_window window, struct evidence *e)
{
	double more;

	*e = matcher_weigh(&w->matcher, w->t, causes.v, causes.nr, r, window);
	more = e->pairs - e->noise;
	if (e->sigmas < SURE || more < w->o->least || more < w->o->least_share * (double)causes.nr)
		return 0;
	return (size_t)(more + sqrt(e->noise));
}

/* Pairs the messages of a window, if they are more than noise. A spike is as wide as quanta make
 * it; the times of its messages tell how wide it is truly, and the window is drawn in to that. */
static size_t find_path(struct work *w, struct messages causes, uint32_t route,
			struct delay_window *window, struct evidence *e)
{
	const struct route *r = &w->t->routes.v[route];

	for (int i = 0; i < 2; i++) {
		size_t most = nr_pairs(w, causes, r, *window, e);

		if (!most)
			return 0;
		matcher_run(&w->matcher, w->t, causes.v, causes.nr, r, *window, most,
			    causes.nr_caused + most <= ONE_EACH * (double)causes.nr);
		if (w->matcher.v.nr < w->o->least)
			return 0;
		if (w->matcher.core.low > window->low)
			window->low = w->matcher.core.low;
		if (w->matcher.core.high < window->high)
			window->high = w->matcher.core.high;
	}
	return w->matcher.v.nr;
}

/* Makes a lead of a spike, if there are messages for one. */
static void add_lead(struct work *w, uint32_t vertex, uint32_t route, struct delay_window spike,
		     double after, unsigned nr_before)
{
	struct lead l = { .spike = spike, .window = spike, .nr_before = nr_before };
	struct evidence e;
	size_t nr = find_path(w, w->of_vertex.v[vertex], route, &l.window, &e);

	if (!nr)
		return;
	l.at = (struct vertex){ .route = route,
				.parent = vertex,
				.depth = w->out->v.v[vertex].depth + 1,
				.nr = nr,
				.delay = w->matcher.mean,
				.spread = w->matcher.spread };
	l.after = after + w->matcher.mean;
	vec_push(&w->leads, l);
}

static void add_leads(struct work *w, uint32_t vertex, double after)
{
	struct messages m = w->of_vertex.v[vertex];
	sym_t node = w->t->routes.v[w->out->v.v[vertex].route].to;
	struct spectrum *causes = spectrum_of(w, m.v, m.nr);

	for (uint32_t k = w->t->out_first.v[node]; k < w->t->out_first.v[node + 1]; k++) {
		uint32_t route = w->t->out.v[k];

		if (w->t->routes.v[route].nr < w->o->least || !find_spikes(w, causes, route))
			continue;
		for (size_t i = 0; i < w->spikes.nr; i++)
			add_lead(w, vertex, route, window_of(w, i), after, 0);
	}
	spectrum_free(causes);
}

/* Whether a is the better cause of messages that both lead to. */
static bool is_closer(const struct lead *a, const struct lead *b)
{
	if (a->at.spread < SHARPER * b->at.spread)
		return true;
	if (b->at.spread < SHARPER * a->at.spread)
		return false;
	return a->at.delay < b->at.delay;
}

/* The earliest lead, or the best of those that lead to the same route at the same time. */
static struct lead take_lead(struct work *w)
{
	size_t first = 0, best;
	struct lead l;

	for (size_t i = 1; i < w->leads.nr; i++)
		if (w->leads.v[i].after < w->leads.v[first].after)
			first = i;
	best = first;
	for (size_t i = 0; i < w->leads.nr; i++) {
		const struct lead *a = &w->leads.v[i], *b = &w->leads.v[first];
		double apart = 2 * (double)w->out->quantum_ns + a->at.spread + b->at.spread;

		if (a->at.route == b->at.route && a->after - b->after <= apart &&
		    is_closer(a, &w->leads.v[best]))
			best = i;
	}
	l = w->leads.v[best];
	w->leads.v[best] = w->leads.v[--w->leads.nr];
	return l;
}

static uint32_t add_vertex(struct work *w, const struct vertex *x, size_t nr)
{
	vec_push(&w->out->v, *x);
	vec_push(&w->of_vertex,
		 (struct messages){ mem_alloc(mem_bytes(nr + 1, sizeof(uint32_t))), 0, 0 });
	return (uint32_t)w->out->v.nr - 1;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Takes the messages of a lead that are still free, if they still make a path. */
static uint32_t claim(struct work *w, const struct lead *l)
{
	struct messages from = w->of_vertex.v[l->at.parent], *to;
	struct vertex x = l->at;
	struct delay_window window = l->window;
	struct evidence e;
	uint32_t vertex;
	float sure; /* that a pair is more than chance */

	x.nr = find_path(w, from, x.route, &window, &e);
	if (!x.nr)
		return SENT_NONE;
	x.delay = w->matcher.mean;
	x.spread = w->matcher.spread;
	vertex = add_vertex(w, &x, w->matcher.v.nr);
	to = &w->of_vertex.v[vertex];
	sure = (float)fmin((e.pairs - e.noise) / (double)x.nr, 1);
	vec_each (&w->matcher.v, p) {
		struct sent *s = &w->t->v.v[p->effect];

		s->placed = true;
		s->cause = p->cause;
		s->confidence = p->confidence * sure;
		w->t->v.v[p->cause].is_cause = true;
		to->v[to->nr++] = p->effect;
	}
	w->of_vertex.v[l->at.parent].nr_caused += to->nr;
	/* messages of one route are numbered by time */
	qsort(to->v, to->nr, sizeof(*to->v), by_number);
	return vertex;
}

/* Procedure FindPathsFromRoot, for the messages of one route that have no place yet. */
static void follow_root(struct work *w, uint32_t route)
{
	const struct route *r = &w->t->routes.v[route];
	uint32_t root =
		add_vertex(w, &(struct vertex){ .route = route, .parent = SENT_NONE }, r->nr);
	struct messages *m = &w->of_vertex.v[root];

	for (uint32_t i = r->first; i < r->first + r->nr; i++) {
		if (w->t->v.v[i].placed)
			continue;
		w->t->v.v[i].placed = true;
		w->t->v.v[i].confidence = 1;
		m->v[m->nr++] = i;
	}
	w->out->v.v[root].nr = m->nr;
	if (r->from != r->to)
		add_leads(w, root, 0);
	while (w->leads.nr && w->out->v.nr < VERTICES_MOST) {
		struct lead l = take_lead(w);
		uint32_t vertex = claim(w, &l);

		if (vertex == SENT_NONE)
			continue;
		if (l.at.depth < DEPTH_MOST && w->t->routes.v[l.at.route].to != r->from)
			add_leads(w, vertex, l.after);
		/* two spikes may look like one when the quantum is coarse */
		if (l.nr_before < SAME_SPIKE)
			add_lead(w, l.at.parent, l.at.route, l.spike, l.after - l.at.delay,
				 l.nr_before + 1);
	}
	vec_clear(&w->leads);
}

/* --- roots ------------------------------------------------------------------------------------ */

struct root {
	uint32_t route;
	double explained; /* the part of its messages that follow those of another route */
	double delay;     /* and how long after, quanta */
};

/* The clearest delay from one route to another: its excess, and the delay. */
static double clearest(struct work *w, uint32_t from, uint32_t to, double *delay)
{
	const struct spectrum *causes = route_spectrum(w, from);
	double excess = 0;

	w->pinned = from;
	find_spikes(w, causes, to);
	w->pinned = SENT_NONE;
	for (size_t i = 0; i < w->spikes.nr; i++)
		if (w->spikes.v[i].excess > excess) {
			excess = w->spikes.v[i].excess;
			*delay = (double)w->spikes.v[i].from;
		}
	return excess;
}

static uint32_t reverse_of(const struct traffic *t, const struct route *r)
{
	for (uint32_t k = t->out_first.v[r->to]; k < t->out_first.v[r->to + 1]; k++)
		if (t->routes.v[t->out.v[k]].to == r->from)
			return t->out.v[k];
	return SENT_NONE;
}

/* How well the routes into its sender explain a route. That it follows its own answers, because a
 * client thinks for a while and asks again, does not count when the answers follow sooner. */
static void explain(struct work *w, struct root *x)
{
	const struct traffic *t = w->t;
	const struct route *r = &t->routes.v[x->route];
	uint32_t answers = reverse_of(t, r);

	for (uint32_t k = t->in_first.v[r->from]; k < t->in_first.v[r->from + 1]; k++) {
		uint32_t in = t->in.v[k];
		double delay = 0, back = 0, share;

		if (in == x->route || t->routes.v[in].nr < w->o->least)
			continue;
		share = clearest(w, in, x->route, &delay) / (double)r->nr;
		if (share <= x->explained)
			continue;
		if (in == answers && clearest(w, x->route, in, &back) >= SHARPER * share * r->nr &&
		    back <= delay)
			continue;
		x->explained = share;
		x->delay = delay;
	}
}

static int by_explained(const void *a, const void *b)
{
	const struct root *x = a, *y = b;
	bool p = x->explained >= SPONTANEOUS, q = y->explained >= SPONTANEOUS;

	if (p != q)
		return p ? 1 : -1;
	if (!p && x->explained != y->explained)
		return x->explained < y->explained ? -1 : 1;
	if (p && x->delay != y->delay)
		return x->delay > y->delay ? -1 : 1;
	return x->route < y->route ? -1 : x->route > y->route;
}

static uint32_t nr_free(const struct traffic *t, const struct route *r)
{
	uint32_t nr = 0;

	for (uint32_t i = r->first; i < r->first + r->nr; i++)
		nr += !t->v.v[i].placed;
	return nr;
}

static void follow_all(struct work *w)
{
	size_t nr = w->t->routes.nr;
	struct root *roots = mem_zalloc(mem_bytes(nr + 1, sizeof(*roots)));

	for (uint32_t i = 0; i < nr; i++) {
		roots[i].route = i;
		if (w->t->routes.v[i].nr >= w->o->least)
			explain(w, &roots[i]);
	}
	w->correlations_most = CORRELATIONS_MOST;
	qsort(roots, nr, sizeof(*roots), by_explained);
	for (size_t i = 0; i < nr; i++) {
		const struct route *r = &w->t->routes.v[roots[i].route];
		uint32_t unexplained = nr_free(w->t, r);

		/* what is left of a route that others explain is what they missed */
		if (roots[i].explained >= SPONTANEOUS && unexplained < SPONTANEOUS * r->nr)
			continue;
		if (unexplained && w->out->v.nr < VERTICES_MOST)
			follow_root(w, roots[i].route);
	}
	free(roots);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Messages that should have caused others, as nearly all of their kind did: their paths are shorter
 * by accident. */
static void mark_short(struct work *w)
{
	vec_each (&w->of_vertex, m) {
		size_t nr = 0;

		for (size_t i = 0; i < m->nr; i++)
			nr += w->t->v.v[m->v[i]].is_cause;
		for (size_t i = 0; i < m->nr && (double)nr >= NEARLY_ALL * (double)m->nr; i++)
			w->t->v.v[m->v[i]].is_short = !w->t->v.v[m->v[i]].is_cause;
	}
}

static int64_t choose_quantum(const struct traffic *t, int64_t wanted)
{
	uint64_t length = (uint64_t)t->last_ns - (uint64_t)t->first_ns;
	uint64_t quantum = length / (uint64_t)QUANTA + 1;

	if (wanted > 0)
		quantum = (uint64_t)wanted;
	else if (quantum > COARSE_NS)
		quantum = COARSE_NS;
	if (length / quantum > (uint64_t)QUANTA_MOST)
		quantum = length / (uint64_t)QUANTA_MOST + 1;
	return (int64_t)quantum;
}

void follow(struct traffic *t, const struct follow_options *o, struct followed *f)
{
	struct work w = { .t = t,
			  .o = o,
			  .out = f,
			  .pinned = SENT_NONE,
			  .correlations_most = CORRELATIONS_MOST / 2 };
	size_t nr_quanta, lags;

	if (!t->v.nr)
		return;
	f->quantum_ns = choose_quantum(t, o->quantum_ns);
	nr_quanta =
		(size_t)(((uint64_t)t->last_ns - (uint64_t)t->first_ns) / (uint64_t)f->quantum_ns) +
		1;
	lags = nr_quanta / 4 < LAGS_MOST ? nr_quanta / 4 + 1 : LAGS_MOST;
	w.c = correlator_new(t->first_ns, t->last_ns, f->quantum_ns, lags);
	w.spectra = mem_zalloc(mem_bytes(t->routes.nr + 1, sizeof(struct spectrum *)));
	follow_all(&w);
	mark_short(&w);
	for (size_t i = 0; i < t->routes.nr; i++)
		spectrum_free(w.spectra[i]);
	free(w.spectra);
	correlator_free(w.c);
	spikes_done(&w.spikes);
	matcher_done(&w.matcher);
	vec_each (&w.of_vertex, m)
		free(m->v);
	vec_done(&w.of_vertex);
	vec_done(&w.leads);
}

void followed_done(struct followed *f)
{
	vec_done(&f->v);
}
