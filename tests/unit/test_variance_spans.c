/* Requests as trees of times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "ask/stats.h"
#include "ask/variance/spans.h"
#include "base/buf.h"
#include "model/attr.h"
#include "model/call.h"

#define SPANS 40

struct made {
	struct span spans[SPANS];
	size_t nr;
};

static void add(struct made *m, uint32_t parent, const char *node, const char *name, int64_t start,
		int64_t end)
{
	m->spans[m->nr++] =
		(struct span){ .parent = parent,
			       .node = str_of(node),
			       .name = str_of(name),
			       .start = start,
			       .end = end,
			       .kind = strncmp(name, "wait:", 5) ? SPAN_INTERNAL : SPAN_WAIT };
}

static struct request_body body_of(struct made *m)
{
	return (struct request_body){ .spans = m->spans, .nr_spans = m->nr };
}

static void make(struct variance_spans *s, struct made *m, int64_t start, int64_t end)
{
	struct request r = { .type = STR("order"), .start = start, .end = end };
	struct request_body body = body_of(m);

	variance_spans_make(s, &r, &body, true);
}

static void learn(struct variance_spans *s, struct made *m)
{
	struct request_body body = body_of(m);

	variance_spans_learn(s, &body);
}

static const struct variance_part *found(const struct variance_spans *s, const char *name)
{
	vec_each (&s->parts, p)
		if (str_eq(p->name, str_of(name)))
			return p;
	return NULL;
}

static void waiting_inside_a_step_is_its_time(void **state)
{
	struct variance_spans s = { 0 };
	struct made m = { 0 };

	(void)state;
	add(&m, SPAN_NONE, "p", "order", 0, 100);
	add(&m, 0, "p", "lock_book", 10, 50);
	add(&m, 1, "p", "wait:lock", 15, 45);
	add(&m, 0, "p", "wait:queue", 60, 80);
	make(&s, &m, 0, 100);
	assert_int_equal(s.parts.nr, 3);
	assert_int_equal(found(&s, "order")->ns, 100);
	assert_int_equal(found(&s, "lock_book")->ns, 40);
	assert_int_equal(found(&s, "lock_book")->wait_ns[WAIT_LOCK], 30);
	assert_int_equal(found(&s, "wait:queue")->ns, 20);
	assert_int_equal(found(&s, "order")->wait_ns[WAIT_QUEUE], 20);
	assert_int_equal(found(&s, "order")->wait_ns[WAIT_LOCK], 30);
	variance_spans_done(&s);
}

static void what_is_off_the_path_is_not_there(void **state)
{
	struct variance_spans s = { 0 };
	struct made m = { 0 };

	(void)state;
	add(&m, SPAN_NONE, "p", "order", 0, 100);
	add(&m, 0, "p", "long", 10, 90);
	add(&m, 0, "p", "beside", 20, 40);
	add(&m, 2, "p", "below", 25, 30);
	make(&s, &m, 0, 100);
	assert_int_equal(s.parts.nr, 2);
	assert_non_null(found(&s, "long"));
	variance_spans_done(&s);
}

static void roots_and_gaps_are_below_the_request(void **state)
{
	struct variance_spans s = { 0 };
	struct made m = { 0 };

	(void)state;
	add(&m, SPAN_NONE, "a", "first", 10, 40);
	add(&m, SPAN_NONE, "b", "second", 60, 90);
	make(&s, &m, 0, 100);
	assert_int_equal(s.parts.nr, 3);
	assert_int_equal(found(&s, "order")->ns, 100);
	assert_int_equal(found(&s, "first")->ns, 30);
	variance_spans_done(&s);
}

static void nodes_are_named_where_they_are_side_by_side(void **state)
{
	static const char *const replicas[] = { "r1", "r2", "r3", "r4" };
	struct variance_spans s = { 0 };
	struct made m;

	(void)state;
	for (int i = 0; i < 8; i++) {
		m = (struct made){ 0 };
		add(&m, SPAN_NONE, "front", "order", 0, 100);
		add(&m, 0, "cart", "GET", 10, 20);
		add(&m, 0, "stock@1", "GET", 20, 40);
		add(&m, 0, replicas[i % 4], "pay", 50, 60);
		learn(&s, &m);
	}
	variance_spans_learned(&s);
	make(&s, &m, 0, 100);
	assert_non_null(found(&s, "cart:GET"));
	assert_non_null(found(&s, "stock:GET"));
	assert_non_null(found(&s, "pay"));
	variance_spans_done(&s);
}

static void amounts_go_along(void **state)
{
	struct variance_spans s = { 0 };
	struct made m = { 0 };
	struct buf rows = { 0 }, size = { 0 };
	const struct variance_part *p;

	(void)state;
	attr_add_int(&rows, STR("rows"), 17);
	attr_add_str(&rows, STR("table"), STR("5"));
	attr_add_int(&size, STR("size"), 3);
	add(&m, SPAN_NONE, "p", "order", 0, 100);
	add(&m, 0, "p", "scan", 10, 90);
	m.spans[0].attrs = buf_str(&size);
	m.spans[1].attrs = buf_str(&rows);
	make(&s, &m, 0, 100);
	p = found(&s, "scan");
	assert_int_equal(p->nr_works, 2);
	assert_true(str_eq(p->works[0].name, STR("rows")) && p->works[0].amount == 17);
	assert_true(str_eq(p->works[1].name, STR("size")) && p->works[1].amount == 3);
	buf_done(&rows);
	buf_done(&size);
	variance_spans_done(&s);
}

/* Spans of any shape, also such as do not fit: children never take more than their parent, and all
 * is the duration. */
static void parts_add_up_whatever_the_spans_are(void **state)
{
	static const char *const names[] = { "a", "b", "wait:lock", "wait:x" };
	struct variance_spans s = { 0 };
	struct dice dice = { 9 };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct made m = { 0 };
		size_t nr = dice_below(&dice, SPANS);
		int64_t end = (int64_t)dice_below(&dice, 100), below[SPANS + 1] = { 0 };

		for (size_t i = 0; i < nr; i++) {
			int64_t start = (int64_t)dice_below(&dice, 120) - 10;

			add(&m,
			    i && dice_below(&dice, 8) ? (uint32_t)dice_below(&dice, i) : SPAN_NONE,
			    "p", names[dice_below(&dice, 4)], start,
			    start + (int64_t)dice_below(&dice, 60) - 3);
		}
		make(&s, &m, 0, end);
		assert_int_equal(s.parts.v[0].ns, end);
		for (size_t i = 1; i < s.parts.nr; i++) {
			assert_true(s.parts.v[i].parent < i);
			below[s.parts.v[i].parent] += s.parts.v[i].ns;
		}
		for (size_t i = 0; i < s.parts.nr; i++)
			assert_true(below[i] <= s.parts.v[i].ns);
	}
	variance_spans_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_inside_a_step_is_its_time),
		cmocka_unit_test(what_is_off_the_path_is_not_there),
		cmocka_unit_test(roots_and_gaps_are_below_the_request),
		cmocka_unit_test(nodes_are_named_where_they_are_side_by_side),
		cmocka_unit_test(amounts_go_along),
		cmocka_unit_test(parts_add_up_whatever_the_spans_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
