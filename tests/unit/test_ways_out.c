#include "unit.h"

#include "capture/probe/ways_out.h"

#define AT 0x400000u

static uint32_t out[WAYS_OUT_MAX];

static size_t found(const char *bytes, size_t size)
{
	memset(out, 0, sizeof(out));
	return ways_out((const uint8_t *)bytes, size, AT, out);
}
#define FOUND(s) found(s, sizeof(s) - 1)

static void each_return_is_a_way_out(void **state)
{
	(void)state;
	/* nop; 1: dec %rdi; jne 1b; ret */
	assert_int_equal(FOUND("\x90\x48\xff\xcf\x75\xfb\xc3"), 1);
	assert_int_equal(out[0], 6);
	/* test %edi,%edi; je 1f; ret; bytes that are none; 1: xor %eax,%eax; ret */
	assert_int_equal(FOUND("\x85\xff\x74\x03\xc3\x06\x0f\x31\xc0\xc3"), 2);
	assert_int_equal(out[0] + out[1], 4 + 9);
}

static void a_last_call_is_a_way_out(void **state)
{
	(void)state;
	/* nop; jmp elsewhere; and through a word that the linker fills */
	assert_int_equal(FOUND("\x90\xe9\x00\x10\x00\x00"), 1);
	assert_int_equal(out[0], 1);
	assert_int_equal(FOUND("\x90\xff\x25\x00\x10\x00\x00"), 1);
	assert_int_equal(out[0], 1);
	/* a call comes back: call; ret */
	assert_int_equal(FOUND("\xe8\x00\x10\x00\x00\xc3"), 1);
	assert_int_equal(out[0], 5);
}

static void nothing_is_said_where_it_is_not_sure(void **state)
{
	(void)state;
	/* jmp *%rax: a switch, or the last act */
	assert_int_equal(FOUND("\x90\xff\xe0"), 0);
	/* dec %rdi; jne the beginning; ret */
	assert_int_equal(FOUND("\x48\xff\xcf\x75\xfb\xc3"), 0);
	/* a conditional jump to another function */
	assert_int_equal(FOUND("\x85\xff\x0f\x84\x00\x10\x00\x00\xc3"), 0);
	/* nothing but a return: entry and end are one place */
	assert_int_equal(FOUND("\xc3"), 0);
	/* into the middle of an instruction */
	assert_int_equal(FOUND("\xb8\xc3\x00\x00\x00\xeb\xfa"), 0);
	/* no instruction */
	assert_int_equal(FOUND("\x90\x06"), 0);
	assert_int_equal(found("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_return_is_a_way_out),
		cmocka_unit_test(a_last_call_is_a_way_out),
		cmocka_unit_test(nothing_is_said_where_it_is_not_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
