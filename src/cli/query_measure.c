#include "cli/query_measure.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "bus/bus.h"
#include "capture/weave/weave.h"
#include "cli/command.h"
#include "cli/live_points.h"
#include "cli/stopping.h"
#include "query/live_explain.h"
#include "query/partial.h"
#include "query/plan.h"

#define PIDS_MAX 256
#define LOOK_NS (20 * NS_MS)
#define POLL_MS 100
#define MEASURE_NS (5 * NS_S)

/* --- the hub ---------------------------------------------------------------------------------- */

struct operating {
	struct bus_keys *keys;
	struct bus_operator *hub;
};

static int operate(struct operating *o, const struct call *call, struct bus_operator_calls calls,
		   struct error *err)
{
	char name[BUS_NAME_MAX] = "operator";
	struct bus_operator_options with = { .endpoint = call_get(call, "hub"), .calls = calls };
	int got = 0;

	snprintf(name, sizeof(name), "operator-%d", (int)getpid());
	if (call_has(call, "keys"))
		got = bus_keys_load(&o->keys, call_get(call, "keys"), err);
	with.keys = o->keys;
	with.name = name;
	return got < 0 ? got : bus_operator_open(&o->hub, &with, err);
}

static void end_operating(struct operating *o)
{
	bus_operator_close(o->hub);
	bus_keys_free(o->keys);
}

static int install(struct operating *o, const struct live_known *known, const struct plan *plan,
		   struct str text, uint64_t *id, struct error *err)
{
	struct buf points = { 0 };
	int got;

	live_known_of(known, plan, &points);
	got = bus_operator_install(o->hub, text, buf_str(&points), 0, true, id, err);
	if (got >= 0)
		got = bus_operator_watch(o->hub, *id, err);
	buf_done(&points);
	return got;
}

/* --- counting --------------------------------------------------------------------------------- */

struct counting {
	uint64_t ids[STAGES_MAX], counts[STAGES_MAX];
	int64_t first[STAGES_MAX], last[STAGES_MAX]; /* seconds that were told; 0: none */
	size_t nr;
};

/* The first second is one in which advice came into the processes: it is left out. */
static void take_count(void *ctx, struct bus_result *r)
{
	struct counting *c = ctx;
	uint64_t nr = 0;
	size_t i = 0;

	while (i < c->nr && c->ids[i] != r->query)
		i++;
	if (i == c->nr || r->is_whole)
		return;
	vec_each (&r->seen->cells, cell)
		nr += cell->nr;
	if (!c->first[i])
		c->first[i] = r->from_ns;
	if (r->from_ns > c->first[i])
		c->counts[i] += nr;
	if (r->until_ns > c->last[i])
		c->last[i] = r->until_ns;
}

static double counted(const struct counting *c, size_t i)
{
	double seconds = (double)(c->last[i] - c->first[i]) / (double)NS_S - 1;

	return seconds > 0 ? (double)c->counts[i] / seconds : 0;
}

static int count(struct operating *o, struct counting *c, const struct live_known *known,
		 const struct plan *plan, struct error *err)
{
	int64_t end;
	struct buf text = { 0 };
	int got = 0;

	for (uint32_t i = 0; i < plan->stages.nr && got >= 0; i++) {
		buf_clear(&text);
		live_measure_text(plan, i, &text);
		c->nr = i + 1;
		got = install(o, known, plan, buf_str(&text), &c->ids[i], err);
	}
	buf_done(&text);
	end = time_tick() + MEASURE_NS;
	while (got >= 0 && time_tick() < end && !stopping_is_told())
		got = bus_operator_poll(o->hub, POLL_MS, err);
	return got;
}

static int measure_hub(const struct call *call, const struct live_known *known,
		       const struct plan *plan, double *per_second, struct error *err)
{
	struct counting c = { 0 };
	struct operating o = { 0 };
	int got = operate(&o, call, (struct bus_operator_calls){ .ctx = &c, .result = take_count },
			  err);

	if (got >= 0)
		got = count(&o, &c, known, plan, err);
	for (size_t i = 0; i < c.nr; i++)
		per_second[i] = counted(&c, i);
	/* the counting queries go with their operator */
	end_operating(&o);
	return got < 0 ? got : 0;
}

/* --- counting in processes of this host ------------------------------------------------------- */

static int install_counts(struct weave *w, const struct live_known *known, const struct plan *plan,
			  struct error *err)
{
	struct buf points = { 0 }, text = { 0 }, told = { 0 };
	int got = 0;

	live_known_of(known, plan, &points);
	for (uint32_t i = 0; i < plan->stages.nr && got >= 0; i++) {
		struct weave_request r = { .id = i + 1,
					   .tracepoints = buf_str(&points),
					   .file = STR("tracepoints") };

		buf_clear(&text);
		live_measure_text(plan, i, &text);
		r.text = buf_str(&text);
		got = weave_install(w, &r, &told, err);
	}
	buf_done(&points);
	buf_done(&text);
	buf_done(&told);
	return got;
}

static int gather_counts(struct weave *w, const struct plan *plan, double *per_second,
			 struct error *err)
{
	int64_t began = time_tick();
	int got = 0;

	while (!got && time_tick() - began < MEASURE_NS && !stopping_is_told()) {
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
		got = weave_gather(w, false, err);
	}
	if (got >= 0)
		got = weave_gather(w, true, err);
	for (uint32_t i = 0; i < plan->stages.nr && got >= 0; i++) {
		struct partial *p = weave_partial(w, i + 1);

		per_second[i] = 0;
		for (size_t k = 0; p && k < p->cells.nr; k++)
			per_second[i] += (double)p->cells.v[k].nr;
		per_second[i] /= (double)(time_tick() - began) / (double)NS_S;
	}
	return got < 0 ? got : 0;
}

static int measure_here(const struct call *call, const struct live_known *known,
			const struct plan *plan, double *per_second, struct error *err)
{
	const struct weave_options o = { 0 };
	int pids[PIDS_MAX], nr = live_pids(call, pids, PIDS_MAX, err), got = nr;
	struct weave *w = NULL;
	struct buf told = { 0 };

	if (got >= 0 && !nr)
		got = error_set(err, EINVAL, "--measure needs processes, or a hub: --pid or --hub");
	if (got >= 0)
		got = weave_open(&w, &o, err);
	for (int i = 0; got >= 0 && i < nr; i++)
		got = weave_enter(w, pids[i], &told, err);
	if (got >= 0)
		got = install_counts(w, known, plan, err);
	if (got >= 0)
		got = gather_counts(w, plan, per_second, err);
	weave_close(w);
	buf_done(&told);
	return got;
}

int query_measure(const struct call *call, const struct live_known *known, const struct plan *plan,
		  double *per_second, struct error *err)
{
	return call_has(call, "hub") ? measure_hub(call, known, plan, per_second, err)
				     : measure_here(call, known, plan, per_second, err);
}
