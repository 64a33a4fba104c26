#include "unit.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "query/advice_compile.h"
#include "query/advice_verify.h"
#include "query/parse.h"

static struct arena arena;
static struct error err;

static int parse(const char *text, struct tracepoints *t)
{
	err = (struct error){ 0 };
	return tracepoints_parse(STR("x.tp"), str_of(text), &arena, t, &err);
}

/* The message has the words. */
static void refused(const char *text, const char *words)
{
	struct tracepoints t;

	assert_int_equal(parse(text, &t), -22);
	if (!strstr(err.msg, words))
		fail_msg("'%s' does not say '%s'", err.msg, words);
}

static void places_have_binary_name_and_moment(void **state)
{
	struct tracepoints t;
	const struct tracepoint *p;

	(void)state;
	assert_int_equal(parse("# of a server\ntracepoint DB.Query # one\n\tat function "
			       "postgres!ns::run(int, char) exit\n  at function b!c\n"
			       "begins a request\ntracepoint `odd name` at class a.B.c line 12\n"
			       "export who = this.user, n = arg0.f()[1] # both\n",
			       &t),
			 0);
	assert_int_equal(t.nr, 2);
	p = tracepoints_find(&t, 1, STR("DB.Query"));
	assert_int_equal(p->nr_places, 2);
	assert_true(p->begins_request);
	assert_int_equal(p->places[0].where, WHERE_FUNCTION);
	assert_str_equal(p->places[0].binary, "postgres");
	assert_str_equal(p->places[0].name, "ns::run(int, char)");
	assert_int_equal(p->places[0].moment, MOMENT_EXIT);
	assert_int_equal(p->places[1].moment, MOMENT_ENTRY);
	p = tracepoints_find(&t, 1, STR("odd name"));
	assert_int_equal(p->places[0].where, WHERE_CLASS);
	assert_int_equal(p->places[0].line, 12);
	assert_str_equal(p->exports[1].expression, "arg0.f()[1]");
	assert_int_equal(tracepoint_input(p, STR("n")), ADVICE_INPUT_OWN + 1);
	assert_int_equal(tracepoint_input(p, STR("procId")), ADVICE_INPUT_PROC_ID);
	assert_int_equal(tracepoint_input(p, STR("nobody")), -1);
	assert_null(tracepoints_find(&t, 1, STR("DB")));
}

static void system_calls_are_known_by_name(void **state)
{
	struct tracepoints t;
	const struct tracepoint *p;

	(void)state;
	assert_int_equal(
		parse("tracepoint A at syscall read exit\n at syscall write\n"
		      "tracepoint B at syscall fsync exit export fd = arg0:i32, r = return",
		      &t),
		0);
	p = tracepoints_find(&t, 1, STR("A"));
	assert_int_equal(p->places[0].where, WHERE_SYSCALL);
	assert_int_equal(p->places[0].call, SYS_read);
	assert_int_equal(p->places[0].moment, MOMENT_EXIT);
	assert_int_equal(p->places[1].call, SYS_write);
	assert_int_equal(p->places[1].moment, MOMENT_ENTRY);
	assert_true(tracepoint_is_at(p, WHERE_SYSCALL));
	assert_false(tracepoint_is_at(p, WHERE_FUNCTION));
	p = tracepoints_find(&t, 1, STR("B"));
	assert_int_equal(p->exports[1].taking.from, ADVICE_FROM_RETURN);
	refused("tracepoint A at syscall fsyncc", "did you mean 'fsync'?");
	refused("tracepoint A at syscall fsync exception", "entry and exit only");
	refused("tracepoint A at syscall fsync export x = arg6", "of a syscall arg0 to arg5");
	refused("tracepoint A at syscall fsync export x = return", "write 'exit'");
	refused("tracepoint A begins a request at syscall fsync", "no request can begin");
}

static struct advice_taking taking_of(const char *value, enum value_type *type)
{
	struct tracepoints t;
	struct buf b = { 0 };

