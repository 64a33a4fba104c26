/* Intervals across threads: told examples, and random schedules against Algorithm 2 taken one
 * nanosecond at a time. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "infer/intervals/intervals.h"
#include "model/loss.h"

enum { BEGIN, END, CARRY, PUT, TAKE, WHOLE, FIRST, NR_FUNCTIONS = FIRST + 5 };

static const struct interval_function functions[NR_FUNCTIONS] = {
	[BEGIN] = { { "begin", 5 }, ROLE_BEGIN }, [END] = { { "end", 3 }, ROLE_END },
	[CARRY] = { { "carry", 5 }, ROLE_CARRY }, [PUT] = { { "put", 3 }, ROLE_PUT },
	[TAKE] = { { "take", 4 }, ROLE_TAKE },    [WHOLE] = { { "whole", 5 }, ROLE_WHOLE },
	[FIRST] = { { "a", 1 }, ROLE_NONE },
};

/* What came out of the last one. */
struct out {
	struct intervals *s;
	struct losses losses;
	unsigned nr;
	int64_t duration, ns[NR_FUNCTIONS], body, waits[NR_WAITS]; /* parts at the root */
	int64_t inside[NR_FUNCTIONS];                              /* waits beside functions */
	unsigned nr_spans, nr_handoffs, nr_wakeups;
	bool is_partial;
};

static void check_sums(const struct interval *v)
{
	for (size_t i = 0; i < v->nr_parts; i++) {
		int64_t ns = 0;
		bool has = false;

		for (size_t k = i + 1; k < v->nr_parts; k++)
			if (v->parts[k].parent == i) {
				has = true;
				ns += v->parts[k].ns;
			}
		if (has)
			assert_int_equal(ns, v->parts[i].ns);
	}
	assert_int_equal(v->parts[0].ns, v->end - v->start);
}

static int keep(void *to, const struct interval *v, struct error *err)
{
	struct out *o = to;

	(void)err;
	check_sums(v);
	memset(o->ns, 0, sizeof(o->ns));
	memset(o->waits, 0, sizeof(o->waits));
	memset(o->inside, 0, sizeof(o->inside));
	o->body = 0;
	o->nr++;
	o->duration = v->end - v->start;
	o->is_partial = v->is_partial;
	for (size_t i = 1; i < v->nr_parts; i++) {
		const struct interval_part *p = &v->parts[i];

		if (p->function < NR_FUNCTIONS) {
			o->ns[p->function] += p->ns;
			for (int n = 0; n < NR_WAITS; n++)
				o->inside[p->function] += p->waits[n];
		} else if (p->function == PART_BODY && !p->parent) {
			o->body = p->ns;
		} else if (p->function >= PART_WAIT) {
			o->waits[p->function - PART_WAIT] += p->ns;
		}
	}
	o->nr_spans = o->nr_handoffs = o->nr_wakeups = 0;
	for (size_t i = 0; v->body && i < v->body->nr_edges; i++) {
		o->nr_handoffs += v->body->edges[i].kind == EDGE_HANDOFF;
		o->nr_wakeups += v->body->edges[i].kind == EDGE_WAKEUP;
	}
	o->nr_spans = v->body ? (unsigned)v->body->nr_spans : 0;
	return 0;
}

static bool want(void *to, const struct interval *v)
{
	(void)to, (void)v;
	return true;
}

static void open_out(struct out *o)
{
	struct intervals_options options = { .functions = functions,
					     .nr_functions = NR_FUNCTIONS,
					     .losses = &o->losses,
					     .wants_body = want,
					     .interval = keep,
					     .to = o };

	assert_int_equal(intervals_open(&o->s, &options, NULL), 0);
}

static void close_out(struct out *o)
{
	assert_int_equal(intervals_close(o->s, NULL), 0);
}

static void mark_at(struct out *o, uint32_t thread, int64_t ns, uint32_t function, uint64_t value)
{
	const struct mark m = { .ns = ns,
				.value = value,
				.function = function,
				.process = 1,
				.thread = thread,
				.has_value = value > 0 };

	intervals_mark(o->s, &m, 1, NULL);
}

static void call_at(struct out *o, uint32_t thread, int64_t start, int64_t end, uint32_t function)
{
	const struct function_call c = {
		.start = start, .end = end, .function = function, .process = 1, .thread = thread
	};

	intervals_call(o->s, &c, 1, NULL);
}

