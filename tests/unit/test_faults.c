/* The culprit of a fault is named as it comes in systems that log moments only, where nearly all
 * work needs all nodes; and what looks like a fault without being one is not. */
#include "unit.h"

#include "ask_made.h"

/* --- nodes that are gone --------------------------------------------------------------------- */

struct death {
	double at;         /* s of 60 that dn1 is heard of */
	bool complain;     /* others warn of it afterwards */
	const char *novel; /* what others say for the first time afterwards, thrice */
	const char *last;  /* its last words */
};

static void say_at(const struct sink *sink, const char *node, int64_t ns, const char *point,
		   const char *thread, const char *text)
{
	struct event ev = { .ns = ns,
			    .kind = EVENT_LOG,
			    .level = LEVEL_INFO,
			    .nr_lines = 1,
			    .duration = -1,
			    .node = str_of(node),
			    .point = str_of(point),
			    .thread = str_of(thread),
			    .text = str_of(text) };
	struct error err;

	assert_int_equal(sink->events(sink->to, &ev, 1, &err), 0);
}

static struct store *gone(const struct death *d)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	static const char *const points[] = { "Net.closed", "Net.refused", "Hints.kept" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);

	for (int i = 0; i < 6000; i++) {
		const char *node = nodes[i % 3];
		int64_t at = AT(i * 0.01);

		if (at >= AT(d->at) && node == nodes[0])
			continue;
		if (d->complain && at >= AT(d->at) && i % 20 < 2)
			say_event(&sink, node, at, LEVEL_ERROR,
				  "cannot write to mirror 10.0.0.1:9861: connection refused");
		else
			say_at(&sink, node, at, "Block.write", "writer", "block written");
	}
	if (d->last)
		say_at(&sink, "dn1", AT(d->at), "Main.end", "main", d->last);
	for (int k = 0; k < 3 && d->novel; k++)
		say_at(&sink, nodes[1 + k % 2], AT(d->at + 1 + k), points[k], "net", d->novel);
	for (int i = 0; i < 300; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn2", "writeBlock", AT(i * 0.2), AT(i * 0.2) + 5 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_death_long_before_the_end_is_found(void **state)
{
	(void)state;
	expect(gone(&(struct death){ .at = 10, .complain = true }), "dead node", "dn1", AT(10), 0);
}

static void a_node_that_says_that_it_ends_is_not_dead(void **state)
{
	(void)state;
	expect_nothing(gone(
		&(struct death){ .at = 10, .complain = true, .last = "Shutting down the node" }));
}

static void where_nobody_warns_what_others_never_said_before_tells(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = gone(&(struct death){ .at = 20, .novel = "lost 10.0.0.1:7000" });
	struct json_value v;

	(void)state;
	assert_true(find(s, "dead node", j, &out, &v));
	assert_str_equal(run_str(v, "names"), "10.0.0.1:7000");
	buf_done(&out);
	json_free(j);
	expect(s, "dead node", "dn1", AT(20), 0);
}

static void a_log_that_was_cut_off_is_no_death(void **state)
{
	(void)state;
	expect_nothing(gone(&(struct death){ .at = 20 }));
	/* something new, about nobody */
	expect_nothing(gone(&(struct death){ .at = 20, .novel = "a new day" }));
}

/* --- nodes that stood still ------------------------------------------------------------------ */

/* Three nodes log; nothing is done after 20 s of 40, but for a line each now and then. dn2 is
 * silent from 15 s to 20 s. words: it says so; work: it says often, and at any time, how long work
 * took. */
static struct store *still(bool words, bool work)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);

	for (int i = 0; i < 4000; i++) {
		const char *node = nodes[i % 3];
		int64_t at = AT(i * 0.01);

		if (words && i == 2000)
			say_at(&sink, "dn2", at, work ? "Task.end" : "Pause.monitor", "monitor",
			       "was away for 4900 ms");
		if ((node == nodes[1] && at >= AT(15) && at < AT(20)) ||
		    (at >= AT(20) && i % 400 > 2))
			continue;
		say_at(&sink, node, at, "Block.write", "writer", "block written");
		if (work && i % 40 == 1)
			say_at(&sink, node, at, "Task.end", "getter", "task took 4900 ms");
	}
	for (int i = 0; i < 100; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn1", "writeBlock", AT(i * 0.2), AT(i * 0.2) + 5 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_pause_with_which_the_load_ends_is_known_by_what_the_node_says(void **state)
{
	(void)state;
	expect(still(true, false), "pause", "dn2", AT(15), AT(20));
	expect_nothing(still(false, false));
}

static void who_says_how_long_work_took_did_not_stand_still(void **state)
{
	(void)state;
	expect_nothing(still(true, true));
}

/* Requests every 20 ms on dn1 and dn2; dn2 has nothing to do from 20 s to 24 s. open: long ones are
 * under way all the while, which wait for nobody. */
static struct store *open_files(bool held)
{
	struct store *s = run_new();
	struct dice dice = { 21 };

	for (int i = 0; i < 2000; i++) {
		int64_t at = AT(i * 0.02);
		const char *node = at >= AT(20) && at < AT(24) ? "dn1" : i % 2 ? "dn1" : "dn2";
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, node, "write", at, at + vary(&dice, 5 * NS_MS));
		put(s, &m);
	}
	for (int i = 0; i < 6; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn2", "open", AT(5 + i), AT(held ? 24.01 : 33 + i));
		add(&m, 0, "dn2", "begin", AT(held ? 19.99 : 5 + i), AT(held ? 19.99 : 5 + i));
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void what_stands_still_far_longer_did_not_wait_for_the_node(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = open_files(false);
	struct json_value v;

	(void)state;
	expect(open_files(true), "pause", "dn2", AT(20), AT(24));
	assert_false(find(s, "pause", j, &out, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

/* Three nodes log at random moments; dn2 does so in the last quarter of each 200 ms only, from 20 s
 * to 35 s of 60. lazy: it just has less to say then. */
static struct store *stopping(bool stops, bool lazy)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);
	struct dice dice = { 23 };

	for (int i = 0; i < 6000; i++) {
		const char *node = nodes[dice_below(&dice, 3)];
		int64_t at = AT(i * 0.01) + (int64_t)dice_below(&dice, 5) * NS_MS;
		bool then = node == nodes[1] && at >= AT(20) && at < AT(35);

		if (then && lazy && dice_below(&dice, 8))
			continue;
		if (then && stops)
			at += 150 * NS_MS - (at - RUN_START) % (200 * NS_MS) * 3 / 4;
		say_at(&sink, node, at, "Block.write", "writer", "block written");
	}
	for (int i = 0; i < 300; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn1", "writeBlock", AT(i * 0.2), AT(i * 0.2) + 5 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_node_that_stops_again_and_again_is_named(void **state)
{
	(void)state;
	expect(stopping(true, false), "stutter", "dn2", AT(20), AT(35));
	expect_nothing(stopping(false, false));
	expect_nothing(stopping(false, true));
}

/* --- slow nodes ------------------------------------------------------------------------------ */

/* A block is written through three nodes, seldom through two of them. Sizes differ widely. points:
 * the log tells when each node begins and ends, and a silence lies between. */
static struct store *replicas(const char *slow, double from, double until, bool points)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct dice dice = { 22 };

	for (int i = 0; i < 900; i++) {
		int64_t at = AT(i * 0.066), ns = NS_MS << dice_below(&dice, 7);
		size_t absent = dice_below(&dice, 3) ? 3 : dice_below(&dice, 3);
		struct made m = { .type = "write" };

		/* slow to begin with, all of them */
		if (at < AT(8))
			ns *= 3;
		for (size_t k = 0; k < 3; k++)
			if (slow && k != absent && str_eq(str_of(nodes[k]), str_of(slow)) &&
			    at >= AT(from) && at < AT(until))
				ns *= 8;
		add(&m, SPAN_NONE, "nn", "create", at, at + 2 * NS_MS + ns);
		for (size_t k = 0; k < 3; k++) {
			if (k == absent)
				continue;
			add(&m, 0, nodes[k], "receive", at + NS_MS, at + NS_MS + (points ? 0 : ns));
			if (points)
				add(&m, 0, nodes[k], "respond", at + NS_MS + ns, at + NS_MS + ns);
		}
		if (points)
			m.spans[add(&m, 0, absent ? "dn1" : "dn2", "wait for respond", at + NS_MS,
				    at + NS_MS + ns)]
				.kind = SPAN_WAIT;
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_slow_node_that_nearly_all_work_needs_is_named(void **state)
{
	(void)state;
	expect(replicas("dn2", 30, 45, false), "slow node", "dn2", AT(30), AT(45));
	expect_nothing(replicas(NULL, 0, 0, false));
}

static void silences_between_moments_tell_of_slow_nodes_too(void **state)
{
	(void)state;
	expect(replicas("dn3", 30, 45, true), "slow node", "dn3", AT(30), 0);
	expect_nothing(replicas(NULL, 0, 0, true));
}

static void a_slow_node_explains_what_all_requests_lose_that_need_it(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = replicas("dn2", 30, 45, false);
	struct json_value v;

	(void)state;
	assert_true(find(s, "slow node", j, &out, &v));
	assert_true(run_double(v, "share") > 0.6);
	/* most of the 227 of that time, not just the few that tell */
	assert_true(run_int(v, "requests") > 100);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_death_long_before_the_end_is_found),
		cmocka_unit_test(a_node_that_says_that_it_ends_is_not_dead),
		cmocka_unit_test(where_nobody_warns_what_others_never_said_before_tells),
		cmocka_unit_test(a_log_that_was_cut_off_is_no_death),
		cmocka_unit_test(a_pause_with_which_the_load_ends_is_known_by_what_the_node_says),
		cmocka_unit_test(who_says_how_long_work_took_did_not_stand_still),
		cmocka_unit_test(what_stands_still_far_longer_did_not_wait_for_the_node),
		cmocka_unit_test(a_node_that_stops_again_and_again_is_named),
		cmocka_unit_test(a_slow_node_that_nearly_all_work_needs_is_named),
		cmocka_unit_test(silences_between_moments_tell_of_slow_nodes_too),
		cmocka_unit_test(a_slow_node_explains_what_all_requests_lose_that_need_it),
	};

	return RUN(tests);
}
