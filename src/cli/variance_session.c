#include "cli/variance_session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask/variance/tree.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/sched.h"
#include "capture/statics.h"
#include "capture/uprobes.h"
#include "cli/say.h"

#define ANCESTORS_MAX 16

static int64_t all_pauses(const struct session *s)
{
	return s->paused_ns + (s->pace.is_paused ? time_tick() - s->pace.since : 0);
}

/* One that was short, or paused most of the time, misses what happens now and then. */
bool session_has_seen_enough(const struct session *s)
{
	const struct round *r = &s->round;

	return r->nr_intervals >= ROUND_INTERVALS &&
	       r->last_ns - r->began - (s->paused_ns - r->paused_ns) >=
		       s->options->round_ns / ROUND_WATCHED;
}

void session_new_round(struct session *s)
{
	int64_t now = time_tick();

	if (s->round.tree &&
	    (session_has_seen_enough(s) || s->round.nr_intervals > s->best.nr_intervals)) {
		if (s->best.tree)
			variance_tree_free(s->best.tree);
		s->best = s->round;
	} else if (s->round.tree) {
		variance_tree_free(s->round.tree);
	}
	s->round = (struct round){ .number = s->round.number + 1,
				   .began = now + (s->java.methods ? JAVA_WARM_NS : 0),
				   .looked = now,
				   .paused_ns = all_pauses(s),
				   .tree = variance_tree_new() };
}

/* What a part is called: a function, what it does itself, or a wait. */
static struct str part_name(struct session *s, const struct interval_part *p)
{
	if (p->parent == UINT32_MAX)
		return str_of(s->type);
	if (p->function >= PART_WAIT)
		return arena_fmt(&s->arena, "wait:%s",
				 wait_why_name((enum wait_why)(p->function - PART_WAIT)));
	if (p->function < s->list.roles.nr)
		return s->list.roles.v[p->function].name;
	return STR("(unknown)");
}

static bool is_whole(const struct session *s, uint32_t function)
{
	return function < s->list.roles.nr && s->list.roles.v[function].role == ROLE_WHOLE;
}

/* What a function does itself is not handed on: the tree makes it of what its children leave. */
static void take_parts(struct session *s, const struct interval *v)
{
	uint32_t *place = arena_alloc(&s->arena, v->nr_parts * sizeof(*place));

	vec_clear(&s->parts);
	for (size_t i = 0; i < v->nr_parts; i++) {
		const struct interval_part *p = &v->parts[i];
		struct variance_part to = { .ns = p->ns, .work = NAN, .nr_calls = p->nr_calls };

		place[i] = (uint32_t)s->parts.nr;
		if (p->function == PART_BODY)
			continue;
		/* the call that is the interval, below what its mark began */
		if (p->parent == 0 && is_whole(s, p->function)) {
			place[i] = 0;
			continue;
		}
		to.parent = p->parent == UINT32_MAX ? UINT32_MAX : place[p->parent];
		to.name = part_name(s, p);
		to.site = p->site;
		for (int w = 0; w < NR_WAITS; w++)
			to.wait_ns[w] = p->waits[w];
		vec_push(&s->parts, to);
	}
	session_take_works(s, v, place);
}

/* Those that began before the set of functions was what it is now would mix two trees. */
int session_interval(void *to, const struct interval *v, struct error *err)
{
	struct session *s = to;
	int got;

	if (v->start < s->round.began) {
		s->losses.count[LOSS_INTERVALS_BETWEEN]++;
		return 0;
	}
	if (v->is_partial)
		return 0; /* counted where it was found out */
	take_parts(s, v);
	variance_tree_add(s->round.tree, s->parts.v, s->parts.nr);
	got = keep_add(&s->keep, v, s->round.number, s->parts.v, s->parts.nr, err);
	arena_reset(&s->arena);
	if (got < 0)
		return got;
	s->round.nr_intervals++;
	s->round.total_ns += v->end - v->start;
	if (v->end > s->round.last_ns)
		s->round.last_ns = v->end;
	return 0;
}

/* A process that was made before we came, or by one of those that we know. */
static void meet_process(struct session *s, uint32_t process)
{
	uint64_t *at = map_at(&s->processes, process);
	struct error ignored = { 0 };

	if (*at == PROCESS_OURS)
		return;
	*at = PROCESS_OURS;
	if (s->sched && (int)process != s->pid)
		sched_add(s->sched, (int)process, &ignored);
	if (s->uprobing.uprobes)
		uprobes_process(s->uprobing.uprobes, (int)process);
}

