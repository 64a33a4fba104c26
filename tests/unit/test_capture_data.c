/* Captures of real programs, against what another tool found in them (the .result beside each). */
#include "unit.h"

#include "collected.h"
#include "source/formats.h"

/* The other tool looks at packets, we at streams: where the two mean different things by a request,
 * the difference is said here. */
struct capture {
	const char *name;
	const char *protocol;
	int calls, returns; /* more than the result says */
};

static const struct capture captures[] = {
	{ "amqp/amqp1", "amqp", 0, 0 },
	{ "amqp/amqp3", "amqp", 0, 0 },
	{ "dns/dns-tcp-multi", "dns", 0, 0 },
	{ "dns/not-handled-qtype", "dns", 0, 0 },
	{ "dubbo/dubbo-eys", "dubbo", 0, 0 },
	{ "dubbo/dubbo-sw8", "dubbo", 0, 0 },
	{ "http/client-ip", "http", 0, 0 },
	{ "http/grpc-server-stream", "http2", 0, 0 },
	{ "http/grpc-unary", "http2", 0, 0 },
	{ "http/h2c_ascii", "http2", 0, 0 },
	{ "http/httpv1", "http", 0, 0 },
	{ "http/istio-tcp-frag", "http", 0, 0 },
	{ "kafka/00-produce-v7-sw8", "kafka", 0, 0 },
	{ "kafka/01-fetch-v12-ok", "kafka", 0, 0 },
	{ "kafka/01-fetch-v12-unknown", "kafka", 0, 0 },
	{ "kafka/13-leave-group-v4", "kafka", 0, 0 },
	{ "kafka/18-api-versions-v3", "kafka", 0, 0 },
	{ "memcached/memcached", "memcached", 0, 0 },
	{ "mongo/mongo", "mongodb", 0, 0 },
	{ "mysql/binary-in-sql", "mysql", 0, 0 },
	{ "mysql/mysql", "mysql", 0, 0 },
	{ "mysql/mysql-compressed-response", "mysql", 0, 0 },
	{ "mysql/mysql-error", "mysql", 0, 0 },
	{ "mysql/mysql-login-error", "mysql", 0, 0 },
	{ "mysql/mysql-statement", "mysql", 0, 2 }, /* two that it calls "Other" */
	{ "mysql/mysql-table-create", "mysql", 0, 0 },
	{ "mysql/mysql-table-desc", "mysql", 0, 0 },
	{ "mysql/mysql-table-insert", "mysql", 0, 0 },
	{ "mysql/mysql-table-update", "mysql", 0, 0 },
	{ "mysql/truncate-1024", "mysql", 0, 0 },
	/* what names a subject for the answer is no request to it: two here, never answered … */
	{ "nats/nats-headers", "nats", 2, 0 },
	{ "nats/nats-nrpc2", "nats", 1, 1 }, /* … and one, which is answered */
	{ "nats/nats-opentelemetry", "nats", 0, 0 },
	/* statements of several packets (33-35, 70-75) and answers of several (16-22, 36-37), and
	 * the answer to the second of those statements (76) are "Other" to it, packet by packet */
	{ "postgre/pgsql-all", "postgresql", 2, 3 },
	{ "redis/redis-error", "redis", 0, 0 },
	/* protocols that we do not know: who speaks is enough where one asks and waits */
	{ "brpc/brpc-echo", "unknown", 0, 0 },
	{ "pulsar/pulsar-producer", "unknown", 0, 0 },
	{ "rocketmq/rocketmq-consumer-otel", "unknown", 0, 0 },
	{ "rocketmq/rocketmq-producer-skywalking", "unknown", 0, 0 },
	{ "rocketmq/rocketmq-heartbeat", "unknown", 0, 0 },
	{ "rocketmq/rocketmq-get-consumer-list-by-group", "unknown", 0, 0 },
	{ "rocketmq/rocketmq-send-message-v2", "unknown", 0, 0 },
	{ "tars/tars-echo", "unknown", 0, 0 },
};

