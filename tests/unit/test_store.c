#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "home.h"
#include "store/store.h"
#include "store_same.h"

static const struct event full_event = {
	.ns = 1700000000123456789,
	.kind = EVENT_POINT,
	.level = LEVEL_WARN,
	.file = 1,
	.nr_lines = 3,
	.line = 17,
	.offset = 1234,
	.length = 99,
	.node = { "node-1", 6 },
	.thread = { "main", 4 },
	.point = { "a.b.C:12", 8 },
	.key_kind = KEY_REQUEST,
	.key = { "req\0-7", 6 },
	.span = { "span-1", 6 },
	.title = { "took {} ms", 10 },
	.duration = 42,
	.op = MESSAGE_RETURN,
	.peer = { "peer", 4 },
	.id = { "e7", 2 },
	.after = { "\x02"
		   "e3\x02"
		   "e5",
		   6 },
	.attrs = { "\x00\x01"
		   "k\x01"
		   "v",
		   5 },
	.text = { "the text", 8 },
};

static const struct span full_span = {
	.start = 1000,
	.end = 2000,
	.parent = SPAN_NONE,
	.kind = SPAN_SERVER,
	.status = STATUS_ERROR,
	.follows = true,
	.confidence = 0.25f,
	.key = { "req\0-7", 6 },
	.id = { "s1", 2 },
	.parent_id = { "s0", 2 },
	.name = { "GET /", 5 },
	.node = { "front", 5 },
	.host = { "h1", 2 },
	.thread = { "t-1", 3 },
	.links = { "links", 5 },
	.attrs = { "attrs", 5 },
};

static struct request full_request(void)
{
	return (struct request){ .type = STR("GET /"),
				 .key = STR("req\0-7"),
				 .key_kind = KEY_TRACE,
				 .method = STR("carried"),
				 .start = 1000,
				 .end = 2000,
				 .sequence = 0xfedcba9876543210u,
				 .error = true,
				 .incomplete = true,
				 .confidence = 0.75f };
}

/* Two spans, an edge, and the events 2, 0 and 1. */
static void add_full_request(struct store *s)
{
	struct span spans[2] = { full_span, full_span };
	struct edge edges[] = { { 0, 1, EDGE_WAKEUP, 0.5f } };
	uint64_t events[] = { 2, 0, 1 };
	uint32_t event_span[] = { 1, SPAN_NONE, 0 };
	struct request_body body = { spans, edges, events, event_span, 2, 1, 3 };
	struct request r = full_request();
	struct error err = { 0 };

	spans[1].parent = 0;
	spans[1].key = STR("another");
	spans[1].confidence = 1;
	OK(store_add_request(s, &r, &body, &err));
}

/* --- round trips ----------------------------------------------------------------------------- */

static int see_event(void *ctx, uint64_t number, const struct event *ev)
{
	const struct event *want = ctx;

	assert_in_range(number, 0, 2);
	assert_same_event(ev, &want[number], false);
	return 0;
}

static void every_field_of_an_event_comes_back(void **state)
{
	struct home *h = *state;
	struct event want[3] = { full_event,
				 { .ns = NS_NONE, .duration = -1 },
				 { .ns = INT64_MAX,
				   .line = UINT64_MAX,
				   .offset = UINT64_MAX,
				   .length = UINT64_MAX,
				   .file = UINT32_MAX,
				   .nr_lines = UINT32_MAX,
				   .duration = INT64_MAX,
				   .level = LEVEL_FATAL } };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;

	OK(store_create(&s, h->run, &err));
	sink = store_sink(s);
	OK(sink.events(sink.to, want, 3, &err));
	OK(store_finish(s, &err));
	OK(store_each_event(s, 0, UINT64_MAX, see_event, want, &err));
	store_close(s);
	OK(store_open(&s, h->run, &err));
	OK(store_each_event(s, 0, 3, see_event, want, &err));
	OK(store_each_event(s, 2, 7, see_event, want, &err));
	OK(store_each_event(s, 3, 1, see_event, want, &err));
	store_close(s);
}

