#include "unit.h"

#include <stdlib.h>

#include "source/rotation.h"

static void is_of(const char *name, const char *log, enum rotation_age age)
{
	struct rotation r;

	rotation_of(str_of(name), &r);
	assert_string_equal(r.log, log);
	assert_int_equal(r.age, age);
}

static void names_of_one_log_share_the_log(void **state)
{
	(void)state;
	is_of("app.log", "app.log", ROTATION_NONE);
	is_of("app.log.1", "app.log", ROTATION_NUMBERED);
	is_of("app.log.12.gz", "app.log", ROTATION_NUMBERED);
	is_of("app.1.log.xz", "app.log", ROTATION_NUMBERED);
	is_of("app.log-20240101", "app.log", ROTATION_DATED);
	is_of("app.log-20240101-1704067200.zst", "app.log", ROTATION_DATED);
	is_of("app.2024-01-01.log", "app.log", ROTATION_DATED);
	is_of("app-2024-01-01-3.log.gz", "app.log", ROTATION_DATED);
	is_of("app.log.2024-01-01.2", "app.log", ROTATION_DATED);
	is_of("app.log.old", "app.log", ROTATION_OLD);
	is_of("app.log.gz", "app.log", ROTATION_NONE);
}

static void other_logs_and_odd_names_stay_apart(void **state)
{
	char longest[300];

	(void)state;
	is_of("app.out", "app.out", ROTATION_NONE);
	is_of("app.out.1", "app.out", ROTATION_NUMBERED);
	is_of("web-1.log", "web-1.log", ROTATION_NONE);
	is_of("api.v2", "api.v2", ROTATION_NONE);
	is_of("20240101.log", "20240101.log", ROTATION_NONE);
	is_of("7", "7", ROTATION_NONE);
	is_of(".gz", ".gz", ROTATION_NONE);
	is_of("", "", ROTATION_NONE);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	longest[255] = 0;
	is_of(longest, longest, ROTATION_NONE);
}

static int by_name(const void *a, const void *b)
{
	return rotation_cmp(str_of(*(const char *const *)a), str_of(*(const char *const *)b));
}

static void are_in_order(const char *const *names, size_t nr)
{
	const char *mixed[32];

	for (size_t i = 0; i < nr; i++)
		mixed[(i * 7 + 3) % nr] = names[i];
	qsort(mixed, nr, sizeof(*mixed), by_name);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(mixed[i], names[i]);
}

static void the_oldest_comes_first_and_logs_stay_together(void **state)
{
	static const char *const names[] = {
		"app.2024-01-01-3.log",
		"app.2024-01-01-12.log",
		"app.2024-01-02.log.gz",
		"app.log.2024-01-03.1",
		"app.log.2024-01-03.2",
		"app.log.10.gz",
		"app.log.9.gz",
		"app.log.1",
		"app.log.old",
		"app.log",
		"app.out.1",
		"app.out",
		"zoo",
	};

	(void)state;
	are_in_order(names, sizeof(names) / sizeof(*names));
}

static void the_order_is_total(void **state)
{
	static const char *const names[] = {
		"a.log",   "a.log.gz",       "a.log.1",        "a.log.01",
		"a.1.log", "a.log.xz",       "a.log-20240101", "a.log-2024-01-01",
		"a",       "a.20240101.log", "a.log.1.old",    "a.log.20240101T"
	};
	const size_t nr = sizeof(names) / sizeof(*names);

	(void)state;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < nr; k++) {
			int x = rotation_cmp(str_of(names[i]), str_of(names[k]));
			int y = rotation_cmp(str_of(names[k]), str_of(names[i]));

			assert_true(i == k ? !x && !y : (x < 0) != (y < 0) && x && y);
			for (size_t m = 0; m < nr && x < 0; m++)
				if (rotation_cmp(str_of(names[k]), str_of(names[m])) < 0)
					assert_true(rotation_cmp(str_of(names[i]),
								 str_of(names[m])) < 0);
		}
}

static void paths_are_compared_directory_by_directory(void **state)
{
	(void)state;
	assert_true(rotation_cmp_paths(STR("d/app.log.2"), STR("d/app.log.1")) < 0);
	assert_true(rotation_cmp_paths(STR("a/app.log"), STR("b/app.log.1")) < 0);
	assert_true(rotation_cmp_paths(STR("/x/a"), STR("/x/a/b")) < 0);
	assert_int_equal(rotation_cmp_paths(STR("/x/a.1"), STR("/x/a.1")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_one_log_share_the_log),
		cmocka_unit_test(other_logs_and_odd_names_stay_apart),
		cmocka_unit_test(the_oldest_comes_first_and_logs_stay_together),
		cmocka_unit_test(the_order_is_total),
		cmocka_unit_test(paths_are_compared_directory_by_directory),
	};

	return RUN(tests);
}
