/* culprit hub --status: who is there, what stands, and everything that is counted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "base/time.h"
#include "bus/bus.h"
#include "bus/keys.h"
#include "cli/command.h"
#include "cli/hub_queries.h"
#include "cli/say.h"

#define QUERY_SHOWN 60

struct status {
	bool is_json;
	size_t nr;
	int64_t now_ns;
};

static void end_line(struct jsonout *j)
{
	jsonout_close(j, '}');
	buf_char(j->out, '\n');
	fwrite(j->out->p, 1, j->out->n, stdout);
	buf_done(j->out);
}

static void number(struct jsonout *j, const char *key, uint64_t n)
{
	jsonout_key(j, key);
	jsonout_uint(j, n);
}

static void text(struct jsonout *j, const char *key, struct str s)
{
	jsonout_key(j, key);
	jsonout_str(j, s);
}

static void json_losses(struct jsonout *j, const struct losses *l)
{
	jsonout_key(j, "losses");
	jsonout_open(j, '{');
	for (int i = 0; i < LOSS_NR; i++)
		if (l->count[i])
			number(j, loss_name((enum loss)i), l->count[i]);
	jsonout_close(j, '}');
}

static void show_losses(const struct losses *l)
{
	for (int i = 0; i < LOSS_NR; i++)
		if (l->count[i])
			printf("    %" PRIu64 " %s\n", l->count[i],
			       loss_text((enum loss)i, l->count[i]));
}

static void json_peer(const struct bus_peer *p)
{
	struct buf b = { 0 };
	struct jsonout j = { .out = &b };

	jsonout_open(&j, '{');
	text(&j, "peer", p->name);
	text(&j, "role", str_of(bus_role_name(p->role)));
	text(&j, "tenant", p->tenant);
	jsonout_key(&j, "connected");
	jsonout_bool(&j, p->is_connected);
	jsonout_key(&j, "left");
	jsonout_bool(&j, p->has_left);
	number(&j, "since_ns", (uint64_t)p->since_ns);
	number(&j, "heard_ns", (uint64_t)p->heard_ns);
	number(&j, "reports", p->nr_reports);
	number(&j, "bytes", p->nr_bytes);
	number(&j, "twice", p->nr_twice);
	number(&j, "late", p->nr_late);
	number(&j, "missing", p->nr_missing);
	number(&j, "processes", p->health.nr_processes);
	number(&j, "tracepoints", p->health.nr_tracepoints);
	number(&j, "overhead_ppm", p->health.overhead_ppm);
	number(&j, "resident_bytes", p->health.resident_bytes);
	number(&j, "agents_below", p->nr_below);
	number(&j, "silent_below", p->nr_silent_below);
	json_losses(&j, &p->health.losses);
	end_line(&j);
}

static void each_peer(void *ctx, const struct bus_peer *p)
{
	struct status *s = ctx;
	struct buf ago = { 0 };

	if (s->is_json) {
		json_peer(p);
		return;
	}
	if (!s->nr++)
		printf("%-9s %-24s %-12s %-10s %10s %12s %6s %6s %8s\n", "", "name", "tenant",
		       "heard", "reports", "bytes", "twice", "late", "missing");
	time_span_text(&ago, s->now_ns > p->heard_ns ? s->now_ns - p->heard_ns : 0);
	buf_char(&ago, 0);
	printf("%-9s %-24.*s %-12.*s %-10s %10" PRIu64 " %12" PRIu64 " %6" PRIu64 " %6" PRIu64
	       " %8" PRIu64,
	       bus_role_name(p->role), STR_ARG(p->name), STR_ARG(p->tenant),
	       p->is_connected ? ago.p
	       : p->has_left   ? "left"
			       : "silent",
	       p->nr_reports, p->nr_bytes, p->nr_twice, p->nr_late, p->nr_missing);
	if (p->nr_below)
		printf("  %u agents below, %u silent", p->nr_below, p->nr_silent_below);
	if (p->health.nr_processes)
		printf("  %u processes, %u tracepoints, %.2f %% overhead", p->health.nr_processes,
		       p->health.nr_tracepoints, (double)p->health.overhead_ppm / 1e4);
	printf("\n");
	show_losses(&p->health.losses);
	buf_done(&ago);
}

static void json_query(const struct bus_standing *q)
{
	struct buf b = { 0 };
	struct jsonout j = { .out = &b };
	char id[32];

	snprintf(id, sizeof(id), "%" PRIx64, q->query.id);
	jsonout_open(&j, '{');
	text(&j, "query", str_of(id));
	text(&j, "text", q->query.text);
	text(&j, "tenant", q->query.tenant);
	text(&j, "operator", q->operator_name);
	number(&j, "until_ns", (uint64_t)q->query.until_ns);
	number(&j, "agents", q->nr_agents);
	number(&j, "silent", q->nr_silent);
	number(&j, "groups", q->nr_groups);
	number(&j, "rows", q->nr_rows);
	json_losses(&j, &q->losses);
	end_line(&j);
}

static void each_query(void *ctx, const struct bus_standing *q)
{
	struct status *s = ctx;

	if (s->is_json) {
		json_query(q);
		return;
	}
	printf("\nquery %" PRIx64 " of %.*s (%.*s): %u agents, %u silent, %" PRIu64
	       " groups, %" PRIu64 " rows\n    %.*s%s\n",
	       q->query.id, STR_ARG(q->operator_name), STR_ARG(q->query.tenant), q->nr_agents,
	       q->nr_silent, q->nr_groups, q->nr_rows,
	       STR_ARG(str_head(q->query.text, QUERY_SHOWN)),
	       q->query.text.n > QUERY_SHOWN ? "…" : "");
	show_losses(&q->losses);
}

static void each_count(void *ctx, struct str name, uint64_t count)
{
	const struct status *s = ctx;
	struct buf b = { 0 };
	struct jsonout j = { .out = &b };

	if (!s->is_json) {
		printf("%12" PRIu64 "  %.*s\n", count, STR_ARG(name));
		return;
	}
	jsonout_open(&j, '{');
	text(&j, "count", name);
	number(&j, "value", count);
	end_line(&j);
}

static int tell(struct bus_operator *o, struct status *s, struct error *err)
{
	int r = bus_operator_peers(o, each_peer, s, err);

	if (!r)
		r = bus_operator_list(o, each_query, s, err);
	if (!r && !s->is_json)
		printf("\n");
	if (!r)
		r = bus_operator_counts(o, each_count, s, err);
	return r;
}

int hub_status(const struct call *call)
{
	struct status s = { .is_json = call_has(call, "json"), .now_ns = time_now() };
	struct bus_operator_options with = { .endpoint = call_get(call, "status"),
					     .name = "status" };
	struct bus_operator *o = NULL;
	struct bus_keys *keys = NULL;
	struct error err = { 0 };
	int r = 0;

	if (call_has(call, "key"))
		r = bus_keys_load(&keys, call_get(call, "key"), &err);
	with.keys = keys;
	if (!r)
		r = bus_operator_open(&o, &with, &err);
	if (!r)
		r = tell(o, &s, &err);
	if (r < 0)
		say_error("%s", err.msg);
	bus_operator_close(o);
	bus_keys_free(keys);
	return r < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
