#include "unit.h"

#include "base/time.h"
#include "collected.h"
#include "source/formats.h"
#include "source/jaeger_time.h"

static struct collected read_text(struct str text)
{
	assert_true(source_jaeger.sniff(text, true) > 50);
	return collect(&source_jaeger, text);
}

#define PROCESSES \
	"\"processes\":{\"p2\":{\"serviceName\":\"db\",\"tags\":[{\"key\":\"ip\",\"value\":\"10." \
	"0.0.2\"}," \
	"{\"key\":\"hostname\",\"type\":\"string\",\"value\":\"h2\"}]},\"p1\":{\"serviceName\":" \
	"\"web\"}}"
#define TRACE(spans) "{\"traceID\":\"t1\",\"spans\":[" spans "]," PROCESSES "}"
#define SPAN(id, more) \
	"{\"spanID\":\"" id "\",\"operationName\":\"op\",\"startTime\":100,\"duration\":5," \
	"\"processID\":\"p2\"" more "}"

static void a_trace_gives_its_spans_their_process(void **state)
{
	struct collected c = read_text(STR("{\"data\":[" TRACE(SPAN(
		"A", ",\"tags\":[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"
		     "{\"key\":\"error\",\"type\":\"bool\",\"value\":true},"
		     "{\"key\":\"n\",\"type\":\"int64\",\"value\":\"9223372036854775222\"},"
		     "{\"key\":\"otel.scope.name\",\"value\":\"lib\"}]")) "]}"));
	struct span s = c.spans.v[0];

	(void)state;
	assert_int_equal(c.spans.nr, 1);
	assert_true(s.start == 100000 && s.end == 105000);
	assert_true(s.kind == SPAN_SERVER && s.status == STATUS_ERROR);
	assert_str_equal(s.key, "t1");
	assert_str_equal(s.id, "A");
	assert_str_equal(s.node, "db");
	assert_str_equal(s.host, "h2");
	assert_true(collected_attr(s.attrs, "n").i == 9223372036854775222);
	assert_int_equal(collected_attr(s.attrs, "ip").scope, ATTR_RESOURCE);
	assert_int_equal(collected_attr(s.attrs, "otel.scope.name").scope, ATTR_LIBRARY);
	collected_done(&c);
}

static void references_become_one_parent_and_links(void **state)
{
	struct collected c = read_text(STR(TRACE(SPAN(
		"a", ",\"references\":[{\"refType\":\"CHILD_OF\",\"traceID\":"
		     "\"t9\",\"spanID\":\"z\"},"
		     "{\"refType\":\"FOLLOWS_FROM\",\"spanID\":\"y\"},"
		     "{\"refType\":\"CHILD_OF\",\"traceID\":\"t1\",\"spanID\":"
		     "\"x\"}]") "," SPAN("b", ",\"references\":[{\"refType\":"
					      "\"FOLLOWS_FROM\",\"spanID\":\"y\"}"
					      "]") "," SPAN("c", ",\"parentSpanID\":"
								 "\"a\"") "," SPAN("d", ","
											"\""
											"pa"
											"re"
											"nt"
											"Sp"
											"an"
											"ID"
											"\""
											":"
											"\""
											"0"
											"\""))));
	struct str links = c.spans.v[0].links;
	struct link l;

	(void)state;
	assert_int_equal(c.spans.nr, 4);
	assert_str_equal(c.spans.v[0].parent_id, "x");
	assert_false(c.spans.v[0].follows);
	assert_true(link_take(&links, &l));
	assert_str_equal(l.trace, "t9");
	assert_int_equal(l.kind, LINK_CHILD_OF);
	assert_true(link_take(&links, &l));
	assert_str_equal(l.span, "y");
	assert_int_equal(l.kind, LINK_FOLLOWS_FROM);
	assert_false(link_take(&links, &l));
	assert_str_equal(c.spans.v[1].parent_id, "y");
	assert_true(c.spans.v[1].follows);
	assert_str_equal(c.spans.v[2].parent_id, "a");
	assert_int_equal(c.spans.v[3].parent_id.n, 0);
	collected_done(&c);
}

