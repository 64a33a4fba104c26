/* The variance tree against sums made the long way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask/stats.h"
#include "ask/variance/factors.h"
#include "ask/variance/inside.h"
#include "ask/variance/tree.h"

#define MS 1000000

static struct variance_part part(uint32_t parent, const char *name, int64_t ns)
{
	return (struct variance_part){
		.parent = parent, .name = str_of(name), .ns = ns, .work = NAN, .nr_calls = 1
	};
}

static const struct variance_factor *factor(const struct variance_answer *a, const char *x,
					    const char *y)
{
	for (size_t i = 0; i < a->nr_factors; i++)
		if (str_eq(a->factors[i].name[0], str_of(x)) &&
		    str_eq(a->factors[i].name[1], str_of(y ? y : "")))
			return &a->factors[i];
	return NULL;
}

static const struct variance_place *found(const struct variance_answer *a, const char *name)
{
	for (size_t i = 0; i < a->nr_places; i++)
		if (str_eq(a->places[i].name, str_of(name)))
			return &a->places[i];
	return NULL;
}

static double sum_of_shares(const struct variance_answer *a)
{
	double sum = 0;

	for (size_t i = 0; i < a->nr_factors; i++)
		sum += a->factors[i].share;
	return sum;
}

static void answer(const struct variance_tree *t, struct arena *arena, struct variance_answer *a)
{
	struct variance_options o = { .min_share = 0.01, .nr_what_if = 10 };

	variance_answer(t, &o, arena, a);
}

/* --- sums ------------------------------------------------------------------------------------ */

#define PARTS 24

/* A tree of any shape, in which parts take any time up to a thousand seconds. */
static size_t random_interval(struct dice *d, struct variance_part *v)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	size_t nr = 1 + dice_below(d, PARTS);
	int64_t self[PARTS];

	for (size_t i = 0; i < nr; i++) {
		uint32_t parent = i ? (uint32_t)dice_below(d, i) : UINT32_MAX;

		v[i] = part(parent, names[dice_below(d, 8)], 0);
		self[i] = (int64_t)dice_below(d, dice_below(d, 2) ? 1000000000000 : 1000);
	}
	for (size_t i = nr; i-- > 0;) {
		v[i].ns += self[i];
		if (i)
			v[v[i].parent].ns += v[i].ns;
	}
	return nr;
}

/* Variances of leaves and twice the covariances of siblings, at all levels. */
static struct exact sum_of_all(const struct variance_tree *t)
{
	struct exact sum = { 0 };

	for (uint32_t i = 0; i < t->nodes.nr; i++) {
		const struct tree_node *n = &t->nodes.v[i];

		if (!n->children.nr)
			sum = exact_sum(sum, tree_covariance(t, i, i));
		for (size_t a = 0; a < n->children.nr; a++)
			for (size_t b = 0; b < n->children.nr; b++)
				if (a != b)
					sum = exact_sum(sum, tree_covariance(t, n->children.v[a],
									     n->children.v[b]));
	}
	return sum;
}

static void parts_add_up_to_the_last_digit(void **state)
{
	struct dice dice = { 7 };
	struct variance_part v[PARTS];

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct variance_tree *t = variance_tree_new();
		struct exact whole = { 0 };
		uint128_t sum = 0;
		size_t nr = 1 + dice_below(&dice, 300);

		for (size_t i = 0; i < nr; i++) {
			variance_tree_add(t, v, random_interval(&dice, v));
			exact_add_product(&whole, (uint64_t)v[0].ns, (uint64_t)v[0].ns);
			sum += (uint64_t)v[0].ns;
		}
		whole = exact_less(exact_times(whole, nr), exact_product(sum, sum));
		assert_true(exact_eq(whole, tree_covariance(t, 0, 0)));
		assert_true(exact_eq(whole, sum_of_all(t)));
		variance_tree_free(t);
	}
}

/* r calls x (twice), y; x calls z in some intervals only. */
#define NR 500
struct drawn {
	int64_t self, x1, x2, y, z;
};

static void draw(struct dice *d, struct drawn *o)
{
	o->self = MS + (int64_t)dice_below(d, 100000);
	o->x1 = 2 * MS + (int64_t)dice_below(d, MS);
	o->x2 = (int64_t)dice_below(d, 3) * MS;
	o->y = o->x1 / 2 + (int64_t)dice_below(d, 200000);
	o->z = dice_below(d, 4) ? 0 : 5 * MS + (int64_t)dice_below(d, 4 * MS);
}

