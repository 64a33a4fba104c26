/*
 * Times in which a process stood still, as a Java machine does to collect garbage. A thread that
 * ran then waits where nothing of the program tells why; one that waited for a lock waits longer,
 * since nobody goes on. It meets whichever function is at work, so that it is no part of that one:
 * it is told as one part of the interval.
 */
#include "infer/intervals/state.h"

#define STOPS_MAX 1024
#define STOPPED (PART_WAIT + (uint32_t)WAIT_GC)

static void stop_keep(struct intervals *s, const struct stop *new)
{
	size_t old = s->stops.nr / 2;

	if (s->stops.nr == STOPS_MAX) {
		for (size_t i = old; i < s->stops.nr; i++)
			s->stops.v[i - old] = s->stops.v[i];
		s->stops.nr -= old;
	}
	vec_push(&s->stops, *new);
}

/* Where states of threads are not seen, nobody has told that they did not run. */
void stops_add(struct intervals *s, const struct event_of *e)
{
	struct stop new = { e->start, e->ns, s->tracks.v[e->track].process };

	stop_keep(s, &new);
	if (s->has_changes)
		return;
	vec_each (&s->tracks, t)
		if (t->process == new.process)
			thread_log_wait(track_log(t), new.from, new.to, WAIT_GC);
}

/* Who waits for time to pass, or for somebody outside, waits no longer for it. With a processor one
 * could not go on either. */
static bool is_prolonged(enum wait_why why)
{
	return why == WAIT_LOCK || why == WAIT_QUEUE || why == WAIT_CPU;
}

void stops_wait(struct intervals *s, struct track *t, int64_t from, int64_t to, enum wait_why why)
{
	size_t at = s->stops.nr;

	while (at && s->stops.v[at - 1].to > from)
		at--;
	for (; is_prolonged(why) && at < s->stops.nr; at++) {
		const struct stop *p = &s->stops.v[at];

		if (p->process != t->process || p->from >= to || p->to <= from)
			continue;
		thread_log_wait(track_log(t), from, p->from, why);
		from = p->from > from ? p->from : from;
		thread_log_wait(track_log(t), from, p->to < to ? p->to : to, WAIT_GC);
		from = p->to < to ? p->to : to;
	}
	thread_log_wait(track_log(t), from, to, why);
}

/* Machines wait for a lock as for anything else, and look now and then whether it is free. */
static bool may_be_lock(uint32_t why)
{
	return why == WAIT_QUEUE || why == WAIT_SLEEP;
}

/* Nothing was called meanwhile: these waits are the last that are known of it. */
void stops_lock(struct intervals *s, struct track *t, int64_t from)
{
	struct thread_log *l = track_log(t);

	for (size_t i = l->items.nr; i > l->first && l->items.v[i - 1].end > from; i--)
		if (may_be_lock(l->items.v[i - 1].function - PART_WAIT))
			l->items.v[i - 1].function = PART_WAIT + WAIT_LOCK;
	for (size_t i = t->waited.nr; i > 0 && s->notes.v[t->waited.v[i - 1]].from >= from; i--)
		if (may_be_lock(s->notes.v[t->waited.v[i - 1]].why))
			s->notes.v[t->waited.v[i - 1]].why = WAIT_LOCK;
}

void stops_lift(struct call_tree *t)
{
	size_t nr = t->nodes.nr;
	int64_t all = 0;
	uint32_t own;

	for (size_t i = 1; i < nr; i++) {
		struct tree_node *n = &t->nodes.v[i];

		if (n->function != STOPPED || !n->parent)
			continue;
		for (uint32_t up = n->parent; up && up != TREE_NONE; up = t->nodes.v[up].parent)
			t->nodes.v[up].ns -= n->ns;
		all += n->ns;
		n->ns = 0;
	}
	own = all ? call_tree_child(t, 0, STOPPED, 0) : TREE_NONE;
	if (own == TREE_NONE)
		return;
	t->nodes.v[own].ns += all;
	t->nodes.v[own].nr++;
}
