#include "cli/agent_queries.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "capture/weave/weave.h"
#include "cli/command.h"
#include "cli/live_points.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/stopping.h"
#include "query/partial.h"

#define PIDS_MAX 256
#define POLL_MS 20
#define RUN_NS 100
#define LEAVE_MS 2000 /* for reports that are still to be sent */
/* a hub waits for the end of a query that was removed for some seconds */
#define LEAVING_NS (700 * NS_MS)
#define YOUNG ((uint64_t)1 << 63) /* of when a process began: it was looked at once */
#define ADDRESSES_MAX 15          /* that a hub is told */

/* A query that was removed, while some of its rows wait for what another host hands over. */
struct leaving {
	uint64_t id;
	int64_t until; /* tick */
};

struct asked_agent {
	const struct call *call;
	struct bus_keys *keys;
	struct bus_agent *bus;
	struct weave *weave;
	VEC(uint64_t) queries;
	VEC(struct leaving) leaving;
	size_t nr_addresses; /* that the hub knows */
	struct map seen;     /* processes that were looked at, by number: when they began */
	bool takes_all;      /* processes that a query asks of something of */
	bool is_new;         /* a query came: all are looked at anew */
	int64_t reported;
	uint64_t nr_runs; /* of advice, by then */
	char name[BUS_NAME_MAX + 1];
};

static void tell(struct asked_agent *a, uint64_t id, const struct buf *told)
{
	struct str text = str_trim(buf_str(told));

	bus_agent_tell(a->bus, id, str_head(text, str_find_char(text, '\n')));
}

static void on_installed(void *ctx, const struct bus_query *q)
{
	struct asked_agent *a = ctx;
	const struct weave_request r = { .id = q->id,
					 .text = q->text,
					 .tracepoints = q->tracepoints,
					 .file = STR("tracepoints") };
	struct error err = { 0 };
	struct buf told = { 0 };

	if (weave_install(a->weave, &r, &told, &err) < 0) {
		bus_agent_tell(a->bus, q->id, str_of(err.msg));
	} else {
		vec_push(&a->queries, q->id);
		a->is_new = true;
		tell(a, q->id, &told);
	}
	buf_done(&told);
}

static void report(struct asked_agent *a, uint64_t id, int64_t now)
{
	struct partial *p = weave_partial(a->weave, id);

	if (!p)
		return;
	bus_agent_report(a->bus, id, a->reported, now, p);
	partial_reset(p);
}

static void on_removed(void *ctx, uint64_t id)
{
	struct asked_agent *a = ctx;
	struct error ignored = { 0 };

	if (weave_remove(a->weave, id, &ignored) < 0)
		say_error("%s", ignored.msg);
	vec_push(&a->leaving, (struct leaving){ id, time_tick() + LEAVING_NS });
	for (size_t i = a->queries.nr; i-- > 0;)
		if (a->queries.v[i] == id)
			a->queries.v[i] = a->queries.v[--a->queries.nr];
}

static void leave(struct asked_agent *a, bool at_once)
{
	for (size_t i = a->leaving.nr; i-- > 0;) {
		struct leaving l = a->leaving.v[i];

		if (!at_once && time_tick() < l.until && weave_waiting(a->weave, l.id))
			continue;
		weave_give_up(a->weave, l.id);
		report(a, l.id, time_now());
		weave_forget(a->weave, l.id);
		bus_agent_ended(a->bus, l.id);
		a->leaving.v[i] = a->leaving.v[--a->leaving.nr];
	}
}

/* What requests carry over from another host's agent, and to it. */
static void on_received(void *ctx, struct str from, struct str bytes)
{
	struct asked_agent *a = ctx;

	(void)from;
	weave_take_over(a->weave, bytes);
}

static int hand_over(void *ctx, struct str to, struct str bytes)
{
	struct asked_agent *a = ctx;

	return bus_agent_send(a->bus, to, bytes);
}

/* Under which addresses other agents may reach this one. */
static void name_addresses(struct asked_agent *a)
{
	const char *also[ADDRESSES_MAX];
	size_t nr = weave_addresses(a->weave, also, ADDRESSES_MAX);

	if (nr == a->nr_addresses)
		return;
	a->nr_addresses = nr;
	bus_agent_known_as(a->bus, also, nr);
}

static void enter(struct asked_agent *a, int pid)
{
	struct error err = { 0 };
	struct buf told = { 0 };

	if (weave_enter(a->weave, pid, &told, &err) < 0)
		say_error("process %d: %s", pid, err.msg);
	buf_done(&told);
}

/* When it began, by which it is known from others of the same number; 0: it is gone. */
static uint64_t began(int pid)
{
	char path[32], line[1024], *at;
	unsigned long long when = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	for (int i = 0; i < 20 && at; i++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%llu", &when);
	if (f)
		fclose(f);
	return when + (at != NULL);
}

static bool is_ours(int pid)
{
	char path[32], line[64] = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return pid == getpid() || strncmp(line, "culprit", 7) == 0;
}

/* A process that has just begun may load what concerns us only now: it is looked at twice, a second
 * apart. */
static void seen_note(uint64_t *seen, uint64_t when)
{
	*seen = *seen == (when | YOUNG) ? when : when | YOUNG;
}

/* Processes that are new, or all of them when a query is. */
static void look_around(struct asked_agent *a)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	if (a->is_new)
		map_clear(&a->seen);
	a->is_new = false;
	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);
		uint64_t when = isdigit((unsigned char)e->d_name[0]) ? began(pid) : 0;
		uint64_t *seen = when ? map_at(&a->seen, (uint64_t)pid) : NULL;

		if (!seen || *seen == when || weave_awaits(a->weave, pid))
			continue;
		seen_note(seen, when);
		if (is_ours(pid) || !weave_concerns(a->weave, pid))
			continue;
		*seen = when;
		enter(a, pid);
	}
	if (d)
		closedir(d);
}

