/* Objects as requests of their types: every question about requests can be put to them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ask/object_level.h"
#include "ask_run.h"
#include "object_graphs.h"
#include "store/objects.h"

enum { APP, CONTAINER, MOMENT };

static void make(struct made_graph *m)
{
	made_type(m, "app");
	made_type(m, "container");
	made_type(m, "moment");
	vec_push(&m->templates, STR("began <*>"));
	vec_push(&m->templates, STR("ended <*>"));
	vec_push(&m->logs, STR("rm.log"));
	vec_push(&m->logs, STR("containers/n1/app_2/c_2_1/syslog"));
	made_relation(m, APP, CONTAINER);
	for (uint32_t i = 0; i < 3; i++) {
		char name[16];
		uint32_t o;

		snprintf(name, sizeof(name), "app_%u", i);
		o = made_object(m, APP, str_of(name), UINT32_MAX, i * 1000, i * 1000 + 900);
		made_event(m, o, i * 1000, i * 1000, 1);
		made_event(m, o, i * 1000 + 900, i * 1000 + 900, 1);
		m->objects.v[o].events[1].template = 1;
	}
	for (uint32_t i = 0; i < 6; i++) {
		char name[16];
		uint32_t o;

		snprintf(name, sizeof(name), "c_%u_%u", i / 2, i % 2);
		o = made_object(m, CONTAINER, str_of(name), i / 2, i / 2 * 1000 + 100,
				i / 2 * 1000 + 300);
		made_event(m, o, i / 2 * 1000 + 100, i / 2 * 1000 + 300, 5);
		m->objects.v[o].events[0].log = 1;
	}
	/* one that outlives its parent, and one that was over before it */
	m->objects.v[3].last_ns = GRAPH_START + 5000 * NS_MS;
	m->objects.v[8].first_ns = m->objects.v[8].last_ns = GRAPH_START + 500 * NS_MS;
	m->objects.v[8].nr_errors = 1;
	made_object(m, MOMENT, STR("x"), UINT32_MAX, 7, 7);
	made_end(m);
}

static struct store *at_level(struct made_graph *m)
{
	struct store *s = run_new(), *made = NULL;
	struct error err = { 0 };

	assert_int_equal(store_set_objects(s, &m->g, &err), 0);
	store_losses(s)->count[LOSS_LINES_CUT] = 3;
	run_finish(s);
	assert_int_equal(object_level_run(s, &made, &err), 0);
	store_close(s);
	return made;
}

static void objects_with_a_life_are_requests_of_their_type(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, apps = 0, containers = 0;

	(void)state;
	make(&m);
	s = at_level(&m);
	ASK(s, "requests", &out, &got, );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		if (str_eq(run_str(v, "type"), STR("app"))) {
			apps++;
			assert_int_equal(run_int(v, "duration"), 900 * NS_MS);
			assert_int_equal(run_int(v, "events"), 2);
		}
		containers += str_eq(run_str(v, "type"), STR("container"));
	}
	assert_int_equal(apps, 3);
	assert_int_equal(containers, 5); /* one of them is a moment */
	assert_int_equal(store_losses(s)->count[LOSS_OBJECTS_MOMENT], 2);
	assert_int_equal(store_losses(s)->count[LOSS_LINES_CUT], 3);
	buf_done(&out);
	json_free(j);
	store_close(s);
	made_done(&m);
}

static void what_is_below_an_object_are_its_spans(void **state)
{
	struct made_graph m = { 0 };
	struct arena arena = { 0 };
	struct request r;
	struct request_body b;
	struct error err = { 0 };
	struct store *s;
	uint64_t id;

	(void)state;
	make(&m);
	s = at_level(&m);
	assert_int_equal(store_request_by_key(s, STR("app_0"), &id, &err), 1);
	assert_int_equal(store_request(s, id, &arena, &r, &b, &err), 1);
	assert_int_equal(b.nr_spans, 3);
	assert_str_equal(b.spans[1].name, "container");
	assert_str_equal(object_level_name(b.spans[1].attrs), "c_0_0");
	assert_str_equal(b.spans[1].node,
			 "containers/n1/app_2"); /* then comes the name of one below another */
	assert_int_equal(b.spans[1].end, b.spans[0].end); /* no longer than the whole */
	assert_int_equal(store_request_by_key(s, STR("app_2"), &id, &err), 1);
	assert_int_equal(store_request(s, id, &arena, &r, &b, &err), 1);
	assert_int_equal(b.nr_spans, 2); /* what was over before is not in it */
	arena_done(&arena);
	store_close(s);
	made_done(&m);
}

static void a_run_without_objects_has_no_such_level(void **state)
{
	struct store *s = run_new(), *made = NULL;
	struct error err = { 0 };

	(void)state;
	run_finish(s);
	assert_int_equal(object_level_run(s, &made, &err), -ENOENT);
	assert_null(made);
	assert_int_equal(object_level_check("object", &err), 0);
	assert_int_equal(object_level_check(NULL, &err), 0);
	assert_int_equal(object_level_check("thing", &err), -EINVAL);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_with_a_life_are_requests_of_their_type),
		cmocka_unit_test(what_is_below_an_object_are_its_spans),
		cmocka_unit_test(a_run_without_objects_has_no_such_level),
	};

	return RUN(tests);
}
