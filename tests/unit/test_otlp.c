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

/* --- protobuf, written by hand from the published field numbers ------------------------------ */

static void put_bytes(struct buf *b, unsigned field, struct str s)
{
	buf_varint(b, field << 3 | 2);
	buf_bytes(b, s);
}

static void put_varint(struct buf *b, unsigned field, uint64_t v)
{
	buf_varint(b, field << 3);
	buf_varint(b, v);
}

static void put_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	buf_varint(b, field << 3 | 1);
	for (int i = 0; i < 8; i++)
		buf_char(b, (char)(v >> (8 * i)));
}

/* Wraps what is in *b into one field. */
static void wrap(struct buf *b, unsigned field)
{
	struct buf outer = { 0 };

	put_bytes(&outer, field, buf_str(b));
	buf_done(b);
	*b = outer;
}

static void put_attr(struct buf *b, unsigned field, struct str key, struct str value)
{
	struct buf kv = { 0 }, any = { 0 };

	put_bytes(&any, 1, value);
	put_bytes(&kv, 1, key);
	put_bytes(&kv, 2, buf_str(&any));
	put_bytes(b, field, buf_str(&kv));
	buf_done(&kv);
	buf_done(&any);
}

static struct buf make_span(char id)
{
	struct buf b = { 0 }, event = { 0 }, status = { 0 };
	char bytes[16] = { 0, 0, 0, 0, 0, 0, 0, id };

	put_bytes(&b, 1, STR("0123456789abcdef"));
	put_bytes(&b, 2, (struct str){ bytes, 8 });
	put_bytes(&b, 5, STR("op"));
	put_varint(&b, 6, 2);
	put_fixed64(&b, 7, 1000);
	put_fixed64(&b, 8, 2000);
	put_attr(&b, 9, STR("thread.name"), STR("main"));
	put_fixed64(&event, 1, 1500);
	put_bytes(&event, 2, STR("hit"));
	put_bytes(&b, 11, buf_str(&event));
	put_bytes(&status, 2, STR("bad"));
	put_varint(&status, 3, 2);
	put_bytes(&b, 15, buf_str(&status));
	put_varint(&b, 99, 5); /* of a newer version */
	buf_done(&event);
	buf_done(&status);
	return b;
}

/* A message with so many spans. */
static struct buf make_message(char first, int nr)
{
	struct buf scope = { 0 }, all = { 0 }, name = { 0 }, attrs = { 0 };

	put_bytes(&name, 1, STR("lib"));
	put_bytes(&scope, 1, buf_str(&name));
	for (int i = 0; i < nr; i++) {
		struct buf span = make_span((char)(first + i));

		put_bytes(&scope, 2, buf_str(&span));
		buf_done(&span);
	}
	put_attr(&attrs, 1, STR("service.name"), STR("shop"));
	put_bytes(&all, 1, buf_str(&attrs));
	put_bytes(&all, 2, buf_str(&scope));
	wrap(&all, 1);
	buf_done(&name);
	buf_done(&scope);
	buf_done(&attrs);
	return all;
}

static struct collected read_proto(struct str bytes)
{
	assert_true(source_otlp_protobuf.sniff(bytes, true) > 80);
	return collect(&source_otlp_protobuf, bytes);
}

static void protobuf_says_what_json_says(void **state)
{
	struct buf message = make_message(1, 2);
	struct collected c = read_proto(buf_str(&message));
	struct span s = c.spans.v[0];

	(void)state;
	assert_int_equal(c.spans.nr, 2);
	assert_str_equal(s.key, "30313233343536373839616263646566");
	assert_str_equal(s.id, "0000000000000001");
	assert_true(s.start == 1000 && s.end == 2000 && s.kind == SPAN_SERVER);
	assert_true(s.status == STATUS_ERROR);
	assert_str_equal(s.node, "shop");
	assert_str_equal(s.thread, "main");
	assert_str_equal(collected_attr(s.attrs, "otel.scope.name").text, "lib");
	assert_str_equal(collected_attr(s.attrs, "otel.status_description").text, "bad");
	assert_int_equal(c.events.nr, 2);
	assert_str_equal(c.events.v[1].text, "hit");
	assert_str_equal(c.events.v[1].span, "0000000000000002");
	collected_done(&c);
	buf_done(&message);
}