	buf_fmt(&b, "tracepoint A at function a!b exit export x = %s", value);
	buf_char(&b, 0);
	if (parse(b.p, &t) < 0)
		fail_msg("%s", err.msg);
	*type = t.v[0].exports[0].type;
	buf_done(&b);
	return t.v[0].exports[0].taking;
}

static void values_are_found_through_pointers(void **state)
{
	enum value_type type;
	struct advice_taking t = taking_of("arg3", &type);

	(void)state;
	assert_int_equal(t.from, ADVICE_FROM_ARGUMENT);
	assert_int_equal(t.number, 3);
	assert_int_equal(t.memory, ADVICE_I64);
	assert_int_equal(t.nr_loads, 0);
	t = taking_of("*(arg1 + 0x10):u16", &type);
	assert_int_equal(t.nr_loads, 1);
	assert_int_equal(t.offsets[0], 16);
	assert_int_equal(t.memory, ADVICE_U16);
	t = taking_of("*(*(*(return - 8) + 24)+4):bool", &type);
	assert_int_equal(t.from, ADVICE_FROM_RETURN);
	assert_int_equal(t.nr_loads, 3);
	assert_int_equal(t.offsets[0], -8);
	assert_int_equal(t.offsets[1], 24);
	assert_int_equal(t.offsets[2], 4);
	assert_int_equal(type, VALUE_BOOL);
	t = taking_of("*(*(arg0 + 16) + 2):text", &type);
	assert_int_equal(t.nr_loads, 1);
	assert_int_equal(t.offsets[0], 16);
	assert_int_equal(t.offsets[1], 2);
	assert_int_equal(type, VALUE_TEXT);
	t = taking_of("arg0:text", &type);
	assert_int_equal(t.nr_loads, 0);
	assert_int_equal(t.memory, ADVICE_CHARS);
	t = taking_of("duration", &type);
	assert_int_equal(t.from, ADVICE_FROM_DURATION);
	t = taking_of("7", &type);
	assert_int_equal(t.from, ADVICE_FROM_CONSTANT);
	assert_int_equal(t.constant, 7);
}

static enum value_type java_type_of(const char *value)
{
	struct tracepoints t;
	struct buf b = { 0 };

	buf_fmt(&b, "tracepoint A at class a.B.c exit\n export x = %s , y = this\n", value);
	buf_char(&b, 0);
	if (parse(b.p, &t) < 0)
		fail_msg("%s", err.msg);
	assert_str_equal(t.v[0].exports[0].expression, value);
	assert_str_equal(t.v[0].exports[1].expression, "this");
	assert_int_equal(t.v[0].exports[0].taking.from, ADVICE_FROM_NOTHING);
	buf_done(&b);
	return t.v[0].exports[0].type;
}

static void classes_export_paths(void **state)
{
	(void)state;
	assert_int_equal(java_type_of("this"), VALUE_NULL);
	assert_int_equal(java_type_of("return.getLocatedBlocks()[0].getLocations()"), VALUE_NULL);
	assert_int_equal(java_type_of("arg254.length"), VALUE_NULL);
	assert_int_equal(java_type_of("arg0[].getXferPort()"), VALUE_TEXT);
	assert_int_equal(java_type_of("this.class"), VALUE_TEXT);
	assert_int_equal(java_type_of("'a, # and b'"), VALUE_TEXT);
	assert_int_equal(java_type_of("duration"), VALUE_INT);
	assert_int_equal(java_type_of("-0x10"), VALUE_INT);
	assert_int_equal(java_type_of("-1.5"), VALUE_DOUBLE);
	assert_int_equal(java_type_of("false"), VALUE_BOOL);
}

