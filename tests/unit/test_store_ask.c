#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "store/store.h"
#include "store_same.h"

static void add_request(struct store *s, const char *type, const char *key, int64_t start,
			int64_t end)
{
	struct request r = { .type = str_of(type), .key = str_of(key), .start = start, .end = end };
	struct error err = { 0 };

	OK(store_add_request(s, &r, NULL, &err));
}

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
	add_request(s, "read.Block", "d", 400, 410);
	add_request(s, "write.Block", "b", 200, 290);
	add_request(s, "read.Block", "c", 300, 305);
	add_request(s, "Read", "a", 100, 190);
	add_request(s, "read.Block", "c2", 300, 305);
	add_request(s, "read.Block", "c1", 300, 304);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_numbered_by_start_end_and_key),
		cmocka_unit_test(types_are_found_by_a_unique_part),
		cmocka_unit_test(a_callback_ends_the_walk_with_its_own_answer),
	};

	return RUN(tests);
}
