/* What "culprit objects" tells of a graph that is known. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask/object_kin.h"
#include "ask/objects/objects.h"
#include "ask_run.h"
#include "object_graphs.h"
#include "report/writer.h"
#include "store/objects.h"

/* user -> app -> container; node -> container; user -> container is implied. */
enum { USER, APP, CONTAINER, NODE };

static void make(struct made_graph *m)
{
	made_type(m, "user");
	made_type(m, "app_#");
	made_type(m, "container_#_#");
	made_type(m, "node");
	m->types.v[NODE].is_in_graph = true;
	made_relation(m, USER, APP);
	made_relation(m, APP, CONTAINER);
	m->relations.v[1].relation = RELATION_ONE; /* as far as was seen */
	made_relation(m, NODE, CONTAINER);
	made_relation(m, USER, CONTAINER);
	m->relations.v[3].is_reduced = true;
	made_object(m, USER, STR("ann"), UINT32_MAX, 0, 9000);
	made_object(m, APP, STR("app_1"), 0, 100, 4000);
	made_object(m, APP, STR("app_2"), 0, 200, 9000);
	for (int i = 0; i < 8; i++) {
		char name[32];
		uint32_t o, *parents = arena_array(&m->arena, uint32_t, 3);

		snprintf(name, sizeof(name), "container_%d_%d", 1 + i / 4, i % 4);
		o = made_object(m, CONTAINER, str_of(name), 0, 1000 + i, 2000 + i * 100);
		parents[0] = 0;
		parents[1] = 1 + (uint32_t)i / 4;
		parents[2] = 11;
		m->objects.v[o].parents = parents;
		m->objects.v[o].nr_parents = 3;
	}
	made_object(m, NODE, STR("n1"), UINT32_MAX, 0, 9000);
	m->objects.v[1].aliases = arena_new(&m->arena, struct str);
	m->objects.v[1].aliases[0] = STR("job_1");
	m->objects.v[1].nr_aliases = 1;
	vec_push(&m->links, (struct object_link){ 3, 11, GRAPH_START, GRAPH_START, 2 });
	vec_push(&m->links, (struct object_link){ 2, 11, GRAPH_START, GRAPH_START, 9 });
	made_end(m);
}

static struct store *stored(struct made_graph *m)
{
	struct store *s = run_new();
	struct error err = { 0 };

	assert_int_equal(store_set_objects(s, &m->g, &err), 0);
	run_finish(s);
	return s;
}

static void the_types_and_edges_are_those_of_the_contract(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;
	struct buf out = { 0 };
	int got;

	(void)state;
	make(&m);
	s = stored(&m);
	ASK(s, "objects", &out, &got, );
	assert_int_equal(got, 0);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "{\"type\":\"app_#\",\"signature\":[\"app_#\"],"
				      "\"instances\":2,"));
	assert_non_null(strstr(out.p, "{\"from\":[\"user\"],\"to\":[\"app_#\"],"
				      "\"relation\":\"1:n\","));
	assert_non_null(strstr(out.p, "\"support\":10,\"exceptions\":1,\"confidence\":0.95"));
	buf_done(&out);
	store_close(s);
	made_done(&m);
}

static void scripts_get_every_object_with_its_nearest_parents_first(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got, nr = 0;

	(void)state;
	make(&m);
	s = stored(&m);
	ASK(s, "objects", &out, &got, "instances", "", );
	assert_int_equal(got, 0);
	lines = buf_str(&out);
	while (run_next(j, &lines, &v)) {
		if (nr == 3) {
			assert_int_equal(json_count(json_get(v, STR("parents"))), 3);
			assert_int_equal(run_int(v, "events"), 2);
			assert_int_equal(run_int(v, "duration"), 1000 * NS_MS);
		}
		nr++;
	}
	assert_int_equal(nr, 12);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "{\"object\":[\"container_1_0\"],\"type\":\"container_#_#\","
				      "\"parents\":[[\"app_1\"],[\"n1\"],[\"ann\"]],"));
	buf_done(&out);
	json_free(j);
	store_close(s);
	made_done(&m);
}

