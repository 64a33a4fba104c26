#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "infer/convolve/convolve.h"
#include "infer/convolve/correlate.h"
#include "infer/convolve/follow.h"
#include "model/attr.h"
#include "store/store.h"

/* --- a small generator after section 7.1.1 of the paper: sequences of messages with Gaussian
 * delays, begun at random times
 * ------------------------------------------------------------------------ */

struct leg {
	const char *from, *to;
	double after_ms, deviation_ms; /* after the leg before; the first has none */
};

struct truth {
	VEC(uint64_t) cause; /* by position of a message: that of its cause, 0 for a root */
};

static uint64_t dice(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(uint64_t *seed)
{
	return ((double)(dice(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(uint64_t *seed)
{
	double a = uniform(seed), b = uniform(seed);

	return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

static void add_one(struct traffic *t, struct truth *truth, const char *from, const char *to,
		    double ms, uint64_t cause)
{
	traffic_add(t, str_of(from), str_of(to), (int64_t)(ms * (double)NS_MS), t->position);
	while (truth->cause.nr <= t->position)
		vec_push(&truth->cause, 0);
	truth->cause.v[t->position] = cause;
}

/* So many sequences, begun within so long. */
static void generate(struct traffic *t, struct truth *truth, uint64_t *seed, const struct leg *legs,
		     int nr_legs, int nr, double length_ms)
{
	for (int i = 0; i < nr; i++) {
		double ms = 1000 + uniform(seed) * length_ms;
		uint64_t cause = 0;

		for (int k = 0; k < nr_legs; k++) {
			if (k)
				ms += fmax(legs[k].after_ms + gauss(seed) * legs[k].deviation_ms,
					   0.001);
			add_one(t, truth, legs[k].from, legs[k].to, ms, cause);
			cause = t->position;
		}
	}
}

#define LEGS(name) name, (int)(sizeof(name) / sizeof(*(name)))

/* The share of messages whose cause is the true one. */
static double share_right(const struct traffic *t, const struct truth *truth)
{
	size_t right = 0;

	vec_each (&t->v, m) {
		uint64_t cause = m->cause == SENT_NONE ? 0 : t->v.v[m->cause].position;

		right += m->placed && cause == truth->cause.v[m->position];
	}
	return (double)right / (double)t->v.nr;
}

/* Whether "A>B>C" is a path that was found, and its number of messages. */
static uint64_t nr_of(const struct traffic *t, const struct followed *f, const char *path)
{
	for (size_t i = 0; i < f->v.nr; i++) {
		uint32_t at = (uint32_t)i;
		struct buf b = { 0 };
		VEC(struct str) names = { 0 };
		bool same;

		vec_push(&names, names_str(&t->nodes, t->routes.v[f->v.v[at].route].to));
		for (; at != SENT_NONE; at = f->v.v[at].parent)
			vec_push(&names, names_str(&t->nodes, t->routes.v[f->v.v[at].route].from));
		for (size_t k = names.nr; k-- > 0;)
			buf_fmt(&b, STR_FMT "%s", STR_ARG(names.v[k]), k ? ">" : "");
		same = str_eq(buf_str(&b), str_of(path));
		buf_done(&b);
		vec_done(&names);
		if (same)
			return f->v.v[i].nr;
	}
	return 0;
}

static const struct leg rpc[] = {
	{ "A", "B", 0, 0 }, { "B", "C", 20, 2 }, { "C", "B", 50, 5 }, { "B", "A", 10, 1 }
};

static void a_chain_is_followed_to_its_end_and_no_derived_path_is_left(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 1;

	(void)state;
	generate(&t, &truth, &seed, LEGS(rpc), 1000, 100000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(share_right(&t, &truth) > 0.97);
	assert_true(nr_of(&t, &f, "A>B>C>B>A") > 970);
	assert_int_equal(nr_of(&t, &f, "A>B>A"), 0);
	assert_int_equal(nr_of(&t, &f, "A>B"), 1000);
	assert_int_equal(f.v.nr, 4);
	assert_true(fabs(f.v.v[1].delay - 20e6) < 1e6 && fabs(f.v.v[2].delay - 50e6) < 1e6);
	assert_true(fabs(f.v.v[2].spread - 5e6) < 2e6);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void a_true_short_path_is_kept_beside_the_long_one(void **state)
{
	static const struct leg cached[] = { { "A", "B", 0, 0 }, { "B", "A", 5, 1 } };
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 2;
	double nr;

	(void)state;
	generate(&t, &truth, &seed, LEGS(rpc), 700, 100000);
	generate(&t, &truth, &seed, LEGS(cached), 300, 100000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(share_right(&t, &truth) > 0.95);
	nr = (double)nr_of(&t, &f, "A>B>A");
	assert_true(nr > 285 && nr < 315);
	nr = (double)nr_of(&t, &f, "A>B>C>B>A");
	assert_true(nr > 665 && nr < 715);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void two_paths_over_one_route_are_told_apart(void **state)
{
	static const struct leg left[] = { { "X", "B", 0, 0 },
					   { "B", "C", 20, 2 },
					   { "C", "D", 30, 3 } };
	static const struct leg right[] = { { "Y", "B", 0, 0 },
					    { "B", "C", 40, 2 },
					    { "C", "E", 15, 3 } };
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 3;

	(void)state;
	generate(&t, &truth, &seed, LEGS(left), 800, 200000);
	generate(&t, &truth, &seed, LEGS(right), 800, 200000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(nr_of(&t, &f, "X>B>C>D") > 750);
	assert_true(nr_of(&t, &f, "Y>B>C>E") > 750);
	assert_true(nr_of(&t, &f, "X>B>C>E") < 30);
	assert_true(nr_of(&t, &f, "Y>B>C>D") < 30);
	assert_true(share_right(&t, &truth) > 0.95);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void delays_that_vary_widely_are_found_too(void **state)
{
	static const struct leg wide[] = { { "A", "B", 0, 0 }, { "B", "C", 400, 100 } };
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 4;

	(void)state;
	generate(&t, &truth, &seed, LEGS(wide), 2000, 1000000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(nr_of(&t, &f, "A>B>C") > 1700);
	assert_true(fabs(f.v.v[1].delay - 400e6) < 20e6);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void calls_side_by_side_are_joined_by_the_one_that_is_waited_for(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		double ms = uniform(&seed) * 100000, c, d;
		uint64_t root, to_c, to_d;

		add_one(&t, &truth, "A", "B", ms, 0);
		root = t.position;
		c = ms + 10 + gauss(&seed);
		add_one(&t, &truth, "B", "C", c, root);
		to_c = t.position;
		d = c + 0.5 + gauss(&seed) / 10;
		add_one(&t, &truth, "B", "D", d, root);
		to_d = t.position;
		add_one(&t, &truth, "C", "B", c + 20 + 3 * gauss(&seed), to_c);
		d += 50 + 3 * gauss(&seed);
		add_one(&t, &truth, "D", "B", d, to_d);
		add_one(&t, &truth, "B", "A", d + 5 + gauss(&seed) / 2, t.position);
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_int_equal(nr_of(&t, &f, "A>B>C"), 1000);
	assert_true(nr_of(&t, &f, "A>B>C>B") > 980);
	assert_true(nr_of(&t, &f, "A>B>D>B>A") > 970);
	assert_int_equal(nr_of(&t, &f, "A>B>C>B>A") + nr_of(&t, &f, "A>B>A"), 0);
	assert_int_equal(nr_of(&t, &f, "A>B>C>B>D"), 0);
	assert_true(share_right(&t, &truth) > 0.95);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void what_is_not_related_makes_no_path(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 5;
	static const char *const routes[][2] = {
		{ "A", "B" }, { "B", "C" }, { "C", "B" }, { "B", "D" }, { "D", "A" }
	};

	(void)state;
	/* load that comes and goes is alike on every route, and no cause */
	for (int i = 0; i < 30000; i++) {
		double ms = uniform(&seed) * 300000;

		if (uniform(&seed) < 0.5 + 0.5 * sin(ms / 20000))
			add_one(&t, &truth, routes[i % 5][0], routes[i % 5][1], ms, 0);
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	vec_each (&f.v, x)
		assert_int_equal(x->parent, SENT_NONE);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void a_client_that_thinks_for_a_constant_time_begins_each_request(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 6;
	double ms = 0;

	(void)state;
	for (int i = 0; i < 500; i++) {
		add_one(&t, &truth, "A", "B", ms, 0);
		ms += 30 + gauss(&seed);
		add_one(&t, &truth, "B", "A", ms, t.position);
		ms += 100;
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_int_equal(nr_of(&t, &f, "A>B"), 500);
	assert_true(nr_of(&t, &f, "A>B>A") > 480);
	assert_true(share_right(&t, &truth) > 0.95);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void lost_messages_cost_no_more_than_their_own_paths(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic whole = { 0 }, t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 }, rest = { 0 };
	uint64_t seed = 7;

	(void)state;
	generate(&whole, &truth, &seed, LEGS(rpc), 1000, 100000);
	vec_each (&whole.v, m) {
		const struct route *r = &whole.routes.v[m->route];

		if (uniform(&seed) < 0.05)
			continue;
		add_one(&t, &rest, whole.nodes.v[r->from].p, whole.nodes.v[r->to].p,
			(double)m->ns / (double)NS_MS, 0);
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(nr_of(&t, &f, "A>B>C>B>A") > 780);
	followed_done(&f);
	traffic_done(&t);
	traffic_done(&whole);
	vec_done(&truth.cause);
	vec_done(&rest.cause);
}

static void odd_traffic_is_borne(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	static const int64_t times[] = { INT64_MIN + 1, INT64_MAX, 0, -1, 1 };

	(void)state;
	for (size_t nr = 0; nr <= 5; nr++) {
		struct traffic t = { 0 };
		struct followed f = { 0 };

		for (size_t i = 0; i < nr * 20; i++)
			traffic_add(&t, i % 3 ? STR("A") : STR(""), i % 2 ? STR("A") : STR("B"),
				    times[i % nr], i);
		traffic_settle(&t);
		follow(&t, &o, &f);
		followed_done(&f);
		traffic_done(&t);
	}
}

static void a_correlation_counts_what_follows_after_each_delay(void **state)
{
	struct correlator *c = correlator_new(0, 999, 1, 200);
	struct spectrum *causes, *effects;
	const float *got;

	(void)state;
	correlator_begin(c);
	for (int i = 0; i < 40; i++)
		correlator_add(c, i * i % 700);
	causes = correlator_take(c);
	correlator_begin(c);
	for (int i = 0; i < 40; i++)
		correlator_add(c, i * i % 700 + 37);
	effects = correlator_take(c);
	got = correlate(c, causes, effects);
	assert_true(fabs((double)got[37] - 40 * 1000.0 / 963) < 0.01);
	for (int lag = 0; lag < 200; lag++)
		assert_true(lag == 37 || (double)got[lag] < 20);
	spectrum_free(causes);
	spectrum_free(effects);
	correlator_free(c);
}

/* Two messages that come at nearly the same time cause one message each: no message is taken twice,
 * and which is whose is told as doubt. */
static void a_pair_is_used_once_and_doubt_is_told(void **state)
{
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 10;
	double alone = 0, crowded = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		double ms = i * 500 + 100 * uniform(&seed);

		for (int k = 0; k < 1 + i % 2; k++) {
			add_one(&t, &truth, "A", "B", ms + k, 0);
			add_one(&t, &truth, "B", "C", ms + k + 20 + 2 * gauss(&seed), t.position);
		}
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	for (uint32_t i = 1; i < t.v.nr; i++) {
		const struct sent *m = &t.v.v[i];

		if (m->cause == SENT_NONE)
			continue;
		assert_true(m->cause != m[-1].cause);
		if (m->position % 6 <= 2 && m->position % 6 > 0)
			alone += (double)m->confidence / 200;
		else
			crowded += (double)m->confidence / 400;
	}
	assert_true(alone > 0.95);
	assert_true(crowded > 0.4 && crowded < 0.8);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

/* A client that waits for its answer and then thinks makes a circle in which all is caused. */
static void a_circle_is_cut_where_it_is_least_regular(void **state)
{
	static const struct leg legs[] = {
		{ "A", "B", 0, 0 }, { "B", "C", 20, 2 }, { "C", "B", 50, 5 }, { "B", "A", 10, 1 }
	};
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 11;
	double ms = 0;

	(void)state;
	for (int i = 0; i < 600; i++) {
		uint64_t cause = 0;

		ms += uniform(&seed) * 100;
		for (int k = 0; k < 4; k++) {
			ms += legs[k].after_ms + gauss(&seed) * legs[k].deviation_ms;
			add_one(&t, &truth, legs[k].from, legs[k].to, ms, cause);
			cause = t.position;
		}
	}
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_int_equal(nr_of(&t, &f, "A>B"), 600);
	assert_true(nr_of(&t, &f, "A>B>C>B>A") > 590);
	assert_true(share_right(&t, &truth) > 0.98);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

/* The same node answers two callers over the same routes: each answer goes back to who asked. */
static void an_answer_goes_back_to_where_the_question_came_from(void **state)
{
	static const struct leg left[] = {
		{ "X", "B", 0, 0 }, { "B", "C", 20, 5 }, { "C", "B", 30, 6 }, { "B", "X", 10, 2 }
	};
	static const struct leg right[] = {
		{ "Y", "B", 0, 0 }, { "B", "C", 20, 5 }, { "C", "B", 30, 6 }, { "B", "Y", 10, 2 }
	};
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 12;

	(void)state;
	generate(&t, &truth, &seed, LEGS(left), 2000, 200000);
	generate(&t, &truth, &seed, LEGS(right), 2000, 200000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(nr_of(&t, &f, "X>B>C>B>X") > 1900);
	assert_true(nr_of(&t, &f, "Y>B>C>B>Y") > 1900);
	assert_true(nr_of(&t, &f, "X>B>C>B>Y") < 60);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

/* What is wrong in a crowd are exchanges, which leave the mean delay as it is. */
static void the_delay_of_a_hop_is_right_in_a_crowd(void **state)
{
	static const struct leg slow[] = {
		{ "A", "B", 0, 0 }, { "B", "C", 220, 10 }, { "C", "B", 50, 10 }, { "B", "A", 10, 2 }
	};
	const struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };
	struct truth truth = { 0 };
	uint64_t seed = 13;

	(void)state;
	generate(&t, &truth, &seed, LEGS(slow), 3000, 60000);
	traffic_settle(&t);
	follow(&t, &o, &f);
	assert_true(nr_of(&t, &f, "A>B>C>B>A") > 2900);
	assert_true(fabs(f.v.v[1].delay - 220e6) < 2e6);
	assert_true(fabs(f.v.v[2].delay - 50e6) < 2e6);
	followed_done(&f);
	traffic_done(&t);
	vec_done(&truth.cause);
}

/* --- the inference, from a store to a store --------------------------------------------------- */

struct counted {
	int nr, whole;
	bool client;
};

static int count(void *ctx, const struct request *r, const struct request_body *b)
{
	struct counted *c = ctx;
	struct attr a;

	c->nr++;
	c->whole += b->nr_spans == 4;
	c->client = attr_find(b->spans[0].attrs, STR("from"), &a) && str_eq(a.text, STR("A"));
	assert_str_equal(r->method, "convolution");
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];

		assert_true(attr_find(s->attrs, STR("message"), &a) && a.i > 0);
		assert_true(s->start >= r->start && s->end == r->end);
		assert_true(s->confidence >= 0 && s->confidence <= 1);
	}
	assert_int_equal(b->nr_events, b->nr_spans);
	return 0;
}

static void infer_into(struct store *s, const char *method, enum message_op op)
{
	struct infer_options o = INFER_DEFAULTS;
	struct sink sink = store_sink(s);
	struct file_seen file = { .path = STR("-"), .format = STR("messages") };
	struct traffic t = { 0 };
	struct truth truth = { 0 };
	struct error err;
	uint64_t seed = 8;
	uint32_t number;

	generate(&t, &truth, &seed, LEGS(rpc), 300, 60000);
	assert_int_equal(sink.file(sink.to, &file, &number, &err), 0);
	vec_each (&t.v, m) {
		const struct route *r = &t.routes.v[m->route];
		struct event ev = { .ns = m->ns,
				    .kind = EVENT_MESSAGE,
				    .op = op,
				    .file = number,
				    .duration = -1,
				    .node = names_str(&t.nodes, r->from),
				    .peer = names_str(&t.nodes, r->to) };

		assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
	}
	o.method = method;
	assert_int_equal(infer_convolve.run(s, &o, &err), 0);
	assert_int_equal(store_finish(s, &err), 0);
	traffic_done(&t);
	vec_done(&truth.cause);
}

static void count_requests(const char *method, enum message_op op, struct counted *c)
{
	struct store *s;
	struct error err;

	*c = (struct counted){ 0 };
	assert_int_equal(store_create(&s, NULL, &err), 0);
	infer_into(s, method, op);
	assert_int_equal(store_each_body(s, &(struct request_filter){ 0 }, count, c, &err), 0);
	store_close(s);
}

static void free_messages_become_requests_and_others_when_asked_for(void **state)
{
	struct counted c;

	(void)state;
	count_requests(NULL, MESSAGE_SENT, &c);
	assert_int_equal(c.nr, 300);
	assert_true(c.whole > 285);
	assert_true(c.client);
	count_requests("auto", MESSAGE_CALL, &c);
	assert_int_equal(c.nr, 0);
	count_requests("nesting", MESSAGE_SENT, &c);
	assert_int_equal(c.nr, 0);
	count_requests("convolution", MESSAGE_CALL, &c);
	assert_int_equal(c.nr, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_correlation_counts_what_follows_after_each_delay),
		cmocka_unit_test(a_pair_is_used_once_and_doubt_is_told),
		cmocka_unit_test(a_circle_is_cut_where_it_is_least_regular),
		cmocka_unit_test(an_answer_goes_back_to_where_the_question_came_from),
		cmocka_unit_test(the_delay_of_a_hop_is_right_in_a_crowd),
		cmocka_unit_test(a_chain_is_followed_to_its_end_and_no_derived_path_is_left),
		cmocka_unit_test(a_true_short_path_is_kept_beside_the_long_one),
		cmocka_unit_test(two_paths_over_one_route_are_told_apart),
		cmocka_unit_test(delays_that_vary_widely_are_found_too),
		cmocka_unit_test(calls_side_by_side_are_joined_by_the_one_that_is_waited_for),
		cmocka_unit_test(what_is_not_related_makes_no_path),
		cmocka_unit_test(a_client_that_thinks_for_a_constant_time_begins_each_request),
		cmocka_unit_test(lost_messages_cost_no_more_than_their_own_paths),
		cmocka_unit_test(odd_traffic_is_borne),
		cmocka_unit_test(free_messages_become_requests_and_others_when_asked_for),
	};

	return RUN(tests);
}
