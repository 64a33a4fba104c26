#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ask/paths/fold.h"
#include "ask/paths/sketch.h"
#include "ask_run.h"

/* One span of a request in ms from its start; parent -1 for a root. */
struct step {
	const char *node;
	int parent;
	int start, end;
	int message; /* position of its message, 0 for none */
	const char *client;
};

static void add(struct store *s, const char *type, int at_ms, const struct step *steps, int nr)
{
	struct span spans[64] = { 0 };
	struct buf attrs[64] = { 0 };
	struct request_body body = { .spans = spans, .nr_spans = (size_t)nr };
	struct request r = { .type = str_of(type), .confidence = 0.75F };
	struct error err;
	int64_t t = RUN_START + at_ms * NS_MS;

	for (int i = 0; i < nr; i++) {
		if (steps[i].message)
			attr_add_int(&attrs[i], STR("message"), steps[i].message);
		if (steps[i].client)
			attr_add_str(&attrs[i], STR("from"), str_of(steps[i].client));
		spans[i] = (struct span){ .start = t + steps[i].start * NS_MS,
					  .end = t + steps[i].end * NS_MS,
					  .parent = steps[i].parent < 0 ? SPAN_NONE
									: (uint32_t)steps[i].parent,
					  .name = STR("work"),
					  .node = str_of(steps[i].node),
					  .confidence = 0.5F,
					  .attrs = buf_str(&attrs[i]) };
	}
	r.start = spans[0].start;
	r.end = spans[0].end;
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	for (int i = 0; i < nr; i++)
		buf_done(&attrs[i]);
}

#define ADD(s, at, ...) \
	add(s, "work", at, (const struct step[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step)))

/* What the paths of a run are, one a line, as the JSON has them. */
static void paths_are(struct store *s, const char *want)
{
	struct json *j = json_new();
	struct buf out = { 0 }, got = { 0 };
	struct json_value v;
	struct str lines;
	int r;

	ASK(s, "paths", &out, &r, );
	assert_int_equal(r, 0);
	for (lines = buf_str(&out); run_next(j, &lines, &v);)
		buf_fmt(&got, STR_FMT " %d\n", STR_ARG(run_str(v, "path")),
			(int)run_int(v, "count"));
	assert_str_equal(buf_str(&got), want);
	buf_done(&got);
	buf_done(&out);
	json_free(j);
}

