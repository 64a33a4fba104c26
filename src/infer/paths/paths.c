/*
 * The sliding window that the paper names as future work (section 8), around any method that finds
 * parents: calls gather until the window is full, the method looks at all of them, and the requests
 * that had ended by three quarters of the window leave. The last quarter is there so that nobody is
 * judged before those who might have caused him are seen whole; it stays for the next window.
 *
 * Memory is a window: 64 bytes a call, so 32 a message, and what the method needs on top.
 */
#include "infer/paths/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "infer/paths/calls.h"
#include "infer/paths/emit.h"
#include "infer/paths/feed.h"
#include "infer/paths/joint.h"
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
	const struct method *method;
	struct window w;
	size_t nr_carried;  /* calls at the front that an earlier window left */
	VEC(bool) receives; /* by node */
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
	for (size_t i = p->nr_carried; i < p->w.calls.nr; i++)
		p->receives.v[p->w.calls.v[i].to] = true;
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

/* Calls that leave without a return; to[] is set for those that pairs must forget. */
static void give_up_open(struct paths *p, size_t nr, uint32_t *to)
{
	for (size_t i = 0; i < nr; i++) {
		if (p->w.calls.v[i].t4 != CALL_OPEN)
			continue;
		to[i] = CALL_NONE;
		store_losses(p->store)->count[LOSS_CALLS_OPEN]++;
	}
}

/* Takes out the calls that are gone and tells the others where they and their parents are now. */
static void compact(struct paths *p, uint32_t *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->w.calls.nr; i++)
		if (to[i] != CALL_NONE)
			to[i] = (uint32_t)kept++;
	pairs_move(p->pairs, to);
	for (size_t i = 0; i < p->w.calls.nr; i++) {
		struct call c = p->w.calls.v[i];

		if (to[i] == CALL_NONE)
			continue;
		if (c.parent != CALL_NONE)
			c.parent = to[c.parent];
		p->w.calls.v[to[i]] = c;
	}
	p->w.calls.nr = p->nr_carried = kept;
}

/* Parents found for calls that are not yet due are found again in the next window. */
static void keep_decided(struct window *w, int64_t until)
{
	vec_each (&w->calls, c) {
		if (c->t4 <= until)
			c->is_decided = true;
		else if (!c->is_decided)
			c->parent = CALL_NONE;
	}
}

static int close_window(struct paths *p, bool is_last, struct error *err)
{
	struct emit e = { p->store, p->feed, str_of(p->method->name) };
	int64_t until = is_last || !p->w.calls.nr ? CALL_OPEN - 1 : horizon(p);
	uint32_t *to = mem_zalloc(mem_bytes(p->w.calls.nr + 1, sizeof(*to)));
	int r;

	find_sources(p);
	p->method->run(&p->w);
	keep_decided(&p->w, until);
	r = emit_requests(&e, &p->w, until, to, err);
	give_up_open(p, is_last ? p->w.calls.nr : p->nr_carried, to);
	compact(p, to);
	free(to);
	return r;
}

static int take_all(struct paths *p, struct error *err)
{
	struct message m;
	int r;

	while ((r = feed_next(p->feed, &m, err)) > 0) {
		pairs_take(p->pairs, &p->w, &m);
		if (p->w.calls.nr >= p->nr_carried + WINDOW_CALLS) {
			r = close_window(p, false, err);
			if (r < 0)
				return r;
		}
	}
	return r < 0 ? r : close_window(p, true, err);
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct paths p = { .store = s, .method = find_method(o->method) };
	int r;

	if (o->method && !strcmp(o->method, "convolution"))
		return 0; /* is another inference */
	if (!p.method)
		return error_set(err, EINVAL, "there is no method '%s' to find paths", o->method);
	r = feed_new(&p.feed, s, err);
	if (r < 0 || !p.feed)
		return r;
	p.pairs = pairs_new(store_losses(s));
	r = take_all(&p, err);
	pairs_free(p.pairs);
	feed_free(p.feed);
	free(p.w.is_source);
	vec_done(&p.w.calls);
	vec_done(&p.receives);
	return r;
}

const struct inference infer_paths = {
	.name = "paths",
	.summary = "requests from messages alone: calls and returns tied into causal paths",
	.run = run,
};
