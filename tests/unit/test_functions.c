#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "program/elf.h"
#include "program/functions.h"

#define POSTGRES "/usr/lib/postgresql/15/bin/postgres"

static const char *sample(void)
{
	const char *path = getenv("CULPRIT_SAMPLE");

	if (!path)
		skip();
	return path;
}

static void open_file(struct functions *f, const char *path)
{
	struct error err = { 0 };

	*f = (struct functions){ 0 };
	if (functions_of_file(f, path, &err) < 0)
		fail_msg("%s", err.msg);
}

/* A copy of the sample that the test may change. */
static char *sample_bytes(size_t *n)
{
	FILE *file = fopen(sample(), "rb");
	struct stat st;
	char *p;

	if (!file)
		abort();
	assert_int_equal(fstat(fileno(file), &st), 0);
	*n = (size_t)st.st_size;
	p = mem_alloc(*n);
	assert_int_equal(fread(p, 1, *n, file), *n);
	fclose(file);
	return p;
}

static void open_bytes(struct functions *f, const char *p, size_t n)
{
	struct error err = { 0 };

	*f = (struct functions){ 0 };
	if (functions_of_bytes(f, (struct str){ p, n }, "/opt/sample", &err) < 0)
		fail_msg("%s", err.msg);
}

/* As if sections of that type were not there. */
static void forget_sections(char *p, size_t n, unsigned type)
{
	struct elf e;

	assert_true(elf_read(&e, (struct str){ p, n }));
	for (size_t i = 0; i < e.sections.nr; i++)
		if (e.sections.v[i].type == type) {
			uint64_t table;

			elf_number(&e, e.bytes, e.is_64 ? 40 : 32, elf_word(&e), &table);
			memset(p + table + i * (e.is_64 ? 64 : 40) + 4, 0, 4);
		}
	elf_done(&e);
}

/* As after strip: no symbols but those of the dynamic linker, and nothing for debuggers. */
static void strip(char *p, size_t n)
{
	struct elf e;

	forget_sections(p, n, SECTION_SYMBOLS);
	assert_true(elf_read(&e, (struct str){ p, n }));
	vec_each (&e.sections, s)
		if (str_starts(s->name, STR(".debug")))
			p[s->name.p - p] = 'x';
	elf_done(&e);
}

static uint32_t only(const struct functions *f, const char *name)
{
	uint32_t v[2];

	if (functions_find(f, str_of(name), v, 2) != 1)
		fail_msg("not one function '%s'", name);
	return v[0];
}

static struct callees callees_of(struct functions *f, const char *name)
{
	struct callees c;
	struct error err = { 0 };

	if (functions_callees(f, only(f, name), &c, &err) < 0)
		fail_msg("%s", err.msg);
	return c;
}

static bool has(const struct functions *f, const struct callees *c, const char *name)
{
	uint32_t v[32];
	size_t nr = functions_find(f, str_of(name), v, 32);

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < c->nr; k++)
			if (c->v[k] == v[i])
				return true;
	return false;
}

static void callers_are_found(void **state)
{
	struct functions f;
	uint32_t v[8];

	(void)state;
	open_file(&f, sample());
	assert_int_equal(functions_callers(&f, only(&f, "leaf_hidden"), v, 8), 3);
	for (int i = 0; i < 3; i++)
		assert_true(v[i] == only(&f, "calls_directly") ||
			    v[i] == only(&f, "jumps_as_tail") || v[i] == only(&f, "has_cold_part"));
	assert_int_equal(functions_callers(&f, only(&f, "leaf_hidden"), v, 1), 1);
	assert_int_equal(functions_callers(&f, only(&f, "main"), v, 8), 0);
	functions_done(&f);
}

static void functions_are_found_by_every_name(void **state)
{
	struct functions f;
	uint32_t v[8];

	(void)state;
	open_file(&f, sample());
	assert_int_equal(only(&f, "leaf_exported"), only(&f, "leaf_alias"));
	only(&f, "leaf_hidden");
	assert_int_equal(functions_find(&f, STR("shop::price"), v, 8), 2);
	assert_int_equal(functions_find(&f, STR("shop::Basket::put"), v, 8), 2);
	assert_true(v[0] < v[1]);
	assert_int_equal(only(&f, "shop::Basket<char>::put"), only(&f, "_ZN4shop6BasketIcE3putEc"));
	assert_str_equal(f.v.v[v[0]].folded, "shop::Basket::put");
	assert_int_equal(functions_find(&f, STR("shop::Basket::operator()"), v, 8), 2);
	assert_int_equal(functions_find(&f, STR("shop::(anonymous namespace)::twice"), v, 8), 2);
	assert_int_equal(functions_find(&f, STR("shop::price"), v, 1), 1);
	assert_int_equal(functions_find(&f, STR("has_cold_part.cold"), v, 8), 0);
	assert_int_equal(functions_find(&f, STR("no_such"), v, 8), 0);
	assert_true(f.modules.v[0].is_main && !f.modules.v[0].is_stripped);
	functions_done(&f);
}

