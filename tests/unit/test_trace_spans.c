#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/trace/points.h"
#include "capture/trace/spans.h"
#include "capture/weave/reap.h"
#include "query/tracepoint.h"

/* Rows as advice would tell them: "e0" of thread 1 at 100. */
struct bench {
	struct trace_points points;
	struct trace_spans *spans;
	struct buf told;
};

static void set_text(struct advice_value *v, const char *text)
{
	*v = (struct advice_value){ .type = ADVICE_TEXTUAL,
				    .length = (uint16_t)strlen(text),
				    .text = text };
}

static void set_int(struct advice_value *v, int64_t i)
{
	*v = (struct advice_value){ .type = ADVICE_INT, .i = i };
}

/* Threads that others carry. */
#define CARRIED ((int64_t)1 << 32)

/* Threads of 100 and more are of another process. */
static int64_t process_of(int64_t thread)
{
	return 1 + thread % CARRIED / 100;
}

static void row(struct bench *b, const char *name, int64_t thread, int64_t ns)
{
	struct reaped r = { .nr_columns = TRACE_ROW_EXPORTS, .times = 1 };

	set_text(&r.columns[0], name);
	set_int(&r.columns[1], ns);
	set_int(&r.columns[2], process_of(thread));
	set_int(&r.columns[3], thread);
	set_text(&r.columns[4], "shop");
	trace_spans_row(b->spans, &r);
}

/* … which is a row that has passed what another thread did last. */
static void linked(struct bench *b, const char *name, int64_t thread, int64_t ns, int64_t from,
		   int64_t at)
{
	struct reaped r = { .nr_columns = 7, .times = 1 };

	set_int(&r.columns[0], ns);
	set_int(&r.columns[1], process_of(thread));
	set_int(&r.columns[2], thread);
	set_int(&r.columns[3], at);
	set_int(&r.columns[4], process_of(from));
	set_int(&r.columns[5], from);
	trace_spans_link(b->spans, &r);
	row(b, name, thread, ns);
}

static void begin(struct bench *b)
{
	static const char *const methods[] = { "a.A.a", "a.A.b", "a.A.c" };
	struct error err;

	*b = (struct bench){ 0 };
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace_points_method(&b->points, str_of(methods[i]), &err), 0);
	trace_points_settle(&b->points);
	b->spans = trace_spans_new(&b->points);
	trace_spans_from(b->spans, 0);
}

/* "A.a@100-190 <- -;": name, times, when its parent began; those that are lost say "?". */
static int tell(void *ctx, const struct trace_span *s)
{
	struct bench *b = ctx;

	buf_fmt(&b->told, STR_FMT "@%lld-%lld%s%s<-", STR_ARG(s->point->name), (long long)s->start,
		(long long)s->end, s->is_error ? "!" : "", s->is_open ? "..." : "");
	if (s->parent)
		buf_fmt(&b->told, "%lld", (long long)s->parent->start);
	buf_fmt(&b->told, "%s of %lld%s; ", s->is_lost ? "?" : "", (long long)s->root.ns,
		s->is_call ? " call" : "");
	return 0;
}

static void end(struct bench *b, const char *want)
{
	assert_int_equal(trace_spans_tell(b->spans, true, tell, b), 0);
	assert_str_equal(buf_str(&b->told), want);
	trace_spans_free(b->spans);
	trace_points_done(&b->points);
	buf_done(&b->told);
}

static void calls_nest_and_each_outermost_one_is_a_request(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", 1, 100);
	linked(&b, "e1", 1, 110, 1, 100);
	row(&b, "x1", 1, 120);
	linked(&b, "e2", 1, 130, 1, 120);
	row(&b, "t2", 1, 140);
	row(&b, "x0", 1, 150);
	/* the thread still carries the request before: it is over */
	linked(&b, "e0", 1, 200, 1, 150);
	row(&b, "x0", 1, 210);
	end(&b, "A.b@110-120<-100 of 100; A.c@130-140!<-100 of 100; A.a@100-150<- of 100; "
		"A.a@200-210<- of 200; ");
}

