/* Rows for PostgreSQL's COPY, byte by byte as its manual says. */
#include "unit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/time.h"
#include "store/tuple.h"

static void assert_bytes(struct buf *b, struct str expected)
{
	assert_int_equal(b->n, expected.n);
	assert_memory_equal(b->p, expected.p, expected.n);
	buf_done(b);
	*b = (struct buf){ 0 };
}

static void a_copy_has_head_rows_and_tail(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tuple_head(&b);
	tuple_begin(&b, 2);
	tuple_bool(&b, true);
	tuple_null(&b);
	tuple_tail(&b);
	assert_bytes(&b, STR("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"
			     "\0\2\0\0\0\1\1\377\377\377\377\377\377"));
}

static void numbers_are_big_endian_with_their_length(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tuple_int2(&b, -2);
	assert_bytes(&b, STR("\0\0\0\2\xff\xfe"));
	tuple_int4(&b, 0x01020304);
	assert_bytes(&b, STR("\0\0\0\4\1\2\3\4"));
	tuple_int8(&b, INT64_MIN);
	assert_bytes(&b, STR("\0\0\0\x8\x80\0\0\0\0\0\0\0"));
	tuple_float4(&b, 1.0f);
	assert_bytes(&b, STR("\0\0\0\4\x3f\x80\0\0"));
	tuple_float8(&b, -2.0);
	assert_bytes(&b, STR("\0\0\0\x8\xc0\0\0\0\0\0\0\0"));
}

static void times_count_microseconds_from_2000(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tuple_time(&b, 946684800LL * NS_S + 1999);
	assert_bytes(&b, STR("\0\0\0\x8\0\0\0\0\0\0\0\1"));
	tuple_time(&b, 946684800LL * NS_S - 1);
	assert_bytes(&b, STR("\0\0\0\x8\xff\xff\xff\xff\xff\xff\xff\xff"));
	tuple_time(&b, 0);
	assert_bytes(&b, STR("\0\0\0\x8\xff\xfc\xa2\xfe\xc4\xc8\x20\0"));
	tuple_time(&b, NS_NONE);
	assert_bytes(&b, STR("\377\377\377\377"));
}

static void text_is_made_what_postgresql_takes(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tuple_text(&b, STR("gr\xc3\xbc\xc3\x9f"));
	assert_bytes(&b, STR("\0\0\0\6gr\xc3\xbc\xc3\x9f"));
	tuple_text(&b, STR(""));
	assert_bytes(&b, STR("\0\0\0\0"));
	tuple_text(&b, STR("a\0b\xff"
			   "c\xc3"));
	assert_bytes(&b, STR("\0\0\0\xc"
			     "a\xef\xbf\xbd"
			     "b\xef\xbf\xbd"
			     "c\xef\xbf\xbd"));
	tuple_bytes(&b, STR("\0\xff"));
	assert_bytes(&b, STR("\0\0\0\2\0\xff"));
}

static void lists_of_texts_are_arrays(void **state)
{
	const struct str two[] = { STR("dn1"), STR("\xff") };
	struct buf b = { 0 };

	(void)state;
	tuple_texts(&b, NULL, 0);
	assert_bytes(&b, STR("\0\0\0\xc\0\0\0\0\0\0\0\0\0\0\0\x19"));
	tuple_texts(&b, two, 2);
	assert_bytes(&b, STR("\0\0\0\x22\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\2\0\0\0\1"
			     "\0\0\0\3"
			     "dn1\0\0\0\3\xef\xbf\xbd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_head_rows_and_tail),
		cmocka_unit_test(numbers_are_big_endian_with_their_length),
		cmocka_unit_test(times_count_microseconds_from_2000),
		cmocka_unit_test(text_is_made_what_postgresql_takes),
		cmocka_unit_test(lists_of_texts_are_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