static void a_pattern_has_the_time_of_every_hop(void **state)
{
	struct store *s = run_new();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v, hop;
	struct json_walk it;
	struct str lines;
	int got, at = 0;
	static const struct {
		const char *node;
		int depth;
		double mean, self, delay;
	} want[] = { { "WS1", 0, 22, 8, 0 },
		     { "AUTH", 1, 6, 4, 2 },
		     { "DB1", 2, 2, 2, 1 },
		     { "AP1", 1, 8, 3, 12 },
		     { "DB2", 2, 5, 5, 1 } };

	(void)state;
	ADD(s, 0, { "WS1", -1, 0, 20 }, { "AUTH", 0, 2, 8 }, { "DB1", 1, 3, 5 },
	    { "AP1", 0, 12, 18 }, { "DB2", 3, 13, 16 });
	ADD(s, 100, { "WS1", -1, 0, 24 }, { "AUTH", 0, 2, 8 }, { "DB1", 1, 3, 5 },
	    { "AP1", 0, 12, 22 }, { "DB2", 3, 13, 20 });
	run_finish(s);
	ASK(s, "paths", &out, &got, );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "path"), "WS1(AUTH(DB1),AP1(DB2))");
	assert_int_equal(run_int(v, "count"), 2);
	assert_int_equal(run_int(v, "mean"), 22 * NS_MS);
	assert_int_equal(run_int(v, "p50"), 20 * NS_MS);
	assert_int_equal(run_int(v, "p99"), 24 * NS_MS);
	assert_int_equal(run_int(v, "total"), 44 * NS_MS);
	assert_true(run_double(v, "confidence") == 0.75);
	for (it = json_walk(json_get(v, STR("hops"))); json_next(&it); at++) {
		hop = it.value;
		assert_str_equal(run_str(hop, "node"), want[at].node);
		assert_int_equal(run_int(hop, "depth"), want[at].depth);
		assert_int_equal(run_int(hop, "mean"), want[at].mean * NS_MS);
		assert_int_equal(run_int(hop, "self"), want[at].self * NS_MS);
		assert_int_equal(run_int(hop, "delay"), want[at].delay * NS_MS);
	}
	assert_int_equal(at, 5);
	assert_false(run_next(j, &lines, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void the_most_time_in_all_comes_first(void **state)
{
	struct store *s = run_new();

	(void)state;
	for (int i = 0; i < 5; i++)
		ADD(s, 10 * i, { "A", -1, 0, 3 });
	ADD(s, 100, { "B", -1, 0, 40 });
	ADD(s, 200, { "A", -1, 0, 30 }, { "B", 0, 1, 2 });
	run_finish(s);
	paths_are(s, "B 1\nA(B) 1\nA 5\n");
	store_close(s);
}

static void work_on_the_callers_node_is_the_callers_but_a_message_to_itself_is_a_call(void **state)
{
	struct store *s = run_new();

	(void)state;
	ADD(s, 0, { "A", -1, 0, 9 }, { "A", 0, 1, 8 }, { "B", 1, 2, 7 }, { "B", 2, 3, 6 },
	    { "", 3, 4, 5 }, { "C", 4, 4, 5 });
	ADD(s, 100, { "A", -1, 0, 4, 1 }, { "A", 0, 1, 2, 2 });
	run_finish(s);
	paths_are(s, "A(B(C)) 1\nA(A) 1\n");
	store_close(s);
}

static void calls_stand_as_they_come_and_long_repetitions_are_folded(void **state)
{
	struct store *s = run_new();

	(void)state;
	ADD(s, 0, { "A", -1, 0, 90 }, { "C", 0, 5, 6 }, { "B", 0, 1, 2 }, { "B", 0, 7, 8 },
	    { "B", 0, 9, 10 });
	ADD(s, 100, { "A", -1, 0, 60 }, { "B", 0, 1, 2 }, { "C", 1, 1, 2 }, { "B", 0, 3, 4 },
	    { "C", 3, 3, 4 }, { "B", 0, 5, 6 }, { "C", 5, 5, 6 }, { "B", 0, 7, 8 },
	    { "C", 7, 7, 8 }, { "D", 0, 9, 10 });
	ADD(s, 200, { "A", -1, 0, 5 }, { "B", -1, 6, 7 }, { "", -1, 7, 8 });
	ADD(s, 300, { "a(b),c*", -1, 0, 1 }, { "say \"x\"", 0, 0, 1 });
	run_finish(s);
	paths_are(s, "A(B,C,B,B) 1\nA(B(C)*4,D) 1\nA,B,? 1\n\"a(b),c*\"(\"say \\\"x\\\"\") 1\n");
	store_close(s);
}

static void a_folded_hop_counts_every_call_and_begins_with_the_first(void **state)
{
	struct store *s = run_new();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v, hop = { 0 };
	struct json_walk it;
	struct str lines;
	int got;

	(void)state;
	ADD(s, 0, { "A", -1, 0, 50 }, { "DB", 0, 10, 11 }, { "DB", 0, 20, 22 }, { "DB", 0, 30, 33 },
	    { "DB", 0, 40, 46 });
	run_finish(s);
	ASK(s, "paths", &out, &got, );
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "path"), "A(DB*4)");
	for (it = json_walk(json_get(v, STR("hops"))); json_next(&it);)
		hop = it.value;
	assert_int_equal(run_int(hop, "calls"), 4);
	assert_int_equal(run_int(hop, "times"), 4);
	assert_int_equal(run_int(hop, "mean"), 3 * NS_MS);
	assert_int_equal(run_int(hop, "delay"), 10 * NS_MS);
	assert_int_equal(run_int(hop, "p99"), 6 * NS_MS);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void instances_name_the_messages_of_their_calls(void **state)
{
	struct store *s = run_new();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v, call;
	struct json_walk it;
	struct str lines;
	int got, at = 0;
	static const int message[] = { 3, 12, 15 }, parent[] = { 0, 3, 12 };
	static const char *const from[] = { "CL0", "WS1", "AUTH" };

	(void)state;
	ADD(s, 0, { "WS1", -1, 0, 9, 3, "CL0" }, { "AUTH", 0, 1, 8, 12 }, { "DB1", 1, 2, 3, 15 });
	ADD(s, 50, { "X", -1, 0, 9 }, { "X", 0, 0, 9 }, { "Y", 1, 2, 4 });
	run_finish(s);
	ASK(s, "paths", &out, &got, "instances", "", );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_int_equal(run_int(v, "instance"), 1);
	assert_str_equal(run_str(v, "path"), "WS1(AUTH(DB1))");
	assert_int_equal(run_int(v, "end") - run_int(v, "start"), 9 * NS_MS);
	for (it = json_walk(json_get(v, STR("calls"))); json_next(&it); at++) {
		call = it.value;
		assert_int_equal(run_int(call, "message"), message[at]);
		assert_int_equal(run_int(call, "parent"), parent[at]);
		assert_str_equal(run_str(call, "from"), from[at]);
		assert_true(run_double(call, "confidence") == 0.5);
	}
	assert_int_equal(at, 3);
	/* without messages: positions of spans; what is inside the caller's work is skipped */
	assert_true(run_next(j, &lines, &v));
	it = json_walk(json_get(v, STR("calls")));
	assert_true(json_next(&it) && json_next(&it));
	call = it.value;
	assert_int_equal(run_int(call, "message"), 3);
	assert_int_equal(run_int(call, "parent"), 1);
	assert_false(run_next(j, &lines, &v));
	ASK(s, "paths", &out, &got, "instance", "2", );
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "path"), "X(Y)");
	ASK(s, "paths", &out, &got, "instance", "3", );
	assert_true(got < 0);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void replicas_are_folded_into_one_and_listed(void **state)
{
	struct store *s = run_new();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v, hop, replica;
	struct json_walk it, in;
	struct str lines;
	int got, calls = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const char *web = i % 2 ? "web2" : "web1", *ap = i < 2 ? "ap-1" : "ap-2";

		ADD(s, i * 100, { web, -1, 0, 20 + i }, { ap, 0, 1, 9 }, { "db1", 1, 2, 3 },
		    { "db2", 1, 4, 5 });
	}
	/* side by side in the other order; the same two databases, but one of them twice */
	ADD(s, 900, { "web1", -1, 0, 20 }, { "ap-1", 0, 1, 9 }, { "db2", 1, 2, 3 },
	    { "db1", 1, 3, 5 });
	ADD(s, 990, { "web1", -1, 0, 5 }, { "ap-1", 0, 1, 3 }, { "db2", 1, 1, 2 },
	    { "db2", 1, 2, 3 });
	run_finish(s);
	ASK(s, "paths", &out, &got, "fold", "", );
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "path"), "web{1|2}(ap-{1|2}(db1,db2))");
	assert_int_equal(run_int(v, "count"), 5);
	assert_int_equal(run_int(v, "patterns"), 5);
	it = json_walk(json_get(v, STR("hops")));
	assert_true(json_next(&it));
	hop = it.value;
	for (in = json_walk(json_get(hop, STR("replicas"))); json_next(&in);) {
		replica = in.value;
		assert_str_equal(run_str(replica, "node"), calls ? "web2" : "web1");
		calls += (int)run_int(replica, "count");
	}
	assert_int_equal(calls, 5);
	assert_true(run_next(j, &lines, &v));
	assert_str_equal(run_str(v, "path"), "web1(ap-1(db2,db2))");
	assert_false(run_next(j, &lines, &v));
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void stems_are_names_without_what_tells_replicas_apart(void **state)
{
	static const char *const names[][2] = {
		{ "WS1", "WS" },
		{ "cart-12", "cart-" },
		{ "cart@host3", "cart" },
		{ "cart-7d9f8b6c5-x2x1z", "cart" },
		{ "10.0.0.5:5432", ":5432" },
		{ "[fd00::5]:80", ":80" },
		{ "10.0.0.5", "10.0.0.5" },
		{ "cart", "cart" },
		{ "42", "42" },
		{ "", "" },
		{ "a:80", "a:80" },
	};
	struct str part;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_str_equal(fold_stem(str_of(names[i][0]), &part), names[i][1]);
}