static void mistakes_in_paths_of_classes_are_told(void **state)
{
	static const struct {
		const char *value, *words;
	} wrongs[] = {
		{ "user.id", "column 41: a value is expected: this, arg0" },
		{ "arg255", "arg0 to arg254" },
		{ "arg0.", "column 46: the name of a field or of a getter" },
		{ "arg0.f(1)", "column 48: ')' is expected: only methods without" },
		{ "arg0.f(", "only methods without arguments" },
		{ "arg0[x]", "column 46: a number is expected, or ']'" },
		{ "arg0[1", "']' is expected" },
		{ "arg0[99999999999]", "a number is expected" },
		{ "arg0.a b", "column 48: ',' or the end of the line" },
		{ "arg0 + 1", "column 46: ',' or the end of the line" },
		{ "arg0.class.name", "nothing follows '.class'" },
		{ "duration.x", "column 49: this has neither fields" },
		{ "this.a.b.c.d.e.f.g.h.i", "column 61: a path has at most 8 steps" },
		{ "'abc", "the quote does not end" },
		{ "99999999999999999999", "of at most 64 bits" },
		{ "1.23456789012345678", "at most 15 digits" },
		{ "thrown", "write 'exception'" },
		{ "", "a value is expected" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		struct buf b = { 0 };

		buf_fmt(&b, "tracepoint A at class B.c exit export x=%s", wrongs[i].value);
		buf_char(&b, 0);
		refused(b.p, wrongs[i].words);
		buf_done(&b);
	}
	refused("tracepoint A at class B.c export x = return", "write 'exit'");
	refused("tracepoint A at class B.c export x = duration", "write 'exit'");
	refused("tracepoint A at class B.c line 3 export x = thrown.class", "write 'exception'");
	refused("tracepoint A at class B.c exception export x = return", "nothing is returned");
}

static void a_method_that_returns_or_throws_may_export_both(void **state)
{
	struct tracepoints t;

	(void)state;
	assert_int_equal(parse("tracepoint A at class B.c exit at class B.c exception export "
			       "r = return, e = thrown.getMessage(), took = duration",
			       &t),
			 0);
	assert_int_equal(t.v[0].exports[1].java_root, JAVA_THROWN);
}

static void mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	refused("tracepoint", "x.tp: line 1, column 11: the name of the tracepoint is expected");
	refused("tracepoint A", "line 1, column 12: where is it?");
	refused("tracpoint A", "did you mean 'tracepoint'?");
	refused("tracepoint A\n at functon a!b", "line 2, column 5: function, usdt");
	refused("tracepoint A\n at functon a!b", "did you mean 'function'?");
	refused("tracepoint A at function ab", "binary!function");
	refused("tracepoint A at usdt ab", "provider:probe");
	refused("tracepoint A at usdt a:b exit", "at one moment");
	refused("tracepoint A at function a!b line 3", "only classes");
	refused("tracepoint A at function a!b exprt x = 1", "did you mean 'export'?");
	refused("tracepoint A export x = arg0", "'at' is expected before");
	refused("tracepoint A at function a!b export x arg0", "'=' is expected");
	refused("tracepoint A at function a!b export x = arg7", "arg0 to arg5");
	refused("tracepoint A at function a!b export x = arg12", "arg0 to arg11");
	refused("tracepoint A at function a!b export x = return", "write 'exit'");
	refused("tracepoint A at function a!b exit export x = *(duration)", "no address");
	refused("tracepoint A at function a!b export x = arg0:u33", "a type is expected");
	refused("tracepoint A at function a!b export x = *(arg0", "')' is expected");
	refused("tracepoint A at function a!b export x = *(*(*(*(*(arg0)))))", "at most 4");
	refused("tracepoint A at function a!b export x = arg0, x = arg1", "exported already");
	refused("tracepoint A at function a!b export time = arg0", "exported already");
	refused("tracepoint A at function a!b tracepoint A at function a!c", "defined already");
	refused("tracepoint 'A at function a!b", "the quote does not end");
	refused("tracepoint A at class a.b export x = ", "a value is expected");
}

static void sets_that_come_along_are_sound(void **state)
{
	size_t nr = 0, nr_points = 0;

	(void)state;
	for (const struct tracepoint_set *s; (s = tracepoint_set_at(nr)); nr++) {
		struct tracepoints t;

		if (tracepoints_parse(str_of(s->name), s->text, &arena, &t, &err) < 0)
			fail_msg("%s", err.msg);
		assert_true(t.nr > 3 || (t.nr == 2 && strcmp(s->name, "stress") == 0));
		nr_points += t.nr;
		assert_ptr_equal(tracepoint_set_find(str_of(s->name)), s);
	}
	assert_int_equal(nr, 10);
	assert_true(nr_points > 100);
	assert_null(tracepoint_set_find(STR("nobody")));
}