static void wait_at(struct out *o, uint32_t thread, int64_t from, int64_t woken, int64_t on,
		    enum wait_why why, uint32_t waker)
{
	struct thread_change c = {
		.ns = from, .process = 1, .thread = thread, .kind = THREAD_OFF, .why = why
	};

	intervals_change(o->s, &c, 1, NULL);
	c = (struct thread_change){ .ns = woken,
				    .process = 1,
				    .thread = thread,
				    .other = waker,
				    .other_process = waker ? 1 : 0,
				    .kind = THREAD_WOKEN };
	intervals_change(o->s, &c, 1, NULL);
	c = (struct thread_change){ .ns = on, .process = 1, .thread = thread, .kind = THREAD_ON };
	intervals_change(o->s, &c, 1, NULL);
}

static void between_threads_it_waits_in_a_queue(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, BEGIN, 7);
	call_at(&o, 1, 110, 200, FIRST);
	mark_at(&o, 1, 210, PUT, 7);
	call_at(&o, 1, 212, 900, FIRST + 2); /* of no concern to it */
	mark_at(&o, 2, 300, TAKE, 7);
	call_at(&o, 2, 310, 400, FIRST + 1);
	mark_at(&o, 2, 450, END, 7);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.duration, 350);
	assert_int_equal(o.ns[FIRST], 90);
	assert_int_equal(o.ns[FIRST + 1], 90);
	assert_int_equal(o.ns[FIRST + 2], 0);
	assert_int_equal(o.waits[WAIT_QUEUE], 90);
	assert_int_equal(o.body, 80);
	assert_int_equal(o.nr_handoffs, 1);
	assert_int_equal(o.losses.count[LOSS_HANDOFFS_GUESSED], 0);
}

static void without_marks_who_woke_it_handed_it_on(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	wait_at(&o, 2, 20, 230, 290, WAIT_QUEUE, 1);
	mark_at(&o, 1, 100, BEGIN, 7);
	call_at(&o, 1, 110, 200, FIRST);
	mark_at(&o, 2, 300, CARRY, 7);
	call_at(&o, 2, 300, 460, CARRY);
	mark_at(&o, 2, 450, END, 7);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[FIRST], 90);
	assert_int_equal(o.ns[CARRY], 150);
	assert_int_equal(o.waits[WAIT_QUEUE], 70); /* from 230 to 300 */
	assert_int_equal(o.nr_handoffs, 1);
}

/* One call of thread 1 gives work to thread 2 and waits for it. */
static void what_the_waker_did_takes_the_place_of_the_wait(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, WHOLE, 9);
	mark_at(&o, 1, 200, PUT, 9);
	wait_at(&o, 1, 250, 800, 830, WAIT_QUEUE, 2);
	call_at(&o, 1, 240, 840, FIRST);
	call_at(&o, 1, 100, 1000, WHOLE);
	mark_at(&o, 2, 300, CARRY, 9);
	call_at(&o, 2, 310, 790, FIRST + 1);
	call_at(&o, 2, 300, 820, CARRY);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.duration, 900);
	assert_int_equal(o.ns[FIRST + 1], 480);
	assert_int_equal(o.ns[CARRY], 500);
	assert_int_equal(o.ns[FIRST], 40); /* after it was woken */
	assert_int_equal(o.inside[FIRST], 30);
	assert_int_equal(o.waits[WAIT_QUEUE], 100); /* put at 200, and thread 2 came at 300 */
	assert_int_equal(o.body, 900 - 500 - 100 - 40);
	assert_int_equal(o.nr_wakeups, 1);
	assert_int_equal(o.nr_handoffs, 1);
}

/* It computes, and only then takes the lock and tells. */
static void who_wakes_after_the_carrying_call_still_works_for_it(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, WHOLE, 9);
	wait_at(&o, 1, 250, 800, 830, WAIT_QUEUE, 2);
	call_at(&o, 1, 100, 1000, WHOLE);
	wait_at(&o, 2, 20, 240, 290, WAIT_QUEUE, 1);
	mark_at(&o, 2, 300, CARRY, 9);
	call_at(&o, 2, 300, 750, CARRY);
	wait_at(&o, 2, 760, 770, 780, WAIT_LOCK, 0);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[CARRY], 450);
	assert_int_equal(o.waits[WAIT_QUEUE], 60); /* woken at 240 */
	assert_int_equal(o.body, 900 - 450 - 60 - 30 - 20);
}

