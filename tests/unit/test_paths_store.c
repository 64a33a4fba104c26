#include "unit.h"

#include <stdio.h>

#include "base/error.h"
#include "infer/paths/paths.h"
#include "model/attr.h"
#include "model/loss.h"
#include "store/store.h"

struct seen {
	unsigned nr_requests, nr_spans, nr_events;
	int64_t message[16], parent[16];
	char node[16][8];
};

static struct event message(enum message_op op, const char *from, const char *to, const char *id,
			    int64_t ns)
{
	return (struct event){ .ns = ns,
			       .kind = EVENT_MESSAGE,
			       .op = op,
			       .nr_lines = 1,
			       .duration = -1,
			       .node = str_of(from),
			       .peer = str_of(to),
			       .id = str_of(id) };
}

static void deliver(struct store *s, const char *path, struct event *events, size_t nr)
{
	struct sink sink = store_sink(s);
	struct error err = { 0 };
	uint32_t file;

	assert_int_equal(
		sink.file(sink.to, &(struct file_seen){ .path = str_of(path) }, &file, &err), 0);
	for (size_t i = 0; i < nr; i++)
		events[i].file = file;
	assert_int_equal(sink.events(sink.to, events, nr, &err), 0);
}

static int take_request(void *ctx, const struct request *r, const struct request_body *b)
{
	struct seen *seen = ctx;

	(void)r;
	seen->nr_requests++;
	seen->nr_events += (unsigned)b->nr_events;
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];
		struct attr a;

		assert_true(attr_find(s->attrs, STR("message"), &a));
		assert_true(s->kind == SPAN_SERVER);
		seen->message[seen->nr_spans] = a.i;
		seen->parent[seen->nr_spans] = -1;
		if (s->parent != SPAN_NONE) {
			assert_true(attr_find(b->spans[s->parent].attrs, STR("message"), &a));
			seen->parent[seen->nr_spans] = a.i;
		}
		snprintf(seen->node[seen->nr_spans++], 8, STR_FMT, STR_ARG(s->node));
	}
	return 0;
}

static struct seen infer(struct store *s, const char *method)
{
	struct infer_options o = INFER_DEFAULTS;
	struct seen seen = { 0 };
	struct error err = { 0 };

	o.method = method;
	assert_int_equal(infer_paths.run(s, &o, &err), 0);
	assert_int_equal(store_finish(s, &err), 0);
	assert_int_equal(store_each_body(s, NULL, take_request, &seen, &err), 0);
	return seen;
}

static void calls_become_a_request_of_spans(void **state)
{
	struct event in[] = {
		message(MESSAGE_CALL, "a", "b", "1", 10),
		message(MESSAGE_CALL, "b", "c", "2", 20),
		message(MESSAGE_RETURN, "c", "b", "2", 30),
		message(MESSAGE_RETURN, "b", "a", "1", 40),
		message(MESSAGE_CALL, "a", "b", "3", 50),
		message(MESSAGE_RETURN, "b", "x", "3", 60),
	};
	struct error err = { 0 };
	struct store *s;
	struct seen seen;

	(void)state;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "t", in, 6);
	seen = infer(s, NULL);
	assert_int_equal(seen.nr_requests, 1);
	assert_int_equal(seen.nr_spans, 2);
	assert_int_equal(seen.nr_events, 4);
	assert_int_equal(seen.message[0], 1);
	assert_int_equal(seen.parent[0], -1);
	assert_string_equal(seen.node[0], "b");
	assert_int_equal(seen.message[1], 2);
	assert_int_equal(seen.parent[1], 1);
	assert_string_equal(seen.node[1], "c");
	assert_int_equal(store_losses(s)->count[LOSS_CALLS_OPEN], 1);
	assert_int_equal(store_losses(s)->count[LOSS_RETURNS_OPEN], 1);
	store_close(s);
}

/* One capture at each of two hosts, the later one first, and a log between them. */
static void captures_are_merged_by_time(void **state)
{
	struct event second[] = { message(MESSAGE_RETURN, "c", "b", "2", 30),
				  message(MESSAGE_CALL, "b", "c", "2", 20) };
	struct event log[] = { { .ns = 5, .kind = EVENT_LOG, .nr_lines = 1, .duration = -1 } };
	struct event first[] = { message(MESSAGE_CALL, "a", "b", "1", 10),
				 message(MESSAGE_RETURN, "b", "a", "1", 40) };
	struct error err = { 0 };
	struct store *s;
	struct seen seen;

	(void)state;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "2", second, 2);
	deliver(s, "log", log, 1);
	deliver(s, "1", first, 2);
	seen = infer(s, "nesting");
	assert_int_equal(seen.nr_requests, 1);
	assert_int_equal(seen.nr_spans, 2);
	assert_int_equal(seen.message[0], 3); /* messages are counted, log lines are not */
	assert_int_equal(seen.message[1], 2);
	assert_int_equal(seen.parent[1], 3);
	store_close(s);
}

/* At the same moment each of two calls could have caused the other. */
static void circles_are_cut_and_counted(void **state)
{
	struct event in[] = {
		message(MESSAGE_CALL, "a", "b", "1", 10),
		message(MESSAGE_CALL, "b", "a", "2", 10),
		message(MESSAGE_RETURN, "b", "a", "1", 20),
		message(MESSAGE_RETURN, "a", "b", "2", 20),
	};
	struct error err = { 0 };
	struct store *s;
	struct seen seen;

	(void)state;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "t", in, 4);
	seen = infer(s, "joint");
	assert_int_equal(seen.nr_requests, 1);
	assert_int_equal(seen.nr_spans, 2);
	assert_int_equal(store_losses(s)->count[LOSS_PARENTS_CIRCLE], 1);
	store_close(s);
}

static void an_unknown_method_is_told(void **state)
{
	struct infer_options o = INFER_DEFAULTS;
	struct error err = { 0 };
	struct store *s;

	(void)state;
	o.method = "guessing";
	assert_int_equal(store_create(&s, NULL, &err), 0);
	assert_true(infer_paths.run(s, &o, &err) < 0);
	assert_non_null(strstr(err.msg, "guessing"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_become_a_request_of_spans),
		cmocka_unit_test(captures_are_merged_by_time),
		cmocka_unit_test(circles_are_cut_and_counted),
		cmocka_unit_test(an_unknown_method_is_told),
	};

	return RUN(tests);
}
