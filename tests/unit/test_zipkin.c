#include "unit.h"

#include "collected.h"
#include "source/formats.h"

#define END(service) "\"localEndpoint\":{\"serviceName\":\"" service "\",\"ipv4\":\"10.0.0.1\"}"
#define SPAN(id, service, more) \
	"{\"traceId\":\"00000000000000AB\",\"id\":\"" id "\",\"name\":\"get\",\"timestamp\":1000," \
	"\"duration\":50," END(service) more "}"

static struct collected read_text(struct str text)
{
	assert_true(source_zipkin.sniff(text, true) > 70);
	return collect(&source_zipkin, text);
}

static void a_record_is_a_span(void **state)
{
	struct collected c =
		read_text(STR("[" SPAN("01", "web",
				       ",\"kind\":\"SERVER\",\"parentId\":\"02\",\"tags\":{"
				       "\"error\":\"503\",\"thread.name\":\"t\"},"
				       "\"remoteEndpoint\":{\"serviceName\":\"db\",\"port\":5432},"
				       "\"annotations\":[{\"timestamp\":1010,\"value\":\"flush\"},{"
				       "\"value\":\"?\"}]") "]"));
	struct span s = c.spans.v[0];

	(void)state;
	assert_int_equal(c.spans.nr, 1);
	assert_str_equal(s.key, "00000000000000ab");
	assert_str_equal(s.parent_id, "02");
	assert_true(s.start == 1000000 && s.end == 1050000);
	assert_true(s.kind == SPAN_SERVER && s.status == STATUS_ERROR);
	assert_str_equal(s.node, "web");
	assert_str_equal(s.host, "10.0.0.1");
	assert_str_equal(s.thread, "t");
	assert_str_equal(collected_attr(s.attrs, "peer.service").text, "db");
	assert_int_equal(collected_attr(s.attrs, "peer.port").i, 5432);
	assert_int_equal(c.events.nr, 1);
	assert_str_equal(c.events.v[0].text, "flush");
	assert_int_equal(c.events.v[0].ns, 1010000);
	assert_int_equal(c.losses.count[LOSS_EVENTS_BROKEN], 1);
	collected_done(&c);
}

static void a_shared_span_is_parted_into_client_and_server(void **state)
{
	struct collected c = read_text(STR(
		"[" SPAN("01", "web", ",\"kind\":\"CLIENT\"") "," SPAN("01", "db", ",\"kind\":\"SERVER\",\"shared\":true") "," SPAN(
			"02", "db",
			",\"parentId\":\"01\"") "," SPAN("03", "web",
							 ",\"parentId\":\"01\"") "," SPAN("04",
											  "lone",
											  ",\"paren"
											  "tId\":"
											  "\"09\","
											  "\"shared"
											  "\":true") "]"));
	struct span *s = c.spans.v;

	(void)state;
	assert_int_equal(c.spans.nr, 5);
	assert_str_equal(s[0].id, "01");
	assert_str_equal(s[1].id, "01:server");
	assert_str_equal(s[1].parent_id, "01");
	assert_str_equal(s[2].parent_id, "01:server");
	assert_str_equal(s[3].parent_id, "01");
	/* the client of this one is not here, so it keeps its name and its parent */
	assert_str_equal(s[4].id, "04");
	assert_str_equal(s[4].parent_id, "09");
	collected_done(&c);
}

