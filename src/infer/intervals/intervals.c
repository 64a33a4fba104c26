/*
 * Takes calls, marks and changes as they come, thread by thread, and goes through them in the order
 * of time once all of a while was told. Calls alone need no order between threads: each thread's
 * wait until something of that thread is due.
 *
 * Algorithm 2 of VProfiler (Huang et al., EuroSys 2017), sections 3.1 and 3.3: whole.c has
 * intervals of one call, segments.c those that marks tell, path.c the critical path. Where we
 * differ: waits are known from the scheduler and not from a list of functions, calls that lie
 * around an interval are no part of it, and what nobody worked for the interval is a wait in a
 * queue.
 *
 * Time is linear in calls, and n log n in marks and changes of one settling.
 */
#include "infer/intervals/intervals.h"

#include <stdlib.h>

#include "infer/intervals/state.h"

#define GAPS_MAX 1024

static void set_functions(struct intervals *s, const struct interval_function *v, size_t nr)
{
	for (size_t i = s->functions.nr; i < nr; i++)
		vec_push(&s->functions,
			 (struct interval_function){ arena_str(&s->arena, v[i].name), v[i].role });
	for (size_t i = 0; i < nr; i++) {
		s->functions.v[i].role = v[i].role;
		if (v[i].role > ROLE_WHOLE)
			s->is_across = s->is_held = true;
	}
}

int intervals_open(struct intervals **s, const struct intervals_options *o, struct error *err)
{
	struct intervals *new = mem_zalloc(sizeof(*new));

	(void)err;
	new->o = *o;
	new->until = INT64_MIN;
	set_functions(new, o->functions, o->nr_functions);
	*s = new;
	return 0;
}

int intervals_functions(struct intervals *s, const struct interval_function *v, size_t nr)
{
	set_functions(s, v, nr);
	return 0;
}

static struct event_of *new_event(struct intervals *s, int64_t ns, uint32_t track, uint8_t kind)
{
	vec_push(&s->events,
		 (struct event_of){
			 .ns = ns, .order = s->nr_events++, .track = track, .kind = kind });
	return &s->events.v[s->events.nr - 1];
}

/* Calls of one thread may come from two sources, each in order: of equal ends the inner one, which
 * began later, comes first. */
static void queue_call(struct track *t, const struct function_call *c)
{
	size_t at = t->queue.nr;

	vec_push(&t->queue, *c);
	for (; at > t->queue_at; at--) {
		const struct function_call *before = &t->queue.v[at - 1];

		if (before->end < c->end || (before->end == c->end && before->start >= c->start))
			break;
		t->queue.v[at] = *before;
	}
	t->queue.v[at] = *c;
}

int intervals_call(struct intervals *s, const struct function_call *c, size_t nr, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < nr; i++, c++) {
		uint32_t track = track_find(s, c->process, c->thread);
		enum interval_role role = role_of(s, c->function);

		if (c->end < s->until)
			intervals_lose(s, LOSS_CALLS_LATE, 1);
		queue_call(&s->tracks.v[track], c);
		if (s->is_across && (role == ROLE_WHOLE || role == ROLE_CARRY)) {
			struct event_of *e = new_event(s, c->end, track, OCCASION_CALL_END);

			e->function = c->function;
			e->start = c->start;
		}
	}
	return 0;
}

int intervals_mark(struct intervals *s, const struct mark *m, size_t nr, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < nr; i++, m++) {
		struct event_of *e;

		if (role_of(s, m->function) == ROLE_NONE)
			continue;
		e = new_event(s, m->ns, track_find(s, m->process, m->thread), OCCASION_MARK);
		e->function = m->function;
		e->value = m->value;
		e->has_value = m->has_value;
		e->detail = (uint8_t)m->place;
	}
	return 0;
}

int intervals_change(struct intervals *s, const struct thread_change *c, size_t nr,
		     struct error *err)
{
	(void)err;
	s->has_changes |= nr > 0;
	for (size_t i = 0; i < nr; i++, c++) {
		uint32_t other = c->kind == THREAD_WOKEN && c->other
					 ? track_find(s, c->other_process, c->other)
					 : NO_THREAD;
		struct event_of *e =
			new_event(s, c->ns, track_find(s, c->process, c->thread), OCCASION_CHANGE);

		e->detail = (uint8_t)c->kind;
		e->other = other;
		e->value = c->why;
	}
	return 0;
}

/* Of no thread of the program: the first, which every process has, stands for it. */
void intervals_stop(struct intervals *s, uint32_t process, int64_t from, int64_t to)
{
	struct event_of *e = new_event(s, to, track_find(s, process, process), OCCASION_STOP);

	e->start = from;
}

void intervals_lock(struct intervals *s, uint32_t process, uint32_t thread, int64_t from,
		    int64_t to)
{
	struct event_of *e = new_event(s, to, track_find(s, process, thread), OCCASION_LOCK);

	e->start = from;
}

