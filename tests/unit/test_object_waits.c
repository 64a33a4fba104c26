/* Silences of objects, and whose ends they wait for: planted, and where there is nothing to find.
 */
#include "unit.h"

#include <stdio.h>

#include "ask/object_causes.h"
#include "ask/object_waits.h"
#include "ask/stats.h"
#include "object_graphs.h"

enum { USER, APP, CONTAINER, ATTEMPT };
enum { CREATED, ASSIGNED, DONE };
enum { NR_APPS = 12, PER_APP = 8, SLOTS = 4 };

static void make_types(struct made_graph *m)
{
	made_type(m, "user");
	made_type(m, "app");
	made_type(m, "container");
	made_type(m, "attempt");
	vec_push(&m->templates, STR("created <*>"));
	vec_push(&m->templates, STR("assigned <*>"));
	vec_push(&m->templates, STR("done <*>"));
	vec_push(&m->logs, STR("rm.log"));
}

static void add_line(struct made_graph *m, uint32_t object, int64_t ms, uint32_t template)
{
	struct object *o = &m->objects.v[object];

	made_event(m, object, ms, ms, 1);
	o->events[o->nr_parts - 1].template = template;
}

struct attempt {
	int64_t created, start, end;
};

/* Attempts are created with their application; each gets a container when one is free of the few
 * that there are, or at once when there is no bound. */
static void schedule(struct attempt *v, bool is_bounded)
{
	int64_t free_at[SLOTS] = { 0 };
	struct dice dice = { 5 };

	for (int i = 0; i < NR_APPS * PER_APP; i++) {
		int64_t created = i / PER_APP * 3000 + (int64_t)dice_below(&dice, 50);
		int best = 0;

		for (int k = 1; k < SLOTS; k++)
			if (free_at[k] < free_at[best])
				best = k;
		v[i].created = created;
		v[i].start = created + 1000 + (int64_t)dice_below(&dice, 4000);
		if (is_bounded)
			v[i].start = free_at[best] > created ? free_at[best] + 6 : created + 10;
		v[i].end = v[i].start + 2000 + (int64_t)dice_below(&dice, 1000);
		free_at[best] = v[i].end;
	}
}

/* Applications come one after the other, or take turns. */
static uint32_t app_of(uint32_t i, bool by_turns)
{
	return 2 + (by_turns ? i % NR_APPS : i / PER_APP);
}

static void make_cluster(struct made_graph *m, bool is_bounded, bool by_turns)
{
	struct attempt v[NR_APPS * PER_APP];
	char name[32];

	schedule(v, is_bounded);
	make_types(m);
	made_object(m, USER, STR("ann"), UINT32_MAX, 0, 100000);
	made_object(m, USER, STR("bob"), UINT32_MAX, 0, 100000);
	for (uint32_t i = 0; i < NR_APPS; i++) {
		snprintf(name, sizeof(name), "app_%u", i);
		made_object(m, APP, str_of(name), i % 2, i * 3000, 100000);
	}
	for (uint32_t i = 0; i < NR_APPS * PER_APP; i++) {
		snprintf(name, sizeof(name), "container_%u", i);
		made_object(m, CONTAINER, str_of(name), app_of(i, by_turns), v[i].start, v[i].end);
	}
	for (uint32_t i = 0; i < NR_APPS * PER_APP; i++) {
		uint32_t o;

		snprintf(name, sizeof(name), "attempt_%u", i);
		o = made_object(m, ATTEMPT, str_of(name), 2 + NR_APPS + i, v[i].created,
				v[i].end - 20);
		add_line(m, o, v[i].created, CREATED);
		add_line(m, o, v[i].start, ASSIGNED);
		add_line(m, o, v[i].end - 20, DONE);
	}
	made_end(m);
}

static uint32_t find_kind(const struct object_waits *w, uint32_t type, uint32_t before,
			  uint32_t after)
{
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		if (w->kinds.v[i].type == type && w->kinds.v[i].before == before &&
		    w->kinds.v[i].after == after)
			return i;
	fail_msg("there is no such kind of silence");
	return 0;
}