static void a_wait_that_another_interval_ended_stays_where_it_is(void **state)
{
	struct out o = { 0 };
	struct interval_wake wake = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 2, 50, BEGIN, 8);
	mark_at(&o, 1, 100, BEGIN, 9);
	wait_at(&o, 1, 250, 800, 830, WAIT_LOCK, 2);
	call_at(&o, 1, 240, 840, FIRST);
	call_at(&o, 2, 200, 790, FIRST + 1);
	mark_at(&o, 1, 1000, END, 9);
	call_at(&o, 2, 795, 850, FIRST + 2);
	intervals_settle(o.s, 100000000, NULL);
	assert_int_equal(intervals_wakes(o.s, &wake, 1), 1);
	assert_int_equal(wake.waits_in, FIRST);
	assert_int_equal(wake.woken_by, FIRST + 2);
	assert_int_equal(wake.why, WAIT_LOCK);
	assert_int_equal(wake.ns, 550);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[FIRST], 600);
	assert_int_equal(o.inside[FIRST], 580);
	assert_int_equal(o.ns[FIRST + 1], 0);
	assert_int_equal(o.losses.count[LOSS_INTERVALS_OPEN], 1);
}

static void a_thread_that_comes_back_does_not_hide_who_worked_between(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, BEGIN, 9);
	mark_at(&o, 1, 150, PUT, 9);
	mark_at(&o, 1, 160, TAKE, 77); /* something else, not under way */
	mark_at(&o, 2, 200, TAKE, 9);
	call_at(&o, 2, 210, 390, FIRST);
	mark_at(&o, 2, 400, PUT, 9);
	mark_at(&o, 1, 450, TAKE, 9);
	mark_at(&o, 1, 500, END, 9);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[FIRST], 180);
	assert_int_equal(o.waits[WAIT_QUEUE], 50 + 50);
	assert_int_equal(o.losses.count[LOSS_MARKS_UNKNOWN], 1);
}

static void calls_around_it_are_no_part_and_calls_over_its_ends_are_cut(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, BEGIN, 9);
	call_at(&o, 1, 50, 150, FIRST);
	call_at(&o, 1, 160, 190, FIRST + 1);
	mark_at(&o, 1, 200, END, 9);
	call_at(&o, 1, 180 + 15, 300, FIRST + 2);
	call_at(&o, 1, 10, 400, FIRST + 3);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[FIRST], 50);
	assert_int_equal(o.ns[FIRST + 1], 30);
	assert_int_equal(o.ns[FIRST + 2], 5);
	assert_int_equal(o.ns[FIRST + 3], 0);
}

static void an_end_on_a_thread_that_was_never_told_is_guessed_and_counted(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	mark_at(&o, 1, 100, BEGIN, 9);
	wait_at(&o, 1, 200, 900, 910, WAIT_IO, 0); /* its next client */
	mark_at(&o, 2, 120, END, 5);
	call_at(&o, 2, 300, 450, FIRST);
	wait_at(&o, 2, 130, 280, 290, WAIT_QUEUE, 3);
	mark_at(&o, 2, 500, END, 9);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.ns[FIRST], 150);
	assert_int_equal(o.waits[WAIT_QUEUE], 90); /* from 200 to 290 */
	assert_true(o.losses.count[LOSS_HANDOFFS_GUESSED] > 0);
}

static void values_of_processes_are_their_own(void **state)
{
	struct out o = { 0 };
	struct mark m = { .ns = 100,
			  .value = 9,
			  .function = BEGIN,
			  .process = 1,
			  .thread = 1,
			  .has_value = true };

	(void)state;
	open_out(&o);
	intervals_mark(o.s, &m, 1, NULL);
	m.process = m.thread = 2;
	m.ns = 150;
	intervals_mark(o.s, &m, 1, NULL);
	m.function = END;
	m.ns = 200;
	intervals_mark(o.s, &m, 1, NULL);
	intervals_settle(o.s, 300000000, NULL);
	assert_int_equal(o.duration, 50);
	m.process = m.thread = 3; /* there is one left: it must be that */
	m.ns = 400000000;
	intervals_mark(o.s, &m, 1, NULL);
	close_out(&o);
	assert_int_equal(o.nr, 2);
	assert_int_equal(o.duration, 400000000 - 100);
}