void intervals_gap(struct intervals *s, uint32_t process, uint32_t thread, int64_t from, int64_t to)
{
	if (s->gaps.nr == GAPS_MAX) {
		/* the two oldest are told as one: never fewer intervals are marked */
		struct gap *g = s->gaps.v;

		g[1].from = g[0].from < g[1].from ? g[0].from : g[1].from;
		g[1].to = g[0].to > g[1].to ? g[0].to : g[1].to;
		g[1].process = g[1].thread = 0;
		for (size_t i = 1; i < s->gaps.nr; i++)
			g[i - 1] = g[i];
		s->gaps.nr--;
	}
	vec_push(&s->gaps, (struct gap){ from, to, process, thread });
}

bool intervals_have_gap(const struct intervals *s, const struct track *t, int64_t from, int64_t to)
{
	for (size_t i = s->gaps.nr; i-- > 0;) {
		const struct gap *g = &s->gaps.v[i];

		if (g->from < to && g->to > from &&
		    (!g->thread || (g->thread == t->thread && g->process == t->process)))
			return true;
	}
	return false;
}

static bool is_marked(const struct intervals *s, uint32_t function)
{
	return function < s->is_marked.nr && s->is_marked.v[function];
}

/* The calls of the thread that ended by then. */
static void take_calls(struct intervals *s, struct track *t, int64_t until)
{
	for (; t->queue_at < t->queue.nr && t->queue.v[t->queue_at].end <= until; t->queue_at++) {
		const struct function_call *c = &t->queue.v[t->queue_at];
		bool is_whole = role_of(s, c->function) == ROLE_WHOLE;

		if (!thread_log_call(track_log(t), c))
			intervals_lose(s, LOSS_CALLS_SHARED, 1);
		if (t->waited.nr || t->woke.nr)
			wakes_call(s, t, c);
		if (s->is_across)
			segments_late(t, c);
		if (!is_whole && whole_heal(s, t, c) && s->is_across)
			segments_lost(s, t);
		if (is_whole && (!s->is_across || (!t->at && !is_marked(s, c->function))))
			whole_ended(s, t, c);
		else if (!s->is_held && s->is_marked.nr && !t->whole.nr)
			thread_log_clear(&t->idle);
	}
}

static void drop_taken(struct track *t)
{
	size_t left = t->queue.nr - t->queue_at;

	for (size_t i = 0; i < left; i++)
		t->queue.v[i] = t->queue.v[t->queue_at + i];
	t->queue.nr = left;
	t->queue_at = 0;
}

void track_waited(struct intervals *s, struct track *t, int64_t ns)
{
	bool is_woken = t->why != WAIT_CPU && t->woken_ns >= t->off_ns && t->woken_ns;

	if (!t->off_ns)
		return;
	stops_wait(s, t, t->off_ns, is_woken ? t->woken_ns : ns, t->why);
	if (!is_woken)
		return;
	stops_wait(s, t, t->woken_ns, ns, WAIT_CPU);
	if (t->waker != NO_THREAD)
		segments_waited(t,
				&(struct woken_wait){ t->off_ns, t->woken_ns, t->waker, t->why });
}

static void thread_runs(struct intervals *s, struct track *t, int64_t ns)
{
	if (!t->off_ns)
		return;
	track_waited(s, t, ns);
	if (t->why != WAIT_CPU)
		t->wake_ns = ns;
	t->off_ns = t->woken_ns = 0;
	t->waker = NO_THREAD;
}

static void thread_is_woken(struct intervals *s, struct track *t, const struct event_of *e)
{
	t->woken_ns = e->ns;
	t->waker = e->other;
	if (e->value != WAIT_NONE)
		t->why = (enum wait_why)e->value;
	segments_woken(s, t, e->ns, e->other);
	if (t->waker != NO_THREAD && (t->at || t->whole.nr || (s->is_held && !s->is_across)))
		wakes_add(s, e->track,
			  &(struct woken_wait){ t->off_ns, t->woken_ns, t->waker, t->why });
}

/* A number may be that of a new thread. */
static void set_gone(struct intervals *s, struct track *t, int64_t ns)
{
	s->nr_gone -= t->gone_ns != INT64_MAX;
	t->gone_ns = ns;
	s->nr_gone += t->gone_ns != INT64_MAX;
}

static void take_change(struct intervals *s, const struct event_of *e)
{
	struct track *t = &s->tracks.v[e->track];

	switch ((enum thread_change_kind)e->detail) {
	case THREAD_OFF:
		t->off_ns = e->ns;
		t->woken_ns = 0;
		t->why = (enum wait_why)e->value;
		segments_off(s, t);
		break;
	case THREAD_WOKEN:
		if (t->off_ns && t->why != WAIT_CPU && !t->woken_ns)
			thread_is_woken(s, t, e);
		break;
	case THREAD_ON:
		thread_runs(s, t, e->ns);
		set_gone(s, t, INT64_MAX);
		break;
	case THREAD_BORN:
		set_gone(s, t, INT64_MAX);
		break;
	case THREAD_GONE:
		t->off_ns = t->woken_ns = 0;
		set_gone(s, t, e->ns);
		break;
	}
}

