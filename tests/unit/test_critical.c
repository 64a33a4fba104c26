#include "unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "ask/critical.h"
#include "ask/stats.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"

#define MAX_SPANS 64

static struct span span_of(const char *id, int64_t start, int64_t end, uint32_t parent)
{
	return (struct span){ .start = start,
			      .end = end,
			      .parent = parent,
			      .id = str_of(id),
			      .node = STR("n"),
			      .thread = STR("t") };
}

static void assert_section(const struct critical *c, size_t i, uint32_t span, int64_t start,
			   int64_t end)
{
	assert_true(i < c->nr);
	assert_int_equal(c->v[i].span, span);
	assert_int_equal(c->v[i].start, start);
	assert_int_equal(c->v[i].end, end);
}

/* What must hold of every critical path. */
static void assert_sound(const struct request_body *b, const struct critical *c)
{
	int64_t at = c->start;

	for (size_t i = 0; i < c->nr; i++) {
		const struct critical_section *s = &c->v[i];

		assert_int_equal(s->start, at);
		assert_true(s->end > s->start);
		if (s->span != SPAN_NONE) {
			assert_true(s->span < b->nr_spans);
			assert_true(s->start >= b->spans[s->span].start);
			assert_true(s->end <= b->spans[s->span].end);
		}
		at = s->end;
	}
	assert_int_equal(at, c->end);
}

static struct critical path_of(struct span *spans, size_t nr, struct edge *edges, size_t nr_edges,
			       struct arena *arena)
{
	struct request_body b = {
		.spans = spans, .nr_spans = nr, .edges = edges, .nr_edges = nr_edges
	};
	struct critical c;

	assert_int_equal(critical_path(&b, arena, &c), 0);
	assert_sound(&b, &c);
	return c;
}

/* --- traces of the shared data -------------------------------------------------------------- */

struct trace {
	struct span spans[MAX_SPANS];
	struct str parents[MAX_SPANS];
	bool follows[MAX_SPANS];
	size_t nr;
};

static void read_spans(struct json_value v, struct trace *t)
{
	for (struct json_walk w = json_walk(json_get(v, STR("spans"))); json_next(&w);) {
		struct span *s = &t->spans[t->nr];
		struct json_walk refs = json_walk(json_get(w.value, STR("references")));
		struct str type = { 0 };
		int64_t us;

		assert_true(t->nr < MAX_SPANS);
		*s = (struct span){ .parent = SPAN_NONE };
		t->parents[t->nr] = STR("");
		assert_true(json_str(json_get(w.value, STR("spanID")), &s->id));
		assert_true(json_int(json_get(w.value, STR("startTime")), &s->start));
		assert_true(json_int(json_get(w.value, STR("duration")), &us));
		s->end = s->start + us;
		if (json_next(&refs)) {
			json_str(json_get(refs.value, STR("spanID")), &t->parents[t->nr]);
			json_str(json_get(refs.value, STR("refType")), &type);
			s->follows = str_eq(type, STR("FOLLOWS_FROM"));
		}
		t->nr++;
	}
}

/* Puts parents before their children, as a body has them. */
static void order_spans(struct trace *t)
{
	struct trace o = { 0 };
	bool placed[MAX_SPANS] = { 0 };

	while (o.nr < t->nr) {
		size_t before = o.nr;

		for (size_t i = 0; i < t->nr; i++) {
			uint32_t parent = SPAN_NONE;
			bool known = false;

			for (size_t j = 0; j < t->nr; j++)
				known |= str_eq(t->spans[j].id, t->parents[i]);
			for (uint32_t j = 0; j < o.nr; j++)
				if (str_eq(o.spans[j].id, t->parents[i]))
					parent = j;
			if (placed[i] || (known && parent == SPAN_NONE))
				continue;
			placed[i] = true;
			o.spans[o.nr] = t->spans[i];
			o.spans[o.nr++].parent = parent;
		}
		assert_true(o.nr > before);
	}
	*t = o;
}

