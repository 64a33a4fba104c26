#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/live.h"
#include "query/live_explain.h"
#include "query/parse.h"
#include "query/plan.h"

static const char points[] = "# of a test\n"
			     "tracepoint Client.call\n"
			     "\tat function app!client_call entry\n"
			     "\texport name = *(arg0):text\n"
			     "\n"
			     "tracepoint Disk.read\n"
			     "\tat function app!disk_read exit\n"
			     "\texport bytes = return, took = duration\n"
			     "tracepoint Disk.write\n"
			     "\tat function app!disk_write entry\n"
			     "\texport bytes = arg1\n";

struct known {
	struct arena arena;
	struct tracepoints file;
	struct live_known known;
};

static void know(struct known *k)
{
	struct error err;

	*k = (struct known){ 0 };
	if (tracepoints_parse(STR("t.tp"), str_of(points), &k->arena, &k->file, &err) < 0)
		fail_msg("%s", err.msg);
	k->known = (struct live_known){ &k->file, 1 };
}

struct told {
	struct buf text;
	size_t nr;
	double tuples, bytes, per_second;
};

static void note_word(void *to, const struct live_word *w)
{
	struct told *t = to;

	buf_fmt(&t->text, STR_FMT " (" STR_FMT ")", STR_ARG(w->name), STR_ARG(w->where));
	for (size_t i = 0; i < w->nr_fields; i++)
		buf_fmt(&t->text, " " STR_FMT, STR_ARG(w->fields[i]));
	buf_char(&t->text, '\n');
}

static void note_advice(void *to, const struct live_advice *a)
{
	struct told *t = to;

	buf_fmt(&t->text, STR_FMT " at " STR_FMT ":", STR_ARG(a->name), STR_ARG(a->at[0]));
	for (size_t i = 0; i < a->nr_operations; i++)
		buf_fmt(&t->text, " " STR_FMT ";", STR_ARG(a->operations[i]));
	buf_char(&t->text, '\n');
	if (!t->nr++) {
		t->tuples = a->tuples;
		t->bytes = a->bytes;
		t->per_second = a->per_second;
	}
}

static void tracepoints_are_words_with_their_fields(void **state)
{
	struct known p;
	struct told t = { 0 };

	(void)state;
	know(&p);
	live_known_words(&p.known, note_word, &t);
	assert_str_equal(buf_str(&t.text), "Client.call (function app!client_call entry) name\n"
					   "Disk.read (function app!disk_read exit) bytes took\n"
					   "Disk.write (function app!disk_write entry) bytes\n");
	buf_done(&t.text);
	arena_done(&p.arena);
}

static void each_stage_tells_what_it_packs(void **state)
{
	const struct str query = STR("From d In Disk.read Join c In First(Client.call) On c -> d "
				     "GroupBy c.name Select c.name, SUM(d.bytes)");
	struct known p;
	struct told t = { 0 };
	struct error err;

	(void)state;
	know(&p);
	assert_int_equal(live_explain_query(&p.known, query, NULL, note_advice, &t, &err), 0);
	assert_str_equal(buf_str(&t.text),
			 "A1 at Client.call: OBSERVE name; PACK-FIRST name;\n"
			 "A2 at Disk.read: OBSERVE bytes; UNPACK name; EMIT name, SUM(bytes);\n");
	assert_true(t.tuples == 1);
	assert_true(t.bytes > 0 && t.bytes < 200);
	buf_done(&t.text);
	arena_done(&p.arena);
}

static void what_was_measured_is_told(void **state)
{
	const double per_second[] = { 5, 7 };
	struct known p;
	struct told t = { 0 };
	struct error err;

	(void)state;
	know(&p);
	assert_int_equal(live_explain_query(&p.known,
					    STR("From d In Disk.read, Disk.write Join c In "
						"Client.call On c -> d Select COUNT"),
					    per_second, note_advice, &t, &err),
			 0);
	/* the advice of the join is told first */
	assert_true(t.per_second == 7);
	buf_done(&t.text);
	arena_done(&p.arena);
}

static void each_stage_can_be_counted(void **state)
{
	struct arena arena = { 0 };
	struct queries queries;
	struct plan plan;
	struct buf text = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(query_parse(STR("From d In Disk.read, Disk.write Join c In Client.call "
					 "On c -> d Select COUNT"),
				     &arena, &queries, &err),
			 0);
	assert_int_equal(query_plan(&plan, &queries, REWRITE_ALL, &arena, &err), 0);
	live_measure_text(&plan, 0, &text);
	assert_str_equal(buf_str(&text), "From e In `Disk.read`, `Disk.write` Select COUNT");
	assert_int_equal(query_parse(buf_str(&text), &arena, &queries, &err), 0);
	query_plan_done(&plan);
	buf_done(&text);
	arena_done(&arena);
}

static void what_is_not_defined_is_told_with_its_place(void **state)
{
	struct known p;
	struct told t = { 0 };
	struct error err = { 0 };

	(void)state;
	know(&p);
	assert_int_equal(live_explain_query(&p.known, STR("From d In Disk.raed Select COUNT"), NULL,
					    note_advice, &t, &err),
			 -EINVAL);
	assert_non_null(strstr(err.msg, "Disk.read"));
	assert_int_equal(t.nr, 0);
	arena_done(&p.arena);
}

/* A query goes along with what it needs, and with nothing else. */
static void a_plan_takes_its_own_definitions(void **state)
{
	struct arena arena = { 0 };
	struct queries queries;
	struct known p;
	struct plan plan;
	struct buf text = { 0 };
	struct error err;

	(void)state;
	know(&p);
	assert_int_equal(
		query_parse(STR("From d In Disk.read Select SUM(d.bytes)"), &arena, &queries, &err),
		0);
	assert_int_equal(query_plan(&plan, &queries, REWRITE_ALL, &arena, &err), 0);
	live_known_of(&p.known, &plan, &text);
	assert_str_equal(buf_str(&text), "tracepoint Disk.read\n"
					 "\tat function app!disk_read exit\n"
					 "\texport bytes = return, took = duration\n");
	query_plan_done(&plan);
	buf_done(&text);
	arena_done(&arena);
	arena_done(&p.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracepoints_are_words_with_their_fields),
		cmocka_unit_test(each_stage_tells_what_it_packs),
		cmocka_unit_test(what_was_measured_is_told),
		cmocka_unit_test(each_stage_can_be_counted),
		cmocka_unit_test(what_is_not_defined_is_told_with_its_place),
		cmocka_unit_test(a_plan_takes_its_own_definitions),
	};

	return RUN(tests);
}
