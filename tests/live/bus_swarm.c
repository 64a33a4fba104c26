/*
 * Many agents in one process, and an operator, for tests and measurements of hubs: agents report
 * numbers of which they know the sum, the operator tells what has reached it.
 *
 *	bus_swarm agents ENDPOINT NAME NR SECONDS GROUPS [KEY]   prints "sum S reports R left L"
 *	bus_swarm operator ENDPOINT SECONDS [KEY]                prints a line for each second, and
 *	                                                         "sum S rows R", at SIGTERM earlier
 *
 * Agents write the sum of each second, "NS SUM", to the file that BUS_SWARM_TRUTH names.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "bus/bus.h"
#include "query/partial.h"

#define QUERY "From e In T GroupBy e.group Select e.group, SUM(e.x), COUNT, MAX(e.x)"
#define SLICES 20
#define PATIENCE_NS (180 * NS_S)
#define TRUTH_SECONDS 3600

static volatile sig_atomic_t is_told_to_stop;

static void stop(int signal)
{
	(void)signal;
	is_told_to_stop = 1;
}

static int complain(const struct error *err)
{
	fprintf(stderr, "bus_swarm: %s\n", err->msg);
	return 1;
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* --- agents -------------------------------------------------------------------------------- */

struct one {
	struct bus_agent *agent;
	uint64_t query;
	int64_t second; /* that was reported last */
};

struct swarm {
	struct one *v;
	size_t nr, nr_groups, turn;
	uint64_t nr_reports;
	int64_t sum;
	int64_t first, of[TRUTH_SECONDS]; /* sums of seconds since the first one */
};

static void installed(void *ctx, const struct bus_query *q)
{
	((struct one *)ctx)->query = q->id;
}

static void removed(void *ctx, uint64_t id)
{
	struct one *o = ctx;

	if (o->query == id)
		o->query = 0;
}

static void note(struct swarm *s, int64_t second, int64_t x)
{
	int64_t at;

	if (!s->first)
		s->first = second - NS_S; /* clocks of agents are a second apart at the most */
	at = (second - s->first) / NS_S;
	if (at >= 0 && at < TRUTH_SECONDS)
		s->of[at] += x;
	s->sum += x;
}

static void write_truth(const struct swarm *s, const char *path)
{
	FILE *f = path ? fopen(path, "we") : NULL;

	for (int i = 0; f && i < TRUTH_SECONDS; i++)
		if (s->of[i])
			fprintf(f, "%lld %lld\n", (long long)(s->first + i * NS_S),
				(long long)s->of[i]);
	if (f)
		fclose(f);
}

static void report(struct swarm *s, struct one *o, int64_t second)
{
	struct partial_shape shape = { .nr_keys = 1,
				       .nr_cells = 3,
				       .functions = { AGGREGATE_SUM, AGGREGATE_COUNT,
						      AGGREGATE_MAX } };
	struct partial p;
	char name[48];

	partial_init(&p, &shape);
	for (size_t i = 0; i < s->nr_groups; i++) {
		int64_t x = (int64_t)((s->nr_reports * 31 + i * 7) % 1000) + 1;
		struct value key;
		size_t group;

		snprintf(name, sizeof(name), "group-number-%zu", i);
		key = value_text(names_add(&p.names, str_of(name)));
		group = partial_group(&p, &key, 1);
		partial_add(&p, group, 0, value_int(x), 1);
		partial_add(&p, group, 1, value_int(1), 1);
		partial_add(&p, group, 2, value_int(x), 1);
		note(s, second, x);
	}
	bus_agent_report(o->agent, o->query, second, second + NS_S, &p);
	s->nr_reports++;
	partial_done(&p);
}

/* Agents report at different moments of the second, as they would. */
static void report_due(struct swarm *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct one *o = &s->v[i];
		int64_t phase = (int64_t)i * 700 * NS_MS / (int64_t)s->nr;
		int64_t second = (time_now() - phase) / NS_S * NS_S - NS_S;

		if (o->query && second > o->second) {
			if (o->second)
				report(s, o, second);
			o->second = second;
		}
	}
}

/* Each tenth of a second a look at every agent, a twentieth of them at a time. */
static void poll_all(struct swarm *s)
{
	for (size_t i = s->turn++ % SLICES; i < s->nr; i += SLICES)
		bus_agent_poll(s->v[i].agent, 0, NULL);
	usleep(100000 / SLICES);
}

static int open_all(struct swarm *s, const char *endpoint, const char *name,
		    const struct bus_keys *keys, struct bus_context *context, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->nr && !r; i++) {
		char own[64];
		struct bus_agent_options o = {
			.endpoint = endpoint,
			.keys = keys,
			.name = own,
			.context = context,
			.calls = { .ctx = &s->v[i], .installed = installed, .removed = removed }
		};

		snprintf(own, sizeof(own), "%s-%zu", name, i);
		r = bus_agent_open(&s->v[i].agent, &o, err);
	}
	return r;
}

