#include "unit.h"

#include <stdlib.h>

#include "source/lines.h"

static void lines_are_those_of_a_plain_loop_wherever_they_fall_in_a_block(void **state)
{
	(void)state;
	for (size_t length = 0; length < 200; length++) {
		char text[512];
		struct str all = { text, 0 };
		struct line line;
		struct lines l;

		for (int i = 0; i < 2; i++) {
			memset(text + all.n, 'a' + i, length);
			all.n += length;
			text[all.n++] = '\n';
		}
		text[all.n++] = 'z';
		l = lines_of(all);
		for (int i = 0; i < 2; i++) {
			assert_true(lines_next(&l, &line));
			assert_int_equal(line.text.n, length);
			assert_false(line.strange);
			assert_true(!length || line.text.p[0] == 'a' + i);
		}
		assert_true(lines_next(&l, &line));
		assert_str_equal(line.text, "z");
		assert_false(lines_next(&l, &line));
		assert_int_equal(lines_count(all), 2);
	}
}

static void a_carriage_return_before_the_end_is_no_text(void **state)
{
	struct lines l = lines_of(STR("one\r\n\r\nt\rwo\r"));
	struct line line;

	(void)state;
	assert_true(lines_next(&l, &line));
	assert_str_equal(line.text, "one");
	assert_true(lines_next(&l, &line));
	assert_str_equal(line.text, "");
	assert_true(lines_next(&l, &line));
	assert_str_equal(line.text, "t\rwo");
	assert_false(lines_next(&l, &line));
}

static void a_strange_byte_is_never_missed(void **state)
{
	(void)state;
	for (size_t at = 0; at < 300; at++)
		for (int nul = 0; nul < 2; nul++) {
			char text[301];
			struct lines l = { 0 };
			struct line line;
			bool seen = false;

			memset(text, 'x', sizeof(text));
			for (size_t i = 0; i < sizeof(text); i += 37)
				text[i] = '\n';
			text[at] = nul ? '\0' : '\xc3';
			l = lines_of((struct str){ text, sizeof(text) });
			while (lines_next(&l, &line))
				if (line.text.p <= text + at &&
				    text + at < line.text.p + line.text.n)
					seen = line.strange;
			assert_true(seen || at % 37 == 0);
		}
}

static void counting_survives_more_newlines_than_a_byte_can_count(void **state)
{
	size_t n = 16 * 300 + 5;
	char *text = malloc(n);

	(void)state;
	memset(text, '\n', n);
	assert_int_equal(lines_count((struct str){ text, n }), n);
	assert_int_equal(lines_count(STR("")), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_of_a_plain_loop_wherever_they_fall_in_a_block),
		cmocka_unit_test(a_carriage_return_before_the_end_is_no_text),
		cmocka_unit_test(a_strange_byte_is_never_missed),
		cmocka_unit_test(counting_survives_more_newlines_than_a_byte_can_count),
	};

	return RUN(tests);
}
