#include "unit.h"

#include <errno.h>

#include "base/error.h"
#include "capture/probe/spec.h"

static void add(struct interval_specs *s, enum spec_option option, const char *text)
{
	struct error err = { 0 };

	if (specs_add(s, option, str_of(text), &err) < 0)
		fail_msg("%s", err.msg);
}

static struct interval_spec carry(const char *text)
{
	struct interval_specs s = { 0 };
	struct interval_spec one;

	add(&s, SPEC_OF_CARRY, text);
	assert_int_equal(s.v.nr, 1);
	one = s.v.v[0];
	specs_done(&s);
	return one;
}

static void assert_refused(enum spec_option option, const char *text, const char *message)
{
	struct interval_specs s = { 0 };
	struct error err = { 0 };

	assert_int_equal(specs_add(&s, option, str_of(text), &err), -EINVAL);
	assert_string_equal(err.msg, message);
	assert_int_equal(s.v.nr, 0);
	specs_done(&s);
}

static void a_name_alone_is_each_call(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	add(&s, SPEC_OF_INTERVAL, "process_order");
	assert_int_equal(s.v.nr, 1);
	assert_int_equal(s.v.v[0].role, SPEC_WHOLE);
	assert_int_equal(s.v.v[0].take.from, TAKE_NOTHING);
	assert_str_equal(s.v.v[0].name, "process_order");
	specs_done(&s);
}

static void two_points_begin_and_end(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	add(&s, SPEC_OF_INTERVAL, "order_begin(id=arg0) .. libshop.so!order_end(arg1:4)");
	assert_int_equal(s.v.nr, 2);
	assert_int_equal(s.v.v[0].role, SPEC_BEGIN);
	assert_int_equal(s.v.v[1].role, SPEC_END);
	assert_str_equal(s.v.v[0].name, "order_begin");
	assert_str_equal(s.v.v[1].name, "libshop.so!order_end");
	assert_int_equal(s.v.v[1].take.argument, 1);
	assert_int_equal(s.v.v[0].take.bytes, 8);
	assert_int_equal(s.v.v[1].take.bytes, 4);
	add(&s, SPEC_OF_INTERVAL, "a..b");
	assert_int_equal(s.v.nr, 4);
	assert_str_equal(s.v.v[3].name, "b");
	specs_done(&s);
}

static void keys_follow_pointers(void **state)
{
	struct probe_take t = carry("f(id=*(arg0+16))").take;

	(void)state;
	assert_int_equal(t.from, TAKE_ARGUMENT);
	assert_true(t.nr_loads == 1 && t.offsets[0] == 16 && t.bytes == 8);
	t = carry("f(*( *( arg2 + 0x8 ) - 4 ) : 2)").take;
	assert_true(t.argument == 2 && t.nr_loads == 2 && t.offsets[0] == 8 && t.offsets[1] == -4 &&
		    t.bytes == 2);
	t = carry("f(**ret)").take;
	assert_true(t.from == TAKE_RETURN && t.nr_loads == 2 && !t.offsets[0] && !t.offsets[1]);
	t = carry("f(*(unsigned char *)(arg5 + 4 + 3))").take;
	assert_true(t.argument == 5 && t.nr_loads == 1 && t.offsets[0] == 7 && t.bytes == 1);
	t = carry("f(*(const uint32_t*)*(void **)(arg0+8))").take;
	assert_true(t.nr_loads == 2 && t.offsets[0] == 8 && !t.offsets[1] && t.bytes == 4);
	t = carry("f((arg0))").take;
	assert_true(t.nr_loads == 0 && t.bytes == 8);
}

static void names_of_classes_hold_brackets(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	add(&s, SPEC_OF_CARRY, "shop::(anonymous namespace)::pay<int>(id=arg0)");
	add(&s, SPEC_OF_CARRY, "Basket::operator()(id=arg0)");
	add(&s, SPEC_OF_INTERVAL, "usdt::pay");
	assert_str_equal(s.v.v[0].name, "shop::(anonymous namespace)::pay<int>");
	assert_str_equal(s.v.v[1].name, "Basket::operator()");
	assert_str_equal(s.v.v[2].name, "usdt::pay");
	assert_false(s.v.v[2].is_usdt);
	specs_done(&s);
}

