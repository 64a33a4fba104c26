#include "string_list.h"

#include "program/strings_python.h"

/* Marshalled objects, as CPython of some version writes them. */
static void put_number(struct buf *b, unsigned bytes, uint32_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_char(b, (char)(v >> 8 * i));
}

static void put_text(struct buf *b, char kind, const char *text)
{
	buf_char(b, kind);
	put_number(b, (kind & 0x7f) == 'z' || (kind & 0x7f) == 'Z' ? 1 : 4, (uint32_t)strlen(text));
	buf_add(b, str_of(text));
}

static void put_head(struct buf *b, unsigned magic)
{
	put_number(b, 2, magic);
	buf_add(b, STR("\r\n"));
	for (int i = 0; i < 12; i++)
		buf_char(b, '\0');
}

/* Code with constants that are marshalled already, nr of them, and a name. */
static void put_code(struct buf *b, unsigned magic, struct str constants, unsigned nr,
		     const char *name)
{
	bool is_new = magic >= 3450;

	buf_char(b, 'c');
	for (int i = 0; i < (is_new || magic < 3400 ? 5 : 6); i++)
		put_number(b, 4, 0);
	put_text(b, 's', "\1\2bytecode");
	buf_char(b, ')');
	put_number(b, 1, nr);
	buf_add(b, constants);
	buf_char(b, ')'); /* names */
	put_number(b, 1, 1);
	put_text(b, 'Z', "an_attribute");
	for (int i = 0; i < (is_new ? 1 : 3); i++) {
		buf_char(b, ')');
		put_number(b, 1, 0);
	}
	if (is_new)
		put_text(b, 's', "");
	put_text(b, 'z', "/some/file.py");
	put_text(b, 'z', name);
	if (is_new)
		put_text(b, 'z', name);
	put_number(b, 4, 1);
	put_text(b, 's', "lines");
	if (is_new)
		put_text(b, 's', "exceptions");
}

static void compiled_code_of_every_version_is_read(void **state)
{
	static const unsigned magics[] = { 3394, 3413, 3425, 3439, 3495, 3531, 3571 };

	(void)state;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		struct buf inner = { 0 }, outer = { 0 }, file = { 0 };
		struct string_list l;

		put_text(&inner, 'z', "Says what it does.\n\nAt length.");
		put_text(&inner, 'z', "worker %d is idle");
		put_text(&inner, (char)('u' | 0x80), "gr\xc3\xbc\xc3\x9f");
		buf_add(&inner, STR("N")); /* None */
		buf_add(&inner, STR("l\xfe\xff\xff\xff\1\0\2\0"));
		buf_add(&inner, STR("g12345678i\1\0\0\0r\0\0\0\0"));
		put_code(&outer, magics[i], buf_str(&inner), 8, "inner");
		if (magics[i] < 3450)
			put_text(&outer, 'z', "Outer.inner");
		else
			buf_char(&outer, 'N');
		buf_add(&outer, STR(")\2z\3one>\1\0\0\0Z\3two"));
		put_head(&file, magics[i]);
		put_code(&file, magics[i], buf_str(&outer), 3, "<module>");
		list_init(&l);
		strings_of_bytes(buf_str(&file), STR("x.pyc"), &l.sink, &l.losses);
		assert_list(
			&l,
			"worker <2> is idle\ngr\xc3\xbc\xc3\x9f\ngr\xc3\xbc\xc3\x9f\none\ntwo\n");
		assert_int_equal(l.losses.count[LOSS_PROGRAMS_BROKEN], 0);
		buf_done(&inner);
		buf_done(&outer);
		buf_done(&file);
	}
}

static void a_cut_file_gives_what_stands_in_front(void **state)
{
	struct buf inner = { 0 }, file = { 0 };
	struct string_list l;

	(void)state;
	put_text(&inner, 'z', "before the damage");
	put_text(&inner, 'z', "behind the damage");
	put_head(&file, 3495);
	put_code(&file, 3495, buf_str(&inner), 2, "<module>");
	list_init(&l);
	strings_of_bytes(str_head(buf_str(&file), 16 + 1 + 20 + 15 + 2 + 19 + 5), STR("x.pyc"),
			 &l.sink, &l.losses);
	assert_list(&l, "before the damage\n");
	assert_int_equal(l.losses.count[LOSS_PROGRAMS_BROKEN], 1);
	buf_done(&inner);
	buf_done(&file);
}