static void the_graph_counts_every_call_once(void **state)
{
	struct store *s = run_new();
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nodes = 0, edges = 0, ab = 0, client = 0;

	(void)state;
	ADD(s, 0, { "A", -1, 0, 9, 1, "C" }, { "B", 0, 1, 3 }, { "B", 0, 4, 8 });
	ADD(s, 50, { "B", -1, 0, 9 }, { "A", 0, 1, 8 }, { "B", 1, 2, 4 });
	run_finish(s);
	ASK(s, "paths", &out, &got, "graph", "", );
	assert_int_equal(got, 0);
	for (lines = buf_str(&out); run_next(j, &lines, &v);) {
		struct str section = run_str(v, "section"), from = run_str(v, "from");

		nodes += str_eq(section, STR("node"));
		edges += str_eq(section, STR("edge"));
		client += str_eq(from, STR("C"));
		if (!str_eq(from, STR("A")))
			continue;
		ab++;
		assert_str_equal(run_str(v, "to"), "B");
		assert_int_equal(run_int(v, "count"), 3);
		assert_true(run_double(v, "per_call") == 1.5);
		assert_int_equal(run_int(v, "mean"), 8 * NS_MS / 3);
		assert_int_equal(run_int(v, "delay"), 2 * NS_MS);
	}
	assert_int_equal(nodes, 2);
	assert_int_equal(edges, 4);
	assert_int_equal(ab, 1);
	assert_int_equal(client, 1);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

static void options_that_cannot_be_are_told(void **state)
{
	struct store *s = run_new();
	struct buf out = { 0 };
	int got;

	(void)state;
	ADD(s, 0, { "A", -1, 0, 9 });
	run_finish(s);
	ASK(s, "paths", &out, &got, "method", "guess", );
	assert_int_equal(got, -EINVAL);
	ASK(s, "paths", &out, &got, "method", "nesting", );
	assert_int_equal(got, 0);
	ASK(s, "paths", &out, &got, "limit", "x", );
	assert_int_equal(got, -EINVAL);
	ASK(s, "paths", &out, &got, "until", "1", );
	assert_int_equal(got, 1);
	buf_done(&out);
	store_close(s);
}

static void a_sketch_is_as_near_as_it_promises(void **state)
{
	struct sketch a = { 0 }, b = { 0 };
	struct dice dice = { 11 };
	int64_t *v = calloc(20000, sizeof(*v));
	static const double at[] = { 0, 0.01, 0.5, 0.9, 0.99, 1 };

	(void)state;
	assert_int_equal(sketch_percentile(&a, 0.5), 0);
	sketch_add(&b, INT64_MAX);
	sketch_add(&b, -5);
	assert_int_equal(sketch_percentile(&b, 0.5), 0);
	assert_int_equal(sketch_percentile(&b, 1), INT64_MAX);
	sketch_done(&b);
	for (int i = 0; i < 20000; i++) {
		v[i] = (int64_t)(dice_next(&dice) >> (dice_below(&dice, 40) + 10));
		sketch_add(i % 2 ? &a : &b, v[i]);
	}
	sketch_merge(&a, &b);
	stats_sort(v, 20000);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		double want = (double)stats_percentile(v, 20000, at[i]);
		double got = (double)sketch_percentile(&a, at[i]);

		assert_true(got >= want * (1 - 1.0 / SKETCH_STEPS) - 1);
		assert_true(got <= want * (1 + 1.0 / SKETCH_STEPS) + 1);
	}
	assert_true(a.bins.nr < SKETCH_STEPS * 56);
	sketch_done(&a);
	sketch_done(&b);
	free(v);
}

