#include "unit.h"

#include "base/buf.h"
#include "collected.h"
#include "source/formats.h"

#define FIRST \
	"{\"id\":\"e1\",\"request\":\"r1\",\"time\":5,\"node\":\"h1\",\"process\":\"NameNode\"," \
	"\"thread\":" \
	"\"main\",\"point\":\"JobImpl\",\"attrs\":{\"n\":3,\"s\":\"x\"},\"after\":[]}\n"

static void a_line_is_an_event_with_what_came_before(void **state)
{
	struct collected c =
		collect(&source_dag, STR(FIRST "{\"id\":2,\"time\":\"7\",\"after\":[\"e1\",1]}\n"));
	struct event *e = c.events.v;
	struct str id;

	(void)state;
	assert_int_equal(c.events.nr, 2);
	assert_true(e[0].kind == EVENT_POINT && e[0].ns == 5 && e[0].key_kind == KEY_REQUEST);
	assert_str_equal(e[0].id, "e1");
	assert_str_equal(e[0].key, "r1");
	assert_str_equal(e[0].node, "h1");
	assert_str_equal(e[0].peer, "NameNode");
	assert_str_equal(e[0].thread, "main");
	assert_str_equal(e[0].point, "JobImpl");
	assert_str_equal(e[0].title, "JobImpl");
	assert_int_equal(collected_attr(e[0].attrs, "n").i, 3);
	assert_int_equal(e[0].after.n, 0);
	assert_int_equal(e[1].line, 2);
	assert_int_equal(e[1].offset, sizeof(FIRST) - 1);
	assert_int_equal(e[1].key_kind, KEY_NONE);
	assert_str_equal(e[1].id, "2");
	assert_true(str_take_bytes(&e[1].after, &id));
	assert_str_equal(id, "e1");
	assert_true(str_take_bytes(&e[1].after, &id));
	assert_str_equal(id, "1");
	collected_done(&c);
}

static void broken_events_are_counted(void **state)
{
	struct collected c = collect(
		&source_dag, STR(FIRST "{\"id\":\"e2\"}\n{\"time\":5}\n[]\n{\"id\":\n" FIRST));

	(void)state;
	assert_int_equal(c.events.nr, 2);
	assert_int_equal(c.losses.count[LOSS_EVENTS_BROKEN], 3);
	assert_int_equal(c.losses.count[LOSS_JSON_BROKEN], 1);
	collected_done(&c);
}

static void a_real_execution_is_read_whole(void **state)
{
	struct collected c;

	(void)state;
	if (!collect_data(&c, &source_dag, "happened-before/hadoop-small.events.jsonl.gz"))
		skip();
	assert_true(c.events.nr > 100);
	assert_str_equal(c.events.v[1].point, "YarnChild");
	for (size_t i = 0; i < c.events.nr; i++)
		assert_int_equal(c.events.v[i].line, i + 1);
	for (size_t i = 0; i < LOSS_NR; i++)
		assert_int_equal(c.losses.count[i], 0);
	collected_done(&c);
}

static void times_too_large_are_brought_down_and_counted(void **state)
{
	struct collected c = collect(
		&source_dag,
		STR(FIRST
		    "{\"id\":\"2\",\"time\":1384989800278000000000,\"after\":[],"
		    "\"attrs\":{\"s\":\"99999999999999999999999\",\"n\":18446744073709551616}}\n"));

	(void)state;
	assert_int_equal(c.events.nr, 2);
	assert_in_range(c.events.v[1].ns, 1384989800277999000, 1384989800278001000);
	assert_str_equal(collected_attr(c.events.v[1].attrs, "s").text, "99999999999999999999999");
	assert_true(collected_attr(c.events.v[1].attrs, "n").d == 18446744073709551616.0);
	assert_int_equal(c.losses.count[LOSS_TIME_RANGE], 1);
	collected_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_an_event_with_what_came_before),
		cmocka_unit_test(broken_events_are_counted),
		cmocka_unit_test(times_too_large_are_brought_down_and_counted),
		cmocka_unit_test(a_real_execution_is_read_whole),
	};

	return RUN(tests);
}
