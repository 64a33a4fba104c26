#include "class_writer.h"
#include "elf_writer.h"
#include "string_list.h"

#include "program/strings_text.h"

enum { DATA = 1, ADDENDS = 4, WRITE = 1, ALLOC = 2, RUN_IT = 4 };

static void give(struct string_list *l, const char *text)
{
	strings_give(&l->sink, str_of(text), &l->losses);
}

static void conversions_become_holes(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	give(&l, "took %5.1lf s of %-8s, %llu bytes at %#x, %c");
	give(&l, "user %(name)s has %2$d files");
	give(&l, "{} joined {1} as {name!r:>10} of {a.b[0]}");
	assert_list(&l, "took <4> s of <1>, <2> bytes at <3>, <5>\n"
			"user <1> has <2> files\n"
			"<1> joined <1> as <1> of <1>\n");
}

static void what_formats_nothing_stays_text(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	give(&l, "100% done, 5 % each, 10%% left");
	give(&l, "{\"json\": 1}");
	give(&l, "if (x) { return; }");
	assert_list(&l, "100% done, 5 % each, 10% left\n{\"json\": 1}\nif (x) { return; }\n");
}

static void a_text_is_cut_at_line_ends_and_short_ones_are_left(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	give(&l, "first line\nab\n123 456\n\033[1msecond\r\n");
	give(&l, "gr\xc3\xbc\xc3\x9f\xff and more");
	assert_list(&l, "first line\n[1msecond\ngr\xc3\xbc\xc3\x9f\n and more\n");
}

static void a_text_too_long_is_counted(void **state)
{
	struct string_list l;
	struct buf b = { 0 };

	(void)state;
	list_init(&l);
	memset(buf_room(&b, STRING_MAX + 1), 'x', STRING_MAX + 1);
	b.n = STRING_MAX + 1;
	strings_give(&l.sink, buf_str(&b), &l.losses);
	assert_list(&l, "");
	assert_int_equal(l.losses.count[LOSS_STRINGS_LEFT], 1);
	buf_done(&b);
}

static void what_a_formatter_leaves_of_a_conversion_is_taken_off(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	give(&l, "%ui worker connections");
	assert_list(&l, "<2>i worker connections\n<2> worker connections\n");
}

/* With these strings, in any width and order. */
static void read_elf(struct string_list *l, struct elf_writer *w)
{
	list_init(l);
	strings_of_bytes(elf_write(w), STR("x"), &l->sink, &l->losses);
	buf_done(&w->to);
}

static void read_only_data_is_cut_at_zero_bytes(void **state)
{
	struct string_list l;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct elf_writer w = { .is_64 = i & 1,
					.is_big = i & 2,
					.has_segments_only = i & 4 };

		elf_section(&w, ".rodata", DATA, ALLOC, 0x1000,
			    STR("\0\x01\x02"
				"connection %d lost\0\0ab\0stopped\n\0\xfe#\xfe"
				"after noise\0"));
		elf_section(&w, ".data", DATA, ALLOC | WRITE, 0x2000, STR("not constant\0"));
		read_elf(&l, &w);
		assert_list(&l, "connection <2> lost\nstopped\nafter noise\n");
	}
}

static void a_damaged_file_is_counted(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	strings_of_bytes(STR("\177ELF\2\1\1 and no more"), STR("x"), &l.sink, &l.losses);
	assert_list(&l, "");
	assert_int_equal(l.losses.count[LOSS_PROGRAMS_BROKEN], 1);
}

static void a_reference_into_a_string_is_a_string(void **state)
{
	/* lea 0x1006, at 0x2000 */
	struct elf_writer w = { .is_64 = true, .machine = 62 };
	struct string_list l;

	(void)state;
	elf_section(&w, ".rodata", DATA, ALLOC, 0x1000, STR("\0lost connection\0"));
	elf_section(&w, ".text", DATA, ALLOC | RUN_IT, 0x2000,
		    STR("\x48\x8d\x05\xff\xef\xff\xff\xc3"));
	read_elf(&l, &w);
	assert_list(&l, "lost connection\nconnection\n");
}

/* go: strings "node joining" at 0x1000, "node leaving" at 0x100c, "split %v" at 0x1018. */
#define GO_STRINGS STR("node joiningnode leavingsplit %vrest of it")

static void strings_of_go_end_by_headers_and_by_code(void **state)
{
	struct elf_writer w = { .is_64 = true, .machine = 62 };
	struct string_list l;

	(void)state;
	elf_section(&w, ".rodata", DATA, ALLOC, 0x1000, GO_STRINGS);
	elf_section(&w, ".gopclntab", DATA, ALLOC, 0x1800, STR("x"));
	elf_section(&w, ".data", DATA, ALLOC | WRITE, 0x3000,
		    STR("\0\x10\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0"));
	/* lea 0x100c, %rax; movl $12, %ebx; lea 0x1018, %rcx; movq $8, 0x10(%rsp) */
	elf_section(&w, ".text", DATA, ALLOC | RUN_IT, 0x2000,
		    STR("\x48\x8d\x05\x05\xf0\xff\xff\xbb\x0c\0\0\0"
			"\x48\x8d\x0d\x05\xf0\xff\xff\x48\xc7\x44\x24\x10\x08\0\0\0"));
	read_elf(&l, &w);
	assert_list(&l, "node joining\nnode leaving\nsplit <1>\n");
}

