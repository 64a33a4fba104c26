#include "unit.h"

#include "base/json.h"
#include "collected.h"
#include "source/formats.h"

#define SPAN(id, more) \
	"{\"traceId\":\"5B8EFFF798038103D269B633813FC60C\",\"spanId\":\"" id "\"," \
	"\"startTimeUnixNano\":\"1544712660000000000\",\"endTimeUnixNano\":" \
	"1544712661000000001" more "}"
#define DOC(spans) \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":" \
	"{\"stringValue\":\"shop\"}},{\"key\":\"k8s.pod.name\",\"value\":{\"stringValue\":\"shop-" \
	"7\"}}," \
	"{\"key\":\"host.name\",\"value\":{\"stringValue\":\"h1\"}}]}," \
	"\"scopeSpans\":[{\"scope\":{\"name\":\"lib\",\"version\":\"1.2\"},\"spans\":[" spans \
	"]}]}]}"

static struct collected read_json(struct str text)
{
	assert_true(source_otlp_json.sniff(text, true) > 90);
	return collect(&source_otlp_json, text);
}

static void a_span_brings_its_place_and_its_times(void **state)
{
	struct collected c = read_json(STR(DOC(SPAN(
		"EEE19B7EC3C1B174",
		",\"parentSpanId\":\"EEE19B7EC3C1B173\",\"name\":\"op\",\"kind\":2,\"traceState\":"
		"\"a=b\","
		"\"flags\":257,\"droppedEventsCount\":3,\"status\":{\"code\":2,\"message\":\"no\"},"
		"\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":\"7\"}},"
		"{\"key\":\"thread.name\",\"value\":{\"stringValue\":\"main\"}}]"))));
	struct span s;

	(void)state;
	assert_int_equal(c.spans.nr, 1);
	s = c.spans.v[0];
	assert_str_equal(s.key, "5b8efff798038103d269b633813fc60c");
	assert_str_equal(s.id, "eee19b7ec3c1b174");
	assert_str_equal(s.parent_id, "eee19b7ec3c1b173");
	assert_str_equal(s.name, "op");
	assert_true(s.start == 1544712660000000000 && s.end == 1544712661000000001);
	assert_true(s.kind == SPAN_SERVER && s.status == STATUS_ERROR && s.parent == SPAN_NONE);
	assert_str_equal(s.node, "shop");
	assert_str_equal(s.host, "h1");
	assert_str_equal(s.thread, "main");
	assert_str_equal(collected_attr(s.attrs, "otel.status_description").text, "no");
	assert_str_equal(collected_attr(s.attrs, "w3c.tracestate").text, "a=b");
	assert_int_equal(collected_attr(s.attrs, "otel.flags").i, 257);
	assert_int_equal(collected_attr(s.attrs, "otel.dropped_events_count").i, 3);
	assert_str_equal(collected_attr(s.attrs, "otel.scope.version").text, "1.2");
	assert_int_equal(collected_attr(s.attrs, "otel.scope.name").scope, ATTR_LIBRARY);
	assert_int_equal(collected_attr(s.attrs, "host.name").scope, ATTR_RESOURCE);
	collected_done(&c);
}

static void attributes_keep_their_types(void **state)
{
	struct collected c = read_json(STR(DOC(
		SPAN("01", ",\"attributes\":[{\"key\":\"i\",\"value\":{\"intValue\":\"-5\"}},"
			   "{\"key\":\"d\",\"value\":{\"doubleValue\":2.5}},{\"key\":\"b\","
			   "\"value\":{\"boolValue\":true}},"
			   "{\"key\":\"x\",\"value\":{\"bytesValue\":\"AAAwOQ==\"}},"
			   "{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":"
			   "\"1\"},{\"stringValue\":\"a\"}]}}},"
			   "{\"key\":\"m\",\"value\":{\"kvlistValue\":{\"values\":[{\"key\":\"k\","
			   "\"value\":{\"boolValue\":false}}]}}},"
			   "{\"key\":\"empty\",\"value\":{}},{\"value\":{\"intValue\":1}},7]"))));
	struct str attrs = c.spans.v[0].attrs;

	(void)state;
	assert_true(collected_attr(attrs, "i").i == -5 &&
		    collected_attr(attrs, "i").type == ATTR_INT);
	assert_true(collected_attr(attrs, "d").d == 2.5);
	assert_true(collected_attr(attrs, "b").i == 1 &&
		    collected_attr(attrs, "b").type == ATTR_BOOL);
	assert_memory_equal(collected_attr(attrs, "x").text.p, "\0\0\x30\x39", 4);
	assert_int_equal(collected_attr(attrs, "x").type, ATTR_BYTES);
	assert_str_equal(collected_attr(attrs, "l").text, "[1,\"a\"]");
	assert_str_equal(collected_attr(attrs, "m").text, "{\"k\":false}");
	assert_int_equal(collected_attr(attrs, "m").type, ATTR_JSON);
	assert_int_equal(collected_attr(attrs, "empty").text.n, 0);
	collected_done(&c);
}

