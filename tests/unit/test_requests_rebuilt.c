/* Whole requests from the lines of several logs: which lines are together, and which stay alone. */
#include "unit.h"

#include <stdlib.h>

#include "model/operations.h"
#include "request_lines.h"

enum { NR = 60 };

static struct lines l;

static void begin(const char *log)
{
	lines_begin(&l);
	lines_file(&l, log, log);
}

static void together(uint64_t a, uint64_t b)
{
	if (!l.requests[a] || l.requests[a] != l.requests[b])
		fail_msg("lines %lu and %lu are in %lu and %lu", (unsigned long)a, (unsigned long)b,
			 (unsigned long)l.requests[a], (unsigned long)l.requests[b]);
}

static void apart(uint64_t a, uint64_t b)
{
	if (l.requests[a] && l.requests[a] == l.requests[b])
		fail_msg("lines %lu and %lu are both in %lu", (unsigned long)a, (unsigned long)b,
			 (unsigned long)l.requests[a]);
}

/* A client opens a file, a block of it is written on another node: each in a pool of threads that
 * works on two at a time. */
static void requests_over_two_nodes_that_overlap_are_told_apart(void **state)
{
	uint64_t create[NR], allocate[NR], receive[NR], received[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		create[i] = lines_add(&l, i * 50, i % 2 ? "handler 2" : "handler 1",
				      "create /data/dir/f%d for client_%d", i, 900 + i);
		allocate[i] = lines_add(&l, i * 50 + 20, i % 2 ? "handler 2" : "handler 1",
					"allocate blk_%d for /data/dir/f%d", 1000 + i, i);
	}
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < NR; i++) {
		receive[i] = lines_add(&l, i * 50 + 25, i % 2 ? "xceiver 2" : "xceiver 1",
				       "receiving blk_%d", 1000 + i);
		if (i)
			received[i - 1] =
				lines_add(&l, i * 50 + 30, i % 2 ? "xceiver 1" : "xceiver 2",
					  "received blk_%d", 999 + i);
	}
	received[NR - 1] = lines_add(&l, NR * 50 + 30, "xceiver 2", "received blk_%d", 999 + NR);
	lines_run(&l);
	for (int i = 0; i < NR; i++) {
		together(create[i], allocate[i]);
		together(allocate[i], receive[i]);
		together(receive[i], received[i]);
		if (i)
			apart(create[i], create[i - 1]);
	}
	lines_end(&l);
}

static void the_same_work_on_the_same_thing_later_is_another_request(void **state)
{
	uint64_t read[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		read[i] = lines_add(&l, i * 3000, "handler 1", "open /data/dir/f%d", i % 20);
		lines_add(&l, i * 3000 + 1, "handler 1", "checked /data/dir/f%d", i % 20);
	}
	lines_run(&l);
	for (int i = 20; i < NR; i++)
		apart(read[i], read[i - 20]);
	lines_end(&l);
}

static void a_line_that_lists_many_things_is_of_no_single_request(void **state)
{
	uint64_t list, use[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++)
		use[i] = lines_add(&l, i * 100, "handler 1", "write blk_%d", 1000 + i);
	list = lines_add(&l, NR * 100, "monitor",
			 "delete blk_1001 blk_1002 blk_1003 blk_1004 blk_1005 "
			 "blk_1006 blk_1007");
	lines_run(&l);
	for (int i = 0; i < NR; i++)
		apart(list, use[i]);
	lines_end(&l);
}

static void an_application_is_one_request_with_its_parts_and_text_without_times(void **state)
{
	uint64_t submit[3], start[3], task[3], text[3];

	(void)state;
	begin("rm.log");
	for (int i = 0; i < 3; i++)
		submit[i] = lines_add(&l, i * 700, "main", "submitted application_17_%04d", i + 1);
	lines_file(&l, "nm.log", "nm.log");
	for (int i = 0; i < 3; i++)
		start[i] = lines_add(&l, i * 700 + 300, "launcher",
				     "start container_17_%04d_01_000001", i + 1);
	for (int i = 0; i < 3; i++) {
		char log[64];

		snprintf(log, sizeof(log), "container_17_%04d_01_000001/stderr", i + 1);
		lines_file(&l, log, log);
		text[i] = lines_add(&l, -1, "", "SLF4J: binding");
		task[i] = lines_add(&l, i * 700 + 500, "main", "task began");
	}
	lines_run(&l);
	for (int i = 0; i < 3; i++) {
		together(submit[i], start[i]);
		together(submit[i], task[i]);
		together(submit[i], text[i]);
		if (i)
			apart(submit[i], submit[i - 1]);
	}
	lines_end(&l);
}