static void logs_are_events_of_their_span(void **state)
{
	struct collected c = read_text(STR(TRACE(SPAN(
		"a",
		",\"logs\":[{\"timestamp\":102,\"fields\":[{\"key\":\"event\",\"value\":\"miss\"},"
		"{\"key\":\"level\",\"value\":\"warn\"}]},{\"timestamp\":103,\"fields\":"
		"[{\"key\":\"message\",\"value\":\"hello 17\"}]},{\"fields\":[]}]"))));

	(void)state;
	assert_int_equal(c.events.nr, 2);
	assert_int_equal(c.events.v[0].ns, 102000);
	assert_str_equal(c.events.v[0].text, "miss");
	assert_int_equal(c.events.v[0].level, LEVEL_WARN);
	assert_str_equal(c.events.v[0].span, "a");
	assert_str_equal(c.events.v[0].node, "db");
	assert_str_equal(c.events.v[1].text, "hello 17");
	assert_int_equal(c.losses.count[LOSS_EVENTS_BROKEN], 1);
	collected_done(&c);
}

static void every_framing_holds_the_same(void **state)
{
	static const char *const texts[] = {
		TRACE(SPAN("a", "") "," SPAN("b", "")),
		TRACE(SPAN("a", "")) "\n" TRACE(SPAN("b", "")) "\n",
		"[" TRACE(SPAN("a", "")) ",\n" TRACE(SPAN("b", "")) "]",
		"{\n\"total\":1,\"data\":[" TRACE(SPAN("a", "")) "," TRACE(
			SPAN("b", "")) "],\"errors\":null}",
		"{\"case\":1,\"trace\":" TRACE(
			SPAN("a", "") "," SPAN("b", "")) ",\"sections\":[{\"spanID\":\"a\"}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct collected c = read_text(str_of(texts[i]));

		assert_int_equal(c.spans.nr, 2);
		assert_str_equal(c.spans.v[0].id, "a");
		assert_str_equal(c.spans.v[1].id, "b");
		assert_str_equal(c.spans.v[1].node, "db");
		collected_done(&c);
	}
}

static void elasticsearch_documents_are_spans(void **state)
{
	struct collected c = read_text(STR(
		"{\"_index\":\"jaeger-span\",\"_source\":{\"traceID\":\"00000000000000AB\","
		"\"spanID\":"
		"\"0000000000000002\",\"operationName\":\"op\",\"startTimeMillis\":1485467191639,"
		"\"duration\":5,\"tag\":{\"http@url\":\"/x\",\"span@kind\":\"client\"},\"tags\":"
		"[{\"key\":\"blob\",\"type\":\"binary\",\"value\":\"00003039\"}],"
		"\"process\":{\"serviceName\":\"s\",\"tag\":{\"hostname\":\"h\"}}}}\n"));
	struct span s = c.spans.v[0];

	(void)state;
	assert_int_equal(c.spans.nr, 1);
	assert_str_equal(s.key, "00000000000000ab");
	assert_true(s.start == 1485467191639 * NS_MS && s.kind == SPAN_CLIENT);
	assert_str_equal(s.node, "s");
	assert_str_equal(s.host, "h");
	assert_str_equal(collected_attr(s.attrs, "http.url").text, "/x");
	assert_memory_equal(collected_attr(s.attrs, "blob").text.p, "\0\0\x30\x39", 4);
	collected_done(&c);
}

static void bad_spans_are_counted(void **state)
{
	struct collected c = read_text(
		STR(TRACE("{\"spanID\":\"a\",\"operationName\":\"op\"},{\"startTime\":1},null,"
			  "{\"spanID\":\"b\",\"startTime\":5,\"duration\":-3},{\"spanID\":\"c\","
			  "\"startTime\":5},"
			  "{\"spanID\":\"d\",\"startTime\":9223372036854775,\"duration\":"
			  "9223372036854775}")));

	(void)state;
	assert_int_equal(c.spans.nr, 2);
	assert_int_equal(c.spans.v[0].end, 5000);
	assert_int_equal(c.losses.count[LOSS_SPANS_BROKEN], 4);
	assert_int_equal(c.losses.count[LOSS_SPANS_NEGATIVE], 1);
	assert_int_equal(c.losses.count[LOSS_SPANS_OPEN], 1);
	collected_done(&c);
}

static void a_cut_trace_gives_its_first_spans(void **state)
{
	struct collected c =
		read_text(STR("{\"data\":[{\"processes\":{\"p2\":{\"serviceName\":\"db\"}},"
			      "\"traceID\":\"t\",\"spans\":[" SPAN("a", "") "," SPAN(
				      "b", "") ",{\"spanID\":\"c\",\"tags\":[{}],\"startTime\":7"));

	(void)state;
	assert_int_equal(c.spans.nr, 2);
	assert_str_equal(c.spans.v[1].node, "db");
	assert_int_equal(c.losses.count[LOSS_FILES_CUT], 1);
	collected_done(&c);
}

