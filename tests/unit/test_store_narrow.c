#include "unit.h"

#include <stdio.h>

#include "base/error.h"
#include "store/levels.h"
#include "store/store.h"
#include "store_same.h"

#define MANY 40000 /* more than a block of briefs holds */

static void add_request(struct store *s, const char *type, const char *node, int64_t start,
			int64_t duration)
{
	struct span spans[] = { { .start = start,
				  .end = start + duration,
				  .parent = SPAN_NONE,
				  .node = STR("front"),
				  .name = STR("in"),
				  .confidence = 1 },
				{ .start = start,
				  .end = start + duration,
				  .parent = 0,
				  .node = str_of(node),
				  .name = STR("work"),
				  .confidence = 1 } };
	struct request_body body = { .spans = spans, .nr_spans = 2 };
	struct request r = {
		.type = str_of(type), .start = start, .end = start + duration, .confidence = 1
	};
	struct error err = { 0 };

	OK(store_add_request(s, &r, &body, &err));
}

/* Added from the last to the first, so that where bodies stand is not in order of id. */
static struct store *large_run(void)
{
	struct error err = { 0 };
	struct store *s = NULL;

	OK(store_create(&s, NULL, &err));
	for (int i = MANY - 1; i >= 0; i--) {
		char node[16];

		snprintf(node, sizeof(node), "back%d", i % 10);
		add_request(s, i % 4 ? "read" : "write", node, 1000 + i, 10 + i % 100);
	}
	OK(store_finish(s, &err));
	return s;
}

struct seen {
	uint64_t nr, sum, last;
	bool in_order;
};

static int see(void *ctx, const struct request *r)
{
	struct seen *seen = ctx;

	seen->in_order &= r->id > seen->last;
	seen->last = r->id;
	seen->nr++;
	seen->sum += r->id;
	return 0;
}

static int see_body(void *ctx, const struct request *r, const struct request_body *body)
{
	assert_int_equal(body->nr_spans, 2);
	assert_true(body->spans[0].start == r->start);
	return see(ctx, r);
}

static int see_brief(void *ctx, const struct brief *b)
{
	struct request r = { .id = b->id };

	return see(ctx, &r);
}

static struct seen walk(struct store *s, const struct request_filter *f)
{
	struct seen rows = { .in_order = true }, bodies = { 0 }, briefs = { .in_order = true };
	struct error err = { 0 };

	OK(store_each_request(s, f, see, &rows, &err));
	OK(store_each_body(s, f, see_body, &bodies, &err));
	OK(store_each_brief(s, f, see_brief, &briefs, &err));
	assert_true(rows.in_order && briefs.in_order);
	assert_int_equal(rows.nr, bodies.nr);
	assert_int_equal(rows.nr, briefs.nr);
	assert_int_equal(rows.sum, bodies.sum);
	assert_int_equal(rows.sum, briefs.sum);
	return rows;
}

static uint64_t narrowed(struct store *s, struct request_filter f)
{
	struct error err = { 0 };
	struct store_totals totals;
	uint64_t nr;

	OK(store_narrow(s, &f, &err));
	nr = walk(s, NULL).nr;
	OK(store_totals(s, &totals, &err));
	assert_int_equal(totals.nr_requests, nr);
	assert_int_equal(totals.nr_spans, 2 * nr);
	return nr;
}

static void every_walk_sees_the_selection_only(void **state)
{
	struct store *s = large_run();
	struct error err = { 0 };
	struct request r;
	struct request_body body;
	struct arena arena = { 0 };

	(void)state;
	assert_int_equal(walk(s, NULL).nr, MANY);
	assert_int_equal(narrowed(s, (struct request_filter){ .type = STR("write") }), MANY / 4);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("back3") }), MANY / 10);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("front") }), MANY);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("none") }), 0);
	assert_int_equal(
		narrowed(s, (struct request_filter){ .from_ns = 21000, .until_ns = 21500 }), 500);
	assert_int_equal(narrowed(s, (struct request_filter){ .min_ns = 20, .max_ns = 29 }),
			 MANY / 10);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("back4"),
							      .type = STR("write"),
							      .from_ns = 1000,
							      .until_ns = 2000,
							      .max_ns = 10000 }),
			 50);
	assert_int_equal(store_request(s, MANY, &arena, &r, &body, &err), 1);
	OK(store_narrow(s, NULL, &err));
	assert_int_equal(walk(s, NULL).nr, MANY);
	arena_done(&arena);
	store_close(s);
}

