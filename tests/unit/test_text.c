#include "unit.h"

#include <math.h>

#include "base/time.h"
#include "base/utf8.h"
#include "report/report.h"
#include "report/writer.h"

static const struct column columns[] = {
	{ "type", "type", CELL_TEXT, COLUMN_WIDE },
	{ "count", "count", CELL_COUNT, 0 },
	{ "p50", "p50", CELL_DURATION, 0 },
	{ "errors", "errors", CELL_COUNT, 0 },
	{ NULL, "over time", CELL_SPARK, COLUMN_TEXT_ONLY },
};
enum { TYPE, COUNT, P50, ERRORS, OVER_TIME, NR };

static int setup(void **state)
{
	struct report *r = mem_alloc(sizeof(*r));

	report_init(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	report_done(*state);
	free(*state);
	return 0;
}

static void assert_text(const struct report *r, struct text_style style, const char *want)
{
	struct buf out = { 0 };

	report_write_text(r, &style, &out);
	assert_str_equal(buf_str(&out), want);
	buf_done(&out);
}

static struct section *two_types(struct report *r)
{
	static const double over[] = { 0, 1, 2, 8, NAN };
	struct section *s = report_table(r, "types", "Types", columns, NR);
	struct row *row = section_row(s);

	row_text(s, row, TYPE, STR("DataXceiver.writeBlock"));
	row_int(s, row, COUNT, 1204);
	row_int(s, row, P50, 41 * NS_MS);
	row_spark(s, row, OVER_TIME, over, 5);
	row->strong = true;
	row = section_row(s);
	row_text(s, row, TYPE, STR("größe"));
	row_int(s, row, COUNT, 3);
	row_int(s, row, P50, 1900 * NS_MS);
	return s;
}

static void numbers_stand_to_the_right_and_empty_columns_are_left_out(void **state)
{
	two_types(*state);
	assert_text(*state, (struct text_style){ 0 },
		    "  Types\n"
		    "  type                    count    p50  over time\n"
		    "  DataXceiver.writeBlock  1,204  41 ms  ▁▁▂█\n"
		    "  größe                       3  1.9 s  -\n");
}

static void a_plain_terminal_gets_plain_characters(void **state)
{
	two_types(*state)->nr_left_out = 1234;
	assert_text(*state, (struct text_style){ .ascii = true },
		    "  Types\n"
		    "  type                    count    p50  over time\n"
		    "  DataXceiver.writeBlock  1,204  41 ms  __.#\n"
		    "  größe                       3  1.9 s  -\n"
		    "  ... and 1,234 more\n");
}

static void a_narrow_terminal_cuts_the_wide_column_towards_its_end(void **state)
{
	two_types(*state);
	assert_text(*state, (struct text_style){ .columns = 40 },
		    "  Types\n"
		    "  type           count    p50  over time\n"
		    "  DataXceiv…ock  1,204  41 ms  ▁▁▂█\n"
		    "  größe              3  1.9 s  -\n");
}

static void no_line_is_wider_than_a_narrow_terminal(void **state)
{
	struct report *r = *state;

	two_types(r);
	section_say(
		report_section(r, SECTION_PROSE, "why", "Why"), NULL,
		"The slowest 1 %% take 1.9 s; the median takes 41 ms. 日本語日本語日本語 is wide.");
	for (unsigned columns_ = 35; columns_ < 70; columns_++) {
		struct text_style style = { .columns = columns_ };
		struct buf out = { 0 };
		struct str rest, line;

		report_write_text(r, &style, &out);
		rest = buf_str(&out);
		while (str_take_line(&rest, &line))
			assert_true(utf8_width(line) <= columns_);
		buf_done(&out);
	}
}

static void colour_only_when_asked_for(void **state)
{
	struct text_style style = { .colour = true };
	struct buf out = { 0 };

	two_types(*state);
	report_write_text(*state, &style, &out);
	assert_true(str_find(buf_str(&out), STR("\033[1mDataXceiver.writeBlock\033[0m")) < out.n);
	buf_done(&out);
	style.colour = false;
	report_write_text(*state, &style, &out);
	assert_int_equal(str_find_char(buf_str(&out), '\033'), out.n);
	buf_done(&out);
}

static void data_cannot_steer_the_terminal(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, "t", NULL, columns, 1);

	row_text(s, section_row(s), TYPE,
		 STR("\033]0;x\a\n\xc2\x9b"
		     "1m \xff\xe2\x80\xae."));
	section_say(report_section(r, SECTION_PROSE, NULL, NULL), NULL, "a\033[1m\nb\r");
	assert_text(r, (struct text_style){ .colour = true },
		    "\033[2m  type\033[0m\n"
		    "  \\x1b]0;x\\x07\\n\\u009b1m \\xff\\u202e.\n\n"
		    "  a\\x1b[1m\n  b\\r\n");
}

