/*
 * An agent without processes: reports the same rows every second to each query that it gets, so
 * that who watches knows what the answer must be.
 *
 *   live_agent ENDPOINT NAME [SECONDS]
 *
 * Keys of a row are all texts: NAME, then x, y or z. Every number that is aggregated is 1, 2 or 3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "query/history.h"
#include "query/partial.h"

struct asked_query {
	uint64_t id;
	struct history *planned;
};

struct standing_in {
	const char *name;
	struct bus_agent *agent;
	VEC(struct asked_query) queries;
};

static void installed(void *ctx, const struct bus_query *q)
{
	struct standing_in *s = ctx;
	struct asked_query one = { .id = q->id };
	struct error err;

	if (history_new(&one.planned, STR(""), q->text, 0, &err) < 0)
		bus_agent_tell(s->agent, q->id, str_of(err.msg));
	else
		vec_push(&s->queries, one);
}

static void removed(void *ctx, uint64_t id)
{
	struct standing_in *s = ctx;

	for (size_t i = 0; i < s->queries.nr; i++)
		if (s->queries.v[i].id == id) {
			history_free(s->queries.v[i].planned);
			s->queries.v[i] = s->queries.v[--s->queries.nr];
			return;
		}
}

static void report(struct standing_in *s, const struct asked_query *q, int64_t from)
{
	static const char *const words[] = { "x", "y", "z" };
	struct partial_shape shape;
	struct partial seen;

	partial_shape_of(&shape, history_plan(q->planned));
	partial_init(&seen, &shape);
	for (int64_t i = 0; i < 3; i++) {
		struct value keys[VARIABLES_MAX];
		size_t group;

		for (size_t k = 0; k < shape.nr_keys; k++)
			keys[k] =
				value_text(names_add(&seen.names, str_of(k ? words[i] : s->name)));
		group = partial_group(&seen, keys, 1);
		for (size_t k = 0; k < shape.nr_cells; k++)
			partial_add(&seen, group, k, value_int(i + 1), 1);
	}
	bus_agent_report(s->agent, q->id, from, from + NS_S, &seen);
	partial_done(&seen);
}

static void tell_all(struct standing_in *s, int64_t from)
{
	const struct bus_health health = { .nr_processes = 2,
					   .nr_tracepoints = 3,
					   .overhead_ppm = 4200 };

	bus_agent_health(s->agent, &health);
	vec_each (&s->queries, q)
		report(s, q, from);
}

int main(int argc, char **argv)
{
	struct standing_in s = { .name = argc > 2 ? argv[2] : "agent" };
	struct bus_agent_options o = {
		.endpoint = argc > 1 ? argv[1] : "",
		.name = s.name,
		.calls = { .ctx = &s, .installed = installed, .removed = removed },
	};
	int64_t end = time_tick() + (argc > 3 ? atoi(argv[3]) : 600) * NS_S;
	int64_t told = time_now() / NS_S;
	struct error err = { 0 };
	int got = bus_agent_open(&s.agent, &o, &err);

	while (got >= 0 && time_tick() < end) {
		got = bus_agent_poll(s.agent, 50, &err);
		for (; told < time_now() / NS_S; told++)
			tell_all(&s, told * NS_S);
	}
	if (got < 0)
		fprintf(stderr, "live_agent: %s\n", err.msg);
	if (s.agent)
		bus_agent_close(s.agent, 1000);
	while (s.queries.nr)
		removed(&s, s.queries.v[0].id);
	vec_done(&s.queries);
	return got < 0;
}