static void a_task_belongs_to_the_span_that_gave_it_whoever_is_read_first(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	linked(&b, "e1", 2, 120, 1, 100);
	row(&b, "x1", 2, 130);
	row(&b, "e0", 1, 100);
	/* what was answered came back with what the other thread did last */
	linked(&b, "e2", 1, 140, 2, 130);
	row(&b, "x2", 1, 150);
	row(&b, "x0", 1, 160);
	end(&b, "A.b@120-130<-100 of 100; A.c@140-150<-100 of 100; A.a@100-160<- of 100; ");
}

static void a_task_that_runs_later_on_the_thread_of_its_cause_is_its_child(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", 1, 100);
	row(&b, "x0", 1, 110);
	linked(&b, "e1", 1, 120, 1, 100);
	row(&b, "x1", 1, 130);
	end(&b, "A.a@100-110<- of 100; A.b@120-130<-100 of 100; ");
}

static void what_follows_a_child_that_is_over_belongs_to_what_is_still_open(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", 1, 100);
	linked(&b, "e1", 1, 110, 1, 100);
	row(&b, "x1", 1, 120);
	/* given by b, which has ended; c comes after it, on a third thread */
	linked(&b, "e1", 2, 130, 1, 110);
	row(&b, "x1", 2, 140);
	linked(&b, "e2", 3, 150, 2, 140);
	row(&b, "x2", 3, 160);
	row(&b, "x0", 1, 170);
	end(&b, "A.b@110-120<-100 of 100; A.b@130-140<-110 of 100; A.c@150-160<-100 of 100; "
		"A.a@100-170<- of 100; ");
}

static void calls_of_other_processes_are_told_and_lost_parents_too(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", 1, 100);
	linked(&b, "e1", 101, 110, 1, 100);
	row(&b, "x1", 101, 120);
	row(&b, "x0", 1, 130);
	linked(&b, "e2", 5, 140, 77, 99);
	row(&b, "x2", 5, 150);
	end(&b, "A.b@110-120<-100 of 100 call; A.a@100-130<- of 100; A.c@140-150<-? of 140; ");
}

static void ends_that_were_not_seen_are_those_of_what_was_around(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "x2", 1, 90); /* began before */
	row(&b, "e0", 1, 100);
	row(&b, "e1", 1, 110);
	row(&b, "x0", 1, 120);
	row(&b, "e0", 2, 130);
	end(&b, "A.b@110-120...<-100 of 100; A.a@100-120<- of 100; A.a@130-130...<- of 130; ");
}

static void an_end_that_was_dropped_does_not_keep_what_follows(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", 1, 100);
	linked(&b, "e1", 1, 110, 1, 100);
	/* x1 at 120 is missing */
	linked(&b, "e1", 1, 130, 1, 120);
	row(&b, "x1", 1, 140);
	row(&b, "x0", 1, 150);
	linked(&b, "e0", 1, 200, 1, 150);
	/* and so is x0 at 210 */
	linked(&b, "e0", 1, 220, 1, 210);
	row(&b, "x0", 1, 230);
	end(&b, "A.b@110-120...<-100 of 100; A.b@130-140<-100 of 100; A.a@100-150<- of 100; "
		"A.a@200-210...<- of 200; A.a@220-230<-? of 220; ");
}

static void what_several_threads_tell_of_one_that_they_carry_is_put_in_order(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e0", CARRIED + 1, 100);
	row(&b, "x1", CARRIED + 1, 130); /* of a thread that is read first, … */
	trace_spans_pass(b.spans);
	linked(&b, "e1", CARRIED + 1, 110, CARRIED + 1, 100); /* … and this later */
	linked(&b, "e2", CARRIED + 1, 140, CARRIED + 1, 130);
	linked(&b, "e1", CARRIED + 2, 115, CARRIED + 1, 110);
	trace_spans_pass(b.spans);
	row(&b, "x0", CARRIED + 1, 170);
	row(&b, "x2", CARRIED + 1, 160);
	row(&b, "x1", CARRIED + 2, 125);
	/* another process has one of that number, and this one a thread of the kernel's */
	row(&b, "e0", CARRIED + 101, 150);
	row(&b, "e0", 1, 165);
	row(&b, "x0", CARRIED + 101, 155);
	row(&b, "x0", 1, 175);
	trace_spans_pass(b.spans);
	end(&b, "A.b@110-130<-100 of 100; A.a@165-175<- of 165; A.b@115-125<-110 of 100; "
		"A.a@150-155<- of 150; A.c@140-160<-100 of 100; A.a@100-170<- of 100; ");
}