/* A thousand tuples within each other: no stack is that deep. */
static void what_nests_too_deep_is_refused(void **state)
{
	struct buf file = { 0 };
	struct string_list l;

	(void)state;
	put_head(&file, 3495);
	for (int i = 0; i < 1000; i++)
		buf_add(&file, STR(")\1"));
	buf_char(&file, 'N');
	list_init(&l);
	strings_of_bytes(buf_str(&file), STR("x.pyc"), &l.sink, &l.losses);
	assert_list(&l, "");
	assert_int_equal(l.losses.count[LOSS_PROGRAMS_BROKEN], 1);
	buf_done(&file);
}

static void check_source(const char *source, const char *want)
{
	struct string_list l;

	list_init(&l);
	strings_of_bytes(str_of(source), STR("x.py"), &l.sink, &l.losses);
	assert_list(&l, want);
}

static void literals_of_a_source_are_its_strings(void **state)
{
	(void)state;
	check_source("log.info('job %s done', job)  # 'a comment'\n"
		     "x = r\"raw\\d text\" + b'bytes are none' + u'text'\n"
		     "call('''three\nlines \\\nhere''')\n",
		     "job <1> done\nraw\\d text\ntext\nthree\nlines here\n");
}

static void literals_beside_each_other_are_one(void **state)
{
	(void)state;
	check_source("f('first '\n  \"second \" # and\n  'third')\n"
		     "a = 'one'\nb = 'two' \\\n  'three'\n",
		     "first second third\none\ntwothree\n");
}

static void docstrings_are_not_printed(void **state)
{
	(void)state;
	check_source("\"\"\"What it is for.\"\"\"\ndef f():\n\t'Does it.'\n\treturn 'done'\n",
		     "done\n");
}

static void f_strings_say_where_values_go(void **state)
{
	(void)state;
	check_source("f'job {job[\"id\"]!r:>{w}} of {user} is 5%done {{}}'\n"
		     "print(f'job {job[\"id\"]!r:>{w}} of {user} is 5%done {{x}}')\n"
		     "print(F\"{count=} left, {a == b} and {'}'} \\\"quoted\\\"\")\n"
		     "print(rf'\\d{x}tail')\n",
		     "job <1> of <1> is 5%done {x}\n"
		     "count=<1> left, <1> and <1> \"quoted\"\n"
		     "\\d<1>tail\n");
}

static void escapes_are_characters(void **state)
{
	(void)state;
	check_source("p('tab\\there \\x41\\u00e9\\U0001f600 \\N{DASH}rest \\q \\033red')\n",
		     "tab\there A\xc3\xa9\xf0\x9f\x98\x80 \nrest \\q \nred\n");
}

static void a_literal_without_an_end_ends_with_its_line(void **state)
{
	(void)state;
	check_source("x = 'no end\ny = 'next'\n", "no end\nnext\n");
	check_source("x = \"\"\"no end at all", "no end at all\n");
	check_source("x = f'{", "");
	check_source("x = '\\", "");
}

static void a_script_is_known_by_its_first_line(void **state)
{
	struct string_list l;

	(void)state;
	list_init(&l);
	strings_of_bytes(STR("#!/usr/bin/env python3\nprint('hello')\n"), STR("run"), &l.sink,
			 &l.losses);
	assert_list(&l, "hello\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_code_of_every_version_is_read),
		cmocka_unit_test(a_cut_file_gives_what_stands_in_front),
		cmocka_unit_test(what_nests_too_deep_is_refused),
		cmocka_unit_test(literals_of_a_source_are_its_strings),
		cmocka_unit_test(literals_beside_each_other_are_one),
		cmocka_unit_test(docstrings_are_not_printed),
		cmocka_unit_test(f_strings_say_where_values_go),
		cmocka_unit_test(escapes_are_characters),
		cmocka_unit_test(a_literal_without_an_end_ends_with_its_line),
		cmocka_unit_test(a_script_is_known_by_its_first_line),
	};

	return RUN(tests);
}