static void durations_and_times_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = { { "5000ns", 5000 },        { "0.000005s", 5000 },
		     { "1m2.5s", 62500000000 }, { "1.5\xc2\xb5s", 1500 },
		     { "-3ms", -3000000 },      { "1.000000001s", 1000000001 },
		     { ".5s", 500000000 } };
	static const char *const bad[] = { "", "5", "s", "5 s", "99999999999999h", "1.2.3s", "-" };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_true(jaeger_time_of_duration(str_of(good[i].text), &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(jaeger_time_of_duration(str_of(bad[i]), &ns));
	assert_true(jaeger_time_of_rfc3339(STR("2017-01-26T16:46:31.639875139-05:00"), &ns));
	assert_int_equal(ns, 1485467191639875139);
	assert_true(jaeger_time_of_rfc3339(STR("1970-01-01T00:00:00Z"), &ns));
	assert_int_equal(ns, 0);
	assert_false(jaeger_time_of_rfc3339(STR("2017-13-26T16:46:31Z"), &ns));
	assert_false(jaeger_time_of_rfc3339(STR("2017-01-26T16:46:31"), &ns));
}

/* The same trace, once as the page shows it and once as protobuf has it. */
static void both_published_encodings_say_the_same(void **state)
{
	struct collected ui, proto;

	(void)state;
	if (!collect_data(&ui, &source_jaeger, "jaeger/ui_01.json"))
		skip();
	assert_true(collect_data(&proto, &source_jaeger, "jaeger/domain_01.json"));
	assert_int_equal(ui.spans.nr, 5);
	assert_int_equal(proto.spans.nr, 5);
	assert_int_equal(ui.events.nr, proto.events.nr);
	for (size_t i = 0; i < 5; i++) {
		struct span a = ui.spans.v[i], b = proto.spans.v[i];

		assert_true(str_ends(b.key, a.key) && str_eq(a.id, b.id));
		assert_true(str_eq(a.parent_id, b.parent_id) && str_eq(a.node, b.node));
		assert_true(a.start / NS_US == b.start / NS_US && a.status == b.status);
		assert_true(a.end - a.start == b.end - b.start);
	}
	assert_str_equal(ui.spans.v[3].parent_id, "0000000000000002");
	assert_int_equal(collected_attr(proto.spans.v[1].attrs, "blob").type, ATTR_BYTES);
	assert_true(str_eq(collected_attr(proto.spans.v[1].attrs, "blob").text,
			   collected_attr(ui.spans.v[1].attrs, "blob").text));
	assert_str_equal(collected_attr(ui.spans.v[3].attrs, "jaeger.warnings").text,
			 "[\"some span warning\"]");
	collected_done(&ui);
	collected_done(&proto);
	assert_true(collect_data(&ui, &source_jaeger, "jaeger/es_01.json"));
	assert_true(collect_data(&proto, &source_jaeger, "jaeger/domain_es_01.json"));
	assert_int_equal(ui.spans.nr, 1);
	assert_true(str_eq(ui.spans.v[0].id, proto.spans.v[0].id));
	assert_true(str_eq(ui.spans.v[0].parent_id, proto.spans.v[0].parent_id));
	assert_true(ui.spans.v[0].start == proto.spans.v[0].start);
	assert_true(str_eq(collected_attr(ui.spans.v[0].attrs, "blob").text,
			   collected_attr(proto.spans.v[0].attrs, "blob").text));
	collected_done(&ui);
	collected_done(&proto);
}

static void the_critical_path_cases_are_read(void **state)
{
	static const struct {
		const char *name;
		size_t nr_spans;
	} files[] = { { "critical-path/case1.json", 3 }, { "critical-path/crisp/1.json", 1 } };
	struct collected c;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!collect_data(&c, &source_jaeger, files[i].name))
			skip();
		assert_int_equal(c.spans.nr, files[i].nr_spans);
		for (size_t k = 0; k < LOSS_NR; k++)
			assert_int_equal(c.losses.count[k], 0);
		collected_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_gives_its_spans_their_process),
		cmocka_unit_test(references_become_one_parent_and_links),
		cmocka_unit_test(logs_are_events_of_their_span),
		cmocka_unit_test(every_framing_holds_the_same),
		cmocka_unit_test(elasticsearch_documents_are_spans),
		cmocka_unit_test(bad_spans_are_counted),
		cmocka_unit_test(a_cut_trace_gives_its_first_spans),
		cmocka_unit_test(durations_and_times_are_exact),
		cmocka_unit_test(both_published_encodings_say_the_same),
		cmocka_unit_test(the_critical_path_cases_are_read),
	};

	return RUN(tests);
}