static void a_filter_is_of_what_is_left(void **state)
{
	struct store *s = large_run();
	struct error err = { 0 };
	struct request_filter half = { .from_ns = 1000, .until_ns = 21000 };
	struct request_filter writes = { .type = STR("write") };

	(void)state;
	OK(store_narrow(s, &half, &err));
	assert_int_equal(walk(s, &writes).nr, MANY / 8);
	half.from_ns = 20000;
	half.until_ns = 40000;
	assert_int_equal(walk(s, &half).nr, 1000);
	store_close(s);
}

struct listing {
	uint64_t ids[16];
	size_t nr;
};

static int list(void *ctx, const struct request *r)
{
	struct listing *l = ctx;

	l->ids[l->nr++] = r->id;
	return 0;
}

static void assert_page(struct store *s, struct request_filter f, uint64_t a, uint64_t b)
{
	struct listing l = { 0 };
	struct error err = { 0 };

	f.limit = 2;
	OK(store_each_request(s, &f, list, &l, &err));
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.ids[0], a);
	assert_int_equal(l.ids[1], b);
}

static void pages_of_every_order_follow_each_other(void **state)
{
	struct store *s = large_run();

	(void)state;
	assert_page(s, (struct request_filter){ .offset = 30000 }, 30001, 30002);
	/* request i takes 10 + i % 100, counted from 0 */
	assert_page(s, (struct request_filter){ .order = BY_SLOWEST }, 100, 200);
	assert_page(s, (struct request_filter){ .order = BY_SLOWEST, .offset = 399 }, 40000, 99);
	assert_page(s, (struct request_filter){ .order = BY_FASTEST, .offset = 1 }, 101, 201);
	assert_page(s, (struct request_filter){ .order = BY_LATEST }, 40000, 39999);
	assert_page(s, (struct request_filter){ .order = BY_TYPE, .offset = 29999 }, 40000, 1);
	store_close(s);
}

static void a_sample_is_the_same_each_time_and_counted(void **state)
{
	struct store *s = large_run();
	struct seen one = { 0 }, two = { 0 };
	struct error err = { 0 };

	(void)state;
	store_sample(s, 1000);
	OK(store_each_body(s, NULL, see_body, &one, &err));
	OK(store_each_body(s, NULL, see_body, &two, &err));
	assert_in_range(one.nr, 500, 1600);
	assert_int_equal(one.nr, two.nr);
	assert_int_equal(one.sum, two.sum);
	assert_int_equal(store_nr_unread(s), MANY - one.nr);
	store_sample(s, MANY);
	one.nr = 0;
	OK(store_each_body(s, NULL, see_body, &one, &err));
	assert_int_equal(one.nr, MANY);
	assert_int_equal(store_nr_unread(s), 0);
	store_close(s);
}

static void a_filter_that_says_what_is_selected_reads_the_same_sample(void **state)
{
	struct request_filter f = { .type = STR("read"), .from_ns = 1500, .until_ns = 30000 };
	struct store *s = large_run();
	struct seen plain = { 0 }, said = { 0 }, none = { 0 };
	struct error err = { 0 };

	(void)state;
	OK(store_narrow(s, &f, &err));
	store_sample(s, 400);
	OK(store_each_body(s, &f, see_body, &said, &err));
	OK(store_each_body(s, NULL, see_body, &plain, &err));
	f.type = STR("write");
	OK(store_each_body(s, &f, see_body, &none, &err));
	assert_in_range(said.nr, 200, 800);
	assert_int_equal(said.nr, plain.nr);
	assert_int_equal(said.sum, plain.sum);
	assert_int_equal(none.nr, 0);
	store_close(s);
}

