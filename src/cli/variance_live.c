#include "cli/variance_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "base/time.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "capture/probe/spawn.h"
#include "cli/variance_session.h"

#define LOOK_NS (20 * NS_MS)
#define LOOK_LEARNS_NS (8 * NS_MS)
#define LOOK_PAUSED_NS (50 * NS_MS)
#define COOL_NS (90 * NS_MS)
#define TELL_NS NS_S
#define READ_NICE (-5)
#define ROUND_MAX_NS (30 * NS_S)

static void rest(int64_t ns)
{
	const struct timespec t = { ns / NS_S, ns % NS_S };

	nanosleep(&t, NULL);
}

/* A round that has not seen enough goes on, but not for ever; one after which nothing was left to
 * look into is looked at again as often as there would be another. */
static bool is_round_over(const struct session *s, const struct live_options *o)
{
	int64_t took = time_tick() - s->round.looked;

	if (took < o->round_ns)
		return false;
	return session_has_seen_enough(s) || took > ROUND_MAX_NS;
}

static bool is_time_up(const struct session *s, const struct live_options *o)
{
	return o->for_ns && time_tick() - s->began >= o->for_ns;
}

/* What a round found decides what the next one watches. 1: there is to be none. */
static int end_round(struct session *s, const struct live_options *o, struct error *err)
{
	session_tell(s, true);
	/* who looks at the run sees the round; that it could not be shown is told in the end, where
	 * it matters */
	(void)!keep_show(&s->keep, s->round.number, &s->losses, err);
	s->round.looked = time_tick();
	if (o->nr_rounds && s->round.number >= o->nr_rounds)
		return 1;
	s->is_refining = true;
	return session_refine(s, o, err);
}

/* What a round found is looked at as long as the budget allows, and watched then. */
static int refine(struct session *s, const struct live_options *o, struct error *err)
{
	int got;

	while (s->learning.is_begun && budget_wait(&s->account.budget) == 0 &&
	       learn_one(&s->learning) == LEARN_ON)
		cost_charge(s);
	if (s->learning.is_begun)
		return 0;
	s->is_refining = false;
	got = session_refined(s, err);
	return got < 0 ? got : got == 0 && !o->for_ns;
}

/* A program may end at any moment, also while it is being patched: what was seen is told. */
static int unless_ended(struct session *s, int got)
{
	if (got != -ESRCH)
		return got;
	s->has_ended = true;
	return 1;
}

/* 0 goes on, 1 over. */
static int step(struct session *s, const struct live_options *o, struct error *err)
{
	int64_t now = time_tick();
	int got = session_pump(s, err);
	bool may_lose;

	if (got)
		return got;
	if (stopping_is_told() || session_command_has_ended(s) || is_time_up(s, o))
		return 1;
	session_pace(s);
	/* half of the budget is for what calls cost in the program, the rest for what we do with
	 * them and for looking closer */
	if (now - s->cooled >= COOL_NS) {
		got = unless_ended(s, session_cool(s, o->budget / 2, err));
		if (got)
			return got;
	}
	if (now - s->told >= TELL_NS)
		session_tell(s, false);
	may_lose = budget_wait(&s->account.budget) == 0;
	if (s->is_refining)
		return may_lose ? unless_ended(s, refine(s, o, err)) : 0;
	if (may_lose && is_round_over(s, o))
		return unless_ended(s, end_round(s, o, err));
	return may_lose ? unless_ended(s, session_try_works(s, err)) : 0;
}

int variance_live(const struct live_options *o, struct error *err)
{
	struct session s = { .options = o };
	int got;

	stopping_catch();
	got = session_find_programs(&s, err);
	if (got >= 0)
		got = java_await(&s, err);
	if (got >= 0)
		got = java_entered(&s, session_attach(&s, err), err);
	if (got >= 0)
		got = session_begin(&s, err);
	if (o->command && s.pid)
		spawn_go(s.pid);
	/* little to do, but in time: what is not read is dropped. Who may not has to do without. */
	if (got == 0 && getpriority(PRIO_PROCESS, 0) > READ_NICE &&
	    setpriority(PRIO_PROCESS, 0, READ_NICE) < 0)
		errno = 0;
	while (got == 0) {
		rest(s.is_refining ? LOOK_LEARNS_NS : s.pace.is_paused ? LOOK_PAUSED_NS : LOOK_NS);
		got = step(&s, o, err);
	}
	if (got >= 0)
		got = session_finish(&s, err);
	session_end_command(&s);
	if (got >= 0)
		got = session_report(&s, err);
	session_done(&s);
	return got;
}