static void a_module_is_named_in_front(void **state)
{
	struct functions f;
	uint32_t v[8];
	size_t n;
	char *p = sample_bytes(&n);

	(void)state;
	open_bytes(&f, p, n);
	assert_int_equal(functions_find(&f, STR("sample!leaf_hidden"), v, 8), 1);
	assert_int_equal(functions_find(&f, STR("/opt/sample!leaf_hidden"), v, 8), 1);
	assert_int_equal(functions_find(&f, STR("sam!leaf_hidden"), v, 8), 0);
	assert_int_equal(functions_find(&f, STR("libc!leaf_hidden"), v, 8), 0);
	functions_done(&f);
	free(p);
}

static void addresses_lead_to_functions(void **state)
{
	struct functions f;
	uint32_t i;

	(void)state;
	open_file(&f, sample());
	i = only(&f, "has_switch");
	assert_int_equal(functions_at(&f, 0, f.v.v[i].address), i);
	assert_int_equal(functions_at(&f, 0, f.v.v[i].address + f.v.v[i].size - 1), i);
	assert_int_not_equal(functions_at(&f, 0, f.v.v[i].address + f.v.v[i].size), i);
	assert_int_equal(functions_at(&f, 0, 1), UINT32_MAX);
	assert_int_equal(functions_at(&f, 0, UINT64_MAX), UINT32_MAX);
	for (size_t k = 1; k < f.v.nr; k++)
		assert_true(f.v.v[k - 1].address < f.v.v[k].address);
	functions_done(&f);
}

static void callees_are_read_from_instructions(void **state)
{
	struct functions f;
	struct callees c;

	(void)state;
	open_file(&f, sample());
	c = callees_of(&f, "calls_directly");
	assert_int_equal(c.nr, 2);
	assert_true(has(&f, &c, "leaf_exported") && has(&f, &c, "leaf_hidden") && !c.is_indirect);
	c = callees_of(&f, "jumps_as_tail");
	assert_true(c.nr == 1 && has(&f, &c, "leaf_hidden") && !c.is_indirect);
	c = callees_of(&f, "calls_by_pointer");
	assert_true(!c.nr && c.is_indirect);
	c = callees_of(&f, "has_switch");
	assert_true(c.nr == 1 && has(&f, &c, "leaf_exported") && !c.is_indirect);
	c = callees_of(&f, "has_cold_part");
	assert_true(has(&f, &c, "complain") && has(&f, &c, "leaf_hidden"));
	c = callees_of(&f, "main");
	assert_true(has(&f, &c, "choice_plain") && has(&f, &c, "choice_fancy"));
	functions_done(&f);
}

static void stripped_functions_have_addresses_for_names(void **state)
{
	struct functions all, f;
	size_t n;
	char *p = sample_bytes(&n), name[64];
	struct callees c;

	(void)state;
	open_bytes(&all, p, n);
	strip(p, n);
	open_bytes(&f, p, n);
	assert_true(f.modules.v[0].is_stripped);
	only(&f, "leaf_exported");
	snprintf(name, sizeof(name), "sample+0x%llx",
		 (unsigned long long)all.v.v[only(&all, "leaf_hidden")].address);
	assert_int_equal(f.v.v[only(&f, name)].size, all.v.v[only(&all, "leaf_hidden")].size);
	assert_int_equal(f.v.v[only(&f, name)].source, FUNCTION_FRAME);
	c = callees_of(&f, "calls_directly");
	assert_true(c.nr == 2 && has(&f, &c, name));
	/* what is put apart is no function, and what it calls is known */
	c = callees_of(&f, "has_cold_part");
	snprintf(name, sizeof(name), "sample+0x%llx",
		 (unsigned long long)all.v.v[only(&all, "complain")].address);
	assert_true(c.nr == 3 && has(&f, &c, name));
	snprintf(name, sizeof(name), "sample+0x%llx",
		 (unsigned long long)all.v.v[only(&all, "complain_loudly")].address);
	assert_true(has(&f, &c, name));
	functions_done(&f);
	functions_done(&all);
	free(p);
}