static void prose_is_wrapped_and_ends_with_its_evidence(void **state)
{
	struct report *r = *state;
	struct section *s = report_section(r, SECTION_PROSE, "why", "Why slow: x");
	struct prose *p = section_say(s, NULL, "one two three 41 ms, five\n  six seven eight nine");

	p->confidence = 0.97;
	p->command = STR("culprit requests run.culprit --type x");
	assert_text(r, (struct text_style){ .columns = 22 },
		    "  Why slow: x\n"
		    "    one two three\n"
		    "    41 ms, five\n"
		    "      six seven eight\n"
		    "      nine\n"
		    "    confidence 0.97      culprit requests run.culprit --type x\n");
}

static void steps_have_their_word_in_front(void **state)
{
	struct report *r = *state;
	struct section *s = report_section(r, SECTION_STEPS, "steps", NULL);

	section_say(s, "read", "4 logs and 9,461 events");
	section_say(s, "clock", "fine");
	assert_text(r, (struct text_style){ .columns = 24 },
		    "  read    4 logs and\n"
		    "          9,461 events\n"
		    "  clock   fine\n");
}

static void trees_are_indented_and_bars_show_when(void **state)
{
	static const struct column tree[] = {
		{ "name", "span", CELL_TEXT, COLUMN_INDENT | COLUMN_WIDE },
		{ NULL, "when", CELL_BAR, COLUMN_TEXT_ONLY },
	};
	struct report *r = *state;
	struct section *s = report_table(r, "tree", NULL, tree, 2);
	struct row *row = section_row(s);

	row_text(s, row, 0, STR("root"));
	row_bar(s, row, 1, 0, 1, 'c');
	row = section_row(s);
	row->depth = 1;
	row_text(s, row, 0, STR("child"));
	row_bar(s, row, 1, 0.5, 0.75, 'w');
	row = section_row(s);
	row->depth = 1000;
	row_text(s, row, 0, STR("far below all others"));
	row_bar(s, row, 1, 1, 7, 'r');
	assert_text(r, (struct text_style){ .columns = 32, .ascii = true },
		    "  span                when\n"
		    "  root                ##########\n"
		    "    child                  ...\n"
		    "           (1000...s           =\n");
}

static void losses_stand_under_the_report(void **state)
{
	struct report *r = *state;

	r->losses.count[LOSS_SPANS_BROKEN] = 12345;
	r->losses.count[LOSS_FILES_EMPTY] = 3;
	section_say(report_section(r, SECTION_STEPS, "steps", NULL), "read", "x");
	assert_text(r, (struct text_style){ 0 },
		    "  read    x\n\n"
		    "       3 empty files\n"
		    "  12,345 spans without an id or a time\n");
}

static void shares_never_round_to_nothing_or_to_all(void **state)
{
	static const struct column shares[] = { { "s", "s", CELL_SHARE, 0 } };
	static const double v[] = { 0, 0.0004, 0.093, 0.93, 0.998, 0.9996, 1, -0.25 };
	struct report *r = *state;
	struct section *s = report_table(r, "s", NULL, shares, 1);

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		row_double(s, section_row(s), 0, v[i]);
	assert_text(r, (struct text_style){ 0 },
		    "        s\n"
		    "      0 %\n"
		    "   <0.1 %\n"
		    "    9.3 %\n"
		    "     93 %\n"
		    "   99.8 %\n"
		    "  >99.9 %\n"
		    "    100 %\n"
		    "    -25 %\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_stand_to_the_right_and_empty_columns_are_left_out),
		TEST(a_plain_terminal_gets_plain_characters),
		TEST(a_narrow_terminal_cuts_the_wide_column_towards_its_end),
		TEST(no_line_is_wider_than_a_narrow_terminal),
		TEST(colour_only_when_asked_for),
		TEST(data_cannot_steer_the_terminal),
		TEST(prose_is_wrapped_and_ends_with_its_evidence),
		TEST(steps_have_their_word_in_front),
		TEST(trees_are_indented_and_bars_show_when),
		TEST(losses_stand_under_the_report),
		TEST(shares_never_round_to_nothing_or_to_all),
	};

	return RUN(tests);
}
