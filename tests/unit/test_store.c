#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/attr.h"
#include "store/store.h"

/* Each test has a directory of its own, gone afterwards. */
struct home {
	char dir[64], run[80];
};

static int setup(void **state)
{
	struct home *h = calloc(1, sizeof(*h));

	strcpy(h->dir, "/tmp/culprit-store-XXXXXX");
	if (!mkdtemp(h->dir))
		return -1;
	snprintf(h->run, sizeof(h->run), "%s/a.culprit", h->dir);
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct home *h = *state;
	char command[128];
	int r;

	snprintf(command, sizeof(command), "rm -rf '%s'", h->dir);
	r = system(command);
	free(h);
	return r;
}

static size_t nr_files_in(const struct home *h)
{
	char pattern[128];
	glob_t g;
	size_t nr;

	snprintf(pattern, sizeof(pattern), "%s/*", h->dir);
	nr = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;
	if (nr)
		globfree(&g);
	return nr;
}

static void write_file(const char *path, struct str content)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(content.p, 1, content.n, f), content.n);
	assert_int_equal(fclose(f), 0);
}

#define OK(call) \
	do { \
		int ok_ = (call); \
		if (ok_) \
			fail_msg("%d: %s", ok_, err.msg); \
	} while (0)

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

static void assert_same_str(struct str a, struct str b)
{
	assert_true(str_eq(a, b));
}

static void assert_same_event(const struct event *a, const struct event *b, bool staged)
{
	assert_true(a->ns == b->ns && a->kind == b->kind && a->level == b->level);
	assert_true(a->file == b->file && a->nr_lines == b->nr_lines && a->line == b->line);
	assert_true(a->offset == b->offset && a->length == b->length && a->op == b->op);
	assert_true(a->key_kind == b->key_kind && a->duration == b->duration);
	assert_same_str(a->node, b->node);
	assert_same_str(a->thread, b->thread);
	assert_same_str(a->point, b->point);
	assert_same_str(a->key, b->key);
	assert_same_str(a->span, b->span);
	assert_same_str(a->title, b->title);
	assert_same_str(a->peer, b->peer);
	assert_same_str(a->id, b->id);
	assert_same_str(a->after, b->after);
	if (staged)
		return;
	assert_same_str(a->attrs, b->attrs);
	assert_same_str(a->text, b->text);
}

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

static void assert_same_span(const struct span *a, const struct span *b)
{
	assert_true(a->start == b->start && a->end == b->end && a->parent == b->parent);
	assert_true(a->kind == b->kind && a->status == b->status && a->follows == b->follows);
	assert_true(a->confidence == b->confidence);
	assert_same_str(a->key, b->key);
	assert_same_str(a->id, b->id);
	assert_same_str(a->parent_id, b->parent_id);
	assert_same_str(a->name, b->name);
	assert_same_str(a->node, b->node);
	assert_same_str(a->host, b->host);
	assert_same_str(a->thread, b->thread);
	assert_same_str(a->links, b->links);
	assert_same_str(a->attrs, b->attrs);
}

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

static void add_plain_request(struct store *s, const char *type, const char *key, int64_t start,
			      int64_t end)
{
	struct request r = { .type = str_of(type), .key = str_of(key), .start = start, .end = end };
	struct error err = { 0 };

	OK(store_add_request(s, &r, NULL, &err));
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
	struct file_seen seen = { STR("logs/a.log"), STR("log4j"), STR("%d %p %m"), 77, -5 };
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

/* --- whole or absent ------------------------------------------------------------------------- */

static void an_unfinished_run_leaves_nothing(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, h->run, &err));
	add_full_request(s);
	assert_int_equal(access(h->run, F_OK), -1);
	assert_int_equal(nr_files_in(h), 1);
	store_close(s);
	assert_int_equal(nr_files_in(h), 0);
}

static void two_writers_do_not_harm_each_other(void **state)
{
	struct home *h = *state;
	struct store *a = NULL, *b = NULL, *s = NULL;
	struct store_totals t;
	struct error err = { 0 };

	OK(store_create(&a, h->run, &err));
	OK(store_create(&b, h->run, &err));
	add_full_request(a);
	add_full_request(b);
	add_plain_request(b, "T", "k", 1, 2);
	OK(store_finish(b, &err));
	OK(store_open(&s, h->run, &err));
	OK(store_totals(s, &t, &err));
	assert_int_equal(t.nr_requests, 2);
	OK(store_finish(a, &err));
	check_full_request(a);
	store_close(a);
	store_close(b);
	store_close(s);
	OK(store_open(&s, h->run, &err));
	OK(store_totals(s, &t, &err));
	assert_int_equal(t.nr_requests, 1);
	store_close(s);
	assert_int_equal(nr_files_in(h), 1);
}

