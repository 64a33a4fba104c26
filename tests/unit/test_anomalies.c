/* Each kind of anomaly is found where it was put, and nothing is found in the run's healthy twin.
 */
#include "unit.h"

#include <stdio.h>

#include "ask/activity.h"
#include "ask/alike.h"
#include "ask/anomaly.h"
#include "ask/complaints.h"
#include "ask_made.h"

/* --- slow nodes ------------------------------------------------------------------------------ */

/* A block is written through three of four nodes in a row; each takes as long as the slowest. */
static struct store *pipelines_and(const char *slow, double from, double until, int64_t aside)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3", "dn4" };
	struct store *s = run_new();
	struct dice dice = { 4 };

	for (int i = 0; i < 600; i++) {
		int64_t at = AT(i * 0.1);
		struct made m = { .type = "write" };
		size_t absent = dice_below(&dice, 4);
		int64_t ns = vary(&dice, 20 * NS_MS);

		for (size_t k = 0; k < 4; k++)
			if (slow && k != absent && str_eq(str_of(nodes[k]), str_of(slow)) &&
			    at >= AT(from) && at < AT(until))
				ns = vary(&dice, 200 * NS_MS);
		add(&m, SPAN_NONE, "nn", "create", at, at + NS_MS + ns);
		for (size_t k = 0; k < 4; k++)
			if (k != absent)
				add(&m, 0, nodes[k], "writeBlock", at + NS_MS, at + NS_MS + ns);
		put(s, &m);
	}
	/* slow, but for another reason, and on the slow node at that time */
	if (aside) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "nn", "create", AT(from + 1), AT(from + 1) + aside);
		add(&m, 0, slow, "writeBlock", AT(from + 1), AT(from + 1) + 20 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static struct store *pipelines(const char *slow, double from, double until)
{
	return pipelines_and(slow, from, until, 0);
}

static void the_first_example_shows_what_is_told(void **state)
{
	struct store *s = pipelines_and("dn3", 20, 35, 5 * NS_S);
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int64_t slowest;
	char wanted[32];
	int got;

	(void)state;
	run_ask(&s, "requests", (const char *const[]){ "slowest", "1", NULL }, &out, &got);
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	slowest = run_int(v, "id");
	snprintf(wanted, sizeof(wanted), "\"examples\":[%lld", (long long)slowest);
	run_ask(&s, "answer", NULL, &out, &got);
	assert_true(str_find(buf_str(&out), STR("dn3 is the culprit")) < out.n);
	assert_true(str_find(buf_str(&out), str_of(wanted)) >=
		    str_find(buf_str(&out), STR("\"why-slow\"")));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void the_slow_one_of_nodes_that_work_together_is_named_with_its_time(void **state)
{
	(void)state;
	expect(pipelines("dn3", 20, 35), "slow node", "dn3", AT(20), AT(35));
	expect(pipelines("dn1", 0, 60), "slow node", "dn1", 0, 0);
}

static void nodes_that_work_together_evenly_are_not_blamed(void **state)
{
	(void)state;
	expect_nothing(pipelines(NULL, 0, 0));
}

/* front1, front2 call back1, back2 and wait. */
static struct store *waiting(const char *slow, double everyone)
{
	static const char *const fronts[] = { "front1", "front2" };
	static const char *const backs[] = { "back1", "back2" };
	struct store *s = run_new();
	struct dice dice = { 5 };

	for (int i = 0; i < 400; i++) {
		const char *front = fronts[dice_below(&dice, 2)];
		const char *back = backs[dice_below(&dice, 2)];
		int64_t at = AT(i * 0.1), ns = vary(&dice, 10 * NS_MS);
		struct made m = { .type = "get" };

		if (slow && str_eq(str_of(back), str_of(slow)))
			ns *= 8;
		if (everyone > 0 && i > 200)
			ns = (int64_t)((double)ns * everyone);
		add(&m, SPAN_NONE, front, "get", at, at + ns + 4 * NS_MS);
		add(&m, 0, back, "load", at + 2 * NS_MS, at + 2 * NS_MS + ns);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void who_waits_for_a_slow_node_is_not_blamed(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = waiting("back2", 0);
	struct json_value v;
	struct str lines;
	unsigned nr = 0;

	(void)state;
	assert_true(find(s, "slow node", j, &out, &v));
	assert_str_equal(run_str(v, "node"), "back2");
	assert_true(run_double(v, "share") > 0.5);
	assert_true(run_int(v, "took") > 5 * run_int(v, "usual"));
	lines = buf_str(&out);
	while (run_next(j, &lines, &v))
		nr += str_eq(run_str(v, "section"), STR("anomalies"));
	assert_int_equal(nr, 1);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void load_that_slows_all_nodes_down_blames_none(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = waiting(NULL, 6);
	struct json_value v;

	(void)state;
	assert_false(find(s, "slow node", j, &out, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
	expect_nothing(waiting(NULL, 0));
}

/* Different services with the same name of a step are no peers, however they differ. */
static void services_that_differ_are_not_compared(void **state)
{
	struct store *s = run_new();
	struct dice dice = { 6 };

	(void)state;
	for (int i = 0; i < 300; i++) {
		bool slow = dice_below(&dice, 2);
		int64_t at = AT(i * 0.1), ns = vary(&dice, slow ? 80 * NS_MS : 4 * NS_MS);
		struct made m = { .type = slow ? "report" : "look" };

		add(&m, SPAN_NONE, "web", "GET", at, at + ns + 2 * NS_MS);
		add(&m, 0, slow ? "pdf" : "cache", "GET", at + NS_MS, at + NS_MS + ns);
		put(s, &m);
	}
	run_finish(s);
	expect_nothing(s);
}

/* Calls from a1, a2 to b1, b2: what the called one does not take is the way. */
static struct store *ways(bool slow)
{
	static const char *const as[] = { "a1", "a2" }, *const bs[] = { "b1", "b2" };
	struct store *s = run_new();
	struct dice dice = { 7 };

	for (int i = 0; i < 400; i++) {
		size_t a = dice_below(&dice, 2), b = dice_below(&dice, 2);
		int64_t at = AT(i * 0.1), way = vary(&dice, 2 * NS_MS), ns = vary(&dice, 5 * NS_MS);
		struct made m = { .type = "get" };

		if (slow && a == 0 && b == 1)
			way += vary(&dice, 40 * NS_MS);
		add(&m, SPAN_NONE, "web", "get", at, at + ns + 2 * way + NS_MS);
		add(&m, 0, as[a], "call", at, at + ns + 2 * way);
		m.spans[1].kind = SPAN_CLIENT;
		add(&m, 1, bs[b], "serve", at + way, at + way + ns);
		m.spans[2].kind = SPAN_SERVER;
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_slow_way_between_two_nodes_is_named(void **state)
{
	(void)state;
	expect(ways(true), "slow hop", "a1 → b2", 0, 0);
	expect_nothing(ways(false));
}

/* Lines that say how long a read took, on three nodes; slow: dn2 from 20 s to 34 s of 60. */
static struct store *reading(bool slow)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);
	struct dice dice = { 12 };

	for (int i = 0; i < 600; i++) {
		const char *node = nodes[dice_below(&dice, 3)];
		int64_t at = AT(i * 0.1), ns = vary(&dice, 4 * NS_MS);
		struct event ev = { .kind = EVENT_LOG,
				    .level = LEVEL_INFO,
				    .nr_lines = 1,
				    .node = str_of(node),
				    .title = STR("op: READ, duration(ns): <*>") };
		struct made m = { .type = "write" };
		struct error err;

		if (slow && node == nodes[1] && at >= AT(20) && at < AT(34))
			ns *= 60;
		ev.duration = ns;
		ev.ns = at + ns;
		assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
		add(&m, SPAN_NONE, "nn", "write", at, at + vary(&dice, 5 * NS_MS));
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void what_lines_say_that_work_took_tells_of_slow_nodes_too(void **state)
{
	(void)state;
	expect(reading(true), "slow node", "dn2", AT(20), AT(34));
	expect_nothing(reading(false));
}

/* --- silences -------------------------------------------------------------------------------- */

/* Requests that visit one of three nodes, each every few milliseconds; who is on dn2 at the moment
 * of its pause waits until it is over. all: nobody does anything in that time. */
static struct store *paused(bool one, bool all)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct dice dice = { 8 };

	for (int i = 0; i < 2000; i++) {
		const char *node = nodes[dice_below(&dice, 3)];
		int64_t at = AT(i * 0.01), begin = at + NS_MS, end = at + vary(&dice, 10 * NS_MS);
		struct made m = { .type = "read" };

		if (at >= AT(8) && at < AT(11) && all)
			continue;
		if (one && node == nodes[1] && end >= AT(8) && at < AT(11)) {
			if (dice_below(&dice, 4)) /* most clients wait for one another */
				continue;
			begin = at < AT(8) ? begin : AT(11);
			end = AT(11) + 2 * NS_MS;
		}
		add(&m, SPAN_NONE, "app", "read", at, end + NS_MS);
		add(&m, 0, node, "readBlock", begin, end);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_node_that_stood_still_is_named_with_when_and_how_long(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = paused(true, false);
	struct json_value v;

	(void)state;
	assert_true(find(s, "pause", j, &out, &v));
	assert_str_equal(run_str(v, "node"), "dn2");
	assert_true(llabs(run_int(v, "began") - AT(8)) < NS_S / 10);
	assert_true(llabs(run_int(v, "took") - 3 * NS_S) < NS_S / 10);
	assert_true(run_int(v, "requests") >= 1);
	assert_false(find(s, "slow node", j, &out, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

/* Bits 0 to 9, 70 and 200 to 203 of a life. */
static void gaps_are_sought_no_further_than_asked(void **state)
{
	uint64_t ticks[] = { 0x3ff, (uint64_t)1 << 6, 0, (uint64_t)0xf << 8 };
	const struct life l = { .ticks = ticks, .first = 0, .last = 203 };
	struct gap g;

	(void)state;
	assert_true(activity_gap(&l, 0, SIZE_MAX, 1, &g));
	assert_int_equal(g.first, 10);
	assert_int_equal(g.until, 70);
	assert_true(activity_gap(&l, 12, SIZE_MAX, 59, &g));
	assert_int_equal(g.first, 71);
	assert_int_equal(g.until, 200);
	assert_false(activity_gap(&l, 0, 71, 61, &g));
	assert_true(activity_gap(&l, 0, 72, 61, &g));
	assert_false(activity_gap(&l, 0, 10, 1, &g));
	assert_false(activity_gap(&l, 200, SIZE_MAX, 1, &g));
}

static void when_all_are_silent_none_is_blamed(void **state)
{
	(void)state;
	expect_nothing(paused(false, true));
	expect_nothing(paused(false, false));
}

/* Three nodes log; dn1 is not heard of any more after 10 s of 20. */
static struct store *dying(bool complain)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);

	for (int i = 0; i < 2000; i++) {
		const char *node = nodes[i % 3];
		int64_t at = AT(i * 0.01);

		if (at >= AT(10) && node == nodes[0])
			continue;
		if (complain && at >= AT(10) && i % 20 < 2)
			say_event(&sink, node, at, LEVEL_ERROR,
				  "cannot write to mirror 10.0.0.1:9861: connection refused");
		else
			say_event(&sink, node, at, LEVEL_INFO, "block written");
	}
	for (int i = 0; i < 100; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn2", "writeBlock", AT(i * 0.2), AT(i * 0.2) + 5 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void a_node_that_others_complain_of_after_its_last_word_is_dead(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = dying(true);
	struct json_value v;

	(void)state;
	assert_true(find(s, "dead node", j, &out, &v));
	assert_str_equal(run_str(v, "names"), "10.0.0.1:9861");
	assert_str_equal(run_str(v, "said"), "cannot write to mirror <*> connection refused");
	buf_done(&out);
	json_free(j);
	expect(s, "dead node", "dn1", AT(10), 0);
}

static void a_node_that_merely_ends_is_not_dead(void **state)
{
	(void)state;
	expect_nothing(dying(false));
}

/* --- what lines say -------------------------------------------------------------------------- */

/* Three nodes log; each warns now and then, dn3 of its disk as well. */
static struct store *warning(bool one)
{
	static const char *const nodes[] = { "dn1", "dn2", "dn3" };
	struct store *s = run_new();
	struct sink sink = store_sink(s);
	char text[64];

	for (int i = 0; i < 900; i++) {
		const char *node = nodes[i % 3];
		bool disk = one ? node == nodes[2] && i % 30 == 2 : i % 31 == 0;

		snprintf(text, sizeof(text), "slow write to disk cost %d ms", 300 + i);
		say_event(&sink, node, AT(i * 0.02), disk ? LEVEL_WARN : LEVEL_INFO, text);
		if (i % 25 == 0)
			say_event(&sink, node, AT(i * 0.02), LEVEL_WARN, "no native library");
	}
	for (int i = 0; i < 50; i++) {
		struct made m = { .type = "write" };

		add(&m, SPAN_NONE, "dn2", "writeBlock", AT(i * 0.2), AT(i * 0.2) + 5 * NS_MS);
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void what_one_node_alone_warns_of_is_told(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = warning(true);
	struct json_value v;

	(void)state;
	assert_true(find(s, "warnings", j, &out, &v));
	assert_str_equal(run_str(v, "said"), "slow write to disk cost <*> ms");
	buf_done(&out);
	json_free(j);
	expect(s, "warnings", "dn3", 0, 0);
	expect_nothing(warning(false));
}

static void a_line_is_masked_behind_its_head(void **state)
{
	struct buf out = { 0 };

	(void)state;
	complaints_mask(STR("09:31:15 WARN [t-7] dfs.DataNode: to 10.0.0.1:50010 failed\n\tat x"),
			STR("dfs.DataNode"), &out);
	assert_str_equal(buf_str(&out), "to <*> failed");
	buf_clear(&out);
	complaints_mask(STR("plain"), STR(""), &out);
	assert_str_equal(buf_str(&out), "plain");
	buf_clear(&out);
	complaints_mask(STR(""), STR("dfs.DataNode"), &out);
	assert_int_equal(out.n, 0);
	buf_done(&out);
}

static void replicas_are_known_by_their_names(void **state)
{
	(void)state;
	assert_true(alike_names(STR("dn1"), STR("dn12")));
	assert_true(alike_names(STR("ip-10-0-0-1"), STR("ip-10-0-12-7")));
	assert_true(alike_names(STR("cart@a"), STR("cart@b")));
	assert_false(alike_names(STR("cart@a"), STR("auth@a")));
	assert_false(alike_names(STR("cart@a"), STR("cart")));
	assert_false(alike_names(STR("dn1"), STR("nn")));
	assert_false(alike_names(STR("dn1"), STR("dn")));
	assert_false(alike_names(STR(""), STR("dn")));
}

/* --- requests that go another way ------------------------------------------------------------ */

/* Some requests call the store several times; failed: the first call fails on db2, since 15 s. */
static struct store *retrying(bool failed)
{
	struct store *s = run_new();
	struct dice dice = { 9 };

	for (int i = 0; i < 300; i++) {
		bool again = i >= 150 && i % 10 == 0;
		int64_t at = AT(i * 0.1), ns = vary(&dice, 5 * NS_MS);
		struct made m = { .type = "buy", .error = failed && again };

		add(&m, SPAN_NONE, "web", "buy", at, at + (again ? 5 : 1) * ns + NS_MS);
		for (int k = 0; k < (again ? 5 : 1); k++) {
			size_t n = add(&m, 0, again && k < 4 ? "db2" : "db1", "insert", at + k * ns,
				       at + (k + 1) * ns);

			if (failed && again && k < 4)
				m.spans[n].status = STATUS_ERROR;
		}
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void steps_that_fail_and_are_done_again_are_counted(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = retrying(true);
	struct json_value v;

	(void)state;
	assert_true(find(s, "retries", j, &out, &v));
	assert_str_equal(run_str(v, "node"), "db2");
	assert_str_equal(run_str(v, "name"), "insert");
	assert_int_equal(run_int(v, "requests"), 15);
	assert_true(run_double(v, "count") > 4.9 && run_double(v, "count_usual") < 1.1);
	buf_done(&out);
	json_free(j);
	store_close(s);
	s = retrying(false);
	j = json_new();
	assert_false(find(s, "retries", j, &out, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

/* Four steps on one node; from 25 s to 28 s of 40 some requests go another way. */
static struct store *going(bool stop, bool other, bool always)
{
	static const char *const steps[] = { "open", "check", "store", "close" };
	struct store *s = run_new();
	struct dice dice = { 10 };

	for (int i = 0; i < 400; i++) {
		bool odd = i % 3 == 0 && ((i >= 250 && i < 280) || (always && i % 12 == 0));
		int64_t at = AT(i * 0.1), begin = at;
		struct made m = { .type = "save", .error = other && odd };

		add(&m, SPAN_NONE, "disk", "save", at, at);
		for (size_t k = 0; k < 4 && !(stop && odd && k == 2); k++) {
			int64_t ns = vary(&dice, 4 * NS_MS);

			add(&m, 0, "disk", other && odd && k == 2 ? "undo" : steps[k], at, at + ns);
			at += ns;
		}
		m.spans[0].end = at > begin ? at : begin;
		put(s, &m);
	}
	run_finish(s);
	return s;
}

static void requests_that_stop_in_the_middle_for_a_while_are_told(void **state)
{
	(void)state;
	expect(going(true, false, false), "stops midway", "disk", AT(25), AT(28));
	expect_nothing(going(false, false, false));
}

static void requests_that_always_had_two_ways_to_end_are_not_told(void **state)
{
	(void)state;
	expect_nothing(going(true, false, true));
}

static void a_course_never_taken_before_that_ends_in_errors_is_told(void **state)
{
	(void)state;
	expect(going(false, true, false), "new course", NULL, AT(25), AT(28));
}

/* --- over time ------------------------------------------------------------------------------- */

/* Two types; surge: many verifications from 20 s to 24 s of 40; load: more of everything then. */
static struct store *counting(bool surge, bool load, double slower)
{
	struct store *s = run_new();
	struct dice dice = { 11 };

	for (int i = 0; i < 800; i++) {
		int64_t at = AT(i * 0.05);
		bool then = at >= AT(20) && at < AT(24);
		int64_t ns = vary(&dice, 5 * NS_MS);

		for (int k = 0; k < 2; k++) {
			unsigned times = then && ((surge && k) || load) ? 8 : 1;

			for (unsigned n = 0; n < times; n++) {
				struct made m = { .type = k ? "verify" : "read" };
				int64_t took = !k && slower > 0 && then
						       ? (int64_t)((double)ns * slower)
						       : ns;

				add(&m, SPAN_NONE, "disk", m.type, at + (int64_t)n * NS_MS,
				    at + (int64_t)n * NS_MS + took);
				put(s, &m);
			}
		}
	}
	run_finish(s);
	return s;
}

static void a_type_that_becomes_far_more_frequent_is_told(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct store *s = counting(true, false, 0);
	struct json_value v;

	(void)state;
	assert_true(find(s, "count", j, &out, &v));
	assert_str_equal(run_str(v, "type"), "verify");
	buf_done(&out);
	json_free(j);
	expect(s, "count", NULL, AT(20), AT(24));
}

static void more_load_is_no_anomaly_of_a_type(void **state)
{
	(void)state;
	expect_nothing(counting(false, true, 0));
	expect_nothing(counting(false, false, 0));
}

static void a_type_that_is_slower_for_a_while_is_told_with_its_time(void **state)
{
	(void)state;
	expect(counting(false, false, 10), "latency", NULL, AT(20), AT(24));
}

static void a_reason_is_told_before_what_is_merely_felt(void **state)
{
	const struct anomaly dead = { .kind = ANOMALY_DEAD }, pause = { .kind = ANOMALY_PAUSE };
	const struct anomaly few = { .kind = ANOMALY_RETRIES, .lost = 2 };
	const struct anomaly many = { .kind = ANOMALY_RETRIES, .lost = 40 };

	(void)state;
	assert_true(anomaly_rank(&dead, 100) < anomaly_rank(&many, 100));
	assert_true(anomaly_rank(&pause, 100) < anomaly_rank(&few, 100));
	/* what explains much is told by how much */
	assert_int_equal(anomaly_rank(&pause, 100), anomaly_rank(&many, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_example_shows_what_is_told),
		cmocka_unit_test(the_slow_one_of_nodes_that_work_together_is_named_with_its_time),
		cmocka_unit_test(nodes_that_work_together_evenly_are_not_blamed),
		cmocka_unit_test(who_waits_for_a_slow_node_is_not_blamed),
		cmocka_unit_test(load_that_slows_all_nodes_down_blames_none),
		cmocka_unit_test(services_that_differ_are_not_compared),
		cmocka_unit_test(a_slow_way_between_two_nodes_is_named),
		cmocka_unit_test(what_lines_say_that_work_took_tells_of_slow_nodes_too),
		cmocka_unit_test(a_node_that_stood_still_is_named_with_when_and_how_long),
		cmocka_unit_test(gaps_are_sought_no_further_than_asked),
		cmocka_unit_test(when_all_are_silent_none_is_blamed),
		cmocka_unit_test(a_node_that_others_complain_of_after_its_last_word_is_dead),
		cmocka_unit_test(a_node_that_merely_ends_is_not_dead),
		cmocka_unit_test(what_one_node_alone_warns_of_is_told),
		cmocka_unit_test(a_line_is_masked_behind_its_head),
		cmocka_unit_test(replicas_are_known_by_their_names),
		cmocka_unit_test(steps_that_fail_and_are_done_again_are_counted),
		cmocka_unit_test(requests_that_stop_in_the_middle_for_a_while_are_told),
		cmocka_unit_test(requests_that_always_had_two_ways_to_end_are_not_told),
		cmocka_unit_test(a_course_never_taken_before_that_ends_in_errors_is_told),
		cmocka_unit_test(a_type_that_becomes_far_more_frequent_is_told),
		cmocka_unit_test(more_load_is_no_anomaly_of_a_type),
		cmocka_unit_test(a_type_that_is_slower_for_a_while_is_told_with_its_time),
		cmocka_unit_test(a_reason_is_told_before_what_is_merely_felt),
	};

	return RUN(tests);
}
