/* What finds no room in a bag of the usual size, and what becomes of runs whose tuples do not come
 * or come late. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "lib/advice/spill.h"
#include "lib/advice/vm.h"
#include "query/advice_compile.h"
#include "query/parse.h"
#include "query/spills.h"

#define RECORDS 96
#define EVENTS 3000 /* more than a few bags can hold */

static const char points_text[] = "tracepoint A at function a!a export n = arg0\n"
				  "tracepoint C at function a!c export n = arg0\n"
				  "tracepoint M at function a!m export n = arg0\n"
				  "tracepoint E at function a!e export n = arg0\n";

struct request {
	struct arena arena;
	struct plan plan;
	struct advice_set set;
	struct bag bag;
	struct bag_writer w;
	struct bag_spill spill;
	struct advice_out out;
	struct spills *spills;
	uint64_t time, records[RECORDS][SPILL_WORDS];
	size_t words[RECORDS], nr_records, nr_rows, nr_incomplete, room_for;
	int64_t sum;
};

static uint64_t *record_begin(void *to, size_t nr)
{
	struct request *r = to;

	assert_true(nr <= SPILL_WORDS);
	return r->nr_records < r->room_for ? r->records[r->nr_records] : NULL;
}

static void record_end(void *to, size_t nr)
{
	struct request *r = to;

	r->words[r->nr_records++] = nr;
}

static void row_take(void *to, const struct advice_row *row)
{
	struct request *r = to;

	r->nr_rows++;
	r->nr_incomplete += row->flags & ADVICE_ROW_INCOMPLETE ? 1 : 0;
	for (size_t i = 0; i < row->program->nr_columns; i++)
		r->sum += row->columns[i].i;
}

static const struct advice_program *program_of(void *ctx, uint32_t query, uint16_t piece)
{
	const struct request *r = ctx;

	return query == 1 && piece < r->set.v.nr ? &r->set.v.v[piece].program : NULL;
}

static void begin(struct request *r, const char *text, size_t bytes_max)
{
	struct tracepoints points;
	struct error err = { 0 };
	struct queries q;

	memset(r, 0, sizeof(*r));
	if (tracepoints_parse(STR("a"), str_of(points_text), &r->arena, &points, &err) < 0 ||
	    query_parse(str_of(text), &r->arena, &q, &err) < 0 ||
	    query_plan(&r->plan, &q, REWRITE_ALL, &r->arena, &err) < 0 ||
	    advice_make(&r->set, &r->plan, 1, &points, 1, &r->arena, &err) < 0)
		fail_msg("%s", err.msg);
	bag_begin(&r->bag);
	bag_writer_begin(&r->w, (uint64_t)7 << 40);
	r->room_for = RECORDS;
	r->spill = (struct bag_spill){ r, record_begin, record_end, BAG_WORDS };
	r->out = (struct advice_out){ .to = r, .emit = row_take, .spill = &r->spill };
	r->spills = spills_new(&(struct spills_use){ r, program_of, row_take, bytes_max, 1000 });
}

static void end(struct request *r)
{
	spills_free(r->spills);
	query_plan_done(&r->plan);
	advice_set_done(&r->set);
	arena_done(&r->arena);
}

static void events(struct request *r, char point, int64_t from, int64_t nr)
{
	for (int64_t i = from; i < from + nr; i++) {
		struct advice_value inputs[ADVICE_INPUTS] = { 0 };

		inputs[ADVICE_INPUT_OWN] = (struct advice_value){ .type = ADVICE_INT, .i = i };
		r->time++;
		vec_each (&r->set.v, a)
			if (a->tracepoint->name.p[0] == point)
				advice_run(&a->program, inputs, &r->bag, &r->w, r->time, &r->out);
	}
}

static void take(struct request *r, size_t except)
{
	for (size_t i = 0; i < r->nr_records; i++)
		if (i != except)
			spills_take(r->spills, r->records[i], r->words[i], 0);
}

