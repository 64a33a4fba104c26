/*
 * Expressions evaluated in a JVM (agent/jvm/path.h), against what Things.java says.
 *
 *   test_path LIBJVM CLASSES [-Xcheck:jni] [bench]
 *
 * Not of cmocka: it takes the signals that a JVM needs.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/jvm/path.h"
#include "tests/jvm/jvm.h"
#include "lib/advice/java_path.h"

#define THINGS "LThings;"
#define OBJECT "Ljava/lang/Object;"

static unsigned nr_passed, nr_failed;
static jclass things_class;
static jobject things, derived, thrown;

static void check(bool holds, const char *what)
{
	if (holds) {
		nr_passed++;
		return;
	}
	nr_failed++;
	printf("FAILED: %s\n", what);
}

/* --- one value as a text ---------------------------------------------------------------------- */

static void tell_value(const struct advice_value *v, char *to, size_t n)
{
	double d;

	switch (v->type) {
	case ADVICE_BOOL:
		snprintf(to, n, "bool %s", v->i ? "true" : "false");
		break;
	case ADVICE_INT:
		snprintf(to, n, "int %lld", (long long)v->i);
		break;
	case ADVICE_REAL:
		memcpy(&d, &v->real, sizeof(d));
		snprintf(to, n, "real %.17g", d);
		break;
	case ADVICE_TEXTUAL:
		snprintf(to, n, "%s %.*s", v->flags & ADVICE_CUT ? "cut" : "text", v->length,
			 v->text);
		break;
	default:
		snprintf(to, n, "null");
	}
}

static void tell(struct path *p, JNIEnv *env, jvalue root, char *to, size_t n)
{
	static const char *const results[] = { "", "threw ", "missing ", "failed " };
	char text[ADVICE_TEXT];
	struct advice_value v;
	enum path_result result;
	size_t used;

	memset(text, '#', sizeof(text));
	memset(&v, 0xff, sizeof(v));
	result = path_eval(p, env, jvm_tools, root, &v, text);
	used = (size_t)snprintf(to, n, "%s", results[result]);
	tell_value(&v, to + used, n - used);
	if ((*env)->ExceptionCheck(env)) {
		(*env)->ExceptionClear(env);
		snprintf(to, n, "left an exception");
	}
}

static void expect_at(const char *path, jvalue root, const char *type, const char *expected)
{
	const char *why;
	struct path *p = path_new(str_of(path), type, &why);
	char got[256], what[1024];

	/* twice: found, and remembered */
	for (int i = 0; i < 2; i++) {
		if (p)
			tell(p, jvm_env, root, got, sizeof(got));
		else
			snprintf(got, sizeof(got), "refused: %s", why);
		snprintf(what, sizeof(what), "%s of %s is '%s', not '%s'", path, type, got,
			 expected);
		check(!strcmp(got, expected), what);
	}
	path_free(p, jvm_env);
}

static void expect(const char *path, const char *expected)
{
	expect_at(path, (jvalue){ .l = things }, THINGS, expected);
}

static void expect_number(const char *path, int64_t j, const char *type, const char *expected)
{
	expect_at(path, (jvalue){ .j = j }, type, expected);
}

/* --- the rules -------------------------------------------------------------------------------- */

static void roots_are_numbers_texts_and_constants(void)
{
	expect_number("arg0", -5, "I", "int -5");
	expect_number("arg0", 1, "Z", "bool true");
	expect_number("return", 0x20ac, "C", "text €");
	expect_number("arg0", 0x3f000000, "F", "real 0.5");
	expect_number("arg0", 0x4004000000000000, "D", "real 2.5");
	expect_number("arg0", INT64_MIN, "J", "int -9223372036854775808");
	expect_number("duration", 123, "J", "int 123");
	expect_number("duration", 123, NULL, "int 123");
	expect_number("7", 0, NULL, "int 7");
	expect_number("-0x10", 0, NULL, "int -16");
	expect_number("1.25", 0, NULL, "real 1.25");
	expect_number("true", 0, NULL, "bool true");
	expect_number("'of the house'", 0, NULL, "text of the house");
	expect_number("'01234567890123456789012345678901234567890123456é'", 0, NULL,
		      "cut 01234567890123456789012345678901234567890123456");
	expect_number("arg0.x", 1, "I", "refused: a number has neither fields nor elements");
	expect_number("return", 1, "V", "refused: the method returns nothing");
	expect_number("arg0", 1, NULL, "refused: there is no such value here");
	expect_at("arg0.name", (jvalue){ .l = NULL }, THINGS, "null");
	expect_at("arg0.length", (jvalue){ .l = NULL }, "[I", "null");
	expect_at("arg0[].x", (jvalue){ .l = NULL }, "[LX;", "null");
	expect_at("arg0.class", (jvalue){ .l = NULL }, THINGS, "null");
}

