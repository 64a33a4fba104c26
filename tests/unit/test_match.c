/* Lines find the statement that wrote them, by text, logger, level and place, and its values. */
#include "unit.h"

#include "model_writer.h"

#include "base/arena.h"
#include "base/error.h"
#include "infer/requests/match.h"
#include "infer/requests/match_fit.h"
#include "infer/requests/match_pack.h"
#include "infer/requests/match_where.h"
#include "model/event.h"

/* Their numbers are those that the tests ask for. */
enum {
	RECEIVING,
	BLK,
	DEBUG_BLK,
	RESPONDER,
	TOOK,
	TWIN,
	TWIN_TOO,
	OPAQUE,
	LINES,
	BEGAN,
	BEGAN_TOO,
	SLOW,
	FOREIGN,
	LONG,
	BELOW,
	ANY_LOGGER,
};

static const struct written_point points[] = {
	[RECEIVING] = { "a.b.Node",
			"Node.java",
			10,
			LEVEL_INFO,
			{ "Receiving {}:blk_{i}_{i} src: {} dest: {}",
			  "Receiving {} src: {} dest: {}" } },
	[BLK] = { "a.b.Node", "Node.java", 20, LEVEL_INFO, { "Receiving {}" } },
	[DEBUG_BLK] = { "a.b.Node", "Node.java", 30, LEVEL_DEBUG, { "Receiving {}" } },
	[RESPONDER] = { "a.b.Node", "Node.java", 40, LEVEL_INFO, { "{} terminating" } },
	[TOOK] = { "a.b.Node", "Node.java", 50, LEVEL_INFO, { "{} took {i} ms for {} ms" } },
	[TWIN] = { "a.b.Node", "Node.java", 60, LEVEL_WARN, { "Twice {}" } },
	[TWIN_TOO] = { "a.b.Node", "Node.java", 61, LEVEL_WARN, { "Twice {}" } },
	[OPAQUE] = { "a.b.Node", "Node.java", 70, LEVEL_ERROR, { "{}" } },
	[LINES] = { "a.b.Node", "Node.java", 80, LEVEL_INFO, { "\nBegin {}\nmiddle {}\nend" } },
	[BEGAN] = { "a.b.Node", "Node.java", 90, LEVEL_TRACE, { "This and that began {} here" } },
	[BEGAN_TOO] = { "a.b.Node",
			"Node.java",
			91,
			LEVEL_TRACE,
			{ "This and that began {} there" } },
	[SLOW] = { "x.y.Other", "Other.java", 5, LEVEL_INFO, { "  Slow: {}, ready={b}  " } },
	[FOREIGN] = { "x.y.Other", "Other.java", 7, LEVEL_INFO, { "Only here, never there: {}" } },
	[LONG] = { "x.y.Other",
		   "Other.java",
		   9,
		   LEVEL_INFO,
		   { "Opened the volume {} with {i} blocks" } },
	[BELOW] = { "x.y.Base*", "Base.java", 3, LEVEL_INFO, { "Service {} is up{*}" } },
	[ANY_LOGGER] = { "", "Util.java", 1, LEVEL_INFO, { "Registered {} handlers" } },
};

struct fixture {
	struct buf image, second;
	struct model_file *models[2];
	struct matcher *m;
	struct match got;
};

static struct model_file *open_image(const struct buf *image)
{
	struct model_file *m = NULL;
	struct error err = { 0 };