static void the_moments_of_objects_are_told_and_thinned(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;
	struct json *j = json_new();
	struct buf out = { 0 };
	struct json_value v;
	struct str lines;
	int got;

	(void)state;
	vec_push(&m.templates, STR("said"));
	vec_push(&m.logs, STR("a.log"));
	made_type(&m, "app_#");
	made_object(&m, 0, STR("app_1"), UINT32_MAX, 100, 900);
	made_event(&m, 0, 100, 900, 5);
	made_event(&m, 0, 300, 300, 1);
	m.objects.v[0].events[1].level = LEVEL_ERROR;
	made_object(&m, 0, STR("app_2"), UINT32_MAX, 200, 9200);
	for (int i = 0; i < 3000; i++)
		made_event(&m, 1, 200 + 3 * i, 200 + 3 * i, 1);
	made_end(&m);
	s = stored(&m);
	ASK(s, "objects", &out, &got, "instances", "", "events", "", );
	assert_int_equal(got, 0);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "\"times\":[0,200000000,800000000],"
				      "\"error_times\":[200000000]"));
	lines = buf_str(&out);
	assert_true(run_next(j, &lines, &v) && run_next(j, &lines, &v));
	assert_in_range(json_count(json_get(v, STR("times"))), 1000, 2001);
	assert_non_null(strstr(out.p, "\"object_times_left_out\":1"));
	buf_clear(&out);
	ASK(s, "objects", &out, &got, "instances", "", );
	buf_char(&out, 0);
	assert_null(strstr(out.p, "times"));
	buf_done(&out);
	json_free(j);
	store_close(s);
	made_done(&m);
}

static int count_of(struct store *s, const char *option, const char *value, const char *more,
		    const char *with)
{
	struct buf out = { 0 };
	struct str lines, line;
	int got, nr = 0;

	ASK(s, "objects", &out, &got, option, value, more, with, );
	lines = buf_str(&out);
	while (got >= 0 && str_take_line(&lines, &line))
		nr++;
	buf_done(&out);
	return got < 0 ? got : nr;
}

static void an_object_is_found_by_any_of_its_names(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;

	(void)state;
	make(&m);
	s = stored(&m);
	assert_int_equal(count_of(s, "under", "app_1", NULL, NULL), 5);
	assert_int_equal(count_of(s, "under", "job_1", NULL, NULL), 5);
	assert_int_equal(count_of(s, "under", "app_# app_2", NULL, NULL), 5);
	assert_int_equal(count_of(s, "under", "ann", "type", "container"), 8);
	assert_int_equal(count_of(s, "slowest", "3", "type", "container"), 3);
	assert_int_equal(count_of(s, "limit", "4", NULL, NULL), 4);
	assert_int_equal(count_of(s, "links", "", NULL, NULL), 2);
	assert_int_equal(count_of(s, "links", "", "under", "app_1"), 1);
	assert_int_equal(count_of(s, "links", "", "limit", "1"), 1);
	assert_true(count_of(s, "under", "nobody", NULL, NULL) < 0);
	assert_true(count_of(s, "type", "nothing", NULL, NULL) < 0);
	assert_true(count_of(s, "slowest", "0", NULL, NULL) < 0);
	store_close(s);
	made_done(&m);
}

static void a_name_of_several_is_told_with_the_candidates(void **state)
{
	struct made_graph m = { 0 };
	struct error err = { 0 };
	uint32_t found;

	(void)state;
	made_type(&m, "stage");
	made_type(&m, "job");
	made_type(&m, "job (brief)");
	made_object(&m, 0, STR("3"), UINT32_MAX, 0, 1);
	made_object(&m, 1, STR("3"), UINT32_MAX, 0, 1);
	made_object(&m, 2, STR("3"), UINT32_MAX, 0, 1);
	made_end(&m);
	assert_true(object_find(&m.g, STR("3"), &found, &err) < 0);
	assert_non_null(strstr(err.msg, "'stage 3', 'job 3'"));
	assert_int_equal(object_find(&m.g, STR("job 3"), &found, &err), 0);
	assert_int_equal(found, 1);
	assert_int_equal(object_find(&m.g, STR("job (brief) 3"), &found, &err), 0);
	assert_int_equal(found, 2);
	made_done(&m);
}

/* Circles and parents of oneself come from damage only; they must not hold anyone. */
static void a_circle_of_parents_ends(void **state)
{
	struct made_graph m = { 0 };
	struct store *s;

	(void)state;
	made_type(&m, "a");
	made_type(&m, "b");
	made_relation(&m, 0, 1);
	made_relation(&m, 1, 0);
	made_object(&m, 0, STR("a1"), 1, 0, 1);
	made_object(&m, 1, STR("b1"), 0, 0, 1);
	made_object(&m, 1, STR("b2"), 2, 0, 1);
	made_end(&m);
	s = stored(&m);
	assert_int_equal(count_of(s, "instances", "", NULL, NULL), 3);
	assert_int_equal(count_of(s, "under", "a1", NULL, NULL), 2);
	assert_int_equal(count_of(s, "relations", "", NULL, NULL), 4);
	store_close(s);
	made_done(&m);
}

