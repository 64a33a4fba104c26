#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "infer/requests/plain.h"
#include "infer/requests/sight.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

static struct tokens t;

static const char *shape_of(const char *text)
{
	static char shape[TOKENS_SHAPE + 1];

	tokens_find(&t, str_of(text));
	memcpy(shape, t.shape, t.nr_shape);
	shape[t.nr_shape] = 0;
	return shape;
}

static bool has(const char *kind, const char *value)
{
	for (unsigned i = 0; i < t.nr; i++)
		if (str_eq(t.v[i].kind, str_of(kind)) && str_eq(t.v[i].value, str_of(value)))
			return true;
	return false;
}

static unsigned nr_of(const char *kind)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < t.nr; i++)
		nr += str_eq(t.v[i].kind, str_of(kind));
	return nr;
}

static void words_without_digits_stand_by_themselves(void **state)
{
	static const char *const words[] = { "open",      "table", "orders_east",
					     "web-items", "at",    "key" };
	struct str word;
	size_t at = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_true(plain_next(STR("open table 'orders_east,row5', -web-items. at:"
					   "/shop/orders blk_17 f BP-17-a <*>end key<"),
				       &at, &word));
		assert_true(str_eq(word, str_of(words[i])));
	}
}

static void compounds_name_all_that_they_are_part_of(void **state)
{
	(void)state;
	assert_string_equal(shape_of("Start container_17_0001_01_000002 of it"), "Start <*> of it");
	assert_true(has("container#1", "container_17"));
	assert_true(has("container#2", "container_17_0001"));
	assert_true(has("container#3", "container_17_0001_01"));
	assert_true(has("container#4", "container_17_0001_01_000002"));
	assert_true(has("#2", "17_0001"));
	assert_int_equal(t.nr, 5);
}

static void numbers_of_a_compound_may_be_negative(void **state)
{
	(void)state;
	shape_of("blk_-7300_1001 and blk_-7300");
	assert_true(has("blk#1", "blk_-7300"));
	assert_true(has("blk#2", "blk_-7300_1001"));
	assert_int_equal(nr_of("blk#1"), 1);
}

static void a_compound_that_goes_on_in_letters_still_names_what_it_begins_with(void **state)
{
	(void)state;
	shape_of("attempt_17_0001_m_000003_0");
	assert_true(has("attempt#1", "attempt_17"));
	assert_true(has("attempt#2", "attempt_17_0001"));
	assert_true(has("#2", "17_0001"));
	assert_false(has("attempt#3", "attempt_17_0001_m"));
	/* and the whole is a name of its own */
	assert_true(has("mix:a_0_0_a_0_0", "attempt_17_0001_m_000003_0"));
}

static void a_number_that_letters_follow_may_end_anywhere(void **state)
{
	(void)state;
	shape_of("wrote /tmp/private/container_17_0001_01_0000021a1de8.tokens");
	assert_true(has("container#3", "container_17_0001_01"));
	assert_int_equal(nr_of("container#4"), 0);
}

static void brackets_and_quotes_are_no_part_of_a_name(void **state)
{
	(void)state;
	shape_of("[blk_12]('part00290'), {uuid:4e2f0a9b-8c7d-4e5f-aa3b-2c1d0e9f8a7b}");
	assert_true(has("blk#1", "blk_12"));
	assert_true(has("mix:a0", "part00290"));
	assert_true(has("uuid", "4e2f0a9b-8c7d-4e5f-aa3b-2c1d0e9f8a7b"));
	assert_int_equal(t.nr, 3);
}

static void a_uuid_with_more_behind_it_is_none(void **state)
{
	(void)state;
	shape_of("4e2f0a9b-8c7d-4e5f-aa3b-2c1d0e9f8a7b1");
	assert_int_equal(nr_of("uuid"), 0);
}

static void addresses_have_a_port_and_four_parts(void **state)
{
	(void)state;
	assert_string_equal(shape_of("src: /10.0.0.1:50010 dest: 10.0.0.2:50010"),
			    "src: /<*> dest: <*>");
	assert_true(has("address", "10.0.0.1:50010"));
	assert_true(has("address", "10.0.0.2:50010"));
	shape_of("version 1.2.3.4 and 1.2.3:80 and 1234.1.1.1:80");
	assert_int_equal(nr_of("address"), 0);
}

