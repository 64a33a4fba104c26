#include "class_writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "program/class.h"
#include "program/values.h"

/* A class with a method, an interface, a text and a member, in the version of Java 21. */
static void write_sample(struct buf *to, unsigned major)
{
	struct class_writer w;

	writer_init(&w, "a/Sample", "a/Base");
	writer_interface(&w, "a/Face");
	writer_named(&w, 8, "a text");
	writer_member(&w, 10, "b/Other", "call", "(I)V");
	writer_method(&w, "m", "(J)I", 2, 3, STR("\x04\xac"), STR(""));
	writer_done(&w, major, to);
}

static void a_class_tells_its_name_and_kin(void **state)
{
	struct buf b = { 0 };
	struct arena a = { 0 };
	struct error err = { 0 };
	struct class c;

	(void)state;
	write_sample(&b, 65);
	assert_int_equal(class_read(&c, buf_str(&b), &a, &err), 0);
	assert_int_equal(c.major, 65);
	assert_str_equal(c.name, "a/Sample");
	assert_str_equal(c.super, "a/Base");
	assert_int_equal(c.nr_interfaces, 1);
	assert_str_equal(c.interfaces[0], "a/Face");
	assert_str_equal(c.methods[0].name, "m");
	assert_int_equal(c.methods[0].code->bytes.n, 2);
	assert_int_equal(code_line(c.methods[0].code, 0), 0);
	arena_done(&a);
	buf_done(&b);
}

static void constants_of_another_kind_answer_with_nothing(void **state)
{
	struct buf b = { 0 };
	struct arena a = { 0 };
	struct error err = { 0 };
	struct member_ref m;
	struct handle_ref h;
	struct class c;
	int64_t bits;
	unsigned texts = 0, members = 0;

	(void)state;
	write_sample(&b, 52);
	assert_int_equal(class_read(&c, buf_str(&b), &a, &err), 0);
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		enum constant_tag tag = class_tag(&c, (uint16_t)i);

		assert_true(i < c.nr_constants || tag == CONSTANT_NONE);
		assert_int_equal(class_member(&c, (uint16_t)i, &m), tag == CONSTANT_METHOD);
		members += tag == CONSTANT_METHOD;
		assert_false(class_handle(&c, (uint16_t)i, &h));
		assert_false(class_number(&c, (uint16_t)i, &bits));
		texts += tag == CONSTANT_STRING &&
			 str_eq(class_named(&c, (uint16_t)i), STR("a text"));
	}
	assert_int_equal(texts, 1);
	assert_int_equal(members, 1);
	arena_done(&a);
	buf_done(&b);
}

/* Reads and evaluates whatever can be; must not touch a byte outside. */
static bool use(struct str bytes)
{
	/* a copy of just this size, so that the sanitizer sees every byte behind it */
	char *copy = malloc(bytes.n + 1);
	struct arena a = { 0 };
	struct error err = { 0 };
	struct class c;
	struct values v;
	bool is_good;

	memcpy(copy, bytes.p, bytes.n);
	copy = realloc(copy, bytes.n ? bytes.n : 1);
	is_good = class_read(&c, (struct str){ copy, bytes.n }, &a, &err) >= 0;
	assert_true(is_good || err.msg[0]);
	for (uint16_t i = 0; is_good && i < c.nr_methods; i++)
		if (c.methods[i].code)
			values_init(&v, &c, &c.methods[i], &a);
	arena_done(&a);
	free(copy);
	return is_good;
}

static void a_class_cut_anywhere_is_refused(void **state)
{
	struct buf b = { 0 };

	(void)state;
	write_sample(&b, 52);
	assert_true(use(buf_str(&b)));
	for (size_t n = 0; n < b.n; n++)
		assert_false(use(str_head(buf_str(&b), n)));
	buf_done(&b);
}

static void a_class_with_any_byte_changed_harms_nobody(void **state)
{
	static const unsigned char others[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct buf b = { 0 };

	(void)state;
	write_sample(&b, 52);
	for (size_t i = 0; i < b.n; i++) {
		char was = b.p[i];

		for (size_t k = 0; k < sizeof(others); k++) {
			b.p[i] = (char)others[k];
			use(buf_str(&b));
		}
		b.p[i] = was;
	}
	buf_done(&b);
}

static void what_is_no_class_is_told(void **state)
{
	struct arena a = { 0 };
	struct error err = { 0 };
	struct class c;

	(void)state;
	assert_true(class_read(&c, STR("PK\x03\x04 this is a jar"), &a, &err) < 0);
	assert_true(err.msg[0]);
	err = (struct error){ 0 };
	assert_true(class_read(&c, STR(""), &a, &err) < 0);
	assert_true(err.msg[0]);
	arena_done(&a);
}

/* Classes that javac wrote: every prefix, and every byte in turn. */
static void a_compiled_class_cut_anywhere_harms_nobody(void **state)
{
	const char *root = getenv("CULPRIT_CORPUS");
	char path[512], *bytes = malloc(1 << 16);
	size_t n;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/class/choices", root ? root : "tests/fuzz/corpus");
	f = fopen(path, "re");
	if (!f) {
		free(bytes);
		print_message("skipped: the corpus is not here\n");
		skip();
	}
	n = fread(bytes, 1, 1 << 16, f);
	fclose(f);
	assert_true(use((struct str){ bytes, n }));
	for (size_t i = 0; i < n; i++) {
		assert_false(use((struct str){ bytes, i }));
		bytes[i] = (char)(bytes[i] ^ 0x41);
		use((struct str){ bytes, n });
		bytes[i] = (char)(bytes[i] ^ 0x41);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_tells_its_name_and_kin),
		cmocka_unit_test(constants_of_another_kind_answer_with_nothing),
		cmocka_unit_test(a_class_cut_anywhere_is_refused),
		cmocka_unit_test(a_class_with_any_byte_changed_harms_nobody),
		cmocka_unit_test(what_is_no_class_is_told),
		cmocka_unit_test(a_compiled_class_cut_anywhere_harms_nobody),
	};

	return RUN(tests);
}
