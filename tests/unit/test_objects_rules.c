/* Each rule beyond the paper, on as few lines as show it. Lines beyond two hundred are needed where
 * few are taken literally. */
#include "unit.h"

#include <errno.h>

#include "mentions.h"

/* Lines that say nothing of what a test is about, so that the log is not small. */
static void tell_much(struct told_graph *t)
{
	for (int i = 0; i < 300; i++)
		tell(t, "||nothing happens|");
}

static const struct object_type *type_of(const struct object_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nr_types; i++)
		if (str_eq(g->types[i].name, str_of(name)))
			return &g->types[i];
	return NULL;
}

static bool is_drawn(const struct object_graph *g, const char *name)
{
	const struct object_type *t = type_of(g, name);

	return t && t->is_in_graph;
}

static const struct object_relation *relation_of(const struct object_graph *g, const char *from,
						 const char *to)
{
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (str_eq(g->types[r->from].name, str_of(from)) &&
		    str_eq(g->types[r->to].name, str_of(to)))
			return r;
	}
	return NULL;
}

static bool is_edge(const struct object_graph *g, const char *from, const char *to)
{
	const struct object_relation *r = relation_of(g, from, to);

	return r && r->is_in_graph;
}

/* Five users with four jobs each, three lines about each job. */
static void tell_jobs(struct told_graph *t)
{
	for (int user = 1; user <= 5; user++) {
		for (int job = 0; job < 4; job++) {
			int nr = 4000 + 10 * user + job;

			tellf(t, "||created|user_#=user_%d job_#=job_%d", user, nr);
			tellf(t, "||runs|user_#=user_%d job_#=job_%d", user, nr);
			tellf(t, "||done|user_#=user_%d job_#=job_%d", user, nr);
		}
	}
}

static void one_wrong_line_is_an_exception(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	tell_jobs(&t);
	tell(&t, "||runs|user_#=user_5 job_#=job_4010");
	settle(&t);
	assert_true(is_edge(&t.g, "user", "job"));
	assert_int_equal(relation_of(&t.g, "user", "job")->exceptions, 1);
	told_graph_done(&t);
}

static void a_statement_that_names_others_too_is_outvoted(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	tell_jobs(&t);
	for (int i = 0; i < 6; i++)
		tellf(&t, "||looked at by|user_#=user_%d job_#=job_%d", 1 + i % 5, 4010 + i % 4);
	settle(&t);
	assert_true(is_edge(&t.g, "user", "job"));
	assert_true(relation_of(&t.g, "user", "job")->exceptions >= 4);
	told_graph_done(&t);
}

static void amounts_and_durations_are_no_objects(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	tell_jobs(&t);
	for (int i = 0; i < 40; i++)
		tellf(&t, "||moved|job_#=job_%d blocks=%d", 4010 + i % 4, 7919 * (i + 1) % 10007);
	settle(&t);
	assert_null(type_of(&t.g, "blocks"));
	told_graph_done(&t);
}

/* Tasks are numbered anew in each application, which the path of the log names. */
static void small_numbers_mean_something_in_the_log_of_a_thing(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int app = 1; app <= 4; app++) {
		tellf(&t, "rm.log||app started|app_#=app_%d", 7000 + app);
		for (int task = 0; task < 5; task++) {
			const char *log = "logs/app_%d/out.log||";
			char line[128];

			snprintf(line, sizeof(line), log, 7000 + app);
			tellf(&t, "%sstarts task|task=%d", line, task);
			tellf(&t, "%sends task|task=%d", line, task);
		}
		tellf(&t, "rm.log||app ended|app_#=app_%d", 7000 + app);
	}
	settle(&t);
	assert_non_null(type_of(&t.g, "app+task"));
	assert_int_equal(type_of(&t.g, "app+task")->nr_objects, 20);
	assert_true(is_edge(&t.g, "app", "app+task"));
	told_graph_done(&t);
}

