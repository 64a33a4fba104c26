/* Runs made by the tests of questions: requests with spans, put into a store that is gone
 * afterwards. */
#ifndef CULPRIT_TESTS_ASK_RUN_H
#define CULPRIT_TESTS_ASK_RUN_H

#include "ask/question.h"
#include "ask/stats.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/time.h"
#include "model/attr.h"
#include "report/report.h"
#include "report/writer.h"
#include "store/store.h"

#define RUN_START (1700000000LL * NS_S)

/* web:GET /order calls auth:check (1 ms) and then one of three stock nodes (5 ms), one after the
 * other, with noise; what happens to request i is up to the test. */
struct order {
	int i;
	const char *stock; /* the node */
	int64_t auth_ns, stock_ns, tail_ns;
	bool error;
	const char *zone; /* an attribute */
};

static inline struct store *run_new(void)
{
	struct store *s;
	struct error err;

	assert_int_equal(store_create(&s, NULL, &err), 0);
	return s;
}

static inline void run_add(struct store *s, const char *type, const struct order *o)
{
	int64_t t = RUN_START + o->i * 10 * NS_MS, a = t + NS_MS / 2, b = a + o->auth_ns;
	int64_t c = b + o->stock_ns, end = c + NS_MS / 2 + o->tail_ns;
	struct buf attrs = { 0 };
	struct span spans[] = {
		{ .start = t,
		  .end = end,
		  .parent = SPAN_NONE,
		  .id = STR("s1"),
		  .name = STR("GET"),
		  .node = STR("web"),
		  .confidence = 1 },
		{ .start = a,
		  .end = b,
		  .parent = 0,
		  .id = STR("s2"),
		  .name = STR("check"),
		  .node = STR("auth"),
		  .confidence = 1 },
		{ .start = b,
		  .end = c,
		  .parent = 0,
		  .id = STR("s3"),
		  .name = STR("reserve"),
		  .node = str_of(o->stock),
		  .confidence = 1,
		  .status = o->error ? STATUS_ERROR : STATUS_OK },
	};
	struct request_body body = { .spans = spans, .nr_spans = 3 };
	char key[32];
	struct request r = { .type = str_of(type),
			     .key_kind = KEY_TRACE,
			     .method = STR("carried"),
			     .start = t,
			     .end = end,
			     .nr_spans = 3,
			     .error = o->error,
			     .confidence = 1 };
	struct error err;

	snprintf(key, sizeof(key), "%s-%d", type, o->i);
	r.key = str_of(key);
	if (o->zone)
		attr_add_str(&attrs, STR("zone"), str_of(o->zone));
	spans[0].attrs = buf_str(&attrs);
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
	buf_done(&attrs);
}

static inline struct order run_order(struct dice *dice, int i)
{
	static const char *const stocks[] = { "stock1", "stock2", "stock3" };

	return (struct order){ .i = i,
			       .stock = stocks[dice_below(dice, 3)],
			       .auth_ns = NS_MS + (int64_t)dice_below(dice, NS_MS / 10),
			       .stock_ns = 5 * NS_MS + (int64_t)dice_below(dice, NS_MS) };
}

static inline void run_finish(struct store *s)
{
	struct error err;

	assert_int_equal(store_finish(s, &err), 0);
}

/* Puts the question with some options and gives the report's JSON lines; what it returned is *got.
 */
static inline void run_ask(struct store *const *runs, const char *question,
			   const char *const *given, struct buf *json, int *got)
{
	const struct question *q = NULL;
	const char *values[32] = { NULL }, *run = NULL;
	struct report report;
	struct error err = { 0 };

	for (size_t i = 0; questions[i]; i++)
		if (str_eq(str_of(questions[i]->name), str_of(question)))
			q = questions[i];
	assert_non_null(q);
	for (; given && *given; given += 2) {
		size_t i = 0;

		if (str_eq(str_of(*given), STR("(run)"))) {
			run = given[1];
			continue;
		}
		while (q->options[i].name && !str_eq(str_of(q->options[i].name), str_of(*given)))
			i++;
		assert_non_null(q->options[i].name);
		values[i] = given[1];
	}
	report_init(&report);
	*got = q->run(runs, &(struct args){ q->options, values, run }, &report, &err);
	buf_clear(json);
	if (*got >= 0)
		report_write_json(&report, json);
	else
		buf_add(json, str_of(err.msg));
	report_done(&report);
}

#define ASK(run, question, json, got, ...) \
	run_ask((struct store *const[]){ run }, question, \
		(const char *const[]){ __VA_ARGS__ NULL }, json, got)

/* Walks over JSON lines: the next one, parsed. */
static inline bool run_next(struct json *j, struct str *lines, struct json_value *v)
{
	struct str line;
	struct error err;

	if (!str_take_line(lines, &line))
		return false;
	assert_int_equal(json_parse(j, line, false, v, &err), 0);
	return true;
}

static inline struct str run_str(struct json_value v, const char *key)
{
	struct str s = { "", 0 };

	json_str(json_get(v, str_of(key)), &s);
	return s;
}

static inline double run_double(struct json_value v, const char *key)
{
	double d = -1e300;

	json_double(json_get(v, str_of(key)), &d);
	return d;
}

static inline int64_t run_int(struct json_value v, const char *key)
{
	int64_t n = INT64_MIN;

	json_int(json_get(v, str_of(key)), &n);
	return n;
}

#endif