static int see_body(void *ctx, const struct request *r, const struct request_body *b)
{
	struct request want = full_request();
	struct span child = full_span;

	(*(int *)ctx)++;
	child.parent = 0;
	child.key = STR("another");
	child.confidence = 1;
	assert_int_equal(r->id, 1);
	assert_same_str(r->type, want.type);
	assert_same_str(r->key, want.key);
	assert_same_str(r->method, want.method);
	assert_true(r->start == 1000 && r->end == 2000 && r->sequence == want.sequence);
	assert_true(r->error && r->incomplete && r->confidence == 0.75f);
	assert_true(r->key_kind == KEY_TRACE && r->nr_spans == 2 && r->nr_events == 3);
	if (!b)
		return 0;
	assert_true(b->nr_spans == 2 && b->nr_edges == 1 && b->nr_events == 3);
	assert_same_span(&b->spans[0], &full_span);
	assert_same_span(&b->spans[1], &child);
	assert_true(b->edges[0].from == 0 && b->edges[0].to == 1);
	assert_true(b->edges[0].kind == EDGE_WAKEUP && b->edges[0].confidence == 0.5f);
	assert_true(b->events[0] == 2 && b->events[1] == 0 && b->events[2] == 1);
	assert_true(b->event_span[0] == 1 && b->event_span[1] == SPAN_NONE && !b->event_span[2]);
	return 0;
}

static int see_request(void *ctx, const struct request *r)
{
	return see_body(ctx, r, NULL);
}

static void check_full_request(struct store *s)
{
	struct error err = { 0 };
	struct arena arena = { 0 };
	struct request_body body;
	struct request r;
	uint64_t id = 0;
	int seen = 0;

	OK(store_each_request(s, NULL, see_request, &seen, &err));
	OK(store_each_body(s, &(struct request_filter){ 0 }, see_body, &seen, &err));
	OK(store_each_body(s, &(struct request_filter){ .limit = 5 }, see_body, &seen, &err));
	assert_int_equal(seen, 3);
	assert_int_equal(store_request(s, 1, &arena, &r, &body, &err), 1);
	see_body(&seen, &r, &body);
	assert_int_equal(store_request(s, 0, &arena, &r, &body, &err), 0);
	assert_int_equal(store_request(s, 2, &arena, &r, &body, &err), 0);
	assert_int_equal(store_request_by_key(s, STR("req\0-7"), &id, &err), 1);
	assert_int_equal(id, 1);
	assert_int_equal(store_request_by_key(s, STR("req"), &id, &err), 0);
	arena_done(&arena);
}

static void every_field_of_a_request_comes_back(void **state)
{
	struct home *h = *state;
	struct event events[3] = { full_event, full_event, full_event };
	uint64_t *requests = NULL, nr = 0;
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;

	OK(store_create(&s, h->run, &err));
	sink = store_sink(s);
	OK(sink.events(sink.to, events, 3, &err));
	add_full_request(s);
	OK(store_finish(s, &err));
	check_full_request(s);
	store_close(s);
	OK(store_open(&s, h->run, &err));
	check_full_request(s);
	OK(store_event_requests(s, &requests, &nr, &err));
	assert_int_equal(nr, 3);
	assert_true(requests[0] == 1 && requests[1] == 1 && requests[2] == 1);
	free(requests);
	store_close(s);
}

static int see_file(void *ctx, const struct stored_file *f)
{
	(*(int *)ctx)++;
	assert_int_equal(f->number, 1);
	assert_str_equal(f->seen.path, "logs/a.log");
	assert_str_equal(f->seen.name, "a.log");
	assert_str_equal(f->seen.format, "log4j");
	assert_str_equal(f->seen.layout, "%d %p %m");
	assert_true(f->seen.bytes == 77 && f->seen.mtime_ns == -5);
	assert_true(f->nr_events == 2 && f->nr_lines == 4);
	return 0;
}