	if (model_of_bytes(&m, buf_str(image), &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

static void begin(struct fixture *f)
{
	const struct model_file *models[2];
	struct model_writer w = { 0 }, v = { 0 };
	struct written_point newer = {
		"a.b.Node", "Node.java", 11, LEVEL_INFO, { "Receiving {} from {} since {}" }
	};
	struct error err = { 0 };

	*f = (struct fixture){ 0 };
	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++)
		written_point(&w, &points[i]);
	written_thread(&w, "Handler {i} on port {i}");
	written_thread(&w, "DataXceiver for client {} at {}");
	written_thread(&w, "{}");
	written_thread(&w, "{}-{}");
	written_end(&w, &f->image);
	written_point(&v, &newer);
	written_end(&v, &f->second);
	models[0] = f->models[0] = open_image(&f->image);
	models[1] = f->models[1] = open_image(&f->second);
	assert_int_equal(matcher_new(&f->m, models, 2, &err), 0);
}

static void end(struct fixture *f)
{
	matcher_free(f->m);
	model_close(f->models[0]);
	model_close(f->models[1]);
	buf_done(&f->image);
	buf_done(&f->second);
}

static int find(struct fixture *f, const char *point, enum level level, const char *message)
{
	return matcher_find(f->m, str_of(point), level, str_of(message), &f->got);
}

/* The point, or -1. */
static int found(struct fixture *f, const char *point, enum level level, const char *message)
{
	return find(f, point, level, message) ? (int)f->got.point : -1;
}

static void value_is(const struct fixture *f, unsigned i, const char *text)
{
	assert_true(i < f->got.nr);
	assert_str_equal(f->got.values[i].text, text);
}

static void the_wordiest_text_that_fits_gives_the_values(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(
		found(&f, "b.Node", LEVEL_INFO, "Receiving BP-1:blk_-12_1003 src: /h:1 dest: /h:2"),
		RECEIVING);
	assert_int_equal(f.got.nr, 5);
	value_is(&f, 0, "BP-1");
	value_is(&f, 1, "-12");
	value_is(&f, 2, "1003");
	value_is(&f, 3, "/h:1");
	value_is(&f, 4, "/h:2");
	assert_true(f.got.sure > 0.95F);
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "Receiving x src: y dest: z"), RECEIVING);
	assert_int_equal(f.got.nr, 3);
	assert_int_equal(found(&f, "a.b.Node", LEVEL_INFO, "Receiving nothing else"), BLK);
	assert_int_equal(found(&f, "a.b.Node", LEVEL_INFO, "n1: x terminating"), RESPONDER);
	value_is(&f, 0, "n1: x");
	end(&f);
}

static void the_level_decides_between_equal_texts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "b.Node", LEVEL_DEBUG, "Receiving x"), DEBUG_BLK);
	assert_int_equal(found(&f, "b.Node", LEVEL_INFO, "Receiving x"), BLK);
	assert_int_equal(found(&f, "b.Node", LEVEL_NONE, "Receiving x"), BLK);
	assert_int_equal(f.got.nr_also, 1);
	assert_int_equal(f.got.also[0], DEBUG_BLK);
	/* a layout may call it otherwise */
	assert_int_equal(found(&f, "b.Node", LEVEL_FATAL, "Receiving x"), BLK);
	assert_true(f.got.sure < 0.6F);
	end(&f);
}

static void numbers_decide_where_a_hole_ends(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "it took long took 5 ms for 6 ms"), TOOK);
	value_is(&f, 0, "it took long");
	value_is(&f, 1, "5");
	value_is(&f, 2, "6");
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "it took 5 ms for 6 ms for 7 ms"), TOOK);
	value_is(&f, 1, "5");
	value_is(&f, 2, "6 ms for 7");
	/* no number at all: it fits less well */
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "it took some ms for x ms"), TOOK);
	assert_true(f.got.sure < 0.85F);
	end(&f);
}

static void the_line_of_the_file_comes_first(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Node.java:61", LEVEL_WARN, "Twice x"), TWIN_TOO);
	assert_int_equal(f.got.nr_also, 0);
	assert_true(f.got.sure >= 1);
	assert_int_equal(found(&f, "Node.java:70", LEVEL_ERROR, "anything at all"), OPAQUE);
	value_is(&f, 0, "anything at all");
	/* its text is another one, and nothing else fits: the line is believed */
	assert_int_equal(found(&f, "Node.java:40", LEVEL_INFO, "never heard of"), RESPONDER);
	assert_int_equal(f.got.version, MODEL_NO);
	assert_int_equal(f.got.nr, 0);
	/* the program has changed since: its text is believed more than its line */
	assert_int_equal(found(&f, "Node.java:9", LEVEL_INFO, "Receiving x src: y dest: z"),
			 RECEIVING);
	assert_int_equal(found(&f, "a.b.Node(Node.java:61)", LEVEL_WARN, "Twice x"), TWIN_TOO);
	assert_int_equal(found(&f, "b.Node(61)", LEVEL_WARN, "Twice x"), TWIN_TOO);
	assert_int_equal(found(&f, "Nowhere.java:61", LEVEL_WARN, "zzz"), -1);
	/* a file that the program does not have */
	assert_int_equal(found(&f, "Nowhere.java:61", LEVEL_INFO, "Registered 7 handlers"), -1);
	end(&f);
}