static void too_many_under_way_are_given_up_the_oldest_first(void **state)
{
	struct out o = { 0 };

	(void)state;
	open_out(&o);
	for (uint64_t i = 1; i <= 70000; i++)
		mark_at(&o, (uint32_t)i % 7 + 1, (int64_t)i * 10, BEGIN, i);
	mark_at(&o, 1, 800000, END, 1);
	mark_at(&o, 1, 800010, END, 69999);
	close_out(&o);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.losses.count[LOSS_INTERVALS_GIVEN_UP], 70000 - 65536);
	assert_int_equal(o.losses.count[LOSS_INTERVALS_OPEN], 65535);
	assert_int_equal(o.losses.count[LOSS_MARKS_UNKNOWN], 1);
}

/* ---- random schedules ---- */

#define THREADS 4
#define SLOTS 1500
#define VALUES 4

struct part_seg {
	int interval, start, end;
	int from_thread, from_ns; /* -1: not known */
};

struct wait_of {
	int from, woken, on, waker;
};

struct sim {
	uint64_t seed;
	VEC(struct mark) marks;
	VEC(struct function_call) calls[THREADS];
	VEC(struct wait_of) waits[THREADS];
	VEC(struct part_seg) segs[THREADS];
	struct {
		int start, end, end_thread;
		VEC(struct part_seg) puts;
		size_t next_put;
	} intervals[256];
	int nr_intervals, current[VALUES];
	unsigned nr_checked;
	int nr_expected;
};

static unsigned draw(struct sim *m, unsigned below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((m->seed >> 33) % below);
}

static struct part_seg *at_work(struct sim *m, int thread)
{
	struct part_seg *g = m->segs[thread].nr ? &m->segs[thread].v[m->segs[thread].nr - 1] : NULL;

	return g && g->end == SLOTS + 1 ? g : NULL;
}

static void work_for(struct sim *m, int thread, int interval, int ns)
{
	struct part_seg *g = at_work(m, thread), new = { interval, ns, SLOTS + 1, -1, -1 };

	if (g)
		g->end = ns;
	if (interval >= 0)
		vec_push(&m->segs[thread], new);
}

static void push_mark(struct sim *m, int thread, int ns, uint32_t function, unsigned value)
{
	vec_push(&m->marks, (struct mark){ .ns = ns,
					   .value = value + 1,
					   .function = function,
					   .process = 1,
					   .thread = (uint32_t)thread + 1,
					   .has_value = true });
}

/* Who woke the thread last while at work, if that was for the same interval. */
static void woken_for(struct sim *m, int thread, struct part_seg *g)
{
	for (size_t k = m->waits[thread].nr; k-- > 0;) {
		const struct wait_of *w = &m->waits[thread].v[k];

		for (size_t i = 0; i < m->segs[w->waker].nr; i++) {
			const struct part_seg *by = &m->segs[w->waker].v[i];

			if (by->start > w->woken || by->end <= w->woken)
				continue;
			if (by->interval == g->interval) {
				g->from_thread = w->waker;
				g->from_ns = w->woken;
			}
			return;
		}
	}
}

/* The same rules as the module's, on what is simplest. */
static void do_mark(struct sim *m, int thread, int ns)
{
	unsigned value = draw(m, VALUES);
	int i = m->current[value];
	struct part_seg *g = at_work(m, thread);

	if (i < 0) {
		if (m->nr_intervals == 256)
			return;
		push_mark(m, thread, ns, BEGIN, value);
		m->current[value] = i = m->nr_intervals++;
		m->intervals[i].start = ns;
		m->intervals[i].end = -1;
		work_for(m, thread, i, ns);
	} else if (g && g->interval == i && !draw(m, 4)) {
		push_mark(m, thread, ns, END, value);
		m->intervals[i].end = ns;
		m->intervals[i].end_thread = thread;
		m->current[value] = -1;
		for (int t = 0; t < THREADS; t++)
			if (at_work(m, t) && at_work(m, t)->interval == i)
				at_work(m, t)->end = ns;
	} else if (!draw(m, 2)) {
		push_mark(m, thread, ns, PUT, value);
		vec_push(&m->intervals[i].puts,
			 (struct part_seg){ .from_thread = thread, .from_ns = ns });
	} else {
		push_mark(m, thread, ns, TAKE, value);
		if (g && g->interval == i)
			return;
		work_for(m, thread, i, ns);
		g = at_work(m, thread);
		if (m->intervals[i].next_put < m->intervals[i].puts.nr) {
			g->from_thread =
				m->intervals[i].puts.v[m->intervals[i].next_put].from_thread;
			g->from_ns = m->intervals[i].puts.v[m->intervals[i].next_put++].from_ns;
		} else {
			woken_for(m, thread, g);
		}
	}
}

