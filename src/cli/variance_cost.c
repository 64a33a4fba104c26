#include "cli/variance_cost.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "capture/probe/probe.h"
#include "capture/sched.h"
#include "capture/uprobes.h"
#include "cli/variance_session.h"

#define PROCESSORS_NS (200 * NS_MS) /* how often it is asked how many the program uses */
#define PROCESSORS_LEAST 0.02
#define RAN_NS NS_S
#define RAN_PROCESSES 8
#define RAN_THREADS 16
/* A part of the budget is left for what nobody measures: caches and processors that are shared. */
#define CHARGED_PART 0.85
#define ASK_OFTEN 16
#define ASK_EVERY 8
#define RATE_OF 16 /* looks */
#define DEAR_PART 0.5
#define CHEAP_PART 0.2

static double nr_processors(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr > 0 ? (double)nr : 1;
}

int64_t cost_cpu_ns(struct session *s, uint64_t *who)
{
	const struct map_slot *at = NULL;
	int64_t all = 0;
	uint64_t sum = 0;

	while ((at = map_next(&s->processes, at))) {
		struct timespec t;
		clockid_t clock;

		if (at->value != PROCESS_OURS || clock_getcpuclockid((pid_t)at->key, &clock) ||
		    clock_gettime(clock, &t))
			continue;
		all += (int64_t)t.tv_sec * NS_S + t.tv_nsec;
		sum += at->key * 0x9e3779b97f4a7c15u;
	}
	if (who)
		*who = sum;
	return all;
}

static int64_t own_ns(const struct probe_counts *probe)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NS_S + t.tv_nsec + (int64_t)probe->patcher_ns;
}

/* What a call takes in a loop; of both sorts the one that takes more. */
static double call_loop_ns(const struct session *s)
{
	return s->java.methods ? JAVA_CALL_NS : probe_cost_ns(s->probe);
}

static double paused_loop_ns(const struct session *s)
{
	return s->java.methods ? JAVA_PAUSED_NS : probe_paused_ns(s->probe);
}

/* They are passed in pauses, too. */
static uint64_t uprobes_ns(const struct session *s)
{
	const struct uprobes *u = s->uprobing.uprobes;

	return u ? (uint64_t)((double)uprobes_hits(u) * uprobes_cost_ns(u)) : 0;
}

static struct charged charged_now(const struct session *s, double *change_ns)
{
	struct probe_counts probe = { 0 };
	struct sched_counts sched = { 0 };

	probe_count(s->probe, &probe);
	if (s->sched)
		sched_count(s->sched, &sched);
	*change_ns = sched.change_ns;
	return (struct charged){ .ns = time_tick(),
				 .own_ns = own_ns(&probe),
				 .stacks_ns = s->learning.held_ns,
				 .stops_ns = probe.lost_ns,
				 .nr_calls = probe.nr_calls + probe.nr_marks,
				 .nr_changes = sched.nr_changes,
				 .uprobes_ns = uprobes_ns(s) };
}

static void ran_add(struct ran *r, uint32_t process)
{
	char path[300];
	struct dirent *d;
	unsigned nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", process);
	dir = opendir(path);
	while (dir && nr < RAN_THREADS && (d = readdir(dir))) {
		double run, wait;
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%u/task/%s/schedstat", process, d->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%lf %lf", &run, &wait) == 2) {
			r->run += run;
			r->wait += wait;
			r->nr++;
		}
		nr++;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

/* How long threads wait for a processor, of some of them. */
static void look_at_delays(struct session *s, int64_t now)
{
	struct account *a = &s->account;
	struct ran r = { .ns = now };
	const struct map_slot *at = NULL;
	int nr = 0;

	if (a->ran.ns && now - a->ran.ns < RAN_NS)
		return;
	while (nr < RAN_PROCESSES && (at = map_next(&s->processes, at)))
		if (at->value == PROCESS_OURS) {
			ran_add(&r, (uint32_t)at->key);
			nr++;
		}
	if (r.nr == a->ran.nr && r.run > a->ran.run && r.wait >= a->ran.wait)
		a->delayed = (r.wait - a->ran.wait) / (r.run - a->ran.run);
	a->ran = r;
}

/* Work of our own on a processor that would have been idle takes nothing from the program. */
static void look_at_machine(struct account *a)
{
	unsigned long long t[8] = { 0 };
	uint64_t all = 0, idle;
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) == 8) {
		for (int i = 0; i < 8; i++)
			all += t[i];
		idle = t[3] + t[4];
		if (a->ticks && all > a->ticks && idle >= a->idle_ticks)
			a->taken = 1 - (double)(idle - a->idle_ticks) / (double)(all - a->ticks);
		a->taken = a->taken < 0 ? 0 : a->taken;
		a->ticks = all;
		a->idle_ticks = idle;
	}
	fclose(f);
}

/* Our code makes longer what runs or waits for a processor, not what waits for something else. So a
 * program loses a smaller part of its time where it hardly runs, unless it is kept from it. */
static void look_at_processors(struct session *s, int64_t now)
{
	struct account *a = &s->account;
	double used, busy, most = nr_processors();
	int64_t cpu_ns;

	if (a->cpu_at && now - a->cpu_at < PROCESSORS_NS)
		return;
	look_at_delays(s, now);
	look_at_machine(a);
	cpu_ns = cost_cpu_ns(s, NULL);
	used = a->cpu_at ? (double)(cpu_ns - a->cpu_ns) / (double)(now - a->cpu_at) : 1;
	if (used > 0) {
		used = used < PROCESSORS_LEAST ? PROCESSORS_LEAST : used > most ? most : used;
		busy = used * (1 + a->delayed);
		a->processors = used;
		a->lanes = used / (busy < 1 ? busy : 1);
	}
	a->cpu_ns = cpu_ns;
	a->cpu_at = now;
}