static void fields_of_all_types_are_read(void)
{
	expect("this.i", "int -5");
	expect("this.j", "int -9223372036854775808");
	expect("this.s", "int -3");
	expect("this.b", "int -1");
	expect("this.c", "text é");
	expect("this.half", "text \xef\xbf\xbd");
	expect("this.z", "bool true");
	expect("this.f", "real 0.5");
	expect("this.d", "real 0.10000000000000001");
	expect("this.boxed", "int 1234");
	expect("this.boxedLong", "int -1");
	expect("this.boxedByte", "int 1");
	expect("this.boxedDouble", "real 2.5");
	expect("this.boxedFloat", "real 0.25");
	expect("this.boxedBoolean", "bool false");
	expect("this.boxedChar", "text x");
	expect("this.counter", "int 99");
	expect("this.any", "text any");
	expect("this.state", "text RUNNING");
	expect("this.nothing", "null");
	expect("this.ofAll", "missing null");
	expect("this.nobody", "missing null");
	expect("this.i.x", "missing null");
}

static void getters_of_all_types_are_called(void)
{
	expect("this.isReady()", "bool true");
	expect("this.getFloat()", "real 1.5");
	expect("this.getDouble()", "real -2.25");
	expect("this.getChar()", "text q");
	expect("this.getByte()", "int -8");
	expect("this.getShort()", "int 300");
	expect("this.getLong()", "int 1125899906842624");
	expect("this.getInts()", "text [1,-2,3]");
	expect("this.getKind()", "text covariant");
	expect("this.getKind().length()", "int 9");
	expect("this.getSize()", "int 42");
	expect("this.getPrivate()", "text private of the base");
	expect("this.shared()", "missing null");
	expect("this.nothing()", "missing null");
	expect("this.withArgument()", "missing null");
	expect("this.map.size()", "int 2");
	expect("this.list.size()", "int 3");
	expect("this.ints.getClass().getName()", "text [I");
	expect("this.state.ordinal()", "int 0");
	expect("this.fails()", "threw null");
	expect("this.fails().length()", "threw null");
}

static void members_are_those_of_the_declared_type(void)
{
	jvalue d = { .l = derived };

	expect("this.name", "text things");
	expect("this.hidden", "text of the base");
	expect("this.secret", "int 7");
	expect_at("this.name", d, "LDerived;", "text derived");
	expect_at("this.name", d, THINGS, "text things");
	expect_at("this.name", d, "LBase;", "text base");
	expect_at("this.name", d, OBJECT, "text derived");
	expect_at("this.hidden", d, OBJECT, "text of the base");
	expect_at("this.getName()", d, THINGS, "text derived getter");
	expect_at("this.getName()", d, "LBase;", "text derived getter");
	expect_at("this.getSize()", d, "LSized;", "int 43");
	expect_at("this.getKind()", d, "LSized;", "text covariant");
	expect_at("this.i", d, "LSized;", "int -5");
	expect_at("thrown.getMessage()", (jvalue){ .l = thrown }, "Ljava/lang/Throwable;",
		  "text it broke");
	expect_at("thrown.detailMessage", (jvalue){ .l = thrown }, OBJECT, "text it broke");
	expect_at("thrown.class", (jvalue){ .l = thrown }, "Ljava/lang/Throwable;",
		  "text java.lang.IllegalStateException");
	expect_at("thrown", (jvalue){ .l = thrown }, "Ljava/lang/Throwable;",
		  "text java.lang.IllegalStateException: it broke");
}

