/* How much of the time a live variance watches. */
#include "base/time.h"
#include "capture/sched.h"
#include "cli/variance_session.h"

#define WINDOW_LEAST (200 * NS_MS)
#define WINDOW_MOST (5 * NS_S)
#define WINDOW_INTERVALS 20 /* so many should fit behind each other */
#define PAUSE_LEAST (50 * NS_MS)
#define PAUSE_MOST (10 * NS_S)
#define PAUSE_TELLS (100 * NS_MS) /* one that is made to learn what watching costs */

/* Long enough for whole intervals. */
static int64_t window(const struct session *s)
{
	int64_t mean =
		s->round.nr_intervals ? s->round.total_ns / (int64_t)s->round.nr_intervals : 0;
	int64_t ns = WINDOW_INTERVALS * mean;

	return ns < WINDOW_LEAST ? WINDOW_LEAST : ns > WINDOW_MOST ? WINDOW_MOST : ns;
}

static void go_on(struct session *s, int64_t now)
{
	if (s->pace.is_paused) {
		probe_pause(s->probe, false);
		if (s->sched)
			sched_pause(s->sched, false);
		session_cost_anew(s);
		s->paused_ns += now - s->pace.since;
		/* what was under way meanwhile was seen in part */
		intervals_gap(s->intervals, 0, 0, s->pace.since, now);
		cost_turn(s, true);
	}
	s->nr_windows++;
	s->pace = (struct pace){ .since = now, .until = now + window(s) };
}

static void pause(struct session *s, int64_t now, int64_t ns)
{
	probe_pause(s->probe, true);
	if (s->sched)
		sched_pause(s->sched, true);
	cost_turn(s, false);
	s->pace = (struct pace){ .is_paused = true,
				 .since = now,
				 .until = now + (ns > PAUSE_MOST ? PAUSE_MOST : ns) };
}

void session_pace(struct session *s)
{
	int64_t now = time_tick(), wait;

	if (!s->pace.since) {
		cost_begin(s);
		go_on(s, now);
		cost_turn(s, true);
		return;
	}
	cost_charge(s);
	/* both at once would be too much: what a round has not seen by its end it need not see */
	if (s->is_refining && !s->pace.is_paused && cost_is_dear(s))
		pause(s, now, PAUSE_TELLS);
	if (now < s->pace.until)
		return;
	wait = budget_wait(&s->account.budget);
	if (s->pace.is_paused) {
		/* something was done meanwhile that has to be waited for as well */
		if ((wait > 0 || (s->is_refining && cost_is_dear(s))) &&
		    now - s->pace.since < PAUSE_MOST)
			s->pace.until = now + wait;
		else
			go_on(s, now);
		return;
	}
	/* what is owed then was lost by looking at stacks and the like, and waits for that only */
	if (cost_is_cheap(s))
		wait = 0;
	if (wait < PAUSE_TELLS && cost_wants_pause(s))
		wait = PAUSE_TELLS;
	if (wait < PAUSE_LEAST)
		go_on(s, now);
	else
		pause(s, now, wait);
}
