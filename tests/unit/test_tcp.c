#include "unit.h"

#include "base/buf.h"
#include "base/time.h"
#include "model/loss.h"
#include "source/tcp.h"

/* Everything handed out: bytes as they are, gaps as "<n>". */
struct got {
	struct buf text;
	struct losses losses;
	struct tcp_side side;
	int64_t last_ns;
};

static void take_bytes(void *to, uint32_t seq, struct str bytes, int64_t ns)
{
	struct got *g = to;

	(void)seq;
	g->last_ns = ns;
	buf_add(&g->text, bytes);
}

static void take_gap(void *to, uint32_t seq, uint32_t nr, int64_t ns, bool is_cut)
{
	struct got *g = to;

	(void)seq, (void)ns;
	buf_fmt(&g->text, is_cut ? "(%u)" : "<%u>", nr);
}

static void add(struct got *g, uint32_t seq, const char *text, int64_t ns)
{
	const struct tcp_reader r = { g, take_bytes, take_gap };
	const struct tcp_segment s = { seq, str_of(text), 0, ns };

	tcp_add(&g->side, &s, &r, &g->losses);
}

static void ack(struct got *g, uint32_t below, int64_t ns, bool is_answer)
{
	const struct tcp_reader r = { g, take_bytes, take_gap };

	tcp_ack(&g->side, &(struct tcp_receipt){ below, is_answer, ns }, &r, &g->losses);
}

static void finish_any(struct got *g)
{
	tcp_done(&g->side);
	buf_done(&g->text);
}

static void finish(struct got *g, const char *want)
{
	const struct tcp_reader r = { g, take_bytes, take_gap };

	tcp_flush(&g->side, &r, &g->losses);
	assert_str_equal(buf_str(&g->text), want);
	finish_any(g);
}

static void segments_in_any_order_are_put_in_order(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, 100);
	add(&g, 103, "def", 1);
	add(&g, 109, "jkl", 2);
	add(&g, 106, "ghi", 3);
	assert_int_equal(g.text.n, 0);
	add(&g, 100, "abc", 4);
	assert_str_equal(buf_str(&g.text), "abcdefghijkl");
	finish(&g, "abcdefghijkl");
}

static void bytes_that_come_twice_are_handed_out_once(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, 100);
	add(&g, 100, "abc", 1);
	add(&g, 100, "abc", 2);
	add(&g, 101, "XXdef", 3);
	add(&g, 110, "klm", 4);
	add(&g, 110, "klm", 5);
	add(&g, 106, "ghijKL", 6);
	assert_int_equal(g.losses.count[LOSS_PACKETS_TWICE], 2);
	finish(&g, "abcdefghijKLm");
}

static void numbers_wrap(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, UINT32_MAX - 1);
	add(&g, 1, "def", 1);
	add(&g, UINT32_MAX - 1, "abc", 2);
	finish(&g, "abcdef");
}

static void a_gap_that_was_acknowledged_is_given_up(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, 100);
	add(&g, 100, "abc", 1);
	add(&g, 113, "def", 2);
	ack(&g, 116, 3, false);
	assert_str_equal(buf_str(&g.text), "abc"); /* it may still come, captured out of order */
	ack(&g, 116, NS_S, false);
	assert_str_equal(buf_str(&g.text), "abc<10>def");
	assert_int_equal(g.losses.count[LOSS_STREAM_GAPS], 1);
	finish(&g, "abc<10>def");
}

static void what_is_held_is_told_before_its_answer(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, 100);
	add(&g, 100, "abc", 1);
	add(&g, 113, "def", 2);
	ack(&g, 103, 3, true); /* an answer to what came before */
	assert_str_equal(buf_str(&g.text), "abc");
	ack(&g, 116, 3, true);
	assert_str_equal(buf_str(&g.text), "abc<10>def");
	finish(&g, "abc<10>def");
}

static void a_gap_that_nobody_fills_does_not_hold_for_ever(void **state)
{
	struct got g = { 0 };

	(void)state;
	tcp_start(&g.side, 100);
	for (unsigned i = 0; i < 70; i++)
		add(&g, 200 + i, "x", 1);
	assert_true(g.text.n > 60);
	assert_int_equal(g.side.nr_held, 0);
	finish_any(&g);
}

static void what_was_not_captured_is_a_gap_in_place(void **state)
{
	const struct tcp_segment cut = { 100, STR("abc"), 7, 1 };
	struct got g = { 0 };
	const struct tcp_reader r = { &g, take_bytes, take_gap };

	(void)state;
	tcp_start(&g.side, 100);
	tcp_add(&g.side, &cut, &r, &g.losses);
	add(&g, 110, "def", 2);
	finish(&g, "abc(7)def");
}

static void without_a_start_the_first_bytes_begin(void **state)
{
	struct got g = { 0 };

	(void)state;
	add(&g, 500, "", 1); /* keeps alive, with a number that is one behind */
	add(&g, 501, "abc", 2);
	assert_true(tcp_is_foreign(&g.side, 501 + (1u << 28)));
	assert_false(tcp_is_foreign(&g.side, 400));
	finish(&g, "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_in_any_order_are_put_in_order),
		cmocka_unit_test(bytes_that_come_twice_are_handed_out_once),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(a_gap_that_was_acknowledged_is_given_up),
		cmocka_unit_test(what_is_held_is_told_before_its_answer),
		cmocka_unit_test(a_gap_that_nobody_fills_does_not_hold_for_ever),
		cmocka_unit_test(what_was_not_captured_is_a_gap_in_place),
		cmocka_unit_test(without_a_start_the_first_bytes_begin),
	};

	return RUN(tests);
}