static void what_a_dead_writer_left_is_removed_by_the_next(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;
	char left[128], own[128];

	snprintf(own, sizeof(own), "%s.partial-notes", h->run);
	write_file(own, STR("of the user"));
	snprintf(left, sizeof(left), "%s.partial-4711", h->run);
	write_file(left, STR("half"));
	OK(store_create(&s, h->run, &err));
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(unlink(own), 0);
	OK(store_finish(s, &err));
	store_close(s);
	assert_int_equal(nr_files_in(h), 1);
}

static void a_temporary_run_can_be_asked_and_leaves_nothing(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;

	(void)state;
	OK(store_create(&s, NULL, &err));
	add_full_request(s);
	OK(store_finish(s, &err));
	check_full_request(s);
	store_close(s);
}

static void a_foreign_file_is_never_overwritten(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	write_file(h->run, STR("my precious log\n"));
	assert_int_equal(store_create(&s, h->run, &err), -EEXIST);
	assert_non_null(strstr(err.msg, "is not a run file"));
	assert_int_equal(store_create(&s, h->dir, &err), -EISDIR);
	assert_int_equal(store_create(&s, "/dev/null", &err), -EINVAL);
	assert_int_equal(store_create(&s, "/no/such/place/x", &err), -ENOENT);
	assert_null(s);
}

/* --- what is no run -------------------------------------------------------------------------- */

static void assert_explained(const char *path, int code, const char *part)
{
	struct error err = { 0 };
	struct store *s = NULL;

	assert_int_equal(store_open(&s, path, &err), code);
	assert_null(s);
	if (!strstr(err.msg, part))
		fail_msg("'%s' does not say '%s'", err.msg, part);
	assert_null(strchr(err.msg, '\n'));
}

static void poke(const char *path, long at, unsigned char byte)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	fputc(byte, f);
	fclose(f);
}

static void what_is_no_run_is_explained_in_one_line(void **state)
{
	struct home *h = *state;
	struct error err = { 0 };
	struct store *s = NULL;

	assert_explained(h->run, -ENOENT, "No such file");
	assert_explained(h->dir, -EISDIR, "is a directory");
	assert_explained("/dev/null", -EBADMSG, "not a regular file");
	write_file(h->run, STR(""));
	assert_explained(h->run, -EBADMSG, "an empty file");
	write_file(h->run, STR("2024-01-01 INFO x\n"));
	assert_explained(h->run, -EBADMSG, "looks like text");
	write_file(h->run, STR("\x1f\x8b\x08 zipped"));
	assert_explained(h->run, -EBADMSG, "looks like gzip");
	write_file(h->run, STR("SQLite format 3\0 and more that is not ours"));
	assert_explained(h->run, -EBADMSG, "another program");
	assert_false(store_is_run(h->run));
	unlink(h->run);
	OK(store_create(&s, h->run, &err));
	OK(store_finish(s, &err));
	store_close(s);
	assert_true(store_is_run(h->run));
	poke(h->run, 63, 200);
	assert_explained(h->run, -ENOTSUP, "newer culprit");
	poke(h->run, 63, 0);
	assert_explained(h->run, -EBADMSG, "unfinished");
	poke(h->run, 63, 1);
	assert_int_equal(truncate(h->run, 9000), 0);
	assert_explained(h->run, -EBADMSG, "cut short");
}

static void a_partial_file_is_called_unfinished(void **state)
{
	struct home *h = *state;
	char partial[128];
	struct error err = { 0 };
	struct store *s = NULL;

	snprintf(partial, sizeof(partial), "%s.partial-%ld", h->run, (long)getpid());
	OK(store_create(&s, h->run, &err));
	assert_explained(partial, -EBADMSG, "unfinished");
	store_close(s);
}

/* --- asking ---------------------------------------------------------------------------------- */

struct listing {
	char text[256];
};

static int list_request(void *ctx, const struct request *r)
{
	struct listing *l = ctx;
	size_t n = strlen(l->text);

	snprintf(l->text + n, sizeof(l->text) - n, "%d:" STR_FMT " ", (int)r->id, STR_ARG(r->key));
	return 0;
}

static int list_body(void *ctx, const struct request *r, const struct request_body *b)
{
	(void)b;
	return list_request(ctx, r);
}

static int list_type(void *ctx, struct str type, uint64_t nr)
{
	struct listing *l = ctx;
	size_t n = strlen(l->text);

	snprintf(l->text + n, sizeof(l->text) - n, STR_FMT "=%d ", STR_ARG(type), (int)nr);
	return 0;
}