static char *read_whole(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text = mem_alloc(1 << 20);

	assert_non_null(f);
	*n = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

/* Run from the root of the project or from a build directory in it. */
static size_t find_data(const char *pattern, glob_t *found)
{
	const char *roots[] = { getenv("CULPRIT_DATA"), "../shared/data", "../../shared/data" };
	char path[4096];

	for (size_t i = roots[0] ? 0 : 1; i < (roots[0] ? 1 : 3); i++) {
		snprintf(path, sizeof(path), "%s/critical-path/%s", roots[i], pattern);
		if (!glob(path, 0, NULL, found))
			return found->gl_pathc;
	}
	return 0;
}

static void check_case(struct json_value root)
{
	struct trace t = { 0 };
	struct arena arena = { 0 };
	struct json_walk want = json_walk(json_get(root, STR("criticalPathSections")));
	struct critical c;
	size_t left;

	read_spans(json_get(root, STR("trace")), &t);
	order_spans(&t);
	c = path_of(t.spans, t.nr, NULL, 0, &arena);
	for (left = c.nr; json_next(&want); left--) {
		struct str id;
		int64_t start, end;

		assert_true(left > 0);
		json_str(json_get(want.value, STR("spanID")), &id);
		json_int(json_get(want.value, STR("sectionStart")), &start);
		json_int(json_get(want.value, STR("sectionEnd")), &end);
		assert_true(str_eq(t.spans[c.v[left - 1].span].id, id));
		assert_int_equal(c.v[left - 1].start, start);
		assert_int_equal(c.v[left - 1].end, end);
	}
	assert_int_equal(left, 0);
	arena_done(&arena);
}

static void check_free_trace(struct json_value root)
{
	for (struct json_walk w = json_walk(json_get(root, STR("data"))); json_next(&w);) {
		struct trace t = { 0 };
		struct arena arena = { 0 };
		struct critical c;

		read_spans(w.value, &t);
		order_spans(&t);
		c = path_of(t.spans, t.nr, NULL, 0, &arena);
		assert_int_equal(c.end - c.start, t.spans[0].end - t.spans[0].start);
		arena_done(&arena);
	}
}

static void check_files(const char *pattern, void (*check)(struct json_value root))
{
	glob_t found;
	size_t nr = find_data(pattern, &found);
	struct json *j;

	if (!nr) {
		print_message("no critical-path/%s under CULPRIT_DATA: skipped\n", pattern);
		skip();
	}
	j = json_new();
	for (size_t i = 0; i < nr; i++) {
		struct error err;
		struct json_value root;
		size_t n;
		char *text = read_whole(found.gl_pathv[i], &n);

		print_message("%s\n", found.gl_pathv[i]);
		assert_int_equal(json_parse(j, (struct str){ text, n }, false, &root, &err), 0);
		check(root);
		free(text);
	}
	json_free(j);
	globfree(&found);
}

static void published_cases_have_their_published_sections(void **state)
{
	(void)state;
	check_files("case*.json", check_case);
}

static void published_traces_are_covered_without_gap_or_overlap(void **state)
{
	(void)state;
	check_files("crisp/*.json", check_free_trace);
}

/* --- our own ---------------------------------------------------------------------------------- */

static void back_to_back_children_are_both_on_the_path(void **state)
{
	struct span s[] = { span_of("p", 0, 100, SPAN_NONE), span_of("a", 0, 60, 0),
			    span_of("b", 60, 100, 0) };
	struct arena arena = { 0 };
	struct critical c = path_of(s, 3, NULL, 0, &arena);

	(void)state;
	assert_int_equal(c.nr, 2);
	assert_section(&c, 0, 1, 0, 60);
	assert_section(&c, 1, 2, 60, 100);
	arena_done(&arena);
}

static void time_between_two_roots_is_a_wait_of_no_span(void **state)
{
	struct span s[] = { span_of("a", 0, 40, SPAN_NONE), span_of("b", 50, 70, SPAN_NONE) };
	struct arena arena = { 0 };
	struct critical c = path_of(s, 2, NULL, 0, &arena);

	(void)state;
	assert_int_equal(c.nr, 3);
	assert_section(&c, 1, SPAN_NONE, 40, 50);
	assert_int_equal(c.v[1].kind, CRITICAL_WAIT);
	arena_done(&arena);
}

static void a_short_root_over_the_end_takes_only_what_the_long_one_leaves(void **state)
{
	struct span s[] = { span_of("late", 99, 101, SPAN_NONE), span_of("long", 0, 100, SPAN_NONE),
			    span_of("child", 10, 90, 1) };
	struct arena arena = { 0 };
	struct critical c = path_of(s, 3, NULL, 0, &arena);

	(void)state;
	assert_int_equal(c.nr, 4);
	assert_section(&c, 1, 2, 10, 90);
	assert_section(&c, 3, 0, 100, 101);
	arena_done(&arena);
}

static void a_wait_span_is_a_wait(void **state)
{
	struct span s[] = { span_of("p", 0, 10, SPAN_NONE), span_of("lock", 2, 8, 0) };
	struct arena arena = { 0 };
	struct critical c;

	(void)state;
	s[1].kind = SPAN_WAIT;
	c = path_of(s, 2, NULL, 0, &arena);
	assert_int_equal(c.v[1].kind, CRITICAL_WAIT);
	assert_int_equal(c.v[0].kind, CRITICAL_RUN);
	arena_done(&arena);
}

static void a_causal_graph_is_walked_along_the_latest_predecessor(void **state)
{
	/* e0 -> e1 -> e3, e0 -> e2 -> e3: e2 comes later than e1 */
	struct span s[] = { span_of("e0", 0, 0, SPAN_NONE), span_of("e1", 0, 10, SPAN_NONE),
			    span_of("e2", 0, 30, SPAN_NONE), span_of("e3", 30, 45, SPAN_NONE) };
	struct edge e[] = { { 0, 1, EDGE_AFTER, 1 },
			    { 0, 2, EDGE_AFTER, 1 },
			    { 1, 3, EDGE_AFTER, 1 },
			    { 2, 3, EDGE_AFTER, 1 } };
	struct arena arena = { 0 };
	struct critical c;

	(void)state;
	s[3].node = STR("other");
	c = path_of(s, 4, e, 4, &arena);
	assert_int_equal(c.nr, 2);
	assert_section(&c, 0, 2, 0, 30);
	assert_int_equal(c.v[0].kind, CRITICAL_RUN);
	assert_section(&c, 1, 3, 30, 45);
	assert_int_equal(c.v[1].kind, CRITICAL_WAIT);
	arena_done(&arena);
}

static void a_circle_of_edges_ends(void **state)
{
	struct span s[] = { span_of("a", 0, 10, SPAN_NONE), span_of("b", 0, 10, SPAN_NONE) };
	struct edge e[] = { { 0, 1, EDGE_AFTER, 1 },
			    { 1, 0, EDGE_AFTER, 1 },
			    { 0, 99, EDGE_AFTER, 1 } };
	struct arena arena = { 0 };

	(void)state;
	path_of(s, 2, e, 3, &arena);
	arena_done(&arena);
}

static void a_body_without_spans_has_no_sections(void **state)
{
	struct arena arena = { 0 };
	struct critical c = path_of(NULL, 0, NULL, 0, &arena);

	(void)state;
	assert_int_equal(c.nr, 0);
	arena_done(&arena);
}

static void a_hundred_thousand_deep_trace_is_walked(void **state)
{
	uint32_t n = 100000;
	struct span *s = mem_zalloc(n * sizeof(*s));
	struct arena arena = { 0 };
	struct critical c;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		s[i] = span_of("x", i, 2 * (int64_t)n - i, i ? i - 1 : SPAN_NONE);
	c = path_of(s, n, NULL, 0, &arena);
	assert_int_equal(c.nr, 2 * n - 1);
	arena_done(&arena);
	free(s);
}

static void random_trees_are_covered_without_gap_or_overlap(void **state)
{
	struct dice dice = { 7 };

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct span s[40];
		size_t nr = 1 + dice_below(&dice, 40);
		int64_t from = INT64_MAX, until = INT64_MIN;
		struct arena arena = { 0 };
		struct critical c;

		for (uint32_t i = 0; i < nr; i++) {
			int64_t start = (int64_t)dice_below(&dice, 60);

			s[i] = span_of("x", start, start + (int64_t)dice_below(&dice, 40),
				       SPAN_NONE);
			s[i].follows = !dice_below(&dice, 10);
			if (i && dice_below(&dice, 12))
				s[i].parent = (uint32_t)dice_below(&dice, i);
			if (s[i].parent == SPAN_NONE) {
				from = start < from ? start : from;
				until = s[i].end > until ? s[i].end : until;
			}
		}
		c = path_of(s, nr, NULL, 0, &arena);
		if (from < until) {
			assert_int_equal(c.start, from);
			assert_int_equal(c.end, until);
		}
		arena_done(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_cases_have_their_published_sections),
		cmocka_unit_test(published_traces_are_covered_without_gap_or_overlap),
		cmocka_unit_test(back_to_back_children_are_both_on_the_path),
		cmocka_unit_test(time_between_two_roots_is_a_wait_of_no_span),
		cmocka_unit_test(a_short_root_over_the_end_takes_only_what_the_long_one_leaves),
		cmocka_unit_test(a_wait_span_is_a_wait),
		cmocka_unit_test(a_causal_graph_is_walked_along_the_latest_predecessor),
		cmocka_unit_test(a_circle_of_edges_ends),
		cmocka_unit_test(a_body_without_spans_has_no_sections),
		cmocka_unit_test(a_hundred_thousand_deep_trace_is_walked),
		cmocka_unit_test(random_trees_are_covered_without_gap_or_overlap),
	};

	return RUN(tests);
}
