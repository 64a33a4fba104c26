#include "unit.h"

#include "base/arena.h"
#include "base/time.h"
#include "ident/gist.h"
#include "ident/namer.h"
#include "model/loss.h"

static struct arena arena;
static struct losses losses;

static struct str gist_of(struct gist *g, const char *text)
{
	assert_true(gist_make(g, str_of(text)));
	return (struct str){ g->text, g->n };
}

static void numbers_are_alike_but_for_how_long_they_are(void **state)
{
	struct gist a, b;
	struct gist_place place;

	(void)state;
	assert_str_equal(gist_of(&a, "blk_1073741825_1001 is 7 of x2y"), "blk_9_4 is 0 of x0y");
	assert_str_equal(gist_of(&b, "blk_2073741825_9999 is 77 of x3y"), "blk_9_4 is 0 of x0y");
	assert_true(a.hash == b.hash);
	assert_true(gist_note(&a, 23, &place)); /* "is 7" ends there */
	assert_int_equal(gist_find(&b, place), 23);
	assert_true(gist_note(&a, 24, &place));
	assert_int_equal(gist_find(&b, place), 25);
	assert_false(gist_note(&a, 6, &place));
	assert_str_equal(gist_of(&a, "region c2baf6cd47f6 0xffa1de9 g1abcdef12"),
			 "region \1 \3 g0abcdef0");
	assert_str_equal(gist_of(&a, "id bb2b4ed5-6983-4282-9cf1-774e2b965b23."), "id \2.");
}

static struct mention *line_of(struct namer *n, const char *text, const char *thread)
{
	const struct namer_where at = { STR("n1"), str_of(thread), LEVEL_INFO };

	return namer_line(n, str_of(text), &at, &arena, &losses);
}

static void equal_lines_of_a_round_are_one_mention(void **state)
{
	struct namer *n = namer_new(NULL);
	struct mention *a = line_of(n, "open blk_1 size 5", "t"), *b;

	(void)state;
	assert_ptr_equal(line_of(n, "open blk_1 size 77777", "t"), a);
	assert_ptr_not_equal(line_of(n, "open blk_2 size 5", "t"), a);
	assert_ptr_not_equal(line_of(n, "open blk_1 size 5", "u"), a);
	mention_count(a, 7);
	mention_count(a, NS_NONE);
	mention_count(a, 5);
	assert_int_equal(a->count, 3);
	assert_int_equal(a->first_ns, 5);
	assert_int_equal(a->last_ns, 7);
	assert_str_equal(a->node, "n1");
	b = mention_copy(a, &arena);
	assert_int_equal(b->count, 0);
	assert_str_equal(b->v[0].value, "blk_1");
	namer_begin(n);
	assert_ptr_not_equal(line_of(n, "open blk_1 size 5", "t"), a);
	namer_free(n);
	arena_done(&arena);
}

/* The third line of a kind is read by memory. */
static void what_is_remembered_is_what_would_be_read(void **state)
{
	static const char *const kinds[][3] = {
		{ "on localhost:80 by stage 3.0", "on localhost:81 by stage 44.0",
		  "on localhost:8123 by stage 5.1" },
		{ "x 0xAB12 at /p/%2C1", "x 0xCD34 at /p/%2C2", "x 0xFFFF at /p/%2C3" },
		{ "at a,1,1794735616441", "at a,22,1794735616442", "at a,333,1794735616443" },
	};
	struct namer *n = namer_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct namer *fresh = namer_new(NULL);
		struct mention *known, *read;

		line_of(n, kinds[i][0], "");
		line_of(n, kinds[i][1], "");
		known = line_of(n, kinds[i][2], "");
		read = line_of(fresh, kinds[i][2], "");
		assert_true(known->template == read->template);
		assert_int_equal(known->nr, read->nr);
		for (size_t k = 0; k < known->nr; k++) {
			assert_true(str_eq(known->v[k].type, read->v[k].type));
			assert_true(str_eq(known->v[k].value, read->v[k].value));
			assert_int_equal(known->v[k].place, read->v[k].place);
		}
		namer_free(fresh);
	}
	namer_free(n);
	arena_done(&arena);
}

static void threads_name_things_and_are_no_text(void **state)
{
	struct namer *n = namer_new(NULL);
	struct mention *m = line_of(n, "done", "Runner for container_1_2");

	(void)state;
	assert_int_equal(m->nr, 1);
	assert_str_equal(m->v[0].type, "container_#_#");
	assert_int_equal(m->v[0].place, NAMED_IN_THREAD);
	assert_str_equal(m->title, "done");
	m = line_of(n, "run container_1_2 in container_1_2", "Runner for container_1_2");
	assert_int_equal(m->nr, 1);
	assert_int_equal(m->v[0].place, 0);
	namer_free(n);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_alike_but_for_how_long_they_are),
		cmocka_unit_test(equal_lines_of_a_round_are_one_mention),
		cmocka_unit_test(what_is_remembered_is_what_would_be_read),
		cmocka_unit_test(threads_name_things_and_are_no_text),
	};

	return RUN(tests);
}
