#include "unit.h"

#include <stdlib.h>

#include "source/logid.h"

#define T "4bf92f3577b34da6a3ce929d0e0e4736"
#define S "00f067aa0ba902b7"
#define U "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

struct sample {
	const char *text;
	enum key_kind kind;
	const char *key, *span;
};

static void check(const struct sample *s)
{
	struct logid id = { 0 };
	bool found = logid_find(str_of(s->text), &id);

	if (found != (s->kind != KEY_NONE) || id.kind != s->kind)
		fail_msg("'%s' gives kind %d '%.*s'", s->text, id.kind, (int)id.key.n, id.key.p);
	if (found && !str_eq(id.key, str_of(s->key)))
		fail_msg("'%s' gives '%.*s'", s->text, (int)id.key.n, id.key.p);
	if (found && s->span && !str_eq(id.span, str_of(s->span)))
		fail_msg("'%s' gives the span '%.*s'", s->text, (int)id.span.n, id.span.p);
}

#define CHECK_ALL(list) \
	for (size_t i_ = 0; i_ < sizeof(list) / sizeof(*(list)); i_++) \
	check(&(list)[i_])

static void trace_ids_are_found_in_every_usual_dress(void **state)
{
	static const struct sample samples[] = {
		{ "trace_id=" T " span_id=" S " done", KEY_TRACE, T, S },
		{ "span_id=" S " trace_id=" T, KEY_TRACE, T, S },
		{ "{\"traceId\":\"" T "\",\"spanId\":\"" S "\"}", KEY_TRACE, T, S },
		{ "{\\\"traceId\\\":\\\"" T "\\\"}", KEY_TRACE, T, "" },
		{ "x TraceID: " T ".", KEY_TRACE, T, "" },
		{ "ok, trace.id=" T ", transaction.id=" S, KEY_TRACE, T, "" },
		{ "dd.trace_id=1234567890123456789 dd.span_id=123", KEY_TRACE,
		  "1234567890123456789", "123" },
		{ "X-B3-TraceId: " S, KEY_TRACE, S, "" },
		{ "traceparent: 00-" T "-" S "-01", KEY_TRACE, T, S },
		{ "headers {Traceparent=[00-" T "-" S "-00]}", KEY_TRACE, T, S },
		{ "uber-trace-id: " S ":" S ":0:1", KEY_TRACE, S, S },
		{ "X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678;Sampled=1", KEY_TRACE,
		  "1-67891233-abcdef012345678912345678", "" },
		{ "[shop," T "," S "] took the order", KEY_TRACE, T, S },
		{ "[shop-front," S "," S ",true] x", KEY_TRACE, S, S },
		{ "[" T "-" S "] hello", KEY_TRACE, T, S },
		{ "[TID: " T ".44.16789012340001] hello", KEY_TRACE, T ".44.16789012340001", "" },
		{ "sw8=1-QUJDREVGMTIzNDU2Nzg5MA==-c2Vn-0-", KEY_TRACE,
		  "QUJDREVGMTIzNDU2Nzg5MA==", "" },
		{ "<traceId>" T "</traceId>", KEY_TRACE, T, "" },
		{ "the trace id " T " was sampled", KEY_TRACE, T, "" },
	};

	(void)state;
	CHECK_ALL(samples);
}

static void request_ids_are_found_in_every_usual_dress(void **state)
{
	static const struct sample samples[] = {
		{ "GET / request_id=abc-123", KEY_REQUEST, "abc-123", "" },
		{ "requestId: " U ", took 5", KEY_REQUEST, U, "" },
		{ "X-Request-ID: '" U "'", KEY_REQUEST, U, "" },
		{ "{\"reqId\":42}", KEY_REQUEST, "42", "" },
		{ "correlationId='c0ffee01'", KEY_REQUEST, "c0ffee01", "" },
		{ "vim [opID=HB-host-12@44-5d] begins", KEY_REQUEST, "HB-host-12@44-5d", "" },
		{ "<Correlation_ID>9-8-7</Correlation_ID>", KEY_REQUEST, "9-8-7", "" },
		{ "[req-" U " admin] GET /v2", KEY_REQUEST, "req-" U, "" },
		{ "rolled txid=77001 now", KEY_REQUEST, "77001", "" },
		{ "request_id=r-7 trace_id=" T, KEY_TRACE, T, "" },
	};

	(void)state;
	CHECK_ALL(samples);
}