void cost_begin(struct session *s)
{
	struct account *a = &s->account;
	double ignored;

	budget_begin(&a->budget, CHARGED_PART * s->options->budget, time_tick());
	budget_lend(&a->budget);
	a->charged = charged_now(s, &ignored);
	budget_lose_first(&a->budget, LOST_OWN, (double)a->charged.own_ns / nr_processors());
	budget_lose_first(&a->budget, LOST_STOPS, (double)a->charged.stops_ns);
	a->processors = a->lanes = a->taken = 1;
	a->cost = turns_cost(&a->turns);
}

/* Counters of what has ended meanwhile may fall. */
static double more(double now, double was)
{
	return now > was ? now - was : 0;
}

/* What is done in the program costs more than in a loop. Calls in pauses are not told: there were
 * as many as while it was watched. */
static void charge_loop(struct session *s, const struct charged *now, const struct charged *was,
			double change_ns)
{
	struct account *a = &s->account;
	double took = (double)(now->ns - was->ns),
	       nr = more((double)now->nr_calls, (double)was->nr_calls);
	double did[2] = { nr * call_loop_ns(s),
			  more((double)now->nr_changes, (double)was->nr_changes) * change_ns };

	for (int i = 0; i < 2; i++) {
		/* what a pause does not save is not seen by comparing both */
		a->loop_ns += did[i] - (i == LOST_CALLS ? nr * paused_loop_ns(s) : 0);
		a->times[i] += did[i] / a->lanes;
		budget_lose(&a->budget, (enum lost_by)i, did[i] * a->cost.times / a->lanes);
	}
	if (s->pace.is_paused) {
		did[0] = took * a->call_rate * paused_loop_ns(s);
		a->times[0] += did[0] / a->lanes;
		budget_lose(&a->budget, LOST_CALLS, did[0] * a->cost.times / a->lanes);
	} else if (took > 0) {
		a->call_rate += (nr / took - a->call_rate) / RATE_OF;
		a->rate += ((did[0] + did[1]) / took - a->rate) / RATE_OF;
	}
}

static void charge_rest(struct account *a, const struct charged *now, const struct charged *was)
{
	double running = a->processors < 1 ? 1 : a->processors;
	const double lost[NR_LOST] = {
		[LOST_UPROBES] = more((double)now->uprobes_ns, (double)was->uprobes_ns) / a->lanes,
		[LOST_STOPS] = more((double)now->stops_ns, (double)was->stops_ns),
		[LOST_STACKS] = more((double)now->stacks_ns, (double)was->stacks_ns) / running,
		[LOST_OWN] =
			more((double)now->own_ns, (double)was->own_ns) * a->taken / nr_processors(),
	};

	for (int i = LOST_UPROBES; i < NR_LOST; i++)
		budget_lose(&a->budget, (enum lost_by)i, lost[i]);
}

void cost_charge(struct session *s)
{
	struct account *a = &s->account;
	double change_ns;
	struct charged was = a->charged, now;

	/* it may have ended before anything was watched */
	if (!a->budget.at)
		return;
	now = charged_now(s, &change_ns);
	look_at_processors(s, now.ns);
	charge_loop(s, &now, &was, change_ns);
	charge_rest(a, &now, &was);
	budget_give(&a->budget, now.ns);
	a->charged = now;
	if (a->turns.nr_found != a->nr_found &&
	    (a->turns.nr_found < ASK_OFTEN || a->turns.nr_found % ASK_EVERY == 0))
		a->cost = turns_cost(&a->turns);
	a->nr_found = a->turns.nr_found;
}

/* What came since it was last charged belongs to the turn that ends. */
void cost_turn(struct session *s, bool is_watched)
{
	struct probe_counts probe = { 0 };
	struct turn_counts now = { .loop_ns = s->account.loop_ns };

	probe_count(s->probe, &probe);
	now.cpu_ns = cost_cpu_ns(s, &now.who);
	now.nr_units = probe.nr_units;
	turns_begin(&s->account.turns, &now, is_watched);
}

double cost_of_call(const struct session *s)
{
	return s->account.cost.times * call_loop_ns(s);
}

/* Where the most that it may cost fits into the budget, it need not be known better. Intervals in
 * pauses are not seen, so these are few. */
bool cost_wants_pause(const struct session *s)
{
	const struct account *a = &s->account;

	return a->rate * a->cost.high / a->lanes > s->options->budget / 2 &&
	       s->nr_windows % ASK_EVERY == 0;
}

bool cost_is_dear(const struct session *s)
{
	const struct account *a = &s->account;

	return a->rate * a->cost.times / a->lanes > DEAR_PART * a->budget.share;
}

bool cost_is_cheap(const struct session *s)
{
	const struct account *a = &s->account;

	return a->rate * a->cost.times / a->lanes < CHEAP_PART * a->budget.share;
}

/* What was charged for our code went by what was known then. */
struct overhead cost_overhead(const struct session *s)
{
	const struct account *a = &s->account;
	struct overhead o = { .call_ns = cost_of_call(s), .is_measured = a->cost.is_measured };
	double took = (double)(a->charged.ns - s->began), rest = 0;
	double loop = a->times[LOST_CALLS] + a->times[LOST_SWITCHES];

	if (took <= 0)
		return o;
	for (int i = 0; i < NR_LOST; i++) {
		o.lost[i] = (i <= LOST_SWITCHES ? a->times[i] * a->cost.times : a->budget.lost[i]) /
			    took;
		rest += i <= LOST_SWITCHES ? 0 : o.lost[i];
	}
	o.all = rest + loop * a->cost.times / took;
	o.low = rest + loop * a->cost.low / took;
	o.high = rest + loop * a->cost.high / took;
	return o;
}