static void stripped_functions_may_tell_their_names(void **state)
{
	struct functions f;
	struct str near[1];
	size_t n;
	char *p = sample_bytes(&n);
	uint32_t i;

	(void)state;
	strip(p, n);
	open_bytes(&f, p, n);
	i = only(&f, "hidden_tells_its_name");
	assert_int_equal(i, only(&f, "hidden_tells_its_name?"));
	assert_str_equal(f.v.v[i].folded, "hidden_tells_its_name?");
	assert_int_equal(f.v.v[i].source, FUNCTION_TOLD);
	assert_int_equal(f.nr_told, 1);
	assert_int_equal(functions_near(&f, STR("hidden_tells_is_name"), near, 1), 1);
	assert_str_equal(near[0], "hidden_tells_its_name");
	functions_done(&f);
	free(p);
}

static void functions_chosen_at_the_start_have_the_name(void **state)
{
	struct functions f;
	uint32_t v[8];
	size_t n;
	char *p = sample_bytes(&n);

	(void)state;
	strip(p, n);
	open_bytes(&f, p, n);
	assert_int_equal(functions_find(&f, STR("chosen_at_start"), v, 8), 2);
	assert_str_equal(f.v.v[v[0]].name, "chosen_at_start");
	assert_true(f.v.v[v[1]].is_exported);
	functions_done(&f);
	free(p);
}

static void a_file_without_sections_is_read_by_its_segments(void **state)
{
	struct functions f;
	size_t n;
	char *p = sample_bytes(&n);
	struct callees c;

	(void)state;
	memset(p + 40, 0, 8); /* where the sections are, … */
	memset(p + 60, 0, 4); /* … and how many */
	open_bytes(&f, p, n);
	only(&f, "leaf_exported");
	c = callees_of(&f, "calls_directly");
	assert_int_equal(c.nr, 2);
	functions_done(&f);
	free(p);
}

static void debug_information_names_functions(void **state)
{
	struct functions f;
	size_t n;
	char *p = sample_bytes(&n);

	(void)state;
	forget_sections(p, n, SECTION_SYMBOLS);
	forget_sections(p, n, SECTION_DYNAMIC_SYMBOLS);
	open_bytes(&f, p, n);
	if (getenv("CULPRIT_DWARF")) {
		assert_int_equal(f.v.v[only(&f, "leaf_hidden")].source, FUNCTION_DEBUG);
		only(&f, "shop::Basket<char>::put");
	}
	functions_done(&f);
	free(p);
}

static void packed_symbols_name_functions(void **state)
{
	char dir[] = "/tmp/culprit-functions-XXXXXX", command[3 * PATH_MAX];
	struct functions f;
	const char *path = sample();
	bool is_made;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && xz -c %s >x && objcopy --strip-all --add-section .gnu_debugdata=x %s y "
		 "2>/dev/null",
		 dir, path, path);
	is_made = !system(command);
	snprintf(command, sizeof(command), "%s/y", dir);
	if (is_made) {
		open_file(&f, command);
		assert_int_equal(f.v.v[only(&f, "leaf_hidden")].source, FUNCTION_MINIDEBUG);
		functions_done(&f);
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	if (!is_made)
		skip();
}

/* As debuggers find it: in .debug beside the program. */
static void symbols_kept_apart_name_functions(void **state)
{
	char dir[] = "/tmp/culprit-functions-XXXXXX", command[3 * PATH_MAX];
	struct functions f;
	const char *path = sample();
	bool is_made;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir .debug && objcopy --only-keep-debug %s .debug/y.debug && "
		 "objcopy --strip-all --add-gnu-debuglink=.debug/y.debug %s y 2>/dev/null",
		 dir, path, path);
	is_made = !system(command);
	snprintf(command, sizeof(command), "%s/y", dir);
	if (is_made) {
		open_file(&f, command);
		assert_int_equal(f.v.v[only(&f, "leaf_hidden")].source, FUNCTION_DEBUG);
		functions_done(&f);
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	if (!is_made)
		skip();
}

static void near_names_are_offered(void **state)
{
	struct functions f;
	struct str near[4];
	struct error err = { 0 };

	(void)state;
	open_file(&f, sample());
	assert_int_not_equal(functions_near(&f, STR("leaf_hiden"), near, 4), 0);
	assert_str_equal(near[0], "leaf_hidden");
	assert_int_not_equal(functions_near(&f, STR("Calls_Library"), near, 4), 0);
	assert_str_equal(near[0], "calls_library");
	assert_int_not_equal(functions_near(&f, STR("put"), near, 4), 0);
	assert_str_equal(near[0], "shop::Basket::put");
	assert_int_equal(functions_near(&f, STR("zzzzzzzzzzzzzzz"), near, 4), 0);
	assert_int_equal(functions_missing(&f, STR("leaf_hiden"), &err), -ENOENT);
	assert_string_equal(err.msg, "no function 'leaf_hiden'; did you mean leaf_hidden?");
	functions_done(&f);
}

