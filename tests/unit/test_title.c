#include "unit.h"

#include "source/title.h"

static void check(const char *text, const char *want)
{
	struct arena a = { 0 };

	assert_str_equal(title_mask(&a, str_of(text)), want);
	arena_done(&a);
}

static void what_varies_is_masked(void **state)
{
	(void)state;
	check("Receiving BP-9:blk_1_2 src: /10.0.0.1:50010 dest: /10.0.0.2:50010",
	      "Receiving <*> src: <*> dest: <*>");
	check("took 12.5 ms", "took <*> ms");
	check("user=alice id=42, state=NEW", "user=alice id=<*>, state=NEW");
	check("Opening '/a b/c' for \"bob\"", "Opening <*> for <*>");
	check("hash dead8eef of cafe / more", "hash <*> of cafe / more");
	check("wrote /var/log/app.log", "wrote <*>");
	check("at 0x7ffe and 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "at <*> and <*>");
}

static void lists_of_any_length_are_one_mask(void **state)
{
	(void)state;
	check("nodes [dn1, dn2, dn3] ready", "nodes [<*>] ready");
	check("nodes [dn1] ready", "nodes [<*>] ready");
	check("at 10:11:12.345 x", "at <*> x");
}

static void what_was_asked_for_is_kept(void **state)
{
	(void)state;
	check("GET /api/orders/17/items/3?x=1 HTTP/1.1", "GET /api/orders/<*>/items/<*>?x=<*>");
	check("POST /api/orders", "POST /api/orders");
}

static void an_apostrophe_opens_no_quote(void **state)
{
	(void)state;
	check("can't open it, won't try", "can't open it, won't try");
	check("an open \" quote", "an open \" quote");
}

static void the_first_line_that_says_something_is_the_title(void **state)
{
	(void)state;
	check("\n \t\r\n  Failed \t  badly  \r\n  at x.y(Z.java:1)", "Failed badly");
	check("", "");
	check("\n\n", "");
}

static void a_title_is_short_and_valid_text(void **state)
{
	struct arena a = { 0 };
	char text[500];
	struct str title;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	title = title_mask(&a, (struct str){ text + 1, sizeof(text) - 1 });
	assert_true(title.n <= TITLE_BYTES_MAX && title.n >= TITLE_BYTES_MAX - 2);
	assert_int_equal(title.p[0], '?');
	assert_int_equal((unsigned char)title.p[title.n - 1], 0xa9);
	arena_done(&a);
}

static void equal_statements_have_equal_titles_however_long_their_values(void **state)
{
	struct arena a = { 0 };
	struct str one, two;

	(void)state;
	one = title_mask(&a, STR("Deleted block blk_1 and then some more words that fill the line "
				 "until it is long enough to be cut somewhere near here"));
	two = title_mask(&a, STR("Deleted block blk_1073741825_1073741825 and then some more words "
				 "that fill the line until it is long enough to be cut somewhere "
				 "near here"));
	assert_true(str_eq(one, two));
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_varies_is_masked),
		cmocka_unit_test(lists_of_any_length_are_one_mask),
		cmocka_unit_test(what_was_asked_for_is_kept),
		cmocka_unit_test(an_apostrophe_opens_no_quote),
		cmocka_unit_test(the_first_line_that_says_something_is_the_title),
		cmocka_unit_test(a_title_is_short_and_valid_text),
		cmocka_unit_test(equal_statements_have_equal_titles_however_long_their_values),
	};

	return RUN(tests);
}