static int agents(char **argv, struct bus_keys *keys)
{
	struct swarm s = { .nr = strtoul(argv[4], NULL, 10),
			   .nr_groups = strtoul(argv[6], NULL, 10) };
	struct bus_context *context = bus_context_new((int)s.nr);
	int64_t end = time_tick() + atoll(argv[5]) * NS_S;
	struct error err = { 0 };
	size_t left = 0;

	s.v = calloc(s.nr, sizeof(*s.v));
	if (open_all(&s, argv[2], argv[3], keys, context, &err) < 0)
		return complain(&err);
	while (time_tick() < end && !is_told_to_stop) {
		poll_all(&s);
		report_due(&s);
	}
	/* until all is safe */
	for (int64_t patience = time_tick() + PATIENCE_NS; time_tick() < patience;) {
		int64_t until = time_tick() + 300 * NS_MS;

		while (time_tick() < until)
			poll_all(&s);
		left = 0;
		for (size_t i = 0; i < s.nr; i++)
			left += bus_agent_pending(s.v[i].agent);
		if (!left)
			break;
	}
	printf("sum %" PRId64 " reports %" PRIu64 " left %zu cpu %.2f\n", s.sum, s.nr_reports, left,
	       cpu_seconds());
	fflush(stdout);
	write_truth(&s, getenv("BUS_SWARM_TRUTH"));
	for (size_t i = 0; i < s.nr; i++)
		bus_agent_close(s.v[i].agent, 0);
	bus_context_free(context);
	free(s.v);
	return left != 0;
}

/* --- the operator -------------------------------------------------------------------------- */

struct desk {
	struct partial whole;
	bool has_whole;
	uint32_t nr_agents, nr_silent;
	uint64_t nr_skipped, nr_results;
	int64_t of_seconds;      /* what all parts sum up to */
	int64_t lag_ns, most_ns; /* from the end of a second until it was told */
};

static int64_t sum_of(const struct partial *p)
{
	int64_t sum = 0, one;

	for (size_t i = 0; i < p->groups.nr; i++)
		if (sum_whole(&p->cells.v[i * p->shape.nr_cells].sum, &one))
			sum += one;
	return sum;
}

static void result(void *ctx, struct bus_result *r)
{
	struct desk *d = ctx;
	struct error err;

	if (!r->is_whole)
		d->of_seconds += sum_of(r->seen);
	if (r->is_whole && d->has_whole)
		partial_done(&d->whole);
	if (r->is_whole || !d->has_whole)
		partial_init(&d->whole, &r->seen->shape);
	d->whole.max_groups = SIZE_MAX;
	d->has_whole = true;
	partial_merge(&d->whole, r->seen, &err);
	d->nr_agents = r->nr_agents;
	d->nr_silent = r->nr_silent;
	d->nr_skipped += r->nr_skipped;
	d->nr_results++;
	d->lag_ns = r->is_whole ? 0 : time_now() - r->until_ns;
	if (d->lag_ns > d->most_ns)
		d->most_ns = d->lag_ns;
}

static void tell(const struct desk *d, bool is_end)
{
	int64_t sum = d->has_whole ? sum_of(&d->whole) : 0;
	uint64_t rows = 0;

	for (size_t i = 0; d->has_whole && i < d->whole.groups.nr; i++)
		rows += d->whole.times.v[i];
	printf("sum %" PRId64 " rows %" PRIu64 " agents %u silent %u skipped %" PRIu64
	       " lag %.2f most %.2f seconds %" PRId64,
	       sum, rows, d->nr_agents, d->nr_silent, d->nr_skipped, (double)d->lag_ns / 1e9,
	       (double)d->most_ns / 1e9, d->of_seconds);
	for (int i = 0; is_end && i < LOSS_NR; i++)
		if (d->whole.losses.count[i])
			printf(" %s=%" PRIu64, loss_name((enum loss)i), d->whole.losses.count[i]);
	printf("\n");
	fflush(stdout);
}

static int operator(char **argv, struct bus_keys *keys)
{
	struct desk d = { 0 };
	struct bus_operator_options with = { .endpoint = argv[2],
					     .keys = keys,
					     .name = "swarm",
					     .calls = { .ctx = &d, .result = result } };
	int64_t end = time_tick() + atoll(argv[3]) * NS_S, next = 0;
	int64_t patience = time_tick() + PATIENCE_NS;
	struct bus_operator *o;
	struct error err = { 0 };
	uint64_t id;
	int r;

	/* the hub has only been started, as well */
	do
		r = bus_operator_open(&o, &with, &err);
	while (r == -ETIMEDOUT && time_tick() < patience);
	if (r < 0 ||
	    bus_operator_install(o, STR(QUERY), STR(""), 0, false, &id, &err) < 0 ||
	    bus_operator_watch(o, id, &err) < 0)
		return complain(&err);
	while (time_tick() < end && !is_told_to_stop) {
		bus_operator_poll(o, 200, &err);
		if (time_tick() > next) {
			tell(&d, false);
			next = time_tick() + NS_S;
		}
	}
	tell(&d, true);
	bus_operator_close(o);
	if (d.has_whole)
		partial_done(&d.whole);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_agents = argc >= 7 && !strcmp(argv[1], "agents");
	bool is_operator = argc >= 4 && !strcmp(argv[1], "operator");
	const char *file = is_agents && argc > 7     ? argv[7]
			   : is_operator && argc > 4 ? argv[4]
						     : NULL;
	const struct sigaction act = { .sa_handler = stop };
	struct bus_keys *keys = NULL;
	struct error err = { 0 };
	int r;

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	if (!is_agents && !is_operator) {
		fprintf(stderr, "usage: bus_swarm agents ENDPOINT NAME NR SECONDS GROUPS [KEY] | "
				"operator ENDPOINT SECONDS [KEY]\n");
		return 2;
	}
	if (file && bus_keys_load(&keys, file, &err) < 0)
		return complain(&err);
	r = is_agents ? agents(argv, keys) : operator(argv, keys);
	bus_keys_free(keys);
	return r;
}
