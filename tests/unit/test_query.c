/* The language: what is read, how it is planned, and what is said of mistakes. */
#include "unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "query/order.h"
#include "query/parse.h"
#include "query/plan.h"
#include "query/sets.h"

static int plan_of(const char *text, struct plan *p, struct arena *arena, struct error *err)
{
	struct queries q;
	int got = query_parse(str_of(text), arena, &q, err);

	return got < 0 ? got : query_plan(p, &q, REWRITE_ALL, arena, err);
}

static void expect_advice(const char *text, const char *want)
{
	struct arena arena = { 0 };
	struct advices a = { 0 };
	struct error err = { 0 };
	struct buf b = { 0 };
	struct plan p;

	if (plan_of(text, &p, &arena, &err) < 0)
		fail_msg("%s", err.msg);
	plan_explain(&p, &arena, &a);
	for (size_t i = 0; i < a.v.nr; i++)
		vec_each (&a.v.v[i].operations, op) {
			if (op == a.v.v[i].operations.v)
				buf_fmt(&b, "A%zu: ", i + 1);
			else
				buf_add(&b, STR("    "));
			buf_fmt(&b, STR_FMT "\n", STR_ARG(*op));
		}
	assert_str_equal(buf_str(&b), want);
	buf_done(&b);
	advices_done(&a);
	query_plan_done(&p);
	arena_done(&arena);
}

static void the_second_query_of_the_paper_has_its_advice(void **state)
{
	(void)state;
	expect_advice("Q2: From incr In DataNodeMetrics.incrBytesRead\n"
		      "    Join cl In First(ClientProtocols) On cl -> incr\n"
		      "    GroupBy cl.procName\n"
		      "    Select cl.procName, SUM(incr.delta)",
		      "A1: OBSERVE procName\n"
		      "    PACK-FIRST procName\n"
		      "A2: OBSERVE delta\n"
		      "    UNPACK procName\n"
		      "    EMIT procName, SUM(delta)\n");
}

static void the_seventh_query_filters_where_both_sides_are_known(void **state)
{
	(void)state;
	expect_advice("Q7: From DNop In DN.DataTransferProtocol\n"
		      "Join getloc In NN.GetBlockLocations\n"
		      "On getloc -> DNop\n"
		      "Join st In StressTest.DoNextOp On st -> getloc\n"
		      "Where st.host != DNop.host\n"
		      "GroupBy DNop.host, getloc.replicas\n"
		      "Select DNop.host, getloc.replicas, COUNT",
		      "A1: OBSERVE st.host\n"
		      "    PACK st.host, COUNT\n"
		      "A2: OBSERVE replicas\n"
		      "    UNPACK st.host, COUNT\n"
		      "    PACK st.host, replicas, COUNT\n"
		      "A3: OBSERVE DNop.host\n"
		      "    UNPACK st.host, replicas, COUNT\n"
		      "    FILTER st.host != DNop.host\n"
		      "    EMIT DNop.host, replicas, COUNT\n");
}

static void all_queries_of_the_paper_are_planned(void **state)
{
	static const char *const texts[] = {
		"Q1: From incr In DataNodeMetrics.incrBytesRead\nGroupBy incr.host\nSelect "
		"incr.host, "
		"SUM(incr.delta)",
		"Q3: From dnop In DN.DataTransferProtocol GroupBy dnop.host Select dnop.host, "
		"COUNT",
		"Q4: From getloc In NN.GetBlockLocations\n Join st In StressTest.DoNextOp On st -> "
		"getloc\n GroupBy st.host, getloc.src\n Select st.host, getloc.src, COUNT",
		"Q5: From getloc In NN.GetBlockLocations\n Join st In StressTest.DoNextOp On st -> "
		"getloc\n GroupBy st.host, getloc.replicas\n Select st.host, getloc.replicas, "
		"COUNT",
		"Q6: From DNop In DN.DataTransferProtocol\nJoin st In StressTest.DoNextOp On st -> "
		"DNop\nGroupBy st.host, DNop.host\nSelect st.host, DNop.host, COUNT",
		"Q8: From response In SendResponse\nJoin request In MostRecent(ReceiveRequest)\nOn "
		"request -> response\nSelect response.time \xe2\x88\x92 request.time\n"
		"Q9: From job In JobComplete\nJoin latencyMeasurement In Q8\nOn latencyMeasurement "
		"-> "
		"end\nSelect job.id, AVERAGE(latencyMeasurement)",
		"From e In RPCs",
		"From e In DataRPCs, ControlRPCs Where e.Size < 10 Select e.User, SUM(e.Cost) # "
		"done",
		"From e In X Join d In Disk On d -> e /* and */ Join c In All(C) On c -> d Select "
		"e.time",
		"From e In `odd name` Let kb = e.`http.size` / 1024 Where kb >= 1.5 and not (e.ok "
		"or "
		"e.host = 'a''b') Select kb As size",
		"From e In X Join n In (From y In Y Select COUNT As nr) On n -> e Select e.id, "
		"n.nr",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct arena arena = { 0 };
		struct error err = { 0 };
		struct plan p;

		if (plan_of(texts[i], &p, &arena, &err) < 0)
			fail_msg("%s\n%s", texts[i], err.msg);
		query_plan_done(&p);
		arena_done(&arena);
	}
}