static void messages_may_have_their_length_in_front(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		struct buf file = { 0 };
		struct collected c;

		for (char i = 0; i < 3; i++) {
			struct buf m = make_message((char)(1 + i), 1);

			if (fixed) {
				buf_char(&file, (char)(m.n >> 24));
				buf_char(&file, (char)(m.n >> 16));
				buf_char(&file, (char)(m.n >> 8));
				buf_char(&file, (char)m.n);
			} else {
				buf_varint(&file, m.n);
			}
			buf_add(&file, buf_str(&m));
			buf_done(&m);
		}
		c = read_proto(buf_str(&file));
		assert_int_equal(c.spans.nr, 3);
		assert_str_equal(c.spans.v[2].id, "0000000000000003");
		assert_int_equal(c.losses.count[LOSS_FILES_CUT], 0);
		assert_int_equal(c.losses.count[LOSS_PROTO_BROKEN], 0);
		collected_done(&c);
		buf_done(&file);
	}
}

static void cut_protobuf_gives_what_is_in_front(void **state)
{
	struct buf message = make_message(1, 4), span = make_span(1);
	size_t nr_seen = 0;

	(void)state;
	for (size_t cut = 60; cut < message.n; cut++) {
		struct collected c = collect(&source_otlp_protobuf, (struct str){ message.p, cut });

		assert_in_range(c.spans.nr, nr_seen, nr_seen + 1);
		assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 0);
		assert_int_equal(c.losses.count[LOSS_FILES_CUT], 1);
		nr_seen = c.spans.nr;
		collected_done(&c);
	}
	assert_int_equal(nr_seen, 3);
	buf_done(&message);
	buf_done(&span);
}

static void protobuf_logs_are_events(void **state)
{
	struct buf record = { 0 }, any = { 0 };
	struct collected c;

	(void)state;
	put_bytes(&any, 1, STR("hello"));
	put_fixed64(&record, 1, 77);
	put_varint(&record, 2, 17);
	put_bytes(&record, 5, buf_str(&any));
	put_bytes(&record, 9, STR("0123456789abcdef"));
	put_bytes(&record, 10, STR("01234567"));
	wrap(&record, 2);
	wrap(&record, 2);
	wrap(&record, 1);
	c = read_proto(buf_str(&record));
	assert_int_equal(c.events.nr, 1);
	assert_str_equal(c.events.v[0].text, "hello");
	assert_true(c.events.v[0].ns == 77 && c.events.v[0].level == LEVEL_ERROR);
	assert_str_equal(c.events.v[0].span, "3031323334353637");
	collected_done(&c);
	buf_done(&record);
	buf_done(&any);
}

static void text_is_not_taken_for_protobuf(void **state)
{
	(void)state;
	assert_int_equal(source_otlp_protobuf.sniff(STR("\n\n\nsome text\n"), true), 0);
	assert_int_equal(source_otlp_protobuf.sniff(STR("2024-01-01 10:00:00 INFO x\n"), true), 0);
	assert_int_equal(source_otlp_protobuf.sniff(STR("{\"a\":1}"), true), 0);
	assert_int_equal(source_otlp_protobuf.sniff(STR("\0\0\0\0\0\0"), true), 0);
	assert_int_equal(source_otlp_protobuf.sniff(STR(""), true), 0);
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
		cmocka_unit_test(protobuf_says_what_json_says),
		cmocka_unit_test(messages_may_have_their_length_in_front),
		cmocka_unit_test(cut_protobuf_gives_what_is_in_front),
		cmocka_unit_test(protobuf_logs_are_events),
		cmocka_unit_test(text_is_not_taken_for_protobuf),
	};

	return RUN(tests);
}