static void a_number_at_an_address_is_agreed_between_all_ends(void **state)
{
	(void)state;
	shape_of("from /10.0.0.2:7000: 181@10.0.0.1:7000");
	assert_true(has("@", "181@10.0.0.1:7000+10.0.0.2:7000+"));
	assert_true(has("@>", "181@10.0.0.2:7000"));
	/* the other end says the same between, and another sender */
	shape_of("answer 181@/10.0.0.1:7000 to 10.0.0.2:7000");
	assert_true(has("@", "181@10.0.0.1:7000+10.0.0.2:7000+"));
	assert_int_equal(nr_of("@>"), 0);
}

static void a_path_names_itself_and_what_it_is_made_of(void **state)
{
	(void)state;
	assert_string_equal(shape_of("open hdfs://nn1:8020/user/ann/job_17_0001/part-1. done"),
			    "open hdfs:///<*> done");
	assert_true(has("path/user", "/user/ann/job_17_0001/part-1"));
	assert_true(has("job#2", "job_17_0001"));
	shape_of("open file:/data/x and /data/x/");
	assert_int_equal(nr_of("path/data"), 1);
	/* one step below the root is what all of it is below */
	shape_of("in /tmp");
	assert_int_equal(t.nr, 0);
}

static void numbers_are_named_by_what_stands_before_them(void **state)
{
	(void)state;
	shape_of("pid=12, ppid=[10] id: 5 port 50010 try 3 took 3.5 ms");
	assert_true(has("pid=", "12"));
	assert_true(has("ppid=", "10"));
	assert_true(has("id=", "5"));
	assert_true(has("port=", "50010"));
	/* a few digits behind a word are an amount, and so is a fraction */
	assert_int_equal(nr_of("try="), 0);
	assert_int_equal(nr_of("took="), 0);
}

static void letters_and_digits_are_told_apart_by_their_look(void **state)
{
	(void)state;
	shape_of("R2d and 4e2f0a9b8c7d6e5f");
	assert_true(has("mix:A0a", "R2d"));
	assert_true(has("hex016", "4e2f0a9b8c7d6e5f"));
}

static void the_shape_is_that_of_the_first_line(void **state)
{
	(void)state;
	assert_string_equal(shape_of("failed job_1_2\n\tat a.B.c(D.java:12) of blk_7"),
			    "failed <*>");
	/* what the rest names counts all the same */
	assert_true(has("blk#1", "blk_7"));
}

static void bytes_that_are_no_letters_stay_in_the_shape(void **state)
{
	struct str odd = STR("caf\xc3\xa9 \0 x\xff blk_1");

	(void)state;
	tokens_find(&t, odd);
	assert_true(str_eq((struct str){ t.shape, t.nr_shape }, STR("caf\xc3\xa9 \0 x\xff <*>")));
	assert_true(has("blk#1", "blk_1"));
	tokens_find(&t, (struct str){ 0 });
	assert_int_equal(t.nr + t.nr_shape, 0);
}

static void what_is_too_long_is_cut_and_said(void **state)
{
	enum { BYTES = 1 << 20 };
	char *text = malloc(BYTES + 1);

	(void)state;
	for (size_t i = 0; i < BYTES; i += 8)
		snprintf(text + i, 9, "b_%05zu ", i / 8 % 100000);
	tokens_find(&t, (struct str){ text, BYTES });
	assert_int_equal(t.nr, TOKENS_MAX);
	assert_true(t.is_cut);
	assert_true(t.nr_words <= TOKENS_WORDS && t.nr_shape <= TOKENS_SHAPE);
	memset(text, 'x', BYTES);
	tokens_find(&t, (struct str){ text, BYTES });
	assert_int_equal(t.nr, 0);
	assert_true(t.is_cut);
	tokens_find(&t, (struct str){ text, TOKENS_TEXT_MAX });
	assert_false(t.is_cut);
	free(text);
}