static void names_that_contain_a_name_belong_to_it(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int app = 1; app <= 5; app++) {
		tellf(&t, "||a|application_#_#=application_1700000_%04d", app);
		tellf(&t, "||b|job_#_#=job_1700000_%04d", app);
		tellf(&t, "||e|application_#_#=application_1700000_%04d", app);
		tellf(&t, "||f|job_#_#=job_1700000_%04d", app);
		for (int c = 1; c <= 3; c++) {
			tellf(&t, "||c|container_#_#_#=container_1700000_%04d_%d", app, c);
			tellf(&t, "||d|container_#_#_#=container_1700000_%04d_%d", app, c);
		}
	}
	settle(&t);
	assert_true(is_edge(&t.g, "application", "container") || is_edge(&t.g, "job", "container"));
	assert_int_equal(t.g.nr_objects, 20);
	told_graph_done(&t);
}

static void versions_are_the_thing_itself(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int i = 0; i < 12; i++) {
		tellf(&t, "||allocated|file_#=file_%d blk_#_#=blk_%d_%d", i / 3, 5000 + i,
		      1000 + i);
		tellf(&t, "||received|file_#=file_%d blk_#_#=blk_%d_%d", i / 3, 5000 + i, 1000 + i);
		tellf(&t, "||deleted|blk_#=blk_%d", 5000 + i);
	}
	settle(&t);
	assert_true(is_edge(&t.g, "file", "blk"));
	assert_int_equal(type_of(&t.g, "blk")->nr_objects, 12);
	told_graph_done(&t);
}

/* HOST, PID and TID are m:n each; the paper wants {host}, {host, pid} and {host, pid, tid}. */
static void what_tells_apart_only_together_is_combined(void **state)
{
	struct told_graph t;
	char *text;

	(void)state;
	told_graph_init(&t, 0);
	for (int host = 1; host <= 2; host++) {
		tellf(&t, "||up|host_#=host_%d", host);
		for (int pid = 1; pid <= 2; pid++) {
			tellf(&t, "||forked|host_#=host_%d pid=%d", host, pid);
			tellf(&t, "||exits|host_#=host_%d pid=%d", host, pid);
			for (int tid = 1; tid <= 2; tid++) {
				tellf(&t, "||runs|host_#=host_%d pid=%d tid=%d", host, pid, tid);
				tellf(&t, "||joins|host_#=host_%d pid=%d tid=%d", host, pid, tid);
			}
		}
	}
	settle(&t);
	text = stack_text(&t.g);
	assert_string_equal(text, "host\nhost -> host+pid\nhost+pid\n"
				  "host+pid -> host+pid+tid\nhost+pid+tid\n");
	free(text);
	told_graph_done(&t);
}

/* An address and a host name that always go together are one; a page of some reports only is not.
 */
static void only_what_can_stand_for_each_other_is_merged(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	for (int i = 1; i <= 5; i++) {
		tellf(&t, "||host|host_#=host_%d disk_#=disk_%d", i, i);
		tellf(&t, "||report|report_#=report_%d page_#=page_%d", i, i);
		tellf(&t, "||page|page_#=page_%d", i + 10);
	}
	settle(&t);
	assert_int_equal(type_of(&t.g, "host")->nr_aliases + (type_of(&t.g, "disk") != NULL), 1);
	assert_non_null(type_of(&t.g, "report"));
	assert_non_null(type_of(&t.g, "page"));
	told_graph_done(&t);
}

static void kinds_that_never_share_a_line_are_tied_by_the_lines_before(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int app = 1; app <= 3; app++) {
		tellf(&t, "app_%d.log|loop|began|app_#=app_%d", 7000 + app, 7000 + app);
		tellf(&t, "app_%d.log|loop|runs|app_#=app_%d", 7000 + app, 7000 + app);
		for (int stage = 0; stage < 6; stage++) {
			if (stage % 2 == 0) {
				tellf(&t, "app_%d.log|loop|got job|job=%d", 7000 + app, stage / 2);
				tellf(&t, "app_%d.log|loop|job parts|job=%d", 7000 + app,
				      stage / 2);
			}
			tellf(&t, "app_%d.log|loop|submits stage|stage=%d", 7000 + app, stage);
			tellf(&t, "app_%d.log|loop|stage done|stage=%d", 7000 + app, stage);
		}
	}
	settle(&t);
	assert_true(is_edge(&t.g, "app+job", "app+stage"));
	assert_true(relation_of(&t.g, "app+job", "app+stage")->is_inferred);
	told_graph_done(&t);
}

