/* A run file with a flipped bit or a missing end gives what was stored, or a sentence. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/store.h"
#include "store_same.h"

enum { NR_EVENTS = 9000, NR_REQUESTS = 600, STEP = 997 };

static char path[] = "/tmp/culprit-damage-XXXXXX";

/* Numbers that do not compress, so that the file is mostly data. */
static void make_event(struct event *ev, uint64_t i, char *thread)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;

	sprintf(thread, "t-%d", (int)(x >> 40) % 50);
	*ev = (struct event){ .ns = (int64_t)(x >> 20),
			      .duration = -1,
			      .nr_lines = 1,
			      .line = i,
			      .offset = x >> 30,
			      .length = x >> 50,
			      .thread = str_of(thread) };
}

static void make_request(struct request *r, uint64_t id, char *key)
{
	sprintf(key, "key-%d", (int)id);
	*r = (struct request){ .type = STR("type"),
			       .key = str_of(key),
			       .start = (int64_t)id,
			       .end = (int64_t)id * 2,
			       .method = STR("test") };
}

static void fill(struct store *s)
{
	struct sink sink = store_sink(s);
	struct error err = { 0 };
	char text[32];

	for (uint64_t i = 0; i < NR_EVENTS; i++) {
		struct event ev;

		make_event(&ev, i, text);
		OK(sink.events(sink.to, &ev, 1, &err));
	}
	for (uint64_t id = 1; id <= NR_REQUESTS; id++) {
		struct span span = { .start = 1, .end = 2, .parent = SPAN_NONE, .confidence = 1 };
		struct request_body body = { .spans = &span, .nr_spans = 1 };
		struct request r;

		make_request(&r, id, text);
		span.key = span.name = r.key;
		OK(store_add_request(s, &r, &body, &err));
	}
	OK(store_set_fact(s, "fact", STR("true"), &err));
	store_losses(s)->count[LOSS_LINES_CUT] = 3;
}

static int see_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct event want;
	char thread[32];

	make_event(&want, number, thread);
	assert_true(ev->ns == want.ns && ev->line == want.line && ev->offset == want.offset);
	assert_true(ev->length == want.length && str_eq(ev->thread, want.thread));
	(*(uint64_t *)ctx)++;
	return 0;
}

static int see_request(void *ctx, const struct request *r)
{
	struct request want;
	char key[32];

	make_request(&want, r->id, key);
	assert_true(r->start == want.start && r->end == want.end && str_eq(r->key, want.key));
	assert_str_equal(r->type, "type");
	(*(uint64_t *)ctx)++;
	return 0;
}

static int see_body(void *ctx, const struct request *r, const struct request_body *b)
{
	assert_int_equal(b->nr_spans, 1);
	assert_true(str_eq(b->spans[0].name, r->key));
	return see_request(ctx, r);
}

/* A walk ends with everything seen, or with a sentence. */
static bool explained(int r, uint64_t seen, uint64_t all, const struct error *err)
{
	if (!r) {
		assert_int_equal(seen, all);
		return false;
	}
	assert_true(r < 0);
	assert_true(err->msg[0] != 0);
	return true;
}

/* How many of the questions were answered with a sentence. */
static int ask_everything(void)
{
	struct error err = { 0 };
	struct store *s = NULL;
	uint64_t nr = 0;
	int told = 0, r;

	if (store_open(&s, path, &err) < 0) {
		assert_null(s);
		assert_true(err.msg[0] != 0);
		return 1;
	}
	assert_str_equal(store_fact(s, "fact"), "true");
	assert_int_equal(store_losses(s)->count[LOSS_LINES_CUT], 3);
	r = store_each_event(s, 0, UINT64_MAX, see_event, &nr, &err);
	told += explained(r, nr, NR_EVENTS, &err);
	nr = 0;
	r = store_each_request(s, NULL, see_request, &nr, &err);
	told += explained(r, nr, NR_REQUESTS, &err);
	nr = 0;
	r = store_each_body(s, NULL, see_body, &nr, &err);
	told += explained(r, nr, NR_REQUESTS, &err);
	store_close(s);
	return told;
}

static int setup(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	OK(store_create(&s, path, &err));
	fill(s);
	OK(store_finish(s, &err));
	store_close(s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static struct buf content(void)
{
	FILE *f = fopen(path, "rb");
	struct buf b = { 0 };
	size_t n;

	assert_non_null(f);
	while ((n = fread(buf_room(&b, 4096), 1, 4096, f)))
		b.n += n;
	fclose(f);
	return b;
}

static void put_content(struct str s)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	fclose(f);
}

static void a_flipped_byte_gives_right_data_or_a_sentence(void **state)
{
	struct buf whole = content();
	int told = 0;

	(void)state;
	assert_int_equal(ask_everything(), 0);
	for (size_t at = 0; at < whole.n; at += at < 400 ? 7 : STEP) {
		char kept = whole.p[at];

		whole.p[at] ^= (char)(1 << at % 8);
		put_content(buf_str(&whole));
		told += ask_everything() > 0;
		whole.p[at] = kept;
	}
	put_content(buf_str(&whole));
	/* most bytes carry data, so that most flips cannot go unnoticed */
	assert_true(told > (int)(whole.n / STEP / 2));
	buf_done(&whole);
}

static void a_missing_end_gives_a_sentence(void **state)
{
	struct buf whole = content();

	(void)state;
	for (size_t n = 0; n < whole.n; n += 10 * STEP) {
		put_content(str_head(buf_str(&whole), n));
		assert_int_equal(ask_everything(), 1);
	}
	put_content(buf_str(&whole));
	buf_done(&whole);
}

static void pages_in_the_wrong_place_give_right_data_or_a_sentence(void **state)
{
	enum { PAGE = 8192 };
	struct buf whole = content();
	char page[PAGE];

	(void)state;
	for (size_t at = PAGE; at + 2 * PAGE <= whole.n; at += PAGE) {
		memcpy(page, whole.p + at, PAGE);
		memcpy(whole.p + at, whole.p + at + PAGE, PAGE);
		put_content(buf_str(&whole));
		ask_everything();
		memcpy(whole.p + at, page, PAGE);
	}
	put_content(buf_str(&whole));
	buf_done(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flipped_byte_gives_right_data_or_a_sentence),
		cmocka_unit_test(a_missing_end_gives_a_sentence),
		cmocka_unit_test(pages_in_the_wrong_place_give_right_data_or_a_sentence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