/* --- queries of them -------------------------------------------------------------------------- */

static int make(const char *query, const struct tracepoints *t, struct advice_set *set)
{
	struct queries q;
	struct plan p;
	int got;

	err = (struct error){ 0 };
	if (query_parse(str_of(query), &arena, &q, &err) < 0 ||
	    query_plan(&p, &q, REWRITE_ALL, &arena, &err) < 0)
		fail_msg("%s", err.msg);
	got = advice_make(set, &p, 7, t, 1, &arena, &err);
	query_plan_done(&p);
	return got;
}

static const char two[] =
	"tracepoint Net.Call at function a!b export size = arg0, user = arg1:text\n"
	"tracepoint Disk.Read at function a!c export bytes = arg0\n"
	"tracepoint Disk.Sync at syscall fsync export fd = arg0\n";

static void not_made(const char *query, const char *words)
{
	struct advice_set set;
	struct tracepoints t;

	assert_int_equal(parse(two, &t), 0);
	assert_int_equal(make(query, &t, &set), -22);
	if (!strstr(err.msg, words))
		fail_msg("'%s' does not say '%s'", err.msg, words);
}

static void queries_that_cannot_run_there_are_refused(void **state)
{
	(void)state;
	not_made("From r In Disk.Read Join s In First(Disk.Sync) On s -> r Select COUNT",
		 "'Disk.Sync' cannot be joined: a system call is watched from outside");
	not_made("From d In Disk.Raed Select d.bytes",
		 "line 1, column 11: no tracepoint is called 'Disk.Raed'; did you mean "
		 "'Disk.Read'?");
	not_made("From d In Nothing Select d.time", "--tracepoints FILE");
	not_made("From d In Disk.Read Select d.byte",
		 "'Disk.Read' exports no 'byte'; did you mean 'bytes'?");
	not_made("From d In Disk.Read Where d.host = "
		 "'a name that is much longer than all that is kept of texts' Select d.time",
		 "at most 48 bytes");
}

static void a_union_needs_one_that_has_the_field(void **state)
{
	struct advice_set set;
	struct tracepoints t;

	(void)state;
	assert_int_equal(parse(two, &t), 0);
	assert_int_equal(make("From d In Disk.Read, Net.Call Select d.bytes, d.host", &t, &set), 0);
	assert_int_equal(set.v.nr, 2);
	assert_int_equal(set.v.v[0].program.inputs,
			 1u << ADVICE_INPUT_OWN | 1u << ADVICE_INPUT_HOST);
	assert_int_equal(set.v.v[1].program.inputs, 1u << ADVICE_INPUT_HOST);
	advice_set_done(&set);
}

static void what_packs_without_bound_is_told(void **state)
{
	struct advice_set set;
	struct tracepoints t;

	(void)state;
	assert_int_equal(parse(two, &t), 0);
	assert_int_equal(
		make("From d In Disk.Read Join c In Net.Call On c -> d Select c.size", &t, &set),
		0);
	assert_int_equal(set.warnings.nr, 1);
	assert_true(str_find(set.warnings.v[0].text, STR("'c' packs every tuple")) == 0);
	advice_set_done(&set);
	assert_int_equal(make("From d In Disk.Read Join c In MostRecentN(1000, Net.Call) On c -> d "
			      "Select c.size",
			      &t, &set),
			 0);
	assert_int_equal(set.warnings.nr, 1);
	advice_set_done(&set);
	assert_int_equal(make("From d In Disk.Read Join c In Net.Call On c -> d GroupBy c.user "
			      "Select c.user, SUM(d.bytes)",
			      &t, &set),
			 0);
	assert_int_equal(set.warnings.nr, 0);
	advice_set_done(&set);
	assert_int_equal(make("From c In Net.Call Select SUM(c.user)", &t, &set), 0);
	assert_int_equal(set.warnings.nr, 1);
	assert_true(str_find(set.warnings.v[0].text, STR("is text")) < set.warnings.v[0].text.n);
	advice_set_done(&set);
}