static int segment_of(struct sim *m, int interval, int thread, int slot)
{
	for (size_t i = 0; i < m->segs[thread].nr; i++) {
		const struct part_seg *g = &m->segs[thread].v[i];

		if (g->interval == interval && g->start <= slot && slot < g->end)
			return (int)i;
	}
	return -1;
}

/* A program for every thread: calls, waits and marks, one thing at a time. */
static void make(struct sim *m)
{
	int busy[THREADS] = { 0 }, depth[THREADS] = { 0 }, start[THREADS][16];
	uint32_t what[THREADS][16];
	bool is_taken[SLOTS] = { false };

	for (unsigned v = 0; v < VALUES; v++)
		m->current[v] = -1;
	/* what others do to a thread falls between what threads do */
	for (int ns = 2; ns < SLOTS; ns += 2) {
		int t = (int)draw(m, THREADS), on;

		if (busy[t] > ns)
			continue;
		switch (draw(m, 8)) {
		case 0:
		case 1:
			do_mark(m, t, ns);
			break;
		case 2:
		case 3:
			if (depth[t] == 15)
				break;
			start[t][depth[t]] = ns;
			what[t][depth[t]++] = FIRST + draw(m, 5);
			break;
		case 4:
		case 5:
			if (!depth[t])
				break;
			depth[t]--;
			vec_push(&m->calls[t],
				 (struct function_call){ .start = start[t][depth[t]],
							 .end = ns,
							 .function = what[t][depth[t]],
							 .process = 1,
							 .thread = (uint32_t)t + 1 });
			break;
		case 6:
			on = ns + 5 + 2 * (int)draw(m, 30);
			if (on >= SLOTS || is_taken[on] || is_taken[on - 2])
				break;
			is_taken[on] = is_taken[on - 2] = true;
			vec_push(&m->waits[t], (struct wait_of){ ns, on - 2 * (int)draw(m, 2), on,
								 (int)draw(m, THREADS) });
			busy[t] = on + 1;
			break;
		default:
			break;
		}
	}
	for (int t = 0; t < THREADS; t++)
		while (depth[t]--)
			vec_push(&m->calls[t],
				 (struct function_call){ .start = start[t][depth[t]],
							 .end = SLOTS + t,
							 .function = what[t][depth[t]],
							 .process = 1,
							 .thread = (uint32_t)t + 1 });
}

/* Who was at work last before ns; of several the one who goes on, then the one who began last. */
static int last_at_work(struct sim *m, int interval, int thread, int ns, int *until)
{
	int best = -1, best_start = -1;

	*until = -1;
	for (int t = 0; t < THREADS; t++)
		for (size_t i = 0; i < m->segs[t].nr; i++) {
			const struct part_seg *g = &m->segs[t].v[i];
			int end = g->end < ns ? g->end : ns;

			if (g->interval != interval || g->start >= ns || end < *until)
				continue;
			if (end == *until &&
			    (best == thread || (t != thread && g->start < best_start)))
				continue;
			best = t;
			best_start = g->start;
			*until = end;
		}
	return best;
}

/* Algorithm 2, a nanosecond at a time: who is on the path in each; -1: nobody. */
static void walk(struct sim *m, int i, int *path)
{
	int ns = m->intervals[i].end, t = m->intervals[i].end_thread, low = m->intervals[i].start;
	int floors[512], back_to[512], depth = 0, still = 0;

	while (ns > low) {
		int at = segment_of(m, i, t, ns - 1), until = 0, from = -1;

		while (depth && floors[depth - 1] >= ns)
			depth--;
		if (at >= 0) {
			bool is_in = false;

			still = 0;
			for (size_t k = 0; k < m->waits[t].nr && depth < 512; k++) {
				const struct wait_of *w = &m->waits[t].v[k];

				if (w->woken != ns || w->waker == t || w->from >= ns ||
				    segment_of(m, i, w->waker, ns - 1) < 0)
					continue;
				floors[depth] = w->from;
				if (m->segs[t].v[at].start > floors[depth])
					floors[depth] = m->segs[t].v[at].start;
				back_to[depth++] = t;
				t = w->waker;
				is_in = true;
				break;
			}
			if (!is_in)
				path[--ns] = t;
			continue;
		}
		for (size_t k = 0; k < m->segs[t].nr; k++)
			if (m->segs[t].v[k].interval == i && m->segs[t].v[k].start == ns &&
			    m->segs[t].v[k].from_thread >= 0 && still <= 8) {
				from = m->segs[t].v[k].from_thread;
				until = m->segs[t].v[k].from_ns;
			}
		if (from < 0 && depth) {
			from = back_to[--depth];
			until = floors[depth];
		} else if (from < 0) {
			from = last_at_work(m, i, t, ns, &until);
		}
		if (from < 0 || still > 16)
			until = low;
		still++;
		for (; ns > until && ns > low; still = 0)
			path[--ns] = -1;
		if (from >= 0)
			t = from;
	}
}

