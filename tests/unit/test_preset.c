#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/probe/preset.h"
#include "capture/probe/spec.h"
#include "program/functions.h"

/* Where Debian has them. */
static const char *const servers[][2] = {
	{ "postgresql", "/usr/lib/postgresql/15/bin/postgres" },
	{ "postgresql-query", "/usr/lib/postgresql/15/bin/postgres" },
	{ "mariadb", "/usr/sbin/mariadbd" },
	{ "apache", "/usr/sbin/apache2" },
	{ "nginx", "/usr/sbin/nginx" },
	{ "redis", "/usr/bin/redis-server" },
};

static void all_presets_are_understood(void **state)
{
	const struct preset *p;
	struct error err = { 0 };
	size_t nr = 0;

	(void)state;
	for (; (p = preset_at(nr)); nr++) {
		struct interval_specs s = { 0 };

		if (preset_specs(p, &s, &err) < 0)
			fail_msg("%s: %s", p->name, err.msg);
		if (preset_works(p, &s, &err) < 0)
			fail_msg("%s: %s", p->name, err.msg);
		assert_true(s.v.nr > 0 && p->summary[0] && p->checked[0]);
		assert_ptr_equal(preset_find(str_of(p->name)), p);
		specs_done(&s);
	}
	assert_int_equal(nr, sizeof(servers) / sizeof(servers[0]) + 1);
	assert_int_equal(preset_missing(STR("oracle"), &err), -EINVAL);
	assert_string_equal(err.msg, "no preset 'oracle': there are postgresql, postgresql-query, "
				     "mariadb, apache, nginx, redis and libculprit");
}

static void check_server(const struct preset *p, const char *path)
{
	struct functions f = { 0 };
	struct interval_specs s = { 0 };
	struct error err = { 0 };
	uint32_t v[8];
	size_t nr_roots = 0, nr_found = 0, nr_carries = 0, nr_works = 0;

	assert_int_equal(functions_of_file(&f, path, &err), 0);
	assert_int_equal(preset_specs(p, &s, &err), 0);
	assert_int_equal(preset_works(p, &s, &err), 0);
	vec_each (&s.v, one)
		if (functions_find(&f, one->name, v, 8)) {
			nr_carries += one->role == SPEC_CARRY;
			nr_works += one->role == SPEC_WORK;
		} else if (!one->is_optional) {
			functions_missing(&f, one->name, &err);
			fail_msg("%s: %s", p->name, err.msg);
		}
	for (; p->roots[nr_roots]; nr_roots++)
		nr_found += functions_find(&f, str_of(p->roots[nr_roots]), v, 8) > 0;
	assert_true(nr_found * 4 >= nr_roots * 3);
	assert_true(nr_carries || !p->carries[0]);
	assert_true(nr_works || !p->works);
	specs_done(&s);
	functions_done(&f);
}

static void servers_of_this_machine_have_the_functions(void **state)
{
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (!access(servers[i][1], R_OK)) {
			check_server(preset_find(str_of(servers[i][0])), servers[i][1]);
			nr++;
		}
	if (!nr)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_presets_are_understood),
		cmocka_unit_test(servers_of_this_machine_have_the_functions),
	};

	return RUN(tests);
}
