/* Numbers that are given out again: what parts their bearers, and what must not. */
#include "unit.h"

#include "infer/objects/deed.h"
#include "mentions.h"

static void tell_much(struct told_graph *t)
{
	for (int i = 0; i < 300; i++)
		tell(t, "||nothing happens|");
}

static size_t nr_objects(const struct object_graph *g, const char *type)
{
	size_t nr = 0;

	for (size_t i = 0; i < g->nr_types; i++)
		if (str_eq(g->types[i].name, str_of(type)))
			nr += g->types[i].nr_objects;
	return nr;
}

static const struct object *object_of(const struct object_graph *g, const char *id)
{
	for (size_t i = 0; i < g->nr_objects; i++)
		if (str_eq(g->objects[i].ids[0], str_of(id)))
			return &g->objects[i];
	return NULL;
}

static void wait_for(struct told_graph *t, int64_t ms)
{
	t->now_ns += ms * NS_MS;
}

/* Ten process ids, each given out again in every round, each time to another job. */
static void tell_processes(struct told_graph *t, int nr_rounds, const char *begin, const char *end)
{
	for (int round = 0; round < nr_rounds; round++) {
		for (int i = 0; i < 10; i++) {
			int pid = 31000 + 7 * i, job = 4000 + (10 * round + i) / 4;

			tellf(t, "a.log||Process pid=<*> %s for <*>|pid=%d job_#_#=job_1_%d", begin,
			      pid, job);
			tellf(t, "a.log||pid=<*> works for <*>|pid=%d job_#_#=job_1_%d", pid, job);
			tellf(t, "a.log||pid=<*> works for <*>|pid=%d job_#_#=job_1_%d", pid, job);
			if (end)
				tellf(t, "a.log||Process pid=<*> %s|pid=%d", end, pid);
		}
		wait_for(t, 60000);
	}
}

static enum relation relation_of(const struct object_graph *g, const char *a, const char *b)
{
	for (size_t i = 0; i < g->nr_relations; i++) {
		struct str from = g->types[g->relations[i].from].name;
		struct str to = g->types[g->relations[i].to].name;

		if ((str_eq(from, str_of(a)) && str_eq(to, str_of(b))) ||
		    (str_eq(from, str_of(b)) && str_eq(to, str_of(a))))
			return g->relations[i].relation;
	}
	return RELATION_EMPTY;
}

static void a_number_given_out_again_is_another_object(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	tell_processes(&t, 8, "started", "exited");
	settle(&t);
	/* told as one, each pid would have many jobs and each job many pids */
	assert_int_equal(relation_of(&t.g, "job", "pid"), RELATION_MANY);
	assert_int_equal(nr_objects(&t.g, "pid"), 80);
	assert_non_null(object_of(&t.g, "31007"));
	assert_non_null(object_of(&t.g, "31007#8"));
	assert_null(object_of(&t.g, "31007#9"));
	assert_true(object_of(&t.g, "31007")->last_ns < object_of(&t.g, "31007#2")->first_ns);
	assert_int_equal(t.losses.count[LOSS_LIVES_GUESSED], 0);
	told_graph_done(&t);
}

static void an_end_that_nobody_tells_is_guessed_from_silence_and_counted(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	tell_processes(&t, 3, "is there", NULL);
	settle(&t);
	assert_int_equal(nr_objects(&t.g, "pid"), 30);
	assert_int_equal(t.losses.count[LOSS_LIVES_GUESSED], 20);
	told_graph_done(&t);
}

static void ports_come_again_and_servers_stay(void **state)
{
	struct told_graph t;
	const struct object *o;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 20; i++) {
			int port = 50000 + i;

			for (int k = 0; k < 6; k++)
				tellf(&t,
				      "a.log||<*> asks for <*> at <*>|ip:port=10.0.0.1:%d "
				      "req_#_#=req_1_%d ip:port=10.0.0.2:80",
				      port, 1000 + 60 * round + 3 * i + k / 2);
		}
		wait_for(&t, 600000);
	}
	settle(&t);
	o = object_of(&t.g, "10.0.0.1:50003#4");
	assert_non_null(o);
	assert_int_equal(o->nr_events, 6);
	assert_null(object_of(&t.g, "10.0.0.2:80#2"));
	told_graph_done(&t);
}

/* Users, nodes and jobs of people: silent for long, named by statements that begin something. */
static void what_is_merely_quiet_for_long_stays_itself(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 12; i++) {
			int session = 5000 + 12 * round + i;

			tellf(&t, "a.log||New session <*> for user_id=<*>|session=%d user!=%d",
			      session, 17 + i);
			tellf(&t, "a.log||session <*> of user_id=<*> asks|session=%d user!=%d",
			      session, 17 + i);
			tellf(&t, "a.log||Session <*> closed for user_id=<*>|session=%d user!=%d",
			      session, 17 + i);
			tellf(&t, "a.log||Started round on <*>|node-#=node-%d", i % 4);
			tellf(&t, "a.log||Finished round on <*>|node-#=node-%d", i % 4);
		}
		wait_for(&t, 3600000);
	}
	settle(&t);
	assert_int_equal(nr_objects(&t.g, "user"), 12);
	assert_int_equal(nr_objects(&t.g, "session"), 72);
	assert_int_equal(nr_objects(&t.g, "node"), 4);
	assert_int_equal(t.losses.count[LOSS_LIVES_GUESSED], 0);
	told_graph_done(&t);
}