static void take_event(struct intervals *s, const struct event_of *e)
{
	struct track *t = &s->tracks.v[e->track];

	take_calls(s, t, e->ns);
	if (e->kind == OCCASION_STOP) {
		stops_add(s, e);
	} else if (e->kind == OCCASION_LOCK) {
		stops_lock(s, t, e->start);
	} else if (e->kind == OCCASION_CHANGE) {
		take_change(s, e);
	} else if (s->is_across) {
		if (e->kind == OCCASION_MARK)
			segments_mark(s, e);
		else
			segments_call_end(s, e);
	} else if (e->kind == OCCASION_MARK && e->detail == MARK_ENTRY &&
		   role_of(s, e->function) == ROLE_WHOLE) {
		whole_entered(s, t, e);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event_of *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Of equal times, threads come in their own order, not in the one in which they were told. */
static void order_tracks(struct intervals *s)
{
	VEC(uint32_t) rank = { 0 };

	vec_reserve(&rank, s->tracks.nr);
	for (size_t i = 0; i < s->order.nr; i++)
		rank.v[s->order.v[i]] = (uint32_t)i;
	vec_each (&s->events, e)
		e->order = (uint64_t)rank.v[e->track] << 40 | (e->order & ((1ull << 40) - 1));
	vec_done(&rank);
}

static void take_events(struct intervals *s, int64_t until)
{
	size_t nr = 0, left;

	order_tracks(s);
	if (s->events.nr)
		qsort(s->events.v, s->events.nr, sizeof(*s->events.v), by_time);
	while (nr < s->events.nr && s->events.v[nr].ns < until)
		take_event(s, &s->events.v[nr++]);
	left = s->events.nr - nr;
	for (size_t i = 0; i < left; i++)
		s->events.v[i] = s->events.v[nr + i];
	s->events.nr = left;
}

static int by_end(const void *a, const void *b)
{
	const struct interval *x = &(*(struct done_interval *const *)a)->v;
	const struct interval *y = &(*(struct done_interval *const *)b)->v;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void done_interval_free(struct done_interval *d)
{
	arena_done(&d->arena);
	free(d);
}

static int give_out(struct intervals *s, int64_t until, struct error *err)
{
	size_t nr = 0, left;
	int r = 0;

	if (s->ready.nr)
		qsort(s->ready.v, s->ready.nr, sizeof(*s->ready.v), by_end);
	for (; nr < s->ready.nr && s->ready.v[nr]->v.end < until && r >= 0; nr++) {
		struct done_interval *d = s->ready.v[nr];

		d->v.id = ++s->nr_given;
		if (d->v.is_partial)
			intervals_lose(s, LOSS_INTERVALS_PARTIAL, 1);
		r = s->o.interval(s->o.to, &d->v, err);
		done_interval_free(d);
	}
	left = s->ready.nr - nr;
	for (size_t i = 0; i < left; i++)
		s->ready.v[i] = s->ready.v[nr + i];
	s->ready.nr = left;
	return r < 0 ? r : 0;
}

int intervals_settle(struct intervals *s, int64_t until, struct error *err)
{
	if (until <= s->until)
		return 0;
	take_events(s, until);
	s->until = until;
	for (size_t i = 0; i < s->order.nr; i++) {
		struct track *t = &s->tracks.v[s->order.v[i]];

		take_calls(s, t, until - 1);
		drop_taken(t);
		whole_settle(s, t);
		intervals_lose(s, LOSS_CALLS_LEFT, t->idle.nr_left);
		t->idle.nr_left = 0;
	}
	if (s->is_across)
		segments_settle(s);
	wakes_settle(s);
	threads_settle(s);
	return give_out(s, s->is_held ? until - HOLD_NS : until, err);
}

int intervals_close(struct intervals *s, struct error *err)
{
	int r = intervals_settle(s, INT64_MAX, err);

	segments_close(s);
	threads_close(s);
	wakes_done(s);
	vec_each (&s->ready, d)
		done_interval_free(*d);
	vec_each (&s->spare, l)
		thread_log_done(l);
	vec_done(&s->ready);
	vec_done(&s->spare);
	vec_done(&s->events);
	vec_done(&s->gaps);
	vec_done(&s->stops);
	vec_done(&s->ended);
	vec_done(&s->functions);
	vec_done(&s->is_marked);
	vec_done(&s->is_valued);
	vec_done(&s->waits);
	vec_done(&s->place);
	map_done(&s->by_value);
	call_tree_done(&s->tree);
	arena_done(&s->arena);
	free(s);
	return r;
}
