#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "layout_case.h"
#include "source/undated.h"

/* What the last event of a text must be; NULL is not looked at. */
struct expected {
	const char *of, *text;
	size_t nr;
	const char *time;
	enum level level;
	const char *node, *thread, *point, *key, *span, *title;
	int64_t duration;
};

/* Says what differs, so that one run shows all that do. */
static unsigned differs(const char *of, const char *what, struct str got, const char *want)
{
	if (!want || str_eq(got, str_of(want)))
		return 0;
	print_error("%s: %s is '%.*s', not '%s'\n", of, what, (int)got.n, got.p, want);
	return 1;
}

static unsigned event_differs(const struct expected *e, const struct event *ev)
{
	unsigned nr = 0;
	char time[40];

	case_time_text(ev->ns, time);
	nr += differs(e->of, "time", str_of(time), e->time);
	nr += differs(e->of, "level", str_of(level_name(ev->level)), level_name(e->level));
	nr += differs(e->of, "node", ev->node, e->node ? e->node : "file");
	nr += differs(e->of, "thread", ev->thread, e->thread);
	nr += differs(e->of, "point", ev->point, e->point);
	nr += differs(e->of, "key", ev->key, e->key);
	nr += differs(e->of, "span", ev->span, e->span);
	nr += differs(e->of, "title", ev->title, e->title);
	if (ev->duration != (e->duration ? e->duration : -1)) {
		print_error("%s: duration is %lld\n", e->of, (long long)ev->duration);
		nr++;
	}
	return nr;
}

static void check(const struct expected *expected, size_t nr)
{
	unsigned nr_wrong = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct expected *e = &expected[i];
		struct layout_case c = case_learn(str_of(e->text), "UTC");

		if (c.r < 0 || c.nr_events != e->nr) {
			print_error("%s: %zu events, not %zu %s\n", e->of, c.nr_events, e->nr,
				    c.err.msg);
			nr_wrong++;
		} else {
			nr_wrong += event_differs(e, &c.events[c.nr_events - 1]);
		}
		case_done(&c);
	}
	assert_int_equal(nr_wrong, 0);
}