static void paths_go_deep_and_end_at_null(void)
{
	expect("this.node.next.next.id", "int 3");
	expect("this.node.next.next.getId()", "int 3");
	expect("this.node.next.next.next.id", "null");
	expect("this.node.next.next.next.next.next.next", "null");
	expect("this.node.payload", "text payload 1");
	expect("this.node.payload.length()", "int 9");
	expect("this.nothing.whatever().x[0]", "null");
	expect("this.late.x", "null");
	expect("this.node", "text node1");
	expect("this.broken", "threw null");
	expect("this.broken.x", "int 1");
	expect("this.silent", "null");
}

static uint64_t id_of(const char *path, jvalue root, const char *type, enum path_result expected)
{
	const char *why;
	struct path *p = path_new(str_of(path), type, &why);
	uint64_t id = 0, again = 1;

	check(p && path_id(p, jvm_env, jvm_tools, root, &id) == expected &&
		      path_id(p, jvm_env, jvm_tools, root, &again) == expected && id == again &&
		      !(*jvm_env)->ExceptionCheck(jvm_env),
	      path);
	path_free(p, jvm_env);
	return id;
}

static uint64_t id(const char *path)
{
	return id_of(path, (jvalue){ .l = things }, THINGS, PATH_FOUND);
}

static uint64_t text_id(const char *text)
{
	jobject s = (*jvm_env)->NewStringUTF(jvm_env, text);
	uint64_t id = id_of("arg0", (jvalue){ .l = s }, OBJECT, PATH_FOUND);

	(*jvm_env)->DeleteLocalRef(jvm_env, s);
	return id;
}

static void what_is_the_same_has_one_id(void)
{
	char text[10001];
	jint hash = 0;

	check(id_of("arg0", (jvalue){ .j = -5 }, "I", PATH_FOUND) == (uint64_t)-5, "a number");
	check(id("this.i") == (uint64_t)-5 && id("this.j") == (uint64_t)INT64_MIN, "fields");
	check(id("this.boxed") == 1234 && id("this.boxedLong") == (uint64_t)-1, "boxes");
	check(id("this.boxedBoolean") == 0 && id("this.boxedChar") == 'x', "small boxes");
	check(id("this.boxedDouble") == 0x4004000000000000, "a box of a real number");
	check(id("this.nothing") == 0 && id("this.node.next.next.next.id") == 0, "null");
	check(id("this.name") == text_id("things") && id("this.name") != text_id("thing"), "texts");
	check(id("this.any") == text_id("any"), "a text behind an object");
	check(id("this.node") == id("this.nodes[0]") && id("this.node") != id("this.node.next"),
	      "objects");
	(*jvm_tools)->GetObjectHashCode(jvm_tools, things, &hash);
	check(hash && id_of("this", (jvalue){ .l = things }, THINGS, PATH_FOUND) == (uint64_t)hash,
	      "who an object is");
	/* its number changes */
	check(id("this.counter") != 99, "an AtomicLong");
	memset(text, 'x', sizeof(text) - 1);
	text[10000] = 0;
	check(text_id(text) != text_id(text + 1) && text_id(text) != text_id(""), "lengths");
	id_of("this.fails()", (jvalue){ .l = things }, THINGS, PATH_THREW);
	id_of("this.absent", (jvalue){ .l = things }, THINGS, PATH_MISSING);
	id_of("this.nodes[].id", (jvalue){ .l = things }, THINGS, PATH_MISSING);
}

static void expect_amount(const char *path, enum path_result expected, int64_t amount)
{
	const char *why;
	struct path *p = path_new(str_of(path), THINGS, &why);
	int64_t got = 0;

	check(p && path_amount(p, jvm_env, jvm_tools, (jvalue){ .l = things }, &got) == expected &&
		      got == amount,
	      path);
	path_free(p, jvm_env);
}

