/* Bodies of requests come back as they were written, whatever of them was to be expected. */
#include "unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "store/body.h"
#include "store/sym.h"

enum { NR = 40 };

struct made {
	struct span spans[NR];
	struct edge edges[NR];
	uint64_t events[2 * NR];
	uint32_t event_span[2 * NR];
	char ids[NR][12];
	struct request r;
	struct request_body b;
};

static void make(struct made *m, int64_t grain, const char *id)
{
	*m = (struct made){ .r = { .start = 1700000000 * INT64_C(1000000000), .key = STR("k") } };
	for (uint32_t i = 0; i < NR; i++) {
		struct span *s = &m->spans[i];

		snprintf(m->ids[i], sizeof(m->ids[i]), "%s%u", id, i + 1);
		s->id = str_of(m->ids[i]);
		s->start = m->r.start + (int64_t)(i * 7 % 11) * grain;
		s->end = s->start + (int64_t)(i % 5) * grain;
		s->parent = i ? (i - 1) / 2 : SPAN_NONE;
		s->kind = i % 3 ? SPAN_INTERNAL : SPAN_WAIT;
		s->follows = i % 4 == 1;
		s->confidence = i % 6 ? 1 : 0.75F;
		s->shift = i == 9 ? -5 : 0;
		s->node = i % 3 ? STR("dn1") : STR("nn");
		s->name = STR("work");
		s->thread = i % 2 ? STR("a") : STR("");
		s->key = i == 3 ? STR("other") : m->r.key;
		s->attrs = i == 5 ? STR("\x01x") : STR("");
		m->edges[i] = (struct edge){ i / 2, i, EDGE_HANDOFF, i % 7 ? s->confidence : 0.5F };
	}
	for (uint32_t i = 0; i < 2 * NR; i++) {
		m->event_span[i] = i == 70 ? SPAN_NONE : (i * 13) % NR;
		m->events[i] = m->event_span[i] % 3 ? 500000 + i : i ? 900 - i : UINT64_MAX;
	}
	m->r.nr_spans = NR;
	m->r.nr_events = 2 * NR;
	m->b = (struct request_body){
		m->spans, m->edges, m->events, m->event_span, NR, NR, 2 * NR
	};
}

static void assert_comes_back(struct made *m)
{
	struct buf raw = { 0 };
	struct syms t = { 0 };
	struct arena arena = { 0 };
	struct request_body b;
	struct str from, again;
	uint64_t events[2 * NR];

	body_add(&raw, &t, &m->r, &m->b);
	from = again = buf_str(&raw);
	assert_true(body_take(&from, &t, &m->r, &arena, &b));
	assert_int_equal(from.n, 0);
	assert_int_equal(b.nr_edges, NR);
	for (uint32_t i = 0; i < NR; i++) {
		const struct span *x = &m->spans[i], *y = &b.spans[i];

		assert_int_equal(x->start, y->start);
		assert_int_equal(x->end, y->end);
		assert_int_equal(x->shift, y->shift);
		assert_int_equal(x->parent, y->parent);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->follows, y->follows);
		assert_true(x->confidence == y->confidence);
		assert_true(str_eq(x->id, y->id) && str_eq(x->key, y->key));
		assert_true(str_eq(x->node, y->node) && str_eq(x->name, y->name));
		assert_true(str_eq(x->thread, y->thread) && str_eq(x->attrs, y->attrs));
		assert_int_equal(m->edges[i].from, b.edges[i].from);
		assert_int_equal(m->edges[i].to, b.edges[i].to);
		assert_true(m->edges[i].confidence == b.edges[i].confidence);
	}
	assert_memory_equal(m->events, b.events, sizeof(m->events));
	assert_memory_equal(m->event_span, b.event_span, sizeof(m->event_span));
	assert_true(body_take_event_numbers(&again, &t, &m->r, events));
	assert_memory_equal(m->events, events, sizeof(events));
	buf_done(&raw);
	arena_done(&arena);
	syms_done(&t);
}

static void times_of_any_grain_come_back(void **state)
{
	static struct made m;

	(void)state;
	for (int64_t grain = 1; grain <= INT64_C(10000000000); grain *= 10) {
		make(&m, grain, "");
		assert_comes_back(&m);
	}
	make(&m, 1, "");
	m.spans[4].start = INT64_MIN;
	m.spans[5].end = INT64_MAX;
	assert_comes_back(&m);
}

static void names_of_spans_come_back_where_they_are_no_numbers(void **state)
{
	static struct made m;

	(void)state;
	make(&m, 1000000, "span-");
	assert_comes_back(&m);
}

static void expected_numbers_cost_little(void **state)
{
	static struct made m;
	struct buf plain = { 0 }, named = { 0 };
	struct syms t = { 0 };

	(void)state;
	make(&m, 1000000, "");
	body_add(&plain, &t, &m.r, &m.b);
	make(&m, 999999, "x");
	body_add(&named, &t, &m.r, &m.b);
	assert_true(plain.n + NR * 6 < named.n);
	buf_done(&plain);
	buf_done(&named);
	syms_done(&t);
}

static void a_body_that_is_cut_short_is_refused(void **state)
{
	static struct made m;
	struct buf raw = { 0 };
	struct syms t = { 0 };

	(void)state;
	make(&m, 1000000, "");
	body_add(&raw, &t, &m.r, &m.b);
	for (size_t n = 0; n < raw.n; n++) {
		struct arena arena = { 0 };
		struct str from = str_head(buf_str(&raw), n);
		struct request_body b;

		assert_false(body_take(&from, &t, &m.r, &arena, &b));
		arena_done(&arena);
	}
	buf_done(&raw);
	syms_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_any_grain_come_back),
		cmocka_unit_test(names_of_spans_come_back_where_they_are_no_numbers),
		cmocka_unit_test(expected_numbers_cost_little),
		cmocka_unit_test(a_body_that_is_cut_short_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