static void states_are_no_names_and_users_are(void **state)
{
	static const char *const users[] = { "ann", "bob", "eve" };
	static const char *const states[] = { "NEW", "RUNNING", "DONE" };
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int i = 0; i < 12; i++) {
		tellf(&t, "||submitted|user=%s job_#=job_%d", users[i % 3], 4000 + i);
		tellf(&t, "||accepted|user=%s job_#=job_%d", users[i % 3], 4000 + i);
		for (int s = 0; s < 3; s++)
			tellf(&t, "||is now|job_#=job_%d state=%s", 4000 + i, states[s]);
	}
	settle(&t);
	assert_true(is_edge(&t.g, "user", "job"));
	assert_false(is_drawn(&t.g, "state"));
	told_graph_done(&t);
}

static void the_oldest_are_forgotten_and_counted(void **state)
{
	const struct objects_options options = { .memory_bytes = 1 << 20, .file_bytes = 1 << 20 };
	struct told_graph t;

	(void)state;
	told_graph_with(&t, &options);
	for (int i = 0; i < 100000; i++)
		tellf(&t, "||flood|job_#=job_%d", i);
	settle(&t);
	assert_true(t.losses.count[LOSS_MENTIONS_FORGOTTEN] > 50000);
	assert_true(t.g.nr_objects < 50000);
	told_graph_done(&t);
}

/* Four lines of each job, all begun before the first one goes on. */
static void tell_many_jobs(struct told_graph *t, int nr)
{
	static const char *const texts[] = { "submitted", "accepted", "runs", "is done" };

	for (int text = 0; text < 4; text++)
		for (int i = 0; i < nr; i++)
			tellf(t, "||%s|user=%s job_#=job_%d", texts[text], i % 3 ? "ann" : "bob",
			      4000 + i);
}

static void objects_are_told_a_few_thousand_at_a_time(void **state)
{
	struct told_graph t;
	struct object_sink sink;
	struct error err = { 0 };

	(void)state;
	told_graph_init(&t, 0);
	tell_many_jobs(&t, 10000);
	settle(&t);
	assert_true(t.g.nr_objects >= 10000);
	assert_true(t.told.nr_parts >= 3);
	assert_true(t.told.max_part <= 4096);
	/* and are gone then */
	sink = gathered_sink(&t.told);
	assert_int_equal(objects_tell(t.o, &sink, &err), -EINVAL);
	told_graph_done(&t);
}

static void beyond_the_memory_the_same_is_found(void **state)
{
	struct told_graph all, little;

	(void)state;
	told_graph_init(&all, (size_t)1 << 30);
	told_graph_init(&little, (size_t)2 << 20);
	tell_many_jobs(&all, 20000);
	tell_many_jobs(&little, 20000);
	settle(&all);
	settle(&little);
	assert_int_equal(little.losses.count[LOSS_MENTIONS_FORGOTTEN], 0);
	assert_int_equal(little.g.nr_types, all.g.nr_types);
	assert_int_equal(little.g.nr_objects, all.g.nr_objects);
	assert_true(all.g.nr_objects >= 20000);
	for (size_t i = 0; i < all.g.nr_objects; i++) {
		const struct object *a = &all.g.objects[i], *b = &little.g.objects[i];

		assert_true(str_eq(a->ids[0], b->ids[0]));
		assert_int_equal(a->type, b->type);
		assert_int_equal(a->last_ns, b->last_ns);
		assert_int_equal(a->nr_events, b->nr_events);
		assert_int_equal(a->nr_parts, b->nr_parts);
		assert_int_equal(a->nr_parents, b->nr_parents);
		if (a->nr_parents)
			assert_int_equal(a->parents[0], b->parents[0]);
	}
	assert_true(is_edge(&little.g, "user", "job"));
	told_graph_done(&all);
	told_graph_done(&little);
}

static void nothing_gives_an_empty_graph_and_odd_input_is_taken(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	settle(&t);
	assert_int_equal(t.g.nr_types, 0);
	tell(&t, "||odd|==== =x x=");
	tell(&t, "||odd|#=# ##=_ *=*,*");
	settle(&t);
	settle(&t);
	told_graph_done(&t);
}

