/*
 * The critical path of an interval, back from its end: Algorithm 2 of VProfiler.
 *
 * On the thread that ended the interval, as long as it works for it. A wait that a thread ended
 * which worked for the same interval is replaced by what that one did. In front of a segment it
 * goes on with who handed the interval on, and what lies between is a wait in a queue.
 *
 * Where we differ: the paper returns to the thread that waited where its wait began. But had it
 * begun to wait later, nothing would have changed: what the other did since it was given the work
 * is what took the time, and what the first one did between giving and waiting took none. So we
 * return only where it is not known who gave the work. And a hand-off counts before an earlier
 * segment of the same thread, since otherwise what a second thread did between two segments of the
 * first would pass for waiting. Where no hand-off is known it is taken to come from the segment
 * that ended last, on whichever thread.
 *
 * The path only goes back, so that it ends; stretches meet without gap or overlap, so that they add
 * up to the interval.
 */
#include "infer/intervals/state.h"

#define STILL_MAX 16 /* steps between threads that take no time */

struct walk {
	const struct under_way *w;
	struct path *p;
	uint32_t thread;
	int64_t ns; /* where it is; all after was gone through */
	VEC(struct path_stretch)
	in; /* waits being replaced: the thread, and where its wait began */
	unsigned nr_still;
};

const struct segment *path_segment(const struct under_way *w, uint32_t thread, int64_t ns)
{
	for (size_t i = w->segments.nr; i-- > 0;) {
		const struct segment *g = w->segments.v[i];

		if (g->thread == thread && g->start < ns && g->end >= ns)
			return g;
	}
	return NULL;
}

/* The path has been on this thread, or nowhere, since then. */
static void go_back(struct walk *k, int64_t to, uint32_t thread)
{
	if (to < k->w->start)
		to = k->w->start;
	if (to >= k->ns) {
		k->nr_still++;
		return;
	}
	vec_push(&k->p->v, (struct path_stretch){ to, k->ns, thread });
	k->ns = to;
	k->nr_still = 0;
}

/* The last wait of the segment before this moment that was ended by work for the same interval. */
static const struct woken_wait *last_wait(const struct walk *k, const struct segment *g)
{
	for (size_t i = g->waits.nr; i-- > 0;) {
		const struct woken_wait *v = &g->waits.v[i];

		if (v->woken > k->ns)
			continue;
		if (v->woken <= g->start)
			return NULL;
		if (v->waker != g->thread && path_segment(k->w, v->waker, v->woken))
			return v;
	}
	return NULL;
}

static void go_through(struct walk *k, const struct segment *g)
{
	/* two that woke each other at the same moment would do so for ever */
	const struct woken_wait *v = k->nr_still > STILL_MAX ? NULL : last_wait(k, g);

	if (!v) {
		go_back(k, g->start, g->thread);
		return;
	}
	go_back(k, v->woken, g->thread);
	vec_push(&k->in, (struct path_stretch){ .from = v->from > g->start ? v->from : g->start,
						.thread = g->thread });
	k->thread = v->waker;
}

/* Until when a segment counts as work before this moment. */
static int64_t worked_until(const struct segment *g, int64_t ns)
{
	int64_t end = g->end;

	if (!g->is_call && g->idle_ns < end)
		end = g->idle_ns;
	return end < ns ? end : ns;
}

/* Who was at work for the interval last before now; the same thread where several were. */
static struct handed_on guess_from(const struct walk *k)
{
	struct handed_on best = { NO_THREAD, 0 };

	for (size_t i = k->w->segments.nr; i-- > 0;) {
		const struct segment *g = k->w->segments.v[i];
		int64_t end = worked_until(g, k->ns);

		if (g->start >= k->ns)
			continue;
		if (best.thread == NO_THREAD || end > best.ns ||
		    (end == best.ns && g->thread == k->thread))
			best = (struct handed_on){ g->thread, end };
	}
	return best;
}

/* Who handed the interval to the segment that begins now. */
static struct handed_on known_from(const struct walk *k)
{
	for (size_t i = k->w->segments.nr; i-- > 0;) {
		const struct segment *g = k->w->segments.v[i];

		if (g->thread == k->thread && g->start == k->ns && g->from.ns <= k->ns &&
		    g->from.thread != NO_THREAD)
			return g->from;
	}
	return (struct handed_on){ NO_THREAD, 0 };
}

/* The thread does not work for the interval before this moment. */
static void go_across(struct walk *k)
{
	struct handed_on from = known_from(k);

	if (from.thread == NO_THREAD || k->nr_still > STILL_MAX / 2) {
		if (k->in.nr) {
			k->in.nr--;
			from = (struct handed_on){ k->in.v[k->in.nr].thread,
						   k->in.v[k->in.nr].from };
		} else {
			from = guess_from(k);
			k->p->nr_guessed += from.thread != NO_THREAD && from.thread != k->thread;
		}
	}
	if (from.thread == NO_THREAD || k->nr_still > STILL_MAX) {
		go_back(k, k->w->start, NO_THREAD);
		return;
	}
	go_back(k, from.ns, NO_THREAD);
	k->thread = from.thread;
}

void path_find(const struct under_way *w, struct path *p)
{
	struct walk k = { .w = w, .p = p, .thread = w->end_thread, .ns = w->end };

	while (k.ns > w->start) {
		const struct segment *g;

		while (k.in.nr && k.in.v[k.in.nr - 1].from >= k.ns)
			k.in.nr--;
		g = path_segment(w, k.thread, k.ns);
		if (g)
			go_through(&k, g);
		else
			go_across(&k);
	}
	vec_done(&k.in);
}