static void a_deep_and_a_wide_request_are_answered(void **state)
{
	enum { NR = 30000 };
	struct store *s = run_new();
	struct span *spans = calloc(NR, sizeof(*spans));
	struct request_body body = { .spans = spans, .nr_spans = NR };
	struct request r = {
		.type = STR("deep"), .start = RUN_START, .end = RUN_START + NR, .confidence = 1
	};
	struct buf out = { 0 };
	struct error err;
	int got;

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		spans[i] = (struct span){ .start = r.start + i,
					  .end = r.end,
					  .parent = i ? i - 1 : SPAN_NONE,
					  .node = i % 2 ? STR("A") : STR("B") };
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	for (uint32_t i = 1; i < NR; i++)
		spans[i].parent = 0;
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	run_finish(s);
	ASK(s, "paths", &out, &got, );
	assert_int_equal(got, 0);
	ASK(s, "paths", &out, &got, "fold", "", );
	assert_int_equal(got, 0);
	buf_done(&out);
	free(spans);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_has_the_time_of_every_hop),
		cmocka_unit_test(the_most_time_in_all_comes_first),
		cmocka_unit_test(
			work_on_the_callers_node_is_the_callers_but_a_message_to_itself_is_a_call),
		cmocka_unit_test(calls_stand_as_they_come_and_long_repetitions_are_folded),
		cmocka_unit_test(a_folded_hop_counts_every_call_and_begins_with_the_first),
		cmocka_unit_test(instances_name_the_messages_of_their_calls),
		cmocka_unit_test(replicas_are_folded_into_one_and_listed),
		cmocka_unit_test(stems_are_names_without_what_tells_replicas_apart),
		cmocka_unit_test(the_graph_counts_every_call_once),
		cmocka_unit_test(options_that_cannot_be_are_told),
		cmocka_unit_test(a_sketch_is_as_near_as_it_promises),
		cmocka_unit_test(a_deep_and_a_wide_request_are_answered),
	};

	return RUN(tests);
}
