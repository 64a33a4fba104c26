#include "unit.h"

#include "base/error.h"
#include "ident/line.h"
#include "ident/overrides.h"

static struct overrides *read_text(const char *text)
{
	struct overrides *o = NULL;
	struct error err = { 0 };

	assert_int_equal(overrides_parse(&o, str_of(text), &err), 0);
	return o;
}

static void types_are_renamed_joined_and_left_out(void **state)
{
	static struct line l;
	struct overrides *o = read_text("# ours\n\napp = application_#_#\n"
					"same region hex/row\nignore handler pid\n");
	struct line_aids aids = { .overrides = o };

	(void)state;
	assert_false(overrides_has_expressions(o));
	line_read(&l, STR("application_1_2 of row=ab12cd34ef by handler 5, pid 7, tid 8"), &aids);
	assert_int_equal(l.nr, 3);
	assert_str_equal(l.v[0].type, "app_#");
	assert_str_equal(l.v[0].value, "application_1_2");
	assert_str_equal(l.v[1].type, "region");
	assert_str_equal(l.v[2].type, "tid");
	overrides_free(o);
}

static void types_are_known_by_the_names_that_reports_tell(void **state)
{
	static struct line l;
	struct overrides *o = read_text("app = application\nsame task attempt_m\nignore job\n");
	struct line_aids aids = { .overrides = o };

	(void)state;
	line_read(&l, STR("application_1_2 of job_7 runs task_3 as attempt_3_m_1"), &aids);
	assert_int_equal(l.nr, 3);
	assert_str_equal(l.v[0].type, "app_#");
	assert_str_equal(l.v[1].type, "task_#");
	assert_str_equal(l.v[2].type, "task_#");
	overrides_free(o);
}

static void expressions_find_words_of_any_look(void **state)
{
	static struct line l;
	struct overrides *o = read_text("city = /(Pa|Ber)[a-z]+|c[0-9]/\n");
	struct line_aids aids = { .overrides = o };

	(void)state;
	assert_true(overrides_has_expressions(o));
	line_read(&l, STR("from Paris to c7 not Parisian-style"), &aids);
	assert_int_equal(l.nr, 2);
	assert_str_equal(l.v[0].type, "city");
	assert_str_equal(l.v[0].value, "Paris");
	assert_str_equal(l.v[1].type, "city_#");
	assert_str_equal(l.title, "from <*> to <*> not Parisian-style");
	overrides_free(o);
}

static void what_makes_no_sense_is_told_with_its_line(void **state)
{
	static const char *const bad[] = { "a = b\nfoo bar", "a = b\nsame x", "a = b\nx = /(/",
					   "a = b\nignore" };
	struct overrides *o = NULL;
	struct error err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_true(overrides_parse(&o, str_of(bad[i]), &err) < 0);
		assert_int_equal(strncmp(err.msg, "line 2: ", 8), 0);
	}
	assert_true(overrides_read(&o, "/nonexistent/types", &err) < 0);
}

static void what_nothing_is_shown_as_is_told(void **state)
{
	static struct line l;
	struct overrides *o =
		read_text("app = application_#_#\nignore handel\nhost = /zork-[0-9]+/\n");
	struct line_aids aids = { .overrides = o };
	struct str v[2];

	(void)state;
	assert_int_equal(overrides_idle(o, v, 2), 3);
	line_read(&l, STR("application_1_2 of handler 5"), &aids);
	assert_int_equal(overrides_idle(o, v, 2), 2);
	assert_str_equal(v[0], "handel");
	assert_str_equal(v[1], "zork-[0-9]+");
	line_read(&l, STR("zork-7 is up"), &aids);
	assert_int_equal(overrides_idle(o, v, 0), 1);
	overrides_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_renamed_joined_and_left_out),
		cmocka_unit_test(types_are_known_by_the_names_that_reports_tell),
		cmocka_unit_test(expressions_find_words_of_any_look),
		cmocka_unit_test(what_nothing_is_shown_as_is_told),
		cmocka_unit_test(what_makes_no_sense_is_told_with_its_line),
	};

	return RUN(tests);
}