static int see_fix(void *ctx, const struct clock_fix *f)
{
	(*(int *)ctx)++;
	assert_str_equal(f->node, "n1");
	assert_true(f->offset_ns == -123 && f->pairs == 9 && f->agree == 8 && f->applied);
	return 0;
}

static void what_is_small_comes_back_too(void **state)
{
	struct home *h = *state;
	struct event events[3] = { { .ns = 50, .file = 1, .nr_lines = 1, .duration = -1 },
				   { .ns = 70, .file = 1, .nr_lines = 3, .duration = -1 },
				   { .ns = NS_NONE, .kind = EVENT_MESSAGE, .nr_lines = 1 } };
	struct file_seen seen = { .path = STR("logs/a.log"),
				  .name = STR("a.log"),
				  .format = STR("log4j"),
				  .layout = STR("%d %p %m"),
				  .bytes = 77,
				  .mtime_ns = -5 };
	struct clock_fix fix = { STR("n1"), -123, 9, 8, true };
	struct store_totals t;
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;
	uint32_t number = 0;
	int n = 0;

	OK(store_create(&s, h->run, &err));
	sink = store_sink(s);
	OK(sink.file(sink.to, &seen, &number, &err));
	assert_int_equal(number, 1);
	OK(sink.events(sink.to, events, 3, &err));
	OK(sink.spans(sink.to, &full_span, 1, &err));
	sink.losses->count[LOSS_LINES_CUT] = 12;
	OK(store_add_clock_fix(s, &fix, &err));
	OK(store_set_fact(s, "command", STR("first"), &err));
	OK(store_set_fact(s, "command", STR("culprit analyze"), &err));
	add_full_request(s);
	OK(store_finish(s, &err));
	assert_int_equal(store_set_fact(s, "command", STR("late"), &err), -EROFS);
	store_close(s);

	OK(store_open(&s, h->run, &err));
	OK(store_each_file(s, see_file, &n, &err));
	OK(store_each_clock_fix(s, see_fix, &n, &err));
	assert_int_equal(n, 2);
	assert_str_equal(store_fact(s, "command"), "culprit analyze");
	assert_str_equal(store_fact(s, "none"), "");
	assert_int_equal(store_losses(s)->count[LOSS_LINES_CUT], 12);
	OK(store_totals(s, &t, &err));
	assert_true(t.nr_files == 1 && t.nr_events == 3 && t.nr_log_lines == 4);
	assert_true(t.nr_spans == 2 && t.nr_requests == 1 && t.bytes == 77);
	assert_true(t.first_ns == 50 && t.last_ns == 2000);
	store_close(s);
}

static void an_empty_run_is_a_run(void **state)
{
	struct home *h = *state;
	struct store_totals t;
	struct error err = { 0 };
	struct store *s = NULL;
	uint64_t *requests = NULL, nr = 1;
	int n = 0;

	OK(store_create(&s, h->run, &err));
	assert_int_equal(store_nr_parts(s), 1);
	OK(store_finish(s, &err));
	store_close(s);
	OK(store_open(&s, h->run, &err));
	OK(store_each_request(s, NULL, see_request, &n, &err));
	OK(store_each_body(s, NULL, see_body, &n, &err));
	OK(store_event_requests(s, &requests, &nr, &err));
	free(requests);
	OK(store_totals(s, &t, &err));
	assert_true(!n && !nr && !t.nr_events && t.first_ns == NS_NONE && t.last_ns == NS_NONE);
	store_close(s);
}

/* --- parts ----------------------------------------------------------------------------------- */

