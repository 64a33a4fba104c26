#include "unit.h"

#include "model/attr.h"
#include "model/link.h"

static void every_type_survives_packing(void **state)
{
	struct buf b = { 0 };
	struct str s;
	struct attr a;

	(void)state;
	attr_add_str(&b, STR("name"), STR("value"));
	attr_add_int(&b, STR("n"), INT64_MIN);
	attr_add(&b,
		 &(struct attr){
			 .type = ATTR_DOUBLE, .key = STR("d"), .d = 72.5, .scope = ATTR_RESOURCE });
	attr_add(&b, &(struct attr){ .type = ATTR_BOOL, .key = STR("b"), .i = 1 });
	attr_add(&b, &(struct attr){
			     .type = ATTR_BYTES, .key = STR("x"), .text = { "\0\x01\xff", 3 } });
	s = buf_str(&b);
	assert_true(attr_take(&s, &a));
	assert_str_equal(a.text, "value");
	assert_true(attr_take(&s, &a));
	assert_true(a.i == INT64_MIN);
	assert_true(attr_take(&s, &a));
	assert_true(a.d == 72.5 && a.scope == ATTR_RESOURCE);
	assert_true(attr_take(&s, &a));
	assert_true(a.type == ATTR_BOOL && a.i == 1);
	assert_true(attr_find(buf_str(&b), STR("x"), &a));
	assert_int_equal(a.text.n, 3);
	assert_false(attr_find(buf_str(&b), STR("y"), &a));
	buf_done(&b);
}

static void damaged_bytes_end_the_walk(void **state)
{
	struct buf b = { 0 };

	(void)state;
	attr_add_str(&b, STR("name"), STR("value"));
	for (size_t n = 0; n < b.n; n++) {
		struct str s = { b.p, n };
		struct attr a;

		assert_false(attr_take(&s, &a));
	}
	buf_done(&b);
}

static void values_read_as_people_write_them(void **state)
{
	struct buf b = { 0 };

	(void)state;
	attr_text(&b, &(struct attr){ .type = ATTR_BYTES, .text = STR("\x01\xff") });
	buf_char(&b, ' ');
	attr_text(&b, &(struct attr){ .type = ATTR_BOOL, .i = 0 });
	buf_char(&b, ' ');
	attr_text(&b, &(struct attr){ .type = ATTR_DOUBLE, .d = 0.5 });
	assert_str_equal(buf_str(&b), "01ff false 0.5");
	buf_done(&b);
}

static void links_survive_packing(void **state)
{
	struct buf b = { 0 };
	struct str s;
	struct link l;

	(void)state;
	link_add(&b, &(struct link){ LINK_FOLLOWS_FROM, STR("t"), STR("s"), STR("") });
	s = buf_str(&b);
	assert_true(link_take(&s, &l));
	assert_int_equal(l.kind, LINK_FOLLOWS_FROM);
	assert_str_equal(l.span, "s");
	assert_false(link_take(&s, &l));
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_survives_packing),
		cmocka_unit_test(damaged_bytes_end_the_walk),
		cmocka_unit_test(values_read_as_people_write_them),
		cmocka_unit_test(links_survive_packing),
	};

	return RUN(tests);
}
