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

static const struct live_column histogram_columns[] = {
	{ .name = { "le", 2 }, .is_key = true },
	{ .name = { "size", 4 } },
	{ .name = { "size.histogram", 14 } },
};
static const struct live_bucket low[] = { { -2, -1, 1 }, { 0, 0, 2 }, { 1, 2, 3 }, { 8, 16, 4 } },
				high[] = { { 16, 32, 5 } };
static const struct live_value histogram_values[][3] = {
	{ LIVE_T("a"), { LIVE_BUCKETS, { .buckets = { low, 4, 41.5 } } }, LIVE_D(1) },
	{ LIVE_T("b"), { LIVE_BUCKETS, { .buckets = { high, 1, 100 } } }, LIVE_D(1) },
};
static const double histogram_series[3] = { NAN, NAN, 1 };
static const struct live_row histogram_rows[] = { { histogram_values[0], histogram_series },
						  { histogram_values[1], histogram_series } };
static const struct live_answer histogram = { .id = { "H", 1 },
					      .columns = histogram_columns,
					      .nr_columns = 3,
					      .rows = histogram_rows,
					      .nr_rows = 2,
					      .since_ns = 90 * NS_S,
					      .first_ns = 100 * NS_S,
					      .step_ns = NS_S,
					      .nr_steps = 1 };

#define NAME "culprit_query_size_histogram"
/* All rows have the same bounds, and counts are of all that is below. */
static void histograms_are_histograms_of_prometheus(void **state)
{
	const struct live_answer *all[] = { &histogram };
	struct buf out = { 0 };

	(void)state;
	prometheus_write(all, 1, NULL, 0, &out);
	assert_has(&out, "# TYPE " NAME " histogram\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"-1\"} 1\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"0\"} 3\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"2\"} 6\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"16\"} 10\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"32\"} 10\n" NAME
			 "_bucket{query=\"H\",le_1=\"a\",le=\"+Inf\"} 10\n" NAME
			 "_sum{query=\"H\",le_1=\"a\"} 41.5\n" NAME
			 "_count{query=\"H\",le_1=\"a\"} 10\n" NAME
			 "_bucket{query=\"H\",le_1=\"b\",le=\"-1\"} 0\n");
	assert_has(&out, NAME "_bucket{query=\"H\",le_1=\"b\",le=\"32\"} 5\n");
	assert_has(&out, "# TYPE culprit_query_size_histogram_now gauge\n");
	buf_done(&out);
}

static void histograms_are_histograms_of_opentelemetry(void **state)
{
	const struct live_answer *all[] = { &histogram };
	/* count 4, sum 5, bucket_counts 6, explicit_bounds 7 of row b */
	const struct str point =
		STR("\x21\x05\0\0\0\0\0\0\0\x29\0\0\0\0\0\0\x59\x40\x32\x18\0\0\0\0\0\0\0\0"
		    "\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3a\x10\0\0\0\0\0\0\x30\x40"
		    "\0\0\0\0\0\0\x40\x40\x4a");
	struct buf out = { 0 };

	(void)state;
	otlp_metrics_json(all, 1, &out);
	assert_has(&out, "{\"name\":\"size\",\"histogram\":{\"aggregationTemporality\":2,"
			 "\"dataPoints\":[{\"attributes\":[{\"key\":\"le\",\"value\":"
			 "{\"stringValue\":\"a\"}}],\"startTimeUnixNano\":\"90000000000\","
			 "\"timeUnixNano\":\"101000000000\",\"count\":\"10\",\"sum\":41.5,"
			 "\"bucketCounts\":[\"0\",\"1\",\"2\",\"0\",\"3\",\"0\",\"4\",\"0\"],"
			 "\"explicitBounds\":[-2,-1,0,1,2,8,16]}");
	buf_clear(&out);
	otlp_metrics_proto(all, 1, &out);
	assert_true(str_find(buf_str(&out), point) < out.n);
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
		cmocka_unit_test(histograms_are_histograms_of_prometheus),
		cmocka_unit_test(histograms_are_histograms_of_opentelemetry),
		cmocka_unit_test(metrics_of_opentelemetry_as_json),
		cmocka_unit_test(metrics_of_opentelemetry_as_protobuf),
	};

	return RUN(tests);
}
