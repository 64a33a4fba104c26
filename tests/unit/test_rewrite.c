/* What is put into methods, where it stands; tests/rewrite has a JVM verify it. */
#include "program/rewrite/rewrite.h"

#include "base/arena.h"
#include "base/error.h"
#include "class_writer.h"
#include "program/class.h"
#include "program/insn.h"

struct made {
	struct buf bytes, out;
	struct arena arena;
	struct class class, again;
	struct rewrite r;
};

/* The constant that names what is called. */
enum { CALLED = 10 };

static void make(struct made *m, struct str code)
{
	struct error err = { 0 };
	struct class_writer w;

	*m = (struct made){ 0 };
	writer_init(&w, "a/B", "java/lang/Object");
	assert_int_equal(writer_member(&w, 10, "a/C", "g", "()V"), CALLED);
	writer_method(&w, "f", "()V", 1, 1, code, STR(""));
	writer_done(&w, 49, &m->bytes);
	assert_int_equal(class_read(&m->class, buf_str(&m->bytes), &m->arena, &err), 0);
	m->r.class = &m->class;
}

static void put(struct made *m, struct rewrite_put *puts, size_t nr)
{
	struct error err = { 0 };

	assert_true(rewrite_write(&m->r, puts, nr, &m->out, &err) >= 0);
	assert_int_equal(class_read(&m->again, buf_str(&m->out), &m->arena, &err), 0);
}

static void done(struct made *m)
{
	rewrite_done(&m->r);
	arena_done(&m->arena);
	buf_done(&m->bytes);
	buf_done(&m->out);
}

static void assert_bytes(const struct made *m, struct str want)
{
	struct str got = m->again.methods[0].code->bytes;

	assert_int_equal(got.n, want.n);
	assert_memory_equal(got.p, want.p, want.n);
}

static void calls_have_puts_around_them(void **state)
{
	/* goto 6; invokestatic; return: the jump passes by what is put behind the call */
	static const char code[] = "\xa7\x00\x06\xb8\x00\x0a\xb1";
	static const char want[] = "\xa7\x00\x0a\x00\x00\xb8\x00\x0a\x01\x57\xb1";
	struct rewrite_call call = { STR(""), STR("g"), STR("()V"), true };
	struct rewrite_put puts[] = {
		{ .where = REWRITE_BEFORE_CALL, .call = call, .code = STR("\0\0"), .locals = 7 },
		{ .where = REWRITE_AFTER_CALL, .call = call, .code = STR("\x01\x57"), .stack = 1 },
		{ .where = REWRITE_BEFORE_CALL, .code = STR("\xca"), .call = { .name = STR("g") } },
		{ .where = REWRITE_AFTER_CALL,
		  .code = STR("\xca"),
		  .call = { .owner = STR("a/D"), .is_static = true } },
	};
	struct made m;

	(void)state;
	make(&m, (struct str){ code, sizeof(code) - 1 });
	put(&m, puts, 4);
	assert_bytes(&m, (struct str){ want, sizeof(want) - 1 });
	assert_int_equal(m.again.methods[0].code->max_locals, 8);
	assert_int_equal(m.again.methods[0].code->max_stack, 2);
	done(&m);
}

/* A jump of this kind over so many bytes, of which the last are a call, and back over all. */
static void make_far(struct made *m, uint8_t op, unsigned bytes)
{
	struct buf code = { 0 };

	put_u1(&code, op);
	put_u2(&code, 3 + bytes);
	for (unsigned i = 0; i < bytes - 3; i++)
		put_u1(&code, 0);
	put_u1(&code, OP_INVOKESTATIC);
	put_u2(&code, CALLED);
	put_u1(&code, OP_GOTO);
	put_u2(&code, (unsigned)-(3 + (int)bytes));
	make(m, buf_str(&code));
	buf_done(&code);
}