struct sums {
	struct map ns; /* by way down */
	int64_t waits[NR_WAITS];
};

static uint64_t way_down(uint64_t above, uint32_t function)
{
	uint64_t h = (above ^ function * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	return h ^ h >> 31;
}

/* Calls of the thread that hold the moment, the outermost first, but for those around. */
static void add_calls(struct sim *m, int t, int slot, const struct part_seg *g, struct sums *s)
{
	uint64_t way = 1;

	for (size_t k = m->calls[t].nr; k-- > 0;) {
		const struct function_call *c = &m->calls[t].v[k];

		if (c->start > slot || c->end <= slot || (c->start < g->start && c->end > g->end))
			continue;
		way = way_down(way, c->function);
		++*map_at(&s->ns, way);
	}
	for (size_t k = 0; k < m->waits[t].nr; k++) {
		const struct wait_of *w = &m->waits[t].v[k];

		if (w->from <= slot && slot < w->on)
			s->waits[slot < w->woken ? WAIT_LOCK : WAIT_CPU]++;
	}
}

static int compare(void *to, const struct interval *v, struct error *err)
{
	struct sim *m = to;
	int path[SLOTS + 1], i;
	struct sums s = { 0 };
	uint64_t *way = calloc(v->nr_parts, sizeof(*way));

	(void)err;
	for (i = 0; m->intervals[i].start != v->start || m->intervals[i].end != v->end; i++)
		assert_true(i < m->nr_intervals);
	walk(m, i, path);
	for (int64_t slot = v->start; slot < v->end; slot++) {
		int t = path[slot];

		if (t < 0)
			s.waits[WAIT_QUEUE]++;
		else
			add_calls(m, t, (int)slot, &m->segs[t].v[segment_of(m, i, t, (int)slot)],
				  &s);
	}
	check_sums(v);
	for (size_t k = 0; k < v->nr_parts; k++) {
		const struct interval_part *p = &v->parts[k];
		const uint64_t *ns;

		way[k] = k ? way_down(p->parent ? way[p->parent] : 1, p->function) : 1;
		if (!k || p->function >= PART_BODY)
			continue;
		ns = map_find(&s.ns, way[k]);
		assert_int_equal(p->ns, ns ? (int64_t)*ns : 0);
		if (ns)
			*map_at(&s.ns, way[k]) = 0;
	}
	for (const struct map_slot *slot = NULL; (slot = map_next(&s.ns, slot));)
		assert_int_equal(slot->value, 0);
	for (int n = 1; n < NR_WAITS; n++)
		assert_int_equal(v->parts[0].waits[n], s.waits[n]);
	m->nr_checked++;
	map_done(&s.ns);
	free(way);
	return 0;
}

static void tell_waits(struct sim *m, struct intervals *s, int t)
{
	vec_each (&m->waits[t], w) {
		struct thread_change c = { .ns = w->from,
					   .process = 1,
					   .thread = (uint32_t)t + 1,
					   .kind = THREAD_OFF,
					   .why = WAIT_LOCK };

		intervals_change(s, &c, 1, NULL);
		c.ns = w->woken;
		c.kind = THREAD_WOKEN;
		c.other = (uint32_t)w->waker + 1;
		c.other_process = 1;
		intervals_change(s, &c, 1, NULL);
		c.ns = w->on;
		c.kind = THREAD_ON;
		intervals_change(s, &c, 1, NULL);
	}
}

static void sim_done(struct sim *m)
{
	for (int t = 0; t < THREADS; t++) {
		vec_done(&m->calls[t]);
		vec_done(&m->waits[t]);
		vec_done(&m->segs[t]);
	}
	for (int i = 0; i < m->nr_intervals; i++)
		vec_done(&m->intervals[i].puts);
	vec_done(&m->marks);
}

static void random_schedules_have_the_path_of_the_paper(void **state)
{
	unsigned nr = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct sim m = { .seed = seed * 7919 };
		struct losses losses = { 0 };
		struct intervals_options o = { .functions = functions,
					       .nr_functions = NR_FUNCTIONS,
					       .losses = &losses,
					       .interval = compare,
					       .to = &m };
		struct intervals *s;
		unsigned nr_ended = 0;

		make(&m);
		intervals_open(&s, &o, NULL);
		for (int k = 0; k < THREADS; k++) {
			int t = seed % 2 ? k : THREADS - 1 - k;

			intervals_call(s, m.calls[t].v, m.calls[t].nr, NULL);
			tell_waits(&m, s, t);
		}
		intervals_mark(s, m.marks.v, m.marks.nr, NULL);
		assert_int_equal(intervals_close(s, NULL), 0);
		for (int i = 0; i < m.nr_intervals; i++)
			nr_ended += m.intervals[i].end > m.intervals[i].start;
		assert_int_equal(m.nr_checked, nr_ended);
		assert_int_equal(losses.count[LOSS_INTERVALS_OPEN],
				 (unsigned)m.nr_intervals - nr_ended);
		nr += nr_ended;
		sim_done(&m);
	}
	assert_true(nr > 1000);
}

