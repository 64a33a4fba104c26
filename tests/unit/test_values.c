/* Flow and values of methods that are written byte by byte. */
#include "class_writer.h"

#include <time.h>

#include "base/error.h"
#include "program/dominance.h"
#include "program/insn.h"
#include "program/values.h"

/* One method m of the class T. */
struct made {
	struct arena arena;
	struct buf bytes;
	struct class class;
	struct values values;
	bool is_good;
};

static void make(struct made *m, struct class_writer *w, const char *type, unsigned stack,
		 unsigned locals, struct str code, struct str guards)
{
	struct error err = { 0 };

	*m = (struct made){ 0 };
	writer_method(w, "m", type, stack, locals, code, guards);
	writer_done(w, 49, &m->bytes);
	assert_int_equal(class_read(&m->class, buf_str(&m->bytes), &m->arena, &err), 0);
	assert_int_equal(m->class.nr_methods, 1);
	m->is_good = m->class.methods[0].code &&
		     values_init(&m->values, &m->class, &m->class.methods[0], &m->arena);
}

static void make_plain(struct made *m, const char *type, unsigned stack, unsigned locals,
		       struct str code)
{
	struct class_writer w;

	writer_init(&w, "T", "java/lang/Object");
	make(m, &w, type, stack, locals, code, STR(""));
}

static void done(struct made *m)
{
	arena_done(&m->arena);
	buf_done(&m->bytes);
}

/* What the n-th return gives back. */
static const struct value *returned(const struct made *m, unsigned n)
{
	for (uint32_t i = 1; i < m->values.nr; i++)
		if (m->values.v[i].kind == VALUE_RETURN && !n--)
			return values_arg(&m->values, &m->values.v[i], 0);
	fail_msg("there is no such return");
	return NULL;
}

static void parameters_come_back_through_locals(void **state)
{
	struct made m;

	(void)state;
	/* static long m(int, long): lload_1 lstore_3 lload_3 lreturn */
	make_plain(&m, "(IJ)J", 2, 5, STR("\x1f\x42\x21\xad"));
	assert_true(m.is_good);
	assert_int_equal(returned(&m, 0)->kind, VALUE_PARAMETER);
	assert_int_equal(returned(&m, 0)->number, 1);
	done(&m);
}

static void what_two_ways_bring_is_a_phi_of_both(void **state)
{
	struct made m;
	const struct value *phi;

	(void)state;
	/* iload_0 ifeq 8; iconst_1 goto 9; 8: iconst_2; 9: ireturn */
	make_plain(&m, "(I)I", 2, 1, STR("\x1a\x99\x00\x07\x04\xa7\x00\x04\x05\xac"));
	assert_true(m.is_good);
	phi = returned(&m, 0);
	assert_int_equal(phi->kind, VALUE_PHI);
	assert_int_equal(phi->nr, 2);
	assert_int_equal(
		values_arg(&m.values, phi, 0)->number + values_arg(&m.values, phi, 1)->number, 3);
	done(&m);
}

static void a_loop_changes_its_local(void **state)
{
	struct made m;
	const struct value *phi;

	(void)state;
	/* 0: iinc 0 -1; 3: iload_0; 4: ifne 0; 7: iload_0 ireturn */
	make_plain(&m, "(I)I", 1, 1, STR("\x84\x00\xff\x1a\x9a\xff\xfc\x1a\xac"));
	assert_true(m.is_good);
	phi = returned(&m, 0);
	assert_int_equal(phi->kind, VALUE_MATH);
	assert_int_equal(values_arg(&m.values, phi, 0)->kind, VALUE_PHI);
	assert_true(flow_returns(&m.values.flow, 0, NO_BLOCK));
	done(&m);
}

static void dup_x1_and_swap_move_values_about(void **state)
{
	struct made m;
	const struct value *sum;

	(void)state;
	/* iload_0 iload_1 dup_x1 (b a b) isub (b a-b) swap isub ireturn: (a-b)-b */
	make_plain(&m, "(II)I", 3, 2, STR("\x1a\x1b\x5a\x64\x5f\x64\xac"));
	assert_true(m.is_good);
	sum = returned(&m, 0);
	assert_int_equal(sum->kind, VALUE_MATH);
	assert_int_equal(values_arg(&m.values, sum, 0)->kind, VALUE_MATH);
	assert_int_equal(values_arg(&m.values, sum, 1)->kind, VALUE_PARAMETER);
	assert_int_equal(values_arg(&m.values, sum, 1)->number, 1);
	done(&m);
}

