#include "unit.h"

#include "agent/jvm/field.h"
#include "agent/jvm/order.h"
#include "base/error.h"
#include "program/annotation.h"
#include "program/class.h"

#define HEAD "culprit-jvm\t1\nanswer\t/tmp/a\nregion\t7f00\n"

static int order_of(struct order *o, const char *text, struct error *err)
{
	return order_read(o, str_of(text), err);
}

static void an_order_says_all_that_is_wanted(void **state)
{
	struct error err = { 0 };
	struct order o;

	(void)state;
	assert_int_equal(order_of(&o,
				  HEAD "place\t7\texit\t0\ta.b.C+\tread\t(int)\n"
				       "export\t0\targ0.length\nexport\t3\treturn\n"
				       "carry\tentry\t0\ta.E\trun\t\tkeep\targ0\t\t\n"
				       "carry\tentry\t0\ta.V\trun\t\tmount\tthis\t\t\nend\n",
				  &err),
			 0);
	assert_str_equal(o.answer, "/tmp/a");
	assert_int_equal(o.region, 0x7f00);
	assert_int_equal(o.v.nr, 3);
	assert_int_equal(o.v.v[0].function, 7);
	assert_int_equal(o.v.v[0].moment, WANTED_EXIT);
	assert_true(o.v.v[0].has_subtypes);
	assert_str_equal(o.v.v[0].class, "a.b.C");
	assert_int_equal(o.v.v[0].nr_exports, 2);
	assert_int_equal(o.v.v[0].exports[1].number, 3);
	assert_int_equal(o.v.v[1].action, WANTED_KEEP);
	assert_str_equal(o.v.v[1].operands[0], "arg0");
	/* who runs is known before anything runs there, or is handed on */
	assert_int_equal(o.v.v[2].action, WANTED_MOUNT);
	assert_true(wanted_rank(&o.v.v[2]) < wanted_rank(&o.v.v[0]));
	order_done(&o);
}

static void calls_stops_and_questions_are_read(void **state)
{
	struct error err = { 0 };
	struct order o;

	(void)state;
	assert_int_equal(order_of(&o,
				  HEAD "time\t9\t3\ta.b.C\trun\t\n"
				       "time\t2\t8\ta.L\tacquire\t(int)\n"
				       "stops\t1\t2\nlook\t4\ta.Store+\tput\nend\n",
				  &err),
			 0);
	assert_int_equal(o.v.nr, 2);
	assert_int_equal(o.v.v[0].action, WANTED_TIME);
	assert_int_equal(o.v.v[0].function, 9);
	assert_int_equal(o.v.v[0].flags, WANTED_MARK | WANTED_UNIT);
	assert_str_equal(o.v.v[1].types, "(int)");
	assert_int_equal(o.v.v[1].flags, WANTED_LONG);
	assert_int_equal(o.pauses, 1);
	assert_int_equal(o.locks, 2);
	assert_int_equal(o.looks.nr, 1);
	assert_int_equal(o.looks.v[0].number, 4);
	assert_true(o.looks.v[0].of.has_subtypes);
	assert_str_equal(o.looks.v[0].of.method, "put");
	order_done(&o);
}

static void marks_of_calls_have_values(void **state)
{
	struct error err = { 0 };
	struct order o;

	(void)state;
	assert_int_equal(order_of(&o,
				  HEAD "time\t9\t3\ta.b.C\trun\t\targ0.id\t\n"
				       "time\t2\t4\ta.L\ttake\t\t\treturn\n"
				       "time\t3\t21\ta.L\tsort\t\tthis\targ1\nend\n",
				  &err),
			 0);
	assert_str_equal(o.v.v[0].operands[0], "arg0.id");
	assert_int_equal(o.v.v[0].operands[1].n, 0);
	assert_int_equal(o.v.v[1].operands[0].n, 0);
	assert_str_equal(o.v.v[1].operands[1], "return");
	assert_int_equal(o.v.v[2].flags, WANTED_MARK | WANTED_MARK_EXIT | WANTED_AMOUNT);
	assert_str_equal(o.v.v[2].operands[1], "arg1");
	assert_true(o.v.v[0].hash != o.v.v[1].hash);
	order_done(&o);
}