static uint64_t resident(void)
{
	struct rusage r;

	return getrusage(RUSAGE_SELF, &r) < 0 ? 0 : (uint64_t)r.ru_maxrss * 1024;
}

/* Of all processors, in millionths: by what a run of advice takes, about. */
static uint64_t overhead(struct asked_agent *a, const struct weave_health *h, int64_t now)
{
	uint64_t runs = h->nr_runs - a->nr_runs;
	double ns = (double)(now - a->reported) * (double)sysconf(_SC_NPROCESSORS_ONLN);

	a->nr_runs = h->nr_runs;
	return ns > 0 ? (uint64_t)((double)runs * RUN_NS / ns * 1e6) : 0;
}

static void second(struct asked_agent *a)
{
	int64_t now = time_now();
	struct weave_health h;
	struct bus_health b;

	for (size_t i = 0; i < a->queries.nr; i++)
		report(a, a->queries.v[i], now);
	weave_health(a->weave, &h);
	b = (struct bus_health){ .nr_processes = h.nr_processes,
				 .nr_tracepoints = h.nr_places,
				 .overhead_ppm = overhead(a, &h, now),
				 .resident_bytes = resident(),
				 .losses = h.losses };
	a->reported = now;
	bus_agent_health(a->bus, &b);
	if (a->takes_all && a->queries.nr)
		look_around(a);
	name_addresses(a);
}

static int begin(struct asked_agent *a, struct error *err)
{
	const char *name = call_get(a->call, "name"), *keys = call_get(a->call, "keys");
	struct bus_agent_options o = {
		.endpoint = call_get(a->call, "hub"),
		.name = a->name,
		.calls = { .ctx = a,
			   .installed = on_installed,
			   .removed = on_removed,
			   .received = on_received,
			   .says_ended = true },
	};
	int pids[PIDS_MAX], nr = live_pids(a->call, pids, PIDS_MAX, err), got = nr;
	double overhead = 0.05;

	if (got >= 0 && !o.endpoint)
		got = error_set(err, EINVAL, "--queries needs a hub: --hub HOST:PORT");
	if (!name && gethostname(a->name, sizeof(a->name) - 1) < 0)
		a->name[0] = 0;
	if (name)
		snprintf(a->name, sizeof(a->name), "%s", name);
	if (got >= 0 && keys)
		got = bus_keys_load(&a->keys, keys, err);
	o.keys = a->keys;
	if (got >= 0)
		got = option_share(a->call, "overhead", &overhead, err);
	if (got >= 0)
		got = weave_open(&a->weave,
				 &(struct weave_options){ .host = a->name,
							  .reaches_others = true,
							  .overhead = overhead,
							  .has_java_sockets =
								  call_has(a->call, "java-sockets"),
							  .is_of_host = !nr },
				 err);
	for (int i = 0; got >= 0 && i < nr; i++)
		enter(a, pids[i]);
	if (got >= 0)
		got = bus_agent_open(&a->bus, &o, err);
	if (got >= 0)
		name_addresses(a);
	a->takes_all = !nr;
	return got;
}

static int work(struct asked_agent *a, int64_t end, struct error *err)
{
	int64_t next;
	int got = 0;

	a->reported = time_now();
	next = a->reported / NS_S * NS_S + NS_S;
	while (got >= 0 && !stopping_is_told() && (!end || time_tick() < end)) {
		bool is_due = time_now() >= next;

		got = bus_agent_poll(a->bus, POLL_MS, err);
		if (got >= 0)
			got = weave_gather(a->weave, is_due, err);
		if (got >= 0) {
			weave_hand_over(a->weave, hand_over, a);
			leave(a, false);
		}
		if (got < 0 || !is_due)
			continue;
		next = time_now() / NS_S * NS_S + NS_S;
		second(a);
	}
	return got;
}

/* What waits for other hosts, and what they wait for, before it goes. */
static void settle(struct asked_agent *a)
{
	struct error ignored = { 0 };

	while (a->leaving.nr) {
		weave_hand_over(a->weave, hand_over, a);
		leave(a, false);
		if (a->leaving.nr && (bus_agent_poll(a->bus, POLL_MS, &ignored) < 0 ||
				      weave_gather(a->weave, true, &ignored) < 0))
			leave(a, true);
	}
}

int agent_queries(const struct call *call)
{
	struct asked_agent a = { .call = call };
	struct error err = { 0 };
	int64_t ns = 0;
	int got = option_time(call, "for", &ns, &err);

	stopping_catch();
	if (got >= 0)
		got = begin(&a, &err);
	if (got >= 0)
		got = work(&a, ns ? time_tick() + ns : 0, &err);
	if (got < 0)
		say_error("%s", err.msg);
	for (size_t i = a.queries.nr; a.bus && i-- > 0;)
		on_removed(&a, a.queries.v[i]);
	if (a.bus)
		settle(&a);
	if (a.bus && bus_agent_close(a.bus, LEAVE_MS))
		say_error("some reports did not reach the hub");
	weave_close(a.weave);
	bus_keys_free(a.keys);
	vec_done(&a.queries);
	vec_done(&a.leaving);
	map_done(&a.seen);
	return got < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