static void version_one_names_its_moments(void **state)
{
	struct collected c = read_text(
		STR("[{\"traceId\":\"01\",\"id\":\"02\",\"name\":\"get\",\"annotations\":["
		    "{\"timestamp\":10,\"value\":\"cs\",\"endpoint\":{\"serviceName\":\"web\"}},"
		    "{\"timestamp\":12,\"value\":\"sr\",\"endpoint\":{\"serviceName\":\"db\"}},"
		    "{\"timestamp\":13,\"value\":\"scan\",\"endpoint\":{\"serviceName\":\"db\"}},"
		    "{\"timestamp\":15,\"value\":\"ss\",\"endpoint\":{\"serviceName\":\"db\"}},"
		    "{\"timestamp\":18,\"value\":\"cr\",\"endpoint\":{\"serviceName\":\"web\"}}],"
		    "\"binaryAnnotations\":[{\"key\":\"sql\",\"value\":\"select\"}]},"
		    "{\"traceId\":\"01\",\"id\":\"03\",\"parentId\":\"02\",\"name\":\"x\","
		    "\"annotations\":["
		    "{\"timestamp\":13,\"value\":\"sr\",\"endpoint\":{\"serviceName\":\"io\"}},"
		    "{\"timestamp\":14,\"value\":\"ss\",\"endpoint\":{\"serviceName\":\"io\"}}],"
		    "\"binaryAnnotations\":[]}]"));
	struct span *s = c.spans.v;

	(void)state;
	assert_int_equal(c.spans.nr, 3);
	assert_true(s[0].start == 10000 && s[0].end == 18000 && s[0].kind == SPAN_CLIENT);
	assert_str_equal(s[0].node, "web");
	assert_true(s[1].start == 12000 && s[1].end == 15000 && s[1].kind == SPAN_SERVER);
	assert_str_equal(s[1].node, "db");
	assert_str_equal(s[1].parent_id, "02");
	assert_str_equal(s[1].id, "02:server");
	assert_str_equal(collected_attr(s[0].attrs, "sql").text, "select");
	assert_true(s[2].start == 13000 && s[2].end == 14000);
	assert_str_equal(s[2].node, "io");
	assert_int_equal(c.events.nr, 1);
	assert_str_equal(c.events.v[0].text, "scan");
	collected_done(&c);
}

static void every_framing_holds_the_same(void **state)
{
	static const char *const texts[] = {
		"[" SPAN("01", "a", "") "," SPAN("02", "a", "") "]",
		"[\n" SPAN("01", "a", "") ",\n" SPAN("02", "a", "") "\n]\n",
		"[[" SPAN("01", "a", "") "],[" SPAN("02", "a", "") "]]",
		SPAN("01", "a", "") "\n" SPAN("02", "a", "") "\n",
		"[" SPAN("01", "a", "") "]\n[" SPAN("02", "a", "") "]\n",
		"[\n" SPAN("01", "a", "") ",\n" SPAN("02", "a", "") ",\n{\"traceId\":\"1\",\"id\":",
		"[[" SPAN("01", "a", "") ",\n" SPAN("02", "a", "") ",\n{\"traceId\":\"1\",\"id\":",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct collected c = read_text(str_of(texts[i]));

		assert_int_equal(c.spans.nr, 2);
		assert_str_equal(c.spans.v[0].id, "01");
		assert_str_equal(c.spans.v[1].id, "02");
		assert_int_equal(c.losses.count[LOSS_FILES_CUT], i >= 5);
		collected_done(&c);
	}
}

static void bad_records_are_counted(void **state)
{
	struct collected c = read_text(STR("[" SPAN(
		"01", "a", "") ",{\"traceId\":\"1\"},{\"id\":\"2\",\"timestamp\":1},7,null,"
			       "{\"traceId\":\"1\",\"id\":\"3\",\"timestamp\":5,\"duration\":-1},"
			       "{\"traceId\":\"1\",\"id\":\"4\",\"timestamp\":5}]"));

	(void)state;
	assert_int_equal(c.spans.nr, 3);
	assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 4);
	assert_int_equal(c.losses.count[LOSS_SPANS_NEGATIVE], 1);
	assert_int_equal(c.losses.count[LOSS_SPANS_OPEN], 1);
	collected_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_a_span),
		cmocka_unit_test(a_shared_span_is_parted_into_client_and_server),
		cmocka_unit_test(version_one_names_its_moments),
		cmocka_unit_test(every_framing_holds_the_same),
		cmocka_unit_test(bad_records_are_counted),
	};

	return RUN(tests);
}
