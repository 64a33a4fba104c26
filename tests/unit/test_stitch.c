/* The instructions of woven places, byte by byte; a JVM verifies and runs them in tests/rewrite. */
#include "agent/jvm/stitch.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "class_writer.h"
#include "program/class.h"

/* A class with one static method, or one of an object, of this type and these instructions. */
struct made {
	struct buf bytes;
	struct arena arena;
	struct class class;
	struct rewrite r;
	struct stitch s;
};

static void make(struct made *m, bool is_static, const char *name, const char *type,
		 unsigned locals, struct str code)
{
	struct error err = { 0 };
	struct class_writer w;

	*m = (struct made){ 0 };
	writer_init(&w, "a/B", "java/lang/Object");
	writer_method(&w, name, type, 2, locals, code, STR(""));
	writer_done(&w, 49, &m->bytes);
	assert_int_equal(class_read(&m->class, buf_str(&m->bytes), &m->arena, &err), 0);
	if (!is_static)
		m->class.methods[0].access &= (uint16_t)~ACCESS_STATIC;
	m->r.class = &m->class;
}

static void done(struct made *m)
{
	stitch_done(&m->s);
	rewrite_done(&m->r);
	arena_done(&m->arena);
	buf_done(&m->bytes);
}

static bool at(struct made *m, enum rewrite_where where, const struct stitch_root *roots, size_t nr)
{
	struct stitch_place p = { .advice = STR("culprit/Advice"),
				  .r = &m->r,
				  .method = m->class.methods,
				  .where = where,
				  .number = 3 };

	return stitch_at(&m->s, &p, roots, nr);
}

#define AT(m, where, ...) \
	at((m), (where), (struct stitch_root[]){ __VA_ARGS__ }, \
	   sizeof((struct stitch_root[]){ __VA_ARGS__ }) / sizeof(struct stitch_root))

/* Constants are numbered as they come: those are not looked at. */
static void assert_code(const struct made *m, const char *hex)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < m->s.code.n; i++) {
		buf_fmt(&text, "%s%02x", i ? " " : "", (uint8_t)m->s.code.p[i]);
		if ((uint8_t)m->s.code.p[i] == 0xb8 || (uint8_t)m->s.code.p[i] == 0xc0) {
			buf_fmt(&text, " #");
			i += 2;
		}
	}
	assert_str_equal(buf_str(&text), hex);
	buf_done(&text);
}

static bool has_constant(const struct made *m, struct str text)
{
	return memmem(m->r.constants.p, m->r.constants.n, text.p, text.n) != NULL;
}

static const struct str plain = { "\xb1", 1 };

static void longs_stand_first(void **state)
{
	struct made m;

	(void)state;
	make(&m, false, "f", "(Ljava/lang/String;IJ)V", 5, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_THIS, 0 }, { ROOT_ARGUMENT, 2 },
		       { ROOT_ARGUMENT, 0 }, { ROOT_ARGUMENT, 1 }));
	/* lload_3, iload_2, i2l, aload_0, aload_1, iconst_3, invokestatic */
	assert_code(&m, "21 1c 85 2a 2b 06 b8 #");
	assert_true(has_constant(&m, STR("(JJLjava/lang/Object;Ljava/lang/Object;I)V")));
	assert_int_equal(m.s.stack, 7);
	assert_int_equal(m.s.locals, 0);
	assert_int_equal(m.s.handed[0].type, 'L');
	assert_int_equal(m.s.handed[0].number, 0);
	assert_int_equal(m.s.handed[1].type, 'J');
	assert_int_equal(m.s.handed[1].number, 0);
	assert_int_equal(m.s.handed[2].number, 1);
	assert_int_equal(m.s.handed[3].type, 'I');
	assert_int_equal(m.s.handed[3].number, 1);
	done(&m);
}

