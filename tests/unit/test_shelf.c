#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/names.h"
#include "base/shelf.h"
#include "base/sort.h"

#define MIB ((size_t)1 << 20)

/* The thread sanitizer has memory of its own for each byte, and lets no child of many threads start
 * any. */
#ifdef __SANITIZE_THREAD__
#define HAS_TSAN true
#else
#define HAS_TSAN false
#endif

static size_t resident(void)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY);
	unsigned long size = 0, pages = 0;

	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_int_equal(sscanf(text, "%lu %lu", &size, &pages), 2);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void below_the_bound_there_is_no_file(void **state)
{
	struct shelf *s = shelf_new(64 * MIB, NULL);
	void *small = shelf_alloc(s, 100), *large = shelf_alloc(s, 8 * MIB);

	(void)state;
	assert_int_equal(shelf_filed(s), 0);
	shelf_give(s, large);
	shelf_give(s, small);
	shelf_free(s);
}

static void what_grows_beyond_it_is_kept_and_takes_no_memory(void **state)
{
	struct shelf *s = shelf_new(4 * MIB, NULL);
	VEC(uint64_t) v = { 0 };
	size_t before = resident();

	(void)state;
	if (HAS_TSAN)
		skip();
	for (uint64_t i = 0; i < 8 * MIB; i++)
		shelf_push(s, &v, i * i);
	assert_true(shelf_filed(s) >= 64 * MIB);
	for (uint64_t i = 0; i < 8 * MIB; i++)
		if (v.v[i] != i * i)
			fail();
	for (int i = 0; i < 9000 && resident() >= before + 24 * MIB; i++)
		usleep(20000);
	assert_true(resident() < before + 24 * MIB);
	shelf_done(s, &v);
	assert_int_equal(shelf_filed(s), 0);
	shelf_free(s);
}

/* The thread that takes pages away may not have had its turn. */
static void who_looks_takes_pages_away_at_once(void **state)
{
	struct shelf *s = shelf_new(8 * MIB, NULL);
	size_t before = resident(), bytes = 64 * MIB;
	char *large = shelf_alloc(s, bytes);

	(void)state;
	if (HAS_TSAN)
		skip();
	for (size_t i = 0; i < bytes; i += 4096) {
		large[i] = 1;
		if (i % MIB == 0) {
			shelf_look(s);
			assert_true(resident() < before + 16 * MIB);
		}
	}
	for (size_t i = 0; i < bytes; i += MIB)
		assert_int_equal(large[i], 1);
	shelf_give(s, large);
	shelf_free(s);
}

static void tables_lie_on_it_and_tell_the_same(void **state)
{
	struct shelf *s = shelf_new(2 * MIB, NULL);
	struct map m = { .shelf = s };
	struct names names = { .arena.shelf = s };
	char text[32];

	(void)state;
	for (uint64_t i = 0; i < 200000; i++) {
		*map_at(&m, i * 7) = i;
		snprintf(text, sizeof(text), "name %llu", (unsigned long long)i);
		assert_int_equal(names_add(&names, str_of(text)), i + 1);
	}
	assert_true(shelf_filed(s) > 0);
	for (uint64_t i = 0; i < 200000; i++)
		assert_int_equal(*map_find(&m, i * 7), i);
	assert_int_equal(names_find(&names, STR("name 77777")), 77778);
	map_done(&m);
	names_done(&names);
	assert_int_equal(shelf_filed(s), 0);
	shelf_free(s);
}

static void tables_have_memory_before_others(void **state)
{
	struct shelf *s = shelf_new(16 * MIB, NULL);
	void *stream = shelf_alloc(s, 10 * MIB), *table, *grown, *other;
	uint64_t filed = shelf_filed(s);

	(void)state;
	assert_true(filed >= 10 * MIB);
	table = shelf_table(s, 8 * MIB, NULL);
	assert_int_equal(shelf_filed(s), filed);
	/* what takes the place of another one has its room as well */
	grown = shelf_table(s, 12 * MIB, table);
	assert_int_equal(shelf_filed(s), filed);
	shelf_give(s, table);
	other = shelf_table(s, 6 * MIB, NULL);
	assert_true(shelf_filed(s) > filed);
	shelf_give(s, stream);
	shelf_give(s, grown);
	shelf_give(s, other);
	assert_int_equal(shelf_filed(s), 0);
	shelf_free(s);
}

