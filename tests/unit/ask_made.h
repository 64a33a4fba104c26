/* Runs with something odd in them, made by the tests: requests of any spans, lines of any node, and
 * what answer says of them. */
#ifndef CULPRIT_TESTS_ASK_MADE_H
#define CULPRIT_TESTS_ASK_MADE_H

#include <stdio.h>

#include "ask_run.h"
#include "model/sink.h"

#define MADE_SPANS 48

/* A request under construction. */
struct made {
	struct span spans[MADE_SPANS];
	size_t nr;
	const char *type;
	bool error;
};

static inline size_t add(struct made *m, uint32_t parent, const char *node, const char *name,
			 int64_t start, int64_t end)
{
	m->spans[m->nr] = (struct span){ .start = start,
					 .end = end,
					 .parent = parent,
					 .name = str_of(name),
					 .node = str_of(node),
					 .confidence = 1 };
	return m->nr++;
}

static inline void put(struct store *s, const struct made *m)
{
	static int counter;
	struct request_body body = { .spans = (struct span *)m->spans, .nr_spans = m->nr };
	struct request r = { .type = str_of(m->type),
			     .key_kind = KEY_TRACE,
			     .method = STR("made"),
			     .start = m->spans[0].start,
			     .end = m->spans[0].end,
			     .error = m->error,
			     .confidence = 1 };
	char key[32];
	struct error err;

	for (size_t i = 0; i < m->nr; i++)
		r.end = m->spans[i].end > r.end ? m->spans[i].end : r.end;
	snprintf(key, sizeof(key), "%s-%d", m->type, counter++);
	r.key = str_of(key);
	assert_int_equal(store_add_request(s, &r, &body, &err), 0);
}

static inline int64_t vary(struct dice *d, int64_t ns)
{
	return ns + (int64_t)dice_below(d, (size_t)ns / 2);
}

/* The first anomaly of that kind (NULL: of any), or false. */
static inline bool find(struct store *s, const char *kind, struct json *j, struct buf *out,
			struct json_value *v)
{
	struct str lines;
	int got;

	ASK(s, "answer", out, &got, );
	assert_true(got >= 0);
	lines = buf_str(out);
	while (run_next(j, &lines, v))
		if (str_eq(run_str(*v, "section"), STR("anomalies")) &&
		    (!kind || str_eq(run_str(*v, "anomaly"), str_of(kind))))
			return true;
	return false;
}

static inline void expect_nothing(struct store *s)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;

	if (find(s, NULL, j, &out, &v))
		fail_msg("found: %.*s", (int)run_str(v, "text").n, run_str(v, "text").p);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

/* The node of the anomaly of that kind, and how many there are of any. */
static inline void expect(struct store *s, const char *kind, const char *node, int64_t began,
			  int64_t ended)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;

	if (!find(s, kind, j, &out, &v))
		fail_msg("no anomaly of kind %s in: %.*s", kind, (int)out.n, out.p);
	if (node)
		assert_str_equal(run_str(v, "node"), node);
	if (began)
		assert_true(llabs(run_int(v, "began") - began) < 2 * NS_S);
	if (ended)
		assert_true(llabs(run_int(v, "ended") - ended) < 2 * NS_S);
	assert_true(run_double(v, "confidence") > 0.7);
	assert_true(run_str(v, "text").n > 0);
	buf_done(&out);
	json_free(j);
	store_close(s);
}

#define AT(seconds) (RUN_START + (int64_t)((seconds) * (double)NS_S))

static inline void say_event(const struct sink *sink, const char *node, int64_t ns,
			     enum level level, const char *text)
{
	struct event ev = { .ns = ns,
			    .kind = EVENT_LOG,
			    .level = level,
			    .nr_lines = 1,
			    .duration = -1,
			    .node = str_of(node),
			    .text = str_of(text) };
	struct error err;

	assert_int_equal(sink->events(sink->to, &ev, 1, &err), 0);
}

#endif
