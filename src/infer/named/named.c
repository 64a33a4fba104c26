/*
 * The simplest inference: what names its request belongs to it.
 *
 * The store hands back everything with a key in parts that hold whole keys, so memory is bounded by
 * a part. The first pass surveys (how clocks differ, on which hosts services ran, how long pieces
 * of work are silent); the second makes the requests. Linear in what was delivered, but for
 * sorting.
 */
#include "infer/named/named.h"

#include <errno.h>

#include "base/error.h"
#include "infer/clock.h"
#include "infer/named/gaps.h"
#include "infer/named/group.h"
#include "infer/named/services.h"
#include "store/store.h"

/* Makes a group of the spans and events at the fronts of the part that share the smallest key. */
static bool next_group(struct part *p, struct group *g)
{
	bool has_span = p->nr_spans, has_event = p->nr_events;
	size_t s = 0, e = 0;

	if (!has_span && !has_event)
		return false;
	if (has_span && (!has_event || str_cmp(p->spans[0].key, p->events[0].key) <= 0))
		g->key = p->spans[0].key;
	else
		g->key = p->events[0].key;
	while (s < p->nr_spans && str_eq(p->spans[s].key, g->key))
		s++;
	g->key_kind = s ? KEY_TRACE : KEY_NONE;
	for (; e < p->nr_events && str_eq(p->events[e].key, g->key); e++) {
		if (p->events[e].key_kind > g->key_kind)
			g->key_kind = p->events[e].key_kind;
		if (!g->key.n && ++e)
			break; /* without a key each stands for itself */
	}
	g->spans = p->spans;
	g->nr_spans = s;
	g->events = p->events;
	g->numbers = p->numbers;
	g->nr_events = e;
	p->spans += s;
	p->nr_spans -= s;
	p->events += e;
	p->numbers += e;
	p->nr_events -= e;
	return true;
}

static bool group_has(const struct group *g, enum event_kind kind)
{
	for (size_t i = 0; i < g->nr_events; i++)
		if (g->events[i].kind == kind)
			return true;
	return false;
}

static int survey(struct named *n, const struct group *g, struct error *err)
{
	(void)err;
	if (g->nr_spans)
		tree_survey(n, g);
	else
		line_survey(n, g);
	if (group_has(g, EVENT_POINT))
		graph_survey(n, g);
	return 0;
}

static int make(struct named *n, const struct group *g, struct error *err)
{
	int got = 0;

	if (g->nr_spans)
		got = tree_requests(n, g, err);
	else if (group_has(g, EVENT_LOG))
		got = line_requests(n, g, err);
	if (got >= 0 && group_has(g, EVENT_POINT))
		got = graph_requests(n, g, err);
	return got;
}

static int each_group(struct named *n,
		      int (*each)(struct named *, const struct group *, struct error *),
		      struct error *err)
{
	struct arena arena = { 0 };
	int got = 0;

	for (unsigned i = 0; i < store_nr_parts(n->store) && got >= 0; i++) {
		struct part part;
		struct group g;

		got = store_part(n->store, i, &arena, &part, err);
		while (got >= 0 && next_group(&part, &g)) {
			got = each(n, &g, err);
			arena_reset(&n->arena);
			if (n->options->is_stopped && n->options->is_stopped())
				got = error_set(err, EINTR, "interrupted");
		}
		arena_reset(&arena);
	}
	arena_done(&arena);
	return got < 0 ? got : 0;
}

static int tell_clocks(struct named *n, struct error *err)
{
	struct clock_found f;
	uint32_t at = 0;
	int got = 0;

	while (got >= 0 && clock_next(n->clock, &at, &f)) {
		struct clock_fix fix = { f.name, f.offset_ns, f.pairs, f.agree, f.applied };

		n->losses->count[f.applied ? LOSS_CLOCKS_CORRECTED : LOSS_CLOCKS_UNSURE]++;
		got = store_add_clock_fix(n->store, &fix, err);
	}
	return got;
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct named n = { .store = s, .options = o, .losses = store_losses(s) };
	int got;

	n.clock = clock_new();
	n.services = services_new();
	n.gaps = gaps_new();
	/* events that are in a request already stay there */
	got = store_leave_placed(s, err);
	if (got >= 0)
		got = each_group(&n, survey, err);
	clock_solve(n.clock, o->max_skew_ns);
	if (got >= 0)
		got = tell_clocks(&n, err);
	if (got >= 0)
		got = each_group(&n, make, err);
	arena_done(&n.arena);
	gaps_free(n.gaps);
	services_free(n.services);
	clock_free(n.clock);
	return got;
}

const struct inference infer_named = {
	.name = "named",
	.summary = "requests that carry their own name: trace ids, request ids, span trees",
	.run = run,
};