static void an_exception_is_what_the_handler_finds(void **state)
{
	struct class_writer w;
	struct buf guard = { 0 };
	struct made m;
	const struct value *caught;

	(void)state;
	writer_init(&w, "T", "java/lang/Object");
	put_u2(&guard, 0);
	put_u2(&guard, 2);
	put_u2(&guard, 2);
	put_u2(&guard, writer_class(&w, "java/io/IOException"));
	/* 0: aload_0 1: areturn; 2: areturn (what was thrown) */
	make(&m, &w, "(Ljava/lang/Object;)Ljava/lang/Object;", 1, 1, STR("\x2a\xb0\xb0"),
	     buf_str(&guard));
	assert_true(m.is_good);
	caught = returned(&m, 1);
	assert_int_equal(caught->kind, VALUE_CAUGHT);
	assert_str_equal(class_named(&m.class, caught->constant), "java/io/IOException");
	assert_true(m.values.flow.blocks[flow_block(&m.values.flow, 2)].guard);
	done(&m);
	buf_done(&guard);
}

static void subroutines_of_old_compilers_come_back(void **state)
{
	struct made m;
	const struct flow *f;

	(void)state;
	/* 0: jsr 8; 3: jsr 8; 6: iload_0 ireturn; 8: astore_1; 9: iinc 0 1; 12: ret 1 */
	make_plain(&m, "(I)I", 1, 2,
		   STR("\xa8\x00\x08\xa8\x00\x05\x1a\xac\x4c\x84\x00\x01\xa9\x01"));
	assert_true(m.is_good);
	f = &m.values.flow;
	assert_int_equal(f->blocks[flow_block(f, 8)].nr_next, 2);
	assert_int_equal(f->blocks[flow_block(f, 6)].order == NO_BLOCK, 0);
	assert_int_not_equal(returned(&m, 0)->kind, VALUE_UNKNOWN);
	done(&m);
}

static void code_that_makes_no_sense_is_refused(void **state)
{
	static const struct str codes[] = {
		STR("\x57\xb1"),         /* pop from nothing */
		STR("\x60\xac"),         /* add nothing */
		STR("\xa7\x00\x01"),     /* jump into an instruction */
		STR("\xa7\x7f\xff"),     /* jump out of the code */
		STR("\xb2\x00"),         /* cut */
		STR("\xfe"),             /* unknown */
		STR("\xac"),             /* return of nothing */
		STR("\x5f\xb1"),         /* swap of nothing */
		STR("\xb6\x00\x01\xb1"), /* call of something that is no method */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct made m;

		make_plain(&m, "()V", 2, 1, codes[i]);
		/* refused, or at least nothing is made up */
		if (m.is_good)
			for (uint32_t k = 1; k < m.values.nr; k++)
				for (uint32_t n = 0; n < m.values.v[k].nr; n++)
					assert_true(m.values.args[m.values.v[k].first + n] <
						    m.values.nr);
		if (i >= 2 && i <= 5)
			assert_false(m.is_good);
		done(&m);
	}
}

/* Every return leads to every subroutine: the square of the length, if one follows it. */
static void made_up_subroutines_take_no_time(void **state)
{
	struct buf code = { 0 };
	struct made m;
	clock_t began = clock();

	(void)state;
	for (unsigned i = 0; i < 13000; i++) {
		put_u1(&code, OP_JSR);
		put_u2(&code, 3);
		put_u1(&code, OP_RET);
		put_u1(&code, 0);
	}
	put_u1(&code, OP_RETURN);
	make_plain(&m, "()V", 1, 1, buf_str(&code));
	assert_false(m.is_good);
	assert_true(clock() - began < 5 * CLOCKS_PER_SEC);
	done(&m);
	buf_done(&code);
}

static void a_wide_switch_has_all_its_targets(void **state)
{
	struct buf code = { 0 };
	struct made m;
	enum { NR = 3000 };

	(void)state;
	put_u1(&code, 0x1a); /* iload_0 */
	put_u1(&code, OP_TABLESWITCH);
	put_u2(&code, 0);
	put_u4(&code, 15 + 4 * NR + NR - 1);
	put_u4(&code, 0);
	put_u4(&code, NR - 1);
	for (unsigned i = 0; i < NR; i++)
		put_u4(&code, 15 + 4 * NR + i);
	for (unsigned i = 0; i < NR; i++)
		put_u1(&code, OP_RETURN);
	make_plain(&m, "(I)V", 1, 1, buf_str(&code));
	assert_true(m.is_good);
	assert_int_equal(m.values.flow.blocks[0].nr_next, NR);
	done(&m);
	buf_done(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_come_back_through_locals),
		cmocka_unit_test(what_two_ways_bring_is_a_phi_of_both),
		cmocka_unit_test(a_loop_changes_its_local),
		cmocka_unit_test(dup_x1_and_swap_move_values_about),
		cmocka_unit_test(an_exception_is_what_the_handler_finds),
		cmocka_unit_test(subroutines_of_old_compilers_come_back),
		cmocka_unit_test(code_that_makes_no_sense_is_refused),
		cmocka_unit_test(made_up_subroutines_take_no_time),
		cmocka_unit_test(a_wide_switch_has_all_its_targets),
	};

	return RUN(tests);
}