static void static_probes_have_a_provider(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	add(&s, SPEC_OF_INTERVAL,
	    "usdt:postgresql:transaction__start .. usdt:postgresql:transaction__commit");
	add(&s, SPEC_OF_PUT, "usdt:enqueue(id=arg9)");
	assert_true(s.v.v[0].is_usdt && s.v.v[0].role == SPEC_BEGIN);
	assert_str_equal(s.v.v[1].provider, "postgresql");
	assert_str_equal(s.v.v[1].name, "transaction__commit");
	assert_true(!s.v.v[2].provider.n && s.v.v[2].take.argument == 9);
	specs_done(&s);
}

static void errors_show_the_place(void **state)
{
	(void)state;
	assert_refused(SPEC_OF_INTERVAL, "order_begin(id=arg0 .. order_end(id=arg0)",
		       "')' is expected here (column 21)\n"
		       "  order_begin(id=arg0 .. order_end(id=arg0)\n"
		       "                      ^");
	assert_refused(SPEC_OF_CARRY, "f(id=arg6)",
		       "'arg6' is no value: arg0 to arg5, or ret (column 6)\n"
		       "  f(id=arg6)\n"
		       "       ^");
	assert_refused(SPEC_OF_CARRY, "order_work",
		       "--carry needs what tells one interval from another, as in "
		       "order_work(id=arg0) (column 1)\n"
		       "  order_work\n"
		       "  ^");
	assert_refused(SPEC_OF_INTERVAL, "a(id=arg0) .. b",
		       "both ends are named by a value, or none: (id=arg0) is missing here "
		       "(column 15)\n"
		       "  a(id=arg0) .. b\n"
		       "                ^");
	assert_refused(SPEC_OF_CARRY, "f(arg0+16)",
		       "an offset is for what is pointed to, as in *(arg0+16) (column 3)\n"
		       "  f(arg0+16)\n"
		       "    ^");
	assert_refused(SPEC_OF_INTERVAL, "",
		       "the name of a function is expected here (column 1)\n"
		       "  \n"
		       "  ^");
	assert_refused(SPEC_OF_INTERVAL, "a .. b .. c",
		       "this is not understood (column 8)\n"
		       "  a .. b .. c\n"
		       "         ^");
	assert_refused(SPEC_OF_CARRY, "f(*****arg0)",
		       "at most 4 pointers are followed (column 3)\n"
		       "  f(*****arg0)\n"
		       "    ^");
	assert_refused(SPEC_OF_CARRY, "\xc3\xa4(arg0:3)",
		       "a width is 1, 2, 4 or 8 bytes (column 9)\n"
		       "  \xc3\xa4(arg0:3)\n"
		       "         ^");
}

static void what_was_found_later_is_shown_as_well(void **state)
{
	struct interval_specs s = { 0 };
	struct error err = { 0 };

	(void)state;
	add(&s, SPEC_OF_INTERVAL, "a .. bb");
	error_set(&err, ENOENT, "no function 'bb'");
	assert_int_equal(spec_show(&s.v.v[1], &err), -ENOENT);
	assert_string_equal(err.msg, "no function 'bb'\n"
				     "  a .. bb\n"
				     "       ^");
	specs_done(&s);
}

static void an_amount_of_work_needs_a_value(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	add(&s, SPEC_OF_WORK, "sort_rows(arg1)");
	assert_int_equal(s.v.v[0].role, SPEC_WORK);
	assert_int_equal(s.v.v[0].take.argument, 1);
	specs_done(&s);
	assert_refused(SPEC_OF_WORK, "sort_rows",
		       "--work needs a value that is an amount, as in sort_rows(arg1) (column 1)\n"
		       "  sort_rows\n  ^");
}

static void assert_path(const char *text, const char *path)
{
	struct interval_specs s = { 0 };

	add(&s, SPEC_OF_CARRY, text);
	assert_str_equal(s.v.v[0].path, path);
	assert_true(spec_has_value(&s.v.v[0]));
	specs_done(&s);
}