static void mistakes_are_told_with_their_place(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "From e In X\nSelct e.time",
		  "line 2, column 1: From is expected, not 'Selct'; did you mean Select?\n  Selct "
		  "e.time\n  ^" },
		{ "From e In X Select evt.time", "'evt' is no name of a From, Join or Let; did you "
						 "mean 'e'?" },
		{ "From e In X Join y In Y On e -> y Select COUNT", "On y -> e" },
		{ "From e In X Select e", "which of its fields" },
		{ "From e In X Select e.a + 'b'", "a number is needed" },
		{ "From e In X Select HISTOGRAM(e.a) + 1",
		  "column 20: a HISTOGRAM is many numbers" },
		{ "From e In X Join s In (From y In Y Select HISTOGRAM(y.a) As h) On s -> e Select "
		  "s.h",
		  "column 43: a HISTOGRAM is many numbers, and cannot be joined" },
		{ "From e In X Where SUM(e.a) > 1 Select COUNT",
		  "aggregates stand in Select only" },
		{ "From e In X GroupBy e.a Select e.b, COUNT", "add it to GroupBy" },
		{ "From e In First(X) Select COUNT", "stand in a Join" },
		{ "From e In X Join f In FirstN(X) On f -> e", "how many" },
		{ "From e In 'X'", "a name is expected" },
		{ "From e In X Select PERCENTILE(e.a, 101)", "0 to 100" },
		{ "From e In X Select 'abc", "closing ' is missing" },
		{ "A: From e In A Select e.x", "deep" },
		{ "From e In X Where e.a < e.b < e.c", "'and' between comparisons" },
		{ "", "the query ends" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena arena = { 0 };
		struct error err = { 0 };
		struct plan p;

		if (plan_of(cases[i].text, &p, &arena, &err) >= 0)
			fail_msg("not told: %s", cases[i].text);
		if (!strstr(err.msg, cases[i].said))
			fail_msg("%s: %s", cases[i].text, err.msg);
		arena_done(&arena);
	}
}

static void collect(void *ctx, uint32_t number)
{
	uint64_t *sum = ctx;

	*sum = *sum * 31 + number;
}

static void sets_with_the_same_numbers_are_one(void **state)
{
	struct sets s = { 0 };
	uint32_t up = 0, down = 0, half = 0;
	uint64_t sum = 0, want = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		up = down = half = 0;
		for (uint32_t i = 0; i < 1000; i++) {
			up = sets_add(&s, up, i * 7);
			down = sets_add(&s, down, (999 - i) * 7);
			if (i < 500)
				half = sets_add(&s, half, i * 14);
		}
		assert_int_equal(up, down);
		assert_int_equal(sets_join(&s, half, up), up);
		sum = want = 0;
		sets_each(&s, up, collect, &sum);
		for (uint32_t i = 0; i < 1000; i++)
			collect(&want, i * 7);
		assert_true(sum == want);
		sets_reset(&s);
	}
	sets_done(&s);
}

static void order_follows_causes_where_clocks_do_not(void **state)
{
	/* 0 -> 1 -> 2 with clocks that run backwards, 3 and 4 before each other, 5 alone */
	const int64_t ns[] = { 30, 20, 10, 5, 6, 1 };
	const uint64_t at[] = { 0, 0, 1, 2, 3, 4, 4 };
	const uint32_t before[] = { 0, 1, 4, 3 };
	const struct happened h = { 6, ns, at, before };
	uint32_t place[6];
	struct order o;

	(void)state;
	order_make(&o, &h);
	for (uint32_t i = 0; i < 6; i++)
		place[o.events[i]] = i;
	assert_true(place[0] < place[1] && place[1] < place[2]);
	assert_int_equal(o.nr_circular, 1);
	assert_int_equal(o.nr_ends, 3);
	assert_int_equal(o.events[0], 5);
	order_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_query_of_the_paper_has_its_advice),
		cmocka_unit_test(the_seventh_query_filters_where_both_sides_are_known),
		cmocka_unit_test(all_queries_of_the_paper_are_planned),
		cmocka_unit_test(mistakes_are_told_with_their_place),
		cmocka_unit_test(sets_with_the_same_numbers_are_one),
		cmocka_unit_test(order_follows_causes_where_clocks_do_not),
	};

	return RUN(tests);
}
