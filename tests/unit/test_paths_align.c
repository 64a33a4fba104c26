#include "unit.h"

#include <stdio.h>

#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "collected.h"
#include "infer/align.h"
#include "infer/inference.h"
#include "infer/paths/paths.h"
#include "infer/skew.h"
#include "model/loss.h"
#include "packets.h"
#include "source/formats.h"
#include "store/store.h"

static uint32_t seed;

static int64_t roll(int64_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (int64_t)(((uint64_t)seed * (uint64_t)below) >> 32);
}

/* --- what must have come after what ------------------------------------------------------------
 */

/* Messages both ways between two clocks, of which y shows what is later by off. */
static void exchange(struct skew *k, uint32_t x, uint32_t y, int64_t off)
{
	for (int64_t i = 0; i < 100; i++) {
		int64_t sent = 1000 * i, back = sent + 500;

		skew_after(k, x, sent, y, sent + off + 10 + roll(90));
		skew_after(k, y, back + off, x, back + 10 + roll(90));
	}
}

static void the_one_clock_that_is_wrong_is_moved(void **state)
{
	struct skew *k = skew_new();
	uint32_t c[5];
	struct skew_fit fit;

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < 5; i++)
		c[i] = skew_clock(k, 10 - i);
	for (unsigned i = 0; i < 5; i++)
		if (i != 2)
			exchange(k, c[i], c[2], -50000);
	exchange(k, c[0], c[1], 0);
	exchange(k, c[3], c[4], 0);
	assert_true(skew_solve(k));
	assert_in_range(skew_offset(k, c[2]), 50000 - 15, 50000 + 15);
	for (unsigned i = 0; i < 5; i++)
		assert_true(i == 2 || !skew_offset(k, c[i]));
	assert_true(skew_is_sure(k, c[2], &fit));
	assert_int_equal(fit.pairs, 800);
	assert_int_equal(fit.agree, 800);
	assert_false(skew_solve(k));
	skew_free(k);
}

static void clocks_that_agree_move_together(void **state)
{
	struct skew *k = skew_new();
	uint32_t a = skew_clock(k, 5), b = skew_clock(k, 0), c = skew_clock(k, 0),
		 d = skew_clock(k, 0), e = skew_clock(k, 0);

	(void)state;
	seed = 2;
	exchange(k, a, b, 0);
	exchange(k, a, c, 0);
	exchange(k, b, d, 7000);
	exchange(k, c, e, 7000);
	exchange(k, d, e, 0);
	assert_true(skew_solve(k));
	assert_int_equal(skew_offset(k, a), 0);
	assert_int_equal(skew_offset(k, b), 0);
	assert_in_range(-skew_offset(k, d), 7000 - 100, 7000 + 100);
	assert_in_range(-skew_offset(k, e), 7000 - 100, 7000 + 100);
	skew_free(k);
}

static void right_clocks_and_a_few_odd_ones_move_nothing(void **state)
{
	struct skew *k = skew_new();
	uint32_t a = skew_clock(k, 0), b = skew_clock(k, 0);

	(void)state;
	seed = 3;
	exchange(k, a, b, 9); /* below the time on the wire */
	for (unsigned i = 0; i < 5; i++)
		skew_after(k, a, 1000, b, 0);
	skew_after(k, a, INT64_MAX, b, INT64_MIN);
	assert_false(skew_solve(k));
	assert_int_equal(skew_offset(k, b), 0);
	skew_free(k);
}

/* Ends that no offset can satisfy: half say so, half say the contrary. */
static void contradictions_move_nothing_for_sure(void **state)
{
	struct skew *k = skew_new();
	uint32_t a = skew_clock(k, 1), b = skew_clock(k, 0);
	struct skew_fit fit;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		skew_after(k, a, 1000, b, 0);
		skew_after(k, b, 1000, a, 0);
	}
	skew_solve(k);
	assert_true(!skew_offset(k, b) || !skew_is_sure(k, b, &fit));
	assert_true(!skew_offset(k, a) || !skew_is_sure(k, a, &fit));
	skew_free(k);
}

/* --- message traces ----------------------------------------------------------------------------
 */

struct trace {
	VEC(struct event) v;
	const char *wrong; /* the node whose clock is off … */
	int64_t off;       /* … by this */
	bool has_ids;
	unsigned nr_calls;
	struct arena arena;
};

static void say(struct trace *t, enum message_op op, const char *from, const char *to, unsigned id,
		int64_t ns)
{
	struct event ev = { .ns = ns,
			    .kind = EVENT_MESSAGE,
			    .op = op,
			    .nr_lines = 1,
			    .duration = -1,
			    .node = str_of(from),
			    .peer = str_of(to) };

	if (t->wrong && !strcmp(from, t->wrong))
		ev.ns += t->off;
	if (t->has_ids)
		ev.id = arena_fmt(&t->arena, "%u", id);
	vec_push(&t->v, ev);
}