static void values_of_methods_are_paths(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	/* which of both is meant is known in the process */
	assert_path("Shop.order(id=arg0)", "arg0");
	assert_int_equal(carry("Shop.order(id=arg0)").take.from, TAKE_ARGUMENT);
	assert_path("Shop.order( id = this.call )", "this.call");
	assert_int_equal(carry("Shop.order(this.call)").take.from, TAKE_NOTHING);
	assert_path("shop.Shop.poll(ret)", "ret");
	assert_path("shop.Shop.poll(id=ret.getOrder().ids[2])", "ret.getOrder().ids[2]");
	assert_path("Shop.<init>(return)", "return");
	/* those of functions */
	assert_path("order(id=arg0)", "");
	assert_path("libshop.so!order(id=arg0)", "");
	assert_path("Shop.order(id=*(arg0+8))", "");
	assert_int_equal(carry("Shop.order(*(arg0+8))").take.nr_loads, 1);
	add(&s, SPEC_OF_INTERVAL, "Shop.begin(id=arg0.id) .. Shop.end(id=arg1)");
	assert_str_equal(s.v.v[0].path, "arg0.id");
	assert_str_equal(s.v.v[1].path, "arg1");
	specs_done(&s);
}

static void what_is_no_value_of_a_method_is_refused(void **state)
{
	(void)state;
	assert_refused(SPEC_OF_CARRY, "Shop.order(id=order.id)",
		       "'order' is no value: arg0 to arg5, or ret; of a Java method arg0, ret, "
		       "this, or what is in them (arg0.id, this.getId()) (column 15)\n"
		       "  Shop.order(id=order.id)\n"
		       "                ^");
	/* a row of values, a class, what was thrown */
	assert_refused(SPEC_OF_CARRY, "Shop.order(arg0.ids[])",
		       "')' is expected here (column 16)\n"
		       "  Shop.order(arg0.ids[])\n"
		       "                 ^");
	assert_refused(SPEC_OF_CARRY, "Shop.order(thrown)",
		       "'thrown' is no value: arg0 to arg5, or ret; of a Java method arg0, ret, "
		       "this, or what is in them (arg0.id, this.getId()) (column 12)\n"
		       "  Shop.order(thrown)\n"
		       "             ^");
	assert_refused(SPEC_OF_INTERVAL, "Shop.begin(id=arg0.id) .. Shop.end",
		       "both ends are named by a value, or none: (id=arg0) is missing here "
		       "(column 27)\n"
		       "  Shop.begin(id=arg0.id) .. Shop.end\n"
		       "                            ^");
}

static void assert_parts(const char *list, const char *const *parts)
{
	struct str left = str_of(list);

	for (; *parts; parts++)
		assert_str_equal(specs_next(&left), *parts);
	assert_int_equal(left.n, 0);
}
#define PARTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void commas_part_specs_but_not_names(void **state)
{
	struct interval_specs s = { 0 };

	(void)state;
	assert_parts("f, g(id=arg0) .. h(id=arg0)", PARTS("f", "g(id=arg0) .. h(id=arg0)"));
	assert_parts("map<int, std::pair<a, b>>::find, g",
		     PARTS("map<int, std::pair<a, b>>::find", "g"));
	assert_parts("run<void (int, long)>(id=arg1),f(int, long)::x",
		     PARTS("run<void (int, long)>(id=arg1)", "f(int, long)::x"));
	assert_parts("a::operator<, a::operator,,a::operator-><x, y>,a::operator()",
		     PARTS("a::operator<", "a::operator,", "a::operator-><x, y>", "a::operator()"));
	assert_parts("f<,g", PARTS("f<", "g"));
	assert_parts("f(,g", PARTS("f(,g"));
	add(&s, SPEC_OF_INTERVAL,
	    "map<int, void (*)(long)>::find(id=*(arg0+8)) .. b<1, 2>(id=ret)");
	assert_int_equal(s.v.nr, 2);
	assert_str_equal(s.v.v[0].name, "map<int, void (*)(long)>::find");
	assert_int_equal(s.v.v[0].take.nr_loads, 1);
	assert_str_equal(s.v.v[1].name, "b<1, 2>");
	specs_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_alone_is_each_call),
		cmocka_unit_test(two_points_begin_and_end),
		cmocka_unit_test(keys_follow_pointers),
		cmocka_unit_test(names_of_classes_hold_brackets),
		cmocka_unit_test(an_amount_of_work_needs_a_value),
		cmocka_unit_test(values_of_methods_are_paths),
		cmocka_unit_test(what_is_no_value_of_a_method_is_refused),
		cmocka_unit_test(commas_part_specs_but_not_names),
		cmocka_unit_test(static_probes_have_a_provider),
		cmocka_unit_test(errors_show_the_place),
		cmocka_unit_test(what_was_found_later_is_shown_as_well),
	};

	return RUN(tests);
}