/* ---- the same however it comes ---- */

#define SCALE 100000

struct print {
	uint64_t hash;
	unsigned nr;
};

static void mix(struct print *p, uint64_t n)
{
	p->hash = (p->hash ^ n) * 0x9e3779b97f4a7c15u;
	p->hash ^= p->hash >> 29;
}

static int take_print(void *to, const struct interval *v, struct error *err)
{
	struct print *p = to;

	(void)err;
	check_sums(v);
	p->nr++;
	mix(p, v->id);
	mix(p, (uint64_t)v->start);
	mix(p, (uint64_t)v->end);
	for (size_t i = 0; i < v->nr_parts; i++) {
		mix(p, v->parts[i].parent);
		mix(p, v->parts[i].function);
		mix(p, (uint64_t)v->parts[i].ns);
		for (int n = 0; n < NR_WAITS; n++)
			mix(p, (uint64_t)v->parts[i].waits[n]);
	}
	return 0;
}

/* Times are made long enough for intervals to be given out on the way. */
static void scale(struct sim *m)
{
	vec_each (&m->marks, k)
		k->ns *= SCALE;
	for (int t = 0; t < THREADS; t++) {
		vec_each (&m->calls[t], c) {
			c->start *= SCALE;
			c->end *= SCALE;
		}
		vec_each (&m->waits[t], w) {
			w->from *= SCALE;
			w->woken *= SCALE;
			w->on *= SCALE;
		}
	}
}

static void tell_until(struct sim *m, struct intervals *s, int64_t from, int64_t until,
		       bool is_back)
{
	for (int k = 0; k < THREADS; k++) {
		int t = is_back ? THREADS - 1 - k : k;

		vec_each (&m->calls[t], c)
			if (c->end >= from && c->end < until)
				intervals_call(s, c, 1, NULL);
		vec_each (&m->waits[t], w) {
			const int64_t ns[] = { w->from, w->woken, w->on };

			for (int n = 0; n < 3; n++) {
				const struct thread_change c = {
					.ns = ns[n],
					.process = 1,
					.thread = (uint32_t)t + 1,
					.kind = n == 0   ? THREAD_OFF
						: n == 1 ? THREAD_WOKEN
							 : THREAD_ON,
					.why = n ? WAIT_NONE : WAIT_LOCK,
					.other = n == 1 ? (uint32_t)w->waker + 1 : 0,
					.other_process = n == 1
				};

				if (ns[n] >= from && ns[n] < until)
					intervals_change(s, &c, 1, NULL);
			}
		}
	}
	vec_each (&m->marks, k)
		if (k->ns >= from && k->ns < until)
			intervals_mark(s, k, 1, NULL);
}

static struct print print_of(struct sim *m, struct losses *losses, int64_t step, bool is_back)
{
	struct print p = { 0 };
	struct intervals_options o = { .functions = functions,
				       .nr_functions = NR_FUNCTIONS,
				       .losses = losses,
				       .interval = take_print,
				       .to = &p };
	struct intervals *s;