static void rotated_files_are_one_log(void **state)
{
	uint64_t begins[NR], ends[NR];

	(void)state;
	begin("app.log");
	for (int i = 0; i < NR; i++) {
		/* the file changes in the middle of a request */
		begins[i] = lines_add(&l, i * 100, "worker", "begin job_%d", 100 + i);
		if (i == NR / 2)
			lines_file(&l, "app.log.1", "app.log");
		ends[i] = lines_add(&l, i * 100 + 5, "worker", "end job_%d", 100 + i);
	}
	lines_run(&l);
	for (int i = 0; i < NR; i++) {
		together(begins[i], ends[i]);
		if (i)
			apart(begins[i], begins[i - 1]);
	}
	lines_end(&l);
}

/* The acceptor names but the server's own address; who reads next names it, too. */
static void what_is_handed_over_without_a_name_goes_to_who_takes_it_next(void **state)
{
	uint64_t accepted[NR], served[NR];
	int right = 0;

	(void)state;
	begin("app.log");
	for (int i = 0; i < NR; i++) {
		accepted[i] = lines_add(&l, i * 900, "acceptor", "accepted at 10.0.0.1:5000");
		served[i] = lines_add(&l, i * 900 + 3, "reader", "serve op_%d at 10.0.0.1:5000",
				      100 + i);
	}
	lines_run(&l);
	for (int i = 0; i < NR; i++) {
		right +=
			l.requests[accepted[i]] && l.requests[accepted[i]] == l.requests[served[i]];
		if (i)
			apart(served[i], served[i - 1]);
	}
	assert_true(right >= NR * 9 / 10);
	lines_end(&l);
}

static void lines_that_name_their_request_are_left_to_others(void **state)
{
	struct event ev = { .kind = EVENT_LOG,
			    .nr_lines = 1,
			    .node = STR("n1"),
			    .thread = STR("main"),
			    .key = STR("abc"),
			    .key_kind = KEY_TRACE,
			    .duration = -1 };
	struct arena arena = { 0 };
	struct sink sink;
	struct error err;
	uint64_t keyed[5], near;

	(void)state;
	begin("app.log");
	sink = store_sink(l.s);
	for (int i = 0; i < 5; i++) {
		near = lines_add(&l, i * 10, "main", "write blk_%d", i);
		lines_add(&l, i * 10 + 1, "main", "wrote blk_%d", i);
		ev.ns = LINES_START + (i * 10 + 2) * NS_MS;
		ev.file = l.file;
		ev.values = (struct str){ 0 };
		sight_event(NULL, &ev, STR("said blk_1"), &arena);
		assert_int_equal(harvest_events(&l.h, &ev, 1, &err), 0);
		assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
		keyed[i] = l.nr++;
	}
	lines_run(&l);
	for (int i = 0; i < 5; i++)
		assert_int_equal(l.requests[keyed[i]], 0);
	assert_int_not_equal(l.requests[near], 0);
	arena_done(&arena);
	lines_end(&l);
}

/* --- operations ---------------------------------------------------------------------------- */

static int count_operations(void *ctx, const struct request *r, const struct request_body *body)
{
	struct str packed;
	uint32_t number, most = 0;
	size_t nr = 0;

	(void)r;
	assert_true(operations_find(body->spans[0].attrs, &packed));
	for (; operations_next(&packed, &number); nr++)
		most = number > most ? number : most;
	assert_int_equal(nr, body->nr_events);
	if (most > *(uint32_t *)ctx)
		*(uint32_t *)ctx = most;
	return 0;
}

static void what_is_done_to_two_blocks_of_one_file_is_two_operations(void **state)
{
	const struct request_filter all = { 0 };
	struct error err;
	uint32_t most = 0;

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++)
		for (int k = 0; k < 2; k++)
			lines_add(&l, i * 2000 + k * 10, "handler 1",
				  "allocate blk_%d for /data/dir/f%d", 1000 + 2 * i + k, i);
	lines_file(&l, "dn.log", "dn.log");
	for (int i = 0; i < 2 * NR; i++)
		lines_add(&l, i / 2 * 2000 + i % 2 * 10 + 5, "xceiver 1", "receiving blk_%d",
			  1000 + i);
	lines_run(&l);
	assert_int_equal(store_each_body(l.s, &all, count_operations, &most, &err), 0);
	assert_true(most >= 2);
	lines_end(&l);
}

/* --- what is left out is told ---------------------------------------------------------------- */