static void a_joined_percentile_is_told_and_proved(void **state)
{
	struct advice_program *emits;
	struct advice_set set;
	struct tracepoints t;

	(void)state;
	assert_int_equal(parse(two, &t), 0);
	assert_int_equal(make("From d In Disk.Read Join s In (From c In Net.Call GroupBy c.user "
			      "Select PERCENTILE(c.size, 50) As n) On s -> d Select s.n",
			      &t, &set),
			 0);
	assert_int_equal(set.warnings.nr, 1);
	assert_true(str_find(set.warnings.v[0].text, STR("'s' packs every different value")) == 0);
	emits = &set.v.v[0].program;
	assert_int_equal(emits->children[0].nr_columns, 2);
	assert_int_equal(emits->children[0].nr_values, 1);
	assert_int_equal(advice_verify(emits, NULL, &err), 0);
	emits->children[0].shares[0] = emits->nr_constants;
	assert_int_equal(advice_verify(emits, NULL, &err), -22);
	emits->children[0].shares[0] = 0;
	emits->children[0].nr_values = 3;
	assert_int_equal(advice_verify(emits, NULL, &err), -22);
	emits->children[0].nr_values = 1;
	emits->constants[0].type = ADVICE_INT;
	assert_int_equal(advice_verify(emits, NULL, &err), -22);
	advice_set_done(&set);
}

static void only_what_a_query_needs_is_sent(void **state)
{
	struct tracepoints t;
	struct buf b = { 0 };
	struct queries q;
	struct plan p;

	(void)state;
	assert_int_equal(parse(two, &t), 0);
	assert_int_equal(query_parse(STR("From d In Disk.Read Select d.bytes"), &arena, &q, &err),
			 0);
	assert_int_equal(query_plan(&p, &q, REWRITE_ALL, &arena, &err), 0);
	assert_int_equal(tracepoints_needed(&p, &t, 1, &b, &err), 0);
	assert_str_equal(buf_str(&b), "tracepoint Disk.Read at function a!c export bytes = arg0\n");
	query_plan_done(&p);
	buf_done(&b);
}

/* --- the paper's ------------------------------------------------------------------------------ */

static const char papers[] =
	"tracepoint StressTest.DoNextOp at class edu.brown.StressTest.doNextOp\n"
	"tracepoint SendResponse at class org.apache.hadoop.ipc.Server$RpcCall.setResponse\n"
	"tracepoint ReceiveRequest at class org.apache.hadoop.ipc.Server$RpcCall.run\n";

static const char *const queries[] = {
	"From incr In DataNodeMetrics.incrBytesRead GroupBy incr.host Select incr.host, "
	"SUM(incr.delta)",
	"From incr In DataNodeMetrics.incrBytesRead Join cl In First(ClientProtocols) On cl -> "
	"incr "
	"GroupBy cl.procName Select cl.procName, SUM(incr.delta)",
	"From dnop In DN.DataTransferProtocol GroupBy dnop.host Select dnop.host, COUNT",
	"From getloc In NN.GetBlockLocations Join st In StressTest.DoNextOp On st -> getloc "
	"GroupBy "
	"st.host, getloc.src Select st.host, getloc.src, COUNT",
	"From getloc In NN.GetBlockLocations Join st In StressTest.DoNextOp On st -> getloc "
	"GroupBy "
	"st.host, getloc.replicas Select st.host, getloc.replicas, COUNT",
	"From DNop In DN.DataTransferProtocol Join st In StressTest.DoNextOp On st -> DNop GroupBy "
	"st.host, DNop.host Select st.host, DNop.host, COUNT",
	"From DNop In DN.DataTransferProtocol Join getloc In NN.GetBlockLocations On getloc -> "
	"DNop "
	"Join st In StressTest.DoNextOp On st -> getloc Where st.host != DNop.host GroupBy "
	"DNop.host, getloc.replicas Select DNop.host, getloc.replicas, COUNT",
	"From response In SendResponse Join request In MostRecent(ReceiveRequest) On request -> "
	"response Select response.time - request.time",
	"Q8: From response In SendResponse Join request In MostRecent(ReceiveRequest) On request "
	"-> "
	"response Select response.time - request.time\n"
	"Q9: From job In JobComplete Join latencyMeasurement In Q8 On latencyMeasurement -> end "
	"Select job.id, AVERAGE(latencyMeasurement)",
};