static const struct expected texts[] = {
	{ .of = "log4j",
	  .text = "2024-01-02 03:04:05,678 INFO  [main] org.acme.Store: opened\n"
		  "2024-01-02 03:04:06,001 WARN  [DataXceiver for client x at /a:1 [Receiving "
		  "block b]] org.acme.Disk: slow\n"
		  "java.io.IOException: gone\n\tat org.acme.Disk.read(Disk.java:12)\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.001000000",
	  .level = LEVEL_WARN,
	  .thread = "DataXceiver for client x at /a:1 [Receiving block b]",
	  .point = "org.acme.Disk" },
	{ .of = "Spring Boot 2",
	  .text = "2024-01-02 03:04:05.678  INFO 4711 --- [           main] o.acme.App             "
		  "                 : Started\n"
		  "2024-01-02 03:04:06.678 ERROR 4711 --- [nio-8080-exec-1] o.acme.web.Orders      "
		  "                 : failed\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = LEVEL_ERROR,
	  .thread = "nio-8080-exec-1",
	  .point = "o.acme.web.Orders" },
	{ .of = "Spring Boot 3 with ids",
	  .text = "2024-01-02T03:04:05.678+01:00  INFO 1 --- [shop] [nio-80-exec-1] "
		  "[4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7] c.a.Orders : placed\n"
		  "2024-01-02T03:04:06.678+01:00  INFO 1 --- [shop] [nio-80-exec-2] "
		  "[5bf92f3577b34da6a3ce929d0e0e4736-10f067aa0ba902b7] c.a.Orders : paid\n",
	  .nr = 2,
	  .time = "2024-01-02 02:04:06.678000000",
	  .level = LEVEL_INFO,
	  .thread = "nio-80-exec-2",
	  .point = "c.a.Orders",
	  .key = "5bf92f3577b34da6a3ce929d0e0e4736",
	  .span = "10f067aa0ba902b7" },
	{ .of = "Spring Cloud Sleuth",
	  .text = "2024-01-02 03:04:05.678  INFO [shop,,] 1 --- [main] c.a.App : up\n"
		  "2024-01-02 03:04:06.678  INFO [shop,5bf92f3577b34da6,10f067aa0ba902b7] 1 --- "
		  "[exec-2] c.a.Orders : paid\n"
		  "2024-01-02 03:04:07.678  INFO [shop,6bf92f3577b34da6,20f067aa0ba902b7] 1 --- "
		  "[exec-3] c.a.Orders : paid\n",
	  .nr = 3,
	  .time = "2024-01-02 03:04:07.678000000",
	  .level = LEVEL_INFO,
	  .thread = "exec-3",
	  .point = "c.a.Orders",
	  .key = "6bf92f3577b34da6",
	  .span = "20f067aa0ba902b7" },
	{ .of = "logback",
	  .text = "10:11:12.131 [main] DEBUG c.a.b.Starter - begin\n"
		  "10:11:13.131 [pool-1-thread-2] INFO  c.a.b.Worker - done\n",
	  .nr = 2,
	  .time = "2024-06-01 10:11:13.131000000",
	  .level = LEVEL_INFO,
	  .thread = "pool-1-thread-2",
	  .point = "c.a.b.Worker" },
	{ .of = "Cassandra",
	  .text = "INFO  [main] 2024-01-02 03:04:05,678 Keyspace.java:88 - made\n"
		  "DEBUG [Reads-1] 2024-01-02 03:04:05,679 Read.java:99 - read\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.679000000",
	  .level = LEVEL_DEBUG,
	  .thread = "Reads-1",
	  .point = "Read.java:99" },
	{ .of = "ZooKeeper",
	  .text = "2024-01-02 03:04:05,678 [myid:1] - INFO  [main:QuorumPeer@91] - up\n"
		  "2024-01-02 03:04:05,679 [myid:1] - WARN  [NIO-2:NIOServer@33] - late\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.679000000",
	  .level = LEVEL_WARN,
	  .thread = "NIO-2",
	  .point = "NIOServer" },
	{ .of = "Kafka",
	  .text = "[2024-01-02 03:04:05,678] INFO [KafkaServer id=0] started "
		  "(kafka.server.KafkaServer)\n"
		  "[2024-01-02 03:04:05,679] WARN [Partition t-0] shrunk "
		  "(kafka.cluster.Partition)\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.679000000",
	  .level = LEVEL_WARN,
	  .point = "kafka.cluster.Partition" },
	{ .of = "Elasticsearch",
	  .text = "[2024-01-02T03:04:05,678][INFO ][o.e.n.Node               ] [es1] started\n"
		  "[2024-01-02T03:04:05,679][WARN ][o.e.c.Coordinator        ] [es1] late\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.679000000",
	  .level = LEVEL_WARN,
	  .node = "es1",
	  .point = "o.e.c.Coordinator" },
	{ .of = "Spark",
	  .text = "24/01/31 03:04:05 INFO SparkContext: Running\n"
		  "24/01/31 03:04:06 WARN TaskSetManager: Lost task\n",
	  .nr = 2,
	  .time = "2024-01-31 03:04:06.000000000",
	  .level = LEVEL_WARN,
	  .point = "TaskSetManager" },
	{ .of = "Tomcat",
	  .text = "02-Jan-2024 03:04:05.678 INFO [main] org.apache.catalina.core.Engine.start up\n"
		  "02-Jan-2024 03:04:06.678 SEVERE [http-1] org.apache.catalina.Pipe.run broken\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = LEVEL_ERROR,
	  .thread = "http-1",
	  .point = "org.apache.catalina.Pipe.run" },
	{ .of = "java.util.logging",
	  .text = "Jan 02, 2024 3:04:05 PM org.acme.Main run\nINFO: hello\n"
		  "Jan 02, 2024 3:04:06 PM org.acme.Main run\nSEVERE: oh\n",
	  .nr = 2,
	  .time = "2024-01-02 15:04:06.000000000",
	  .level = LEVEL_ERROR,
	  .point = "org.acme.Main" },
	{ .of = "Python logging",
	  .text = "2024-01-02 03:04:05,678 - shop.db - INFO - connected\n"
		  "2024-01-02 03:04:05,679 - shop.web - ERROR - refused\n"
		  "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.679000000",
	  .level = LEVEL_ERROR,
	  .point = "shop.web" },
	{ .of = "OpenStack",
	  .text = "2024-01-02 03:04:05.678 25746 INFO nova.api.server "
		  "[req-38101a0b-2096-447d-96ea-a692162415ae u p - - -] GET\n"
		  "2024-01-02 03:04:06.678 25746 INFO nova.api.server "
		  "[req-9bc36dd9-91c5-4314-898a-47625eb93b09 u p - - -] GET\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = LEVEL_INFO,
	  .thread = "25746",
	  .point = "nova.api.server" },
	{ .of = "Rails",
	  .text = "I, [2024-01-02T03:04:05.678901 #4711]  INFO -- : Started GET\n"
		  "E, [2024-01-02T03:04:06.678901 #4711] ERROR -- : Failed\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901000",
	  .level = LEVEL_ERROR,
	  .thread = "4711" },
	{ .of = "Go",
	  .text = "2009/11/10 23:00:00.000001 main.go:23: hello\n"
		  "2009/11/10 23:00:01.000002 serve.go:7: bye\n",
	  .nr = 2,
	  .time = "2009-11-10 23:00:01.000002000",
	  .level = LEVEL_NONE,
	  .point = "serve.go:7" },
	{ .of = "klog",
	  .text = "I0102 03:04:05.678901       1 server.go:42] listening\n"
		  "W0102 03:04:06.678901       7 reflector.go:7] slow\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901000",
	  .level = LEVEL_WARN,
	  .thread = "7",
	  .point = "reflector.go:7" },
	{ .of = "zap console",
	  .text = "2024-01-02T03:04:05.678Z\tINFO\tapi\tserve/main.go:12\tlistening\t{\"p\": 1}\n"
		  "2024-01-02T03:04:06.678Z\tERROR\tapi\tserve/main.go:14\tfailed\t{\"p\": 1}\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = LEVEL_ERROR,
	  .point = "api" },
	{ .of = "Redis",
	  .text = "1:C 25 Apr 2024 05:32:35.018 * Redis is starting\n"
		  "1:M 25 Apr 2024 05:32:36.018 # Server started\n",
	  .nr = 2,
	  .time = "2024-04-25 05:32:36.018000000",
	  .level = LEVEL_NONE,
	  .thread = "1" },
	{ .of = "PostgreSQL",
	  .text = "2024-01-02 03:04:05.678 CET [99] LOG:  started\n"
		  "2024-01-02 03:04:06.678 CET [99] LOG:  duration: 12.500 ms  statement: SELECT "
		  "1\n",
	  .nr = 2,
	  .time = "2024-01-02 02:04:06.678000000",
	  .level = LEVEL_INFO,
	  .thread = "99",
	  .duration = 12500000 },
	{ .of = "nginx error",
	  .text = "2024/01/02 03:04:05 [notice] 1#1: start\n"
		  "2024/01/02 03:04:06 [error] 29#30: *7 open() failed\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = LEVEL_ERROR,
	  .thread = "30" },
	{ .of = "Apache error",
	  .text = "[Tue Jan 02 03:04:05.678901 2024] [core:notice] [pid 1:tid 2] up\n"
		  "[Tue Jan 02 03:04:06.678901 2024] [proxy:error] [pid 1:tid 3] (111) refused\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901000",
	  .level = LEVEL_ERROR,
	  .thread = "3",
	  .point = "proxy" },
	{ .of = "logcat",
	  .text = "01-02 03:04:05.678  1234  5678 I ActivityManager: Start\n"
		  "01-02 03:04:06.678  1234  5679 E Disk: gone\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678000000",
	  .level = LEVEL_ERROR,
	  .thread = "5679",
	  .point = "Disk" },
	{ .of = "syslog of RFC 3164 with priority",
	  .text = "<34>Jan  2 03:04:05 web1 su[77]: failed for root\n"
		  "<30>Jan  2 03:04:06 web1 cron: ran\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = LEVEL_INFO,
	  .node = "web1",
	  .point = "cron" },
	{ .of = "rsyslog with full times",
	  .text = "2024-01-02T03:04:05.678901+02:00 web1 sshd[77]: Accepted\n"
		  "2024-01-02T03:04:06.678901+02:00 web1 kernel: up\n",
	  .nr = 2,
	  .time = "2024-01-02 01:04:06.678901000",
	  .level = LEVEL_NONE,
	  .node = "web1",
	  .point = "kernel" },
	{ .of = "syslog of RFC 5424",
	  .text = "<165>1 2024-01-02T03:04:05.678Z web1 shop 77 ID47 [x@1 iut=\"3\" "
		  "trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"] paid\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = LEVEL_INFO,
	  .node = "web1",
	  .thread = "77",
	  .point = "shop",
	  .key = "4bf92f3577b34da6a3ce929d0e0e4736" },
	{ .of = "dmesg",
	  .text = "[    0.000000] Linux version 6.1\n[    1.500000] pci found\n",
	  .nr = 2,
	  .time = "2024-06-01 12:00:00.000000000",
	  .level = LEVEL_NONE },
	{ .of = "day first",
	  .text = "02/01/2024 03:04:05 a\n13/01/2024 03:04:06 b\n",
	  .nr = 2,
	  .time = "2024-01-13 03:04:06.000000000" },
	{ .of = "month first",
	  .text = "01/02/2024 03:04:05 a\n01/13/2024 03:04:06 b\n",
	  .nr = 2,
	  .time = "2024-01-13 03:04:06.000000000" },
	{ .of = "month first, told by the order only",
	  .text = "01/11/2024 03:04:05 a\n01/12/2024 03:04:06 b\n02/01/2024 03:04:06 c\n",
	  .nr = 3,
	  .time = "2024-02-01 03:04:06.000000000" },
	{ .of = "twelve hours",
	  .text = "1/2/2024, 11:59:59 AM up\n1/2/2024, 12:00:01 PM noon\n1/20/2024, 1:00:01 PM x\n",
	  .nr = 3,
	  .time = "2024-01-20 13:00:01.000000000" },
	{ .of = "epoch with fraction",
	  .text = "1704164645.678901 hello\n1704164646.678901 world\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901000" },
	{ .of = "colours",
	  .text = "\x1b[2m2024-01-02T03:04:05Z\x1b[0m \x1b[32m INFO\x1b[0m shop::db: up\n"
		  "\x1b[2m2024-01-02T03:04:06Z\x1b[0m \x1b[31mERROR\x1b[0m shop::db: down\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.000000000",
	  .level = LEVEL_ERROR },
	{ .of = "two writers in one file",
	  .text = "2024-01-02 03:04:05,678 INFO  [main] org.acme.A: x\n"
		  "2024-01-02 03:04:05,679 INFO  [main] org.acme.A: y\n"
		  "Jan 02, 2024 3:04:06 AM org.acme.Main run\nWARNING: z\n"
		  "2024-01-02 03:04:05,680 INFO  [main] org.acme.A: w\n"
		  "Jan 02, 2024 3:04:07 AM org.acme.Main run\nWARNING: z\n",
	  .nr = 5,
	  .time = "2024-01-02 03:04:07.000000000",
	  .level = LEVEL_WARN,
	  .point = "org.acme.Main" },
};