/* Nodes and those that each of them calls, one after the other. */
static const struct {
	const char *node, *calls[3];
} shop[] = {
	{ "web", { "auth", "app" } },
	{ "app", { "db", "cache", "db" } },
	{ "auth", { "db" } },
};

static int64_t call(struct trace *t, const char *from, const char *to, int64_t ns)
{
	unsigned id = ++t->nr_calls;

	say(t, MESSAGE_CALL, from, to, id, ns);
	ns += NS_MS + roll(2 * NS_MS);
	for (size_t i = 0; i < sizeof(shop) / sizeof(*shop); i++)
		for (unsigned j = 0; j < 3 && !strcmp(shop[i].node, to) && shop[i].calls[j]; j++)
			ns = call(t, to, shop[i].calls[j], ns) + NS_MS / 2 + roll(NS_MS);
	say(t, MESSAGE_RETURN, to, from, id, ns);
	return ns + NS_MS / 4;
}

static int by_ns(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static struct trace make_trace(const char *wrong, int64_t off, bool has_ids, int64_t every)
{
	struct trace t = { .wrong = wrong, .off = off, .has_ids = has_ids };

	seed = 4;
	for (unsigned i = 0; i < 400; i++)
		call(&t, "user", "web", 1000 * NS_S + i * every + roll(every));
	qsort(t.v.v, t.v.nr, sizeof(*t.v.v), by_ns);
	return t;
}

static void deliver(struct store *s, const char *path, const char *format, struct event *v,
		    size_t nr)
{
	const struct file_seen seen = { .path = str_of(path), .format = str_of(format) };
	struct sink sink = store_sink(s);
	struct error err = { 0 };
	uint32_t file;

	assert_int_equal(sink.file(sink.to, &seen, &file, &err), 0);
	for (size_t i = 0; i < nr; i++)
		v[i].file = file;
	assert_int_equal(sink.events(sink.to, v, nr, &err), 0);
}

static struct store *store_of(struct trace *t)
{
	struct error err = { 0 };
	struct store *s;

	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "t", "messages", t->v.v, t->v.nr);
	vec_done(&t->v);
	arena_done(&t->arena);
	return s;
}

struct fixes {
	unsigned nr;
	char node[64];
	int64_t offset_ns;
	bool applied;
};

static int take_fix(void *ctx, const struct clock_fix *f)
{
	struct fixes *fixes = ctx;

	fixes->nr++;
	snprintf(fixes->node, sizeof(fixes->node), STR_FMT, STR_ARG(f->node));
	fixes->offset_ns = f->offset_ns;
	fixes->applied = f->applied;
	return 0;
}

struct seen {
	unsigned nr_requests, nr_whole, nr_spans;
	int64_t longest;
};

static int take_request(void *ctx, const struct request *r, const struct request_body *b)
{
	struct seen *seen = ctx;
	int64_t lasted = r->end - r->start;

	seen->nr_requests++;
	seen->nr_spans += (unsigned)b->nr_spans;
	seen->nr_whole += b->nr_spans == 7;
	seen->longest = lasted > seen->longest ? lasted : seen->longest;
	return 0;
}

static struct seen infer(struct store *s, int64_t max_skew_ns, struct fixes *fixes)
{
	struct infer_options o = INFER_DEFAULTS;
	struct seen seen = { 0 };
	struct error err = { 0 };

	o.max_skew_ns = max_skew_ns;
	o.method = "nesting";
	*fixes = (struct fixes){ 0 };
	assert_int_equal(infer_paths.run(s, &o, &err), 0);
	assert_int_equal(store_finish(s, &err), 0);
	assert_int_equal(store_each_body(s, NULL, take_request, &seen, &err), 0);
	assert_int_equal(store_each_clock_fix(s, take_fix, fixes, &err), 0);
	return seen;
}

static void every_node_whose_clock_is_off_is_found(void **state)
{
	static const char *const nodes[] = { "web", "auth", "app", "db", "cache" };
	static const int64_t offs[] = { 50 * NS_MS, -50 * NS_MS, 3 * NS_S, -3 * NS_S };

	(void)state;
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 4; j++) {
			struct trace t = make_trace(nodes[i], offs[j], true, 40 * NS_MS);
			struct store *s = store_of(&t);
			struct fixes fixes;
			struct seen seen = infer(s, -1, &fixes);

			assert_int_equal(fixes.nr, 1);
			assert_string_equal(fixes.node, nodes[i]);
			assert_true(fixes.applied);
			assert_true(llabs(fixes.offset_ns + offs[j]) < 3 * NS_MS);
			assert_int_equal(store_losses(s)->count[LOSS_CLOCKS_CORRECTED], 1);
			assert_int_equal(seen.nr_requests, 400);
			assert_true(seen.nr_whole >= 390);
			store_close(s);
		}
}

