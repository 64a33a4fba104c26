/*
 * The sliding window that the paper names as future work (section 8), around any method that finds
 * parents: calls gather until the window is full, the method looks at all of them, and the requests
 * that had ended by three quarters of the window leave. The last quarter is there so that nobody is
 * judged before those who might have caused him are seen whole; it stays for the next window.
 *
 * The methods know calls within calls. What does not have that form is brought into it before they
 * look: work that is passed on (forward.h), calls of which one end was not seen (half.h), calls
 * that a host makes for its services (hosts.h), and work that goes on after the reply (late.h).
 *
 * Memory is a window: 72 bytes a call, so 36 a message, and what the method needs on top.
 */
#include "infer/paths/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "infer/paths/alternatives.h"
#include "infer/paths/calls.h"
#include "infer/paths/emit.h"
#include "infer/paths/feed.h"
#include "infer/paths/forward.h"
#include "infer/paths/half.h"
#include "infer/paths/hosts.h"
#include "infer/paths/joint.h"
#include "infer/paths/late.h"
#include "infer/paths/nesting.h"
#include "infer/paths/pairs.h"
#include "model/loss.h"
#include "store/store.h"

#define WINDOW_CALLS ((size_t)1 << 20)

struct method {
	const char *name;
	void (*run)(struct window *w);
};

struct paths {
	struct store *store;
	struct feed *feed;
	struct pairs *pairs;
	struct hosts *hosts;
	const struct method *method;
	struct window w;
	size_t nr_carried;   /* calls at the front that an earlier window left */
	int64_t first, now;  /* the time of the first message, and of the last one read */
	VEC(bool) receives;  /* by node */
	VEC(int64_t) linger; /* by node, see emit.h */
};

static void run_nesting(struct window *w)
{
	const struct nesting_options o = NESTING_DEFAULTS;

	nesting_run(w, &o);
}

static const struct method methods[] = {
	{ "joint", joint_run },
	{ "nesting", run_nesting },
};

