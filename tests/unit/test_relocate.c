#include "unit.h"

#include "capture/probe/relocate.h"

#define AT 0x400000u
#define TO 0x300000u

static struct relocator how;
static struct relocated r;
static uint32_t asked = RELOCATE_ARGUMENTS | RELOCATE_FRONT;

/* The bytes as text, padded with what stands between functions. */
static enum probe_why moved(const char *bytes, size_t size)
{
	uint8_t room[256];

	memset(room, 0xcc, sizeof(room));
	memcpy(room, bytes, size);
	return relocate(&how, room, size, size + 16, AT, TO, asked, &r);
}
#define MOVED(s) moved(s, sizeof(s) - 1)

static uint64_t jump_target(size_t at, size_t opcode)
{
	int32_t d;

	memcpy(&d, r.code + at + opcode, 4);
	return TO + at + opcode + 4 + (uint64_t)(int64_t)d;
}

static void plain_instructions_are_copied(void **state)
{
	(void)state;
	/* shl %rdi; mov %rsp, %rbp; sub $16, %rsp; ret */
	assert_int_equal(MOVED("\x48\xd1\xe7\x48\x89\xe5\x48\x83\xec\x10\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 0);
	assert_int_equal(r.nr_old, 6);
	assert_memory_equal(r.code, "\x48\xd1\xe7\x48\x89\xe5", 6);
	assert_int_equal(r.code[6], 0xe9);
	assert_int_equal(jump_target(6, 1), AT + 6);
}

static void the_first_instruction_stays_for_others_to_patch(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp, %rbp; sub $16, %rsp; ret: the push is undone, and done again */
	assert_int_equal(MOVED("\x55\x48\x89\xe5\x48\x83\xec\x10\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 1);
	assert_int_equal(r.pushed, 8);
	assert_int_equal(r.nr_old, 7);
	assert_memory_equal(r.code, "\x55\x48\x89\xe5\x48\x83\xec\x10", 8);
	assert_int_equal(jump_target(8, 1), AT + 8);
	/* sub $0x100, %rsp; mov %rdi, %rbx; mov %rsi, %rax; ret */
	assert_int_equal(MOVED("\x48\x81\xec\x00\x01\x00\x00\x48\x89\xfb\x48\x89\xf0\xc3"),
			 WHY_NONE);
	assert_int_equal(r.skip, 7);
	assert_int_equal(r.pushed, 0x100);
	/* test %edi, %edi sets flags, which we change; mov %rdi, %rax sets none */
	assert_int_equal(MOVED("\x85\xff\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 2);
	assert_memory_equal(r.code, "\x85\xff\x48\x89\xfb", 5);
	assert_int_equal(MOVED("\x48\x89\xf8\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 3);
	assert_memory_equal(r.code, "\x48\x89\xfb\x48\x89\xf0", 6);
	/* mov (%rdi), %rdi would be another argument */
	assert_int_equal(MOVED("\x48\x8b\x3f\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 0);
	/* a breakpoint of somebody else */
	assert_int_equal(MOVED("\xcc\x48\x89\xe5\x48\x83\xec\x10\xc3"), WHY_OTHERS);
}

/* Of a function whose arguments nobody reads. */
static void any_first_instruction_stays_that_has_nothing_to_do_with_the_stack(void **state)
{
	(void)state;
	asked = 0;
	/* mov %rsi, %rdi; mov %rdi, %rbx; mov %rsi, %rax; ret */
	assert_int_equal(MOVED("\x48\x89\xf7\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 3);
	assert_int_equal(r.nr_old, 6);
	/* … unless that argument is read */
	asked = 1;
	assert_int_equal(MOVED("\x48\x89\xf7\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_FIRST);
	asked = 2;
	assert_int_equal(MOVED("\x48\x89\xf7\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_true(relocate_keeps(&how, (const uint8_t *)"\x48\x89\xf7", 3, 2));
	assert_false(relocate_keeps(&how, (const uint8_t *)"\x48\x89\xf7", 3, 1));
	asked = 0;
	/* mov %edi, (%rsi) and movsd (%rdi), %xmm0; the stack is not written to */
	assert_int_equal(MOVED("\x89\x3e\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 2);
	assert_int_equal(MOVED("\xf2\x0f\x10\x07\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 4);
	assert_int_equal(MOVED("\x48\x89\x5c\x24\xf8\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_FIRST);
	/* … but read: fldt 8(%rsp); lea 8(%rsp), %r10 */
	assert_int_equal(MOVED("\xdb\x6c\x24\x08\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 4);
	assert_int_equal(MOVED("\x4c\x8d\x54\x24\x08\x48\x89\xfb\x48\x89\xf0\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 5);
	/* add %rdi, %rsi: jc reads its carry; test sets it anew */
	assert_int_equal(MOVED("\x48\x01\xfe\x72\x06\x48\x8d\x46\x01\xc3\x90\x31\xc0\xc3"),
			 WHY_FIRST);
	assert_int_equal(MOVED("\x48\x01\xfe\x48\x89\xf0\x85\xc0\x74\x01\x90\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 3);
	/* inc sets all but the carry, which adc reads */
	assert_int_equal(MOVED("\x48\x01\xfe\x48\xff\xc0\x11\xc0\x85\xc0\x90\x90\xc3"), WHY_FIRST);
	/* a jump cannot stay */
	assert_int_equal(MOVED("\xe9\x00\x10\x00\x00\x90\x90\x90"), WHY_FIRST);
	asked = RELOCATE_ARGUMENTS | RELOCATE_FRONT;
	assert_int_equal(MOVED("\xe9\x00\x10\x00\x00\x90\x90\x90"), WHY_NONE);
	assert_int_equal(r.skip, 0);
}

static void a_place_in_a_function_may_be_branched_to(void **state)
{
	const uint8_t f[] = "\x55\x90\x48\x89\xe5\x48\x89\xf0\x75\xf7\xc3\xcc\xcc\xcc\xcc\xcc";

	(void)state;
	/* the nop at 1; jne to it */
	assert_int_equal(relocate_at(&how, f, 11, 16, AT, 1, TO, &r), WHY_NONE);
	assert_int_equal(r.skip, 1);
	assert_int_equal(r.nr_old, 7);
	/* at the push in front of it: into the middle */
	assert_int_equal(relocate_at(&how, f, 11, 16, AT, 0, TO, &r), WHY_BRANCH);
	assert_int_equal(relocate_at(&how, f, 11, 16, AT, 11, TO, &r), WHY_OUTSIDE);
}

static void endbr_stays_in_front(void **state)
{
	(void)state;
	assert_int_equal(MOVED("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x90\x90\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 4);
	assert_int_equal(r.nr_old, 5);
	assert_int_equal(jump_target(5, 1), AT + 9);
}

static void memory_beside_the_code_is_still_found(void **state)
{
	(void)state;
	/* mov 0x100(%rip), %rdi; ret */
	assert_int_equal(MOVED("\x48\x8b\x3d\x00\x01\x00\x00\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 0);
	assert_int_equal(jump_target(0, 3), AT + 7 + 0x100);
	/* nop; movdqa 0x100(%rip), %xmm0 */
	assert_int_equal(MOVED("\x90\x66\x0f\x6f\x05\x00\x01\x00\x00\xc3"), WHY_NONE);
	assert_int_equal(r.skip, 1);
	assert_int_equal(jump_target(0, 4), AT + 9 + 0x100);
	/* cmpl $5, 0x100(%rip): a number stands behind the distance */
	assert_int_equal(MOVED("\x83\x3d\x00\x01\x00\x00\x05\xc3"), WHY_NONE);
	assert_int_equal(jump_target(0, 2) + 1, AT + 7 + 0x100);
	/* lea 0x100(%rip), %rdi; ret */
	assert_int_equal(MOVED("\x48\x8d\x3d\x00\x01\x00\x00\xc3"), WHY_NONE);
	assert_int_equal(jump_target(0, 3), AT + 7 + 0x100);
}

static void branches_go_where_they_went(void **state)
{
	(void)state;
	/* test %edi, %edi; je +0x20; nop; nop; … */
	assert_int_equal(MOVED("\x85\xff\x74\x20\x90\x90\x90\xc3"), WHY_NONE);
	assert_int_equal(r.code[2], 0x0f);
	assert_int_equal(r.code[3], 0x84);
	assert_int_equal(jump_target(2, 2), AT + 4 + 0x20);
	/* jmp +0x1000: all that there is */
	assert_int_equal(MOVED("\xe9\x00\x10\x00\x00"), WHY_NONE);
	assert_int_equal(jump_target(0, 1), AT + 5 + 0x1000);
}

static void a_call_returns_to_the_function_itself(void **state)
{
	uint32_t low;

	(void)state;
	/* call +0x1000; ret */
	assert_int_equal(MOVED("\xe8\x00\x10\x00\x00\xc3"), WHY_NONE);
	memcpy(&low, r.code + 8, 4);
	assert_int_equal(low, AT + 5);
	assert_int_equal(r.code[20], 0xe9);
	assert_int_equal(jump_target(20, 1), AT + 5 + 0x1000);
	/* call *%rax; nop … */
	assert_int_equal(MOVED("\xff\xd0\x90\x90\x90\x90\xc3"), WHY_CALL);
}

static void what_cannot_be_moved_is_refused(void **state)
{
	(void)state;
	/* xor %eax, %eax; ret, and the next function at once */
	assert_int_equal(
		relocate(&how, (const uint8_t *)"\x31\xc0\xc3\x55\x48\x89\xe5\x5d\xc3\x90\x90\x90",
			 3, 12, AT, TO, asked, &r),
		WHY_SHORT);
	/* the same with room behind it */
	assert_int_equal(MOVED("\x31\xc0\xc3"), WHY_NONE);
	/* jrcxz */
	assert_int_equal(MOVED("\xe3\x10\x90\x90\x90\x90\xc3"), WHY_LOOPING);
	/* dec %edi; nop; nop; nop; jne -5: into what was moved */
	assert_int_equal(MOVED("\xff\xcf\x90\x90\x90\x75\xfb\xc3"), WHY_BRANCH);
	/* dec %edi; nop; nop; nop; jne -7: the whole function is a loop */
	assert_int_equal(MOVED("\xff\xcf\x90\x90\x90\x75\xf9\xc3"), WHY_LOOP);
	/* nothing that is known */
	assert_int_equal(MOVED("\x06\x06\x06\x06\x06\x06"), WHY_UNKNOWN);
	assert_int_equal(relocate(&how, (const uint8_t *)"", 0, 0, AT, TO, asked, &r), WHY_SHORT);
}

static void too_far_is_refused(void **state)
{
	uint8_t room[32] = { 0x48, 0x8b, 0x05, 0, 1, 0, 0, 0xc3 };

	(void)state;
	assert_int_equal(relocate(&how, room, 8, 24, AT, (uint64_t)1 << 40, asked, &r), WHY_FAR);
}

static void every_reason_has_words(void **state)
{
	(void)state;
	for (int i = WHY_NONE + 1; i < NR_WHYS; i++)
		assert_true(strlen(probe_why_text(i)) > 3);
	assert_null(probe_why_text(WHY_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_instructions_are_copied),
		cmocka_unit_test(endbr_stays_in_front),
		cmocka_unit_test(the_first_instruction_stays_for_others_to_patch),
		cmocka_unit_test(any_first_instruction_stays_that_has_nothing_to_do_with_the_stack),
		cmocka_unit_test(a_place_in_a_function_may_be_branched_to),
		cmocka_unit_test(memory_beside_the_code_is_still_found),
		cmocka_unit_test(branches_go_where_they_went),
		cmocka_unit_test(a_call_returns_to_the_function_itself),
		cmocka_unit_test(what_cannot_be_moved_is_refused),
		cmocka_unit_test(too_far_is_refused),
		cmocka_unit_test(every_reason_has_words),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	relocator_done(&how);
	return failed;
}