static void events_and_links_come_with_their_span(void **state)
{
	struct collected c = read_json(STR(DOC(SPAN(
		"0a",
		",\"events\":[{\"timeUnixNano\":\"1544712660500000000\",\"name\":\"exception\","
		"\"attributes\":"
		"[{\"key\":\"exception.type\",\"value\":{\"stringValue\":\"E\"}}]},{\"name\":\"no "
		"time\"}],"
		"\"links\":[{\"traceId\":\"AAAAAAAAAAAAAAAAAAAAAQ==\",\"spanId\":\"AAAAAAAAAAI=\","
		"\"attributes\":[{\"key\":\"why\",\"value\":{\"stringValue\":\"batch\"}}]}]"))));
	struct link l;
	struct event e;
	struct str links;

	(void)state;
	assert_int_equal(c.events.nr, 1);
	e = c.events.v[0];
	assert_true(e.kind == EVENT_LOG && e.ns == 1544712660500000000 && e.level == LEVEL_ERROR);
	assert_true(e.key_kind == KEY_TRACE && e.duration == -1);
	assert_str_equal(e.key, "5b8efff798038103d269b633813fc60c");
	assert_str_equal(e.span, "0a");
	assert_str_equal(e.text, "exception");
	assert_str_equal(e.node, "shop");
	assert_str_equal(collected_attr(e.attrs, "exception.type").text, "E");
	links = c.spans.v[0].links;
	assert_true(link_take(&links, &l));
	assert_str_equal(l.trace, "00000000000000000000000000000001");
	assert_str_equal(l.span, "0000000000000002");
	assert_str_equal(collected_attr(l.attrs, "why").text, "batch");
	assert_int_equal(c.losses.count[LOSS_EVENTS_BROKEN], 1);
	collected_done(&c);
}

static void snake_case_and_old_names_are_understood(void **state)
{
	struct collected c = read_json(
		STR("{\"resource_spans\":[{\"instrumentation_library_spans\":[{\"instrumentation_"
		    "library\":"
		    "{\"name\":\"old\"},\"spans\":[{\"trace_id\":\"01\",\"span_id\":\"02\","
		    "\"parent_span_id\":"
		    "\"0000000000000000\",\"start_time_unix_nano\":10,\"end_time_unix_nano\":12,"
		    "\"kind\":\"SPAN_KIND_CLIENT\",\"status\":{\"code\":\"STATUS_CODE_ERROR\"}}]}]}"
		    "]}"));

	(void)state;
	assert_int_equal(c.spans.nr, 1);
	assert_true(c.spans.v[0].kind == SPAN_CLIENT && c.spans.v[0].status == STATUS_ERROR);
	assert_int_equal(c.spans.v[0].parent_id.n, 0);
	assert_str_equal(collected_attr(c.spans.v[0].attrs, "otel.scope.name").text, "old");
	collected_done(&c);
}

static void lines_arrays_and_wrappers_hold_the_same(void **state)
{
	static const char *const texts[] = {
		DOC(SPAN("01", "")) "\n" DOC(SPAN("02", "")) "\n",
		"[" DOC(SPAN("01", "")) ",\n" DOC(SPAN("02", "")) "]",
		DOC(SPAN("01", "") ",\n" SPAN("02", "")),
		"{\"trace\":" DOC(SPAN("01", "") "," SPAN("02", "")) "}",
		"{\n\"x\":1}\n" DOC(SPAN("01", "")) "\n\n" DOC(SPAN("02", "")),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct collected c = read_json(str_of(texts[i]));

		assert_int_equal(c.spans.nr, 2);
		assert_str_equal(c.spans.v[0].id, "01");
		assert_str_equal(c.spans.v[1].id, "02");
		assert_int_equal(c.nr_files, 1);
		assert_int_equal(c.progress, strlen(texts[i]));
		collected_done(&c);
	}
}