static const struct expected records[] = {
	{ .of = "JSON",
	  .text = "{\"@timestamp\":\"2024-01-02T03:04:05.678Z\",\"log.level\":\"WARN\","
		  "\"message\":\"slow\",\"process\":{\"thread\":{\"name\":\"exec-1\"}},"
		  "\"log\":{\"logger\":\"a.B\"},\"trace\":{\"id\":"
		  "\"0af7651916cd43dd8448eb211c80319c\"},"
		  "\"span.id\":\"b7ad6b7169203331\",\"service.name\":\"shop\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = LEVEL_WARN,
	  .node = "shop",
	  .thread = "exec-1",
	  .point = "a.B",
	  .key = "0af7651916cd43dd8448eb211c80319c",
	  .span = "b7ad6b7169203331",
	  .title = "slow" },
	{ .of = "bunyan",
	  .text = "{\"name\":\"api\",\"hostname\":\"h1\",\"pid\":7,\"level\":50,\"msg\":\"GET\","
		  "\"req_id\":\"r-7\",\"time\":\"2024-01-02T03:04:05.678Z\",\"v\":0}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = LEVEL_ERROR,
	  .node = "h1",
	  .thread = "7",
	  .point = "api",
	  .key = "r-7" },
	{ .of = "JSON access log with seconds",
	  .text = "{\"ts\":1704164645.5,\"request\":{\"method\":\"GET\",\"uri\":\"/o/17?x=1\"},"
		  "\"status\":503,\"duration\":0.25,\"msg\":\"handled request\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.500000000",
	  .level = LEVEL_ERROR,
	  .title = "GET /o/<*>",
	  .duration = 250000000 },
	{ .of = "epoch nanoseconds lose nothing",
	  .text = "{\"time\":1704164645123456789,\"msg\":\"x\"}\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.123456789" },
	{ .of = "logfmt",
	  .text = "ts=2024-01-02T03:04:05.678Z lvl=warn msg=\"a \\\"b\\\" c\" "
		  "trace_id=0af7651916cd43dd8448eb211c80319c duration=1.5s host=h2\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.678000000",
	  .level = LEVEL_WARN,
	  .node = "h2",
	  .key = "0af7651916cd43dd8448eb211c80319c",
	  .duration = 1500000000 },
	{ .of = "docker json-file",
	  .text = "{\"log\":\"2024-01-02 03:04:05,600 INFO [t1] a.B: up\\n\",\"stream\":\"stdout\","
		  "\"time\":\"2024-01-02T03:04:05.678901234Z\"}\n"
		  "{\"log\":\"2024-01-02 03:04:06,600 WARN [t2] a.C: down\\n\",\"stream\":"
		  "\"stdout\",\"time\":\"2024-01-02T03:04:06.678901234Z\"}\n"
		  "{\"log\":\"\\tat a.C.run(C.java:1)\\n\",\"stream\":\"stdout\",\"time\":"
		  "\"2024-01-02T03:04:06.678901235Z\"}\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901234",
	  .level = LEVEL_WARN,
	  .thread = "t2",
	  .point = "a.C" },
	{ .of = "CRI",
	  .text = "2024-01-02T03:04:05.678901234Z stdout F {\"level\":\"info\",\"time\":"
		  "1704164645,\"msg\":\"a\"}\n"
		  "2024-01-02T03:04:06.678901234Z stderr P {\"level\":\"error\",\"time\":"
		  "1704164646,\"msg\":\"b\"}\n"
		  "2024-01-02T03:04:06.678901235Z stderr F rest of it\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.678901234",
	  .level = LEVEL_ERROR },
	{ .of = "docker compose",
	  .text = "web-1  | 2024-01-02 03:04:05,678 INFO a.B: up\n"
		  "db-1   | 2024-01-02 03:04:06.678 UTC [9] LOG:  ready\n"
		  "web-1  | 2024-01-02 03:04:07,678 INFO a.B: up\n"
		  "db-1   | 2024-01-02 03:04:08.678 UTC [9] ERROR:  bad\n",
	  .nr = 4,
	  .time = "2024-01-02 03:04:08.678000000",
	  .level = LEVEL_ERROR,
	  .node = "db-1",
	  .thread = "9" },
	{ .of = "nginx with request time",
	  .text = "1.2.3.4 - - [02/Jan/2024:03:04:05 +0100] \"GET /a/1 HTTP/1.1\" 200 12 \"-\" "
		  "\"curl/8\" 0.125\n"
		  "1.2.3.4 - - [02/Jan/2024:03:04:06 +0100] \"POST /b/22/c?q=1 HTTP/1.1\" 502 12 "
		  "\"-\" \"curl/8\" 1.500\n",
	  .nr = 2,
	  .time = "2024-01-02 02:04:06.000000000",
	  .level = LEVEL_ERROR,
	  .title = "POST /b/<*>/c",
	  .duration = 1500000000 },
	{ .of = "Apache with %D",
	  .text = "shop.example:80 1.2.3.4 - bob [02/Jan/2024:03:04:05 +0000] \"GET / HTTP/1.1\" "
		  "200 "
		  "12 \"-\" \"x\" 250000\n"
		  "shop.example:80 1.2.3.4 - bob [02/Jan/2024:03:04:06 +0000] \"GET / HTTP/1.1\" "
		  "200 "
		  "12 \"-\" \"x\" 500000\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:06.500000000",
	  .node = "shop.example:80",
	  .title = "GET /",
	  .duration = 500000000 },
	{ .of = "IIS",
	  .text = "#Software: x\n#Fields: date time cs-method cs-uri-stem sc-status time-taken\n"
		  "2024-01-02 03:04:05 GET /a.aspx 500 1250\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.000000000",
	  .level = LEVEL_ERROR,
	  .title = "GET /a.aspx",
	  .duration = 1250000000 },
	{ .of = "CSV with header",
	  .text = "time,level,service,trace_id,message\n"
		  "2024-01-02T03:04:05Z,INFO,shop,abc123,\"hello, world\"\n",
	  .nr = 1,
	  .time = "2024-01-02 03:04:05.000000000",
	  .level = LEVEL_INFO,
	  .node = "shop",
	  .key = "abc123",
	  .title = "hello, world" },
	{ .of = "MySQL slow log",
	  .text = "# Time: 2024-01-02T03:04:05.678901Z\n"
		  "# User@Host: u[u] @ localhost []  Id:    12\n"
		  "# Query_time: 1.500000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 9\n"
		  "SET timestamp=1704164644;\nSELECT 1;\n"
		  "# User@Host: u[u] @ localhost []  Id:    13\n"
		  "# Query_time: 2.500000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 9\n"
		  "SET timestamp=1704164645;\nSELECT 2;\n",
	  .nr = 2,
	  .time = "2024-01-02 03:04:05.000000000",
	  .thread = "13",
	  .duration = 2500000000 },
};