static int64_t end_of(uint64_t line)
{
	struct arena arena = { 0 };
	struct request r;
	struct request_body body;
	struct error err;

	assert_int_equal(store_request(l.s, l.requests[line], &arena, &r, &body, &err), 1);
	arena_done(&arena);
	return (r.end - LINES_START) / NS_MS;
}

/* Clients wait for the handlers; what is cleaned up seconds later is of the request, and nobody
 * waits for it. */
static void a_request_ends_when_nobody_waits_any_more(void **state)
{
	uint64_t create[NR], clean[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		create[i] = lines_add(&l, i * 5000, i % 2 ? "handler 2" : "handler 1",
				      "create blk_%d for client_%d", 1000 + i, 900 + i);
		lines_add(&l, i * 5000 + 20, i % 2 ? "handler 2" : "handler 1", "created blk_%d",
			  1000 + i);
		clean[i] = lines_add(&l, i * 5000 + 3000, "cleaner", "clean blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = 1; i + 1 < NR; i++) {
		together(create[i], clean[i]);
		assert_int_equal(end_of(create[i]), i * 5000 + 20);
	}
	lines_end(&l);
}

/* Nobody is seen to wait but for the first piece of work: what is done at once is waited for, too.
 */
static void a_request_ends_with_what_is_done_at_once(void **state)
{
	uint64_t create[NR], clean[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		create[i] = lines_add(&l, i * 5000, i % 2 ? "handler 2" : "handler 1",
				      "create blk_%d for client_%d", 1000 + i, 900 + i);
		lines_add(&l, i * 5000 + 100, "writer", "write blk_%d", 1000 + i);
		clean[i] = lines_add(&l, i * 5000 + 3000, "cleaner", "clean blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = 1; i + 1 < NR; i++) {
		together(create[i], clean[i]);
		assert_int_equal(end_of(create[i]), i * 5000 + 100);
	}
	lines_end(&l);
}

/* A thread that is begun for a block serves who waits for it, however late; what is cleaned up at
 * once behind it does not. */
static void who_waits_for_a_thread_of_its_own_waits_until_that_ends(void **state)
{
	uint64_t create[NR], clean[NR];

	(void)state;
	begin("nn.log");
	for (int i = 0; i < NR; i++) {
		char thread[64];

		snprintf(thread, sizeof(thread), "receiver of blk_%d", 1000 + i);
		create[i] = lines_add(&l, i * 5000, i % 2 ? "handler 2" : "handler 1",
				      "create blk_%d for client_%d", 1000 + i, 900 + i);
		lines_add(&l, i * 5000 + 1000, thread, "receiving blk_%d", 1000 + i);
		lines_add(&l, i * 5000 + 1040, thread, "received blk_%d", 1000 + i);
		clean[i] = lines_add(&l, i * 5000 + 1140, "cleaner", "clean blk_%d", 1000 + i);
	}
	lines_run(&l);
	for (int i = 1; i + 1 < NR; i++) {
		together(create[i], clean[i]);
		assert_int_equal(end_of(create[i]), i * 5000 + 1040);
	}
	lines_end(&l);
}

static void lines_that_name_too_much_are_counted(void **state)
{
	char text[2000];
	size_t n = 0;

	(void)state;
	begin("app.log");
	for (int i = 0; i < 150; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "blk_%d ", 1000 + i);
	lines_str(&l, 0, "main", (struct str){ text, n });
	lines_add(&l, 1, "main", "write blk_1001");
	lines_run(&l);
	assert_int_equal(store_losses(l.s)->count[LOSS_NAMES_LEFT], 1);
	lines_end(&l);
}

static void lines_with_too_many_words_are_counted(void **state)
{
	static const char words[] = "done\nalpha bravo charlie delta echo foxtrot golf hotel";

	(void)state;
	begin("app.log");
	for (int i = 0; i < 5; i++) {
		lines_add(&l, i * 10, "main", "%s india %d", words, i);
		lines_add(&l, i * 10 + 5, "main", "%s %d", words, i);
	}
	lines_run(&l);
	assert_int_equal(store_losses(l.s)->count[LOSS_LINES_WORDS_LEFT], 5);
	assert_int_equal(store_losses(l.s)->count[LOSS_NAMES_LEFT], 0);
	lines_end(&l);
}

/* The third line of its kind is known from the second. */
static void words_that_are_left_out_are_known_from_memory(void **state)
{
	void *memory = sight_remember();
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		char text[] = "done\nalpha bravo charlie delta echo foxtrot golf hotel india 0";
		struct event ev = { .kind = EVENT_LOG, .thread = STR("main") };
		struct sight s;

		text[sizeof(text) - 2] = (char)('0' + i);
		sight_event_again(NULL, memory, &ev, str_of(text), &arena);
		assert_true(sight_open(&s, ev.values));
		assert_int_equal(s.flags, SIGHT_LACKS_WORDS);
	}
	sight_forget(memory);
	arena_done(&arena);
}

/* --- bad input ----------------------------------------------------------------------------- */

static void work_that_names_too_much_is_counted(void **state)
{
	(void)state;
	begin("app.log");
	for (int k = 0; k < 8; k++) {
		char text[2000];
		size_t n = (size_t)snprintf(text, sizeof(text), "step %c: ", 'a' + k);

		for (int i = 0; i < 90; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "x%c_%d ", 'a' + k,
					      1000 + 100 * k + i);
		lines_str(&l, 0, "main", (struct str){ text, n });
	}
	for (int i = 0; i < 400; i++)
		lines_add(&l, 1000 + i * 10, "clock", "tick");
	lines_run(&l);
	assert_int_equal(store_losses(l.s)->count[LOSS_NAMES_LEFT], 0);
	assert_int_equal(store_losses(l.s)->count[LOSS_WORK_NAMES_LEFT], 1);
	lines_end(&l);
}

static void nothing_to_rebuild_is_no_request(void **state)
{
	struct store_totals totals;
	struct error err;

	(void)state;
	begin("app.log");
	lines_run(&l);
	assert_int_equal(store_totals(l.s, &totals, &err), 0);
	assert_int_equal(totals.nr_requests, 0);
	lines_end(&l);
}

static void the_same_lines_give_the_same_requests(void **state)
{
	uint64_t *first = NULL, nr = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		begin("app.log");
		for (int i = 0; i < 500; i++)
			lines_add(&l, i * 31 % 997, i % 3 ? "pool 1" : "pool 2",
				  "%s blk_%d job_1_%d", i % 7 ? "get" : "put", i % 90, i % 11);
		lines_run(&l);
		for (uint64_t i = 0; round && i < nr; i++)
			assert_int_equal(l.requests[i], first[i]);
		nr = l.nr;
		if (!round) {
			first = l.requests;
			l.requests = NULL;
		}
		lines_end(&l);
	}
	free(first);
}

