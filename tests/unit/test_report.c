#include "unit.h"

#include <math.h>

#include "base/time.h"
#include "report/report.h"
#include "report/writer.h"

static const struct column columns[] = {
	{ "type", "type", CELL_TEXT, 0 },
	{ "count", "count", CELL_COUNT, 0 },
	{ "p50", "p50", CELL_DURATION, 0 },
	{ "start", "start", CELL_TIME, COLUMN_OPTIONAL },
	{ "share", "share", CELL_SHARE, 0 },
	{ "nodes", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	{ NULL, "over time", CELL_SPARK, COLUMN_TEXT_ONLY },
};
enum { TYPE, COUNT, P50, START, SHARE, NODES, TIME, NR };

static const struct column node_columns[] = {
	{ "node", NULL, CELL_TEXT, 0 },
	{ "start", NULL, CELL_TIME, 0 },
};
static const struct column bare_columns[] = { { NULL, NULL, CELL_TEXT, 0 } };

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

static void assert_json(const struct report *r, const char *want)
{
	struct buf out = { 0 };

	report_write_json(r, &out);
	assert_str_equal(buf_str(&out), want);
	buf_done(&out);
}

static void rows_become_objects_with_the_keys_of_the_columns(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, "types", "Types", columns, NR), *nodes;
	struct row *row = section_row(s);

	row_text(s, row, TYPE, STR("a\"b"));
	row_int(s, row, COUNT, 9461);
	row_int(s, row, P50, 41 * NS_MS);
	row_double(s, row, SHARE, 0.93);
	nodes = row_rows(s, row, NODES, node_columns, 2);
	row_text(nodes, section_row(nodes), 0, STR("dn1"));
	row_int(nodes, &nodes->rows.v[0], 1, 17);
	assert_json(r, "{\"type\":\"a\\\"b\",\"count\":9461,\"p50\":41000000,\"share\":0.93,"
		       "\"nodes\":[{\"node\":\"dn1\",\"start\":17}]}\n");
}

static void a_cell_never_set_is_null_and_left_out_where_optional(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, "types", NULL, columns, NR);

	section_row(s);
	assert_json(r, "{\"type\":null,\"count\":null,\"p50\":null,\"share\":null,"
		       "\"nodes\":null}\n");
}

static void a_number_that_is_none_is_no_number(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, "types", NULL, columns, 5);
	struct row *row = section_row(s);

	row_double(s, row, SHARE, NAN);
	row_int(s, row, START, NS_NONE);
	row_double(s, row, P50, 1e30);
	row_double(s, row, COUNT, 2.6);
	assert_int_equal(row->cells[SHARE].type, CELL_NONE);
	assert_int_equal(row->cells[START].type, CELL_NONE);
	assert_true(row->cells[P50].i == INT64_MAX);
	assert_int_equal(row->cells[COUNT].i, 3);
}

static void a_column_without_a_key_makes_bare_values(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, NULL, NULL, columns + NODES, 1), *names;

	names = row_rows(s, section_row(s), 0, bare_columns, 1);
	row_fmt(names, section_row(names), 0, "lock_%d", 1);
	row_text(names, section_row(names), 0, STR("b"));
	assert_json(r, "{\"nodes\":[\"lock_1\",\"b\"]}\n");
}

static void tagged_sections_say_their_name_and_text_only_ones_are_silent(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, "types", NULL, columns, 1);

	s->tagged = true;
	row_text(s, section_row(s), TYPE, STR("x"));
	s = report_table(r, "hidden", NULL, columns, 1);
	s->text_only = true;
	section_row(s);
	assert_json(r, "{\"section\":\"types\",\"type\":\"x\"}\n");
}

static void prose_carries_its_facts_confidence_and_command(void **state)
{
	struct report *r = *state;
	struct section *s = report_section(r, SECTION_PROSE, "why", "Why slow");
	struct prose *p = section_say(s, NULL, "%d %% is on %s", 93, "dn2");

	p->confidence = 0.97;
	p->command = STR("culprit requests x");
	p->facts = section_facts(s, columns, 2);
	row_text(p->facts, section_row(p->facts), TYPE, STR("writeBlock"));
	row_int(p->facts, &p->facts->rows.v[0], COUNT, 61);
	assert_json(r, "{\"section\":\"why\",\"text\":\"93 % is on dn2\",\"confidence\":0.97,"
		       "\"command\":\"culprit requests x\",\"type\":\"writeBlock\","
		       "\"count\":61}\n");
}

static void confidence_is_said_once(void **state)
{
	static const struct column sure[] = { { "confidence", NULL, CELL_SHARE, 0 } };
	struct report *r = *state;
	struct section *s = report_section(r, SECTION_PROSE, "why", "Why slow");
	struct prose *p = section_say(s, NULL, "so it is");

	p->confidence = 0.5;
	p->facts = section_facts(s, sure, 1);
	row_double(p->facts, section_row(p->facts), 0, 0.5);
	assert_json(r, "{\"section\":\"why\",\"text\":\"so it is\",\"confidence\":0.5}\n");
}

static void losses_are_the_last_line(void **state)
{
	struct report *r = *state;

	assert_json(r, "");
	r->losses.count[LOSS_LINES_NO_TIME] = 3;
	r->losses.count[LOSS_SPANS_TWICE] = 1;
	section_say(report_section(r, SECTION_STEPS, "steps", NULL), "read", "4 logs");
	assert_json(r, "{\"section\":\"steps\",\"step\":\"read\",\"text\":\"4 logs\"}\n"
		       "{\"losses\":{\"lines_without_time\":3,\"spans_twice\":1}}\n");
}

static void an_old_row_still_reaches_its_cells_after_many_more(void **state)
{
	struct report *r = *state;
	struct section *s = report_table(r, NULL, NULL, columns, 2);
	struct row *first = section_row(s);

	for (int i = 1; i < 1000; i++)
		row_int(s, section_row(s), COUNT, i);
	row_int(s, first, COUNT, 77);
	assert_int_equal(s->rows.nr, 1000);
	assert_int_equal(s->rows.v[0].cells[COUNT].i, 77);
	assert_int_equal(s->rows.v[999].cells[COUNT].i, 999);
}

static void a_tree_tells_the_depth_of_its_rows(void **state)
{
	static const struct column tree[] = { { "name", "span", CELL_TEXT, COLUMN_INDENT } };
	struct report *r = *state;
	struct section *s = report_table(r, NULL, NULL, tree, 1);
	struct row *row = section_row(s);

	row_text(s, row, 0, STR("x"));
	row->depth = 3;
	assert_json(r, "{\"name\":\"x\",\"depth\":3}\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_become_objects_with_the_keys_of_the_columns),
		TEST(a_cell_never_set_is_null_and_left_out_where_optional),
		TEST(a_number_that_is_none_is_no_number),
		TEST(a_column_without_a_key_makes_bare_values),
		TEST(tagged_sections_say_their_name_and_text_only_ones_are_silent),
		TEST(prose_carries_its_facts_confidence_and_command),
		TEST(losses_are_the_last_line),
		TEST(confidence_is_said_once),
		TEST(an_old_row_still_reaches_its_cells_after_many_more),
		TEST(a_tree_tells_the_depth_of_its_rows),
	};

	return RUN(tests);
}