static void each_text_layout_is_learned(void **state)
{
	(void)state;
	check(texts, sizeof(texts) / sizeof(*texts));
}

static void each_record_layout_is_learned(void **state)
{
	(void)state;
	check(records, sizeof(records) / sizeof(*records));
}

static void journal_export_reads_binary_fields(void **state)
{
	static const char text[] =
		"__CURSOR=s=1;i=1;b=2;m=3;t=60decba6ff80d;x=4\n"
		"__REALTIME_TIMESTAMP=1704164645678093\n_HOSTNAME=h1\nPRIORITY=3\n"
		"SYSLOG_IDENTIFIER=shop\n_PID=77\n"
		"MESSAGE\n\x0f\0\0\0\0\0\0\0hello\n__CURSOR=\n\n"
		"__CURSOR=s=1;i=2;b=2;m=3;t=60decba6ff80e;x=4\n"
		"__REALTIME_TIMESTAMP=1704164646000001\nMESSAGE\n\x0a\0\0\0\0\0\0\0"
		"0123456789\n_HOSTNAME=h2\nPRIORITY=6\n\n";
	struct str all = { text, sizeof(text) - 1 };
	struct layout_case c = case_learn(all, "UTC");

	(void)state;
	assert_int_equal(c.r, 0);
	assert_int_equal(c.nr_events, 2);
	assert_str_equal(c.events[0].node, "h1");
	assert_str_equal(c.events[0].thread, "77");
	assert_str_equal(c.events[0].point, "shop");
	assert_int_equal(c.events[0].level, LEVEL_ERROR);
	assert_true(c.events[0].ns == 1704164645678093000);
	assert_str_equal(c.events[1].node, "h2");
	assert_int_equal(c.events[1].level, LEVEL_INFO);
	assert_true(c.events[1].ns == 1704164646000001000);
	/* a chunk may end where the second record begins */
	assert_true(str_starts(str_skip(all, layout_cut(c.layout, all)), STR("__CURSOR=s=1;i=2")));
	case_done(&c);
}

