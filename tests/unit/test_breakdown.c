#include "unit.h"

#include <stdio.h>

#include "ask/breakdown.h"
#include "ask/stats.h"

static struct span at(const char *node, const char *name, int64_t start, int64_t end,
		      uint32_t parent)
{
	return (struct span){ .start = start,
			      .end = end,
			      .parent = parent,
			      .node = str_of(node),
			      .name = str_of(name) };
}

static int64_t sum_of(const struct breakdown *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->parts.nr; i++)
		sum += d->parts.v[i].ns;
	return sum;
}

static void equal_siblings_are_one_hop(void **state)
{
	struct span s[] = { at("web", "GET", 0, 100, SPAN_NONE), at("db", "select", 10, 30, 0),
			    at("db", "select", 40, 60, 0) };
	struct request_body b = { .spans = s, .nr_spans = 3 };
	struct request r = { .start = 0, .end = 100 };
	struct hops hops = { 0 };
	struct breakdown d = { 0 };
	struct buf path = { 0 };

	(void)state;
	breakdown_make(&d, &hops, 0, &r, &b);
	assert_int_equal(d.parts.nr, 2);
	assert_int_equal(d.parts.v[1].ns, 40);
	assert_int_equal(d.parts.v[1].spans, 2);
	assert_int_equal(sum_of(&d), 100);
	hops_path(&hops, d.parts.v[1].hop, &path);
	assert_str_equal(buf_str(&path), "web:GET > db:select");
	buf_done(&path);
	breakdown_done(&d);
	hops_done(&hops);
}

static void time_outside_all_spans_is_the_types_own(void **state)
{
	struct span s[] = { at("a", "x", 10, 30, SPAN_NONE), at("a", "y", 50, 60, SPAN_NONE) };
	struct request_body b = { .spans = s, .nr_spans = 2 };
	struct request r = { .start = 0, .end = 70 };
	struct hops hops = { 0 };
	struct breakdown d = { 0 };
	int64_t own = 0;

	(void)state;
	breakdown_make(&d, &hops, 3, &r, &b);
	for (size_t i = 0; i < d.parts.nr; i++)
		if (d.parts.v[i].hop == hops_type(&hops, 3))
			own = d.parts.v[i].ns;
	assert_int_equal(own, 40);
	assert_int_equal(sum_of(&d), 70);
	breakdown_done(&d);
	hops_done(&hops);
}

static void a_request_without_spans_is_all_unexplained(void **state)
{
	struct request_body b = { 0 };
	struct request r = { .start = 5, .end = 25 };
	struct hops hops = { 0 };
	struct breakdown d = { 0 };

	(void)state;
	breakdown_make(&d, &hops, 0, &r, &b);
	assert_int_equal(d.parts.nr, 1);
	assert_int_equal(d.parts.v[0].ns, 20);
	breakdown_done(&d);
	hops_done(&hops);
}

static void deep_and_wide_trees_are_folded(void **state)
{
	struct hops hops = { 0 };
	uint32_t h = hops_type(&hops, 0), top = h;
	char name[32];

	(void)state;
	for (int i = 0; i < 1000; i++)
		h = hops_below(&hops, h, STR("n"), STR("again"));
	assert_int_equal(hops.v.v[h].depth, HOPS_DEPTH);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/user/%d", i);
		h = hops_below(&hops, top, STR("n"), str_of(name));
	}
	assert_str_equal(hops_name(&hops, h), "(other)");
	assert_true(hops.v.nr < HOPS_DEPTH + HOPS_WIDTH + 3);
	hops_done(&hops);
}

static void random_splits_add_up_to_the_duration(void **state)
{
	struct dice dice = { 11 };
	struct hops hops = { 0 };
	struct breakdown d = { 0 };
	const char *names[] = { "a", "b", "c", "d" };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct span s[30];
		struct request_body b = { .spans = s, .nr_spans = dice_below(&dice, 30) };
		struct request r = { .start = (int64_t)dice_below(&dice, 50) };

		r.end = r.start + (int64_t)dice_below(&dice, 100);
		for (uint32_t i = 0; i < b.nr_spans; i++) {
			int64_t from = (int64_t)dice_below(&dice, 100);

			s[i] = at(names[dice_below(&dice, 4)], names[dice_below(&dice, 4)], from,
				  from + (int64_t)dice_below(&dice, 50),
				  i && dice_below(&dice, 8) ? (uint32_t)dice_below(&dice, i)
							    : SPAN_NONE);
		}
		breakdown_make(&d, &hops, 0, &r, &b);
		assert_int_equal(sum_of(&d), r.end - r.start);
	}
	breakdown_done(&d);
	hops_done(&hops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_siblings_are_one_hop),
		cmocka_unit_test(time_outside_all_spans_is_the_types_own),
		cmocka_unit_test(a_request_without_spans_is_all_unexplained),
		cmocka_unit_test(deep_and_wide_trees_are_folded),
		cmocka_unit_test(random_splits_add_up_to_the_duration),
	};

	return RUN(tests);
}
