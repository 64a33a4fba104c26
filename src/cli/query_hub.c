/* An operator's query: given to a hub, and what its agents answer shown as it comes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "bus/bus.h"
#include "cli/command.h"
#include "cli/live_points.h"
#include "cli/live_show.h"
#include "cli/option.h"
#include "cli/query_live.h"
#include "cli/say.h"
#include "cli/stopping.h"

#define POLL_MS 100
/* For what agents report in the end: the hub waits for less, but may have to begin anew. */
#define LAST_NS (60 * NS_S)

struct hub_asking {
	const struct call *call;
	struct bus_keys *keys;
	struct bus_operator *bus;
	struct live_show *show;
	struct buf points;
	uint64_t id;
	uint32_t nr_agents, nr_silent;
	bool is_removed, is_leaving;
	int failed; /* of showing what came */
	struct error why;
};

static void on_result(void *ctx, struct bus_result *r)
{
	struct hub_asking *a = ctx;

	a->nr_agents = r->nr_agents;
	a->nr_silent = r->nr_silent;
	if (r->query != a->id || a->failed < 0 || !a->show)
		return;
	/* of the second in which it begins, also where an agent was slow to report it */
	a->failed = r->is_whole ? live_show_set(a->show, r->seen, &a->why)
				: live_show_add(a->show, r->from_ns + NS_S, r->seen, &a->why);
}

static void on_told(void *ctx, uint64_t query, struct str agent, struct str sentence)
{
	struct hub_asking *a = ctx;

	if (query == a->id && sentence.n)
		say_error(STR_FMT ": " STR_FMT, STR_ARG(agent), STR_ARG(sentence));
}

static void on_removed(void *ctx, uint64_t query, struct str why)
{
	struct hub_asking *a = ctx;

	if (query != a->id)
		return;
	a->is_removed = true;
	if (why.n && !a->is_leaving)
		say_error("the query was removed: " STR_FMT, STR_ARG(why));
}

static int begin(struct hub_asking *a, const char *text, struct error *err)
{
	const char *keys = call_get(a->call, "keys");
	struct bus_operator_options o = {
		.endpoint = call_get(a->call, "hub"),
		.name = "query",
		.calls = { .ctx = a, .result = on_result, .told = on_told, .removed = on_removed },
	};
	char id[24];
	int got = live_points_read(a->call, &a->points, err);

	if (got >= 0 && keys)
		got = bus_keys_load(&a->keys, keys, err);
	o.keys = a->keys;
	if (got >= 0)
		got = bus_operator_open(&a->bus, &o, err);
	if (got >= 0)
		got = bus_operator_install(a->bus, str_of(text), buf_str(&a->points), 0, true,
					   &a->id, err);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)a->id);
	if (got >= 0)
		got = live_show_open(&a->show, a->call, str_of(id), str_of(text), err);
	if (got >= 0)
		got = bus_operator_watch(a->bus, a->id, err);
	return got;
}

static int tick(struct hub_asking *a, struct error *err)
{
	char words[96];

	snprintf(words, sizeof(words), "%u agent%s%s", a->nr_agents, a->nr_agents == 1 ? "" : "s",
		 a->nr_silent ? ", some of them silent" : "");
	return live_show_tick(a->show, words, err);
}

/* Until it is removed, or is_over says so. */
static int watch(struct hub_asking *a, int64_t end, bool is_over, struct error *err)
{
	int64_t next = time_tick() + NS_S;
	int got = 0;

	while (got >= 0 && !a->is_removed && (is_over || !stopping_is_told()) &&
	       (!end || time_tick() < end)) {
		got = bus_operator_poll(a->bus, POLL_MS, err);
		if (got >= 0 && a->failed < 0)
			got = error_set(err, -a->failed, "%s", a->why.msg);
		if (got < 0 || time_tick() < next)
			continue;
		next += NS_S;
		got = tick(a, err);
	}
	return got < 0 ? got : 0;
}

static void on_listed(void *ctx, const struct bus_standing *q)
{
	struct hub_asking *a = ctx;
	struct losses all = q->losses;

	/* those that are not given up yet, as well */
	if (all.count[LOSS_AGENTS_SILENT] < q->nr_silent)
		all.count[LOSS_AGENTS_SILENT] = q->nr_silent;
	if (q->query.id == a->id && a->show)
		live_show_losses(a->show, &all);
}

/* What agents had not told yet comes when it is taken from them. */
static int end(struct hub_asking *a, struct error *err)
{
	int got, shown;

	a->is_leaving = true;
	/* silence and what never came are counted by the hub */
	if (!a->is_removed)
		bus_operator_list(a->bus, on_listed, a, &(struct error){ 0 });
	got = a->is_removed ? 0 : bus_operator_remove(a->bus, a->id, err);
	if (got >= 0 && !a->is_removed)
		got = watch(a, time_tick() + LAST_NS, true, err);
	if (got >= 0 && !a->is_removed)
		say_error("the hub has not said within %d s that it is all: what agents told last "
			  "may be missing",
			  (int)(LAST_NS / NS_S));
	shown = live_show_close(a->show, err);
	a->show = NULL;
	return got < 0 ? got : shown;
}

int query_hub(const struct call *call, const char *text)
{
	struct hub_asking a = { .call = call };
	struct error err = { 0 };
	int64_t ns = 0;
	int got = option_time(call, "for", &ns, &err);

	stopping_catch();
	if (got >= 0)
		got = begin(&a, text, &err);
	if (got >= 0)
		got = watch(&a, ns ? time_tick() + ns : 0, false, &err);
	if (got >= 0)
		got = end(&a, &err);
	if (got < 0)
		say_error("%s", err.msg);
	if (a.show)
		live_show_close(a.show, &(struct error){ 0 });
	bus_operator_close(a.bus);
	bus_keys_free(a.keys);
	buf_done(&a.points);
	return got < 0 ? EXIT_CANNOT : got;
}
