/* What a rebuilt request says of itself: why its spans are together, its log sequence, whether it
 * is whole, and when it ended. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask_run.h"
#include "model/why.h"
#include "request_lines.h"

enum { NR = 40 };

static struct lines l;

/* --- packing --------------------------------------------------------------------------------- */

static void reasons_come_back_as_they_were_packed(void **state)
{
	const struct why v[] = { { WHY_FIRST, STR("") },
				 { WHY_FOLLOWS, STR("blk_7") },
				 { WHY_HANDED, STR("") },
				 { WHY_FAMILY, STR("application_17_0001") },
				 { WHY_AGAIN, STR("blk_7") } };
	struct buf attrs = { 0 };
	struct whys w;
	struct why why;

	(void)state;
	attr_add_str(&attrs, STR("zone"), STR("a"));
	why_add(&attrs, v, 5);
	assert_true(why_find(buf_str(&attrs), &w));
	for (int i = 0; i < 5; i++) {
		assert_true(why_next(&w, &why));
		assert_int_equal(why.how, v[i].how);
		assert_true(str_eq(why.thing, v[i].thing));
	}
	assert_false(why_next(&w, &why));
	buf_done(&attrs);
}

static void damaged_reasons_end_the_walk(void **state)
{
	const struct why v[] = { { WHY_FOLLOWS, STR("blk_7") }, { WHY_AGAIN, STR("blk_8") } };
	struct buf attrs = { 0 };
	struct whys w;
	struct why why;

	(void)state;
	why_add(&attrs, v, 2);
	assert_false(why_find(STR(""), &w));
	for (size_t n = 0; n < attrs.n; n++)
		for (unsigned c = 0; c < 256; c += 51) {
			struct buf bad = { 0 };

			buf_add(&bad, buf_str(&attrs));
			bad.p[n] = (char)c;
			if (why_find(buf_str(&bad), &w))
				while (why_next(&w, &why))
					assert_true(why.how < WHY_HOW_NR);
			buf_done(&bad);
		}
	buf_done(&attrs);
}

/* --- a run ----------------------------------------------------------------------------------- */

/* A file is created and a block of it written on another node; the last one is cut off when
 * nr_last lines of it are written. */
static void write_files(int nr, unsigned nr_last)
{
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < nr; i++) {
		bool is_last = i + 1 == nr;

		lines_add(&l, i * 50, "handler 1", "create /data/dir/f%d for client_%d", i,
			  900 + i);
		if (!is_last || nr_last > 1)
			lines_add(&l, i * 50 + 10, "handler 1", "allocate blk_%d for /data/dir/f%d",
				  1000 + i, i);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < nr; i++) {
		bool is_last = i + 1 == nr;

		if (!is_last || nr_last > 2)
			lines_add(&l, i * 50 + 12, "xceiver 1", "receiving blk_%d", 1000 + i);
		if (!is_last || nr_last > 3)
			lines_add(&l, i * 50 + 30, "xceiver 1", "received blk_%d", 1000 + i);
	}
	lines_run(&l);
}

static void ask(struct buf *out, const char *option, const char *value, const char *more)
{
	int got;

	if (more)
		ASK(l.s, "requests", out, &got, option, value, more, "", );
	else
		ASK(l.s, "requests", out, &got, option, value, );
	assert_int_equal(got, 0);
}

static void a_request_says_what_ties_its_spans_together(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int nr_follows = 0, nr_first = 0;

	(void)state;
	write_files(NR, 4);
	ask(&out, "request", "7", "why");
	for (lines = buf_str(&out); run_next(j, &lines, &v);) {
		struct str how = run_str(v, "how");

		if (!str_eq(run_str(v, "section"), STR("why")))
			continue;
		nr_first += str_eq(how, STR("first"));
		if (!str_eq(how, STR("follows")))
			continue;
		nr_follows++;
		assert_str_equal(run_str(v, "thing"), "blk_1006");
		assert_str_equal(run_str(v, "after"), "2");
		assert_true(str_find(run_str(v, "why"), STR("both name blk_1006")) <
			    run_str(v, "why").n);
		assert_true(run_double(v, "confidence") > 0.5);
	}
	assert_int_equal(nr_first, 1);
	assert_int_equal(nr_follows, 1);
	buf_done(&out);
	json_free(j);
	lines_end(&l);
}

/* Work that was handed on holds its request up like any other, where the request ends with it. */
static void what_was_handed_on_is_on_the_critical_path(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int64_t longest = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "nn.log", "nn.log");
	for (int i = 0; i < NR; i++) {
		char thread[64];

		snprintf(thread, sizeof(thread), "responder [blk_%d]", 1000 + i);
		lines_add(&l, i * 700, i % 2 ? "handler 1" : "handler 2", "allocate blk_%d",
			  1000 + i);
		lines_add(&l, i * 700 + 5, thread, "receiving blk_%d", 1000 + i);
		lines_add(&l, i * 700 + 305, thread, "written blk_%d", 1000 + i);
	}
	lines_run(&l);
	ask(&out, "request", "7", "critical-path");
	for (lines = buf_str(&out); run_next(j, &lines, &v);)
		for (struct json_walk w = json_walk(json_get(v, STR("sections"))); json_next(&w);) {
			int64_t took = run_int(w.value, "end") - run_int(w.value, "start");

			longest = took > longest ? took : longest;
			if (took > 100 * NS_MS)
				assert_str_equal(run_str(w.value, "name"), "receiving <*>");
		}
	assert_int_equal(longest, 300 * NS_MS);
	buf_done(&out);
	json_free(j);
	lines_end(&l);
}