static void bad_spans_are_counted_and_the_rest_is_used(void **state)
{
	struct collected c = read_json(
		STR(DOC("{\"spanId\":\"01\",\"startTimeUnixNano\":1},{\"traceId\":\"01\","
			"\"spanId\":\"02\"},7,"
			"{\"traceId\":\"01\",\"spanId\":\"03\",\"startTimeUnixNano\":9,"
			"\"endTimeUnixNano\":5},"
			"{\"traceId\":\"01\",\"spanId\":\"04\",\"startTimeUnixNano\":9},"
			"{\"traceId\":\"01\",\"spanId\":\"05\",\"startTimeUnixNano\":"
			"\"18446744073709551615\"},"
			"{\"traceId\":5,\"spanId\":{},\"startTimeUnixNano\":[]}," SPAN("06", ""))));

	(void)state;
	assert_int_equal(c.spans.nr, 3);
	assert_int_equal(c.spans.v[0].end, 9);
	assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 5);
	assert_int_equal(c.losses.count[LOSS_SPANS_NEGATIVE], 1);
	assert_int_equal(c.losses.count[LOSS_SPANS_OPEN], 1);
	collected_done(&c);
}

static void a_broken_line_costs_only_itself(void **state)
{
	struct collected c = read_json(
		STR(DOC(SPAN("01", "")) "\n{\"resourceSpans\":[}\n" DOC(SPAN("02", "")) "\n"));

	(void)state;
	assert_int_equal(c.spans.nr, 2);
	assert_int_equal(c.losses.count[LOSS_JSON_BROKEN], 1);
	collected_done(&c);
}

/* Wherever the file is cut, the spans that stand whole in front of the cut come out. */
static void a_cut_file_gives_what_is_in_front(void **state)
{
	static const char *const texts[] = {
		DOC(SPAN("01", "") "," SPAN("02", "") "," SPAN("03", "")),
		DOC(SPAN("01", "") ",\n" SPAN("02", "") ",\n" SPAN("03", "")) "\n",
		"[" DOC(SPAN("01", "")) "," DOC(SPAN("02", "")) "," DOC(SPAN("03", "")) "]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		static const char end[] = "1544712661000000001}";
		size_t n = strlen(texts[i]), whole = 0;

		for (size_t cut = 0; cut < n - 1; cut++) {
			struct collected c =
				collect(&source_otlp_json, (struct str){ texts[i], cut });

			whole += cut >= 20 && !memcmp(texts[i] + cut - 20, end, 20);
			assert_int_equal(c.spans.nr, whole);
			assert_int_equal(c.losses.count[LOSS_FILES_CUT], cut > 0);
			assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 0);
			collected_done(&c);
		}
		assert_int_equal(whole, 3);
	}
}

static void logs_are_events(void **state)
{
	struct collected c;
	struct event e;

	(void)state;
	if (!collect_data(&c, &source_otlp_json, "otlp/logs.json"))
		skip();
	assert_int_equal(c.events.nr, 1);
	e = c.events.v[0];
	assert_str_equal(e.text, "Example log record");
	assert_str_equal(e.node, "my.service");
	assert_str_equal(e.point, "my.library");
	assert_str_equal(e.key, "5b8efff798038103d269b633813fc60c");
	assert_str_equal(e.span, "eee19b7ec3c1b174");
	assert_int_equal(e.level, LEVEL_INFO);
	assert_int_equal(collected_attr(e.attrs, "boolean.attribute").type, ATTR_BOOL);
	collected_done(&c);
}

static void the_published_examples_are_read(void **state)
{
	struct collected c;

	(void)state;
	if (!collect_data(&c, &source_otlp_json, "otlp/trace.json"))
		skip();
	assert_int_equal(c.spans.nr, 1);
	assert_str_equal(c.spans.v[0].name, "I'm a server span");
	collected_done(&c);
	assert_true(collect_data(&c, &source_otlp_json, "otlp/events.json"));
	assert_int_equal(c.events.nr, 1);
	assert_str_equal(collected_attr(c.events.v[0].attrs, "event.name").text,
			 "browser.page_view");
	collected_done(&c);
	assert_true(collect_data(&c, &source_otlp_json, "otlp/metrics.json"));
	assert_true(c.losses.count[LOSS_METRICS_SKIPPED] > 0);
	collected_done(&c);
	assert_true(collect_data(&c, &source_otlp_json, "layouts/logfile_otel_collector.jsonl"));
	assert_true(c.events.nr >= 3);
	assert_str_equal(c.events.v[0].node, "payment-service");
	collected_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_brings_its_place_and_its_times),
		cmocka_unit_test(attributes_keep_their_types),
		cmocka_unit_test(events_and_links_come_with_their_span),
		cmocka_unit_test(snake_case_and_old_names_are_understood),
		cmocka_unit_test(lines_arrays_and_wrappers_hold_the_same),
		cmocka_unit_test(bad_spans_are_counted_and_the_rest_is_used),
		cmocka_unit_test(a_broken_line_costs_only_itself),
		cmocka_unit_test(a_cut_file_gives_what_is_in_front),
		cmocka_unit_test(logs_are_events),
		cmocka_unit_test(the_published_examples_are_read),
	};

	return RUN(tests);
}
