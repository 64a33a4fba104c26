#include "unit.h"

#include "program/insn.h"

static struct insn read_at(struct str code, uint32_t pc)
{
	struct insn i;

	assert_true(insn_read(code, pc, &i));
	return i;
}

static void operands_are_signed_where_numbers_are(void **state)
{
	struct insn i = read_at(STR("\x10\xff"), 0); /* bipush -1 */

	(void)state;
	assert_int_equal(i.number, -1);
	assert_int_equal(i.next, 2);
	assert_int_equal(read_at(STR("\x11\x80\x00"), 0).number, -32768); /* sipush */
	assert_int_equal(read_at(STR("\x12\xff"), 0).operand, 255);       /* ldc */
	i = read_at(STR("\x84\x02\xfe"), 0);                              /* iinc 2 -2 */
	assert_int_equal(i.operand, 2);
	assert_int_equal(i.number, -2);
}

static void wide_makes_operands_wide(void **state)
{
	struct insn i = read_at(STR("\xc4\x15\x01\x02"), 0); /* wide iload 258 */

	(void)state;
	assert_int_equal(i.op, OP_ILOAD);
	assert_int_equal(i.operand, 258);
	assert_int_equal(i.next, 4);
	i = read_at(STR("\xc4\x84\x01\x00\xff\x00"), 0); /* wide iinc 256 -256 */
	assert_int_equal(i.operand, 256);
	assert_int_equal(i.number, -256);
	assert_int_equal(i.next, 6);
	assert_false(insn_read(STR("\xc4\x57\x00\x00"), 0, &i)); /* wide pop */
	assert_false(insn_read(STR("\xc4\xc4\x15\x00\x00"), 0, &i));
}

static void branches_stay_in_the_code(void **state)
{
	struct insn i = read_at(STR("\0\0\0\xa7\xff\xfd"), 3); /* goto 0 */

	(void)state;
	assert_int_equal(i.operand, 0);
	assert_false(insn_read(STR("\xa7\xff\xff"), 0, &i));
	assert_false(insn_read(STR("\xa7\x00\x03"), 0, &i)); /* just behind the end */
	assert_true(insn_read(STR("\xa7\x00\x03\xb1"), 0, &i));
	assert_true(insn_read(STR("\xc8\x00\x00\x00\x05\xb1"), 0, &i)); /* goto_w */
	assert_int_equal(i.operand, 5);
	assert_false(insn_read(STR("\xc8\x7f\xff\xff\xff\xb1"), 0, &i));
}

static void switches_are_padded_to_four(void **state)
{
	/* at pc 1: two bytes of padding, default 16, 5..6: 17 and 18 */
	struct str code = STR("\0\xaa\0\0\0\0\0\x17\0\0\0\x05\0\0\0\x06\0\0\0\x17\0\0\0\x18\0\0");
	struct insn i = read_at(code, 1);
	uint32_t pc;

	(void)state;
	assert_int_equal(i.operand, 24);
	assert_int_equal(i.nr_targets, 2);
	assert_true(insn_target(code, &i, 0, &pc));
	assert_int_equal(pc, 24);
	assert_true(insn_target(code, &i, 1, &pc));
	assert_int_equal(pc, 25);
	assert_false(insn_target(code, &i, 2, &pc));
	assert_int_equal(i.next, 24);
}

static void lookups_skip_their_keys(void **state)
{
	struct str code = STR("\xab\0\0\0\0\0\0\x14\0\0\0\x01\xff\xff\xff\xff\0\0\0\x14\xb1");
	struct insn i = read_at(code, 0);
	uint32_t pc;

	(void)state;
	assert_int_equal(i.nr_targets, 1);
	assert_true(i.has_keys);
	assert_true(insn_target(code, &i, 0, &pc));
	assert_int_equal(pc, 20);
}

static void a_switch_larger_than_its_code_is_damaged(void **state)
{
	struct insn i;

	(void)state;
	/* 0..0x7fffffff */
	assert_false(insn_read(STR("\xaa\0\0\0\0\0\0\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0"), 0, &i));
	/* high below low */
	assert_false(insn_read(STR("\xaa\0\0\0\0\0\0\0\0\0\0\x05\0\0\0\x04\0\0\0\0"), 0, &i));
	/* more keys than bytes */
	assert_false(insn_read(STR("\xab\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0"), 0, &i));
}

static void whatever_is_cut_is_not_read(void **state)
{
	/* each instruction as long as it has to be, and every way to cut it */
	static const struct str whole[] = {
		STR("\x10\x01"),         STR("\x11\x00\x01"),         STR("\x19\x01"),
		STR("\x84\x01\x01"),     STR("\xb6\x00\x01"),         STR("\xb9\x00\x01\x01\x00"),
		STR("\xba\x00\x01\0\0"), STR("\xc5\x00\x01\x02"),     STR("\xbc\x04"),
		STR("\xc4\x15\x00\x01"), STR("\xc4\x84\x00\x01\0\1"), STR("\xbb\x00\x01"),
	};
	struct insn i;

	(void)state;
	for (size_t k = 0; k < sizeof(whole) / sizeof(*whole); k++) {
		assert_true(insn_read(whole[k], 0, &i));
		assert_int_equal(i.next, whole[k].n);
		for (size_t n = 0; n < whole[k].n; n++)
			assert_false(insn_read(str_head(whole[k], n), 0, &i));
	}
	assert_false(
		insn_read(STR("\xca"), 0, &i)); /* breakpoint and beyond: no class file has it */
	assert_false(insn_read(STR("\xff"), 0, &i));
	assert_false(insn_read(STR("\xb1"), 1, &i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_are_signed_where_numbers_are),
		cmocka_unit_test(wide_makes_operands_wide),
		cmocka_unit_test(branches_stay_in_the_code),
		cmocka_unit_test(switches_are_padded_to_four),
		cmocka_unit_test(lookups_skip_their_keys),
		cmocka_unit_test(a_switch_larger_than_its_code_is_damaged),
		cmocka_unit_test(whatever_is_cut_is_not_read),
	};

	return RUN(tests);
}