static void silences_are_what_no_line_and_no_child_fills(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_kin k;
	const struct object_wait *wait;
	uint32_t o;

	(void)state;
	make_types(&m);
	o = made_object(&m, APP, STR("app_1"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 10000, DONE);
	made_object(&m, CONTAINER, STR("c1"), o, 2000, 5000);
	made_object(&m, CONTAINER, STR("c2"), o, 4000, 7000);
	made_object(&m, CONTAINER, STR("c3"), o, 7050, 9000);
	made_end(&m);
	object_kin_init(&k, &m.g, &arena);
	object_waits_find(&w, &k);
	assert_int_equal(w.waits.nr, 2); /* 50 ms are less than a hundredth of its life */
	wait = &w.waits.v[w.kinds.v[find_kind(&w, APP, CREATED, WAIT_CHILD | CONTAINER)].first];
	assert_int_equal(wait->from - GRAPH_START, 0);
	assert_int_equal(wait->to - GRAPH_START, 2000 * NS_MS);
	wait = &w.waits.v[w.kinds.v[find_kind(&w, APP, WAIT_CHILD | CONTAINER, DONE)].first];
	assert_int_equal(wait->from - GRAPH_START, 9000 * NS_MS);
	assert_int_equal(wait->to - GRAPH_START, 10000 * NS_MS);
	object_waits_done(&w);
	arena_done(&arena);
	made_done(&m);
}

static void gaps_are_what_no_child_fills(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_kin k;
	uint32_t o;

	(void)state;
	make_types(&m);
	o = made_object(&m, APP, STR("app_1"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 1000, ASSIGNED); /* its own lines do not count */
	add_line(&m, o, 10000, DONE);
	made_object(&m, CONTAINER, STR("c1"), o, 2000, 5000);
	made_object(&m, CONTAINER, STR("c2"), o, 6000, 9000);
	made_end(&m);
	object_kin_init(&k, &m.g, &arena);
	object_gaps_find(&w, &k);
	assert_int_equal(w.waits.nr, 3);
	find_kind(&w, APP, WAIT_BEGIN, WAIT_CHILD | CONTAINER);
	find_kind(&w, APP, WAIT_CHILD | CONTAINER, WAIT_CHILD | CONTAINER);
	find_kind(&w, APP, WAIT_CHILD | CONTAINER, WAIT_END);
	object_waits_done(&w);
	arena_done(&arena);
	made_done(&m);
}

/* Held up before its container, and again before the next one; and a thing that lies there until it
 * is removed, as a file does. */
static void work_that_follows_makes_a_wait_and_a_prompt_end_idleness(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_kin k;
	uint32_t o;

	(void)state;
	make_types(&m);
	o = made_object(&m, APP, STR("app_1"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 5000, ASSIGNED);
	made_object(&m, CONTAINER, STR("c1"), o, 5100, 9900);
	o = made_object(&m, ATTEMPT, STR("attempt_1"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 9900, ASSIGNED);
	add_line(&m, o, 10000, DONE);
	o = made_object(&m, CONTAINER, STR("c2"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 3000, ASSIGNED);
	add_line(&m, o, 10000, DONE);
	made_end(&m);
	object_kin_init(&k, &m.g, &arena);
	object_waits_find(&w, &k);
	assert_int_equal(object_wait_sense(&w, &k, find_kind(&w, APP, CREATED, ASSIGNED)),
			 WAIT_FOR);
	assert_int_equal(object_wait_sense(&w, &k, find_kind(&w, ATTEMPT, CREATED, ASSIGNED)),
			 WAIT_IDLE);
	assert_int_equal(object_wait_sense(&w, &k, find_kind(&w, CONTAINER, CREATED, ASSIGNED)),
			 WAIT_UNKNOWN);
	object_waits_done(&w);
	arena_done(&arena);
	made_done(&m);
}

/* A client that comes by uses it, and was not waited for. */
static void who_uses_a_thing_is_not_waited_for(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_kin k;
	struct object_relation uses = { .from = APP, .to = CONTAINER, .deed = DEED_USED };
	uint32_t o;

	(void)state;
	make_types(&m);
	o = made_object(&m, APP, STR("app_1"), UINT32_MAX, 0, 10000);
	add_line(&m, o, 0, CREATED);
	add_line(&m, o, 9800, ASSIGNED);
	made_object(&m, CONTAINER, STR("c1"), o, 9800, 9900);
	made_end(&m);
	m.g.relations = &uses;
	m.g.nr_relations = 1;
	object_kin_init(&k, &m.g, &arena);
	object_waits_find(&w, &k);
	assert_int_equal(w.waits.nr, 1);
	assert_int_equal(object_wait_sense(&w, &k, w.waits.v[0].kind), WAIT_IDLE);
	object_waits_done(&w);
	arena_done(&arena);
	made_done(&m);
}

static void lines_that_repeat_fill_the_time_between(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_kin k;
	uint32_t o;

	(void)state;
	make_types(&m);
	o = made_object(&m, APP, STR("app_1"), UINT32_MAX, 0, 10000);
	made_event(&m, o, 0, 10000, 40);
	made_end(&m);
	object_kin_init(&k, &m.g, &arena);
	object_waits_find(&w, &k);
	assert_int_equal(w.waits.nr, 0);
	object_waits_done(&w);
	arena_done(&arena);
	made_done(&m);
}

/* Whether a cause is found of the time between creation and assignment. */
static int look(struct made_graph *m, struct object_cause *c, uint32_t before, uint32_t after,
		uint32_t *other)
{
	struct arena arena = { 0 };
	struct object_waits w = { 0 };
	struct object_ends *ends;
	struct object_kin k;
	uint32_t kind;
	int64_t ns;
	int found;

	object_kin_init(&k, &m->g, &arena);
	object_waits_find(&w, &k);
	ends = object_ends_new(&m->g);
	kind = find_kind(&w, ATTEMPT, before, after);
	found = object_cause(ends, &w, kind, c);
	for (uint32_t i = 0; found && i < w.kinds.v[kind].nr; i++)
		if (object_cause_of(ends, c, &w.waits.v[w.kinds.v[kind].first + i], other, &ns))
			break;
	object_ends_free(ends);
	object_waits_done(&w);
	arena_done(&arena);
	return found;
}

static void attempts_wait_for_containers_that_others_hold(void **state)
{
	struct made_graph m = { 0 };
	struct object_cause c;
	uint32_t other = 0;

	(void)state;
	make_cluster(&m, true, false);
	assert_int_equal(look(&m, &c, CREATED, ASSIGNED, &other), 1);
	assert_true(c.type == CONTAINER || c.type == ATTEMPT);
	assert_true(c.hits >= 60 && c.hits * 10 >= c.nr * 8);
	assert_true(c.expected * 4 < c.hits);
	assert_true(c.confidence > 0.99);
	assert_true(other >= 2 + NR_APPS);
	made_done(&m);
}

static void containers_of_other_applications_are_told_as_such(void **state)
{
	struct made_graph m = { 0 };
	struct object_cause c;
	uint32_t other = 0;

	(void)state;
	make_cluster(&m, true, true);
	assert_int_equal(look(&m, &c, CREATED, ASSIGNED, &other), 1);
	assert_true(c.elsewhere == APP || c.elsewhere == USER);
	made_done(&m);
}

static void what_starts_at_any_time_waits_for_nobody(void **state)
{
	struct made_graph m = { 0 };
	struct object_cause c;
	uint32_t other;

	(void)state;
	make_cluster(&m, false, false);
	assert_int_equal(look(&m, &c, CREATED, ASSIGNED, &other), 0);
	made_done(&m);
}

/* Begun together, they end around the same time; none of them waits for another. */
static void work_side_by_side_is_no_waiting(void **state)
{
	struct made_graph m = { 0 };
	struct dice dice = { 9 };
	struct object_cause c;
	uint32_t other;
	char name[32];

	(void)state;
	make_types(&m);
	for (uint32_t i = 0; i < 400; i++) {
		int64_t at = i / 20 * 5000;
		int64_t assigned = at + 3000 + (int64_t)dice_below(&dice, 400);
		uint32_t o;

		snprintf(name, sizeof(name), "attempt_%u", i);
		o = made_object(&m, ATTEMPT, str_of(name), UINT32_MAX, at, assigned + 100);
		add_line(&m, o, at, CREATED);
		add_line(&m, o, assigned, ASSIGNED);
		add_line(&m, o, assigned + 100, DONE);
	}
	made_end(&m);
	assert_int_equal(look(&m, &c, CREATED, ASSIGNED, &other), 0);
	made_done(&m);
}

static void few_coincidences_are_no_cause(void **state)
{
	struct made_graph m = { 0 };
	struct object_cause c;
	uint32_t other;

	(void)state;
	make_types(&m);
	for (uint32_t i = 0; i < 3; i++) {
		char name[8] = { 'c', (char)('0' + i), 0 };

		made_object(&m, CONTAINER, str_of(name), UINT32_MAX, i * 9000, i * 9000 + 4000);
	}
	for (uint32_t i = 0; i < 3; i++) {
		char name[8] = { 'a', (char)('0' + i), 0 };
		uint32_t o = made_object(&m, ATTEMPT, str_of(name), UINT32_MAX, i * 9000,
					 i * 9000 + 6000);

		add_line(&m, o, i * 9000, CREATED);
		add_line(&m, o, i * 9000 + 4003, ASSIGNED);
		add_line(&m, o, i * 9000 + 6000, DONE);
	}
	made_end(&m);
	assert_int_equal(look(&m, &c, CREATED, ASSIGNED, &other), 0);
	made_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silences_are_what_no_line_and_no_child_fills),
		cmocka_unit_test(gaps_are_what_no_child_fills),
		cmocka_unit_test(work_that_follows_makes_a_wait_and_a_prompt_end_idleness),
		cmocka_unit_test(who_uses_a_thing_is_not_waited_for),
		cmocka_unit_test(lines_that_repeat_fill_the_time_between),
		cmocka_unit_test(attempts_wait_for_containers_that_others_hold),
		cmocka_unit_test(containers_of_other_applications_are_told_as_such),
		cmocka_unit_test(what_starts_at_any_time_waits_for_nobody),
		cmocka_unit_test(work_side_by_side_is_no_waiting),
		cmocka_unit_test(few_coincidences_are_no_cause),
	};

	return RUN(tests);
}