static void strings_of_go_are_found_on_arm_too(void **state)
{
	struct elf_writer w = { .is_64 = true, .machine = 183 };
	struct string_list l;

	(void)state;
	elf_section(&w, ".rodata", DATA, ALLOC, 0x1000, GO_STRINGS);
	elf_section(&w, ".gopclntab", DATA, ALLOC, 0x1800, STR("x"));
	/* adrp x0, 0x1000; add x0, x0, #12; mov x1, #12, at 0x2000 */
	elf_section(&w, ".text", DATA, ALLOC | RUN_IT, 0x2000,
		    STR("\xe0\xff\xff\xf0\x00\x30\x00\x91\x81\x01\x80\xd2"));
	read_elf(&l, &w);
	assert_list(&l, "node leaving\n");
}

static void pointers_of_a_moved_program_are_in_its_relocations(void **state)
{
	struct elf_writer w = { .is_64 = true, .machine = 62 };
	struct string_list l;

	(void)state;
	elf_section(&w, ".rodata", DATA, ALLOC, 0x1000, GO_STRINGS);
	elf_section(&w, ".gopclntab", DATA, ALLOC, 0x1800, STR("x"));
	elf_section(&w, ".data.rel.ro", DATA, ALLOC | WRITE, 0x3000,
		    STR("\0\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0"));
	elf_section(&w, ".rela.dyn", ADDENDS, ALLOC, 0x4000,
		    STR("\0\x30\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x0c\x10\0\0\0\0\0\0"));
	read_elf(&l, &w);
	assert_list(&l, "node leaving\n");
}

static void what_rust_formats_by_is_a_pattern(void **state)
{
	struct elf_writer w = { .is_64 = true, .machine = 62 };
	struct string_list l;

	(void)state;
	elf_section(&w, ".rodata", DATA, ALLOC, 0x1000,
		    STR("\x05"
			"peer \xc0\x09 is slow:\xc3\x20\0\0\x28\x05\0\x01\n\0"
			"plain words\n/rustc/\0"));
	/* lea 0x1000; lea 0x101b; mov $25, %esi: twelve bytes, doubled, and one */
	elf_section(&w, ".text", DATA, ALLOC | RUN_IT, 0x2000,
		    STR("\x48\x8d\x3d\xf9\xef\xff\xff\x48\x8d\x3d\x0d\xf0\xff\xff\xbe\x19\0\0\0"
			"\x48\x8d\x3d\x0c\xf0\xff\xff"));
	read_elf(&l, &w);
	assert_true(list_has(&l, "peer <1> is slow:<1>"));
	assert_true(list_has(&l, "plain words"));
	buf_done(&l.lines);
}

static void constants_and_recipes_of_a_class_are_its_strings(void **state)
{
	struct class_writer w;
	struct string_list l;
	struct buf b = { 0 };

	(void)state;
	writer_init(&w, "org/a/Worker", "java/lang/Object");
	writer_named(&w, 8, "Task {} is done");
	writer_named(&w, 8, "Task \1 of \2 failed: 5%d\1");
	writer_utf8(&w, "a name, not a string");
	writer_done(&w, 52, &b);
	list_init(&l);
	strings_of_bytes(buf_str(&b), STR("Worker.class"), &l.sink, &l.losses);
	assert_list(&l, "org.a.Worker\nTask <1> is done\nTask <1> of <1> failed: 5%d<1>\n");
	buf_done(&b);
}

/* Instructions with a constant of two bytes behind them. */
static void put_op(struct buf *code, unsigned op, uint16_t constant)
{
	put_u1(code, op);
	put_u2(code, constant);
}

enum { LDC_W = 0x13, ALOAD_0 = 0x2a, ASTORE_1 = 0x4c, DUP = 0x59, GOTO = 0xa7, BUILDER = 0xbb };
enum { CALL = 0xb6, CALL_INIT = 0xb7, ARETURN = 0xb0, BIPUSH = 0x10 };

struct builder_class {
	struct class_writer w;
	struct buf code;
	uint16_t builder, init, append, append_int, append_char, to_string;
};

static void begin_builder(struct builder_class *b)
{
	const char *name = "java/lang/StringBuilder";

	*b = (struct builder_class){ 0 };
	writer_init(&b->w, "org/a/Worker", "java/lang/Object");
	b->builder = writer_class(&b->w, name);
	b->init = writer_member(&b->w, 10, name, "<init>", "()V");
	b->append = writer_member(&b->w, 10, name, "append",
				  "(Ljava/lang/String;)Ljava/lang/StringBuilder;");
	b->append_int = writer_member(&b->w, 10, name, "append", "(I)Ljava/lang/StringBuilder;");
	b->append_char = writer_member(&b->w, 10, name, "append", "(C)Ljava/lang/StringBuilder;");
	b->to_string = writer_member(&b->w, 10, name, "toString", "()Ljava/lang/String;");
	put_op(&b->code, BUILDER, b->builder);
	put_u1(&b->code, DUP);
	put_op(&b->code, CALL_INIT, b->init);
}

