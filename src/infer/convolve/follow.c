/*
 * The convolution algorithm, Figure 6 of the black-boxes paper: the delays after which a node sends
 * again are the spikes of a correlation (correlate.c, spikes.c). The paper goes on from the
 * messages of one spike to the next, and leaves to each whatever is near; here all spikes compete
 * for all messages at once.
 *
 * 1. Every route is correlated with the routes into its sender, each by itself: less noise than all
 *    that the sender gets. A spike, wider by the tolerance v, is a link.
 * 2. How likely each delay of each link is, is learned from all messages together (links.c). What
 *    explains the same messages less sharply explains nothing: so A>B>A is no path where
 *    A>B>C>B>A explains as many messages, and is one where it does not. That is the filtering of
 *    derived paths which the paper leaves open.
 * 3. Routes that begin requests are found, and circles cut there (roots.c).
 * 4. Which message caused which is decided for all together (decide.c), and the graph of the paper
 *    drawn from that, without noise (outline.c).
 *
 * Negative delays are not looked at.
 *
 * Time O(E S log S) for E pairs of routes at the nodes and S quanta, and what links.c and decide.c
 * need; memory O(M + S) for M messages and a few spectra.
 */
#include "infer/convolve/follow.h"

#include <math.h>
#include <stdlib.h>

#include "infer/convolve/correlate.h"
#include "infer/convolve/decide.h"
#include "infer/convolve/links.h"
#include "infer/convolve/outline.h"
#include "infer/convolve/roots.h"

#define QUANTA ((int64_t)1 << 17)      /* of a trace, when the quantum is ours to choose */
#define QUANTA_MOST ((int64_t)1 << 19) /* of a long one, to stay below COARSE_NS */
#define COARSE_NS 5000000
#define GAP_QUANTA 16 /* of the mean time between messages of the busiest route */
#define LAGS_MOST ((size_t)1 << 14)
#define SPECTRA_BYTES ((size_t)256 << 20) /* kept for reuse */
/* Quanta correlated in all, some twenty seconds' work: nodes with thousands of neighbours end here.
 */
#define POINTS_MOST ((uint64_t)1 << 29)
#define LINK_SHARE 3    /* a link of so many times the least share of a path is no noise */
#define UNEXPLAINED 0.2 /* part of a route that asks for a second look */
#define ANSWERED 0.7    /* of the questions that follow answers, those that have some */
#define ABOUT 4         /* quanta that two widths may differ by chance */
#define MATTERS 0.2     /* part of a route that others must explain to be of weight */

struct work {
	struct traffic *t;
	const struct follow_options *o;
	struct followed *out;
	struct correlator *c;
	struct spikes spikes;
	struct spectrum **spectra; /* by route, NULL until wanted */
	size_t nr_spectra;
	uint32_t pinned; /* a route whose spectrum is in use */
	size_t nr_quanta;
	uint32_t *busiest; /* routes, those with the most messages first */
	struct links links;
	struct spike_options spikes_wanted;
};

/* --- correlations ----------------------------------------------------------------------------- */

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

static bool may_go_on(struct work *w)
{
	if (!w->out->is_stopped && w->o->is_stopped)
		w->out->is_stopped = w->o->is_stopped();
	return !w->out->is_stopped && w->out->nr_correlations * w->nr_quanta < POINTS_MOST;
}