static void statements_with_one_text_are_told(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Node", LEVEL_WARN, "Twice x"), TWIN);
	assert_int_equal(f.got.nr_also, 1);
	assert_int_equal(f.got.also[0], TWIN_TOO);
	assert_true(f.got.sure < 0.8F);
	end(&f);
}

static void a_text_without_constants_matches_nothing_by_itself(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Node", LEVEL_ERROR, "anything at all"), -1);
	assert_int_equal(found(&f, "", LEVEL_NONE, "anything at all"), -1);
	assert_int_equal(found(&f, "Node", LEVEL_INFO, ""), -1);
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "   "), -1);
	end(&f);
}

static void loggers_may_be_shortened_unknown_or_absent(void **state)
{
	static const char *const agree[] = { "x.y.Other", "y.Other", "Other", "x.y.Other",
					     "ex.y.Other" };
	struct fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(found(&f, agree[i], LEVEL_INFO, "Only here, never there: 7"),
				 FOREIGN);
		assert_true(f.got.sure > 0.95F);
	}
	assert_int_equal(found(&f, "", LEVEL_INFO, "Only here, never there: 7"), FOREIGN);
	assert_true(f.got.sure < 0.9F);
	assert_int_equal(found(&f, "q.Unknown", LEVEL_INFO, "Only here, never there: 7"), FOREIGN);
	assert_true(f.got.sure < 0.6F);
	assert_int_equal(found(&f, "q.Unknown", LEVEL_INFO, "Slow: 7, ready=true"), -1);
	assert_int_equal(found(&f, "q.Unknown", LEVEL_INFO, "Registered 7 handlers"), ANY_LOGGER);
	assert_int_equal(found(&f, "q.Unknown", LEVEL_INFO, "Service x is up and running"), BELOW);
	value_is(&f, 0, "x");
	value_is(&f, 1, " and running");
	end(&f);
}

static void blanks_around_a_text_do_not_count(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Other", LEVEL_INFO, "Slow: a, ready=true"), SLOW);
	assert_int_equal(found(&f, "Other", LEVEL_INFO, "   Slow: a, ready=false  \r"), SLOW);
	value_is(&f, 0, "a");
	value_is(&f, 1, "false");
	end(&f);
}

static void messages_of_several_lines_match_as_a_whole_or_by_their_first(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Node", LEVEL_INFO, "\nBegin 1\nmiddle 2\nend"), LINES);
	value_is(&f, 1, "2");
	assert_int_equal(found(&f, "Node", LEVEL_INFO,
			       "Receiving x src: y dest: z\njava.io.IOException: a\n\tat b.c()"),
			 RECEIVING);
	value_is(&f, 2, "z");
	end(&f);
}

static void a_message_that_breaks_off_is_known_by_its_front(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(found(&f, "Other", LEVEL_INFO, "Opened the volume v1 with 7 blo"), LONG);
	assert_int_equal(f.got.nr, 1);
	value_is(&f, 0, "v1");
	assert_true(f.got.sure < 0.6F);
	assert_int_equal(found(&f, "Other", LEVEL_INFO, "Opened the volume v1 quickly"), LONG);
	assert_int_equal(found(&f, "Other.java:77", LEVEL_INFO, "Opened the volume v1"), LONG);
	/* two statements begin so */
	assert_int_equal(found(&f, "Node", LEVEL_TRACE, "This and that began to"), -1);
	assert_int_equal(found(&f, "Other", LEVEL_WARN, "Opened the volume v1 with 7 blo"), -1);
	assert_int_equal(found(&f, "q.Unknown", LEVEL_INFO, "Opened the volume v1 with 7 blo"), -1);
	end(&f);
}