static void hashes_of_objects_go_with_them(void **state)
{
	struct made m;

	(void)state;
	make(&m, false, "f", "(Ljava/lang/String;)V", 2, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 0 }, { ROOT_HASH, 0 }));
	/* aload_1, identityHashCode, i2l, aload_1, iconst_3, invokestatic */
	assert_code(&m, "2b b8 # 85 2b 06 b8 #");
	assert_true(has_constant(&m, STR("identityHashCode")));
	assert_true(has_constant(&m, STR("(JLjava/lang/Object;I)V")));
	assert_int_equal(m.s.stack, 4);
	assert_int_equal(m.s.handed[0].type, 'L');
	assert_int_equal(m.s.handed[1].type, 'H');
	assert_int_equal(m.s.handed[1].number, 0);
	done(&m);
	/* of nothing as well: at the entry of a constructor */
	make(&m, false, "<init>", "()V", 1, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_THIS, 0 }, { ROOT_HASH, 0 }));
	assert_code(&m, "01 b8 # 85 01 06 b8 #");
	done(&m);
}

static void fields_are_loaded_at_the_entry_only(void **state)
{
	struct made m;

	(void)state;
	make(&m, false, "f", "(Ljava/lang/String;)V", 2, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 0, 0x0107 }, { ROOT_HASH, 0 }));
	/* aload_1, getfield, identityHashCode, i2l, aload_1, getfield, iconst_3, invokestatic */
	assert_code(&m, "2b b4 01 07 b8 # 85 2b b4 01 07 06 b8 #");
	assert_int_equal(m.s.stack, 4);
	assert_int_equal(m.s.handed[0].type, 'L');
	assert_false(AT(&m, REWRITE_EXIT, { ROOT_THIS, 0, 0x0107 }));
	assert_string_equal(m.s.refused, "there is no such field there");
	done(&m);
	/* where there is no object yet, there is no field */
	make(&m, false, "<init>", "()V", 1, plain);
	assert_false(AT(&m, REWRITE_ENTRY, { ROOT_THIS, 0, 0x0107 }));
	done(&m);
}

static void reals_are_handed_as_their_bits(void **state)
{
	struct made m;

	(void)state;
	make(&m, true, "f", "(DF)V", 3, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 0 }, { ROOT_ARGUMENT, 1 }));
	assert_code(&m, "26 b8 # 24 b8 # 85 06 b8 #");
	assert_true(has_constant(&m, STR("doubleToRawLongBits")));
	assert_true(has_constant(&m, STR("floatToRawIntBits")));
	assert_int_equal(m.s.stack, 5);
	done(&m);
}

static void what_is_returned_goes_through_a_local(void **state)
{
	struct made m;

	(void)state;
	make(&m, true, "f", "(I)D", 300, STR("\x0e\xaf"));
	assert_true(AT(&m, REWRITE_EXIT, { ROOT_ARGUMENT, 0 }, { ROOT_RETURN, 0 }));
	/* dup2, wide dstore 300, iload_0, i2l, wide dload 300, its bits */
	assert_code(&m, "5c c4 39 01 2c 1a 85 c4 18 01 2c b8 # 06 b8 #");
	assert_int_equal(m.s.locals, 2);
	assert_int_equal(m.s.stack, 5);
	done(&m);
}

static void what_is_not_there_is_null(void **state)
{
	struct made m;

	(void)state;
	make(&m, true, "f", "()V", 0, plain);
	assert_true(AT(&m, REWRITE_EXIT, { ROOT_THIS, 0 }, { ROOT_RETURN, 0 }));
	assert_code(&m, "01 01 06 b8 #");
	assert_int_equal(m.s.handed[0].type, 'V');
	assert_int_equal(m.s.handed[1].number, 1);
	done(&m);
	/* it is not made yet */
	make(&m, false, "<init>", "()V", 1, plain);
	assert_true(AT(&m, REWRITE_ENTRY, { ROOT_THIS, 0 }));
	assert_code(&m, "01 06 b8 #");
	assert_true(AT(&m, REWRITE_EXIT, { ROOT_THIS, 0 }));
	assert_code(&m, "2a 06 b8 #");
	assert_false(AT(&m, REWRITE_LINE, { ROOT_THIS, 0 }));
	assert_string_equal(m.s.refused, "this may not be made yet there");
	assert_int_equal(m.s.code.n, 0);
	done(&m);
}