static void a_flood_of_names_makes_no_objects_and_is_counted(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_jobs(&t);
	for (int i = 0; i < 500; i++)
		tellf(&t, "||token <*>|tok-#-#=tok-1-%d", 100000 + i);
	settle(&t);
	assert_false(is_drawn(&t.g, "tok"));
	assert_true(is_drawn(&t.g, "job"));
	assert_int_equal(t.losses.count[LOSS_NAMES_ONCE], 500);
	told_graph_done(&t);
}

static void a_deed_is_told_by_the_verb(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell(&t, "||user <*> created job <*>|user_#=user_1 job_#=job_1");
	tell(&t, "||user <*> created job <*>|user_#=user_1 job_#=job_2");
	tell(&t, "||node <*> released disk <*>|node_#=node_1 disk_#=disk_1");
	tell(&t, "||node <*> released disk <*>|node_#=node_1 disk_#=disk_2");
	settle(&t);
	assert_int_equal(relation_of(&t.g, "user", "job")->deed, DEED_CREATED);
	assert_int_equal(relation_of(&t.g, "node", "disk")->deed, DEED_FINISHED);
	told_graph_done(&t);
}

/* A proxy: each connection is named once, its host again and again. */
static void hosts_are_known_by_their_connections(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int i = 0; i < 200; i++) {
		int order = 700000 + i / 2;

		tellf(&t, "||<*> asks for <*>|ip:port=10.0.0.%d:%d order_#=order_%d", 1 + order % 5,
		      40000 + i, order);
	}
	settle(&t);
	assert_true(is_edge(&t.g, "ip", "order"));
	assert_int_equal(type_of(&t.g, "ip")->nr_objects, 5);
	told_graph_done(&t);
}

static void one_host_or_any_is_no_type(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int i = 0; i < 200; i++)
		tellf(&t,
		      "||<*> at <*> asks for <*>|ip:port=10.0.0.1:%d ip:port=0.0.0.0:80 "
		      "order_#=order_%d",
		      40000 + i / 2, 700000 + i / 2);
	settle(&t);
	assert_null(type_of(&t.g, "ip"));
	told_graph_done(&t);
}

/* Files that many ask for belong to none of them. */
static void files_of_many_statements_stand_alone(void **state)
{
	struct told_graph t;

	(void)state;
	told_graph_init(&t, 0);
	tell_much(&t);
	for (int i = 0; i < 300; i++)
		tellf(&t, "||%s <*>|path/www=/www/page%d", i % 3 ? i % 2 ? "get" : "head" : "put",
		      i % 7);
	settle(&t);
	assert_true(is_drawn(&t.g, "path/www"));
	told_graph_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_wrong_line_is_an_exception),
		cmocka_unit_test(a_statement_that_names_others_too_is_outvoted),
		cmocka_unit_test(amounts_and_durations_are_no_objects),
		cmocka_unit_test(small_numbers_mean_something_in_the_log_of_a_thing),
		cmocka_unit_test(names_that_contain_a_name_belong_to_it),
		cmocka_unit_test(versions_are_the_thing_itself),
		cmocka_unit_test(what_tells_apart_only_together_is_combined),
		cmocka_unit_test(only_what_can_stand_for_each_other_is_merged),
		cmocka_unit_test(kinds_that_never_share_a_line_are_tied_by_the_lines_before),
		cmocka_unit_test(states_are_no_names_and_users_are),
		cmocka_unit_test(the_oldest_are_forgotten_and_counted),
		cmocka_unit_test(objects_are_told_a_few_thousand_at_a_time),
		cmocka_unit_test(beyond_the_memory_the_same_is_found),
		cmocka_unit_test(nothing_gives_an_empty_graph_and_odd_input_is_taken),
		cmocka_unit_test(a_flood_of_names_makes_no_objects_and_is_counted),
		cmocka_unit_test(a_deed_is_told_by_the_verb),
		cmocka_unit_test(hosts_are_known_by_their_connections),
		cmocka_unit_test(one_host_or_any_is_no_type),
		cmocka_unit_test(files_of_many_statements_stand_alone),
	};

	return RUN(tests);
}