static void the_best_of_several_models_counts(void **state)
{
	struct fixture f;
	uint32_t model, point;

	(void)state;
	begin(&f);
	assert_true(find(&f, "Node", LEVEL_INFO, "Receiving x from y since z"));
	assert_int_equal(f.got.model, 1);
	assert_int_equal(f.got.point, 0);
	assert_int_equal(matcher_nr_points(f.m), sizeof(points) / sizeof(*points) + 1);
	assert_int_equal(matcher_number(f.m, 1, 0), sizeof(points) / sizeof(*points) + 1);
	assert_ptr_equal(matcher_point(f.m, matcher_number(f.m, 1, 0), &model, &point),
			 f.models[1]);
	assert_int_equal(model, 1);
	assert_int_equal(point, 0);
	assert_null(matcher_point(f.m, 0, &model, &point));
	assert_null(matcher_point(f.m, matcher_nr_points(f.m) + 1, &model, &point));
	end(&f);
}

static void threads_are_known_by_their_names(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_true(matcher_thread(f.m, STR("Handler 3 on port 80"), &f.got));
	assert_int_equal(f.got.point, 0);
	value_is(&f, 0, "3");
	value_is(&f, 1, "80");
	assert_true(matcher_thread(f.m, STR("DataXceiver for client c-1 at /h [x [y]]"), &f.got));
	assert_int_equal(f.got.point, 1);
	value_is(&f, 0, "c-1");
	value_is(&f, 1, "/h [x [y]]");
	assert_false(matcher_thread(f.m, STR("main"), &f.got));
	assert_false(matcher_thread(f.m, STR("pool-1"), &f.got));
	assert_false(matcher_thread(f.m, STR(""), &f.got));
	end(&f);
}

static void what_was_found_is_packed_and_read_again(void **state)
{
	struct event ev = { .point = STR("b.Node"),
			    .level = LEVEL_INFO,
			    .thread = STR("Handler 3 on port 80") };
	struct arena arena = { 0 };
	struct match_packed p;
	struct match_value v;
	struct fixture f;

	(void)state;
	begin(&f);
	match_event(f.m, &ev, STR("Receiving x src: y dest: z"), &arena);
	assert_int_equal(ev.statement, RECEIVING + 1);
	assert_true(match_unpack(&p, ev.values));
	assert_int_equal(p.thread, 1);
	assert_int_equal(p.nr_also, 0);
	assert_true(p.sure > 0.95F);
	assert_int_equal(model_version(f.models[0], p.version).point, RECEIVING);
	for (unsigned i = 0; i < 5; i++) {
		static const char *const texts[] = { "x", "y", "z", "3", "80" };

		assert_true(match_packed_next(&p, &v));
		assert_str_equal(v.text, texts[i]);
		assert_int_equal(p.is_thread, i > 2);
		assert_int_equal(model_part(f.models[0], v.part).kind, PART_HOLE);
	}
	assert_false(match_packed_next(&p, &v));

	ev = (struct event){ .point = STR("b.Node"), .thread = STR("main") };
	match_event(f.m, &ev, STR("what?"), &arena);
	assert_int_equal(ev.statement, 0);
	assert_false(match_unpack(&p, ev.values));
	arena_done(&arena);
	end(&f);
}

static void yes_or_no_names_nothing(void **state)
{
	struct event ev = { .point = STR("Other"), .level = LEVEL_INFO };
	struct arena arena = { 0 };
	struct match_packed p;
	struct match_value v;
	struct fixture f;

	(void)state;
	begin(&f);
	match_event(f.m, &ev, STR("Service  is up"), &arena);
	assert_int_equal(ev.statement, BELOW + 1);
	assert_true(match_unpack(&p, ev.values));
	assert_false(match_packed_next(&p, &v));
	arena_done(&arena);
	end(&f);
}

static void cut_packs_are_refused(void **state)
{
	struct event ev = { .point = STR("Node"), .level = LEVEL_WARN };
	struct arena arena = { 0 };
	struct match_packed p;
	struct match_value v;
	struct fixture f;

	(void)state;
	begin(&f);
	match_event(f.m, &ev, STR("Twice x"), &arena);
	for (size_t n = 0; n < ev.values.n; n++) {
		char *copy = arena_z(&arena, str_head(ev.values, n));

		if (match_unpack(&p, (struct str){ copy, n }))
			assert_false(match_packed_next(&p, &v));
	}
	assert_true(match_unpack(&p, ev.values));
	assert_int_equal(p.nr_also, 1);
	assert_int_equal(p.also[0], TWIN_TOO + 1);
	assert_true(match_packed_next(&p, &v));
	arena_done(&arena);
	end(&f);
}