/* One run packs 400 tuples: more than a bag, and more than a record. */
static void a_run_that_packs_too_much_is_several_records(void **state)
{
	static struct request r;
	struct spills_counts c;

	(void)state;
	begin(&r,
	      "From e In E Join m In M On m -> e Join a In A On a -> m Join c In C On c -> m "
	      "Select e.n, a.n, c.n",
	      0);
	events(&r, 'A', 0, 100);
	events(&r, 'C', 1000, 4);
	assert_int_equal(r.nr_records, 0);
	events(&r, 'M', 0, 1);
	assert_true(r.nr_records >= 2 && r.out.nr_spilled > 100);
	events(&r, 'E', 5, 1);
	take(&r, RECORDS);
	spills_finish(r.spills, 0, 0);
	spills_tell(r.spills, &c);
	assert_int_equal(c.nr_finished, 1);
	assert_int_equal(r.nr_rows, 400);
	assert_int_equal(r.nr_incomplete + r.out.nr_lost + c.nr_missing, 0);
	assert_int_equal(r.sum, 400 * 5 + 4 * (99 * 100 / 2) + 100 * (4 * 1000 + 6));
	end(&r);
}

static const char all[] = "From e In E Join a In A On a -> e Select e.n, a.n";

/* Whichever record is missing: the run waits, and says in the end that it lacks something. */
static void what_does_not_come_is_told(void **state)
{
	static struct request r;
	struct spills_counts c;
	size_t nr;

	(void)state;
	begin(&r, all, 0);
	events(&r, 'A', 0, EVENTS);
	events(&r, 'E', 0, 1);
	nr = r.nr_records;
	end(&r);
	assert_true(nr > 4);
	for (size_t except = 0; except + 1 < nr; except++) {
		begin(&r, all, 0);
		events(&r, 'A', 0, EVENTS);
		events(&r, 'E', 0, 1);
		take(&r, except);
		spills_finish(r.spills, 0, 0);
		assert_int_equal(spills_waiting(r.spills), 1);
		assert_int_equal(r.nr_rows, 0);
		if (except % 2) {
			/* it was late */
			spills_take(r.spills, r.records[except], r.words[except], 500);
			spills_finish(r.spills, 1000, 0);
			assert_int_equal(r.nr_rows, EVENTS);
			assert_int_equal(r.nr_incomplete, 0);
		} else {
			spills_finish(r.spills, 1001, 0);
			assert_true(r.nr_rows < EVENTS && r.nr_incomplete == r.nr_rows);
			spills_tell(r.spills, &c);
			assert_int_equal(c.nr_missing, 1);
			assert_int_equal(c.nr_incomplete, 1);
		}
		assert_int_equal(spills_waiting(r.spills), 0);
		end(&r);
	}
}

static void what_nobody_takes_is_lost_and_said_so(void **state)
{
	static struct request r;

	(void)state;
	begin(&r, all, 0);
	r.room_for = 2;
	events(&r, 'A', 0, EVENTS);
	assert_int_equal(r.nr_records, 2);
	assert_true(r.out.nr_lost > 0 && bag_has_lost(&r.bag, r.set.v.v[1].program.slot));
	r.room_for = RECORDS;
	events(&r, 'E', 0, 1);
	take(&r, RECORDS);
	spills_finish(r.spills, 0, 0);
	assert_true(r.nr_rows > 100 && r.nr_rows < EVENTS && r.nr_incomplete == r.nr_rows);
	end(&r);
}

/* The oldest goes, and is missing then. */
static void no_more_is_kept_than_there_is_room(void **state)
{
	static struct request r;
	struct spills_counts c;

	(void)state;
	begin(&r, all, 20000);
	events(&r, 'A', 0, 1000);
	events(&r, 'E', 0, 1);
	take(&r, RECORDS);
	spills_finish(r.spills, 0, SPILLS_ALL);
	spills_tell(r.spills, &c);
	assert_true(c.nr_forgotten > 0 && c.nr_missing > 0);
	assert_true(r.nr_rows > 0 && r.nr_rows < 1000 && r.nr_incomplete == r.nr_rows);
	end(&r);
}