static void make_papers(const char *query, struct advice_set *set)
{
	struct tracepoints files[16];
	struct queries q;
	struct plan p;
	size_t nr = 0;

	for (const struct tracepoint_set *one; (one = tracepoint_set_at(nr)); nr++)
		assert_int_equal(
			tracepoints_parse(str_of(one->name), one->text, &arena, &files[nr], &err),
			0);
	assert_int_equal(parse(papers, &files[nr]), 0);
	if (query_parse(str_of(query), &arena, &q, &err) < 0 ||
	    query_plan(&p, &q, REWRITE_ALL, &arena, &err) < 0 ||
	    advice_make(set, &p, 7, files, nr + 1, &arena, &err) < 0)
		fail_msg("%s: %s", query, err.msg);
	query_plan_done(&p);
}

static void all_queries_of_the_paper_become_advice(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct advice_set set;

		make_papers(queries[i], &set);
		assert_true(set.v.nr > 0);
		/* nothing of them packs without bound: Q8's tuples are an aggregate of Q9 */
		assert_int_equal(set.warnings.nr, 0);
		advice_set_done(&set);
	}
}

/* A1 observes and packs the first procName; A2 observes delta, unpacks, and emits the sum. */
static void q2_is_the_advice_of_figure_4(void **state)
{
	const struct advice_program *a1, *a2;
	struct advice_set set;

	(void)state;
	make_papers(queries[1], &set);
	assert_int_equal(set.v.nr, 2);
	a2 = &set.v.v[0].program;
	a1 = &set.v.v[1].program;
	assert_int_equal(a1->nr_ops, 2);
	assert_int_equal(a1->ops[0].op, ADVICE_OBSERVE);
	assert_int_equal(a1->ops[0].n, ADVICE_INPUT_PROC_NAME);
	assert_int_equal(a1->ops[1].op, ADVICE_PACK);
	assert_int_equal(a1->take, ADVICE_FIRST);
	assert_int_equal(a1->at_most, 1);
	assert_int_equal(a1->nr_columns, 1);
	assert_int_equal(a2->nr_ops, 3);
	assert_int_equal(a2->ops[0].op, ADVICE_OBSERVE);
	assert_int_equal(a2->ops[1].op, ADVICE_UNPACK);
	assert_int_equal(a2->children[0].slot, a1->slot);
	assert_int_equal(a2->ops[2].op, ADVICE_EMIT);
	assert_int_equal(a2->nr_totals, 1);
	assert_int_equal(a2->totals[0].function, ADVICE_SUM);
	assert_int_equal(a2->totals[0].from, a2->ops[0].to);
	assert_int_equal(a2->columns[0], a2->ops[1].to);
	advice_set_done(&set);
}

static int forget(void **state)
{
	(void)state;
	arena_done(&arena);
	arena = (struct arena){ 0 };
	return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_have_binary_name_and_moment),
		TEST(system_calls_are_known_by_name),
		TEST(values_are_found_through_pointers),
		TEST(classes_export_paths),
		TEST(mistakes_in_paths_of_classes_are_told),
		TEST(a_method_that_returns_or_throws_may_export_both),
		TEST(mistakes_are_told_with_their_place),
		TEST(sets_that_come_along_are_sound),
		TEST(queries_that_cannot_run_there_are_refused),
		TEST(a_union_needs_one_that_has_the_field),
		TEST(what_packs_without_bound_is_told),
		TEST(a_joined_percentile_is_told_and_proved),
		TEST(only_what_a_query_needs_is_sent),
		TEST(all_queries_of_the_paper_become_advice),
		TEST(q2_is_the_advice_of_figure_4),
	};

	return RUN(tests);
}