static void few_lines_are_parted_by_their_words_alone(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 2; i < 8; i++) {
		tellf(&t, "a.log||Process pid=<*> started by <*>|pid=%d app_#=app_%d", 77 + i % 2,
		      i);
		tellf(&t, "a.log||Process pid=<*> exited|pid=%d", 77 + i % 2);
	}
	settle(&t);
	text = objects_text(&t.g);
	assert_non_null(strstr(text, "77#2 (2)"));
	assert_non_null(strstr(text, "77#3 (2)"));
	free(text);
	told_graph_done(&t);
}

static bool has_parent(const struct object_graph *g, const char *id, const char *parent)
{
	const struct object *o = object_of(g, id);

	for (size_t i = 0; o && i < o->nr_parents; i++)
		if (str_eq(g->objects[o->parents[i]].ids[0], str_of(parent)))
			return true;
	return false;
}

/* A process with two children, of which each has two; what a line names besides is the child's. */
static void children_of_one_kind_are_a_tree(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int root = 10; root < 100; root += 10) {
		tellf(&t, "a.log||run pid=<*>|pid=%d", root);
		for (int i = 1; i < 7; i++) {
			int parent = i < 3 ? root : root + (i - 1) / 2;

			for (int k = 0; k < 2; k++)
				tellf(&t,
				      "a.log||run pid=<*>, ppid=<*> on <*>|pid=%d ppid=%d "
				      "disk_#_#=disk_1_%d",
				      root + i, parent, 1000 + root + i % 3);
			tellf(&t, "a.log||end pid=<*>|pid=%d", root + i);
		}
		tellf(&t, "a.log||end pid=<*>|pid=%d", root);
	}
	settle(&t);
	assert_int_equal(nr_objects(&t.g, "ppid"), 0);
	assert_int_equal(nr_objects(&t.g, "pid"), 63);
	assert_int_equal(relation_of(&t.g, "pid", "pid"), RELATION_MANY);
	assert_int_equal(relation_of(&t.g, "disk", "pid"), RELATION_MANY);
	assert_non_null(object_of(&t.g, "36"));
	assert_int_equal(object_of(&t.g, "30")->nr_parents, 0);
	assert_true(has_parent(&t.g, "36", "32"));
	assert_true(has_parent(&t.g, "32", "30"));
	assert_false(has_parent(&t.g, "36", "30"));
	told_graph_done(&t);
}

/* Most of what a parent does is told by its children, and nothing of itself but its end. */
static void a_parent_may_be_named_by_its_children_first(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int root = 10; root < 100; root += 10) {
		for (int i = 1; i < 5; i++)
			tellf(&t, "a.log||run pid=<*>, ppid=<*>|pid=%d ppid=%d", root + i,
			      i < 3 ? root : root + i - 2);
		for (int i = 4; i >= 0; i--)
			tellf(&t, "a.log||end pid=<*>|pid=%d", root + i);
	}
	settle(&t);
	assert_int_equal(nr_objects(&t.g, "pid"), 45);
	assert_true(has_parent(&t.g, "31", "30"));
	assert_true(has_parent(&t.g, "32", "30"));
	assert_true(has_parent(&t.g, "34", "32"));
	assert_int_equal(object_of(&t.g, "30")->nr_parents, 0);
	told_graph_done(&t);
}

/* What lines say of three of them cannot be: who was named first is nobody's child. */
static void nobody_is_his_own_ancestor(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int root = 10; root < 100; root += 10) {
		for (int i = 0; i < 3; i++)
			tellf(&t, "a.log||run pid=<*>, ppid=<*>|pid=%d ppid=%d", root + i,
			      root + (i + 1) % 3);
		for (int i = 0; i < 3; i++)
			tellf(&t, "a.log||end pid=<*>|pid=%d", root + i);
	}
	settle(&t);
	assert_int_equal(nr_objects(&t.g, "pid"), 27);
	assert_int_equal(object_of(&t.g, "30")->nr_parents, 0);
	assert_true(has_parent(&t.g, "31", "32"));
	assert_true(has_parent(&t.g, "32", "30"));
	told_graph_done(&t);
}

static void a_deed_is_done_to_what_stands_next_to_the_verb(void **state)
{
	struct deed d = deed_read(STR("Session <*> closed for user <*>"));

	(void)state;
	assert_int_equal(d.deed, DEED_FINISHED);
	assert_int_equal(d.mask, 0);
	assert_int_equal(d.nr_masks, 2);
	assert_true(str_eq(d.key, STR("Session")));
	d = deed_read(STR("user <*> opened session <*>"));
	assert_int_equal(d.deed, DEED_CREATED);
	assert_int_equal(d.mask, 1);
	assert_true(str_eq(d.key, STR("session")));
	d = deed_read(STR("<*> is in CREATE_TABLE"));
	assert_int_equal(d.deed, DEED_UNKNOWN);
	assert_true(deed_read(STR("task <*> failed")).is_failure);
	assert_int_equal(deed_read(STR("")).mask, SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_given_out_again_is_another_object),
		cmocka_unit_test(an_end_that_nobody_tells_is_guessed_from_silence_and_counted),
		cmocka_unit_test(ports_come_again_and_servers_stay),
		cmocka_unit_test(what_is_merely_quiet_for_long_stays_itself),
		cmocka_unit_test(few_lines_are_parted_by_their_words_alone),
		cmocka_unit_test(children_of_one_kind_are_a_tree),
		cmocka_unit_test(a_parent_may_be_named_by_its_children_first),
		cmocka_unit_test(nobody_is_his_own_ancestor),
		cmocka_unit_test(a_deed_is_done_to_what_stands_next_to_the_verb),
	};

	return RUN(tests);
}