static void add_drawn(struct variance_tree *t, const struct drawn *o)
{
	struct variance_part v[5] = { part(UINT32_MAX, "r", o->self + o->x1 + o->x2 + o->y + o->z),
				      part(0, "x", o->x1 + o->z), part(0, "y", o->y),
				      part(0, "x", o->x2), part(1, "z", o->z) };

	variance_tree_add(t, v, o->z ? 5 : 4);
}

static double covariance(const double *x, const double *y, size_t nr)
{
	double mx = 0, my = 0, sum = 0;

	for (size_t i = 0; i < nr; i++) {
		mx += x[i] / (double)nr;
		my += y[i] / (double)nr;
	}
	for (size_t i = 0; i < nr; i++)
		sum += (x[i] - mx) * (y[i] - my) / (double)nr;
	return sum;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

static void shares_are_those_made_the_long_way(void **state)
{
	static double whole[NR], body[NR], x[NR], body_x[NR], y[NR], z[NR];
	struct variance_tree *t = variance_tree_new();
	struct dice dice = { 3 };
	struct variance_answer a;
	struct arena arena = { 0 };
	double all;

	(void)state;
	for (int i = 0; i < NR; i++) {
		struct drawn o;

		draw(&dice, &o);
		/* that x calls z is seen late */
		o.z = i < 100 ? 0 : o.z;
		add_drawn(t, &o);
		body[i] = (double)o.self;
		body_x[i] = (double)(o.x1 + o.x2);
		x[i] = body_x[i] + (double)o.z;
		y[i] = (double)o.y;
		z[i] = (double)o.z;
		whole[i] = body[i] + x[i] + y[i];
	}
	answer(t, &arena, &a);
	all = covariance(whole, whole, NR);
	assert_true(near(a.variance, all));
	assert_true(near(sum_of_shares(&a), 1));
	assert_int_equal(a.nr_factors, 4 + 3 + 1);
	assert_true(near(factor(&a, "z", NULL)->share, covariance(z, z, NR) / all));
	assert_true(near(factor(&a, "y", NULL)->share, covariance(y, y, NR) / all));
	assert_true(near(factor(&a, "body:r", NULL)->share, covariance(body, body, NR) / all));
	assert_true(near(factor(&a, "body:x", NULL)->share, covariance(body_x, body_x, NR) / all));
	assert_true(near(factor(&a, "x", "y")->share, 2 * covariance(x, y, NR) / all));
	assert_true(near(factor(&a, "body:x", "z")->share, 2 * covariance(body_x, z, NR) / all));
	assert_true(near(found(&a, "x")->of_variance, covariance(x, x, NR) / all));
	assert_true(near(found(&a, "z")->explains, covariance(z, whole, NR) / all));
	assert_int_equal(a.height, 2);
	assert_true(factor(&a, "z", NULL)->specificity == 4);
	assert_true(factor(&a, "x", "y")->specificity == 1);
	arena_done(&arena);
	variance_tree_free(t);
}

static void one_level_and_none_are_ranked_by_their_part(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct variance_answer a;
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct variance_part v[2] = { part(UINT32_MAX, "r", i), part(0, "x", i / 2) };

		variance_tree_add(t, v, i > 4 ? 2 : 1);
		if (i == 4) {
			answer(t, &arena, &a);
			assert_int_equal(a.nr_factors, 1);
			assert_true(a.factors[0].share == 1 && a.factors[0].score > 0);
		}
	}
	answer(t, &arena, &a);
	assert_true(near(sum_of_shares(&a), 1));
	assert_true(a.factors[0].score > 0);
	arena_done(&arena);
	variance_tree_free(t);
}

static void sites_are_together_unless_told_apart(void **state)
{
	struct variance_options apart = { .sites = true, .min_share = 0.01 };
	struct variance_tree *t = variance_tree_new();
	struct dice dice = { 5 };
	struct variance_answer a;
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++) {
		int64_t x = (int64_t)dice_below(&dice, 100), y = (int64_t)dice_below(&dice, 100);
		struct variance_part v[3] = { part(UINT32_MAX, "r", x + y), part(0, "f", x),
					      part(0, "f", y) };

		v[1].site = 1;
		v[2].site = 2;
		variance_tree_add(t, v, 3);
	}
	answer(t, &arena, &a);
	assert_true(near(factor(&a, "f", NULL)->share, 1));
	assert_int_equal(factor(&a, "f", NULL)->nr_places, 2);
	variance_answer(t, &apart, &arena, &a);
	assert_true(near(sum_of_shares(&a), 1));
	assert_non_null(factor(&a, "f", "f"));
	arena_done(&arena);
	variance_tree_free(t);
}

