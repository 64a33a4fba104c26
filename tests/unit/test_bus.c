/* A hub on a thread of its own, agents and operators here, over a socket in a folder of the test.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/time.h"
#include "bus/bus.h"
#include "bus/hub_own.h"
#include "bus/keys.h"
#include "bus/message.h"
#include "bus/buslink.h"
#include "query/partial.h"

#define QUERY "From e In T GroupBy e.host Select e.host, SUM(e.x), COUNT"
#define PATIENCE_NS (300 * NS_S)
#define LEAVE_MS 60000
#define FIRST 1000 /* the second of the first report */
#define SECONDS 200

/* --- the hub ------------------------------------------------------------------------------- */

struct scene {
	char dir[64], endpoint[128], state[128];
	struct bus_limits limits;
	struct bus_keys *keys;
	const char *parent;
	useconds_t slow_us; /* it begins to listen to what is said so long after one can say it */
	pthread_t thread;
	atomic_bool is_over, is_open, is_killed;
};

static void *serve(void *ctx)
{
	struct scene *s = ctx;
	struct bus_hub_options o = { .listen = s->endpoint,
				     .keys = s->keys,
				     .name = s->parent ? "below" : "top",
				     .state = s->state,
				     .parent = s->parent,
				     .limits = s->limits };
	struct error err = { 0 };
	struct bus_hub *h;

	if (bus_hub_open(&h, &o, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return NULL;
	}
	s->is_open = true;
	usleep(s->slow_us);
	while (!s->is_over)
		bus_hub_poll(h, 10, &err);
	/* what was not saved is lost with one that is killed */
	if (s->is_killed)
		h->is_dirty = false;
	bus_hub_close(h);
	return NULL;
}

static void hub_begin(struct scene *s)
{
	s->is_over = s->is_open = s->is_killed = false;
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
	while (!s->is_open)
		usleep(1000);
}

static void hub_end(struct scene *s)
{
	s->is_over = true;
	pthread_join(s->thread, NULL);
}

static void hub_kill(struct scene *s)
{
	s->is_killed = true;
	hub_end(s);
}

static void scene_make(struct scene *s)
{
	*s = (struct scene){ 0 };
	snprintf(s->dir, sizeof(s->dir), "/tmp/culprit-bus-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->endpoint, sizeof(s->endpoint), "ipc://%s/socket", s->dir);
	snprintf(s->state, sizeof(s->state), "%s/state", s->dir);
}

static void scene_done(struct scene *s)
{
	char command[128];

	bus_keys_free(s->keys);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	assert_int_equal(system(command), 0);
}

/* --- who speaks to it ---------------------------------------------------------------------- */

struct actor {
	struct bus_agent *agent;
	uint64_t query; /* 0: none is installed */
	size_t nr_installed, nr_removed;
	struct buf received;
};

static void on_installed(void *ctx, const struct bus_query *q)
{
	struct actor *a = ctx;

	a->query = q->id;
	a->nr_installed++;
}

static void on_removed(void *ctx, uint64_t id)
{
	struct actor *a = ctx;

	assert_int_equal(id, a->query);
	a->query = 0;
	a->nr_removed++;
}

static void on_received(void *ctx, struct str from, struct str bytes)
{
	struct actor *a = ctx;

	buf_fmt(&a->received, STR_FMT ":" STR_FMT, STR_ARG(from), STR_ARG(bytes));
}

static void actor_open(struct actor *a, const struct scene *s, const char *name,
		       const struct bus_keys *keys)
{
	static const char *const also[] = { "10.0.0.7", NULL };
	struct bus_agent_options o = { .endpoint = s->endpoint,
				       .keys = keys,
				       .name = name,
				       .also = also,
				       .calls = { a, on_installed, on_removed, on_received } };
	struct error err;

	*a = (struct actor){ 0 };
	assert_int_equal(bus_agent_open(&a->agent, &o, &err), 0);
}

struct desk {
	struct bus_operator *o;
	struct partial whole;
	bool has_whole;
	uint64_t nr_results, nr_skipped, nr_gone;
	uint32_t nr_agents, nr_silent;
	char told[128];
	int64_t seconds[SECONDS]; /* sums of each, from FIRST on */
};

/* Of all groups. */
static int64_t sum_of(const struct partial *p)
{
	int64_t sum = 0, one;

	for (size_t i = 0; i < p->groups.nr; i++)
		if (sum_whole(&p->cells.v[i * p->shape.nr_cells].sum, &one))
			sum += one;
	return sum;
}

static void on_result(void *ctx, struct bus_result *r)
{
	int64_t second = r->from_ns / NS_S - FIRST;
	struct desk *d = ctx;

	if (!r->is_whole && second >= 0 && second < SECONDS)
		d->seconds[second] += sum_of(r->seen);
	if (r->is_whole && d->has_whole)
		partial_done(&d->whole);
	if (r->is_whole || !d->has_whole) {
		partial_init(&d->whole, &r->seen->shape);
		d->has_whole = true;
	}
	assert_int_equal(partial_merge(&d->whole, r->seen, NULL), 0);
	d->nr_results++;
	d->nr_skipped += r->nr_skipped;
	d->nr_agents = r->nr_agents;
	d->nr_silent = r->nr_silent;
}

static void on_told(void *ctx, uint64_t query, struct str agent, struct str sentence)
{
	struct desk *d = ctx;

	(void)query;
	snprintf(d->told, sizeof(d->told), STR_FMT ": " STR_FMT, STR_ARG(agent), STR_ARG(sentence));
}

static void on_gone(void *ctx, uint64_t query, struct str why)
{
	struct desk *d = ctx;

	(void)query, (void)why;
	d->nr_gone++;
}

static int desk_try(struct desk *d, const struct scene *s, const struct bus_keys *keys,
		    struct error *err)
{
	struct bus_operator_options o = { .endpoint = s->endpoint,
					  .keys = keys,
					  .name = "tester",
					  .calls = { d, on_result, on_told, on_gone } };

	*d = (struct desk){ 0 };
	return bus_operator_open(&d->o, &o, err);
}

/* What a hub answers, of which it is known that it does: a machine that stands still for a while is
 * no answer. */
static int desk_answer(struct desk *d, const struct scene *s, const struct bus_keys *keys,
		       struct error *err)
{
	int r = -ETIMEDOUT;

	for (int i = 0; i < 10 && r == -ETIMEDOUT; i++)
		r = desk_try(d, s, keys, err);
	return r;
}

static void desk_open(struct desk *d, const struct scene *s)
{
	struct error err = { 0 };

	assert_int_equal(desk_answer(d, s, NULL, &err), 0);
}

static void desk_close(struct desk *d)
{
	bus_operator_close(d->o);
	if (d->has_whole)
		partial_done(&d->whole);
}

/* As far as it has come. */
static int64_t total(const struct desk *d)
{
	return d->has_whole ? sum_of(&d->whole) : 0;
}

static int64_t total_of_seconds(const struct desk *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < SECONDS; i++)
		sum += d->seconds[i];
	return sum;
}

static void report(struct actor *a, const char *host, int64_t x, int64_t ns)
{
	struct partial_shape shape = { .nr_keys = 1,
				       .nr_cells = 2,
				       .functions = { AGGREGATE_SUM, AGGREGATE_COUNT } };
	struct partial p;
	struct value key;
	size_t g;

	partial_init(&p, &shape);
	key = value_text(names_add(&p.names, str_of(host)));
	g = partial_group(&p, &key, 1);
	partial_add(&p, g, 0, value_int(x), 1);
	partial_add(&p, g, 1, value_int(1), 1);
	bus_agent_report(a->agent, a->query, ns, ns + NS_S, &p);
	partial_done(&p);
}

/* Polls all of them until the condition holds. */
#define until(condition, actors, nr, desk) \
	do { \
		int64_t end_ = time_tick() + PATIENCE_NS; \
		while (!(condition)) { \
			assert_true(time_tick() < end_); \
			for (size_t i_ = 0; i_ < (nr); i_++) \
				bus_agent_poll((actors)[i_].agent, 1, NULL); \
			if ((desk)->o) \
				bus_operator_poll((desk)->o, 1, NULL); \
		} \
	} while (0)

static uint64_t install(struct desk *d)
{
	struct error err = { 0 };
	uint64_t id = 0;

	assert_int_equal(
		bus_operator_install(d->o, STR(QUERY), STR("tracepoint T"), 0, false, &id, &err),
		0);
	assert_int_equal(bus_operator_watch(d->o, id, &err), 0);
	return id;
}

struct counted {
	const char *name;
	uint64_t count;
};

static void on_count(void *ctx, struct str name, uint64_t count)
{
	struct counted *c = ctx;

	if (str_eq(name, str_of(c->name)))
		c->count = count;
}

static uint64_t count(struct desk *d, const char *name)
{
	struct counted c = { name, UINT64_MAX };
	struct error err;

	assert_int_equal(bus_operator_counts(d->o, on_count, &c, &err), 0);
	assert_int_not_equal(c.count, UINT64_MAX);
	return c.count;
}

/* --- tests --------------------------------------------------------------------------------- */

static void reports_of_agents_become_one_result(void **state)
{
	struct actor a[2];
	struct scene s;
	struct desk d;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a[0], &s, "n1", NULL);
	actor_open(&a[1], &s, "n2", NULL);
	id = install(&d);
	until(a[0].query == id && a[1].query == id, a, 2, &d);
	for (int i = 0; i < 10; i++) {
		report(&a[0], "x", 1, 1000 * NS_S);
		report(&a[1], i % 2 ? "x" : "y", 100, 1000 * NS_S);
	}
	until(total(&d) == 1010, a, 2, &d);
	assert_int_equal(d.whole.groups.nr, 2);
	/* all of one second: the whole at first, then one part; more only where the machine stood
	 * still in between, and then it is told that some came late */
	assert_true(d.nr_results == 2 || d.whole.losses.count[LOSS_REPORTS_LATE]);
	assert_int_equal(d.nr_agents, 2);
	bus_agent_tell(a[1].agent, id, STR("no such function"));
	until(d.told[0], a, 2, &d);
	assert_string_equal(d.told, "n2: no such function");
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	/* what agents had not told yet is taken when they hear of it */
	report(&a[0], "x", 1000, 1000 * NS_S);
	until(!a[0].query && !a[1].query && d.nr_gone, a, 2, &d);
	assert_int_equal(total(&d), 2010);
	assert_int_equal(d.nr_gone, 1);
	assert_int_equal(bus_agent_close(a[0].agent, LEAVE_MS), 0);
	assert_int_equal(bus_agent_close(a[1].agent, LEAVE_MS), 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* A host with much to do takes its time to end a query. */
static void what_a_slow_agent_saw_in_the_end_is_told(void **state)
{
	struct actor a[2];
	struct scene s;
	struct desk d;
	size_t nobody = 0;
	int64_t slow;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a[0], &s, "n1", NULL);
	actor_open(&a[1], &s, "n2", NULL);
	id = install(&d);
	until(a[0].query == id && a[1].query == id, a, 2, &d);
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	slow = time_tick() + 3 * NS_S / 2;
	until(time_tick() > slow, &a[1], 1, &d);
	assert_int_equal(a[1].query, 0);
	assert_int_equal(d.nr_gone, 0);
	report(&a[0], "x", 1000, 1000 * NS_S);
	until(d.nr_gone, a, 2, &d);
	assert_int_equal(total(&d), 1000);
	/* nobody who could report is there: it is over at once */
	id = install(&d);
	until(a[0].query == id && a[1].query == id, a, 2, &d);
	bus_agent_close(a[0].agent, LEAVE_MS);
	bus_agent_close(a[1].agent, LEAVE_MS);
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	until(d.nr_gone == 2, a, nobody, &d);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

static void a_late_report_is_in_the_total_and_counted(void **state)
{
	struct actor a;
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	install(&d);
	until(a.query, &a, 1, &d);
	report(&a, "x", 1, 1005 * NS_S);
	until(total(&d) == 1, &a, 1, &d);
	report(&a, "x", 2, 1001 * NS_S);
	until(total(&d) == 3, &a, 1, &d);
	assert_int_equal(d.whole.losses.count[LOSS_REPORTS_LATE], 1);
	assert_int_equal(count(&d, "reports that came late"), 1);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* What a hub has acknowledged is in its state; what it has not is sent again, and counts once. */
static void a_hub_that_begins_anew_goes_on(void **state)
{
	int64_t sum = 0, x = 1;
	struct actor a[2];
	struct scene s;
	struct desk d;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a[0], &s, "n1", NULL);
	actor_open(&a[1], &s, "n2", NULL);
	id = install(&d);
	until(a[0].query && a[1].query, a, 2, &d);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 60; i++, x++) {
			report(&a[i % 2], "x", x, (1000 + i) * NS_S);
			sum += x;
			if (i == 30)
				hub_end(&s);
			bus_agent_poll(a[i % 2].agent, 0, NULL);
		}
		hub_begin(&s);
	}
	until(total(&d) == sum, a, 2, &d);
	assert_int_equal(a[0].query, id);
	assert_int_equal(a[0].nr_installed, 1);
	assert_int_equal(a[0].nr_removed, 0);
	assert_int_equal(d.whole.losses.count[LOSS_REPORTS_MISSING], 0);
	assert_int_equal(count(&d, "queries restored from the state"), 1);
	bus_agent_close(a[0].agent, 0);
	bus_agent_close(a[1].agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* Who says hello again and again to a hub that is slow is let in as often, and asks once. */
static void what_a_slow_hub_is_asked_is_done_once(void **state)
{
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	s.slow_us = 1500000;
	hub_begin(&s);
	desk_open(&d, &s);
	install(&d);
	assert_int_equal(count(&d, "queries installed"), 1);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* Bounded while nobody listens, and exact when somebody does. */
static void reports_wait_for_a_hub_that_is_away(void **state)
{
	struct actor a;
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	install(&d);
	until(a.query, &a, 1, &d);
	hub_end(&s);
	for (int i = 0; i < 5000; i++)
		report(&a, "x", i, (1000 + i) * NS_S);
	hub_begin(&s);
	until(total(&d) == 4999 * 2500, &a, 1, &d);
	assert_true(d.whole.losses.count[LOSS_REPORTS_JOINED] > 4000);
	assert_int_equal(d.whole.losses.count[LOSS_ROWS_DROPPED], 0);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

static void a_hub_is_an_agent_of_the_hub_above(void **state)
{
	struct scene top, below;
	struct actor a[2];
	struct desk d;
	uint64_t id;

	(void)state;
	scene_make(&top);
	scene_make(&below);
	hub_begin(&top);
	below.parent = top.endpoint;
	hub_begin(&below);
	desk_open(&d, &top);
	actor_open(&a[0], &below, "n1", NULL);
	actor_open(&a[1], &top, "n2", NULL);
	id = install(&d);
	until(a[0].query == id && a[1].query == id, a, 2, &d);
	report(&a[0], "x", 1, 1000 * NS_S);
	report(&a[1], "x", 10, 1000 * NS_S);
	until(total(&d) == 11, a, 2, &d);
	/* the hub below falls, with reports on their way up */
	report(&a[0], "x", 100, 1001 * NS_S);
	bus_agent_poll(a[0].agent, 300, NULL);
	hub_end(&below);
	hub_begin(&below);
	until(total(&d) == 111, a, 2, &d);
	/* from an agent to another one, through the tree */
	until(bus_agent_is_connected(a[0].agent), a, 2, &d);
	while (!a[1].received.n) {
		bus_agent_send(a[0].agent, STR("n2"), STR("bag"));
		for (int i = 0; i < 20; i++) {
			bus_agent_poll(a[0].agent, 1, NULL);
			bus_agent_poll(a[1].agent, 1, NULL);
		}
	}
	assert_true(str_starts(buf_str(&a[1].received), STR("n1:bag")));
	while (!a[0].received.n) {
		bus_agent_send(a[1].agent, STR("n1"), STR("back"));
		for (int i = 0; i < 20; i++) {
			bus_agent_poll(a[0].agent, 1, NULL);
			bus_agent_poll(a[1].agent, 1, NULL);
		}
	}
	assert_true(str_starts(buf_str(&a[0].received), STR("n2:back")));
	for (int i = 0; i < 2; i++) {
		bus_agent_close(a[i].agent, 0);
		buf_done(&a[i].received);
	}
	desk_close(&d);
	hub_end(&below);
	hub_end(&top);
	scene_done(&below);
	scene_done(&top);
}

/* Sent until it comes. */
static void send_until_it_comes(struct actor *a, size_t nr, size_t from, size_t to,
				const char *address)
{
	while (!a[to].received.n) {
		bus_agent_send(a[from].agent, str_of(address), STR("bag"));
		for (size_t i = 0; i < nr; i++)
			bus_agent_poll(a[i].agent, 5, NULL);
	}
}

/* An address that two claim leads to neither; who had it alone got what was sent there. */
static void messages_go_by_address_to_the_one_that_has_it(void **state)
{
	struct scene s;
	struct actor a[3];
	struct desk d;
	uint64_t before;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "n1", "n2", "n3" };
		static const char *const addresses[] = { "10.1.0.1", "10.1.0.2", "10.1.0.3" };

		actor_open(&a[i], &s, names[i], NULL);
		bus_agent_known_as(a[i].agent, &addresses[i], 1);
	}
	until(bus_agent_is_connected(a[0].agent) && bus_agent_is_connected(a[1].agent) &&
		      bus_agent_is_connected(a[2].agent),
	      a, 3, &d);
	send_until_it_comes(a, 3, 0, 1, "10.1.0.2");
	assert_true(str_starts(buf_str(&a[1].received), STR("n1:bag")));
	assert_int_equal(a[2].received.n, 0);
	/* the third one says that it is the second, too */
	bus_agent_known_as(a[2].agent, (const char *[]){ "10.1.0.2", "10.1.0.3" }, 2);
	send_until_it_comes(a, 3, 0, 2, "10.1.0.3");
	buf_clear(&a[1].received);
	buf_clear(&a[2].received);
	before = count(&d, "messages to agents that nobody knows");
	/* again, as an agent that has not heard of its hub for a while sends nothing */
	until((bus_agent_send(a[0].agent, STR("10.1.0.2"), STR("bag")),
	       count(&d, "messages to agents that nobody knows") > before),
	      a, 3, &d);
	assert_int_equal(a[1].received.n + a[2].received.n, 0);
	for (int i = 0; i < 3; i++) {
		bus_agent_close(a[i].agent, 0);
		buf_done(&a[i].received);
	}
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* How many rows the hub has put into its only query's results. */
static void on_standing(void *ctx, const struct bus_standing *q)
{
	*(uint64_t *)ctx = q->nr_rows;
}

static uint64_t rows_told(struct desk *d)
{
	uint64_t nr = 0;

	assert_int_equal(bus_operator_list(d->o, on_standing, &nr, NULL), 0);
	return nr;
}

/* One that stands still while sixty seconds are told, of which so many are kept. */
static void slow_operator(struct scene *s, struct desk *d)
{
	struct desk other;
	struct actor a;

	hub_begin(s);
	desk_open(d, s);
	actor_open(&a, s, "n1", NULL);
	install(d);
	until(a.query, &a, 1, d);
	desk_open(&other, s);
	for (int i = 0; i < 60; i++) {
		report(&a, "x", 1, (FIRST + i) * NS_S);
		/* some are told before the next come */
		if (i % 20 == 19)
			until(rows_told(&other) == (uint64_t)i + 1, &a, 1, &other);
	}
	until(total(d) == 60, &a, 1, d);
	until(!d->nr_skipped || d->nr_skipped == d->whole.losses.count[LOSS_SECONDS_MISSED], &a, 1,
	      d);
	bus_agent_close(a.agent, 0);
	desk_close(&other);
}

static void a_slow_operator_is_told_each_second_later(void **state)
{
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	slow_operator(&s, &d);
	assert_int_equal(d.nr_skipped, 0);
	for (int i = 0; i < 60; i++)
		assert_int_equal(d.seconds[i], 1);
	assert_int_equal(count(&d, "results that slow operators did not get"), 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* What is too much is dropped, the oldest first, and counted; the whole has it. */
static void seconds_that_nobody_reads_are_bounded(void **state)
{
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	s.limits.seconds = 8;
	slow_operator(&s, &d);
	assert_true(d.nr_skipped > 0);
	assert_int_equal(total_of_seconds(&d) + (int64_t)d.nr_skipped, 60);
	assert_int_equal(d.seconds[59], 1);
	assert_int_equal(count(&d, "results that slow operators did not get"), d.nr_skipped);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* Killed at any moment, again and again: every second comes, and none twice. */
static void seconds_are_exact_over_a_hub_that_is_killed(void **state)
{
	int64_t truth[SECONDS] = { 0 }, sum = 0, x = 1;
	unsigned seed = 1;
	struct actor a[2];
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a[0], &s, "n1", NULL);
	actor_open(&a[1], &s, "n2", NULL);
	install(&d);
	until(a[0].query && a[1].query, a, 2, &d);
	for (int round = 0; round < 12; round++) {
		int64_t end = time_tick() + (int64_t)(rand_r(&seed) % 1700) * NS_MS;

		for (int i = 0; i < 20; i++, x++) {
			int second = round * 10 + i / 2;

			report(&a[i % 2], "x", x, (FIRST + second) * NS_S);
			truth[second] += x;
			sum += x;
		}
		until(time_tick() > end, a, 2, &d);
		hub_kill(&s);
		if (round % 3 == 2)
			until(time_tick() > end + NS_S / 2, a, 2, &d);
		hub_begin(&s);
	}
	until(total(&d) == sum && total_of_seconds(&d) == sum, a, 2, &d);
	for (int i = 0; i < SECONDS; i++)
		assert_int_equal(d.seconds[i], truth[i]);
	assert_int_equal(d.nr_skipped, 0);
	assert_int_equal(d.whole.losses.count[LOSS_REPORTS_MISSING], 0);
	bus_agent_close(a[0].agent, 0);
	bus_agent_close(a[1].agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* The hub falls when a query was taken back and an agent has not said its last word. */
static void the_end_of_a_query_outlives_its_hub(void **state)
{
	struct actor a;
	struct scene s;
	struct desk d;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	id = install(&d);
	until(a.query == id, &a, 1, &d);
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	hub_kill(&s);
	report(&a, "x", 1000, FIRST * NS_S);
	hub_begin(&s);
	until(d.nr_gone, &a, 1, &d);
	assert_int_equal(total(&d), 1000);
	assert_int_equal(total_of_seconds(&d), 1000);
	assert_int_equal(a.query, 0);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* … and when it is taken back before the agent has found the hub again. */
static void the_end_waits_for_agents_that_are_not_back_yet(void **state)
{
	struct actor a;
	struct scene s;
	struct desk d;
	size_t nobody = 0;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	id = install(&d);
	until(a.query == id, &a, 1, &d);
	report(&a, "x", 1, FIRST * NS_S);
	until(total(&d) == 1 && !bus_agent_pending(a.agent), &a, 1, &d);
	hub_kill(&s);
	report(&a, "x", 1000, (FIRST + 1) * NS_S);
	hub_begin(&s);
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	until(d.nr_gone, &a, 1, &d);
	assert_int_equal(total(&d), 1001);
	assert_int_equal(total_of_seconds(&d), 1001);
	assert_int_equal(d.whole.losses.count[LOSS_AGENTS_SILENT], 0);
	/* one that never comes is missed */
	id = install(&d);
	until(a.query == id, &a, 1, &d);
	assert_int_equal(bus_operator_remove(d.o, id, NULL), 0);
	until(d.nr_gone == 2, &a, nobody, &d);
	assert_int_equal(d.whole.losses.count[LOSS_AGENTS_SILENT], 1);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

static void tenants_are_held_to_their_limits(void **state)
{
	struct error err = { 0 };
	struct scene s;
	struct desk d;
	int64_t was;
	uint64_t id;

	(void)state;
	scene_make(&s);
	s.limits = (struct bus_limits){ .queries = 2, .advice = 3, .rows = 5 };
	hub_begin(&s);
	desk_open(&d, &s);
	assert_int_equal(bus_operator_install(d.o, STR("From e In A, B, C, D Select e.x"), STR(""),
					      0, false, &id, &err),
			 -EDQUOT);
	assert_non_null(strstr(err.msg, "3 are allowed"));
	/* one that is not answered in time is sent again, and refused again */
	was = (int64_t)count(&d, "requests refused");
	assert_true(was >= 1);
	assert_int_equal(bus_operator_install(d.o, STR("From e In"), STR(""), 0, false, &id, &err),
			 -EINVAL);
	assert_true((int64_t)count(&d, "requests refused") > was);
	install(&d);
	install(&d);
	was = (int64_t)count(&d, "requests refused");
	assert_int_equal(bus_operator_install(d.o, STR(QUERY), STR(""), 0, false, &id, &err),
			 -EDQUOT);
	assert_non_null(strstr(err.msg, "2 queries standing"));
	assert_true((int64_t)count(&d, "requests refused") > was && was >= 2);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

static void rows_over_the_limit_are_counted(void **state)
{
	char host[16];
	struct actor a;
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	s.limits.rows = 5;
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	install(&d);
	until(a.query, &a, 1, &d);
	for (int i = 0; i < 30; i++) {
		snprintf(host, sizeof(host), "h%d", i);
		report(&a, host, 1, 1000 * NS_S);
	}
	until(total(&d) + (int64_t)d.whole.losses.count[LOSS_ROWS_DROPPED] == 30, &a, 1, &d);
	assert_int_equal(total(&d), 5);
	assert_int_equal(count(&d, "reports over the tenant's rows"), 25);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* More than one message can hold, on each way; and more agents than are told at once. */
static void large_results_travel_in_pieces(void **state)
{
	struct partial_shape shape = { .nr_keys = 1,
				       .nr_cells = 2,
				       .functions = { AGGREGATE_SUM, AGGREGATE_COUNT } };
	char host[700];
	struct desk d, other;
	struct partial p;
	struct actor a;
	struct scene s;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	id = install(&d);
	until(a.query, &a, 1, &d);
	partial_init(&p, &shape);
	memset(host, 'x', sizeof(host));
	for (int i = 0; i < 9000; i++) {
		struct value key;
		size_t g;

		snprintf(host + 600, sizeof(host) - 600, "%d", i);
		key = value_text(names_add(&p.names, str_of(host)));
		g = partial_group(&p, &key, 1);
		partial_add(&p, g, 0, value_int(i), 1);
	}
	bus_agent_report(a.agent, a.query, 1000 * NS_S, 1001 * NS_S, &p);
	partial_done(&p);
	until(total(&d) == 4500 * 8999, &a, 1, &d);
	assert_int_equal(d.whole.losses.count[LOSS_ROWS_DROPPED], 0);
	assert_int_equal(total_of_seconds(&d), 4500 * 8999);
	/* the state holds it, too */
	hub_end(&s);
	hub_begin(&s);
	desk_open(&other, &s);
	assert_int_equal(bus_operator_watch(other.o, id, NULL), 0);
	until(total(&other) == 4500 * 8999, &a, 1, &other);
	assert_int_equal(total_of_seconds(&other), 0);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	desk_close(&other);
	hub_end(&s);
	scene_done(&s);
}

static void count_peer(void *ctx, const struct bus_peer *p)
{
	*(size_t *)ctx += p->role == BUS_AGENT;
}

static void all_agents_are_told_however_many(void **state)
{
	struct bus_context *context = bus_context_new(300);
	struct bus_agent *agents[300];
	struct error err = { 0 };
	int64_t end = time_tick() + PATIENCE_NS;
	struct scene s;
	struct desk d;
	size_t nr = 0;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	for (int i = 0; i < 300; i++) {
		char name[16];
		struct bus_agent_options o = { .endpoint = s.endpoint,
					       .name = name,
					       .context = context };

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(bus_agent_open(&agents[i], &o, &err), 0);
	}
	while (nr < 300 && time_tick() < end) {
		for (int i = 0; i < 300; i++)
			bus_agent_poll(agents[i], 0, NULL);
		nr = 0;
		assert_int_equal(bus_operator_peers(d.o, count_peer, &nr, &err), 0);
	}
	assert_int_equal(nr, 300);
	for (int i = 0; i < 300; i++)
		bus_agent_close(agents[i], 0);
	bus_context_free(context);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

/* Nobody asks for the hub's status meanwhile, which is when it used to look at handshakes. */
static void a_hub_outlives_thousands_of_connections(void **state)
{
	struct error err = { 0 };
	struct scene s;
	struct desk d;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	for (int round = 0; round < 8; round++) {
		struct bus_context *context = bus_context_new(300);
		int64_t end = time_tick() + PATIENCE_NS;
		struct bus_agent *agents[300];
		bool was_in[300] = { 0 };
		size_t nr = 0;

		for (int i = 0; i < 300; i++) {
			char name[16];
			struct bus_agent_options o = { .endpoint = s.endpoint,
						       .name = name,
						       .context = context };

			snprintf(name, sizeof(name), "n%d", i);
			assert_int_equal(bus_agent_open(&agents[i], &o, &err), 0);
		}
		while (nr < 300) {
			nr = 0;
			assert_true(time_tick() < end);
			/* the hub needs the processor, too */
			usleep(1000);
			for (int i = 0; i < 300; i++) {
				bus_agent_poll(agents[i], 0, NULL);
				/* whoever waits for the others may miss the hub for a while */
				was_in[i] |= bus_agent_is_connected(agents[i]);
				nr += was_in[i];
			}
		}
		for (int i = 0; i < 300; i++)
			bus_agent_close(agents[i], 0);
		bus_context_free(context);
	}
	desk_open(&d, &s);
	desk_close(&d);
	hub_end(&s);
	scene_done(&s);
}

static void a_query_of_an_operator_ends_with_it(void **state)
{
	struct actor a;
	struct scene s;
	struct desk d;
	uint64_t id;

	(void)state;
	scene_make(&s);
	hub_begin(&s);
	desk_open(&d, &s);
	actor_open(&a, &s, "n1", NULL);
	assert_int_equal(bus_operator_install(d.o, STR(QUERY), STR(""), 0, true, &id, NULL), 0);
	until(a.query == id, &a, 1, &d);
	desk_close(&d);
	d.o = NULL;
	until(!a.query, &a, 1, &d);
	bus_agent_close(a.agent, 0);
	hub_end(&s);
	scene_done(&s);
}

/* --- keys ---------------------------------------------------------------------------------- */

static struct bus_keys *keys_of(const struct scene *s, const char *name)
{
	struct bus_keys *k = NULL;
	struct error err = { 0 };
	char path[160];

	snprintf(path, sizeof(path), "%s/keys/%s.key", s->dir, name);
	if (bus_keys_load(&k, path, &err) < 0)
		fail_msg("%s", err.msg);
	return k;
}

static void scene_with_keys(struct scene *s)
{
	struct error err = { 0 };
	char dir[128];

	scene_make(s);
	snprintf(dir, sizeof(dir), "%s/keys", s->dir);
	assert_int_equal(keys_make_hub(dir, &err), 0);
	assert_int_equal(keys_grant(dir, BUS_AGENT, "n1", "default", &err), 0);
	assert_int_equal(keys_grant(dir, BUS_AGENT, "n2", "default", &err), 0);
	assert_int_equal(keys_grant(dir, BUS_OPERATOR, "boss", "default", &err), 0);
	assert_int_equal(keys_grant(dir, BUS_OPERATOR, "rival", "others", &err), 0);
	assert_int_equal(keys_grant(dir, BUS_AGENT, "../x", "default", &err), -EINVAL);
	assert_int_equal(keys_grant(dir, BUS_AGENT, "n1", "default", &err), -EEXIST);
	assert_int_equal(bus_keys_load(&s->keys, dir, &err), 0);
}

static void only_those_with_the_right_keys_come_in(void **state)
{
	struct bus_keys *agent, *boss, *rival;
	struct error err = { 0 };
	struct scene s, foreign;
	struct desk d, other;
	struct actor a;
	uint64_t id;

	(void)state;
	scene_with_keys(&s);
	scene_with_keys(&foreign);
	hub_begin(&s);
	agent = keys_of(&s, "n1");
	boss = keys_of(&s, "boss");
	rival = keys_of(&foreign, "boss");
	/* none, those of another hub, those of an agent */
	assert_true(desk_try(&d, &s, NULL, &err) < 0);
	assert_true(desk_try(&d, &s, rival, &err) < 0);
	assert_int_equal(desk_answer(&d, &s, agent, &err), -EACCES);
	assert_non_null(strstr(err.msg, "another role"));
	bus_keys_free(rival);
	/* those of another hub, with the right key of this one */
	rival = keys_of(&foreign, "boss");
	memcpy(rival->hub_key, s.keys->public_key, sizeof(rival->hub_key));
	assert_int_equal(desk_answer(&d, &s, rival, &err), -EACCES);
	assert_non_null(strstr(err.msg, "does not know our key"));
	bus_keys_free(rival);

	assert_int_equal(desk_answer(&d, &s, boss, &err), 0);
	assert_true(count(&d, "handshakes refused") >= 2);
	actor_open(&a, &s, "n1", agent);
	id = install(&d);
	until(a.query == id, &a, 1, &d);
	report(&a, "x", 5, 1000 * NS_S);
	until(total(&d) == 5, &a, 1, &d);
	/* another tenant sees nothing of it */
	rival = keys_of(&s, "rival");
	assert_int_equal(desk_answer(&other, &s, rival, &err), 0);
	assert_int_equal(bus_operator_watch(other.o, id, &err), -ENOENT);
	assert_int_equal(bus_operator_remove(other.o, id, &err), -ENOENT);
	desk_close(&other);
	bus_agent_close(a.agent, 0);
	desk_close(&d);
	hub_end(&s);
	bus_keys_free(agent);
	bus_keys_free(boss);
	bus_keys_free(rival);
	scene_done(&s);
	scene_done(&foreign);
}

/* Says whatever it likes with an agent's key. */
static void an_agent_cannot_install_a_query(void **state)
{
	struct message hello = { .kind = MESSAGE_HELLO }, m = { .kind = MESSAGE_INSTALL };
	struct bus_keys *agent, *boss;
	struct buslink_message got;
	struct error err = { 0 };
	struct buslink *l;
	size_t nobody = 0;
	struct scene s;
	struct desk d;

	(void)state;
	scene_with_keys(&s);
	hub_begin(&s);
	agent = keys_of(&s, "n1");
	boss = keys_of(&s, "boss");
	assert_int_equal(buslink_dial(&l, NULL, s.endpoint, agent, &err), 0);
	message_n(&hello, BUS_AGENT, 7, 0);
	message_text(&hello, STR("n1"));
	message_n(&m, 1, 0, 0);
	message_text(&m, STR(QUERY));
	message_text(&m, STR(""));
	for (int i = 0; i < 3; i++) {
		struct buf b = { 0 };

		/* as an agent, then as if it were an operator */
		hello.n[0] = i < 2 ? BUS_AGENT : BUS_OPERATOR;
		message_pack(&b, &hello);
		while (buslink_send(l, (struct str){ 0 }, buf_str(&b)) < 0)
			usleep(1000);
		buf_clear(&b);
		message_pack(&b, &m);
		assert_int_equal(buslink_send(l, (struct str){ 0 }, buf_str(&b)), 0);
		buf_done(&b);
	}
	assert_int_equal(desk_answer(&d, &s, boss, &err), 0);
	until(count(&d, "messages of who may not send them") >= 3, (struct actor *)NULL, nobody, &d);
	while (buslink_take(l, &got) > 0)
		;
	assert_int_equal(count(&d, "queries installed"), 0);
	desk_close(&d);
	buslink_close(l);
	hub_end(&s);
	bus_keys_free(agent);
	bus_keys_free(boss);
	scene_done(&s);
}

static void whose_keys_are_revoked_is_out(void **state)
{
	struct error err = { 0 };
	struct bus_keys *boss;
	struct scene s;
	struct desk d;
	char dir[128];

	(void)state;
	scene_with_keys(&s);
	hub_begin(&s);
	boss = keys_of(&s, "boss");
	assert_int_equal(desk_answer(&d, &s, boss, &err), 0);
	desk_close(&d);
	snprintf(dir, sizeof(dir), "%s/keys", s.dir);
	assert_int_equal(keys_revoke(dir, "boss", &err), 0);
	assert_int_equal(keys_revoke(dir, "boss", &err), -ENOENT);
	assert_true(desk_try(&d, &s, boss, &err) < 0);
	hub_end(&s);
	bus_keys_free(boss);
	scene_done(&s);
}

static void beyond_this_host_there_must_be_keys(void **state)
{
	struct bus_hub_options o = { .listen = "0.0.0.0:4799", .name = "x" };
	struct error err = { 0 };
	struct bus_hub *h;

	(void)state;
	assert_int_equal(bus_hub_open(&h, &o, &err), -EPERM);
	assert_non_null(strstr(err.msg, "no keys"));
	o.listen = "nonsense";
	assert_int_equal(bus_hub_open(&h, &o, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_of_agents_become_one_result),
		cmocka_unit_test(what_a_slow_agent_saw_in_the_end_is_told),
		cmocka_unit_test(a_late_report_is_in_the_total_and_counted),
		cmocka_unit_test(a_hub_that_begins_anew_goes_on),
		cmocka_unit_test(what_a_slow_hub_is_asked_is_done_once),
		cmocka_unit_test(reports_wait_for_a_hub_that_is_away),
		cmocka_unit_test(a_hub_is_an_agent_of_the_hub_above),
		cmocka_unit_test(messages_go_by_address_to_the_one_that_has_it),
		cmocka_unit_test(a_slow_operator_is_told_each_second_later),
		cmocka_unit_test(seconds_that_nobody_reads_are_bounded),
		cmocka_unit_test(seconds_are_exact_over_a_hub_that_is_killed),
		cmocka_unit_test(the_end_of_a_query_outlives_its_hub),
		cmocka_unit_test(the_end_waits_for_agents_that_are_not_back_yet),
		cmocka_unit_test(tenants_are_held_to_their_limits),
		cmocka_unit_test(rows_over_the_limit_are_counted),
		cmocka_unit_test(large_results_travel_in_pieces),
		cmocka_unit_test(all_agents_are_told_however_many),
		cmocka_unit_test(a_hub_outlives_thousands_of_connections),
		cmocka_unit_test(a_query_of_an_operator_ends_with_it),
		cmocka_unit_test(only_those_with_the_right_keys_come_in),
		cmocka_unit_test(an_agent_cannot_install_a_query),
		cmocka_unit_test(whose_keys_are_revoked_is_out),
		cmocka_unit_test(beyond_this_host_there_must_be_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
