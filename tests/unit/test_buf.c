#include "unit.h"

#include "base/buf.h"

static void numbers_survive_the_trip(void **state)
{
	static const int64_t values[] = { 0,   1,   -1,        63,        -64,      64,
					  127, 128, INT32_MAX, INT64_MAX, INT64_MIN };
	struct buf b = { 0 };
	struct str s;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		buf_svarint(&b, values[i]);
		buf_varint(&b, (uint64_t)values[i]);
	}
	s = buf_str(&b);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int64_t v;
		uint64_t u;

		assert_true(str_take_svarint(&s, &v));
		assert_true(v == values[i]);
		assert_true(str_take_varint(&s, &u));
		assert_true(u == (uint64_t)values[i]);
	}
	assert_int_equal(s.n, 0);
	buf_done(&b);
}

static void a_cut_record_is_refused(void **state)
{
	struct buf b = { 0 };
	struct str v;

	(void)state;
	buf_bytes(&b, STR("hello"));
	for (size_t n = 0; n < b.n; n++) {
		struct str s = { b.p, n };

		assert_false(str_take_bytes(&s, &v));
		assert_int_equal(s.n, n);
	}
	buf_done(&b);
}

static void an_endless_varint_is_refused(void **state)
{
	struct str s = STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
	uint64_t v;

	(void)state;
	assert_false(str_take_varint(&s, &v));
}

static void text_grows_as_needed(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, "%d,", i);
	assert_int_equal(b.n, 10 * 2 + 90 * 3 + 900 * 4);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_survive_the_trip),
		cmocka_unit_test(a_cut_record_is_refused),
		cmocka_unit_test(an_endless_varint_is_refused),
		cmocka_unit_test(text_grows_as_needed),
	};

	return RUN(tests);
}
