#include "home.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/programs.h"
#include "ident/constants.h"
#include "model/loss.h"
#include "program/python_modules.h"

/* A file below the directory of the test, with the folders above it. */
static void put(const struct home *h, const char *name, struct str text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	for (char *at = path + strlen(h->dir) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(path, 0755);
		*at = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	if (f) {
		fwrite(text.p, 1, text.n, f);
		fclose(f);
	}
}

static void put_link(const struct home *h, const char *name, const char *to)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	assert_int_equal(symlink(to, path), 0);
}

/* A process 7 as the system shows it; the root of its files is the directory of the test. */
static void put_process(const struct home *h, struct str cmdline, struct str maps, const char *exe)
{
	put(h, "proc/7/cmdline", cmdline);
	put(h, "proc/7/maps", maps);
	put(h, "proc/7/environ", STR("HOME=/\0CLASSPATH=/lib/env.jar\0PYTHONPATH=/more\0"));
	put(h, "proc/7/stat", STR("7 (a) b) S 1 1 1 0 -1 1 1 1 1 1 1 1 1 1 20 0 1 0 4711 1 1\n"));
	put(h, "proc/7/fd/none", STR(""));
	put_link(h, "proc/7/exe", exe);
	put_link(h, "proc/7/root", h->dir);
	put_link(h, "proc/7/cwd", h->dir);
}

struct told {
	struct buf lines;
	size_t nr_prefix;
};

static void note(void *ctx, const char *path)
{
	struct told *t = ctx;

	buf_fmt(&t->lines, "%s\n", path + t->nr_prefix);
}

/* The files, as they stand behind the folder of the process. */
static void check_files(const struct home *h, const char *want)
{
	struct told t = { .nr_prefix = strlen(h->dir) + strlen("/proc/7") };
	struct losses losses = { 0 };
	char proc[80];

	snprintf(proc, sizeof(proc), "%s/proc", h->dir);
	programs_files(proc, 7, note, &t, &losses);
	assert_str_equal(buf_str(&t.lines), want);
	buf_done(&t.lines);
}

static void a_program_is_its_executable_and_what_it_maps_to_run(void **state)
{
	put_process(*state, STR("/usr/sbin/served\0-f\0"),
		    STR("55d0-55d1 r-xp 0000 08:01 1 /usr/sbin/served\n"
			"7f00-7f01 r--p 0000 08:01 2 /lib/libfirst.so.6\n"
			"7f01-7f02 r-xp 0000 08:01 2 /lib/libfirst.so.6\n"
			"7f02-7f03 r-xp 0000 08:01 2 /lib/libfirst.so.6\n"
			"7f03-7f04 rw-p 0000 08:01 3 /var/data.db\n"
			"7f04-7f05 r-xp 0000 00:00 0 [vdso]\n"),
		    "/usr/sbin/served");
	check_files(*state, "/exe\n/root/lib/libfirst.so.6\n");
}

static void a_jvm_is_the_jars_of_its_class_path_and_those_open(void **state)
{
	struct home *h = *state;

	put(h, "app/lib/one.jar", STR("x"));
	put(h, "app/lib/readme", STR("x"));
	put_process(h, STR("java\0-Xmx1g\0-cp\0/conf:lib/two.jar:/app/lib/*\0org.Main\0-cp\0"),
		    STR("7f00-7f01 r-xp 0 08:01 1 /jdk/lib/server/libjvm.so\n"
			"7f02-7f03 r--s 0 08:01 1 /mapped.jar\n"),
		    "/jdk/bin/java");
	put_link(h, "proc/7/fd/5", "/opened.war");
	check_files(h, "/root/conf\n/cwd/lib/two.jar\n/root/app/lib//one.jar\n"
		       "/root/lib/env.jar\n/root/opened.war\n/root/mapped.jar\n");
}