static void this_process_has_libraries_that_it_calls(void **state)
{
	struct functions f = { 0 };
	struct error err = { 0 };
	uint32_t v[32];

	(void)state;
	if (functions_of_process(&f, getpid(), &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(f.modules.nr > 1 && f.modules.v[0].is_main);
	only(&f, "this_process_has_libraries_that_it_calls");
	assert_true(functions_find(&f, STR("libc.so.6!strtol"), v, 32) > 0);
	assert_true(functions_find(&f, STR("libc!strtol"), v, 32) > 0);
	functions_done(&f);
}

static void libraries_that_are_loaded_later_are_added(void **state)
{
	struct functions f = { 0 };
	struct error err = { 0 };
	uint32_t strtol_before, v[8];
	size_t nr_before;
	void *library;

	(void)state;
	assert_int_equal(functions_of_process(&f, getpid(), &err), 0);
	assert_int_equal(functions_find(&f, STR("libc.so.6!strtol"), &strtol_before, 1), 1);
	nr_before = f.modules.nr;
	assert_int_equal(functions_of_process(&f, getpid(), &err), 0);
	assert_int_equal(f.modules.nr, nr_before);
	library = dlopen("libresolv.so.2", RTLD_NOW);
	if (library) {
		assert_int_equal(functions_of_process(&f, getpid(), &err), 0);
		assert_true(functions_find(&f, STR("libresolv!ns_parserr"), v, 8) > 0 ||
			    functions_find(&f, STR("libresolv!ns_sprintrr"), v, 8) > 0);
		assert_true(f.modules.nr > nr_before);
		dlclose(library);
	}
	assert_int_equal(functions_find(&f, STR("libc.so.6!strtol"), v, 8), 1);
	assert_int_equal(v[0], strtol_before);
	functions_done(&f);
	if (!library)
		skip();
}

static void calls_through_stubs_lead_to_the_library(void **state)
{
	struct functions f = { 0 };
	struct error err = { 0 };
	struct callees c;

	(void)state;
	assert_int_equal(functions_of_process(&f, getpid(), &err), 0);
	c = callees_of(&f, "sample_bytes");
	assert_true(has(&f, &c, "libc!fread") || has(&f, &c, "fread"));
	assert_true(has(&f, &c, "mem_alloc"));
	functions_done(&f);
}

static void what_cannot_be_read_is_told(void **state)
{
	struct functions f = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(functions_of_process(&f, 0x7ffffff0, &err), -ESRCH);
	assert_string_equal(err.msg, "there is no process 2147483632");
	assert_int_equal(functions_of_file(&f, "/no/such/file", &err), -ENOENT);
	assert_int_equal(functions_of_file(&f, "/dev/null", &err), -EBADMSG);
	assert_int_equal(functions_of_bytes(&f, STR("\177ELF"), "x", &err), -EBADMSG);
	functions_done(&f);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void a_stripped_server_is_read_whole(void **state)
{
	struct functions f;
	struct callees c;
	size_t nr_unnamed = 0;
	double start = seconds();

	(void)state;
	if (access(POSTGRES, R_OK))
		skip();
	open_file(&f, POSTGRES);
	print_message("%zu functions in %.3f s\n", f.v.nr, seconds() - start);
	assert_true(f.v.nr > 10000);
	vec_each (&f.v, fn)
		nr_unnamed += fn->source == FUNCTION_FRAME;
	assert_true(f.nr_told > 100 && nr_unnamed > 1000 && nr_unnamed < f.v.nr / 2);
	c = callees_of(&f, "PostgresMain");
	assert_true(has(&f, &c, "ReadyForQuery") && has(&f, &c, "PortalRun"));
	functions_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_every_name),
		cmocka_unit_test(callers_are_found),
		cmocka_unit_test(a_module_is_named_in_front),
		cmocka_unit_test(addresses_lead_to_functions),
		cmocka_unit_test(callees_are_read_from_instructions),
		cmocka_unit_test(stripped_functions_have_addresses_for_names),
		cmocka_unit_test(stripped_functions_may_tell_their_names),
		cmocka_unit_test(functions_chosen_at_the_start_have_the_name),
		cmocka_unit_test(a_file_without_sections_is_read_by_its_segments),
		cmocka_unit_test(debug_information_names_functions),
		cmocka_unit_test(packed_symbols_name_functions),
		cmocka_unit_test(symbols_kept_apart_name_functions),
		cmocka_unit_test(near_names_are_offered),
		cmocka_unit_test(this_process_has_libraries_that_it_calls),
		cmocka_unit_test(libraries_that_are_loaded_later_are_added),
		cmocka_unit_test(calls_through_stubs_lead_to_the_library),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(a_stripped_server_is_read_whole),
	};

	return RUN(tests);
}