static void a_part_holds_whole_keys_in_order(void **state)
{
	struct event events[5] = { [0 ... 4] = {
					   .ns = 1, .duration = -1, .key_kind = KEY_REQUEST } };
	struct span spans[3] = { [0 ... 2] = { .parent = SPAN_NONE, .confidence = 1 } };
	struct arena arena = { 0 };
	struct part part = { 0 };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;

	(void)state;
	events[0].key = STR("key-b");
	events[1].key_kind = KEY_NONE; /* stays out: nothing to tie it with */
	events[2].key = STR("key-a");
	events[3].key = STR("key-b");
	events[4].key_kind = KEY_NONE; /* comes along: it tells a duration */
	events[4].duration = 5;
	spans[0].key = STR("t-2"), spans[0].id = STR("x");
	spans[1].key = STR("t-1"), spans[1].id = STR("y");
	spans[2].key = STR("t-2"), spans[2].id = STR("z");
	OK(store_create(&s, NULL, &err));
	sink = store_sink(s);
	OK(sink.events(sink.to, events, 5, &err));
	OK(sink.spans(sink.to, spans, 3, &err));
	assert_int_equal(store_nr_parts(s), 1);
	for (int again = 0; again < 2; again++) {
		OK(store_part(s, 0, &arena, &part, &err));
		assert_int_equal(part.nr_events, 4);
		assert_int_equal(part.nr_spans, 3);
		assert_same_event(&part.events[0], &events[4], true);
		assert_same_event(&part.events[1], &events[2], true);
		assert_same_event(&part.events[2], &events[0], true);
		assert_true(part.numbers[0] == 4 && part.numbers[1] == 2);
		assert_true(part.numbers[2] == 0 && part.numbers[3] == 3);
		assert_same_span(&part.spans[0], &spans[1]);
		assert_same_span(&part.spans[1], &spans[0]);
		assert_same_span(&part.spans[2], &spans[2]);
	}
	assert_int_equal(store_part(s, 1, &arena, &part, &err), -EINVAL);
	arena_done(&arena);
	store_close(s);
}

/* Enough for several chunks of each bucket on disk. */
static void what_is_placed_leaves_the_parts(void **state)
{
	enum { NR = 300000 };
	uint64_t *placed = calloc(NR, sizeof(*placed)), nr_left = 0, nr_placed = 0;
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct store *s = NULL;
	struct sink sink;

	(void)state;
	OK(store_create(&s, NULL, &err));
	sink = store_sink(s);
	for (uint64_t i = 0; i < NR; i++) {
		char key[32];
		struct event ev = { .ns = (int64_t)i, .duration = -1, .key_kind = KEY_WORK };

		ev.key = (struct str){ key, (size_t)sprintf(key, "blk_%06d", (int)(i % 5000)) };
		ev.title = STR("a text that takes room in each row, so that some go to disk");
		OK(sink.events(sink.to, &ev, 1, &err));
		if (i % 7)
			placed[nr_placed++] = i;
	}
	assert_true(store_nr_parts(s) > 1);
	OK(store_add_request(s, &(struct request){ .key = STR("x") },
			     &(struct request_body){ .events = placed, .nr_events = nr_placed },
			     &err));
	OK(store_leave_placed(s, &err));
	for (unsigned i = 0; i < store_nr_parts(s); i++) {
		struct part part;

		OK(store_part(s, i, &arena, &part, &err));
		for (size_t k = 0; k < part.nr_events; k++, nr_left++)
			assert_true(part.numbers[k] % 7 == 0 &&
				    part.events[k].ns == (int64_t)part.numbers[k]);
		arena_reset(&arena);
	}
	assert_int_equal(nr_left, NR - nr_placed);
	arena_done(&arena);
	free(placed);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOME_TEST(what_is_placed_leaves_the_parts),
		HOME_TEST(every_field_of_an_event_comes_back),
		HOME_TEST(every_field_of_a_request_comes_back),
		HOME_TEST(what_is_small_comes_back_too),
		HOME_TEST(an_empty_run_is_a_run),
		HOME_TEST(a_part_holds_whole_keys_in_order),
	};

	return RUN(tests);
}