static void amounts_are_numbers(void)
{
	expect_amount("this.i", PATH_FOUND, -5);
	expect_amount("this.boxed", PATH_FOUND, 1234);
	expect_amount("this.counter", PATH_FOUND, 99);
	expect_amount("this.boxedDouble", PATH_FOUND, 2);
	expect_amount("this.f", PATH_FOUND, 0);
	expect_amount("this.doubles[2]", PATH_FOUND, 2);
	expect_amount("this.doubles[1]", PATH_MISSING, 0);
	expect_amount("this.ints.length", PATH_FOUND, 3);
	expect_amount("this.list.size()", PATH_FOUND, 3);
	expect_amount("this.name", PATH_MISSING, 0);
	expect_amount("this.nothing", PATH_MISSING, 0);
}

static void elements_are_taken_one_by_one_or_all(void)
{
	expect("this.ints[1]", "int -2");
	expect("this.longs[0]", "int 1099511627776");
	expect("this.floats[0]", "real 0.5");
	expect("this.shorts[0]", "int -7");
	expect("this.chars[1]", "text é");
	expect("this.ints[3]", "null");
	expect("this.list[2].id", "int 3");
	expect("this.list[3].id", "null");
	expect("this.queue[0]", "missing null");
	expect("this.node[0]", "missing null");
	expect("this.grid[2][0]", "text c");
	expect("this.anyArray[1]", "int 2");
	expect("this.nodes[].id", "text 1,2,3");
	expect("this.list[].getId()", "text 1,2,3");
	expect("this.list[].next.id", "text 2,3,null");
	expect("this.list[].getOdd()", "threw text 1,null,3");
	expect("this.list[]", "text node1,node2,node3");
	expect("this.queue[]", "text q1,q2");
	expect("this.queue[].length()", "text 2,2");
	expect("this.empty[]", "text ");
	expect("this.grid[][]", "text a,b,c,null");
	expect("this.grid[].length", "text 2,0,2");
	expect("this.nodes[].class", "text Things$Node,Things$Node,Things$Node");
	expect("this.map[]", "missing null");
	expect("this.i[]", "missing null");
	expect("this.node[]", "missing null");
	expect("this.blanks[][]", "cut ");
	expect("this.getCrooked()[]", "threw null");
}

static void lengths_and_classes_are_told(void)
{
	expect("this.ints.length", "int 3");
	expect("this.anyArray.length", "int 2");
	expect("this.withLength.length.id", "int 9");
	expect("this.node.length", "missing null");
	expect("this.any.class", "text java.lang.String");
	expect("this.ints.class", "text int[]");
	expect("this.grid.class", "text java.lang.String[][]");
	expect("this.node.class", "text Things$Node");
	expect("this.i.class", "missing null");
	expect("this.state.class", "text Things$State$1");
	expect("this.queue.getClass().class", "text java.lang.Class");
}