static void what_is_changed_is_refused(void **state)
{
	struct made m;

	(void)state;
	/* lstore_1 lies over 1 and 2; wide iinc of 0 */
	make(&m, true, "f", "(IIII)V", 4, STR("\x09\x40\xc4\x84\x00\x00\x00\x01\xb1"));
	for (uint8_t i = 0; i < 3; i++) {
		char why[64];

		snprintf(why, sizeof(why), "argument %u is changed in the method", i);
		assert_true(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, i }));
		assert_false(AT(&m, REWRITE_EXIT, { ROOT_ARGUMENT, i }));
		assert_string_equal(m.s.refused, why);
		assert_false(rewrite_parameter_is_kept(m.class.methods->code, i));
	}
	assert_true(AT(&m, REWRITE_THROW, { ROOT_ARGUMENT, 3 }));
	assert_string_equal(m.s.refused, "");
	assert_true(rewrite_parameter_is_kept(m.class.methods->code, 3));
	done(&m);
	/* only the second word of a long is stored into */
	make(&m, true, "f", "(J)V", 2, STR("\x03\x3c\xb1"));
	assert_true(rewrite_parameter_is_kept(m.class.methods->code, 0));
	assert_false(AT(&m, REWRITE_EXIT, { ROOT_ARGUMENT, 0 }));
	done(&m);
}

static void frames_that_forget_are_believed(void **state)
{
	struct made m;
	struct code *code;

	(void)state;
	make(&m, true, "f", "(JLa/C;I)V", 4, plain);
	code = m.class.methods->code;
	assert_true(rewrite_sees(m.class.methods, 0, 'J'));
	assert_false(rewrite_sees(m.class.methods, 1, 'J')); /* none begins there */
	code->frames = STR("\0\1\xfa\0\0");                  /* chops the int */
	assert_true(rewrite_sees(m.class.methods, 2, 'L'));
	assert_false(rewrite_sees(m.class.methods, 3, 'I'));
	assert_false(AT(&m, REWRITE_EXIT, { ROOT_ARGUMENT, 2 }));
	assert_string_equal(m.s.refused, "frames of the method do not tell of argument 2");
	code->frames = STR("\0\2\xff\0\0\0\2\4\7\0\1\0\0\xfa\0\0"); /* long, object; without 1 */
	assert_true(rewrite_sees(m.class.methods, 0, 'J'));
	assert_false(rewrite_sees(m.class.methods, 2, 'L'));
	code->frames = STR("\0\1\xff\0\0\0\1\3\0\0"); /* a double where the long was */
	assert_false(rewrite_sees(m.class.methods, 0, 'J'));
	code->frames = STR("\0\1\xff\0"); /* cut */
	assert_false(rewrite_sees(m.class.methods, 0, 'J'));
	done(&m);
}

static void refusals_have_reasons(void **state)
{
	struct made m;

	(void)state;
	make(&m, true, "f", "(IIIII)V", 5, plain);
	assert_false(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 0 }, { ROOT_ARGUMENT, 1 },
			{ ROOT_ARGUMENT, 2 }, { ROOT_ARGUMENT, 3 }, { ROOT_ARGUMENT, 4 }));
	assert_string_equal(m.s.refused, "more than 4 primitive values");
	assert_false(AT(&m, REWRITE_ENTRY, { ROOT_THIS, 0 }, { ROOT_THIS, 0 }, { ROOT_THIS, 0 },
			{ ROOT_THIS, 0 }, { ROOT_THIS, 0 }));
	assert_string_equal(m.s.refused, "more than 4 references");
	assert_false(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 5 }));
	assert_string_equal(m.s.refused, "the method has no argument 5");
	assert_false(AT(&m, REWRITE_ENTRY, { ROOT_RETURN, 0 }));
	assert_string_equal(m.s.refused, "what is returned is not known there");
	assert_false(AT(&m, REWRITE_EXIT, { ROOT_THROWN, 0 }));
	assert_string_equal(m.s.refused, "what is thrown is not known there");
	done(&m);
	for (size_t i = 0; i < 7; i++) {
		static const char *const bad[] = { "(I", "I)V",  "(V)V", "(Q)V",
						   "()", "()VI", "(L;)V" };

		make(&m, true, "f", bad[i], 1, plain);
		assert_false(AT(&m, REWRITE_ENTRY, { ROOT_ARGUMENT, 0 }));
		assert_string_equal(m.s.refused, "its descriptor is damaged");
		done(&m);
	}
}