static void rows_in_circles_end(void **state)
{
	struct bench b;

	(void)state;
	begin(&b);
	linked(&b, "e0", 1, 100, 2, 100);
	linked(&b, "e0", 2, 100, 1, 100);
	row(&b, "x0", 1, 110);
	row(&b, "x0", 2, 110);
	linked(&b, "e1", 3, 100, 3, 120);
	row(&b, "x1", 3, 120);
	assert_int_equal(trace_spans_tell(b.spans, true, tell, &b), 0);
	assert_true(b.told.n > 0);
	trace_spans_free(b.spans);
	trace_points_done(&b.points);
	buf_done(&b.told);
}

static void rows_of_strangers_are_counted(void **state)
{
	struct reaped r = { .nr_columns = 2 };
	struct bench b;

	(void)state;
	begin(&b);
	row(&b, "e9", 1, 100);
	row(&b, "", 1, 100);
	trace_spans_link(b.spans, &r);
	trace_spans_row(b.spans, &r);
	assert_int_equal(trace_spans_counts(b.spans)->nr_broken, 4);
	end(&b, "");
}

static void queries_and_definitions_are_what_the_planner_takes(void **state)
{
	static const char text[] =
		"tracepoint T at class a.A.a exit export r = return, d = duration\n"
		"tracepoint L at class l.L.log entry export message = arg0\n"
		"tracepoint N at usdt x:y\n";
	struct tracepoints files;
	struct arena arena = { 0 };
	struct buf out = { 0 };
	struct error err;
	struct bench b;

	(void)state;
	begin(&b);
	assert_int_equal(tracepoints_parse(STR("t"), str_of(text), &arena, &files, &err), 0);
	for (size_t i = 0; i < files.nr; i++)
		trace_points_add(&b.points, &files.v[i], &out);
	assert_str_equal(buf_str(&out), "N: is left out, being no method of a class\n");
	buf_clear(&out);
	trace_points_define(&b.points, &out);
	assert_int_equal(tracepoints_parse(STR("t"), buf_str(&out), &arena, &files, &err), 0);
	assert_int_equal(files.nr, 3 * 3 + 1);
	buf_clear(&out);
	trace_points_links(&b.points, &out);
	assert_str_equal(
		buf_str(&out),
		"From e In e0, x0, t0, e1, t1, e2, t2, e3 Join p In MostRecent(e0, x0, "
		"t0, e1, x1, t1, e2, x2, t2) On p -> e Where e.out = null Select e.time, "
		"e.procId, e.thread, p.time, p.procId, p.thread, p.out, e.out, e.a0, e.a1");
	buf_done(&out);
	arena_done(&arena);
	end(&b, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_nest_and_each_outermost_one_is_a_request),
		cmocka_unit_test(a_task_belongs_to_the_span_that_gave_it_whoever_is_read_first),
		cmocka_unit_test(a_task_that_runs_later_on_the_thread_of_its_cause_is_its_child),
		cmocka_unit_test(what_follows_a_child_that_is_over_belongs_to_what_is_still_open),
		cmocka_unit_test(calls_of_other_processes_are_told_and_lost_parents_too),
		cmocka_unit_test(ends_that_were_not_seen_are_those_of_what_was_around),
		cmocka_unit_test(an_end_that_was_dropped_does_not_keep_what_follows),
		cmocka_unit_test(what_several_threads_tell_of_one_that_they_carry_is_put_in_order),
		cmocka_unit_test(rows_in_circles_end),
		cmocka_unit_test(rows_of_strangers_are_counted),
		cmocka_unit_test(queries_and_definitions_are_what_the_planner_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
