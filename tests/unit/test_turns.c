/* What watching costs, told from turns of watching and leaving alone; and a budget that is kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time.h"
#include "capture/probe/budget.h"
#include "capture/probe/turns.h"

/* A program whose pieces of work take 100 us, watched or not, give or take. */
struct program {
	struct turn_counts at;
	uint64_t dice;
	double noise; /* of a turn */
};

static double dice(struct program *p)
{
	p->dice = p->dice * 6364136223846793005u + 1442695040888963407u;
	return (double)(p->dice >> 40) / (double)(1 << 24) - 0.5;
}

static void run(struct program *p, uint64_t nr, double loop_ns, double times)
{
	double ns = 100e3 * (1 + p->noise * dice(p)) + times * loop_ns;

	p->at.nr_units += nr;
	p->at.loop_ns += loop_ns * (double)nr;
	p->at.cpu_ns += (int64_t)(ns * (double)nr);
}

static void turns(struct turns *t, struct program *p, int nr, double loop_ns, double times)
{
	for (int i = 0; i < nr; i++) {
		turns_begin(t, &p->at, false);
		run(p, 500, 0, times);
		turns_begin(t, &p->at, true);
		run(p, 1000, loop_ns, times);
	}
	turns_begin(t, &p->at, false);
}

static void cost_is_found(void **state)
{
	struct program p = { .dice = 1, .noise = 0.02 };
	struct turns t = { 0 };
	struct turns_cost c;

	(void)state;
	/* 3 us in a loop, 12 in the program, of 100: noise of a turn is 1 of them */
	turns(&t, &p, 40, 3000, 4);
	c = turns_cost(&t);
	assert_true(c.is_measured);
	assert_true(fabs(c.times - 4) < 0.3);
	assert_true(c.low <= c.times && c.times <= c.high);
	assert_true(c.low > 3 && c.high < 5);
	/* the same again is the same */
	assert_true(turns_cost(&t).high == c.high);
}

/* Turns in which much was done say more than those in which little was. */
static void little_work_does_not_confuse(void **state)
{
	struct program p = { .dice = 7, .noise = 0.02 };
	struct turns t = { 0 };
	struct turns_cost c;

	(void)state;
	turns(&t, &p, 20, 3000, 3);
	turns(&t, &p, 20, 20, 3);
	c = turns_cost(&t);
	assert_true(c.is_measured && fabs(c.times - 3) < 0.3);
}

static void a_load_that_grows_is_no_cost(void **state)
{
	struct program p = { .dice = 3 };
	struct turns t = { 0 };
	struct turns_cost c;

	(void)state;
	for (int i = 0; i < 30; i++) {
		turns_begin(&t, &p.at, i % 2);
		run(&p, 1000, i % 2 ? 1000 : 0, 2);
		p.at.cpu_ns += i * 1000 * 1000; /* one more us for each piece in each turn */
	}
	turns_begin(&t, &p.at, false);
	c = turns_cost(&t);
	assert_true(c.is_measured && fabs(c.times - 2) < 0.01);
}

static void what_cannot_be_told_is_said_so(void **state)
{
	struct program p = { .dice = 5, .noise = 2 };
	struct turns t = { 0 }, few = { 0 }, spoilt = { 0 };

	(void)state;
	assert_false(turns_cost(&few).is_measured);
	turns(&few, &p, 3, 3000, 4);
	assert_false(turns_cost(&few).is_measured);
	assert_true(turns_cost(&few).times > 1 && turns_cost(&few).low == 1);
	turns(&t, &p, 40, 100, 4);
	assert_false(turns_cost(&t).is_measured);
	for (int i = 0; i < 80; i++) {
		turns_begin(&spoilt, &p.at, i % 2);
		run(&p, 1000, i % 2 ? 3000 : 0, 4);
		if (i % 4 == 0)
			turns_spoil(&spoilt);
		p.at.who += i % 4 == 2; /* other processes */
	}
	assert_int_equal(spoilt.nr_found, 0);
}

/* It cannot be cheaper than where all is at hand. */
static void never_less_than_in_a_loop(void **state)
{
	struct program p = { .dice = 9, .noise = 0.001 };
	struct turns t = { 0 };
	struct turns_cost c;

	(void)state;
	turns(&t, &p, 20, 3000, 0.2);
	c = turns_cost(&t);
	assert_true(c.is_measured && c.times == 1 && c.low == 1);
}

static void the_budget_is_kept(void **state)
{
	struct budget b;
	int64_t now = NS_S, end = 61 * NS_S;
	double lost = 0;

	(void)state;
	budget_begin(&b, 0.05, now);
	/* whoever loses 20 ms at once, whenever it may, loses a twentieth of the time */
	for (; now < end; now += 10 * NS_MS) {
		budget_give(&b, now);
		if (budget_wait(&b))
			continue;
		budget_lose(&b, LOST_STOPS, 20e6);
		lost += 20e6;
	}
	assert_true(lost <= 0.05 * 60e9 + 0.05 * 0.5e9 + 20e6);
	assert_true(lost >= 0.9 * 0.05 * 60e9);
	assert_true(b.lost[LOST_STOPS] == lost);
}

static void a_stop_is_waited_for(void **state)
{
	struct budget b;

	(void)state;
	budget_begin(&b, 0.05, 0);
	assert_int_equal(budget_wait(&b), 0);
	budget_lose(&b, LOST_STOPS, 10e6);
	assert_true(llabs(budget_wait(&b) - 200 * NS_MS) <= 1);
	budget_give(&b, 200 * NS_MS);
	assert_true(budget_wait(&b) <= 1);
	/* what was not used for long is not used all at once */
	budget_give(&b, 3600 * NS_S);
	budget_lose(&b, LOST_OWN, 100e6);
	assert_true(budget_wait(&b) > NS_S);
	/* what is lent at the beginning is more, once */
	budget_begin(&b, 0.05, 0);
	budget_lend(&b);
	budget_lose(&b, LOST_OWN, 99e6);
	assert_int_equal(budget_wait(&b), 0);
	budget_lose(&b, LOST_OWN, 2e6);
	assert_true(budget_wait(&b) > 0);
}

static void the_beginning_is_paid_back(void **state)
{
	struct budget b;
	double lost = 1e9;

	(void)state;
	budget_begin(&b, 0.05, 0);
	budget_lose_first(&b, LOST_OWN, lost);
	assert_int_equal(budget_wait(&b), 0);
	for (int64_t now = 0; now < 200 * NS_S; now += 10 * NS_MS) {
		budget_give(&b, now);
		if (budget_wait(&b))
			continue;
		budget_lose(&b, LOST_CALLS, 1e6);
		lost += 1e6;
	}
	assert_true(b.due == 0);
	assert_true(lost <= 0.05 * 200e9 + 30e6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cost_is_found),
		cmocka_unit_test(little_work_does_not_confuse),
		cmocka_unit_test(a_load_that_grows_is_no_cost),
		cmocka_unit_test(what_cannot_be_told_is_said_so),
		cmocka_unit_test(never_less_than_in_a_loop),
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(a_stop_is_waited_for),
		cmocka_unit_test(the_beginning_is_paid_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