static void a_script_brings_what_it_imports(void **state)
{
	struct home *h = *state;

	put(h, "srv/run.py",
	    STR("import os, helper as h\nfrom pkg.sub import deep, name\n"
		"  from . import sibling\nimport missing\n"));
	put(h, "srv/helper.py", STR("from more_there import x\n"));
	put(h, "srv/sibling.py", STR("import helper\n"));
	put(h, "srv/pkg/__init__.py", STR(""));
	put(h, "srv/pkg/sub/__init__.py", STR("from ..other import (y,\n z)\n"));
	put(h, "srv/pkg/sub/deep.py", STR("from .. import last\n"));
	put(h, "srv/pkg/other.py", STR(""));
	put(h, "srv/pkg/last.py", STR(""));
	put(h, "srv/pkg/__pycache__/last.cpython-311.pyc", STR(""));
	put(h, "srv/pkg/__pycache__/last.cpython-311.opt-1.pyc", STR(""));
	put(h, "more/more_there.py", STR(""));
	put(h, "usr/lib/python3.11/os.py", STR(""));
	put_process(h, STR("python3\0-u\0-W\0ignore\0/srv/run.py\0--daemon\0"),
		    STR("7f00-7f01 r-xp 0 08:01 1 /usr/lib/python3.11/lib-dynload/_x.so\n"),
		    "/usr/bin/python3.11");
	check_files(h, "/root/srv/run.py\n/root/usr/lib/python3.11/os.py\n/root/srv/helper.py\n"
		       "/root/srv/pkg/__init__.py\n/root/srv/pkg/sub/__init__.py\n"
		       "/root/srv/pkg/sub/deep.py\n/root/srv/sibling.py\n/root/more/more_there.py\n"
		       "/root/srv/pkg/other.py\n"
		       "/root/srv/pkg/__pycache__/last.cpython-311.pyc\n");
}

static void a_module_is_run_by_its_main(void **state)
{
	struct home *h = *state;

	put(h, "web/__init__.py", STR(""));
	put(h, "web/__main__.py", STR("import web.server\n"));
	put(h, "web/server.py", STR(""));
	put_process(h, STR("python3\0-m\0web\0"), STR(""), "/usr/bin/python3.11");
	check_files(h, "/cwd/./web/__init__.py\n/cwd/./web/__main__.py\n/cwd/./web/server.py\n");
}

static void strings_of_a_process_are_read_once(void **state)
{
	struct home *h = *state;
	struct losses losses = { 0 };
	struct cover v = { 0 };
	struct programs *p;
	char proc[80];

	put(h, "srv/run.py", STR("log('worker %s is idle')\n"));
	put_process(h, STR("python3\0/srv/run.py\0"), STR(""), "/usr/bin/python3.11");
	snprintf(proc, sizeof(proc), "%s/proc", h->dir);
	p = programs_new(proc);
	assert_null(programs_constants(p, &losses));
	programs_add(p, 7, &losses);
	programs_add(p, 8, &losses); /* gone */
	assert_true(programs_is_new(p));
	constants_cover(programs_constants(p, &losses), STR("worker a7 is idle"), &v);
	assert_true(v.is_pattern);
	programs_add(p, 7, &losses);
	assert_false(programs_is_new(p));
	/* another process, with another program */
	put(h, "proc/7/stat", STR("7 (a) S 1 1 1 0 -1 1 1 1 1 1 1 1 1 1 20 0 1 0 4712 1 1\n"));
	put(h, "srv/run.py", STR("log('all workers are busy now')\n"));
	programs_add(p, 7, &losses);
	assert_true(programs_is_new(p));
	constants_cover(programs_constants(p, &losses), STR("all workers are busy now"), &v);
	assert_int_equal(v.nr_bytes, 24);
	constants_cover(programs_constants(p, &losses), STR("worker a7 is idle"), &v);
	assert_true(v.is_pattern);
	cover_done(&v);
	programs_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_is_its_executable_and_what_it_maps_to_run,
						home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(a_jvm_is_the_jars_of_its_class_path_and_those_open,
						home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(a_script_brings_what_it_imports, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(a_module_is_run_by_its_main, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(strings_of_a_process_are_read_once, home_setup,
						home_teardown),
	};

	return RUN(tests);
}