static void an_order_that_is_cut_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "culprit-jvm\t2\nend\n",
					     HEAD,
					     HEAD "place\t7\tsometimes\t0\ta.B\tc\t\nend\n",
					     HEAD "place\t99999\tentry\t0\ta.B\tc\t\nend\n",
					     HEAD "export\t0\targ0\nend\n",
					     HEAD "time\t1\t32\ta.B\tc\t\nend\n",
					     HEAD "time\t1\t2\ta.B\tc\t\targ0\t\nend\n",
					     HEAD "time\t1\t1\ta.B\tc\t\t\targ0\nend\n",
					     HEAD "look\t1\ta.B\nend\n",
					     HEAD "stops\t1\nend\n",
					     HEAD
					     "carry\tentry\t0\ta.B\tc\t\tsteal\targ0\t\t\nend\n" };
	struct error err = { 0 };
	struct order o;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_true(order_of(&o, wrong[i], &err) < 0);
		order_done(&o);
	}
}

static bool has(const char *method, const char *types, const char *name, const char *type)
{
	struct code code = { 0 };
	const struct wanted w = { .method = str_of(method), .types = str_of(types) };
	const struct member m = { .name = str_of(name), .type = str_of(type), .code = &code };

	return wanted_has_method(&w, &m);
}

static void methods_are_meant_by_name_and_types(void **state)
{
	(void)state;
	assert_true(has("read", "", "read", "([BII)I"));
	assert_true(has("read", "(byte[],int,int)", "read", "([BII)I"));
	assert_true(has("read", "( byte[], int , int )", "read", "([BII)I"));
	assert_false(has("read", "(byte[],int)", "read", "([BII)I"));
	assert_false(has("read", "()", "read", "([BII)I"));
	assert_true(has("read", "()", "read", "()I"));
	assert_true(has("set", "(String,java.util.Map)", "set",
			"(Ljava/lang/String;Ljava/util/Map;)V"));
	assert_true(has("set", "(Map.Entry)", "set", "(Ljava/util/Map/Entry;)V"));
	assert_false(has("set", "(ing)", "set", "(Ljava/lang/String;)V"));
	assert_true(has("get*", "", "getName", "()V"));
	assert_true(has("*", "", "getName", "()V"));
	assert_false(has("*", "", "<clinit>", "()V"));
	assert_false(has("get*", "", "forget", "()V"));
}

static void classes_are_meant_by_patterns(void **state)
{
	const struct wanted w = { .class = STR("org.*.Data*") };
	const struct wanted plain = { .class = STR("org.a.Data") };

	(void)state;
	assert_true(wanted_is_named(&w, STR("org.a.b.DataNode")));
	assert_true(wanted_is_named(&w, STR("org.a.Data")));
	assert_false(wanted_is_named(&w, STR("com.a.Data")));
	assert_true(wanted_is_named(&plain, STR("org.a.Data")));
	assert_false(wanted_is_named(&plain, STR("org.a.DataNode")));
}

static void what_has_an_annotation_is_meant_by_it(void **state)
{
	struct error err = { 0 };
	struct order o;

	(void)state;
	assert_int_equal(order_of(&o,
				  HEAD "place\t1\tentry\t0\t@a.Service\t*\t\n"
				       "place\t2\tentry\t0\ta.C\t@Timed\t(int)\nend\n",
				  &err),
			 0);
	assert_str_equal(o.v.v[0].class, "*");
	assert_str_equal(o.v.v[0].class_annotation, "a.Service");
	assert_int_equal(o.v.v[0].method_annotation.n, 0);
	assert_str_equal(o.v.v[1].class, "a.C");
	assert_str_equal(o.v.v[1].method, "*");
	assert_str_equal(o.v.v[1].method_annotation, "Timed");
	assert_str_equal(o.v.v[1].types, "(int)");
	order_done(&o);
}