static void text_without_times_is_no_log(void **state)
{
	static const char *const texts_without[] = { "",
						     "\n\n",
						     "Hello, World!\n",
						     "a=1\nb=2\n",
						     "{\"a\":1}\n{\"b\":2}\n",
						     "1.2.3.4\n5.6.7.8\n",
						     "#Fields: a b\n1 2\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts_without) / sizeof(*texts_without); i++) {
		struct layout_case c = case_learn(str_of(texts_without[i]), "UTC");

		assert_int_equal(c.r, -ENOENT);
		assert_null(c.layout);
	}
}

static void a_zone_that_is_none_is_refused(void **state)
{
	struct layout_case c = case_learn(STR("2024-01-02 03:04:05 x\n"), "Mars");

	(void)state;
	assert_int_equal(c.r, -EINVAL);
	assert_non_null(strstr(c.err.msg, "Mars"));
}

static void the_zone_given_is_that_of_times_without_one(void **state)
{
	struct layout_case c = case_learn(STR("2024-01-02 03:04:05 x\n"), "+02:00");
	char time[40];

	(void)state;
	case_time_text(c.events[0].ns, time);
	assert_string_equal(time, "2024-01-02 01:04:05.000000000");
	assert_int_equal(c.losses.count[LOSS_ZONE_GUESSED], 0);
	case_done(&c);
	c = case_learn(STR("2024-01-02 03:04:05 x\n2024-01-02 03:04:06 x\n"), "");
	assert_int_equal(c.losses.count[LOSS_ZONE_GUESSED], 2);
	case_done(&c);
}