static const struct method *find_method(const char *name)
{
	if (!name || !strcmp(name, "auto"))
		return &methods[0];
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

/* A node that was never called is outside of what was traced: what it calls begins a request. */
static void find_sources(struct paths *p)
{
	p->w.nr_nodes = feed_nr_nodes(p->feed);
	while (p->receives.nr < p->w.nr_nodes)
		vec_push(&p->receives, false);
	while (p->linger.nr < p->w.nr_nodes)
		vec_push(&p->linger, 0);
	vec_each (&p->w.calls, c)
		p->receives.v[c->to] |= !c->is_sent;
	free(p->w.is_source);
	p->w.is_source = mem_alloc(mem_bytes(p->w.nr_nodes + 1, sizeof(bool)));
	for (uint32_t i = 0; i < p->w.nr_nodes; i++)
		p->w.is_source[i] = !p->receives.v[i];
}

/*
 * Until when calls can be decided: three quarters of the window, or before the first call of it
 * that is still open, unless that would be before half of it.
 */
static int64_t horizon(const struct paths *p)
{
	size_t nr = p->w.calls.nr, last = nr / 4 * 3;

	for (size_t i = p->nr_carried; i < last; i++)
		if (p->w.calls.v[i].t4 == CALL_OPEN && i >= nr / 2)
			return p->w.calls.v[i].t1;
	return p->w.calls.v[last].t1;
}

/* Messages that nobody turned out to have passed work on by leave for good. */
static void let_sent_go(const struct paths *p, int64_t until, uint32_t *to)
{
	for (size_t i = 0; i < p->w.calls.nr; i++)
		if (p->w.calls.v[i].is_sent && p->w.calls.v[i].t1 <= until)
			to[i] = CALL_NONE;
}

/* Takes out the calls that are gone. Those that are closed wait for no return any more. */
static void compact(struct paths *p, uint32_t *to)
{
	size_t nr = p->w.calls.nr;

	window_drop(&p->w, to);
	p->nr_carried = p->w.calls.nr;
	for (size_t i = 0; i < nr; i++)
		if (to[i] != CALL_NONE && p->w.calls.v[to[i]].t4 != CALL_OPEN)
			to[i] = CALL_NONE;
	pairs_move(p->pairs, to);
}

/* Parents found for calls that are not yet due are found again in the next window. */
static void keep_decided(struct window *w, int64_t until)
{
	size_t kept = 0;

	vec_each (&w->calls, c) {
		if (c->t4 <= until)
			c->is_decided = true;
		else if (!c->is_decided)
			c->parent = CALL_NONE;
	}
	vec_each (&w->alternatives, a)
		if (w->calls.v[a->call].is_decided)
			w->alternatives.v[kept++] = *a;
	w->alternatives.nr = kept;
}

/* Gives every call a beginning, an end, and a sender that may have been called. */
static void prepare(struct paths *p, struct half *half)
{
	forward_tie(&p->w, p->pairs, store_losses(p->store));
	half_fill(half);
	find_sources(p);
	hosts_join(p->hosts, &p->w, p->receives.v);
	late_tie(&p->w, p->linger.v);
}

static bool is_stopped(const struct paths *p)
{
	return p->w.is_stopped && p->w.is_stopped();
}

static int close_window(struct paths *p, bool is_last, struct error *err)
{
	int64_t until = is_last || !p->w.calls.nr ? CALL_OPEN - 1 : horizon(p);
	struct half half = { .w = &p->w,
			     .pairs = p->pairs,
			     .losses = store_losses(p->store),
			     .nr_carried = p->nr_carried,
			     .is_last = is_last,
			     .first = p->first,
			     .now = p->now };
	struct emit e = { p->store, p->feed, str_of(p->method->name), NULL };
	uint32_t *to;
	int r;

	prepare(p, &half);
	p->method->run(&p->w);
	half_restore(&half);
	if (is_stopped(p))
		return error_set(err, EINTR, "stopped");
	alternatives_settle(&p->w);
	e.linger = p->linger.v;
	to = mem_zalloc(mem_bytes(p->w.calls.nr + 1, sizeof(*to)));
	r = emit_requests(&e, &p->w, until, to, err);
	keep_decided(&p->w, until);
	let_sent_go(p, until, to);
	compact(p, to);
	free(to);
	return r;
}

static int take_all(struct paths *p, struct error *err)
{
	struct message m;
	int r;

	while ((r = feed_next(p->feed, &m, err)) > 0) {
		if (p->first == INT64_MAX)
			p->first = m.ns;
		p->now = m.ns;
		pairs_take(p->pairs, &p->w, &m);
		if (p->w.calls.nr + pairs_orphans(p->pairs)->nr >= p->nr_carried + WINDOW_CALLS) {
			r = close_window(p, false, err);
			if (r < 0)
				return r;
		}
	}
	return r < 0 ? r : close_window(p, true, err);
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct paths p = { .store = s,
			   .method = find_method(o->method),
			   .first = INT64_MAX,
			   .w = { .is_stopped = o->is_stopped } };
	int r;

	if (o->method && !strcmp(o->method, "convolution"))
		return 0; /* is another inference */
	if (!p.method)
		return error_set(err, EINVAL, "there is no method '%s' to find paths", o->method);
	r = feed_new(&p.feed, s, o, err);
	if (r < 0 || !p.feed)
		return r;
	p.pairs = pairs_new(store_losses(s));
	p.hosts = hosts_new(p.feed, store_losses(s));
	r = take_all(&p, err);
	pairs_free(p.pairs);
	hosts_free(p.hosts);
	feed_free(p.feed);
	free(p.w.is_source);
	vec_done(&p.w.calls);
	vec_done(&p.w.alternatives);
	vec_done(&p.receives);
	vec_done(&p.linger);
	return r;
}

const struct inference infer_paths = {
	.name = "paths",
	.summary = "requests from messages alone: calls and returns tied into causal paths",
	.run = run,
};