static void write_both(struct store *s, const char *option, struct buf *out, struct buf *page)
{
	const struct option options[] = { { "json", NULL, "" }, { option, NULL, "" }, { 0 } };
	const char *values[] = { NULL, "", NULL };
	const struct text_style style = { .columns = 120, .ascii = true };
	struct report report;
	struct error err = { 0 };

	for (size_t i = 0; questions[i]; i++) {
		if (!str_eq(str_of(questions[i]->name), STR("objects")))
			continue;
		report_init(&report);
		assert_int_equal(questions[i]->run(&s, &(struct args){ options, values, NULL },
						   &report, &err),
				 0);
		report_write_text(&report, &style, out);
		report_write_html(&report, page);
		report_done(&report);
	}
}

static void hostile_names_cannot_steer_a_terminal_or_a_page(void **state)
{
	struct made_graph m = { 0 };
	char *big = mem_alloc(10001);
	struct buf out = { 0 }, page = { 0 };
	struct store *s;

	(void)state;
	memset(big, 'x', 10000);
	big[10000] = 0;
	made_type(&m, "\x1b[31mtype<script>alert(1)</script>");
	made_object(&m, 0, STR("a\x1b]0;title\x07\n<script>x</script>\xff"), UINT32_MAX, 0, 1);
	made_object(&m, 0, str_of(big), UINT32_MAX, 0, 1);
	made_end(&m);
	s = stored(&m);
	write_both(s, "instances", &out, &page);
	write_both(s, "relations", &out, &page);
	write_both(s, "nothing", &out, &page);
	for (size_t i = 0; i < out.n; i++)
		assert_true(out.p[i] != 0x1b && out.p[i] != 0x07 && out.p[i] != (char)0xff);
	assert_true(str_find(buf_str(&page), STR("<script>alert")) == page.n);
	assert_true(str_find(buf_str(&page), STR("alert(1)")) < page.n);
	buf_done(&page);
	buf_done(&out);
	store_close(s);
	made_done(&m);
	free(big);
}

/* The value of an option of the text report. */
static void write_with(struct store *s, const char *option, const char *value, struct buf *out)
{
	const struct option options[] = { { "json", NULL, "" }, { option, "X", "" }, { 0 } };
	const char *values[] = { NULL, value, NULL };
	const struct text_style style = { .columns = 120, .ascii = true };
	struct report report;
	struct error err = { 0 };

	report_init(&report);
	assert_int_equal(
		ask_objects.run(&s, &(struct args){ options, values, NULL }, &report, &err), 0);
	report_write_text(&report, &style, out);
	report_done(&report);
}

static void children_stand_in_for_parents_that_do_not_live_then(void **state)
{
	struct made_graph m = { 0 };
	struct buf out = { 0 };
	struct store *s;

	(void)state;
	make(&m);
	m.objects.v[2].last_ns = GRAPH_START + 300 * NS_MS; /* app_2, whose containers go on */
	m.objects.v[0].last_ns = GRAPH_START + 300 * NS_MS;
	s = stored(&m);
	write_with(s, "from", "1700000002.000", &out);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "container_2_3"));
	assert_null(strstr(out.p, "app_2"));
	buf_done(&out);
	store_close(s);
	made_done(&m);
}

static void a_tree_shows_each_object_once_in_full(void **state)
{
	struct made_graph m = { 0 };
	struct buf out = { 0 }, page = { 0 };
	struct store *s;

	(void)state;
	make(&m);
	s = stored(&m);
	write_both(s, "instances", &out, &page);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "\n    app_1 "));
	assert_non_null(strstr(out.p, "\n      container_1_0 "));
	assert_non_null(strstr(out.p, "more"));
	buf_clear(&out);
	write_both(s, "nothing", &out, &page);
	buf_char(&out, 0);
	assert_non_null(strstr(out.p, "\n      container_#_# "));
	assert_non_null(strstr(out.p, "container_#_# (see below app_#)"));
	buf_done(&out);
	buf_done(&page);
	store_close(s);
	made_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_types_and_edges_are_those_of_the_contract),
		cmocka_unit_test(scripts_get_every_object_with_its_nearest_parents_first),
		cmocka_unit_test(the_moments_of_objects_are_told_and_thinned),
		cmocka_unit_test(an_object_is_found_by_any_of_its_names),
		cmocka_unit_test(a_name_of_several_is_told_with_the_candidates),
		cmocka_unit_test(a_circle_of_parents_ends),
		cmocka_unit_test(hostile_names_cannot_steer_a_terminal_or_a_page),
		cmocka_unit_test(children_stand_in_for_parents_that_do_not_live_then),
		cmocka_unit_test(a_tree_shows_each_object_once_in_full),
	};

	return RUN(tests);
}