/* Requests and responses that the text tells; false when there is no text. */
static bool read_result(const char *name, int *calls, int *returns)
{
	const char *data = getenv("CULPRIT_DATA");
	char path[4096], line[1024];
	bool at_start = true;
	FILE *f;

	if (data)
		snprintf(path, sizeof(path), "%s/pcaps/%s.result", data, name);
	else
		snprintf(path, sizeof(path), "%.*s/../../../shared/data/pcaps/%s.result",
			 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		const char *kind = at_start ? strstr(line, "msg_type") : NULL;

		if (at_start && !strncmp(line, "RedisInfo { request: \"", 22)) {
			*calls += line[22] != '"';
			*returns += line[22] == '"';
		} else if (kind) {
			kind += strcspn(kind, "RSO");
			*calls += !strncmp(kind, "Request", 7);
			*returns += !strncmp(kind, "Response", 8);
		}
		at_start = strchr(line, '\n') != NULL; /* lines may be longer than what is read */
	}
	fclose(f);
	return true;
}

static void check(const struct capture *want)
{
	int calls = want->calls, returns = want->returns, got_calls = 0, got_returns = 0;
	struct collected c;
	char path[256];

	snprintf(path, sizeof(path), "pcaps/%s.pcap", want->name);
	if (!read_result(want->name, &calls, &returns) ||
	    !collect_data(&c, &source_capture, path)) {
		print_message("[  SKIPPED ] no %s\n", path);
		return;
	}
	vec_each (&c.events, e) {
		got_calls += e->op == MESSAGE_CALL;
		got_returns += e->op == MESSAGE_RETURN;
		if (!str_eq(e->point, str_of(want->protocol)))
			fail_msg("%s: " STR_FMT " is not %s", path, STR_ARG(e->point),
				 want->protocol);
	}
	if (got_calls != calls || got_returns != returns)
		fail_msg("%s: %d calls and %d returns instead of %d and %d", path, got_calls,
			 got_returns, calls, returns);
	collected_done(&c);
}

static void captures_hold_the_requests_that_others_find_in_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++)
		check(&captures[i]);
}

static const struct event *event_named(const struct collected *c, const char *title)
{
	vec_each (&c->events, e)
		if (str_eq(e->title, str_of(title)))
			return e;
	fail_msg("there is no '%s'", title);
	return NULL;
}

static void their_messages_have_the_names_that_others_give_them(void **state)
{
	static const char *const names[][2] = {
		{ "amqp/amqp1", "Queue.Declare hello" },
		{ "dns/dns-tcp-multi", "AAAA details.deepflow-ebpf-istio-demo.svc.cluster.local" },
		{ "dubbo/dubbo-sw8", "my.demo.service.ItemService.findItem" },
		{ "http/grpc-unary", "POST /agent.Synchronizer/Sync" },
		{ "http/h2c_ascii", "POST /hipstershop.CartService/GetCart" },
		{ "http/istio-tcp-frag", "GET /productpage" },
		{ "kafka/00-produce-v7-sw8", "Produce quickstart-events" },
		{ "mysql/mysql-compressed-response", "SELECT az_controller_connection" },
		{ "mysql/mysql-statement", "SELECT controller" },
		{ "redis/redis-error", "GET" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct collected c;
		char path[256];

		snprintf(path, sizeof(path), "pcaps/%s.pcap", names[i][0]);
		if (!collect_data(&c, &source_capture, path))
			continue;
		event_named(&c, names[i][1]);
		collected_done(&c);
	}
}

static void names_of_requests_are_those_that_others_find(void **state)
{
	static const char *const keys[][2] = {
		{ "http/client-ip", "6d4ae9e1fb8a4399aba252d65b5a83c9.76.17016891360410347" },
		{ "dubbo/dubbo-sw8", "c8164cae90e94fe68493c106ea95f1ee.66.16667985488510067" },
		{ "kafka/00-produce-v7-sw8", "bb79fa34-d03f-4bc2-8fa9-979af7877426" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct collected c;
		char path[256];

		snprintf(path, sizeof(path), "pcaps/%s.pcap", keys[i][0]);
		if (!collect_data(&c, &source_capture, path))
			continue;
		assert_int_equal(c.events.v[0].key_kind, KEY_TRACE);
		assert_str_equal(c.events.v[0].key, keys[i][1]);
		collected_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_hold_the_requests_that_others_find_in_them),
		cmocka_unit_test(their_messages_have_the_names_that_others_give_them),
		cmocka_unit_test(names_of_requests_are_those_that_others_find),
	};

	return RUN(tests);
}