static void annotations_have_their_packages_or_not(void **state)
{
	(void)state;
	assert_true(annotation_is(STR("La/b/Timed;"), STR("Timed")));
	assert_true(annotation_is(STR("La/b/Timed;"), STR("b.Timed")));
	assert_true(annotation_is(STR("La/b/Timed;"), STR("a.b.Timed")));
	assert_true(annotation_is(STR("La/b/C$Timed;"), STR("Timed")));
	assert_false(annotation_is(STR("La/b/Timed;"), STR("imed")));
	assert_false(annotation_is(STR("La/b/Timed;"), STR("")));
	assert_false(annotation_is(STR("a/b/Timed"), STR("Timed")));
	assert_false(annotation_is(STR("L;"), STR("Timed")));
}

/* Two annotations: La/One; with a list of an enum and of an annotation in it, and Lb/Two;. */
static void annotations_are_found_among_others(void **state)
{
	static const char class[] = "\xca\xfe\xba\xbe\0\0\0\x34\0\x0a"
				    "\1\0\3A/B\7\0\1\1\0\x10java/lang/Object\7\0\3"
				    "\1\0\7La/One;\1\0\7Lb/Two;\1\0\5value"
				    "\1\0\x19RuntimeVisibleAnnotations\1\0\1x"
				    "\0\x21\0\2\0\4\0\0\0\0\0\0"
				    "\0\1\0\x08\0\0\0\x19"
				    "\0\2\0\5\0\1\0\7[\0\2e\0\5\0\x09@\0\6\0\0\0\6\0\0";
	struct str whole = { class, sizeof(class) - 1 };
	struct arena a = { 0 };
	struct error err = { 0 };
	struct class c;

	(void)state;
	assert_int_equal(class_read(&c, whole, &a, &err), 0);
	assert_true(annotation_among(&c, c.annotations, STR("a.One")));
	assert_true(annotation_among(&c, c.annotations, STR("Two")));
	assert_false(annotation_among(&c, c.annotations, STR("Three")));
	/* one that is cut is none */
	for (size_t n = 0; n < c.annotations.n; n++)
		assert_false(annotation_among(&c, str_head(c.annotations, n), STR("Two")));
	arena_done(&a);
}

static void a_field_that_nobody_knows_is_found_among_others(void **state)
{
	unsigned char bytes[300] = { 0x08, 0x96, 0x01, 0x12, 0x02, 'h', 'i' };
	const unsigned char *found;
	size_t n = 7, length = 0;

	(void)state;
	assert_null(field_find(bytes, n, &length));
	n += field_put(bytes + n, "first", 5);
	bytes[n++] = 0x18;
	bytes[n++] = 0x07;
	found = field_find(bytes, n, &length);
	assert_non_null(found);
	assert_int_equal(length, 5);
	assert_memory_equal(found, "first", 5);
	/* the last one counts */
	n += field_put(bytes + n, "second", 6);
	found = field_find(bytes, n, &length);
	assert_int_equal(length, 6);
	assert_memory_equal(found, "second", 6);
	/* what is cut is none */
	found = field_find(bytes, n - 1, &length);
	assert_memory_equal(found, "first", 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_says_all_that_is_wanted),
		cmocka_unit_test(calls_stops_and_questions_are_read),
		cmocka_unit_test(marks_of_calls_have_values),
		cmocka_unit_test(an_order_that_is_cut_is_refused),
		cmocka_unit_test(methods_are_meant_by_name_and_types),
		cmocka_unit_test(classes_are_meant_by_patterns),
		cmocka_unit_test(what_has_an_annotation_is_meant_by_it),
		cmocka_unit_test(annotations_have_their_packages_or_not),
		cmocka_unit_test(annotations_are_found_among_others),
		cmocka_unit_test(a_field_that_nobody_knows_is_found_among_others),
	};

	return RUN(tests);
}