static void a_year_begins_anew_in_january(void **state)
{
	struct layout_case c =
		case_learn(STR("Dec 31 23:59:59 h a: x\nJan  1 00:00:01 h a: y\n"
			       "Dec 31 23:59:59 h a: late\nFeb 29 00:00:01 h a: z\n"),
			   "UTC");
	char time[40];

	(void)state;
	case_time_text(c.events[0].ns, time);
	assert_string_equal(time, "2023-12-31 23:59:59.000000000");
	case_time_text(c.events[1].ns, time);
	assert_string_equal(time, "2024-01-01 00:00:01.000000000");
	case_time_text(c.events[2].ns, time);
	assert_string_equal(time, "2023-12-31 23:59:59.000000000");
	case_time_text(c.events[3].ns, time);
	assert_string_equal(time, "2024-02-29 00:00:01.000000000");
	assert_int_equal(c.losses.count[LOSS_YEAR_GUESSED], 4);
	assert_int_equal(c.losses.count[LOSS_TIME_BACK], 1);
	case_done(&c);
}

static void a_day_begins_anew_at_midnight(void **state)
{
	struct layout_case c = case_learn(STR("23:59:59.500 INFO a\n00:00:01.000 INFO b\n"), "UTC");
	char time[40];

	(void)state;
	case_time_text(c.events[0].ns, time);
	assert_string_equal(time, "2024-05-31 23:59:59.500000000");
	case_time_text(c.events[1].ns, time);
	assert_string_equal(time, "2024-06-01 00:00:01.000000000");
	assert_int_equal(c.losses.count[LOSS_DATE_GUESSED], 2);
	case_done(&c);
}