	intervals_open(&s, &o, NULL);
	for (int64_t ns = 0; ns < (int64_t)(SLOTS + THREADS) * SCALE; ns += step) {
		tell_until(m, s, ns, ns + step, is_back);
		intervals_settle(s, ns + step, NULL);
	}
	assert_int_equal(intervals_close(s, NULL), 0);
	return p;
}

static void batches_and_the_order_of_threads_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim m = { .seed = seed * 104729 };
		struct losses a = { 0 }, b = { 0 };
		struct print whole, pieces;

		make(&m);
		scale(&m);
		whole = print_of(&m, &a, (int64_t)2 * SLOTS * SCALE, false);
		pieces = print_of(&m, &b, 1000000 + draw(&m, 30000000), true);
		assert_int_equal(whole.nr, pieces.nr);
		assert_true(whole.hash == pieces.hash);
		assert_memory_equal(&a, &b, sizeof(a));
		sim_done(&m);
	}
}

/* ---- whatever comes ---- */

static int only_sums(void *to, const struct interval *v, struct error *err)
{
	(void)err;
	check_sums(v);
	++*(unsigned *)to;
	return 0;
}

/* Calls that overlap, end before they begin or come late, marks and changes out of order. */
static void nonsense_adds_up_as_well(void **state)
{
	unsigned nr = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sim m = { .seed = seed * 31337 };
		struct losses losses = { 0 };
		struct intervals_options o = { .functions = functions,
					       .nr_functions = NR_FUNCTIONS,
					       .losses = &losses,
					       .wants_body = want,
					       .interval = only_sums,
					       .to = &nr };
		struct intervals *s;
		int64_t range = 100 + draw(&m, 100000000);

		intervals_open(&s, &o, NULL);
		for (unsigned i = 0; i < 2000; i++) {
			int64_t a = draw(&m, (unsigned)range), b = a + (int64_t)draw(&m, 300) - 20;
			uint32_t thread = draw(&m, 3), what = draw(&m, NR_FUNCTIONS + 2);
			const struct function_call c = { .start = a,
							 .end = b,
							 .function = what,
							 .process = thread / 2,
							 .thread = thread,
							 .is_open = !draw(&m, 50) };
			const struct mark k = { .ns = a,
						.value = draw(&m, 3),
						.function = what,
						.process = thread / 2,
						.thread = thread,
						.place = draw(&m, 2) ? MARK_ENTRY : MARK_EXIT,
						.has_value = draw(&m, 4) > 0 };
			const struct thread_change h = { .ns = a,
							 .process = thread / 2,
							 .thread = thread,
							 .other = draw(&m, 4),
							 .kind = (enum thread_change_kind)draw(&m,
											       5),
							 .why = (enum wait_why)draw(&m, NR_WAITS) };

			if (draw(&m, 2))
				intervals_call(s, &c, 1, NULL);
			if (draw(&m, 2))
				intervals_mark(s, &k, 1, NULL);
			if (draw(&m, 2))
				intervals_change(s, &h, 1, NULL);
			if (!draw(&m, 200))
				intervals_gap(s, 0, 0, a, b);
			if (!draw(&m, 100))
				intervals_settle(s, a, NULL);
		}
		assert_int_equal(intervals_close(s, NULL), 0);
	}
	assert_true(nr > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_threads_it_waits_in_a_queue),
		cmocka_unit_test(without_marks_who_woke_it_handed_it_on),
		cmocka_unit_test(what_the_waker_did_takes_the_place_of_the_wait),
		cmocka_unit_test(who_wakes_after_the_carrying_call_still_works_for_it),
		cmocka_unit_test(a_wait_that_another_interval_ended_stays_where_it_is),
		cmocka_unit_test(a_thread_that_comes_back_does_not_hide_who_worked_between),
		cmocka_unit_test(calls_around_it_are_no_part_and_calls_over_its_ends_are_cut),
		cmocka_unit_test(an_end_on_a_thread_that_was_never_told_is_guessed_and_counted),
		cmocka_unit_test(values_of_processes_are_their_own),
		cmocka_unit_test(too_many_under_way_are_given_up_the_oldest_first),
		cmocka_unit_test(random_schedules_have_the_path_of_the_paper),
		cmocka_unit_test(batches_and_the_order_of_threads_change_nothing),
		cmocka_unit_test(nonsense_adds_up_as_well),
	};

	return RUN(tests);
}