static void what_was_left_takes_no_memory(void **state)
{
	struct shelf *s = shelf_new(256 * MIB, NULL);
	char *p = shelf_alloc(s, 64 * MIB);
	size_t before;

	(void)state;
	if (HAS_TSAN)
		skip();
	memset(p, 1, 64 * MIB);
	before = resident();
	for (size_t i = 0; i < 64 * MIB; i += 4096)
		shelf_leave(s, p, i);
	assert_true(resident() + 48 * MIB < before);
	assert_int_equal(p[64 * MIB - 1], 1);
	shelf_give(s, p);
	shelf_free(s);
}

static uint64_t number_of(const void *record)
{
	return *(const uint64_t *)record;
}

static void records_are_sorted_on_it(void **state)
{
	struct shelf *s = shelf_new(1 * MIB, NULL);
	size_t nr = 300000;
	uint64_t *v = shelf_alloc(s, nr * sizeof(*v));

	(void)state;
	for (uint64_t i = 0; i < nr; i++)
		v[i] = i * 0x9e3779b97f4a7c15u;
	sort_records_on(s, v, nr, sizeof(*v), number_of);
	for (size_t i = 1; i < nr; i++)
		assert_true(v[i - 1] < v[i]);
	shelf_give(s, v);
	shelf_free(s);
}

static void without_a_directory_all_is_in_memory(void **state)
{
	struct shelf *s = shelf_new(1 * MIB, "/no/such/directory");
	char *p = shelf_zalloc(s, 8 * MIB);

	(void)state;
	assert_int_equal(shelf_filed(s), 0);
	assert_int_equal(p[8 * MIB - 1], 0);
	p = shelf_realloc(s, p, 8 * MIB, 16 * MIB);
	p[16 * MIB - 1] = 1;
	shelf_give(s, p);
	shelf_free(s);
}

static void a_child_changes_nothing_of_its_parents(void **state)
{
	struct shelf *s = shelf_new(1 * MIB, NULL);
	char *p = shelf_zalloc(s, 8 * MIB), *q = shelf_zalloc(s, 8 * MIB);
	int status = 1;
	pid_t child;

	(void)state;
	if (HAS_TSAN)
		skip();
	assert_true(shelf_filed(s) > 0);
	memset(p, 'p', 8 * MIB);
	memset(q, 'q', 8 * MIB);
	child = fork();
	if (!child) {
		bool ok = shelf_branch(s) && p[5 * MIB] == 'p';
		char *own;

		memset(p, 'x', 8 * MIB);
		shelf_give(s, q);
		own = shelf_zalloc(s, 16 * MIB);
		memset(own, 'y', 16 * MIB);
		ok = ok && p[8 * MIB - 1] == 'x' && own[0] == 'y';
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(p[5 * MIB], 'p');
	assert_int_equal(q[8 * MIB - 1], 'q');
	shelf_give(s, p);
	shelf_give(s, q);
	shelf_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(below_the_bound_there_is_no_file),
		cmocka_unit_test(what_grows_beyond_it_is_kept_and_takes_no_memory),
		cmocka_unit_test(who_looks_takes_pages_away_at_once),
		cmocka_unit_test(tables_lie_on_it_and_tell_the_same),
		cmocka_unit_test(tables_have_memory_before_others),
		cmocka_unit_test(what_was_left_takes_no_memory),
		cmocka_unit_test(records_are_sorted_on_it),
		cmocka_unit_test(without_a_directory_all_is_in_memory),
		cmocka_unit_test(a_child_changes_nothing_of_its_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