static struct store *small_run(void)
{
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, NULL, &err));
	add_plain_request(s, "read.Block", "d", 400, 410);
	add_plain_request(s, "write.Block", "b", 200, 290);
	add_plain_request(s, "read.Block", "c", 300, 305);
	add_plain_request(s, "Read", "a", 100, 190);
	add_plain_request(s, "read.Block", "c2", 300, 305);
	add_plain_request(s, "read.Block", "c1", 300, 304);
	OK(store_finish(s, &err));
	return s;
}

static void assert_lists(struct store *s, struct request_filter f, const char *want)
{
	struct listing l = { "" };
	struct error err = { 0 };

	OK(store_each_request(s, &f, list_request, &l, &err));
	assert_string_equal(l.text, want);
}

static void requests_are_numbered_by_start_end_and_key(void **state)
{
	struct store *s = small_run();
	struct listing l = { "" };
	struct error err = { 0 };

	(void)state;
	assert_lists(s, (struct request_filter){ 0 }, "1:a 2:b 3:c1 4:c 5:c2 6:d ");
	assert_lists(s, (struct request_filter){ .limit = 2 }, "1:a 2:b ");
	assert_lists(s, (struct request_filter){ .order = BY_SLOWEST },
		     "1:a 2:b 6:d 4:c 5:c2 3:c1 ");
	assert_lists(s, (struct request_filter){ .order = BY_SLOWEST, .limit = 3 }, "1:a 2:b 6:d ");
	assert_lists(s, (struct request_filter){ .type = STR("WRITE") }, "2:b ");
	assert_lists(s, (struct request_filter){ .type = STR("read") }, "1:a ");
	assert_lists(
		s,
		(struct request_filter){ .type = STR("read.b"), .order = BY_SLOWEST, .limit = 2 },
		"6:d 4:c ");
	assert_lists(s, (struct request_filter){ .from_ns = 200, .until_ns = 400 },
		     "2:b 3:c1 4:c 5:c2 ");
	OK(store_each_body(s, &(struct request_filter){ .order = BY_SLOWEST, .limit = 2 },
			   list_body, &l, &err));
	assert_string_equal(l.text, "2:b 1:a ");
	store_close(s);
}

static void types_are_found_by_a_unique_part(void **state)
{
	struct store *s = small_run();
	struct listing l = { "" };
	struct error err = { 0 };
	struct str type;

	(void)state;
	OK(store_each_type(s, list_type, &l, &err));
	assert_string_equal(l.text, "read.Block=4 Read=1 write.Block=1 ");
	assert_int_equal(store_find_type(s, STR("Block"), &type, &err), 0);
	assert_string_equal(err.msg,
			    "several types match 'Block': there are 'read.Block', 'write.Block'");
	assert_int_equal(store_find_type(s, STR("x"), &type, &err), 0);
	assert_non_null(strstr(err.msg, "no types match 'x': there are 'read.Block', "));
	assert_int_equal(store_each_request(s, &(struct request_filter){ .type = STR("x") },
					    list_request, &l, &err),
			 -ENOENT);
	store_close(s);
}

static int stop_at_two(void *ctx, const struct request *r)
{
	(*(int *)ctx)++;
	return r->id == 2 ? 42 : 0;
}

static void a_callback_ends_the_walk_with_its_own_answer(void **state)
{
	struct store *s = small_run();
	struct error err = { 0 };
	int n = 0;

	(void)state;
	assert_int_equal(store_each_request(s, NULL, stop_at_two, &n, &err), 42);
	assert_int_equal(n, 2);
	store_close(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_field_of_an_event_comes_back),
		TEST(every_field_of_a_request_comes_back),
		TEST(what_is_small_comes_back_too),
		TEST(an_empty_run_is_a_run),
		TEST(a_part_holds_whole_keys_in_order),
		TEST(an_unfinished_run_leaves_nothing),
		TEST(two_writers_do_not_harm_each_other),
		TEST(what_a_dead_writer_left_is_removed_by_the_next),
		TEST(a_temporary_run_can_be_asked_and_leaves_nothing),
		TEST(a_foreign_file_is_never_overwritten),
		TEST(what_is_no_run_is_explained_in_one_line),
		TEST(a_partial_file_is_called_unfinished),
		TEST(requests_are_numbered_by_start_end_and_key),
		TEST(types_are_found_by_a_unique_part),
		TEST(a_callback_ends_the_walk_with_its_own_answer),
	};

	return RUN(tests);
}