/* A branch has newer ones than some that are kept here: packing another drops none of them. */
static void recent_ones_of_a_branch_stay(void **state)
{
	static struct request r, other;
	static const char text[] = "From e In E Join a In MostRecentN(3, A) On a -> e Select a.n";

	(void)state;
	begin(&r, text, 0);
	begin(&other, text, 0);
	other.w.thread = other.w.id = (uint64_t)9 << 40;
	other.w.spill = 99;
	events(&r, 'A', 0, 3); /* at 1, 2, 3 */
	other.time = 3;
	events(&other, 'A', 10, 3); /* at 4, 5, 6 */
	assert_true(
		bag_spill_slot(&other.bag, other.set.v.v[1].program.slot, &other.w, &other.spill));
	bag_join_spilling(&r.bag, &other.bag, &r.w, &r.spill);
	r.time = 6;
	events(&r, 'A', 20, 1); /* at 7: those at 5, 6 and 7 are the last three */
	events(&r, 'E', 0, 1);
	assert_int_equal(r.nr_rows, 0);
	take(&r, RECORDS);
	for (size_t i = 0; i < other.nr_records; i++)
		spills_take(r.spills, other.records[i], other.words[i], 0);
	spills_finish(r.spills, 0, 0);
	assert_int_equal(r.nr_rows, 3);
	assert_int_equal(r.sum, 11 + 12 + 20);
	end(&other);
	end(&r);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The sum over two groups, even and odd, of the median and of the highest hundredth. */
static int64_t ranked(int64_t nr)
{
	int64_t sum = 0;

	for (int64_t group = 0; group < 2; group++) {
		int64_t v[4000];
		size_t n = 0;

		for (int64_t i = 0; i < nr; i++)
			if (i % 2 == group)
				v[n++] = i * 7919 % 1009 - 300;
		if (!n)
			continue;
		qsort(v, n, sizeof(*v), by_number);
		sum += v[(n + 1) / 2 - 1] + v[(99 * n + 99) / 100 - 1] + (int64_t)n + group;
	}
	return sum;
}

/* In the bag, and where nearly all of it is told by itself. */
static void percentiles_of_what_is_packed_are_exact(void **state)
{
	static const int64_t numbers[] = { 1, 2, 3, 10, 60, 120, 200, 1000, 4000 };
	static struct request r;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		begin(&r,
		      "From e In E Join s In (From a In A GroupBy a.n % 2 Select a.n % 2 As odd, "
		      "PERCENTILE(a.n * 7919 % 1009 - 300, 50) As m, COUNT As c, "
		      "PERCENTILE(a.n * 7919 % 1009 - 300, 99) As h) On s -> e "
		      "Select s.odd, s.m, s.c, s.h",
		      0);
		events(&r, 'A', 0, numbers[i]);
		events(&r, 'E', 0, 1);
		take(&r, RECORDS);
		spills_finish(r.spills, 0, 0);
		assert_int_equal(spills_waiting(r.spills), 0);
		assert_true((numbers[i] >= 120) == (r.nr_records > 0));
		assert_int_equal(r.out.nr_lost + r.nr_incomplete, 0);
		assert_int_equal(r.nr_rows, numbers[i] > 1 ? 2 : 1);
		assert_int_equal(r.sum, ranked(numbers[i]));
		end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_packs_too_much_is_several_records),
		cmocka_unit_test(what_does_not_come_is_told),
		cmocka_unit_test(what_nobody_takes_is_lost_and_said_so),
		cmocka_unit_test(no_more_is_kept_than_there_is_room),
		cmocka_unit_test(recent_ones_of_a_branch_stay),
		cmocka_unit_test(percentiles_of_what_is_packed_are_exact),
	};

	return RUN(tests);
}