static void packed_sights_that_are_foreign_are_survived(void **state)
{
	static const char *const values[] = { "",
					      "\x05",
					      "\x01x",
					      "\x01x\x01\x7f\x7f\x02k\x1f",
					      "\x01x\x01\x02\x01\x00\x03\x1fvv",
					      "\xff\xff\xff" };

	(void)state;
	begin("app.log");
	for (int i = 0; i < 60; i++) {
		struct event ev = { .kind = EVENT_LOG,
				    .ns = i % 3 ? LINES_START + i : NS_NONE,
				    .file = (uint32_t)i,
				    .thread = STR("main"),
				    .duration = -1,
				    .values = str_of(values[i % 6]) };
		struct sink sink = store_sink(l.s);
		struct error err;

		assert_int_equal(harvest_events(&l.h, &ev, 1, &err), 0);
		ev.file = l.file;
		assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
		l.nr++;
	}
	lines_run(&l);
	lines_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_over_two_nodes_that_overlap_are_told_apart),
		cmocka_unit_test(the_same_work_on_the_same_thing_later_is_another_request),
		cmocka_unit_test(a_line_that_lists_many_things_is_of_no_single_request),
		cmocka_unit_test(
			an_application_is_one_request_with_its_parts_and_text_without_times),
		cmocka_unit_test(rotated_files_are_one_log),
		cmocka_unit_test(what_is_handed_over_without_a_name_goes_to_who_takes_it_next),
		cmocka_unit_test(lines_that_name_their_request_are_left_to_others),
		cmocka_unit_test(what_is_done_to_two_blocks_of_one_file_is_two_operations),
		cmocka_unit_test(a_request_ends_when_nobody_waits_any_more),
		cmocka_unit_test(a_request_ends_with_what_is_done_at_once),
		cmocka_unit_test(who_waits_for_a_thread_of_its_own_waits_until_that_ends),
		cmocka_unit_test(lines_that_name_too_much_are_counted),
		cmocka_unit_test(lines_with_too_many_words_are_counted),
		cmocka_unit_test(words_that_are_left_out_are_known_from_memory),
		cmocka_unit_test(work_that_names_too_much_is_counted),
		cmocka_unit_test(nothing_to_rebuild_is_no_request),
		cmocka_unit_test(the_same_lines_give_the_same_requests),
		cmocka_unit_test(packed_sights_that_are_foreign_are_survived),
	};

	return RUN(tests);
}
