/* An interval that marks told has ended: its critical path, and what its threads did along it. */
#include <stdlib.h>

#include "infer/intervals/state.h"

/* A call that is around all that its thread did for the interval is no part of it, but for the one
 * that began the work. */
static bool is_around(void *to, const struct log_item *i)
{
	const struct segment *g = to;

	/* the call that is the interval: its start may be told by a clock that was set since */
	if (g->opener == i->function && g->of->function == i->function)
		return i->end >= g->end;
	return i->start < g->start && i->end > g->end && i->function != g->opener;
}

/* The stretches of the path that are in one segment, in the order of time. */
static size_t windows_of(const struct segment *g, const struct path *p, struct tree_window *out)
{
	int64_t ns = 0;
	size_t nr = 0;

	for (size_t i = p->v.nr; i-- > 0;) {
		const struct path_stretch *v = &p->v.v[i];

		if (v->thread != g->thread || v->from < g->start || v->to > g->end)
			continue;
		out[nr++] = (struct tree_window){ v->from, v->to, ns };
		ns += v->to - v->from;
	}
	return nr;
}

static void add_nobody(struct call_tree *t, int64_t ns)
{
	uint32_t at = call_tree_child(t, 0, PART_WAIT + WAIT_QUEUE, 0);

	t->nodes.v[at].ns += ns;
	t->nodes.v[at].nr++;
	t->nodes.v[0].below_ns += ns;
}

static void add_path(struct intervals *s, const struct under_way *w, const struct path *p)
{
	struct tree_window *windows = mem_alloc(mem_bytes(p->v.nr + 1, sizeof(*windows)));
	uint32_t root = call_tree_child(&s->tree, TREE_NONE, w->function, 0);

	s->tree.nodes.v[root].ns = w->end - w->start;
	s->tree.nodes.v[root].nr = 1;
	vec_each (&w->segments, at) {
		struct segment *g = *at;
		struct tree_measure m = { .windows = windows, .is_around = is_around, .to = g };
		const struct tree_window *last;

		m.nr_windows = windows_of(g, p, windows);
		if (!m.nr_windows)
			continue;
		last = &windows[m.nr_windows - 1];
		call_tree_add(&s->tree, root, last->before_ns + last->to - last->from,
			      g->log.items.v + g->log.first, g->log.items.nr - g->log.first, &m);
		intervals_lose(s, LOSS_CALLS_LEFT, g->log.nr_left);
	}
	vec_each (&p->v, v)
		if (v->thread == NO_THREAD)
			add_nobody(&s->tree, v->to - v->from);
	free(windows);
}

static bool way_has_gap(const struct intervals *s, const struct under_way *w)
{
	bool has = w->has_gap;

	vec_each (&w->segments, g)
		has |= intervals_have_gap(s, &s->tracks.v[(*g)->thread], (*g)->start, (*g)->end);
	return has;
}

struct done_interval *across_done(struct intervals *s, const struct under_way *w)
{
	const struct track *t = &s->tracks.v[w->thread];
	struct interval v = { .value = w->value,
			      .start = w->start,
			      .end = w->end,
			      .process = t->process,
			      .thread = t->thread,
			      .is_partial = way_has_gap(s, w) };
	struct path p = { 0 };
	struct done_interval *d;

	call_tree_clear(&s->tree);
	path_find(w, &p);
	add_path(s, w, &p);
	intervals_lose(s, LOSS_HANDOFFS_GUESSED, p.nr_guessed);
	d = parts_done(s, &v);
	if (s->o.wants_body && s->o.wants_body(s->o.to, &d->v))
		spans_of_segments(s, d, w, &p);
	vec_done(&p.v);
	return d;
}