static void put_text(struct builder_class *b, const char *text)
{
	put_op(&b->code, LDC_W, writer_named(&b->w, 8, text));
	put_op(&b->code, CALL, b->append);
}

static void end_builder(struct builder_class *b, const char *want)
{
	struct string_list l;
	struct buf bytes = { 0 };

	put_op(&b->code, CALL, b->to_string);
	put_u1(&b->code, ARETURN);
	writer_method(&b->w, "m", "()V", 9, 9, buf_str(&b->code), STR(""));
	writer_done(&b->w, 52, &bytes);
	list_init(&l);
	strings_of_bytes(buf_str(&bytes), STR("Worker.class"), &l.sink, &l.losses);
	assert_list(&l, want);
	buf_done(&bytes);
	buf_done(&b->code);
}

static void texts_joined_by_a_builder_are_a_pattern(void **state)
{
	struct builder_class b;

	(void)state;
	begin_builder(&b);
	put_text(&b, "Task ");
	put_u1(&b.code, ALOAD_0);
	put_op(&b.code, CALL, b.append_int);
	put_u1(&b.code, BIPUSH);
	put_u1(&b.code, '/');
	put_op(&b.code, CALL, b.append_char);
	put_u1(&b.code, ALOAD_0);
	put_op(&b.code, CALL, b.append);
	put_text(&b, " is 5%done {}");
	end_builder(&b, "org.a.Worker\nTask <2>/<1> is 5%done {}\n");
}

/* x ? "one" : "other" */
static void what_a_branch_pushes_is_a_value(void **state)
{
	struct builder_class b;

	(void)state;
	begin_builder(&b);
	put_text(&b, "Task was ");
	put_op(&b.code, LDC_W, writer_named(&b.w, 8, "started"));
	put_op(&b.code, GOTO, 6);
	put_text(&b, "ended");
	end_builder(&b, "org.a.Worker\nTask was <1>\nstarted\nended\n");
}

static void a_builder_that_is_kept_makes_no_pattern(void **state)
{
	struct builder_class b;

	(void)state;
	begin_builder(&b);
	put_u1(&b.code, ASTORE_1);
	put_text(&b, "Task ");
	put_text(&b, "was here");
	end_builder(&b, "org.a.Worker\nTask \nwas here\n");
}

static void of_other_files_printable_runs_are_taken(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	strings_of_bytes(STR("\x7f\1short\2but this is long\3\n"), STR("x"), &l.sink, &l.losses);
	assert_list(&l, "but this is long\n");
	assert_int_equal(l.losses.count[LOSS_PROGRAMS_UNKNOWN], 1);
}

static void this_program_has_its_own_strings(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	assert_int_equal(strings_read("/proc/self/exe", &l.sink, &l.losses, NULL), 0);
	assert_true(list_has(&l, "a name, not a string"));
	buf_done(&l.lines);
}

static void what_is_no_file_is_refused(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	assert_true(strings_read("/dev/null", &l.sink, &l.losses, NULL) < 0);
	assert_true(strings_read("/nowhere/at/all", &l.sink, &l.losses, NULL) < 0);
	assert_list(&l, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions_become_holes),
		cmocka_unit_test(what_formats_nothing_stays_text),
		cmocka_unit_test(a_text_is_cut_at_line_ends_and_short_ones_are_left),
		cmocka_unit_test(a_text_too_long_is_counted),
		cmocka_unit_test(what_a_formatter_leaves_of_a_conversion_is_taken_off),
		cmocka_unit_test(read_only_data_is_cut_at_zero_bytes),
		cmocka_unit_test(a_damaged_file_is_counted),
		cmocka_unit_test(a_reference_into_a_string_is_a_string),
		cmocka_unit_test(strings_of_go_end_by_headers_and_by_code),
		cmocka_unit_test(strings_of_go_are_found_on_arm_too),
		cmocka_unit_test(pointers_of_a_moved_program_are_in_its_relocations),
		cmocka_unit_test(what_rust_formats_by_is_a_pattern),
		cmocka_unit_test(constants_and_recipes_of_a_class_are_its_strings),
		cmocka_unit_test(texts_joined_by_a_builder_are_a_pattern),
		cmocka_unit_test(what_a_branch_pushes_is_a_value),
		cmocka_unit_test(a_builder_that_is_kept_makes_no_pattern),
		cmocka_unit_test(of_other_files_printable_runs_are_taken),
		cmocka_unit_test(this_program_has_its_own_strings),
		cmocka_unit_test(what_is_no_file_is_refused),
	};

	return RUN(tests);
}
