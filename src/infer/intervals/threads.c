/*
 * The threads that are known, by number. Programs that make a process for each client would fill
 * the memory with those that ended: their places are used again when no interval can name them.
 */
#include <stdlib.h>

#include "infer/intervals/state.h"

static bool comes_before(const struct track *a, uint32_t process, uint32_t thread)
{
	return a->process != process ? a->process < process : a->thread < thread;
}

/* Where the thread is in the order of threads, or would be. */
static size_t place_of(const struct intervals *s, uint32_t process, uint32_t thread)
{
	size_t low = 0, high = s->order.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (comes_before(&s->tracks.v[s->order.v[middle]], process, thread))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t new_track(struct intervals *s, uint32_t process, uint32_t thread)
{
	const struct track new = { .process = process,
				   .thread = thread,
				   .gone_ns = INT64_MAX,
				   .waker = NO_THREAD,
				   .made_by = { NO_THREAD, 0 } };
	size_t at = place_of(s, process, thread);
	uint32_t number;

	if (s->gone.nr) {
		number = s->gone.v[--s->gone.nr];
		s->tracks.v[number] = new;
	} else {
		number = (uint32_t)s->tracks.nr;
		vec_push(&s->tracks, new);
	}
	vec_push(&s->order, number);
	for (size_t i = s->order.nr - 1; i > at; i--)
		s->order.v[i] = s->order.v[i - 1];
	s->order.v[at] = number;
	return number;
}

uint32_t track_find(struct intervals *s, uint32_t process, uint32_t thread)
{
	uint64_t *number;

	if (s->last < s->tracks.nr && s->tracks.v[s->last].thread == thread &&
	    s->tracks.v[s->last].process == process)
		return s->last;
	number = map_at(&s->by_thread, map_pair(process, thread));
	if (!*number)
		*number = 1 + (uint64_t)new_track(s, process, thread);
	s->last = (uint32_t)(*number - 1);
	return s->last;
}

static void track_done(struct intervals *s, struct track *t)
{
	if (!s->is_across && t->whole.nr)
		intervals_lose(s, LOSS_INTERVALS_OPEN, 1);
	vec_done(&t->queue);
	thread_log_done(&t->idle);
	vec_done(&t->carries);
	vec_done(&t->held);
	vec_done(&t->whole);
	vec_each (&t->maybe, d)
		done_interval_free(*d);
	vec_done(&t->maybe);
	vec_done(&t->waited);
	vec_done(&t->woke);
}

/* Nothing of it waits, and all that is under way began after it ended. */
static bool is_forgettable(const struct intervals *s, const struct track *t)
{
	if (t->gone_ns >= s->until - HOLD_NS || t->at || t->held.nr || t->queue.nr || t->maybe.nr ||
	    t->waited.nr || t->woke.nr)
		return false;
	return (!s->oldest || s->oldest->start > t->gone_ns) &&
	       (!s->ended.nr || s->ended.v[0]->start > t->gone_ns);
}

/* Numbers of threads come again: the table is made anew when most in it are gone. */
static void forget_numbers(struct intervals *s)
{
	if (s->by_thread.nr < 1024 || s->by_thread.nr < 2 * s->order.nr)
		return;
	map_clear(&s->by_thread);
	for (size_t i = 0; i < s->order.nr; i++) {
		const struct track *t = &s->tracks.v[s->order.v[i]];

		*map_at(&s->by_thread, map_pair(t->process, t->thread)) =
			1 + (uint64_t)s->order.v[i];
	}
}

/* What was told already of later times names threads by their numbers. */
static bool *find_named(const struct intervals *s)
{
	bool *is_named = mem_zalloc(s->tracks.nr + 1);

	vec_each (&s->events, e) {
		is_named[e->track] = true;
		if (e->kind == OCCASION_CHANGE && e->other != NO_THREAD)
			is_named[e->other] = true;
	}
	return is_named;
}

void threads_settle(struct intervals *s)
{
	bool *is_named;
	size_t nr = 0;

	if (!s->nr_gone)
		return;
	is_named = find_named(s);
	for (size_t i = 0; i < s->order.nr; i++) {
		uint32_t number = s->order.v[i];
		struct track *t = &s->tracks.v[number];

		if (is_named[number] || !is_forgettable(s, t)) {
			s->order.v[nr++] = number;
			continue;
		}
		*map_at(&s->by_thread, map_pair(t->process, t->thread)) = 0;
		track_done(s, t);
		*t = (struct track){ .gone_ns = INT64_MAX };
		vec_push(&s->gone, number);
		s->nr_gone--;
	}
	s->order.nr = nr;
	free(is_named);
	forget_numbers(s);
}

void threads_close(struct intervals *s)
{
	vec_each (&s->tracks, t)
		track_done(s, t);
	vec_done(&s->tracks);
	vec_done(&s->order);
	vec_done(&s->gone);
	map_done(&s->by_thread);
}
