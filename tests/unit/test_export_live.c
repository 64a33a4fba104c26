#include "unit.h"

#include <string.h>

#include "export/otlp_metrics.h"
#include "export/prometheus.h"
#include "live_answers.h"

static const struct live_answer answer = LIVE_ANSWER(live_cells);

static void assert_has(const struct buf *b, const char *want)
{
	struct str text = buf_str(b);

	if (str_find(text, str_of(want)) == text.n)
		fail_msg("'%s' is not in\n%.*s", want, (int)text.n, text.p);
}

static void sums_are_counters_and_the_rest_gauges_of_the_last_step(void **state)
{
	const struct live_answer *all[] = { &answer };
	struct buf out = { 0 };

	(void)state;
	prometheus_write(all, 1, NULL, 0, &out);
	assert_has(&out, "# TYPE culprit_query_SUM_e_delta_total counter\n"
			 "culprit_query_SUM_e_delta_total{query=\"Q2\",e_host=\"a\",cl_procName="
			 "\"scan\"} 15\n");
	assert_has(&out, "# TYPE culprit_query_AVERAGE_e_took gauge\n"
			 "culprit_query_AVERAGE_e_took{query=\"Q2\",e_host=\"a\",cl_procName="
			 "\"scan\"} 2.5\n"
			 "culprit_query_AVERAGE_e_took{query=\"Q2\",e_host=\"a\",cl_procName="
			 "\"sort\"} 4\n"
			 /* a second ago */
			 "culprit_query_AVERAGE_e_took{query=\"Q2\",e_host=\"b\",cl_procName="
			 "\"scan\"} 3\n");
	buf_done(&out);
}

/* Two answers: each name has one head, and all its samples below it. */
static void samples_of_one_name_stand_together(void **state)
{
	struct live_answer other = answer;
	const struct live_answer *all[] = { &answer, &other };
	const char *head = "# TYPE culprit_query_SUM_e_delta_total";
	struct buf out = { 0 };
	struct str text, rest;

	(void)state;
	other.id = STR("Q3");
	other.losses.count[LOSS_FILES_EMPTY] = 4;
	prometheus_write(all, 2, NULL, 0, &out);
	text = buf_str(&out);
	rest = str_skip(text, str_find(text, str_of(head)) + 1);
	assert_int_equal(str_find(rest, str_of(head)), rest.n);
	rest = str_head(rest, str_find(rest, STR("# HELP")));
	assert_true(str_find(rest, STR("query=\"Q2\"")) < rest.n);
	assert_true(str_find(rest, STR("query=\"Q3\"")) < rest.n);
	assert_has(&out, "culprit_losses_total{query=\"Q3\",kind=\"files_empty\"} 4\n");
	buf_done(&out);
}

static void names_and_values_cannot_spoil_the_page(void **state)
{
	static const struct live_column columns[] = {
		{ .name = { "a b", 3 }, .is_key = true },
		{ .name = { "a.b", 3 }, .is_key = true },
		{ .name = { "query", 5 }, .is_key = true },
		{ .name = { "COUNT", 5 }, .adds_up = true, .is_count = true },
		{ .name = { "COUNT()", 7 }, .adds_up = true },
	};
	static const struct live_value values[] = { LIVE_T("\"}\n\\"), LIVE_T("\xff"), LIVE_T(""),
						    LIVE_I(1), LIVE_I(-2) };
	static const double series[5] = { 0, 0, 0, 1, -2 };
	static const struct live_row rows[] = { { values, series } };
	const struct live_answer a = { .id = STR("x\"y"),
				       .columns = columns,
				       .nr_columns = 5,
				       .rows = rows,
				       .nr_rows = 1,
				       .nr_steps = 1 };
	const struct live_answer *all[] = { &a };
	struct buf out = { 0 };

	(void)state;
	prometheus_write(all, 1, NULL, 0, &out);
	assert_has(&out, "culprit_query_COUNT_total{query=\"x\\\"y\",a_b=\"\\\"}\\n\\\\\","
			 "a_b_2=\"\xef\xbf\xbd\",query_3=\"\"} 1\n");
	/* what went below zero is no counter */
	assert_has(&out, "# TYPE culprit_query_COUNT_5 gauge\n");
	buf_done(&out);
}

static void peers_tell_their_health(void **state)
{
	const struct live_peer peers[] = {
		{ .name = STR("web1"), .host = STR("web1"), .nr_dropped = 3, .overhead = 0.012 },
		{ .name = STR("top"), .is_hub = true, .is_silent = true, .overhead = -1 },
	};
	struct buf out = { 0 };

	(void)state;
	prometheus_write(NULL, 0, peers, 2, &out);
	assert_has(&out, "culprit_peer_up{kind=\"agent\",name=\"web1\",host=\"web1\"} 1\n"
			 "culprit_peer_up{kind=\"hub\",name=\"top\",host=\"\"} 0\n");
	assert_has(&out, "culprit_peer_dropped_rows_total{kind=\"agent\",name=\"web1\","
			 "host=\"web1\"} 3\n");
	assert_has(&out, "culprit_peer_overhead_ratio{kind=\"agent\",name=\"web1\",host=\"web1\"} "
			 "0.012");
	buf_done(&out);
}

static void metrics_of_opentelemetry_as_json(void **state)
{
	const struct live_answer *all[] = { &answer };
	struct buf out = { 0 };

	(void)state;
	otlp_metrics_json(all, 1, &out);
	assert_has(&out, "{\"name\":\"SUM(e.delta)\",\"sum\":{\"aggregationTemporality\":2,"
			 "\"isMonotonic\":false,\"dataPoints\":[{\"attributes\":[{\"key\":"
			 "\"e.host\",\"value\":{\"stringValue\":\"a\"}},{\"key\":\"cl.procName\","
			 "\"value\":{\"stringValue\":\"scan\"}}],\"startTimeUnixNano\":"
			 "\"90000000000\",\"timeUnixNano\":\"103000000000\",\"asInt\":\"15\"}");
	assert_has(&out, "{\"name\":\"AVERAGE(e.took)\",\"gauge\":{\"dataPoints\":[");
	assert_has(&out, "\"asDouble\":2.5}");
	buf_done(&out);
}

static void metrics_of_opentelemetry_as_protobuf(void **state)
{
	/* resource_metrics 1 > scope_metrics 2 > metric 2 > name 1 */
	const struct str name = STR("\x0a\x0cSUM(e.delta)\x3a");
	const struct str count = STR("\x31\x0f\0\0\0\0\0\0\0"); /* as_int, sfixed64 15 */
	const struct str temporality = STR("\x10\x02\x18\x00");
	const struct live_answer *all[] = { &answer };
	struct buf out = { 0 };
	struct str text;

	(void)state;
	otlp_metrics_proto(all, 1, &out);
	text = buf_str(&out);
	assert_int_equal(text.p[0], 0x0a);
	assert_true(str_find(text, name) < text.n);
	assert_true(str_find(text, count) < text.n);
	assert_true(str_find(text, temporality) < text.n);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_counters_and_the_rest_gauges_of_the_last_step),
		cmocka_unit_test(samples_of_one_name_stand_together),
		cmocka_unit_test(names_and_values_cannot_spoil_the_page),
		cmocka_unit_test(peers_tell_their_health),
		cmocka_unit_test(metrics_of_opentelemetry_as_json),
		cmocka_unit_test(metrics_of_opentelemetry_as_protobuf),
	};

	return RUN(tests);
}
