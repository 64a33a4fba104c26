/* Bodies of a run that is larger than the block that stands in front of all others. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store.h"
#include "store_same.h"

enum { MANY = 20000, LARGE = 13001 };

static char path[] = "/tmp/culprit-bodies-XXXXXX";

static uint64_t scatter(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

/* Text that tells of which request it is; one is longer than a piece, and than a row. */
static struct str text_of(int64_t i, char *room)
{
	size_t n = i == LARGE ? 6000 : 12;

	for (size_t k = 0; k < n; k++)
		sprintf(room + 16 * k, "%016llx",
			(unsigned long long)scatter((uint64_t)i * 7919 + k));
	return (struct str){ room, 16 * n };
}

static void add_request(struct store *s, int64_t i, char *room)
{
	struct span span = { .start = i, .end = i + 5, .parent = SPAN_NONE, .confidence = 1 };
	struct request_body body = { .spans = &span, .nr_spans = 1 };
	struct request r = { .type = STR("type"),
			     .start = i,
			     .end = i + 1 + (int64_t)(scatter((uint64_t)i) % 1000),
			     .confidence = 1 };
	struct error err = { 0 };

	span.name = STR("work");
	span.node = STR("node");
	span.attrs = text_of(i, room);
	OK(store_add_request(s, &r, &body, &err));
}

/* Added from the last to the first: where bodies stand is not in order of id. */
static struct store *large_run(void)
{
	char *room = malloc(16 * 6000 + 1);
	struct error err = { 0 };
	struct store *s = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	OK(store_create(&s, path, &err));
	for (int64_t i = MANY; i > 0; i--)
		add_request(s, i, room);
	OK(store_finish(s, &err));
	store_close(s);
	free(room);
	OK(store_open(&s, path, &err));
	return s;
}

static int make(void **state)
{
	*state = large_run();
	return 0;
}

static int end(void **state)
{
	store_close(*state);
	unlink(path);
	return 0;
}

struct seen {
	uint64_t nr, sum;
	int64_t last;
	char *room;
};

static int see(void *ctx, const struct request *r, const struct request_body *body)
{
	struct seen *seen = ctx;

	assert_int_equal(body->nr_spans, 1);
	assert_int_equal(r->start, (int64_t)r->id);
	assert_same_str(body->spans[0].attrs, text_of(r->start, seen->room));
	seen->nr++;
	seen->sum += r->id;
	return 0;
}

static int see_slowest(void *ctx, const struct request *r, const struct request_body *body)
{
	struct seen *seen = ctx;

	assert_true(!seen->nr || r->end - r->start <= seen->last);
	seen->last = r->end - r->start;
	return see(ctx, r, body);
}

static void all_are_walked(void **state)
{
	struct seen seen = { .room = malloc(16 * 6000 + 1) };
	struct error err = { 0 };

	OK(store_each_body(*state, NULL, see, &seen, &err));
	assert_int_equal(seen.nr, MANY);
	assert_int_equal(seen.sum, (uint64_t)MANY * (MANY + 1) / 2);
	free(seen.room);
}

static void any_is_found_by_its_number(void **state)
{
	struct seen seen = { .room = malloc(16 * 6000 + 1) };
	struct arena arena = { 0 };
	struct error err = { 0 };

	for (uint64_t i = 1; i <= MANY; i = i == LARGE - 4 ? LARGE : i + 199) {
		struct request_body body;
		struct request r;

		assert_int_equal(store_request(*state, i, &arena, &r, &body, &err), 1);
		see(&seen, &r, &body);
		arena_reset(&arena);
	}
	arena_done(&arena);
	free(seen.room);
}

static void some_are_read_as_they_stand(void **state)
{
	struct seen seen = { .room = malloc(16 * 6000 + 1) };
	struct error err = { 0 };
	uint64_t ids[400], sum = 0;

	for (uint64_t i = 0; i < 400; i++)
		sum += ids[i] = 1 + i * 49 + scatter(i) % 49;
	OK(store_each_body_of(*state, ids, 400, see, &seen, &err));
	assert_int_equal(seen.nr, 400);
	assert_int_equal(seen.sum, sum);
	free(seen.room);
}

static void a_page_comes_in_its_order(void **state)
{
	struct request_filter f = { .order = BY_SLOWEST, .limit = 3000, .offset = 700 };
	struct seen seen = { .room = malloc(16 * 6000 + 1) };
	struct error err = { 0 };

	OK(store_each_body_in_order(*state, &f, see_slowest, &seen, &err));
	assert_int_equal(seen.nr, 3000);
	free(seen.room);
}

static void a_sample_is_the_same_when_it_is_read_again(void **state)
{
	struct seen first = { .room = malloc(16 * 6000 + 1) }, again = { .room = first.room };
	struct error err = { 0 };

	store_sample(*state, 500);
	OK(store_each_body(*state, NULL, see, &first, &err));
	OK(store_each_body(*state, NULL, see, &again, &err));
	assert_true(first.nr > 100 && first.nr < 2000);
	assert_int_equal(again.nr, first.nr);
	assert_int_equal(again.sum, first.sum);
	OK(store_narrow(*state, NULL, &err));
	free(first.room);
}

static int count(void *ctx, const struct brief *b)
{
	uint64_t *sum = ctx;

	*sum += scatter((uint64_t)b->duration ^ b->id);
	return 0;
}

static void handles_that_share_see_the_same(void **state)
{
	struct store_shared *shared = store_shared_new();
	struct store *other = NULL;
	uint64_t alone = 0, sum[2] = { 0 };
	struct error err = { 0 };

	OK(store_each_brief(*state, NULL, count, &alone, &err));
	OK(store_open(&other, path, &err));
	store_share(*state, shared);
	store_share(other, shared);
	store_shared_free(shared);
	OK(store_each_brief(*state, NULL, count, &sum[0], &err));
	OK(store_each_brief(other, NULL, count, &sum[1], &err));
	assert_true(alone && sum[0] == alone && sum[1] == alone);
	store_close(other);
	sum[0] = 0;
	OK(store_each_brief(*state, NULL, count, &sum[0], &err));
	assert_true(sum[0] == alone);
}

static void count_free(void *memo)
{
	++*(int *)memo;
}

static void what_was_worked_out_is_there_for_all_that_share(void **state)
{
	struct store_shared *shared = store_shared_new();
	struct store *a = NULL, *b = NULL;
	int freed = 0, other = 0;
	struct error err = { 0 };

	(void)state;
	OK(store_open(&a, path, &err));
	OK(store_open(&b, path, &err));
	store_share(a, shared);
	assert_null(store_memo(a, "this"));
	assert_true(store_set_memo(a, "this", &freed, count_free));
	assert_null(store_memo(b, "this"));
	store_share(b, shared);
	store_shared_free(shared);
	assert_false(store_set_memo(b, "this", &other, count_free));
	assert_ptr_equal(store_memo(b, "this"), &freed);
	assert_null(store_memo(b, "that"));
	store_close(a);
	assert_int_equal(freed, 0);
	store_close(b);
	assert_int_equal(freed, 1);
	assert_int_equal(other, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_walked),
		cmocka_unit_test(any_is_found_by_its_number),
		cmocka_unit_test(some_are_read_as_they_stand),
		cmocka_unit_test(a_page_comes_in_its_order),
		cmocka_unit_test(a_sample_is_the_same_when_it_is_read_again),
		cmocka_unit_test(handles_that_share_see_the_same),
		cmocka_unit_test(what_was_worked_out_is_there_for_all_that_share),
	};

	return cmocka_run_group_tests(tests, make, end);
}