static void a_name_that_is_said_twice_is_one(void **state)
{
	(void)state;
	shape_of("blk_5 blk_5 [blk_5] /data/a/blk_5");
	assert_int_equal(nr_of("blk#1"), 1);
	assert_int_equal(t.nr, 2);
	assert_false(t.is_cut);
}

static void a_recipe_names_what_stands_in_other_texts(void **state)
{
	struct tokens_recipe recipe;

	(void)state;
	tokens_note(&t, STR("blk_17_1 to 10.0.0.1:50010 in /data/d1, blk_17_1"), false, &recipe);
	assert_false(recipe.is_bad);
	assert_int_equal(nr_of("blk#2"), 1);
	tokens_follow(&t, STR("blk_42_7 to 10.9.8.7:50011 in /data/d9, blk_43_7"), &recipe);
	assert_true(has("blk#2", "blk_42_7"));
	assert_true(has("blk#2", "blk_43_7"));
	assert_true(has("address", "10.9.8.7:50011"));
	assert_true(has("path/data", "/data/d9"));
	assert_int_equal(nr_of("blk#1"), 2);
}

static void what_is_made_of_digits_has_no_recipe(void **state)
{
	struct tokens_recipe recipe;

	(void)state;
	tokens_note(&t, STR("from 10.0.0.2:7000: 181@10.0.0.1:7000"), false, &recipe);
	assert_true(recipe.is_bad);
	tokens_note(&t, STR("open /disk1/blk_5"), false, &recipe);
	assert_true(recipe.is_bad);
	/* a path of one part stays in the shape as it is */
	tokens_note(&t, STR("open /disk1"), true, &recipe);
	assert_true(recipe.is_bad);
}

static void memory_changes_nothing_of_what_is_seen(void **state)
{
	static const char *const texts[] = { "took blk_1## of /data/#", "port ####, id: #",
					     "6#@10.0.0.#:7000 is here", "", "in /d#/x for # ms" };
	void *memory = sight_remember();
	struct arena arena = { 0 };

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		struct event a = { .thread =
					   arena_fmt(&arena, "handler %u on port 50%u", i % 3, i) };
		struct event b = a;
		char text[40] = { 0 };

		strcpy(text, texts[i % 5]);
		for (char *p = text; *p; p++)
			if (*p == '#')
				*p = (char)('0' + rand() % 10);
		sight_event(NULL, &a, str_of(text), &arena);
		sight_event_again(NULL, memory, &b, str_of(text), &arena);
		assert_true(str_eq(a.values, b.values));
	}
	sight_forget(memory);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_without_digits_stand_by_themselves),
		cmocka_unit_test(compounds_name_all_that_they_are_part_of),
		cmocka_unit_test(numbers_of_a_compound_may_be_negative),
		cmocka_unit_test(
			a_compound_that_goes_on_in_letters_still_names_what_it_begins_with),
		cmocka_unit_test(a_number_that_letters_follow_may_end_anywhere),
		cmocka_unit_test(brackets_and_quotes_are_no_part_of_a_name),
		cmocka_unit_test(a_uuid_with_more_behind_it_is_none),
		cmocka_unit_test(addresses_have_a_port_and_four_parts),
		cmocka_unit_test(a_number_at_an_address_is_agreed_between_all_ends),
		cmocka_unit_test(a_path_names_itself_and_what_it_is_made_of),
		cmocka_unit_test(numbers_are_named_by_what_stands_before_them),
		cmocka_unit_test(letters_and_digits_are_told_apart_by_their_look),
		cmocka_unit_test(the_shape_is_that_of_the_first_line),
		cmocka_unit_test(bytes_that_are_no_letters_stay_in_the_shape),
		cmocka_unit_test(what_is_too_long_is_cut_and_said),
		cmocka_unit_test(a_name_that_is_said_twice_is_one),
		cmocka_unit_test(a_recipe_names_what_stands_in_other_texts),
		cmocka_unit_test(what_is_made_of_digits_has_no_recipe),
		cmocka_unit_test(memory_changes_nothing_of_what_is_seen),
	};

	return RUN(tests);
}