static void searching_finds_what_memmem_finds(void **state)
{
	static const char text[] =
		"aab aabb aaabbb abababab xaabaabaabb yyyyyyyyyyyyyyyyyyyyyyyyaabbc";
	struct str s = { text, sizeof(text) - 1 };

	(void)state;
	for (size_t from = 0; from <= s.n; from++) {
		for (size_t at = 0; at < s.n; at += 3) {
			for (size_t n = 1; n < 9 && at + n <= s.n; n++) {
				const char *p = memmem(s.p + from, s.n - from, s.p + at, n);
				size_t want = p ? (size_t)(p - s.p) : s.n;

				assert_int_equal(match_search(s, from, (struct str){ s.p + at, n }),
						 want);
			}
		}
	}
}

static void places_are_taken_apart(void **state)
{
	static const struct {
		const char *point, *logger, *file;
		uint32_t line;
	} cases[] = {
		{ "Node.java:12", "", "Node.java", 12 },
		{ "a.b.Node", "a.b.Node", "", 0 },
		{ "a.b.Node(Node.java:12)", "a.b.Node", "Node.java", 12 },
		{ "b.Node(12)", "b.Node", "", 12 },
		{ "b.Node:12", "b.Node", "", 12 },
		{ "Node.scala", "", "Node.scala", 0 },
		{ "Node.java:99999999999", "Node.java:99999999999", "", 0 },
		{ "Node()", "Node", "", 0 },
		{ ")", ")", "", 0 },
		{ ":", ":", "", 0 },
		{ "", "", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct match_where w = match_where_of(str_of(cases[i].point));

		assert_str_equal(w.logger, cases[i].logger);
		assert_str_equal(w.file, cases[i].file);
		assert_int_equal(w.line, cases[i].line);
	}
}

static void names_of_loggers_agree_when_they_are_shortened(void **state)
{
	const struct str name = STR("org.apache.hadoop.Node");
	static const char *const agree[] = {
		"org.apache.hadoop.Node", "hadoop.Node", "Node",         "o.a.h.Node",
		"o.a.hadoop.Node",        "doop.Node",   "apache.h.Node"
	};
	static const char *const not[] = { "",
					   "node",
					   "ode",
					   "NameNode",
					   "x.hadoop.Node",
					   "o.b.h.Node",
					   "a.org.apache.hadoop.Node",
					   "Node." };

	(void)state;
	for (size_t i = 0; i < sizeof(agree) / sizeof(*agree); i++)
		if (!match_where_is(str_of(agree[i]), name))
			fail_msg("'%s' is not taken for it", agree[i]);
	for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
		if (match_where_is(str_of(not[i]), name))
			fail_msg("'%s' is taken for it", not[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wordiest_text_that_fits_gives_the_values),
		cmocka_unit_test(the_level_decides_between_equal_texts),
		cmocka_unit_test(numbers_decide_where_a_hole_ends),
		cmocka_unit_test(the_line_of_the_file_comes_first),
		cmocka_unit_test(statements_with_one_text_are_told),
		cmocka_unit_test(a_text_without_constants_matches_nothing_by_itself),
		cmocka_unit_test(loggers_may_be_shortened_unknown_or_absent),
		cmocka_unit_test(blanks_around_a_text_do_not_count),
		cmocka_unit_test(messages_of_several_lines_match_as_a_whole_or_by_their_first),
		cmocka_unit_test(a_message_that_breaks_off_is_known_by_its_front),
		cmocka_unit_test(the_best_of_several_models_counts),
		cmocka_unit_test(threads_are_known_by_their_names),
		cmocka_unit_test(what_was_found_is_packed_and_read_again),
		cmocka_unit_test(yes_or_no_names_nothing),
		cmocka_unit_test(cut_packs_are_refused),
		cmocka_unit_test(searching_finds_what_memmem_finds),
		cmocka_unit_test(places_are_taken_apart),
		cmocka_unit_test(names_of_loggers_agree_when_they_are_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
