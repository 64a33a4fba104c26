/*
 * Intervals that are one call of a function, on one thread. Calls are told when they end, so that
 * an inner one comes before the outer one that alone counts: a mark when the function is entered
 * tells which it is, and without marks an interval waits for HOLD_NS.
 */
#include <stdlib.h>

#include "infer/intervals/state.h"

bool whole_entered(struct intervals *s, struct track *t, const struct event_of *e)
{
	while (s->is_marked.nr <= e->function)
		vec_push(&s->is_marked, false);
	s->is_marked.v[e->function] = true;
	vec_push(&t->whole, (struct whole_entry){ .ns = e->ns, .function = e->function });
	return t->whole.nr == 1;
}

bool whole_heal(struct intervals *s, struct track *t, const struct function_call *c)
{
	while (t->whole.nr && t->whole.v[t->whole.nr - 1].ns > c->start) {
		t->whole.nr--;
		if (t->whole.nr)
			continue;
		intervals_lose(s, LOSS_INTERVALS_OPEN, 1);
		return true;
	}
	return false;
}

/* Its own entry goes, and those of calls in it that were never told. Returns whether it is in no
 * other. */
bool whole_leave(struct intervals *s, struct track *t, int64_t start, uint32_t function)
{
	size_t was = t->whole.nr;

	while (t->whole.nr && t->whole.v[t->whole.nr - 1].ns >= start)
		t->whole.nr--;
	/* a clock that is read anew for the call is later by a little */
	if (t->whole.nr == was && was && t->whole.v[was - 1].function == function)
		t->whole.nr--;
	if (was > t->whole.nr + 1)
		intervals_lose(s, LOSS_CALLS_LATE, was - t->whole.nr - 1);
	return !t->whole.nr;
}

static struct done_interval *make(struct intervals *s, struct track *t,
				  const struct function_call *c)
{
	const struct log_item *items = t->idle.items.v;
	size_t end = t->idle.items.nr, nr = items[end - 1].size;
	const struct tree_measure all = { 0 };
	struct interval v = { .start = items[end - 1].start,
			      .end = c->end,
			      .process = t->process,
			      .thread = t->thread,
			      .is_partial =
				      intervals_have_gap(s, t, items[end - 1].start, c->end) };
	struct done_interval *d;

	call_tree_clear(&s->tree);
	call_tree_add(&s->tree, TREE_NONE, v.end - v.start, items + end - nr, nr, &all);
	d = parts_done(s, &v);
	if (s->o.wants_body && s->o.wants_body(s->o.to, &d->v))
		spans_of_call(s, d, t, items + end - nr, nr);
	return d;
}

void whole_ended(struct intervals *s, struct track *t, const struct function_call *c)
{
	bool is_marked = c->function < s->is_marked.nr && s->is_marked.v[c->function];

	if (is_marked && !whole_leave(s, t, c->start, c->function))
		return;
	if (c->is_open) {
		intervals_lose(s, LOSS_INTERVALS_OPEN, 1);
		return;
	}
	while (t->maybe.nr && t->maybe.v[t->maybe.nr - 1]->v.start >= c->start)
		done_interval_free(t->maybe.v[--t->maybe.nr]);
	if (c->start < t->told_ns) {
		intervals_lose(s, LOSS_INTERVALS_AROUND, 1);
		return;
	}
	if (is_marked) {
		t->told_ns = c->end;
		vec_push(&s->ready, make(s, t, c));
		thread_log_clear(&t->idle);
	} else {
		s->is_held = true;
		vec_push(&t->maybe, make(s, t, c));
	}
}

void whole_settle(struct intervals *s, struct track *t)
{
	size_t nr = 0;

	while (nr < t->maybe.nr && t->maybe.v[nr]->v.end < s->until - HOLD_NS)
		vec_push(&s->ready, t->maybe.v[nr++]);
	if (!nr)
		return;
	t->told_ns = t->maybe.v[nr - 1]->v.end;
	t->maybe.nr -= nr;
	for (size_t i = 0; i < t->maybe.nr; i++)
		t->maybe.v[i] = t->maybe.v[i + nr];
}
