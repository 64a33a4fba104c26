#include "cli/query_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/weave/weave.h"
#include "cli/command.h"
#include "cli/live_points.h"
#include "cli/live_show.h"
#include "cli/option.h"
#include "cli/query_explain.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "query/partial.h"

#define PIDS_MAX 256
#define ROWS_NS (20 * NS_MS) /* how often rows are taken */
#define QUERY_ID 1

struct asking {
	const struct call *call;
	struct weave *weave;
	struct live_show *show;
	struct buf points, told;
	int64_t end; /* of --for; 0: none */
};

static void told_say(struct asking *a)
{
	struct str left = buf_str(&a->told), line;

	while (left.n) {
		if (!str_take_until(&left, '\n', &line)) {
			line = left;
			left.n = 0;
		}
		say_error(STR_FMT, STR_ARG(line));
	}
	buf_clear(&a->told);
}

static int ask(struct asking *a, const char *text, struct error *err)
{
	struct weave_request r = { .id = QUERY_ID,
				   .text = str_of(text),
				   .file = STR("tracepoints") };
	struct weave_options o = { .overhead = 0.05,
				   .has_java_sockets = call_has(a->call, "java-sockets") };
	int pids[PIDS_MAX], nr = live_pids(a->call, pids, PIDS_MAX, err);
	int got = nr < 0 ? nr : live_points_read(a->call, &a->points, err);

	if (got >= 0)
		got = option_share(a->call, "overhead", &o.overhead, err);

	if (got >= 0 && !nr)
		got = error_set(err, EINVAL,
				"--live needs processes: --pid PID, or --hub HOST:PORT");
	if (got >= 0)
		got = weave_open(&a->weave, &o, err);
	for (int i = 0; got >= 0 && i < nr; i++)
		got = weave_enter(a->weave, pids[i], &a->told, err);
	r.tracepoints = buf_str(&a->points);
	if (got >= 0)
		got = live_show_open(&a->show, a->call, STR("1"), r.text, err);
	if (got >= 0)
		got = weave_install(a->weave, &r, &a->told, err);
	told_say(a);
	if (got == 0)
		got = error_set(err, ENOENT,
				"none of the query's tracepoints is in these processes");
	return got;
}

/* What came since. */
static int tell(struct asking *a, struct error *err)
{
	struct partial *p = weave_partial(a->weave, QUERY_ID);
	struct weave_health h;
	char words[160], outside[48] = "";
	int got = live_show_add(a->show, time_now(), p, err);

	partial_reset(p);
	weave_health(a->weave, &h);
	if (h.nr_outside)
		snprintf(outside, sizeof(outside), " (%u from outside)", h.nr_outside);
	snprintf(words, sizeof(words), "%u process%s, %u place%s%s, %llu runs", h.nr_processes,
		 h.nr_processes == 1 ? "" : "es", h.nr_places, h.nr_places == 1 ? "" : "s", outside,
		 (unsigned long long)h.nr_runs);
	return got < 0 ? got : live_show_tick(a->show, words, err);
}

static int watch(struct asking *a, struct error *err)
{
	int64_t next = time_tick() + NS_S;
	int got = 0;

	while (got == 0 && !stopping_is_told() && (!a->end || time_tick() < a->end)) {
		bool is_due = time_tick() >= next;

		nanosleep(&(struct timespec){ .tv_nsec = ROWS_NS }, NULL);
		got = weave_gather(a->weave, is_due, err);
		if (got < 0 || !is_due)
			continue;
		next += NS_S;
		if (tell(a, err) < 0)
			got = -EIO;
	}
	return got < 0 ? got : 0;
}

static int end(struct asking *a, struct error *err)
{
	int got = weave_remove(a->weave, QUERY_ID, err), shown;

	if (got >= 0)
		got = tell(a, err);
	shown = live_show_close(a->show, err);
	a->show = NULL;
	return got < 0 ? got : shown;
}

int query_live(const struct call *call, const char *text)
{
	struct asking a = { .call = call };
	struct error err = { 0 };
	int64_t ns = 0;
	int got = option_time(call, "for", &ns, &err);

	if (call_has(call, "explain"))
		return query_explain(call, text);
	if (call_has(call, "hub"))
		return query_is_fine(call, text) ? query_hub(call, text) : EXIT_CANNOT;
	stopping_catch();
	if (got >= 0)
		got = ask(&a, text, &err);
	a.end = ns ? time_tick() + ns : 0;
	if (got >= 0)
		got = watch(&a, &err);
	if (got >= 0)
		got = end(&a, &err);
	if (got < 0)
		say_error("%s", err.msg);
	if (a.show)
		live_show_close(a.show, &(struct error){ 0 });
	weave_close(a.weave);
	buf_done(&a.points);
	buf_done(&a.told);
	return got < 0 ? EXIT_CANNOT : got;
}
