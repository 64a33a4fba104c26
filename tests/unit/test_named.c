#include "unit.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/time.h"
#include "infer/named/gaps.h"
#include "infer/named/services.h"
#include "infer/named/tree.h"
#include "infer/named/type.h"
#include "model/loss.h"
#include "model/span.h"

static struct span span(const char *id, const char *parent, int64_t start, int64_t end)
{
	return (struct span){ .id = str_of(id),
			      .parent_id = str_of(parent),
			      .name = str_of(id),
			      .start = start,
			      .end = end };
}

static void parents_come_first_and_siblings_by_start(void **state)
{
	struct span in[] = { span("e", "c", 50, 60), span("d", "c", 20, 40), span("c", "", 1, 101),
			     span("x", "d", 21, 22) };
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct tree t;

	(void)state;
	tree_build(&t, in, 4, &arena, &losses);
	assert_int_equal(t.nr, 4);
	assert_str_equal(t.spans[0].id, "c");
	assert_str_equal(t.spans[1].id, "d");
	assert_str_equal(t.spans[2].id, "x");
	assert_str_equal(t.spans[3].id, "e");
	assert_int_equal(t.spans[0].parent, SPAN_NONE);
	assert_int_equal(t.spans[2].parent, 1);
	assert_int_equal(t.spans[3].parent, 0);
	assert_int_equal(tree_find(&t, STR("x")), 2);
	assert_int_equal(tree_find(&t, STR("y")), SPAN_NONE);
	assert_false(t.is_incomplete);
	arena_done(&arena);
}

static void duplicates_circles_and_missing_parents_are_counted(void **state)
{
	struct span in[] = { span("a", "", 0, 9),  span("a", "", 0, 9),  span("a", "", 1, 9),
			     span("b", "z", 2, 3), span("p", "q", 4, 5), span("q", "p", 4, 5),
			     span("s", "s", 6, 7) };
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct tree t;

	(void)state;
	tree_build(&t, in, 7, &arena, &losses);
	assert_int_equal(t.nr, 6);
	assert_int_equal(losses.count[LOSS_SPANS_TWICE], 1);
	assert_int_equal(losses.count[LOSS_SPAN_IDS_SHARED], 1);
	assert_int_equal(losses.count[LOSS_PARENTS_CIRCLE], 1);
	assert_int_equal(losses.count[LOSS_PARENTS_MISSING], 2);
	assert_true(t.is_incomplete);
	for (uint32_t i = 0; i < t.nr; i++)
		assert_true(t.spans[i].parent == SPAN_NONE || t.spans[i].parent < i);
	arena_done(&arena);
}

static void a_chain_of_a_hundred_thousand_spans_is_no_deeper_than_a_loop(void **state)
{
	enum { NR = 100000 };
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct span *in = arena_array(&arena, struct span, NR);
	struct tree t;

	(void)state;
	for (int i = 0; i < NR; i++) {
		in[i] = span("", "", i, NR);
		in[i].id = arena_fmt(&arena, "%d", i);
		in[i].parent_id = i + 1 < NR ? arena_fmt(&arena, "%d", i + 1) : STR("");
	}
	tree_build(&t, in, NR, &arena, &losses);
	assert_int_equal(t.nr, NR);
	assert_str_equal(t.spans[0].id, "99999");
	assert_str_equal(t.spans[NR - 1].id, "0");
	assert_int_equal(t.spans[NR - 1].parent, NR - 2);
	arena_done(&arena);
}

static void two_heaps_of_silences_are_cut_between(void **state)
{
	struct gaps *g = gaps_new();
	double apart;
	int64_t limit;

	(void)state;
	for (int i = 0; i < 500; i++) {
		gaps_add(g, STR("blk"), (1 + i % 40) * NS_MS);
		if (i % 5 == 0)
			gaps_add(g, STR("blk"), (4 + i % 9) * NS_S);
		gaps_add(g, STR("app"), (1 + i % 40) * NS_MS);
	}
	limit = gaps_limit(g, STR("blk"), 60 * NS_S, &apart);
	assert_true(limit >= 40 * NS_MS && limit < 4 * NS_S);
	assert_true(apart > 0.7);
	assert_true(gaps_limit(g, STR("app"), 60 * NS_S, &apart) == 60 * NS_S);
	assert_true(gaps_limit(g, STR("never"), 60 * NS_S, &apart) == 60 * NS_S);
	assert_true(gaps_limit(g, STR("blk"), 10 * NS_MS, &apart) == 10 * NS_MS);
	assert_str_equal(gaps_word(STR("blk_1073_12")), "blk");
	gaps_free(g);
}

static void types_mask_values_and_keep_names(void **state)
{
	struct arena a = { 0 };

	(void)state;
	assert_str_equal(type_of_span(&a, STR("front"), STR("GET /user/123/cart")),
			 "front: GET /user/{}/cart");
	assert_str_equal(type_of_span(&a, STR(""), STR("v2/health")), "v2/health");
	assert_str_equal(type_of_span(&a, STR("db"), STR("id=4bf92f3577b34da6a3ce929d0e0e4736")),
			 "db: id={}");
	assert_str_equal(type_of_span(&a, STR(""), STR("")), "(unnamed)");
	assert_str_equal(type_of_line(&a, STR("org.apache.hadoop.hdfs.StateChange"),
				      STR("BLOCK* allocate <*>")),
			 "BLOCK* allocate <*>");
	assert_str_equal(
		type_of_line(&a, STR("org.apache.hadoop.hdfs.StateChange"), STR("done <*>")),
		"StateChange: done <*>");
	assert_str_equal(type_of_line(&a, STR("Main.java:12"), STR("x")), "Main.java:12: x");
	arena_done(&a);
}

static void only_services_on_several_hosts_show_the_host(void **state)
{
	struct services *s = services_new();
	struct arena a = { 0 };

	(void)state;
	services_see(s, STR("one"), STR("h1"));
	services_see(s, STR("one"), STR(""));
	services_see(s, STR("two"), STR("h1"));
	services_see(s, STR("two"), STR("h2"));
	assert_str_equal(services_node(s, STR("one"), STR("h1"), &a), "one");
	assert_str_equal(services_node(s, STR("two"), STR("h2"), &a), "two@h2");
	assert_str_equal(services_node(s, STR("two"), STR(""), &a), "two");
	assert_str_equal(services_node(s, STR(""), STR("h9"), &a), "h9");
	arena_done(&a);
	services_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_come_first_and_siblings_by_start),
		cmocka_unit_test(duplicates_circles_and_missing_parents_are_counted),
		cmocka_unit_test(a_chain_of_a_hundred_thousand_spans_is_no_deeper_than_a_loop),
		cmocka_unit_test(two_heaps_of_silences_are_cut_between),
		cmocka_unit_test(types_mask_values_and_keep_names),
		cmocka_unit_test(only_services_on_several_hosts_show_the_host),
	};

	return RUN(tests);
}
