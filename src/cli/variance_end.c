/* How a live variance ends: out of the process, and the answer. */
#include <stdio.h>

#include "ask/variance/factors.h"
#include "ask/variance/tell.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/sched.h"
#include "capture/statics.h"
#include "capture/uprobes.h"
#include "cli/command.h"
#include "cli/say.h"
#include "cli/show.h"
#include "cli/variance_session.h"
#include "report/report.h"

#define QUEUE_MUCH 0.2 /* a share of the variance that is worth a hint */

static void count_losses(struct session *s)
{
	struct probe_counts probe = { 0 };
	struct sched_counts sched = { 0 };

	probe_count(s->probe, &probe);
	if (s->sched)
		sched_count(s->sched, &sched);
	s->losses.count[LOSS_CALLS_DROPPED] += probe.nr_dropped;
	s->losses.count[LOSS_CALLS_DEEP] += probe.nr_too_deep;
	s->losses.count[LOSS_CALLS_GENERATED] += probe.nr_generated;
	s->losses.count[LOSS_CHANGES_DROPPED] += sched.nr_dropped;
	s->losses.count[LOSS_PROGRAMS_BROKEN] += s->functions.nr_unread;
	if (s->statics)
		s->losses.count[LOSS_CALLS_DROPPED] += statics_dropped(s->statics);
	if (s->uprobing.uprobes)
		s->losses.count[LOSS_CALLS_DROPPED] += uprobes_dropped(s->uprobing.uprobes);
	vec_each (&s->list.v, n) {
		s->losses.count[LOSS_FUNCTIONS_REFUSED] += n->out == WATCH_REFUSED;
		s->losses.count[LOSS_FUNCTIONS_HOT] += n->out == WATCH_HOT;
		s->losses.count[LOSS_FUNCTIONS_TOLD] +=
			!n->is_static && !n->java && n->out == WATCH_IN &&
			s->functions.v.v[n->function].source == FUNCTION_TOLD;
	}
}

/* The round that goes on tells, unless it has hardly seen anything and an earlier one has. */
static const struct round *telling_round(const struct session *s)
{
	if (s->best.tree && !session_has_seen_enough(s) &&
	    s->round.nr_intervals < s->best.nr_intervals)
		return &s->best;
	return &s->round;
}

/* The program goes on without us before anything is written or told. */
int session_finish(struct session *s, struct error *err)
{
	int got = session_pump(s, err);

	cost_charge(s);
	s->overhead = cost_overhead(s);
	count_losses(s);
	java_done(s);
	probe_close(s->probe);
	uprobes_close(s->uprobing.uprobes);
	s->probe = NULL;
	s->uprobing.uprobes = NULL;
	keep_wait(&s->keep);
	if (got >= 0)
		got = intervals_settle(s->intervals, INT64_MAX, err);
	s->nr_wakes = intervals_wakes(s->intervals, s->wakes, WAKES_TOLD);
	if (got >= 0) {
		got = intervals_close(s->intervals, err);
		s->intervals = NULL;
	}
	return got < 0 ? got : keep_finish(&s->keep, telling_round(s)->number, &s->losses, err);
}

