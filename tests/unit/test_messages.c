#include "unit.h"

#include "base/time.h"
#include "collected.h"
#include "source/formats.h"

static void a_line_is_a_message(void **state)
{
	struct collected c =
		collect(&source_messages, STR("# a comment\n"
					      "1700000000.000000001 CALL_SENT CL0 WS1 7\n"
					      "\n"
					      "1700000000.5 RET_SENT WS1 CL0 7\r\n"
					      "  1700000001\tSENT  A   B -\n"
					      "1700000002.25 SENT A B"));
	struct event *e = c.events.v;

	(void)state;
	assert_int_equal(c.events.nr, 4);
	assert_true(e[0].ns == 1700000000000000001 && e[1].ns == 1700000000500000000);
	assert_true(e[0].kind == EVENT_MESSAGE && e[0].op == MESSAGE_CALL);
	assert_true(e[1].op == MESSAGE_RETURN && e[2].op == MESSAGE_SENT);
	assert_str_equal(e[0].node, "CL0");
	assert_str_equal(e[0].peer, "WS1");
	assert_true(e[0].key_kind == KEY_CALL && e[2].key_kind == KEY_NONE);
	assert_str_equal(e[1].key, "7");
	assert_str_equal(e[1].id, "7");
	assert_int_equal(e[0].line, 2);
	assert_int_equal(e[0].offset, 12);
	assert_int_equal(e[0].length, 40);
	assert_int_equal(e[1].line, 4);
	assert_int_equal(e[1].length, 31);
	collected_done(&c);
}

static void whole_numbers_are_told_by_magnitude(void **state)
{
	struct collected c = collect(&source_messages, STR("1700000000 SENT A B 1\n"
							   "1700000000123 SENT A B 2\n"
							   "1700000000123456 SENT A B 3\n"
							   "1700000000123456789 SENT A B 4\n"
							   "0.000001 SENT A B 5\n"));

	(void)state;
	assert_int_equal(c.events.v[0].ns, 1700000000 * NS_S);
	assert_int_equal(c.events.v[1].ns, 1700000000123 * NS_MS);
	assert_int_equal(c.events.v[2].ns, 1700000000123456 * NS_US);
	assert_int_equal(c.events.v[3].ns, 1700000000123456789);
	assert_int_equal(c.events.v[4].ns, 1000);
	collected_done(&c);
}

static void broken_lines_are_counted(void **state)
{
	struct collected c = collect(&source_messages, STR("1.0 SENT A B 1\n"
							   "x SENT A B 1\n"
							   "1.0 CALLED A B 1\n"
							   "1.0 SENT A\n"
							   "99999999999999999999.0 SENT A B 1\n"
							   "1.x SENT A B 1\n"
							   "17000000000001123 SENT A B 1\n"
							   "2.0 SENT A B 1\n"));

	(void)state;
	assert_int_equal(c.events.nr, 2);
	assert_int_equal(c.losses.count[LOSS_LINES_BROKEN], 6);
	collected_done(&c);
}

static void only_messages_are_taken_for_messages(void **state)
{
	(void)state;
	assert_true(source_messages.sniff(STR("1.5 SENT A B -\n2.5 CALL_SENT A B x\n"), true) > 90);
	assert_true(source_messages.sniff(STR("# c\n1.5 SENT A B -\n2.5 CAL"), false) > 90);
	assert_int_equal(source_messages.sniff(STR("1.5 sent A B -\n"), true), 0);
	assert_int_equal(source_messages.sniff(STR("# nothing\n"), true), 0);
	assert_int_equal(source_messages.sniff(STR(""), true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_message),
		cmocka_unit_test(whole_numbers_are_told_by_magnitude),
		cmocka_unit_test(broken_lines_are_counted),
		cmocka_unit_test(only_messages_are_taken_for_messages),
	};

	return RUN(tests);
}
