#include "unit.h"

#include "base/error.h"
#include "base/time.h"
#include "source/layout.h"
#include "source/spent.h"

static int64_t spent(const char *text)
{
	const struct layout_hints hints = { .zone = STR("UTC") };
	struct layout *layout = NULL;
	struct layout_worker *worker;
	struct error err;
	int64_t ns;

	assert_int_equal(layout_compile(&layout, "%d %m", &hints, &err), 0);
	worker = layout_worker_new(layout);
	ns = spent_find(str_of(text), worker);
	layout_worker_free(worker);
	layout_free(layout);
	return ns;
}

static void check(const char *text, int64_t ns)
{
	if (spent(text) != ns)
		fail_msg("'%s' took %lld, not %lld", text, (long long)spent(text), (long long)ns);
}

static void names_with_numbers_are_durations(void **state)
{
	check("stored took=12ms", 12 * NS_MS);
	check("stored duration_ms=12 ok", 12 * NS_MS);
	check("Completed request:{\"correlationId\":7,\"totalTimeMs\":3.5,\"x\":1}", 3500 * NS_US);
	check("[orders][2] took[9ms], took_millis[9], total_hits[3 hits]", 9 * NS_MS);
	check("(bytes, checkpointDuration=250 ms, finalizationTime=3 ms)", 250 * NS_MS);
	check("REPORT RequestId: a\tDuration: 12.50 ms\tBilled Duration: 13 ms", 12500 * NS_US);
	check("\"GET /v2/servers HTTP/1.1\" status: 200 len: 1893 time: 0.2477829", 247782900);
	check("at=info dyno=web.1 connect=1ms service=18ms status=200", 18 * NS_MS);
	check("service=7 started", -1);
	check("elapsed=0.25", 250 * NS_MS);
	check("latency=1m30.5s", 90500 * NS_MS);
}

static void a_unit_in_brackets_is_that_of_the_name(void **state)
{
	check("op: READ, offset: 0, duration(ns): 207795283", 207795283);
	check("duration(ns): 207795283, bytes: 5", 207795283);
	check("read done, elapsed(ms)=12", 12 * NS_MS);
	check("Duration(s): 1.5 seen", 1500 * NS_MS);
	check("latency (us): 250", 250 * NS_US);
	check("size(ns): 12", -1);
	check("duration(kb): 12", -1);
	check("max duration(ms): 12", -1);
	check("duration(): 12", -1);
	check("duration(ms): 12:30", -1);
	check(")): 12", -1);
	check("): 12", -1);
}

static void words_tell_of_what_is_done(void **state)
{
	check("stock check took 66 ms", 66 * NS_MS);
	check("Completed 200 OK in 12ms (Views: 1.2ms)", 12 * NS_MS);
	check("Task shop.charge[7] succeeded in 0.125s: None", 125 * NS_MS);
	check("Finished task 3.0 in stage 2.0 (TID 9) in 80 ms on 10.0.0.1", 80 * NS_MS);
	check("Job 3 finished: collect at x.py:7, took 4.5 s", 4500 * NS_MS);
	check("  Order Load (0.4ms)  SELECT 1", 400 * NS_US);
	check("loaded in 5 milliseconds", 5 * NS_MS);
}

static void what_is_announced_was_not_spent(void **state)
{
	check("connection refused, retrying in 5000 ms", -1);
	check("connection closed, will reconnect in 5 s", -1);
	check("session expires in 30 minutes", -1);
	check("timeout=30s, interval 20 ms", -1);
	check("NMTokenKeyRollingInterval: 86400000ms and NMTokenKeyActivationDelay: 900000ms", -1);
	check("pathStats.slotDuration = 15", -1);
	check("expected-duration=100ms", -1);
	check("starttimems=1715677923000 done", -1);
	check("listening on 10.0.0.1:8080 with 4 threads", -1);
	check("read 12 messages", -1);
	check("", -1);
	check("took ", -1);
	check("took 99999999999999999999999999 ms", -1);
}

static void lines_of_requests_carry_theirs(void **state)
{
	check("GET /orders/7 200 12.250 ms - 99", 12250 * NS_US);
	check("200 |    1.25ms |   127.0.0.1 | GET      \"/orders\"", 1250 * NS_US);
	check("12ms | GET /orders", 12 * NS_MS);
	check("200 |    1.25ms |   127.0.0.1 | nothing asked", -1);
}

static void timers_of_proxies_are_read(void **state)
{
	check("10.0.1.2:33 [x] in back/srv1 1/0/2/30/33 200 2750 - - ---- \"GET / HTTP/1.1\"",
	      33 * NS_MS);
	check("app/lb/5 10.0.0.1:28 10.0.0.9:80 0.001 0.030 0.002 200 200 34 366 \"x\"",
	      33 * NS_MS);
	check("paths a 1/2/3/4/5 of 200 files", -1);
}

static void the_end_of_a_line_may_tell(void **state)
{
	check("command shop.orders command: find protocol:op_msg 112ms", 112 * NS_MS);
	check("Displayed com.example/.Main: +412ms", 412 * NS_MS);
	check("the timeout is 300ms", -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_with_numbers_are_durations),
		cmocka_unit_test(a_unit_in_brackets_is_that_of_the_name),
		cmocka_unit_test(words_tell_of_what_is_done),
		cmocka_unit_test(what_is_announced_was_not_spent),
		cmocka_unit_test(lines_of_requests_carry_theirs),
		cmocka_unit_test(timers_of_proxies_are_read),
		cmocka_unit_test(the_end_of_a_line_may_tell),
	};

	return RUN(tests);
}
