#include "unit.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/feed.h"
#include "infer/paths/joint.h"
#include "infer/paths/nesting.h"
#include "infer/paths/pairs.h"
#include "infer/paths/piece.h"
#include "infer/paths/tick.h"
#include "model/loss.h"

enum { CLIENT = 1, FRONT, BACK, STORE, NR_NODES };

static bool sources[NR_NODES] = { [0] = true, [CLIENT] = true };

static struct window window(void)
{
	return (struct window){ .nr_nodes = NR_NODES, .is_source = sources };
}

static void call(struct window *w, uint32_t from, uint32_t to, int64_t t1, int64_t t4)
{
	vec_push(&w->calls, (struct call){ .t1 = t1 * 1000000,
					   .t4 = t4 * 1000000,
					   .from = from,
					   .to = to,
					   .parent = CALL_NONE });
}

static void message(struct pairs *p, struct window *w, enum message_op op, uint32_t from,
		    uint32_t to, uint64_t id, int64_t ns)
{
	pairs_take(p, w, &(struct message){ ns, (uint64_t)ns, (uint64_t)ns, id, from, to, op });
}

static void returns_answer_the_call_with_their_id(void **state)
{
	struct losses losses = { 0 };
	struct pairs *p = pairs_new(&losses);
	struct window w = window();

	(void)state;
	message(p, &w, MESSAGE_CALL, CLIENT, FRONT, 7, 1);
	message(p, &w, MESSAGE_CALL, CLIENT, FRONT, 9, 2);
	message(p, &w, MESSAGE_CALL, CLIENT, BACK, 7, 3);
	message(p, &w, MESSAGE_RETURN, FRONT, CLIENT, 9, 4);
	message(p, &w, MESSAGE_RETURN, FRONT, CLIENT, 7, 5);
	message(p, &w, MESSAGE_RETURN, FRONT, CLIENT, 7, 6);
	message(p, &w, MESSAGE_RETURN, CLIENT, BACK, 7, 7);
	assert_int_equal(w.calls.nr, 3);
	assert_int_equal(w.calls.v[0].t4, 5);
	assert_int_equal(w.calls.v[1].t4, 4);
	assert_true(w.calls.v[2].t4 == CALL_OPEN);
	assert_int_equal(losses.count[LOSS_RETURNS_OPEN], 2);
	pairs_free(p);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

static void without_ids_the_earliest_call_is_answered_first(void **state)
{
	struct losses losses = { 0 };
	struct pairs *p = pairs_new(&losses);
	struct window w = window();

	(void)state;
	for (int i = 0; i < 5000; i++)
		message(p, &w, MESSAGE_CALL, CLIENT, FRONT, 0, i);
	for (int i = 0; i < 5000; i++)
		message(p, &w, MESSAGE_RETURN, FRONT, CLIENT, 0, 6000 + i);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(w.calls.v[i].t4, 6000 + i);
	assert_int_equal(losses.count[LOSS_RETURNS_OPEN], 0);
	pairs_free(p);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

static void open_calls_find_their_return_after_the_window_moved(void **state)
{
	struct losses losses = { 0 };
	struct pairs *p = pairs_new(&losses);
	struct window w = window();
	uint32_t to[] = { CALL_NONE, CALL_NONE, 0 };

	(void)state;
	message(p, &w, MESSAGE_CALL, CLIENT, FRONT, 0, 1); /* given up */
	message(p, &w, MESSAGE_CALL, CLIENT, BACK, 3, 2);  /* done */
	message(p, &w, MESSAGE_CALL, CLIENT, FRONT, 0, 3); /* waits behind the first */
	message(p, &w, MESSAGE_RETURN, BACK, CLIENT, 3, 4);
	pairs_move(p, to);
	w.calls.v[0] = w.calls.v[2];
	w.calls.nr = 1;
	message(p, &w, MESSAGE_RETURN, FRONT, CLIENT, 0, 9);
	assert_int_equal(w.calls.v[0].t1, 3);
	assert_int_equal(w.calls.v[0].t4, 9);
	pairs_free(p);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

/* Figure 3 of the paper, and Figure 5: two calls that overlap go to different parents. */
static void nesting_finds_what_the_paper_shows(void **state)
{
	const struct nesting_options o = NESTING_DEFAULTS;
	struct window w = window();

	(void)state;
	call(&w, CLIENT, FRONT, 1, 11);
	call(&w, FRONT, BACK, 3, 5);
	call(&w, FRONT, STORE, 7, 9);
	call(&w, CLIENT, FRONT, 100, 150);
	call(&w, CLIENT, FRONT, 105, 155);
	call(&w, FRONT, BACK, 110, 140);
	call(&w, FRONT, BACK, 115, 145);
	nesting_run(&w, &o);
	assert_true(w.calls.v[0].parent == CALL_NONE);
	assert_int_equal(w.calls.v[1].parent, 0);
	assert_int_equal(w.calls.v[2].parent, 0);
	assert_int_equal(w.calls.v[5].parent, 3);
	assert_int_equal(w.calls.v[6].parent, 4);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

/*
 * Requests that overlap: FRONT calls BACK 10 ms and STORE 30 ms after it was called, give or take.
 * The truth is left in sent.
 */
static struct window crowd(int nr, int64_t apart_us, uint64_t seed)
{
	struct window w = window();
	struct call *v = calloc((size_t)nr * 3, sizeof(*v));
	int64_t t = 0;

	for (int i = 0; i < nr; i++) {
		int64_t jitter[5];

		for (int k = 0; k < 5; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			jitter[k] = (int64_t)(seed >> 40) % 2000;
		}
		t += (jitter[0] + jitter[4]) * apart_us / 2000;
		v[3 * i] = (struct call){ .t1 = t, .t4 = t + 50000 + jitter[1], .to = FRONT };
		v[3 * i + 1] = (struct call){ .t1 = t + 10000 + jitter[2], .to = BACK };
		v[3 * i + 2] = (struct call){ .t1 = t + 30000 + jitter[3], .to = STORE };
		v[3 * i].from = CLIENT;
		v[3 * i + 1].from = v[3 * i + 2].from = FRONT;
		v[3 * i + 1].t4 = v[3 * i + 1].t1 + 5000;
		v[3 * i + 2].t4 = v[3 * i + 2].t1 + 5000;
		for (int k = 0; k < 3; k++)
			v[3 * i + k].sent = (uint64_t)i;
	}
	/* as a trace has them: in the order of time */
	for (int64_t at = 0; at < t + 100000; at += 100)
		for (int i = 0; i < 3 * nr; i++)
			if (v[i].t1 >= at && v[i].t1 < at + 100) {
				v[i].parent = CALL_NONE;
				v[i].t1 *= 1000;
				v[i].t4 *= 1000;
				vec_push(&w.calls, v[i]);
				v[i].t1 = -1;
			}
	free(v);
	for (size_t i = 1; i < w.calls.nr; i++)
		for (size_t k = i; k && w.calls.v[k - 1].t1 > w.calls.v[k].t1; k--) {
			struct call moved = w.calls.v[k];

			w.calls.v[k] = w.calls.v[k - 1];
			w.calls.v[k - 1] = moved;
		}
	return w;
}

static double share_right(const struct window *w)
{
	unsigned right = 0, nr = 0;

	for (size_t i = 0; i < w->calls.nr; i++) {
		const struct call *c = &w->calls.v[i];

		if (c->from == CLIENT)
			continue;
		nr++;
		right += c->parent != CALL_NONE && w->calls.v[c->parent].sent == c->sent;
		assert_true(c->confidence > 0 && c->confidence <= 1);
	}
	return (double)right / nr;
}

static void joint_sees_through_a_crowd(void **state)
{
	const struct nesting_options o = NESTING_DEFAULTS;
	struct window a = crowd(600, 4000, 1), b = crowd(600, 4000, 1);
	double joint, nesting;

	(void)state;
	joint_run(&a);
	nesting_run(&b, &o);
	joint = share_right(&a);
	nesting = share_right(&b);
	assert_true(joint > 0.95);
	assert_true(joint >= nesting);
	vec_done(&a.calls);
	vec_done(&a.alternatives);
	vec_done(&b.calls);
	vec_done(&b.alternatives);
}

static void joint_says_the_same_twice(void **state)
{
	struct window a = crowd(200, 3000, 5), b = crowd(200, 3000, 5);

	(void)state;
	joint_run(&a);
	joint_run(&b);
	for (size_t i = 0; i < a.calls.nr; i++) {
		assert_int_equal(a.calls.v[i].parent, b.calls.v[i].parent);
		assert_true(a.calls.v[i].confidence == b.calls.v[i].confidence);
	}
	vec_done(&a.calls);
	vec_done(&a.alternatives);
	vec_done(&b.calls);
	vec_done(&b.alternatives);
}

static void odd_calls_do_no_harm(void **state)
{
	struct window w = window();

	(void)state;
	call(&w, FRONT, FRONT, 5, 5);
	call(&w, FRONT, FRONT, 5, 5);
	call(&w, BACK, FRONT, 5, 9);
	call(&w, FRONT, BACK, 5, 9);
	call(&w, BACK, STORE, 6, 5);
	call(&w, STORE, BACK, 7, 1000);
	w.calls.v[5].t4 = CALL_OPEN;
	joint_run(&w);
	for (uint32_t i = 0; i < w.calls.nr; i++)
		assert_true(w.calls.v[i].parent == CALL_NONE ||
			    (w.calls.v[i].parent < w.calls.nr && w.calls.v[i].parent != i));
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

static void an_empty_window_has_no_answer(void **state)
{
	struct window w = window();

	(void)state;
	joint_run(&w);
	assert_int_equal(w.calls.nr, 0);
}

/* Seventeen requests at once, and each call may belong to any of them. */
static void joint_is_ahead_of_nesting_in_the_thick(void **state)
{
	const struct nesting_options o = NESTING_DEFAULTS;
	struct window a = crowd(300, 3000, 3), b = crowd(300, 3000, 3);

	(void)state;
	joint_run(&a);
	nesting_run(&b, &o);
	assert_true(share_right(&a) > 0.9);
	assert_true(share_right(&a) > share_right(&b) + 0.3);
	vec_done(&a.calls);
	vec_done(&a.alternatives);
	vec_done(&b.calls);
}

static void confidences_promise_no_more_than_is_right(void **state)
{
	struct window w = crowd(400, 4000, 20);
	unsigned nr = 0, sure = 0, right = 0;
	double promised = 0;

	(void)state;
	joint_run(&w);
	vec_each (&w.calls, c) {
		if (c->from == CLIENT)
			continue;
		nr++;
		promised += (double)c->confidence;
		if (c->confidence < 0.8f)
			continue;
		sure++;
		right += c->parent != CALL_NONE && w.calls.v[c->parent].sent == c->sent;
	}
	assert_true(sure > 200);
	assert_true(right > 0.9 * sure);
	assert_true(promised / nr < share_right(&w) + 0.05);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
}

/* What a sniffer misses takes nothing from those whom it saw. */
static void a_few_lost_calls_change_little(void **state)
{
	struct window whole = crowd(300, 4000, 1), w = crowd(300, 4000, 1);
	size_t kept = 0;

	(void)state;
	for (size_t i = 0; i < w.calls.nr; i++)
		if (w.calls.v[i].from == CLIENT || i % 100 != 7)
			w.calls.v[kept++] = w.calls.v[i];
	w.calls.nr = kept;
	assert_true(kept < whole.calls.nr);
	joint_run(&w);
	joint_run(&whole);
	assert_true(share_right(&w) > share_right(&whole) - 0.01);
	vec_done(&w.calls);
	vec_done(&w.alternatives);
	vec_done(&whole.calls);
	vec_done(&whole.alternatives);
}

/* On a clock of milliseconds no delay at all is common, and no proof. */
static void a_coarse_clock_is_known_by_its_delays(void **state)
{
	struct window w = crowd(200, 20000, 9);
	struct view v = { 0 };
	struct sides s;
	struct stretch st = { .w = &w, .view = &v };

	(void)state;
	sides_init(&s, &w);
	st.in = s.in + s.in_first[FRONT];
	st.nr_in = s.in_first[FRONT + 1] - s.in_first[FRONT];
	st.out = s.out + s.out_first[FRONT];
	st.nr_out = s.out_first[FRONT + 1] - s.out_first[FRONT];
	assert_int_equal(tick_of(&st), 0);
	vec_each (&w.calls, c) { /* and all of it off by a part of a millisecond */
		c->t1 = c->t1 / 1000000 * 1000000 + 123456;
		c->t4 = c->t4 / 1000000 * 1000000 + 123456;
	}
	assert_int_equal(tick_of(&st), 1000000);
	sides_done(&s);
	vec_done(&w.calls);
}

static bool at_once(void)
{
	return true;
}

static void a_stop_is_heeded(void **state)
{
	struct window w = crowd(300, 1000, 2);

	(void)state;
	w.is_stopped = at_once;
	joint_run(&w);
	vec_each (&w.calls, c)
		assert_true(c->parent == CALL_NONE);
	vec_done(&w.calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_answer_the_call_with_their_id),
		cmocka_unit_test(without_ids_the_earliest_call_is_answered_first),
		cmocka_unit_test(open_calls_find_their_return_after_the_window_moved),
		cmocka_unit_test(nesting_finds_what_the_paper_shows),
		cmocka_unit_test(joint_sees_through_a_crowd),
		cmocka_unit_test(joint_says_the_same_twice),
		cmocka_unit_test(joint_is_ahead_of_nesting_in_the_thick),
		cmocka_unit_test(confidences_promise_no_more_than_is_right),
		cmocka_unit_test(a_few_lost_calls_change_little),
		cmocka_unit_test(a_coarse_clock_is_known_by_its_delays),
		cmocka_unit_test(a_stop_is_heeded),
		cmocka_unit_test(odd_calls_do_no_harm),
		cmocka_unit_test(an_empty_window_has_no_answer),
	};

	return RUN(tests);
}