/* Who made the process; 0 when it is gone. */
static uint32_t parent_of(uint32_t process)
{
	char path[64], line[512];
	unsigned parent = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", process);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		end = strrchr(line, ')');
		if (!end || sscanf(end + 1, " %*c %u", &parent) != 1)
			parent = 0;
	}
	if (f)
		fclose(f);
	return parent;
}

/* Static probes are passed by all processes that run the same program. */
static bool is_ours(struct session *s, uint32_t process)
{
	uint64_t *at = map_at(&s->processes, process);
	uint32_t up = process;

	if (!*at) {
		for (int i = 0; i < ANCESTORS_MAX && up > 1 && up != (uint32_t)s->pid &&
				up != (uint32_t)s->root;
		     i++)
			up = parent_of(up);
		if (up == (uint32_t)s->pid || (s->root && up == (uint32_t)s->root))
			meet_process(s, process);
		else
			*at = PROCESS_OTHER;
	}
	return *map_at(&s->processes, process) == PROCESS_OURS;
}

static int take_calls(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	struct session *s = to;
	int got = 0;

	for (size_t i = 0; i < nr; i++) {
		if (c[i].function < s->list.v.nr) {
			struct watch *n = &s->list.v.v[c[i].function];
			double ns = (double)(c[i].end - c[i].start);

			n->nr_calls++;
			n->squares += ns * ns;
		}
		if (!i || c[i].process != c[i - 1].process)
			meet_process(s, c[i].process);
	}
	if (!s->java.methods)
		return intervals_call(s->intervals, c, nr, err);
	for (size_t i = 0; i < nr && got >= 0; i++)
		if (!java_stop(s, &c[i]))
			got = intervals_call(s->intervals, &c[i], 1, err);
	return got;
}

static int take_marks(void *to, const struct mark *m, size_t nr, struct error *err)
{
	return intervals_mark(((struct session *)to)->intervals, m, nr, err);
}

static int take_statics(void *to, const struct mark *m, size_t nr, struct error *err)
{
	struct session *s = to;
	int got = 0;

	for (size_t i = 0; i < nr && got >= 0; i++)
		if (is_ours(s, m[i].process))
			got = intervals_mark(s->intervals, &m[i], 1, err);
	return got;
}

static int take_changes(void *to, const struct thread_change *c, size_t nr, struct error *err)
{
	struct session *s = to;
	int got = 0;

	if (!s->java.methods)
		return intervals_change(s->intervals, c, nr, err);
	for (size_t i = 0; i < nr && got >= 0; i++) {
		struct thread_change change = c[i];

		java_change(s, &change);
		got = intervals_change(s->intervals, &change, 1, err);
	}
	return got;
}

/* Records that were dropped since the last look were of this time, of whichever thread. */
static void tell_gap(struct session *s, int64_t until)
{
	struct probe_counts probe = { 0 };
	struct sched_counts sched = { 0 };

	probe_count(s->probe, &probe);
	if (s->sched)
		sched_count(s->sched, &sched);
	if (probe.nr_dropped + sched.nr_dropped > s->nr_dropped)
		intervals_gap(s->intervals, 0, 0, s->until, until);
	s->nr_dropped = probe.nr_dropped + sched.nr_dropped;
	s->until = until;
}

static int pump(struct session *s, struct error *err)
{
	const struct probe_reader reader = { s, take_calls, take_marks };
	int64_t until = 0, until_changes = INT64_MAX, until_statics = INT64_MAX,
		until_uprobes = INT64_MAX;
	int got = 0, over;

	/* states first: what a call waited for is known when the call is told */
	over = probe_read(s->probe, &reader, &until, err);
	if (over >= 0 && s->sched)
		got = sched_read(s->sched, take_changes, s, &until_changes, err);
	if (over >= 0 && got >= 0 && s->statics)
		got = statics_read(s->statics, take_statics, s, &until_statics, err);
	if (over >= 0 && got >= 0)
		got = session_uprobes_read(s, &reader, &until_uprobes, err);
	if (over < 0 || got < 0)
		return over < 0 ? over : got;
	until = until < until_uprobes ? until : until_uprobes;
	until = until < until_changes ? until : until_changes;
	until = until < until_statics ? until : until_statics;
	tell_gap(s, until);
	/* what is read waits in memory while a run is made of what was settled before */
	if (!keep_is_busy(&s->keep))
		got = intervals_settle(s->intervals, until, err);
	return got < 0 ? got : over;
}

int session_pump(struct session *s, struct error *err)
{
	int got = pump(s, err);

	s->has_ended |= got == 1;
	return got;
}

