#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/html_style.h"
#include "report/report.h"
#include "report/writer.h"

static const struct column columns[] = {
	{ "name", "span", CELL_TEXT, COLUMN_INDENT | COLUMN_WIDE },
	{ "took", "took", CELL_DURATION, 0 },
	{ NULL, "when", CELL_BAR, COLUMN_TEXT_ONLY },
	{ NULL, "over time", CELL_SPARK, COLUMN_TEXT_ONLY },
	{ "nothing", "nothing", CELL_COUNT, 0 },
};

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

static bool holds(const struct buf *b, struct str what)
{
	return str_find(buf_str(b), what) < b->n;
}

static void hostile(struct report *r, struct str text)
{
	struct section *s = report_table(r, "t", text.p, columns, 5);
	struct row *row = section_row(s);
	struct prose *p;

	r->title = text;
	row_text(s, row, 0, text);
	s = report_section(r, SECTION_PROSE, "why", text.p);
	p = section_say(s, NULL, "%s", text.p);
	p->command = text;
	section_say(report_section(r, SECTION_STEPS, "steps", text.p), text.p, "%s", text.p);
}

static void nothing_in_the_data_becomes_markup(void **state)
{
	struct buf out = { 0 };
	struct str rest;

	hostile(*state, STR("\"><script>alert('1')</script><img src=x onerror=1>&amp;"));
	report_write_html(*state, &out);
	assert_false(holds(&out, STR("<script")));
	assert_false(holds(&out, STR("<img")));
	assert_true(holds(&out, STR("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)")));
	assert_true(holds(&out, STR("&amp;amp;")));
	/* every tag that opens is one of ours */
	for (rest = buf_str(&out); rest.n; rest = str_skip(rest, str_find_char(rest, '<') + 1))
		assert_false(str_starts(rest, STR("script")) || str_starts(rest, STR("img")));
	buf_done(&out);
}

static void control_bytes_do_not_reach_the_page(void **state)
{
	struct buf out = { 0 };

	hostile(*state, STR("a\033[1m\xff\x01"));
	report_write_html(*state, &out);
	assert_true(holds(&out, STR("a\\x1b[1m\\xff\\x01")));
	for (size_t i = 0; i < out.n; i++)
		assert_true((unsigned char)out.p[i] >= 0x20 || out.p[i] == '\n');
	buf_done(&out);
}

static void the_page_fetches_nothing_and_runs_nothing(void **state)
{
	static const char *const never[] = { "http://", "https://", "<script", "<link",    "url(",
					     "@import", " style=",  " onload", " onclick", "src=" };
	struct report *r = *state;
	struct section *s = report_table(r, "t", "Spans", columns, 5);
	struct row *row = section_row(s);
	static const double over[] = { 1, 2, 3 };
	struct buf out = { 0 };

	row->depth = 100;
	row_text(s, row, 0, STR("x"));
	row_int(s, row, 1, 41000000);
	row_bar(s, row, 2, 0.25, 0.5, 'c');
	row_spark(s, row, 3, over, 3);
	report_write_html(r, &out);
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (holds(&out, str_of(never[i])))
			fail_msg("the page holds '%s'", never[i]);
	assert_true(holds(&out, STR("default-src 'none'; style-src 'sha256-")));
	assert_true(holds(&out, STR("41 ms")));
	assert_true(holds(&out, STR("x=\"80.0\" y=\"0\" width=\"80.0\"")));
	assert_false(holds(&out, STR("nothing")));
	buf_done(&out);
}

/* The policy names the style by its hash: a browser would drop a style that was edited. */
static void the_policy_names_the_style_that_is_there(void **state)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char path[] = "/tmp/culprit-style-XXXXXX", command[96], hex[65] = "", want[45];
	unsigned byte[33] = { 0 };
	int fd = mkstemp(path);
	FILE *pipe;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, html_style, strlen(html_style)), strlen(html_style));
	close(fd);
	snprintf(command, sizeof(command), "sha256sum < %s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (!fgets(hex, sizeof(hex), pipe) || strlen(hex) != 64)
		hex[0] = 0;
	pclose(pipe);
	unlink(path);
	if (!hex[0])
		skip(); /* no sha256sum here */
	for (int i = 0; i < 32; i++)
		sscanf(hex + 2 * i, "%2x", &byte[i]);
	for (int i = 0, o = 0; i < 33; i += 3) {
		unsigned bits = byte[i] << 16 | byte[i + 1] << 8 | (i + 2 < 33 ? byte[i + 2] : 0);

		want[o++] = digits[bits >> 18];
		want[o++] = digits[bits >> 12 & 63];
		want[o++] = digits[bits >> 6 & 63];
		want[o++] = digits[bits & 63];
	}
	want[43] = '=';
	want[44] = 0;
	assert_string_equal(html_style_sha256, want);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_in_the_data_becomes_markup),
		TEST(control_bytes_do_not_reach_the_page),
		TEST(the_page_fetches_nothing_and_runs_nothing),
		TEST(the_policy_names_the_style_that_is_there),
	};

	return RUN(tests);
}