/* Spikes of the delay from some messages to those of a route. */
static void find_spikes(struct work *w, const struct spectrum *causes, uint32_t route)
{
	w->out->nr_correlations++;
	spikes_find(&w->spikes, correlate(w->c, causes, route_spectrum(w, route)),
		    correlator_lags(w->c), &w->spikes_wanted);
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

/* --- roots ------------------------------------------------------------------------------------ */

/* The clearest delay from one route to another; its excess is 0 when there is none. */
static struct spike clearest(struct work *w, uint32_t from, uint32_t to)
{
	const struct spectrum *causes;
	struct spike best = { 0 };

	w->spikes.nr = 0;
	if (!may_go_on(w)) {
		w->out->nr_skipped++;
		return best;
	}
	causes = route_spectrum(w, from);
	w->pinned = from;
	find_spikes(w, causes, to);
	w->pinned = SENT_NONE;
	for (size_t i = 0; i < w->spikes.nr; i++)
		if (w->spikes.v[i].excess > best.excess)
			best = w->spikes.v[i];
	return best;
}

static uint32_t reverse_of(const struct traffic *t, const struct route *r)
{
	for (uint32_t k = t->out_first.v[r->to]; k < t->out_first.v[r->to + 1]; k++)
		if (t->routes.v[t->out.v[k]].to == r->from)
			return t->out.v[k];
	return SENT_NONE;
}

/* Whether a route follows its own answers because its sender thinks for a while and asks again,
 * not because it serves: then the answers follow more regularly than the questions, or sooner. */
static bool is_thought(struct work *w, uint32_t route, uint32_t answers, struct spike think)
{
	struct spike back = clearest(w, route, answers);
	size_t a = think.until - think.from, b = back.until - back.from;

	if (back.excess < ANSWERED * think.excess)
		return false;
	if (a > 2 * b + ABOUT || b > 2 * a + ABOUT)
		return a > b;
	return back.from <= think.from;
}

/* The delays at which a route follows those into its sender. */
static void add_links(struct work *w, uint32_t route)
{
	const struct traffic *t = w->t;
	const struct route *r = &t->routes.v[route];
	uint32_t answers = reverse_of(t, r), first = (uint32_t)w->links.v.nr, kept;
	struct spike think = { 0 };
	double others = 0;

	for (uint32_t k = t->in_first.v[r->from]; k < t->in_first.v[r->from + 1]; k++) {
		uint32_t in = t->in.v[k];
		struct spike best;

		if (in == route || t->routes.v[in].nr < w->o->least)
			continue;
		best = clearest(w, in, route);
		for (size_t i = 0; i < w->spikes.nr; i++)
			links_add(&w->links, in, route, window_of(w, i));
		if (in == answers)
			think = best;
		else
			others = fmax(others, best.excess);
	}
	if (think.excess <= 0 || others > MATTERS * r->nr || !is_thought(w, route, answers, think))
		return;
	kept = first;
	for (size_t i = first; i < w->links.v.nr; i++)
		if (w->links.v.v[i].from != answers)
			w->links.v.v[kept++] = w->links.v.v[i];
	w->links.v.nr = kept;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Finer than the trace is long asks for too much work; finer than a part of the time between two
 * messages tells chance and cause apart no better, and hides delays that vary. */
static int64_t choose_quantum(const struct traffic *t, int64_t wanted)
{
	uint64_t length = (uint64_t)t->last_ns - (uint64_t)t->first_ns;
	uint64_t quantum = length / (uint64_t)QUANTA + 1;
	uint32_t busiest = 1;

	vec_each (&t->routes, r)
		busiest = r->nr > busiest ? r->nr : busiest;
	if (length / busiest / GAP_QUANTA > quantum)
		quantum = length / busiest / GAP_QUANTA;
	if (wanted > 0)
		quantum = (uint64_t)wanted;
	else if (quantum > COARSE_NS)
		quantum = COARSE_NS;
	if (length / quantum > (uint64_t)QUANTA_MOST)
		quantum = length / (uint64_t)QUANTA_MOST + 1;
	return (int64_t)quantum;
}

/* Links of all routes; then, of those that are explained in part at best, with less doubt: circles
 * and bursts make more waves than chance does, and learning tells which of them are causes. */
static int by_more(const void *pa, const void *pb, void *traffic)
{
	const struct traffic *t = traffic;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (t->routes.v[a].nr != t->routes.v[b].nr)
		return t->routes.v[a].nr > t->routes.v[b].nr ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The routes in the order in which they matter. */
static uint32_t *by_messages(struct traffic *t)
{
	uint32_t *v = mem_alloc(mem_bytes(t->routes.nr + 1, sizeof(*v)));

	for (uint32_t i = 0; i < t->routes.nr; i++)
		v[i] = i;
	qsort_r(v, t->routes.nr, sizeof(*v), by_more, t);
	return v;
}

static void find_links(struct work *w)
{
	const struct follow_options *o = w->o;
	uint64_t before;

	w->spikes_wanted = o->spikes;
	for (uint32_t i = 0; i < w->t->routes.nr; i++)
		if (w->t->routes.v[w->busiest[i]].nr >= o->least)
			add_links(w, w->busiest[i]);
	if (w->out->is_stopped)
		return;
	links_learn(&w->links, w->t, o->least, LINK_SHARE * o->least_share);
	w->spikes_wanted.is_bold = true;
	before = w->out->nr_correlations;
	for (uint32_t k = 0; k < w->t->routes.nr && may_go_on(w); k++) {
		uint32_t i = w->busiest[k];

		if (w->t->routes.v[i].nr < o->least || w->links.spontaneous_part.v[i] < UNEXPLAINED)
			continue;
		links_forget(&w->links, i);
		add_links(w, i);
	}
	if (w->out->nr_correlations > before)
		links_learn(&w->links, w->t, o->least, LINK_SHARE * o->least_share);
}

void follow(struct traffic *t, const struct follow_options *o, struct followed *f)
{
	struct work w = { .t = t, .o = o, .out = f, .pinned = SENT_NONE };
	size_t lags;

	if (!t->v.nr)
		return;
	f->quantum_ns = choose_quantum(t, o->quantum_ns);
	w.nr_quanta =
		(size_t)(((uint64_t)t->last_ns - (uint64_t)t->first_ns) / (uint64_t)f->quantum_ns) +
		1;
	lags = w.nr_quanta / 4 < LAGS_MOST ? w.nr_quanta / 4 + 1 : LAGS_MOST;
	w.c = correlator_new(t->first_ns, t->last_ns, f->quantum_ns, lags);
	w.spectra = mem_zalloc(mem_bytes(t->routes.nr + 1, sizeof(struct spectrum *)));
	w.busiest = by_messages(t);
	find_links(&w);
	free(w.busiest);
	for (size_t i = 0; i < t->routes.nr; i++)
		spectrum_free(w.spectra[i]);
	free(w.spectra);
	correlator_free(w.c);
	spikes_done(&w.spikes);
	if (!f->is_stopped) {
		if (roots_cut(&w.links, t))
			links_learn(&w.links, t, o->least, LINK_SHARE * o->least_share);
		decide(t, &w.links);
		outline(t, o, f);
	}
	links_done(&w.links);
}

void followed_done(struct followed *f)
{
	vec_done(&f->v);
}
