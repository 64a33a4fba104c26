/* Logs of well-known programs, in lines of our own making: what is read of the last one of each. */
#include "unit.h"

#include <stdio.h>

#include "layout_case.h"

struct expected {
	const char *of, *text;
	size_t nr;
	const char *time, *level, *thread, *point, *key, *title;
	int64_t duration; /* 0: none */
};

#define HEX32 "4bf92f3577b34da6a3ce929d0e0e4736"
#define UUID "9dc02223-da42-4384-a68a-0b489b28b008"

static const struct expected kinds[] = {
	{ .of = "Celery",
	  .text = "[2024-01-02 03:04:05,678: INFO/MainProcess] Task shop.charge[" UUID
		  "] received\n"
		  "[2024-01-02 03:04:06,678: INFO/ForkPoolWorker-3] Task shop.charge[" UUID
		  "] succeeded in 0.25s: None\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = "info",
	  .thread = "ForkPoolWorker-3",
	  .key = UUID,
	  .duration = 250 * NS_MS },
	{ .of = "Airflow",
	  .text = "[2024-01-02T03:04:05.678+0000] {taskinstance.py:1157} INFO - Dependencies met\n"
		  "[2024-01-02T03:04:06.678+0000] {local_task_job.py:99} WARNING - slow\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = "warn",
	  .point = "local_task_job.py:99" },
	{ .of = "Rails with tags",
	  .text = "I, [2024-01-02T03:04:05.678901 #47]  INFO -- : [" UUID
		  "] Processing by OrdersController#show as JSON\n"
		  "I, [2024-01-02T03:04:06.000001 #47]  INFO -- : [" UUID
		  "] Started GET \"/orders/7\" for 10.0.0.1\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000001000",
	  .level = "info",
	  .key = UUID,
	  .title = "GET /orders/<*>" },
	{ .of = "Cassandra",
	  .text = "INFO  [main] 2024-01-02 03:04:05,678 StorageService.java:721 - starting\n"
		  "WARN  [Native-1:3] 2024-01-02 03:04:06,000 QueryProcessor.java:12 - slow\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = "warn",
	  .thread = "Native-1:3",
	  .point = "QueryProcessor.java:12" },
	{ .of = "Python basicConfig",
	  .text = "INFO:2024-01-02 03:04:05,678:app.orders:opened\n"
		  "WARNING:2024-01-02 03:04:06,678:app.orders:slow\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = "warn",
	  .point = "app.orders" },
	{ .of = "env_logger",
	  .text = "[2024-01-02T03:04:05Z INFO  orders::api] took 12ms\n"
		  "[2024-01-02T03:04:06Z WARN  orders::db::pool] took 13ms\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = "warn",
	  .point = "orders::db::pool",
	  .duration = 13 * NS_MS },
	{ .of = "gin",
	  .text = "[GIN] 2024/01/02 - 03:04:05 | 200 |    1.5ms |  10.0.0.1 | GET      \"/\"\n"
		  "[GIN] 2024/01/02 - 03:04:06 | 200 |    2.5ms |  10.0.0.1 | POST     \"/a/1\"\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .title = "POST /a/<*>",
	  .duration = 2500 * NS_US },
	{ .of = "MongoDB before 4.4",
	  .text = "2024-01-02T03:04:05.678+0000 I NETWORK  [conn7] end connection 10.0.0.1:5\n"
		  "2024-01-02T03:04:06.678+0000 I COMMAND  [conn8] command a.b command: find "
		  "protocol:op_msg 112ms\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = "info",
	  .thread = "conn8",
	  .point = "COMMAND",
	  .duration = 112 * NS_MS },
	{ .of = "PostgreSQL of RDS",
	  .text = "2024-01-02 03:04:05 UTC:10.0.0.1(55):shop@orders:[900]:LOG:  checkpoint\n"
		  "2024-01-02 03:04:06 UTC:10.0.0.1(55):shop@orders:[901]:LOG:  duration: 12.5 ms  "
		  "statement: SELECT 1\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = "info",
	  .thread = "901",
	  .duration = 12500 * NS_US },
	{ .of = "PostgreSQL that logs nothing but durations",
	  .text = "2024-01-02 03:04:05.678 UTC [900] LOG:  duration: 1.5 ms  statement: SELECT 1\n"
		  "2024-01-02 03:04:06.678 UTC [901] LOG:  duration: 2.5 ms  statement: SELECT 2\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = "info",
	  .thread = "901",
	  .title = "statement: SELECT <*>",
	  .duration = 2500 * NS_US },
	{ .of = "RabbitMQ",
	  .text = "2024-01-02 03:04:05.678901+00:00 [info] <0.217.0> accepting connection\n"
		  "2024-01-02 03:04:06.678901+00:00 [warning] <0.1218.0> closing connection\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901000",
	  .level = "warn",
	  .thread = "<0.1218.0>" },
	{ .of = "Elixir",
	  .text = "03:04:05.678 request_id=F8a7b6c5d4e3f2a1 [info] GET /orders\n"
		  "03:04:06.678 request_id=F8a7b6c5d4e3f2a1 [info] Sent 200 in 12ms\n",
	  .nr = 2,
	  .level = "info",
	  .key = "F8a7b6c5d4e3f2a1",
	  .duration = 12 * NS_MS },
	{ .of = "Lambda",
	  .text = "2024-01-02T03:04:05.678Z\tSTART RequestId: " UUID " Version: $LATEST\n"
		  "2024-01-02T03:04:06.678Z\t" UUID "\tINFO\tcharged\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .key = UUID },
	{ .of = "Envoy",
	  .text = "[2024-01-02T03:04:05.678Z] \"GET /a HTTP/1.1\" 200 - 0 100 12 11 \"-\" \"curl\" "
		  "\"" UUID "\" \"orders\" \"10.0.0.9:80\"\n"
		  "[2024-01-02T03:04:06.678Z] \"GET /a/7 HTTP/1.1\" 503 UF 0 100 22 - \"-\" "
		  "\"curl\" "
		  "\"" UUID "\" \"orders\" \"10.0.0.9:80\"\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.700000000",
	  .level = "error",
	  .key = UUID,
	  .title = "GET /a/<*>",
	  .duration = 22 * NS_MS },
	{ .of = "Tomcat, in milliseconds",
	  .text = "10.0.0.1 - - [02/Jan/2024:03:04:05 +0000] \"GET /a HTTP/1.1\" 200 900 3\n"
		  "10.0.0.1 - - [02/Jan/2024:03:04:06 +0000] \"GET /b HTTP/1.1\" 200 900 250\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.250000000",
	  .title = "GET /b",
	  .duration = 250 * NS_MS },
	{ .of = "Apache, in microseconds",
	  .text = "10.0.0.1 - - [02/Jan/2024:03:04:05 +0000] \"GET /a HTTP/1.1\" 200 900 3012\n"
		  "10.0.0.1 - - [02/Jan/2024:03:04:06 +0000] \"GET /b HTTP/1.1\" 200 900 250\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000250000",
	  .title = "GET /b",
	  .duration = 250 * NS_US },
	{ .of = "Traefik",
	  .text = "10.0.0.1 - - [02/Jan/2024:03:04:05 +0000] \"GET /a HTTP/1.1\" 200 9 \"-\" \"-\" "
		  "1 "
		  "\"web\" \"http://10.0.0.9\" 12ms\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.012000000",
	  .title = "GET /a",
	  .duration = 12 * NS_MS },
	{ .of = "CloudFront",
	  .text = "#Version: 1.0\n#Fields: date time sc-bytes cs-method cs-uri-stem sc-status "
		  "time-taken\n"
		  "2024-01-02\t03:04:05\t900\tGET\t/a/7\t200\t0.125\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.000000000",
	  .title = "GET /a/<*>",
	  .duration = 125 * NS_MS },
	{ .of = "Envoy in JSON: the start is told",
	  .text = "{\"start_time\":\"2024-01-02T03:04:05.678Z\",\"method\":\"GET\",\"path\":\"/a\","
		  "\"response_code\":200,\"duration\":22,\"request_id\":\"" UUID "\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.700000000",
	  .key = UUID,
	  .title = "GET /a",
	  .duration = 22 * NS_MS },
	{ .of = "audit of Kubernetes: both ends are told",
	  .text = "{\"kind\":\"Event\",\"auditID\":\"" UUID "\",\"verb\":\"get\","
		  "\"requestURI\":\"/api/v1/pods/a1\","
		  "\"requestReceivedTimestamp\":\"2024-01-02T03:04:05.000000Z\","
		  "\"stageTimestamp\":\"2024-01-02T03:04:05.125000Z\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.125000000",
	  .key = UUID,
	  .title = "get /api/v1/pods/<*>",
	  .duration = 125 * NS_MS },
	{ .of = "Google: the trace is a path",
	  .text = "{\"timestamp\":\"2024-01-02T03:04:05.678Z\",\"severity\":\"INFO\","
		  "\"trace\":\"projects/p/traces/" HEX32 "\",\"message\":\"a\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = "info",
	  .key = HEX32 },
	{ .of = "Serilog",
	  .text = "{\"@t\":\"2024-01-02T03:04:05.678Z\",\"@mt\":\"placed "
		  "{Order}\",\"@l\":\"Warning\","
		  "\"@tr\":\"" HEX32 "\",\"@sp\":\"00f067aa0ba902b7\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = "warn",
	  .key = HEX32,
	  .title = "placed {Order}" },
	{ .of = "an id in capitals is the one of the traces",
	  .text = "2024-01-02 03:04:05,678 INFO a trace_id=4BF92F3577B34DA6A3CE929D0E0E4736 b\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = "info",
	  .key = HEX32 },
	{ .of = "log4j2 in JSON: the fraction stands apart",
	  .text = "{\"instant\":{\"epochSecond\":1704164645,\"nanoOfSecond\":678901000},"
		  "\"level\":\"WARN\",\"loggerName\":\"a.B\",\"message\":\"c\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678901000",
	  .level = "warn",
	  .point = "a.B" },
	{ .of = "a JSON array, one member a line",
	  .text = "[{\"time\":\"2024-01-02T03:04:05Z\",\"msg\":\"a\"},\n"
		  " {\"time\":\"2024-01-02T03:04:06Z\",\"msg\":\"b\",\"level\":\"warn\"}]\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = "warn" },
	{ .of = "JSON and text in one file",
	  .text = "{\"time\":\"2024-01-02T03:04:05Z\",\"msg\":\"a\"}\n"
		  "2024-01-02 03:04:06,678 WARN [main] a.B: went wrong\n\tat a.B.c(B.java:7)\n"
		  "{\"time\":\"2024-01-02T03:04:07Z\",\"msg\":\"a\"}\n"
		  "2024-01-02 03:04:08,678 WARN [main] a.B: went wrong again\n",
	  .nr = 4,
	  .time = "2024-01-02 03:04:08.678000000",
	  .level = "warn",
	  .thread = "main",
	  .point = "a.B" },
	{ .of = "seconds of the epoch with a fraction",
	  .text = "{\"level\":\"info\",\"ts\":1704164645.678901,\"msg\":\"a\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678901000",
	  .level = "info" },
};

static unsigned differs(const char *of, const char *what, struct str got, const char *want)
{
	if (!want || str_eq(got, str_of(want)))
		return 0;
	print_error("%s: %s is '%.*s', not '%s'\n", of, what, (int)got.n, got.p, want);
	return 1;
}

static unsigned event_differs(const struct expected *e, const struct event *ev)
{
	int64_t duration = e->duration ? e->duration : -1;
	unsigned nr = 0;
	char time[40];

	case_time_text(ev->ns, time);
	nr += differs(e->of, "time", str_of(time), e->time);
	nr += differs(e->of, "level", str_of(level_name(ev->level)), e->level);
	nr += differs(e->of, "thread", ev->thread, e->thread);
	nr += differs(e->of, "point", ev->point, e->point);
	nr += differs(e->of, "key", ev->key, e->key ? e->key : "");
	nr += differs(e->of, "title", ev->title, e->title);
	if (ev->duration != duration) {
		print_error("%s: duration is %lld\n", e->of, (long long)ev->duration);
		nr++;
	}
	return nr;
}

static void every_kind_tells_what_it_holds(void **state)
{
	unsigned nr_wrong = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct expected *e = &kinds[i];
		struct layout_case c = case_learn(str_of(e->text), "UTC");

		if (c.r < 0 || c.nr_events != e->nr) {
			print_error("%s: %zu events, not %zu\n", e->of, c.nr_events, e->nr);
			nr_wrong++;
		} else {
			nr_wrong += event_differs(e, &c.events[c.nr_events - 1]);
		}
		case_done(&c);
	}
	assert_int_equal(nr_wrong, 0);
}

/* Ten requests in one second, each with this duration. */
static int64_t bare_duration(const char *duration)
{
	char text[2000];
	struct layout_case c;
	size_t n = 0;
	int64_t ns;

	for (unsigned i = 0; i < 10; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "{\"time\":\"2024-01-02T03:04:05.%u00Z\",\"msg\":\"a\","
				      "\"duration\":%s}\n",
				      i, duration);
	c = case_learn((struct str){ text, n }, "UTC");
	assert_int_equal(c.nr_events, 10);
	ns = c.events[9].duration;
	case_done(&c);
	return ns;
}

static void a_duration_without_unit_is_one_that_can_be(void **state)
{
	assert_int_equal(bare_duration("0.25"), 250 * NS_MS);
	assert_int_equal(bare_duration("25.5"), 25500 * NS_US); /* 25 s do not fit in one */
	assert_int_equal(bare_duration("25"), 25 * NS_MS);
	assert_int_equal(bare_duration("25000000"), 25 * NS_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_tells_what_it_holds),
		cmocka_unit_test(a_duration_without_unit_is_one_that_can_be),
	};

	return RUN(tests);
}