static void nodes_are_found_by_a_part_of_their_name(void **state)
{
	struct store *s = large_run();
	struct error err = { 0 };
	struct str node;

	(void)state;
	assert_int_equal(store_find_node(s, STR("K7"), &node, &err), 1);
	assert_str_equal(node, "back7");
	assert_int_equal(store_find_node(s, STR("back"), &node, &err), 0);
	assert_non_null(strstr(err.msg, "several nodes match 'back'"));
	store_close(s);
}

/* So many sets of nodes that not all are kept: bodies tell of the others. */
static void rare_sets_of_nodes_are_looked_for_in_bodies(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;
	char node[16];

	(void)state;
	OK(store_create(&s, NULL, &err));
	for (int i = 0; i < 70000; i++) {
		snprintf(node, sizeof(node), "n%d", i);
		add_request(s, "t", node, i, 5);
	}
	OK(store_finish(s, &err));
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("n69999") }), 1);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("n3") }), 1);
	assert_int_equal(narrowed(s, (struct request_filter){ .node = STR("front") }), 70000);
	store_close(s);
}

struct cells {
	uint64_t count, errors, sum, nr;
	int64_t from, until;
};

static int add_cell(void *ctx, const struct level_cell *c)
{
	struct cells *to = ctx;

	assert_true(c->start >= to->from && c->start < to->until);
	to->count += c->count;
	to->errors += c->errors;
	to->sum += c->bin * c->count;
	to->nr++;
	return 0;
}

static int add_brief(void *ctx, const struct brief *b)
{
	return add_cell(ctx, &(struct level_cell){ b->start, level_bin(b->duration), 1, b->error });
}

/* What the levels say of a time is what the requests say. */
static void assert_counts(struct store *s, struct request_filter f, unsigned shift, bool is_short)
{
	struct cells all = { .from = INT64_MIN, .until = INT64_MAX }, cells = all;
	struct error err = { 0 };

	/* a cell of a level is told by its front, which may lie a column before the filter */
	OK(store_each_brief(s, &f, add_brief, &all, &err));
	OK(store_each_cell(s, &f, shift, add_cell, &cells, &err));
	assert_int_equal(cells.count, all.count);
	assert_int_equal(cells.errors, all.errors);
	assert_int_equal(cells.sum, all.sum);
	assert_int_equal(is_short, cells.nr < all.nr / 2);
}

static void levels_count_as_the_requests_do(void **state)
{
	struct error err = { 0 };
	struct store *s = NULL;
	struct cells points = { .from = INT64_MIN, .until = INT64_MAX };

	(void)state;
	OK(store_create(&s, NULL, &err));
	for (int i = 0; i < 500000; i++) {
		struct request r = { .type = i % 3 ? STR("a") : STR("b"),
				     .start = (int64_t)i * 1000003,
				     .confidence = 1,
				     .error = i % 77 == 0 };

		r.end = r.start + 1000 + i % 50000;
		OK(store_add_request(s, &r, NULL, &err));
	}
	OK(store_finish(s, &err));
	assert_counts(s, (struct request_filter){ 0 }, 30, true);
	assert_counts(s, (struct request_filter){ .type = STR("b") }, 30, true);
	assert_counts(s,
		      (struct request_filter){ .from_ns = 12345678901, .until_ns = 480000000007 },
		      28, true);
	/* narrower than any level, or few enough to be counted */
	assert_counts(s, (struct request_filter){ 0 }, 10, false);
	assert_counts(s, (struct request_filter){ .from_ns = 5000000000, .until_ns = 6000000000 },
		      30, false);
	OK(store_each_point(s, &(struct request_filter){ 0 }, 100, add_brief, &points, &err));
	assert_int_equal(points.count, 500000);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_walk_sees_the_selection_only),
		cmocka_unit_test(a_filter_is_of_what_is_left),
		cmocka_unit_test(pages_of_every_order_follow_each_other),
		cmocka_unit_test(a_sample_is_the_same_each_time_and_counted),
		cmocka_unit_test(a_filter_that_says_what_is_selected_reads_the_same_sample),
		cmocka_unit_test(nodes_are_found_by_a_part_of_their_name),
		cmocka_unit_test(levels_count_as_the_requests_do),
		cmocka_unit_test(rare_sets_of_nodes_are_looked_for_in_bodies),
	};

	return RUN(tests);
}