static void identifiers_of_work_are_taken_when_nothing_surer_is_there(void **state)
{
	static const struct sample samples[] = {
		{ "Receiving BP-1:blk_1073741825_1001 src", KEY_WORK, "blk_1073741825_1001", "" },
		{ "deleted blk_-8937421", KEY_WORK, "blk_-8937421", "" },
		{ "/data/blk_1073741825.meta", KEY_WORK, "blk_1073741825", "" },
		{ "application_1794734949183_0001 ran", KEY_WORK, "application_1794734949183_0001",
		  "" },
		{ "attempt_1794734949183_0001_m_000000_0", KEY_WORK,
		  "attempt_1794734949183_0001_m_000000_0", "" },
		{ "container_e12_1794734949183_0001_01_000002 up", KEY_WORK,
		  "container_e12_1794734949183_0001_01_000002", "" },
		{ "x86_64 and job_12 then task_20240 ", KEY_WORK, "task_20240", "" },
		{ "blk_1073741825 request_id=5", KEY_REQUEST, "5", "" },
		{ "cliID: DFSClient_NONMAPREDUCE_-29_1001, blockid: blk_1073", KEY_WORK, "blk_1073",
		  "" },
		{ "blk_1073 of blk_2000", KEY_WORK, "blk_1073", "" },
		{ "DFSClient_NONMAPREDUCE_-29_1001 left", KEY_WORK,
		  "DFSClient_NONMAPREDUCE_-29_1001", "" },
	};

	(void)state;
	CHECK_ALL(samples);
}

static void prose_and_empty_ids_name_nothing(void **state)
{
	static const struct sample samples[] = {
		{ "", KEY_NONE, "", "" },
		{ "the request id is missing", KEY_NONE, "", "" },
		{ "trace_id=00000000000000000000000000000000", KEY_NONE, "", "" },
		{ "traceparent: 00-00000000000000000000000000000000-" S "-01", KEY_NONE, "", "" },
		{ "[shop,,] started", KEY_NONE, "", "" },
		{ "request_id=- requestId=null reqid=\"\"", KEY_NONE, "", "" },
		{ "shopId=12345 userId=777 stopID: 9", KEY_NONE, "", "" },
		{ "parentSpanId=" S " spanId=" S, KEY_NONE, "", "" },
		{ "tid: 140245", KEY_NONE, "", "" },
		{ "container_01_0000011a1de8a.tokens", KEY_NONE, "", "" },
		{ "x_1234 ab_1234 _1234 word_ word_- 12_345678", KEY_NONE, "", "" },
		{ "did not avoid the grid id", KEY_NONE, "", "" },
		{ "request_id=", KEY_NONE, "", "" },
		{ "traceparent", KEY_NONE, "", "" },
		{ "[", KEY_NONE, "", "" },
	};

	(void)state;
	CHECK_ALL(samples);
}

/* The sieve works in steps: a name must be found wherever it stands, at the very end too. */
static void the_place_in_the_text_does_not_matter(void **state)
{
	(void)state;
	for (size_t front = 0; front < 70; front++)
		for (size_t behind = 0; behind < 3; behind++) {
			size_t n = front + 17 + behind * 13;
			char *text = malloc(n); /* exactly as long: a byte too far is noticed */
			struct logid id;

			memset(text, ' ', n);
			memcpy(text + front, "blk_1073741825_10", 17);
			assert_true(logid_find((struct str){ text, n }, &id));
			assert_int_equal(id.kind, KEY_WORK);
			assert_str_equal(id.key, "blk_1073741825_10");
			free(text);
		}
}

static void it_is_told_whether_digits_count(void **state)
{
	static const struct {
		const char *text;
		bool by_digits;
	} texts[] = { { "took blk_1073741825_1001 of 7", false },
		      { "nothing of 17", false },
		      { "trace_id=4bf92f3577b34da6a3ce929d0e0e4736", true },
		      { "req-4e2f0a9b-8c7d-4e5f-aa3b-2c1d0e9f8a7b", true },
		      { "[4e2f0a9b-8c7d-4e5f-aa3b-2c1d0e9f8a7b] x", true },
		      { "header sw7: 1", true } };
	struct logid id;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		bool by_digits;

		logid_find_noting(str_of(texts[i].text), &id, &by_digits);
		assert_true(by_digits == texts[i].by_digits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_told_whether_digits_count),
		cmocka_unit_test(trace_ids_are_found_in_every_usual_dress),
		cmocka_unit_test(request_ids_are_found_in_every_usual_dress),
		cmocka_unit_test(identifiers_of_work_are_taken_when_nothing_surer_is_there),
		cmocka_unit_test(prose_and_empty_ids_name_nothing),
		cmocka_unit_test(the_place_in_the_text_does_not_matter),
	};

	return RUN(tests);
}