static void broken_json_lines_are_counted(void **state)
{
	struct layout_case c = case_learn(STR("{\"ts\":\"2024-01-02T03:04:05Z\",\"msg\":\"a\"}\n"
					      "{\"ts\":\"2024-01-02T03:04\n"
					      "{\"ts\":\"2024-01-02T03:04:06Z\",\"msg\":\"b\"}\n"),
					  "UTC");

	(void)state;
	assert_int_equal(c.nr_events, 2);
	assert_int_equal(c.losses.count[LOSS_JSON_BROKEN], 1);
	case_done(&c);
}

static void is_named(const char *line, const char *naming)
{
	struct layout_case c = case_learn(str_of(line), "UTC");
	struct layout_worker *worker = layout_worker_new(c.layout);
	struct event ev;

	assert_true(layout_parse(c.layout, worker, str_of(line), &c.arena, &ev, &c.losses));
	assert_string_equal(arena_z(&c.arena, layout_naming(worker)), naming);
	assert_string_equal(arena_z(&c.arena, layout_message(worker)), "paid");
	layout_worker_free(worker);
	case_done(&c);
}

static void values_beside_a_message_name_what_it_is_about(void **state)
{
	(void)state;
	is_named("{\"ts\":\"2024-01-02T03:04:05Z\",\"level\":\"info\",\"msg\":\"paid\","
		 "\"order_id\":7,\"user\":{\"id\":\"u3\",\"ok\":true}}",
		 "paid order_id=7 user_id=u3");
	is_named("time=2024-01-02T03:04:05Z level=info msg=paid order_id=7 user=\"u 3\"",
		 "paid order_id=7 user=u 3");
	is_named("{\"ts\":\"2024-01-02T03:04:05Z\",\"msg\":\"paid\"}", "paid");
	/* what is under an id that nobody registered tells of the logging itself */
	is_named("<134>1 2024-01-02T03:04:05Z web1 shopd 40 ORD "
		 "[order@32473 orderId=\"7\" user=\"u\\\"3\"][meta sequenceId=\"9\"] paid",
		 "paid orderId=7 user=u\\\"3");
}

static void text_in_older_encodings_is_text(void **state)
{
	(void)state;
	/* "задача" in windows-1251; the same bytes among control characters */
	assert_false(undated_is_binary(STR("\xe7\xe0\xe4\xe0\xf7\xe0 task_1\n")));
	assert_true(undated_is_binary(STR("\xe7\x01\xe4\x02\xf7\xe0 task_1\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_layout_is_learned),
		cmocka_unit_test(each_record_layout_is_learned),
		cmocka_unit_test(journal_export_reads_binary_fields),
		cmocka_unit_test(text_without_times_is_no_log),
		cmocka_unit_test(a_zone_that_is_none_is_refused),
		cmocka_unit_test(the_zone_given_is_that_of_times_without_one),
		cmocka_unit_test(a_year_begins_anew_in_january),
		cmocka_unit_test(a_day_begins_anew_at_midnight),
		cmocka_unit_test(broken_json_lines_are_counted),
		cmocka_unit_test(text_in_older_encodings_is_text),
		cmocka_unit_test(values_beside_a_message_name_what_it_is_about),
	};

	return RUN(tests);
}