/* How many requests say that they are incomplete, and the largest id of these. */
static int nr_incomplete(int64_t *which)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int nr = 0;

	ask(&out, "limit", "1000", NULL);
	for (lines = buf_str(&out); run_next(j, &lines, &v);) {
		bool is_cut = false;

		json_bool(json_get(v, STR("incomplete")), &is_cut);
		if (is_cut) {
			nr++;
			*which = run_int(v, "id");
		}
	}
	buf_done(&out);
	json_free(j);
	return nr;
}

static void what_stops_with_the_input_is_incomplete(void **state)
{
	int64_t which = 0;

	(void)state;
	write_files(NR, 4);
	assert_int_equal(nr_incomplete(&which), 0);
	lines_end(&l);
	for (unsigned i = 1; i < 4; i++) {
		write_files(NR, i);
		assert_int_equal(nr_incomplete(&which), 1);
		assert_int_equal(which, NR);
		lines_end(&l);
	}
}

static void what_began_before_the_input_is_incomplete(void **state)
{
	int64_t which = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	lines_add(&l, 5, "worker", "ended job_%d", 99);
	for (int i = 0; i < NR; i++) {
		lines_add(&l, 100 + i * 50, "worker", "began job_%d", 100 + i);
		lines_add(&l, 100 + i * 50 + 20, "worker", "ended job_%d", 100 + i);
	}
	lines_run(&l);
	assert_int_equal(nr_incomplete(&which), 1);
	assert_int_equal(which, 1);
	lines_end(&l);
}

/* A thread that did other work before has been silent for long when the input ends. */
static void what_a_thread_is_still_at_is_incomplete(void **state)
{
	int64_t which = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < 2 * NR; i++) {
		lines_add(&l, 100 + i * 50, "worker", "began job_%d", 100 + i);
		if (i + 1 < 2 * NR)
			lines_add(&l, 100 + i * 50 + 20, "worker", "ended job_%d", 100 + i);
	}
	lines_add(&l, 100 + NR * 100 + 5000, "main", "tick");
	lines_run(&l);
	assert_int_equal(nr_incomplete(&which), 1);
	assert_int_equal(which, 2 * NR);
	lines_end(&l);
}

/* Three applications of a hundred pieces each: one from the first line on, one in between, one up
 * to the last line. */
static void what_is_under_way_where_the_input_begins_or_ends_is_incomplete(void **state)
{
	int64_t which = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "rm.log", "rm.log");
	for (int app = 0; app < 3; app++)
		for (int i = 0; i < 100; i++)
			lines_add(&l, app * 12000 + i * 100, "handler",
				  "container_17_%d_%d of application_17_%d is done", app + 1, i,
				  app + 1);
	lines_run(&l);
	assert_int_equal(nr_incomplete(&which), 2);
	assert_int_equal(which, 3);
	lines_end(&l);
}

/* Two threads of each request in any order between them: one sequence. A line more: another. */
static void the_order_between_threads_makes_no_other_sequence(void **state)
{
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int nr = 0;

	(void)state;
	lines_begin(&l);
	lines_file(&l, "a.log", "a.log");
	for (int i = 0; i < NR; i++) {
		int64_t ms = i * 100;

		lines_add(&l, ms, "handler", "begin job_%d", 100 + i);
		lines_add(&l, ms + (i % 2 ? 5 : 7), "left", "half of job_%d", 100 + i);
		lines_add(&l, ms + (i % 2 ? 7 : 5), "right", "other half, job_%d", 100 + i);
		if (i == 20)
			lines_add(&l, ms + 8, "right", "retry of job_%d", 100 + i);
	}
	lines_run(&l);
	ask(&out, "sequences", "", NULL);
	for (lines = buf_str(&out); run_next(j, &lines, &v);) {
		if (!run_str(v, "sequence").n)
			continue;
		if (!nr++) {
			assert_int_equal(run_int(v, "count"), NR - 1);
			assert_int_equal(json_count(json_get(v, STR("points"))), 3);
		} else {
			assert_int_equal(run_int(v, "count"), 1);
			assert_int_equal(run_int(v, "request"), 21);
		}
	}
	assert_int_equal(nr, 2);
	buf_done(&out);
	json_free(j);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_come_back_as_they_were_packed),
		cmocka_unit_test(damaged_reasons_end_the_walk),
		cmocka_unit_test(a_request_says_what_ties_its_spans_together),
		cmocka_unit_test(what_was_handed_on_is_on_the_critical_path),
		cmocka_unit_test(what_stops_with_the_input_is_incomplete),
		cmocka_unit_test(what_began_before_the_input_is_incomplete),
		cmocka_unit_test(what_a_thread_is_still_at_is_incomplete),
		cmocka_unit_test(what_is_under_way_where_the_input_begins_or_ends_is_incomplete),
		cmocka_unit_test(the_order_between_threads_makes_no_other_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