static void listings_are_bounded(void)
{
	expect("this.ints", "text [1,-2,3]");
	expect("this.doubles", "text [0.1,1e+300,2]");
	expect("this.flags", "text [true,false]");
	expect("this.bytes", "text [1,-1]");
	expect("this.chars", "text [a,é]");
	expect("this.grid", "text [[a,b],[],[c,null]]");
	expect("this.list", "text [node1,node2,node3]");
	expect("this.map", "text {a=1,b=2}");
	expect("this.mixed", "threw text [1,two,null,null,3.5]");
	expect("this.knot", "text [[[[[…]]]]]");
	expect("this.getCrooked()", "threw null");
	expect("this.crookeds", "threw text [null,1]");
	expect("this.many", "cut [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	expect("this.many[]", "cut 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,");
}

static void texts_are_cut_at_a_character(void)
{
	expect("this.exact", "text 0123456789012345678901234567890123456789abcdefgh");
	expect("this.longer", "cut 0123456789012345678901234567890123456789abcdefgh");
	expect("this.two", "cut 0123456789012345678901234567890123456789abcdefg");
	expect("this.three", "cut 0123456789012345678901234567890123456789abcdef");
	expect("this.pair", "text 0123456789012345678901234567890123456789abcd😀");
	expect("this.pairCut", "cut 0123456789012345678901234567890123456789abcde");
}

/* --- what must hold over time ----------------------------------------------------------------- */

static bool static_flag(const char *name)
{
	jfieldID id = (*jvm_env)->GetStaticFieldID(jvm_env, things_class, name, "Z");

	return id && (*jvm_env)->GetStaticBooleanField(jvm_env, things_class, id);
}

static void no_class_is_initialised_by_us(void)
{
	expect("this.late", "null");
	check(!static_flag("lateIsThere"), "a class was initialised");
}

/* All of a crowd by one path: more classes than are remembered. */
static void eval_crowd(jobjectArray crowd, const char *path, const char *format)
{
	const char *why;
	struct path *p = path_new(str_of(path), OBJECT, &why);
	jsize nr = (*jvm_env)->GetArrayLength(jvm_env, crowd);
	char got[256], expected[64];

	for (jsize i = 0; i < 2 * nr; i++) {
		jobject one = (*jvm_env)->GetObjectArrayElement(jvm_env, crowd, i % nr);

		snprintf(expected, sizeof(expected), format, (int)(i % nr));
		tell(p, jvm_env, (jvalue){ .l = one }, got, sizeof(got));
		check(!strcmp(got, expected), expected);
		(*jvm_env)->DeleteLocalRef(jvm_env, one);
	}
	expect_at("arg0[].getName()", (jvalue){ .l = crowd }, "[Ljava/lang/Object;",
		  "cut n0,n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12,n13,n1");
	path_free(p, jvm_env);
}

/* The path outlives the crowd. */
static void any_number_of_classes_may_come_by_and_go(void)
{
	jmethodID make = (*jvm_env)->GetStaticMethodID(jvm_env, things_class, "crowd",
						       "(I)[Ljava/lang/Object;");
	jmethodID gone = (*jvm_env)->GetStaticMethodID(jvm_env, things_class, "crowdIsGone", "()Z");
	jvalue nr = { .i = 40 };
	const char *why;
	struct path *p = path_new(STR("arg0[].getName()"), "[Ljava/lang/Object;", &why);
	jobjectArray crowd = (*jvm_env)->CallStaticObjectMethodA(jvm_env, things_class, make, &nr);
	char got[256];

	if ((*jvm_env)->ExceptionCheck(jvm_env))
		exit(1);
	eval_crowd(crowd, "arg0.getName()", "text n%d");
	eval_crowd(crowd, "arg0", "text I am n%d");
	eval_crowd(crowd, "arg0.getName().length", "missing null");
	tell(p, jvm_env, (jvalue){ .l = crowd }, got, sizeof(got));
	(*jvm_env)->DeleteLocalRef(jvm_env, crowd);
	check((*jvm_env)->CallStaticBooleanMethodA(jvm_env, things_class, gone, NULL),
	      "classes that a path has seen are unloaded");
	if ((*jvm_env)->ExceptionCheck(jvm_env))
		exit(1);
	path_free(p, jvm_env);
}

static void a_million_times_leaves_no_references(void)
{
	static const char *const paths[] = { "this.node.next.getId()",
					     "this.list[].getOdd()",
					     "this.list[1].payload",
					     "this.fails()",
					     "this.map",
					     "this.any.class",
					     "this.nobody" };
	enum { NR = sizeof(paths) / sizeof(*paths) };
	const char *why;
	struct path *p[NR];
	struct advice_value v;
	char text[ADVICE_TEXT];

	for (int i = 0; i < NR; i++)
		p[i] = path_new(str_of(paths[i]), THINGS, &why);
	for (int i = 0; i < 1000000 && !jvm_nr_complaints(); i++)
		path_eval(p[i % NR], jvm_env, jvm_tools, (jvalue){ .l = things }, &v, text);
	for (int i = 0; i < NR; i++)
		path_free(p[i], jvm_env);
	check(jvm_nr_complaints() == 0, "the JVM complains");
}

struct shared {
	struct path *path;
	unsigned nr_wrong;
};

static void *eval_on_a_thread(void *arg)
{
	struct shared *s = arg;
	JNIEnv *env;
	char got[256];

	if ((*jvm)->AttachCurrentThread(jvm, (void **)&env, NULL))
		return NULL;
	for (int i = 0; i < 20000; i++) {
		tell(s->path, env, (jvalue){ .l = i & 1 ? derived : things }, got, sizeof(got));
		if (strcmp(got, i & 1 ? "text derived getter" : "text getter"))
			s->nr_wrong++;
	}
	(*jvm)->DetachCurrentThread(jvm);
	return s;
}

static void threads_share_a_path(void)
{
	const char *why;
	struct path *p = path_new(STR("this.getName()"), THINGS, &why);
	struct shared shared[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		shared[i] = (struct shared){ .path = p };
		check(!pthread_create(&threads[i], NULL, eval_on_a_thread, &shared[i]), "a thread");
	}
	for (int i = 0; i < 4; i++) {
		void *done;

		pthread_join(threads[i], &done);
		check(done && !shared[i].nr_wrong, "a thread has seen what another looked for");
	}
	path_free(p, jvm_env);
}

/* --- on request ------------------------------------------------------------------------------- */

/* Of the processor: what else a machine has to do is not counted. */
static void bench_one(const char *path, jvalue root, const char *type)
{
	const char *why;
	struct path *p = path_new(str_of(path), type, &why);
	struct advice_value v;
	struct timespec from, to;
	char text[ADVICE_TEXT];
	enum { NR = 2000000 };

	for (int i = 0; i < NR / 4; i++)
		path_eval(p, jvm_env, jvm_tools, root, &v, text);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (int i = 0; i < NR; i++)
		path_eval(p, jvm_env, jvm_tools, root, &v, text);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	printf("%-24s %6.1f ns\n", path,
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
		       NR);
	path_free(p, jvm_env);
}

static void bench(void)
{
	jvalue o = { .l = things };

	bench_one("arg0", (jvalue){ .j = 5 }, "I");
	bench_one("arg0.i", o, THINGS);
	bench_one("arg0.getLong()", o, THINGS);
	bench_one("arg0.any", o, THINGS);
	bench_one("arg0.getName()", o, THINGS);
	bench_one("arg0.boxed", o, THINGS);
	bench_one("arg0.state", o, THINGS);
	bench_one("arg0.node.next.next.id", o, THINGS);
	bench_one("arg0.list[0].id", o, THINGS);
	bench_one("arg0.nodes[].id", o, THINGS);
	bench_one("arg0.class", o, THINGS);
}

static void run(void)
{
	roots_are_numbers_texts_and_constants();
	fields_of_all_types_are_read();
	getters_of_all_types_are_called();
	members_are_those_of_the_declared_type();
	paths_go_deep_and_end_at_null();
	what_is_the_same_has_one_id();
	amounts_are_numbers();
	elements_are_taken_one_by_one_or_all();
	lengths_and_classes_are_told();
	listings_are_bounded();
	texts_are_cut_at_a_character();
	no_class_is_initialised_by_us();
	any_number_of_classes_may_come_by_and_go();
	threads_share_a_path();
	a_million_times_leaves_no_references();
}

int main(int argc, char **argv)
{
	bool is_bench = argc > 3 && !strcmp(argv[argc - 1], "bench");

	if (argc < 3 || !jvm_start(argv[1], argv[2], argc - is_bench > 3 ? argv[3] : NULL)) {
		puts("no JVM starts here");
		return 77;
	}
	things_class = (*jvm_env)->FindClass(jvm_env, "Things");
	if (!things_class)
		return 1;
	things = (*jvm_env)->NewGlobalRef(jvm_env, jvm_make(things_class, "make", "()" THINGS));
	derived = (*jvm_env)->NewGlobalRef(jvm_env, jvm_make(things_class, "derived", "()" THINGS));
	thrown = jvm_make(things_class, "thrown", "()Ljava/lang/Throwable;");
	if (is_bench)
		bench();
	else
		run();
	printf("%u passed, %u failed, 0 skipped\n", nr_passed, nr_failed);
	return nr_failed ? 1 : 0;
}