static void tell_rounds(const struct session *s, const struct round *r, struct report *report)
{
	static const struct column columns[] = {
		{ "rounds", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
		{ "round", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
		{ "intervals", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
		{ "first", NULL, CELL_TIME, COLUMN_JSON_ONLY },
		{ "last", NULL, CELL_TIME, COLUMN_JSON_ONLY },
		{ "functions", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
		{ "cost", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "paused", NULL, CELL_DURATION, COLUMN_JSON_ONLY },
	};
	struct section *t = report_table(report, "rounds", "", columns, 8);
	struct row *row = section_row(t);
	int64_t wall_ns = time_now() - time_tick();

	t->json_only = true;
	row_int(t, row, 0, s->round.number);
	row_int(t, row, 1, r->number);
	row_int(t, row, 2, (int64_t)r->nr_intervals);
	row_int(t, row, 3, r->began + wall_ns);
	row_int(t, row, 4, r->last_ns + wall_ns);
	row_int(t, row, 5, (int64_t)watchlist_nr_on(&s->list));
	row_double(t, row, 6, s->overhead.all);
	row_int(t, row, 7, s->paused_ns);
}

/* What it has cost the program, and by what. */
static void tell_overhead(const struct session *s, struct report *report)
{
	static const struct column columns[] = {
		{ "overhead", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "low", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "high", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "calls", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "switches", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "uprobes", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "stops", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "stacks", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "own", NULL, CELL_SHARE, COLUMN_JSON_ONLY },
		{ "call_ns", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
		{ "turns", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	};
	const struct overhead *o = &s->overhead;
	struct section *t = report_table(report, "overhead", "", columns, 11);
	struct row *row = section_row(t);

	t->json_only = true;
	row_double(t, row, 0, o->all);
	row_double(t, row, 1, o->low);
	row_double(t, row, 2, o->high);
	for (int i = 0; i < NR_LOST; i++)
		row_double(t, row, 3 + (size_t)i, o->lost[i]);
	row_double(t, row, 9, o->call_ns);
	row_int(t, row, 10, o->is_measured ? (int64_t)s->account.turns.nr_found : 0);
}

static void say_overhead(const struct session *s)
{
	const struct overhead *o = &s->overhead;

	say_error("watching took %.1f %% of the program's time (%s%.1f to %.1f): calls %.1f, "
		  "switches of threads %.1f, uprobes %.1f, patching %.1f, stacks %.1f, our own "
		  "work %.1f",
		  100 * o->all,
		  o->is_measured ? "" : "too noisy, or too little, to be measured: ", 100 * o->low,
		  100 * o->high, 100 * o->lost[LOST_CALLS], 100 * o->lost[LOST_SWITCHES],
		  100 * o->lost[LOST_UPROBES], 100 * o->lost[LOST_STOPS],
		  100 * o->lost[LOST_STACKS], 100 * o->lost[LOST_OWN]);
}

/* Why there may be nothing, and what to do about it. */
static void say_nothing(const struct session *s, const struct round *r)
{
	double took = (double)(time_tick() - s->began) / 1e9;

	if (r->nr_intervals)
		return;
	if (s->losses.count[LOSS_INTERVALS_BETWEEN])
		say_error("'%s' was seen, but not while the set of watched functions stayed the "
			  "same: watch longer (--for), or with fewer rounds (--rounds 1)",
			  s->type);
	else
		say_error("'%s' was not seen in %.1f s: is the program at work, and is this what "
			  "it does for each piece of work? (--interval, or watch longer: --for)",
			  s->type, took);
}

static void say_how_it_was(const struct session *s, const struct round *r)
{
	say_nothing(s, r);
	if (s->has_ended && !s->options->command)
		say_error("process %d has ended; told is what was seen of it", s->pid);
	say_overhead(s);
	if (s->paused_ns > NS_S / 10)
		say_error("%.1f s were not watched, so that it costs no more than %.0f %% "
			  "(--overhead)",
			  (double)s->paused_ns / 1e9, 100 * s->options->budget);
}

static bool has_role(const struct session *s, enum interval_role role)
{
	for (size_t i = 0; i < s->list.v.nr; i++)
		if (s->list.v.v[i].role == role)
			return true;
	return false;
}

/* Between marks others may be at work, of whom nothing tells for which interval. */
static void say_who_works(const struct session *s, const struct variance_answer *a)
{
	if (!has_role(s, ROLE_BEGIN) || has_role(s, ROLE_CARRY) || has_role(s, ROLE_TAKE))
		return;
	for (size_t i = 0; i < a->nr_factors; i++)
		if (str_eq(a->factors[i].name[0], STR("wait:queue")) && !a->factors[i].name[1].n &&
		    a->factors[i].share >= QUEUE_MUCH)
			say_error("wait:queue is %.0f %%: nobody is known to work for an interval "
				  "then; name who does, in other threads too: --carry "
				  "'FUNCTION(id=arg0)'",
				  100 * a->factors[i].share);
}

/* What was left alone, and why: an answer must not look as if it had seen everything. */
static void tell_left(const struct session *s, struct report *report)
{
	static const struct column columns[] = {
		{ "left_alone", "not watched", CELL_TEXT, COLUMN_WIDE },
		{ "why", "because", CELL_TEXT, 0 },
		{ "calls", "calls", CELL_COUNT, COLUMN_OPTIONAL },
	};
	struct section *t = NULL;

	for (size_t i = 0; i < s->list.v.nr; i++) {
		const struct watch *n = &s->list.v.v[i];
		struct row *row;

		if (n->out == WATCH_IN || n->out == WATCH_SHARED ||
		    (n->out == WATCH_HOT && !n->nr_calls))
			continue; /* the last are known to be busy before anybody looks */
		if (!t)
			t = report_table(report, "left_alone", "Left alone", columns, 3);
		row = section_row(t);
		row_text(t, row, 0, s->list.roles.v[i].name);
		row_fmt(t, row, 1, "%s",
			n->out == WATCH_HOT ? "called so often that watching would cost too much"
			: n->why            ? n->why
					    : "cannot be patched");
		if (n->nr_calls)
			row_int(t, row, 2, (int64_t)n->nr_calls);
	}
}

/* What is watched at a price: told with it. */
static void tell_uprobes(const struct session *s, struct report *report)
{
	static const struct column columns[] = {
		{ "by_uprobe", "watched by uprobe", CELL_TEXT, COLUMN_WIDE },
		{ "why", "because", CELL_TEXT, 0 },
		{ "calls", "calls", CELL_COUNT, 0 },
		{ "call_costs", "one costs", CELL_DURATION, 0 },
	};
	struct section *t = NULL;

	for (size_t i = 0; i < s->list.v.nr; i++) {
		const struct watch *n = &s->list.v.v[i];
		struct row *row;

		if (!n->is_uprobe)
			continue;
		if (!t)
			t = report_table(report, "by_uprobe", "Watched by uprobes", columns, 4);
		row = section_row(t);
		row_text(t, row, 0, s->list.roles.v[i].name);
		row_fmt(t, row, 1, "%s", n->why ? n->why : "cannot be patched");
		row_int(t, row, 2, (int64_t)n->nr_calls);
		row_int(t, row, 3, s->uprobing.call_ns);
	}
}

static struct str function_name(const struct session *s, uint32_t function)
{
	return function < s->list.roles.nr ? s->list.roles.v[function].name : STR("");
}

/* Behind a wait for a lock is who held it. */
static void tell_wakes(const struct session *s, struct report *report)
{
	static const struct column columns[] = {
		{ "waits_in", "who waits", CELL_TEXT, COLUMN_WIDE },
		{ "for", "for", CELL_TEXT, 0 },
		{ "woken_by", "until it is woken by", CELL_TEXT, COLUMN_WIDE },
		{ "times", "times", CELL_COUNT, 0 },
		{ "waited", "in all", CELL_DURATION, 0 },
	};
	struct section *t = NULL;

	for (size_t i = 0; i < s->nr_wakes; i++) {
		const struct interval_wake *w = &s->wakes[i];
		struct row *row;

		if (w->waits_in >= s->list.roles.nr || w->woken_by >= s->list.roles.nr)
			continue;
		if (!t)
			t = report_table(report, "wakes", "Who ends the waits", columns, 5);
		row = section_row(t);
		row_text(t, row, 0, function_name(s, w->waits_in));
		row_text(t, row, 1, str_of(wait_why_name(w->why)));
		row_text(t, row, 2, function_name(s, w->woken_by));
		row_int(t, row, 3, (int64_t)w->nr);
		row_int(t, row, 4, w->ns);
	}
}

int session_report(struct session *s, struct error *err)
{
	const struct round *r = telling_round(s);
	const struct call *call = s->options->call;
	const struct variance_options options = { .sites = call_has(call, "sites"),
						  .min_share = s->options->min_share,
						  .nr_what_if = 3 };
	const struct variance_telling how = { .for_people = !call_has(call, "json"),
					      .tree = call_has(call, "tree"),
					      .tail = call_has(call, "tail"),
					      .what_if = str_of(call_get(call, "what-if")),
					      .unit = "intervals" };
	struct variance_answer a;
	struct arena arena = { 0 };
	struct report report;
	int got, shown;

	report_init(&report);
	show_begin(&report, call);
	variance_answer(r->tree, &options, &arena, &a);
	got = variance_tell(&a, r->tree, &how, &report);
	tell_rounds(s, r, &report);
	tell_overhead(s, &report);
	tell_wakes(s, &report);
	tell_uprobes(s, &report);
	tell_left(s, &report);
	report.losses = s->losses;
	shown = show_report(&report, call, err);
	say_how_it_was(s, r);
	say_who_works(s, &a);
	if (shown >= 0 && s->keep.store && how.for_people)
		say_error("%llu intervals with their calls are in %s",
			  (unsigned long long)s->keep.nr, s->options->path);
	report_done(&report);
	arena_done(&arena);
	return shown < 0 ? shown : got;
}