static void too_many_children_fall_in_with_others(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct variance_counts c;
	struct variance_answer a;
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char name[16];
		struct variance_part v[3] = { part(UINT32_MAX, "r", i + 1), part(0, name, i),
					      part(1, "below", i / 2) };

		snprintf(name, sizeof(name), "f%d", i);
		variance_tree_add(t, v, 3);
	}
	variance_tree_count(t, &c);
	assert_true(c.nr_folded > 3000);
	assert_true(t->nodes.v[0].children.nr <= VARIANCE_CHILDREN_MAX);
	answer(t, &arena, &a);
	assert_non_null(factor(&a, "(others)", NULL));
	assert_true(near(sum_of_shares(&a), 1));
	arena_done(&arena);
	variance_tree_free(t);
}

static void odd_intervals_do_no_harm(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct variance_part deep[200];
	struct variance_counts c;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		deep[i] = part(i - 1, "deep", INT64_MAX - i);
	deep[0].parent = UINT32_MAX;
	variance_tree_add(t, deep, 200);
	deep[3].parent = 77;
	deep[4].ns = -5;
	deep[5].ns = INT64_MAX;
	variance_tree_add(t, deep, 0);
	variance_tree_add(t, deep, 200);
	variance_tree_count(t, &c);
	assert_int_equal(c.nr + c.nr_refused, 2);
	assert_true(exact_eq(tree_covariance(t, 0, 0), sum_of_all(t)));
	variance_tree_free(t);
}

/* --- what is made of it ---------------------------------------------------------------------- */

static void waiting_and_work_are_told(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct dice dice = { 11 };
	struct variance_answer a;
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 400; i++) {
		int64_t wait = (int64_t)dice_below(&dice, 10 * MS), rows = i % 17;
		struct variance_part v[3] = {
			part(UINT32_MAX, "r", 3 * MS + wait + rows * MS),
			part(0, "lock_book", wait + MS),
			part(0, "scan", rows * MS + (int64_t)dice_below(&dice, 1000)),
		};
		struct variance_work work = { STR("rows"), (double)rows };

		v[1].wait_ns[WAIT_LOCK] = v[0].wait_ns[WAIT_LOCK] = wait;
		v[2].works = &work;
		v[2].nr_works = 1;
		variance_tree_add(t, v, 3);
	}
	answer(t, &arena, &a);
	assert_true(factor(&a, "lock_book", NULL)->waits[WAIT_LOCK] > 0.99);
	assert_false(factor(&a, "lock_book", NULL)->is_inherent);
	assert_true(factor(&a, "scan", NULL)->is_inherent);
	assert_true(str_eq(factor(&a, "scan", NULL)->work_name, STR("rows")));
	arena_done(&arena);
	variance_tree_free(t);
}

/* One interval in fifty is slow, because of one function. */
static void bimodal(struct variance_tree *t, size_t nr)
{
	struct dice dice = { 13 };

	for (size_t i = 0; i < nr; i++) {
		int64_t slow = dice_below(&dice, 50) ? 0 : 40 * MS;
		int64_t x = MS + slow + (int64_t)dice_below(&dice, MS);
		int64_t y = 4 * MS + (int64_t)dice_below(&dice, 2 * MS);
		struct variance_part v[3] = { part(UINT32_MAX, "r", x + y + MS), part(0, "x", x),
					      part(0, "y", y) };

		variance_tree_add(t, v, 3);
	}
}