/* The instruction at the beginning, and the one at the end, after so many bytes before the call. */
static const char *far_with(struct made *m, struct str more, struct insn *first, struct insn *last)
{
	struct rewrite_put before = { .where = REWRITE_BEFORE_CALL,
				      .call = { .is_static = true },
				      .code = more };
	struct str code;

	put(m, &before, 1);
	code = m->again.methods[0].code->bytes;
	assert_true(insn_read(code, 0, first));
	for (uint32_t pc = 0; pc < code.n; pc = last->next)
		assert_true(insn_read(code, pc, last));
	return before.refused;
}

static void jumps_become_long(void **state)
{
	struct insn first, last;
	struct made m;

	(void)state;
	/* to 32767, the last that two bytes can say */
	make_far(&m, OP_GOTO, 32763);
	assert_null(far_with(&m, STR("\0"), &first, &last));
	assert_int_equal(first.op, OP_GOTO);
	assert_int_equal(last.op, OP_GOTO);
	done(&m);
	/* one more: the jump back would still have fit, but not over the longer one */
	make_far(&m, OP_GOTO, 32763);
	assert_null(far_with(&m, STR("\0\0"), &first, &last));
	assert_int_equal(first.op, OP_GOTO_W);
	assert_int_equal(first.operand, last.pc);
	assert_int_equal(last.op, OP_GOTO_W);
	assert_int_equal(last.operand, 0);
	done(&m);
	/* the others have no long kind */
	make_far(&m, OP_IFEQ, 32763);
	assert_string_equal(far_with(&m, STR("\0\0"), &first, &last), "a branch would be too long");
	assert_int_equal(m.again.methods[0].code->bytes.n, 3 + 32763 + 3);
	done(&m);
}

static void methods_end_at_64_kib(void **state)
{
	static const char bytes[32768];
	struct made m;

	(void)state;
	for (unsigned nr = 65535; nr < 65537; nr++) {
		struct rewrite_put puts[] = {
			{ .where = REWRITE_ENTRY, .code = { bytes, 32768 } },
			{ .where = REWRITE_EXIT, .code = { bytes, nr - 32768 - 1 } },
		};

		make(&m, STR("\xb1"));
		put(&m, puts, 2);
		if (nr == 65535) {
			assert_null(puts[0].refused);
			assert_int_equal(m.again.methods[0].code->bytes.n, 65535);
		} else {
			assert_string_equal(puts[0].refused,
					    "it would be larger than a method may be");
			assert_string_equal(puts[1].refused, puts[0].refused);
			assert_bytes(&m, STR("\xb1"));
		}
		done(&m);
	}
}

static void numbers_are_pushed(void **state)
{
	static const struct {
		int32_t number;
		struct str code;
	} cases[] = {
		{ -1, { "\x02", 1 } },          { 5, { "\x08", 1 } },
		{ 6, { "\x10\x06", 2 } },       { -128, { "\x10\x80", 2 } },
		{ 128, { "\x11\x00\x80", 3 } }, { -32768, { "\x11\x80\x00", 3 } },
	};
	struct made m;
	struct buf code = { 0 };

	(void)state;
	make(&m, STR("\xb1"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_clear(&code);
		assert_true(rewrite_push(&m.r, &code, cases[i].number));
		assert_int_equal(code.n, cases[i].code.n);
		assert_memory_equal(code.p, cases[i].code.p, code.n);
	}
	assert_int_equal(m.r.nr, 0);
	buf_clear(&code);
	assert_true(rewrite_push(&m.r, &code, 32768));
	assert_true(rewrite_push(&m.r, &code, 32768));
	assert_int_equal(m.r.nr, 1); /* one constant for both */
	assert_int_equal((uint8_t)code.p[0], OP_LDC_W);
	buf_done(&code);
	done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_puts_around_them),
		cmocka_unit_test(jumps_become_long),
		cmocka_unit_test(methods_end_at_64_kib),
		cmocka_unit_test(numbers_are_pushed),
	};

	return RUN(tests);
}
