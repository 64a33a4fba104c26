/*
 * Who ended the waits: a table of which function waited and which one was running where the wait
 * was ended, whatever that worked for. Both are known when the first call that holds the moment has
 * ended, so that a wait is noted with both threads until then, or until HOLD_NS later it is in no
 * call.
 */
#include <stdlib.h>

#include "infer/intervals/state.h"

#define KINDS_MAX 4096
#define NOTES_MAX 65536

static uint64_t key_of(const struct interval_wake *w)
{
	return map_three(w->waits_in, w->woken_by, (uint32_t)w->why);
}

/* One of a kind that is told no more, there being too many, is not told at all: the table is
 * evidence, not a sum. */
static void count(struct intervals *s, const struct wake_note *n)
{
	const struct interval_wake new = { n->waits_in, n->woken_by, n->why, 0, 0 };
	uint64_t *at;
	struct interval_wake *w;

	if (s->wakes.nr == KINDS_MAX && !map_find(&s->by_wake, key_of(&new)))
		return;
	at = map_at(&s->by_wake, key_of(&new));
	if (!*at) {
		vec_push(&s->wakes, new);
		*at = s->wakes.nr;
	}
	w = &s->wakes.v[*at - 1];
	w->nr++;
	w->ns += n->woken - n->from;
}

static void close_note(struct intervals *s, uint32_t number)
{
	struct wake_note *n = &s->notes.v[number];

	if (--n->nr_open)
		return;
	count(s, n);
	vec_push(&s->free_notes, number);
}

void wakes_add(struct intervals *s, uint32_t track, const struct woken_wait *w)
{
	const struct wake_note new = { w->from, w->woken, UINT32_MAX, UINT32_MAX, w->why, 2 };
	uint32_t number;

	if (s->free_notes.nr) {
		number = s->free_notes.v[--s->free_notes.nr];
		s->notes.v[number] = new;
	} else if (s->notes.nr < NOTES_MAX) {
		number = (uint32_t)s->notes.nr;
		vec_push(&s->notes, new);
	} else {
		return;
	}
	vec_push(&s->tracks.v[track].waited, number);
	vec_push(&s->tracks.v[w->waker].woke, number);
}

void wakes_call(struct intervals *s, struct track *t, const struct function_call *c)
{
	while (t->waited.nr) {
		uint32_t number = t->waited.v[t->waited.nr - 1];

		if (s->notes.v[number].from < c->start)
			break;
		s->notes.v[number].waits_in = c->function;
		t->waited.nr--;
		close_note(s, number);
	}
	/* told when the wait was over: some are later than what ends now, none is in order for sure
	 */
	for (size_t i = t->woke.nr; i-- > 0;) {
		uint32_t number = t->woke.v[i];
		int64_t ns = s->notes.v[number].woken;

		if (ns < c->start || ns > c->end)
			continue;
		s->notes.v[number].woken_by = c->function;
		t->woke.v[i] = t->woke.v[--t->woke.nr];
		close_note(s, number);
	}
}

static void expire(struct intervals *s, uint32_t *v, size_t *nr)
{
	size_t left = 0;

	for (size_t i = 0; i < *nr; i++) {
		if (s->notes.v[v[i]].woken >= s->until - HOLD_NS)
			v[left++] = v[i];
		else
			close_note(s, v[i]);
	}
	*nr = left;
}

void wakes_settle(struct intervals *s)
{
	vec_each (&s->tracks, t) {
		expire(s, t->waited.v, &t->waited.nr);
		expire(s, t->woke.v, &t->woke.nr);
	}
}

static int by_length(const void *a, const void *b)
{
	const struct interval_wake *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->waits_in != y->waits_in)
		return x->waits_in < y->waits_in ? -1 : 1;
	if (x->woken_by != y->woken_by)
		return x->woken_by < y->woken_by ? -1 : 1;
	return (int)x->why - (int)y->why;
}

size_t intervals_wakes(const struct intervals *s, struct interval_wake *out, size_t max)
{
	size_t nr = s->wakes.nr;
	struct interval_wake *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));

	for (size_t i = 0; i < nr; i++)
		v[i] = s->wakes.v[i];
	qsort(v, nr, sizeof(*v), by_length);
	if (nr > max)
		nr = max;
	for (size_t i = 0; i < nr; i++)
		out[i] = v[i];
	free(v);
	return nr;
}

void wakes_done(struct intervals *s)
{
	vec_done(&s->notes);
	vec_done(&s->free_notes);
	vec_done(&s->wakes);
	map_done(&s->by_wake);
}