static void the_tail_and_what_if_name_what_makes_it_slow(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct variance_answer a;
	struct arena arena = { 0 };
	double tails = 0;

	(void)state;
	bimodal(t, 100000);
	answer(t, &arena, &a);
	assert_true(a.factors[0].share > 0.9);
	assert_true(a.factors[0].low < a.factors[0].share);
	assert_true(a.factors[0].high > a.factors[0].share);
	assert_true(a.factors[0].low > 0.8);
	assert_false(a.factors[0].is_noise);
	for (size_t i = 0; i < a.nr_factors; i++)
		tails += a.factors[i].tail.share;
	assert_true(near(tails, 1));
	assert_true(factor(&a, "x", NULL)->tail.share > 0.95);
	assert_true(a.p99 > 40 * MS && a.factors[0].p99_if < 9 * MS);
	assert_true(a.factors[0].variance_if < 0.1);
	arena_done(&arena);
	variance_tree_free(t);
}

static void what_happens_once_is_not_told_from_noise(void **state)
{
	struct variance_tree *t = variance_tree_new();
	struct variance_answer a;
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t x = MS + (i == 500 ? 50 * MS : 0);
		struct variance_part v[3] = { part(UINT32_MAX, "r", x + MS + i % 7 * 10000),
					      part(0, "x", x), part(0, "y", MS) };

		variance_tree_add(t, v, 3);
	}
	answer(t, &arena, &a);
	assert_true(str_eq(a.factors[0].name[0], STR("x")));
	assert_true(a.factors[0].share > 0.9 && a.factors[0].is_noise);
	arena_done(&arena);
	variance_tree_free(t);
}

static void the_same_intervals_give_the_same_answer(void **state)
{
	struct variance_tree *t[2] = { variance_tree_new(), variance_tree_new() };
	struct variance_answer a[2];
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		bimodal(t[i], 30000);
		answer(t[i], &arena, &a[i]);
	}
	for (size_t i = 0; i < a[0].nr_factors; i++) {
		assert_memory_equal(&a[0].factors[i].low, &a[1].factors[i].low, sizeof(double));
		assert_true(a[0].factors[i].p99_if == a[1].factors[i].p99_if);
	}
	/* asking changes nothing */
	answer(t[0], &arena, &a[1]);
	assert_true(a[0].factors[0].high == a[1].factors[0].high);
	arena_done(&arena);
	variance_tree_free(t[0]);
	variance_tree_free(t[1]);
}

/* What a function does itself goes with an amount as well; an amount that is the time itself, by
 * whichever clock, is none. */
static void an_amount_is_of_the_body_too_and_no_clock(void **state)
{
	const struct variance_options o = { .min_share = 0.001 };
	struct variance_tree *t = variance_tree_new();
	struct arena arena = { 0 };
	struct variance_answer a;
	uint32_t seed = 7;

	(void)state;
	for (int i = 0; i < 300; i++) {
		int64_t rows = (seed = seed * 1103515245 + 12345) >> 16 & 1023;
		int64_t other = (seed = seed * 1103515245 + 12345) >> 16 & 4095;
		struct variance_work rows_of = { STR("rows"), (double)rows };
		struct variance_work clock_of = { STR("us"), (double)other };
		struct variance_part v[] = {
			part(UINT32_MAX, "order", 2000 * rows + 1000 * other + 900),
			part(0, "sort", 2000 * rows + 500),
			part(1, "compare", 100 + i % 3),
			part(0, "timed", 1000 * other + 40),
		};

		v[1].works = &rows_of;
		v[3].works = &clock_of;
		v[1].nr_works = v[3].nr_works = 1;
		variance_tree_add(t, v, 4);
	}
	variance_answer(t, &o, &arena, &a);
	assert_true(factor(&a, "body:sort", NULL)->is_inherent);
	assert_true(str_eq(factor(&a, "body:sort", NULL)->work_name, STR("rows")));
	assert_false(factor(&a, "timed", NULL)->is_inherent);
	arena_done(&arena);
	variance_tree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_to_the_last_digit),
		cmocka_unit_test(shares_are_those_made_the_long_way),
		cmocka_unit_test(one_level_and_none_are_ranked_by_their_part),
		cmocka_unit_test(sites_are_together_unless_told_apart),
		cmocka_unit_test(too_many_children_fall_in_with_others),
		cmocka_unit_test(odd_intervals_do_no_harm),
		cmocka_unit_test(waiting_and_work_are_told),
		cmocka_unit_test(the_tail_and_what_if_name_what_makes_it_slow),
		cmocka_unit_test(what_happens_once_is_not_told_from_noise),
		cmocka_unit_test(the_same_intervals_give_the_same_answer),
		cmocka_unit_test(an_amount_is_of_the_body_too_and_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
