#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pipeline.h"

struct sum {
	int next, last, expect;
	long total;
	int fail_at;
};

static int fill(void *ctx, void *slot, struct error *err)
{
	struct sum *s = ctx;

	(void)err;
	if (s->next == s->last)
		return 0;
	*(int *)slot = s->next++;
	return 1;
}

static void work(void *ctx, void *slot)
{
	(void)ctx;
	if (*(int *)slot % 17 == 0)
		usleep(200);
	*(int *)slot *= 2;
}

static int drain(void *ctx, void *slot, struct error *err)
{
	struct sum *s = ctx;

	if (s->expect == s->fail_at)
		return error_set(err, EPIPE, "enough");
	assert_int_equal(*(int *)slot, 2 * s->expect++);
	s->total += *(int *)slot;
	return 0;
}

static int run(struct sum *s, unsigned workers, size_t nr_slots, struct error *err)
{
	struct pipeline p = { fill, work, drain, s };
	int numbers[8];
	void *slots[8];

	for (size_t i = 0; i < 8; i++)
		slots[i] = &numbers[i];
	return pipeline_run(&p, slots, nr_slots, workers, err);
}

static void order_is_kept_with_any_number_of_workers(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 6; workers++)
		for (size_t slots = 1; slots <= 8; slots++) {
			struct sum s = { .last = 500, .fail_at = -1 };
			struct error err;

			assert_int_equal(run(&s, workers, slots, &err), 0);
			assert_int_equal(s.total, 499L * 500);
		}
}

static void a_failure_ends_the_run_and_is_told(void **state)
{
	struct sum s = { .last = 500, .fail_at = 100 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(run(&s, 3, 4, &err), -EPIPE);
	assert_string_equal(err.msg, "enough");
	assert_int_equal(s.expect, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_kept_with_any_number_of_workers),
		cmocka_unit_test(a_failure_ends_the_run_and_is_told),
	};

	return RUN(tests);
}