void session_cost_anew(struct session *s)
{
	vec_each (&s->list.v, n)
		n->nr_before = n->nr_calls;
	s->cpu_ns = cost_cpu_ns(s, NULL);
	s->cooled = time_tick();
}

int session_cool(struct session *s, double budget, struct error *err)
{
	uint32_t hot[256];
	int64_t cpu_ns = cost_cpu_ns(s, NULL);
	size_t nr;
	int got = 0;

	s->cooled = time_tick();
	if (s->pace.is_paused)
		return 0;
	/* a process that is gone takes its time along: another look tells */
	if (cpu_ns <= s->cpu_ns) {
		s->cpu_ns = cpu_ns;
		return 0;
	}
	nr = watchlist_cool(&s->list, budget, cost_of_call(s), cpu_ns - s->cpu_ns, hot,
			    sizeof(hot) / sizeof(*hot));
	s->cpu_ns = cpu_ns;
	if (nr) {
		got = session_unwatch(s, hot, nr, err);
		session_new_round(s);
	}
	return got;
}

/* That may take a second, in which nobody reads: what is under way meanwhile would be lost anyway.
 */
static int patch(struct session *s, const struct probe_function *v, size_t nr,
		 struct probe_verdict *verdicts, int *nr_java, struct error *err)
{
	int64_t began = time_tick();
	bool pauses = s->round.tree && !s->pace.is_paused;
	int got = 0;

	turns_spoil(&s->account.turns);
	if (pauses)
		probe_pause(s->probe, true);
	if (nr)
		got = probe_add(s->probe, v, nr, verdicts, err);
	if (got >= 0)
		got = *nr_java = java_watch(s, err);
	if (pauses) {
		probe_pause(s->probe, false);
		intervals_gap(s->intervals, 0, 0, began, time_tick());
	}
	return got;
}

int session_unwatch(struct session *s, const uint32_t *numbers, size_t nr, struct error *err)
{
	VEC(uint32_t) functions = { 0 };
	int got = 0, ignored;

	for (size_t i = 0; i < nr; i++)
		if (s->list.v.v[numbers[i]].java)
			s->java.is_due = true;
		else
			vec_push(&functions, numbers[i]);
	turns_spoil(&s->account.turns);
	if (functions.nr)
		got = probe_remove(s->probe, functions.v, functions.nr, err);
	if (got >= 0 && s->java.is_due)
		got = patch(s, NULL, 0, NULL, &ignored, err);
	vec_done(&functions);
	return got < 0 ? got : 0;
}

int session_watch(struct session *s, struct error *err)
{
	VEC(struct probe_function) want = { 0 };
	struct probe_verdict *verdicts;
	int got = 0, nr = 0, nr_java = 0;

	vec_each (&s->list.v, n)
		if (!n->is_on && !n->is_static && !n->java && n->out == WATCH_IN)
			vec_push(&want, n->how);
	verdicts = mem_zalloc(mem_bytes(want.nr + 1, sizeof(*verdicts)));
	if (want.nr || s->java.is_due)
		got = patch(s, want.v, want.nr, verdicts, &nr_java, err);
	for (size_t i = 0; got >= 0 && i < want.nr; i++) {
		struct watch *n = &s->list.v.v[want.v[i].id];

		n->is_on = verdicts[i].means != PROBE_REFUSED;
		n->why = verdicts[i].why;
		if (verdicts[i].has_another_way)
			n->is_on = session_uprobe(s, want.v[i].id);
		n->out = n->is_on ? WATCH_IN : n->out == WATCH_HOT ? WATCH_HOT : WATCH_REFUSED;
		nr += n->is_on;
	}
	nr += nr_java;
	if (got >= 0 && s->intervals)
		got = intervals_functions(s->intervals, s->list.roles.v, s->list.roles.nr);
	free(verdicts);
	vec_done(&want);
	return got < 0 ? got : nr;
}

void session_done(struct session *s)
{
	if (s->intervals) {
		struct error ignored = { 0 };

		intervals_close(s->intervals, &ignored);
	}
	if (s->sched)
		sched_close(s->sched);
	if (s->statics)
		statics_close(s->statics);
	uprobes_close(s->uprobing.uprobes);
	java_done(s);
	if (s->probe)
		probe_close(s->probe);
	if (s->round.tree)
		variance_tree_free(s->round.tree);
	if (s->best.tree)
		variance_tree_free(s->best.tree);
	keep_done(&s->keep);
	learn_done(&s->learning);
	watchlist_done(&s->list);
	functions_done(&s->functions);
	map_done(&s->processes);
	vec_done(&s->parts);
	arena_done(&s->arena);
}