static void without_ids_it_is_found_too(void **state)
{
	struct trace t = make_trace("app", -50 * NS_MS, false, 60 * NS_MS);
	struct store *s = store_of(&t);
	struct fixes fixes;
	struct seen seen = infer(s, -1, &fixes);

	(void)state;
	assert_int_equal(fixes.nr, 1);
	assert_string_equal(fixes.node, "app");
	assert_true(llabs(fixes.offset_ns - 50 * NS_MS) < 3 * NS_MS);
	assert_true(seen.nr_whole >= 390);
	store_close(s);
}

static void clocks_that_are_right_are_left_alone(void **state)
{
	static const int64_t every[] = { 100 * NS_MS, 10 * NS_MS, NS_MS };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct trace t = make_trace(NULL, 0, i % 2, every[i / 2]);
		struct store *s = store_of(&t);
		struct fixes fixes;

		infer(s, -1, &fixes);
		assert_int_equal(fixes.nr, 0);
		store_close(s);
	}
}

static void a_correction_that_is_not_wanted_is_told_only(void **state)
{
	static const int64_t most[] = { 0, 20 * NS_MS };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct trace t = make_trace("app", -50 * NS_MS, true, 40 * NS_MS);
		struct store *s = store_of(&t);
		struct fixes fixes;
		struct seen seen = infer(s, most[i], &fixes);

		assert_int_equal(fixes.nr, 1);
		assert_false(fixes.applied);
		assert_int_equal(store_losses(s)->count[LOSS_CLOCKS_UNSURE], 1);
		assert_int_equal(store_losses(s)->count[LOSS_CLOCKS_CORRECTED], 0);
		assert_true(seen.nr_whole < 100);
		store_close(s);
	}
}

/* Every tenth message is missing: that must neither hide the wrong clock nor make one up. */
static void lost_messages_change_nothing(void **state)
{
	static const int64_t offs[] = { 0, -50 * NS_MS };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct trace t = make_trace("app", offs[i], true, 40 * NS_MS);
		struct fixes fixes;
		struct store *s;
		size_t kept = 0;

		vec_each (&t.v, e)
			if (roll(10))
				t.v.v[kept++] = *e;
		t.v.nr = kept;
		s = store_of(&t);
		infer(s, -1, &fixes);
		assert_int_equal(fixes.nr, i);
		if (i)
			assert_true(llabs(fixes.offset_ns - 50 * NS_MS) < 3 * NS_MS);
		store_close(s);
	}
}

/* The answer goes out at once, the work comes after it: odd, but no clock is wrong. */
static void work_after_the_answer_is_no_wrong_clock(void **state)
{
	struct trace t = { .has_ids = true };
	struct fixes fixes;
	struct store *s;

	(void)state;
	seed = 5;
	for (unsigned i = 0; i < 300; i++) {
		int64_t ns = 1000 * NS_S + i * 50 * NS_MS;

		say(&t, MESSAGE_CALL, "a", "b", 3 * i, ns);
		say(&t, MESSAGE_CALL, "b", "c", 3 * i + 1, ns + 3 * NS_MS);
		say(&t, MESSAGE_RETURN, "b", "a", 3 * i, ns + 4 * NS_MS);
		say(&t, MESSAGE_CALL, "b", "d", 3 * i + 2, ns + 6 * NS_MS + roll(9 * NS_MS));
		say(&t, MESSAGE_RETURN, "c", "b", 3 * i + 1, ns + 5 * NS_MS + roll(9 * NS_MS));
		say(&t, MESSAGE_RETURN, "d", "b", 3 * i + 2, ns + 20 * NS_MS);
	}
	qsort(t.v.v, t.v.nr, sizeof(*t.v.v), by_ns);
	s = store_of(&t);
	infer(s, -1, &fixes);
	assert_int_equal(fixes.applied, false);
	store_close(s);
}

static void times_at_the_ends_of_time_are_survived(void **state)
{
	const int64_t last = INT64_MAX / 2;
	struct trace t = { .has_ids = true };
	struct fixes fixes;
	struct store *s;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		say(&t, MESSAGE_CALL, "a", "b", i, i % 2 ? last : 1);
		say(&t, MESSAGE_CALL, "b", "c", i, i % 3 ? last - 1 : 0);
		say(&t, MESSAGE_RETURN, "c", "b", i, i % 2 ? 1 : 5);
		say(&t, MESSAGE_RETURN, "b", "a", i, i % 2 ? 1 : last);
	}
	s = store_of(&t);
	infer(s, -1, &fixes);
	store_close(s);
}

