#include "unit.h"

#include <stdio.h>

#include "model/attr.h"
#include "model/carried.h"
#include "model/event.h"
#include "model/span.h"

static size_t count_of(struct str attrs, enum attr_type type, enum attr_scope scope)
{
	struct attr a;
	size_t nr = 0;

	while (attr_take(&attrs, &a))
		nr += a.type == type && a.scope == scope;
	return nr;
}

static void what_was_carried_is_put_back_and_taken_off(void **state)
{
	struct span s = { .key = STR("00aa"), .id = STR("01"), .start = 1000, .end = 2000 };
	struct arena arena = { 0 };
	struct buf b = { 0 };
	struct attr a;

	(void)state;
	attr_add_str(&b, STR(CARRIED_TRACE), STR("trace seven"));
	attr_add_int(&b, STR(CARRIED_START), 1234);
	attr_add_str(&b, STR("list"), STR("[1,2]"));
	attr_add_str(&b, STR("of the library"), STR("x"));
	attr_add_str(&b, STR(""), STR("{}"));
	attr_add_str(&b, STR(CARRIED_JSON), STR("list"));
	attr_add_str(&b, STR(CARRIED_JSON), STR(""));
	attr_add_str(&b, STR(CARRIED_LIBRARY), STR("of the library"));
	attr_add_str(&b, STR("culprit.other"), STR("stays"));
	s.attrs = buf_str(&b);
	carried_restore_span(&s, &arena);
	assert_str_equal(s.key, "trace seven");
	assert_int_equal(s.start, 1234);
	assert_true(attr_find(s.attrs, STR("list"), &a) && a.type == ATTR_JSON);
	assert_true(attr_find(s.attrs, STR(""), &a) && a.type == ATTR_JSON);
	assert_true(attr_find(s.attrs, STR("of the library"), &a) && a.scope == ATTR_LIBRARY);
	assert_true(attr_find(s.attrs, STR("culprit.other"), &a));
	assert_false(attr_find(s.attrs, STR(CARRIED_JSON), &a));
	buf_done(&b);
	arena_done(&arena);
}

static void a_name_that_no_mark_gives_keeps_its_type(void **state)
{
	struct event ev = { 0 };
	struct arena arena = { 0 };
	struct buf b = { 0 };

	(void)state;
	attr_add_str(&b, STR(""), STR("text"));
	attr_add_str(&b, STR("text"), STR("[1]"));
	attr_add_str(&b, STR("list"), STR("[1]"));
	attr_add_str(&b, STR(CARRIED_JSON), STR("list"));
	attr_add_int(&b, STR(CARRIED_JSON), 7);
	ev.attrs = buf_str(&b);
	carried_restore_event(&ev, &arena);
	assert_int_equal(count_of(ev.attrs, ATTR_JSON, ATTR_SPAN), 1);
	assert_int_equal(count_of(ev.attrs, ATTR_STRING, ATTR_SPAN), 2);
	buf_done(&b);
	arena_done(&arena);
}

/* A square of this many would take minutes. */
static void a_hundred_thousand_attributes_are_restored_at_once(void **state)
{
	enum { NR = 100000 };
	struct span s = { .end = 1 };
	struct arena arena = { 0 };
	struct buf b = { 0 };
	char name[32];

	(void)state;
	for (int i = 0; i < NR; i++) {
		struct str key = { name, (size_t)snprintf(name, sizeof(name), "key %d", i) };

		attr_add_str(&b, key, STR("[]"));
		attr_add_str(&b, i % 2 ? STR(CARRIED_JSON) : STR(CARRIED_LIBRARY), key);
	}
	s.attrs = buf_str(&b);
	carried_restore_span(&s, &arena);
	assert_int_equal(count_of(s.attrs, ATTR_JSON, ATTR_SPAN), NR / 2);
	assert_int_equal(count_of(s.attrs, ATTR_STRING, ATTR_LIBRARY), NR / 2);
	buf_done(&b);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_carried_is_put_back_and_taken_off),
		cmocka_unit_test(a_name_that_no_mark_gives_keeps_its_type),
		cmocka_unit_test(a_hundred_thousand_attributes_are_restored_at_once),
	};

	return RUN(tests);
}