static bool replace(struct made *m, enum rewrite_where where, struct stitch_root root)
{
	struct stitch_place p = { .advice = STR("culprit/Advice"),
				  .r = &m->r,
				  .method = m->class.methods,
				  .where = where,
				  .number = 300 };

	return stitch_replace(&m->s, &p, root);
}

static void values_are_exchanged(void **state)
{
	struct made m;

	(void)state;
	make(&m, true, "f", "(IJ[La/C;Ljava/lang/Object;)La/D;", 5, STR("\x01\xb0"));
	assert_true(replace(&m, REWRITE_EXIT, (struct stitch_root){ ROOT_RETURN, 0 }));
	assert_code(&m, "11 01 2c b8 # c0 #");
	assert_true(has_constant(&m, STR("a/D")));
	assert_true(replace(&m, REWRITE_ENTRY, (struct stitch_root){ ROOT_ARGUMENT, 2 }));
	assert_code(&m, "2d 11 01 2c b8 # c0 # 4e");
	assert_true(has_constant(&m, STR("[La/C;")));
	assert_int_equal(m.s.stack, 2);
	/* what is an Object needs no looking at */
	assert_true(replace(&m, REWRITE_ENTRY, (struct stitch_root){ ROOT_ARGUMENT, 3 }));
	assert_code(&m, "19 04 11 01 2c b8 # 3a 04");
	assert_false(replace(&m, REWRITE_ENTRY, (struct stitch_root){ ROOT_ARGUMENT, 1 }));
	assert_string_equal(m.s.refused, "argument 1 is no reference");
	assert_false(replace(&m, REWRITE_EXIT, (struct stitch_root){ ROOT_ARGUMENT, 2 }));
	assert_string_equal(m.s.refused, "it cannot be exchanged there");
	done(&m);
}

static void receivers_are_handed(void **state)
{
	struct made m;
	struct rewrite_call call = { .name = STR("close"), .type = STR("()V") };
	struct stitch_place p;

	(void)state;
	make(&m, true, "f", "()V", 0, plain);
	p = (struct stitch_place){ .advice = STR("culprit/Advice"),
				   .r = &m.r,
				   .method = m.class.methods,
				   .where = REWRITE_BEFORE_CALL,
				   .number = -1 };
	assert_true(stitch_receiver(&m.s, &p, &call));
	assert_code(&m, "59 02 b8 #");
	assert_int_equal(m.s.stack, 2);
	call.type = STR("(I)V");
	assert_false(stitch_receiver(&m.s, &p, &call));
	assert_string_equal(m.s.refused, "the call has arguments");
	call = (struct rewrite_call){ .name = STR("<init>"), .type = STR("()V") };
	assert_false(stitch_receiver(&m.s, &p, &call));
	assert_string_equal(m.s.refused, "the call has no receiver yet");
	done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longs_stand_first),
		cmocka_unit_test(hashes_of_objects_go_with_them),
		cmocka_unit_test(fields_are_loaded_at_the_entry_only),
		cmocka_unit_test(reals_are_handed_as_their_bits),
		cmocka_unit_test(what_is_returned_goes_through_a_local),
		cmocka_unit_test(what_is_not_there_is_null),
		cmocka_unit_test(what_is_changed_is_refused),
		cmocka_unit_test(frames_that_forget_are_believed),
		cmocka_unit_test(refusals_have_reasons),
		cmocka_unit_test(values_are_exchanged),
		cmocka_unit_test(receivers_are_handed),
	};

	return RUN(tests);
}