/* --- captures ----------------------------------------------------------------------------------
 */

#define GET STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
#define OK STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

/* One of two captures of the same connection: at the client, or at the server whose clock is off.
 */
static struct collected capture(bool at_server, int64_t off_us)
{
	struct packets p = packets_begin(80);
	struct collected c;

	seed = 6;
	p.us = 10000000 + off_us;
	packets_open(&p);
	for (unsigned i = 0; i < 200; i++) {
		int64_t us = 10010000 + 20000 * (int64_t)i;
		int64_t there = 100 + roll(400), work = 2000 + roll(3000), back = 100 + roll(400);

		p.us = us + off_us + (at_server ? there : 0);
		packets_say(&p, 0, GET);
		p.us = us + off_us + there + work + (at_server ? 0 : back);
		packets_say(&p, 1, OK);
	}
	c = collect(&source_capture, buf_str(&p.file));
	buf_done(&p.file);
	return c;
}

static void copies_of_both_ends_are_one_and_align_the_clocks(void **state)
{
	static const int64_t offs_us[] = { 50000, -50000, 3000000, -3000000 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct collected a = capture(false, 0), b = capture(true, offs_us[i]);
		struct error err = { 0 };
		struct fixes fixes;
		struct seen seen;
		struct store *s;

		assert_int_equal(store_create(&s, NULL, &err), 0);
		deliver(s, "client.pcap", "capture", a.events.v, a.events.nr);
		deliver(s, "server.pcap", "capture", b.events.v, b.events.nr);
		seen = infer(s, -1, &fixes);
		assert_int_equal(seen.nr_requests, 200);
		assert_int_equal(seen.nr_spans, 200);
		assert_int_equal(store_losses(s)->count[LOSS_MESSAGES_TWICE], 400);
		assert_int_equal(fixes.nr, 1);
		assert_true(fixes.applied);
		/* the one or the other was moved */
		assert_true(llabs(llabs(fixes.offset_ns) - llabs(offs_us[i]) * NS_US) < NS_MS / 4);
		assert_true(seen.longest < 7 * NS_MS);
		store_close(s);
		collected_done(&a);
		collected_done(&b);
	}
}

static void captures_with_one_clock_are_merged_without_correction(void **state)
{
	struct collected a = capture(false, 0), b = capture(true, 0), c = capture(true, 0);
	struct error err = { 0 };
	struct fixes fixes;
	struct seen seen;
	struct store *s;

	(void)state;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "1", "capture", a.events.v, a.events.nr);
	deliver(s, "2", "capture", b.events.v, b.events.nr);
	deliver(s, "3", "capture", c.events.v, c.events.nr);
	seen = infer(s, -1, &fixes);
	assert_int_equal(seen.nr_requests, 200);
	assert_int_equal(store_losses(s)->count[LOSS_MESSAGES_TWICE], 800);
	assert_int_equal(fixes.nr, 0);
	store_close(s);
	collected_done(&a);
	collected_done(&b);
	collected_done(&c);
}

/* One capture has one clock, so whatever seems wrong in it is not the clock of a node. */
static void the_nodes_of_one_capture_are_not_corrected(void **state)
{
	struct trace t = make_trace("app", -50 * NS_MS, true, 40 * NS_MS);
	struct error err = { 0 };
	struct fixes fixes;
	struct store *s;

	(void)state;
	assert_int_equal(store_create(&s, NULL, &err), 0);
	deliver(s, "t", "capture", t.v.v, t.v.nr);
	infer(s, -1, &fixes);
	assert_int_equal(fixes.nr, 0);
	store_close(s);
	vec_done(&t.v);
	arena_done(&t.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_clock_that_is_wrong_is_moved),
		cmocka_unit_test(clocks_that_agree_move_together),
		cmocka_unit_test(right_clocks_and_a_few_odd_ones_move_nothing),
		cmocka_unit_test(contradictions_move_nothing_for_sure),
		cmocka_unit_test(every_node_whose_clock_is_off_is_found),
		cmocka_unit_test(without_ids_it_is_found_too),
		cmocka_unit_test(clocks_that_are_right_are_left_alone),
		cmocka_unit_test(a_correction_that_is_not_wanted_is_told_only),
		cmocka_unit_test(lost_messages_change_nothing),
		cmocka_unit_test(work_after_the_answer_is_no_wrong_clock),
		cmocka_unit_test(times_at_the_ends_of_time_are_survived),
		cmocka_unit_test(copies_of_both_ends_are_one_and_align_the_clocks),
		cmocka_unit_test(captures_with_one_clock_are_merged_without_correction),
		cmocka_unit_test(the_nodes_of_one_capture_are_not_corrected),
	};

	return RUN(tests);
}
