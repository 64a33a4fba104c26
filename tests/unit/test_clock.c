#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "infer/clock.h"

static uint32_t seed = 1;

static int64_t roll(int64_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (int64_t)(((uint64_t)seed * (uint64_t)below) >> 32);
}

static void one_pair_is_centred(void **state)
{
	struct clock *c = clock_new();

	(void)state;
	clock_root(c, STR("a"));
	clock_pair(c, STR("a"), STR("b"), 10, 110, 0, 50);
	clock_solve(c, -1);
	assert_int_equal(clock_offset(c, STR("b")), 35);
	assert_int_equal(clock_offset(c, STR("a")), 0);
	assert_int_equal(clock_offset(c, STR("nobody")), 0);
	clock_free(c);
}

static void a_large_correction_is_told_but_not_made(void **state)
{
	struct clock *c = clock_new();
	struct clock_found f;
	uint32_t at = 0;

	(void)state;
	clock_root(c, STR("a"));
	clock_pair(c, STR("a"), STR("b"), 10, 110, 0, 50);
	clock_solve(c, 10);
	assert_int_equal(clock_offset(c, STR("b")), 0);
	assert_true(clock_next(c, &at, &f));
	assert_str_equal(f.name, "b");
	assert_int_equal(f.offset_ns, 35);
	assert_false(f.applied);
	assert_false(clock_next(c, &at, &f));
	clock_free(c);
}

/* Calls from a to b and c, and from b to c, on clocks that are off; the error must be below the
 * delays. */
static void many_pairs_find_the_true_offsets(void **state)
{
	const int64_t b_off = -7000000, c_off = 12345678;
	struct clock *c = clock_new();

	(void)state;
	for (int i = 0; i < 20000; i++) {
		int64_t t = i * 1000000LL, there = 50000 + roll(900000),
			back = 50000 + roll(900000);
		int64_t work = 100000 + roll(3000000), end = t + there + work + back;

		clock_root(c, STR("a"));
		clock_pair(c, STR("a"), STR("b"), t, end, t + there + b_off,
			   t + there + work + b_off);
		clock_pair(c, STR("b"), STR("c"), t + b_off, end + b_off, t + there + c_off,
			   t + there + work + c_off);
	}
	clock_solve(c, -1);
	assert_in_range(clock_offset(c, STR("b")) + 60000 + b_off, 0, 120000);
	assert_in_range(clock_offset(c, STR("c")) + 120000 + c_off, 0, 240000);
	clock_free(c);
}

static void children_that_outlive_their_parents_do_not_bend_a_clock(void **state)
{
	struct clock *c = clock_new();
	struct clock_found f;
	uint32_t at = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t late = i % 50 == 0 ? 500 : 0;

		clock_pair(c, STR("a"), STR("b"), 0, 1000, 100 + late, 900 + late);
	}
	clock_solve(c, -1);
	assert_int_equal(clock_offset(c, STR("b")), 0);
	assert_false(clock_next(c, &at, &f));
	clock_free(c);
}

static void many_clocks_are_solved_quickly(void **state)
{
	struct clock *c = clock_new();
	char a[16], b[16];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		snprintf(a, sizeof(a), "n%d", i);
		snprintf(b, sizeof(b), "n%d", i + 1);
		clock_pair(c, str_of(a), str_of(b), 0, 100, 150, 200);
	}
	clock_solve(c, -1);
	assert_int_equal(clock_offset(c, STR("n1")), -125);
	assert_int_equal(clock_offset(c, STR("n100000")), -125LL * 100000);
	clock_free(c);
}

struct vector_span {
	int64_t id, parent, start, duration, adjusted;
	struct str host;
};

static void assert_vector(struct json_value v)
{
	struct json_walk w = json_walk(json_get(v, STR("spans")));
	struct clock *c = clock_new();
	struct vector_span s[8];
	int64_t max = 0;
	size_t nr = 0;

	json_int(json_get(v, STR("max_adjust_ms")), &max);
	for (; json_next(&w); nr++) {
		assert_true(nr < 8);
		assert_true(json_int(json_get(w.value, STR("id")), &s[nr].id));
		assert_true(json_int(json_get(w.value, STR("parent")), &s[nr].parent));
		assert_true(json_int(json_get(w.value, STR("start_ms")), &s[nr].start));
		assert_true(json_int(json_get(w.value, STR("duration_ms")), &s[nr].duration));
		assert_true(json_int(json_get(w.value, STR("adjusted_start_ms")), &s[nr].adjusted));
		assert_true(json_str(json_get(w.value, STR("host")), &s[nr].host));
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < nr; k++)
			if (k != i && s[k].id == s[i].parent)
				clock_pair(c, s[k].host, s[i].host, s[k].start,
					   s[k].start + s[k].duration, s[i].start,
					   s[i].start + s[i].duration);
	clock_root(c, s[0].host);
	clock_solve(c, max);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(s[i].start + clock_offset(c, s[i].host), s[i].adjusted);
	clock_free(c);
}

static bool read_vectors(struct buf *b)
{
	const char *data = getenv("CULPRIT_DATA");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/jaeger-clock-skew/clockskew_vectors.json",
		 data ? data : "../shared/data");
	f = fopen(path, "re");
	if (!f)
		return false;
	for (size_t n = 1; n;) {
		n = fread(buf_room(b, 65536), 1, 65536, f);
		b->n += n;
	}
	fclose(f);
	return true;
}

static void the_published_vectors_are_met_exactly(void **state)
{
	struct json *parser = json_new();
	struct error err = { 0 };
	struct buf text = { 0 };
	struct json_value all;
	struct json_walk w;
	int nr = 0;

	(void)state;
	if (!read_vectors(&text)) {
		json_free(parser);
		print_message("skipped: no clock-skew vectors under CULPRIT_DATA\n");
		skip();
	}
	assert_int_equal(json_parse(parser, buf_str(&text), false, &all, &err), 0);
	for (w = json_walk(all); json_next(&w); nr++)
		assert_vector(w.value);
	assert_true(nr >= 13);
	buf_done(&text);
	json_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pair_is_centred),
		cmocka_unit_test(a_large_correction_is_told_but_not_made),
		cmocka_unit_test(many_pairs_find_the_true_offsets),
		cmocka_unit_test(children_that_outlive_their_parents_do_not_bend_a_clock),
		cmocka_unit_test(many_clocks_are_solved_quickly),
		cmocka_unit_test(the_published_vectors_are_met_exactly),
	};

	return RUN(tests);
}
