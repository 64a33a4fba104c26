/* Objects come back as they were stored, as far as one asks; damage is told. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "object_graphs.h"
#include "store/object_page.h"
#include "store/objects.h"
#include "store/store.h"
#include "store_same.h"

enum { NR_APPS = 3000, PER_APP = 3 };

static void make(struct made_graph *m)
{
	uint32_t app = made_type(m, "app_#"), part = made_type(m, "part");
	char name[64];

	m->types.v[part].aliases = &m->types.v[app].name;
	m->types.v[part].nr_aliases = 1;
	made_relation(m, app, part);
	m->relations.v[0].is_inferred = true;
	vec_push(&m->templates, STR("app <*> started"));
	vec_push(&m->templates, STR(""));
	vec_push(&m->logs, STR("rm.log"));
	for (uint32_t i = 0; i < NR_APPS; i++) {
		snprintf(name, sizeof(name), "app_%u", i);
		made_object(m, app, str_of(name), UINT32_MAX, i, 2 * i);
	}
	for (uint32_t i = 0; i < NR_APPS * PER_APP; i++) {
		uint32_t o;

		snprintf(name, sizeof(name), "part_%u_%u", i / PER_APP, i % PER_APP);
		o = made_object(m, part, str_of(name), i / PER_APP, i % 7, i % 7 + 1000 * (i % 3));
		for (uint32_t j = 0; j < i % 4; j++)
			made_event(m, o, j, j + 1, j + 1);
		m->objects.v[o].nr_errors = i % 2;
	}
	m->objects.v[5].first_ns = m->objects.v[5].last_ns = NS_NONE;
	m->objects.v[7].aliases = &m->logs.v[0];
	m->objects.v[7].nr_aliases = 1;
	for (uint32_t i = 0; i < 40000; i++)
		vec_push(&m->links,
			 (struct object_link){ i / 10, NR_APPS + i % 100, GRAPH_START + i,
					       GRAPH_START + 2 * i, i });
	made_end(m);
}

static void assert_same_part(const struct object_event *a, const struct object_event *b)
{
	assert_true(a->first_ns == b->first_ns && a->last_ns == b->last_ns);
	assert_true(a->count == b->count && a->level == b->level);
	assert_true(a->template == b->template && a->log == b->log);
}

static void assert_same_object(const struct object *a, const struct object *b, bool with_events)
{
	assert_true(a->type == b->type && a->nr_parents == b->nr_parents);
	assert_true(a->first_ns == b->first_ns && a->last_ns == b->last_ns);
	assert_true(a->nr_events == b->nr_events && a->nr_errors == b->nr_errors);
	assert_true(a->nr_parts == b->nr_parts && a->nr_aliases == b->nr_aliases);
	assert_same_str(a->ids[0], b->ids[0]);
	for (size_t i = 0; i < a->nr_parents; i++)
		assert_int_equal(a->parents[i], b->parents[i]);
	for (size_t i = 0; i < a->nr_aliases; i++)
		assert_same_str(a->aliases[i], b->aliases[i]);
	for (size_t i = 0; with_events && i < a->nr_parts; i++)
		assert_same_part(&a->events[i], &b->events[i]);
	if (!with_events)
		assert_null(b->events);
}

static void assert_same_types(const struct object_graph *a, const struct object_graph *b)
{
	assert_int_equal(a->nr_types, b->nr_types);
	for (size_t i = 0; i < a->nr_types; i++) {
		assert_same_str(a->types[i].name, b->types[i].name);
		assert_same_str(a->types[i].signature[0], b->types[i].signature[0]);
		assert_int_equal(a->types[i].nr_objects, b->types[i].nr_objects);
		assert_int_equal(a->types[i].nr_aliases, b->types[i].nr_aliases);
		assert_int_equal(a->types[i].is_in_graph, b->types[i].is_in_graph);
	}
	assert_int_equal(a->nr_relations, b->nr_relations);
	assert_true(b->relations[0].is_inferred && b->relations[0].is_in_graph);
	assert_true(b->relations[0].support == 10 && b->relations[0].exceptions == 1);
	assert_true(b->relations[0].confidence == 0.95F && b->relations[0].to == 1);
}

static void assert_same_graph(const struct object_graph *a, const struct object_graph *b)
{
	assert_same_types(a, b);
	assert_int_equal(a->nr_objects, b->nr_objects);
	for (size_t i = 0; i < a->nr_objects; i++)
		assert_same_object(&a->objects[i], &b->objects[i], true);
	assert_int_equal(a->nr_links, b->nr_links);
	assert_memory_equal(a->links, b->links, a->nr_links * sizeof(*a->links));
	assert_int_equal(b->nr_templates, 2);
	assert_same_str(a->templates[0], b->templates[0]);
	assert_same_str(a->logs[0], b->logs[0]);
}

static void objects_come_back_as_they_were_stored(void **state)
{
	char path[] = "/tmp/culprit-objects-XXXXXX";
	struct made_graph m = { 0 };
	struct error err = { 0 };
	struct arena arena = { 0 };
	struct object_graph g = { 0 };
	struct store *s;

	(void)state;
	close(mkstemp(path));
	make(&m);
	OK(store_create(&s, path, &err));
	OK(store_set_objects(s, &m.g, &err));
	assert_int_equal(store_set_objects(s, &m.g, &err), -EEXIST);
	OK(store_finish(s, &err));
	assert_int_equal(store_objects(s, &arena, &g, &err), 1);
	assert_same_graph(&m.g, &g);
	store_close(s);
	OK(store_open(&s, path, &err));
	assert_int_equal(store_objects(s, &arena, &g, &err), 1);
	assert_same_graph(&m.g, &g);
	assert_int_equal(store_objects_some(s, OBJECTS_INSTANCES, &arena, &g, &err), 1);
	for (size_t i = 0; i < g.nr_objects; i++)
		assert_same_object(&m.g.objects[i], &g.objects[i], false);
	assert_null(g.links);
	assert_null(g.templates);
	store_close(s);
	unlink(path);
	arena_done(&arena);
	made_done(&m);
}

/* Hands the graph over in parts of so many objects. */
static int hand_over(struct object_sink *to, const struct object_graph *g, size_t part,
		     struct error *err)
{
	size_t left;
	int r = to->begin(to->to, g, err);

	for (size_t i = 0; i < g->nr_objects && !r; i += part) {
		left = g->nr_objects - i;
		r = to->objects(to->to, g->objects + i, left < part ? left : part, err);
	}
	for (size_t i = 0; i < g->nr_links && !r; i += 16384) {
		left = g->nr_links - i;
		r = to->links(to->to, g->links + i, left < 16384 ? left : 16384, err);
	}
	return r;
}

static void objects_may_come_in_parts_of_any_size(void **state)
{
	static const size_t parts[] = { 1, 77, 5000 };
	struct made_graph m = { 0 };

	(void)state;
	make(&m);
	for (size_t i = 0; i < 3; i++) {
		struct error err = { 0 };
		struct arena arena = { 0 };
		struct object_graph g = { 0 };
		struct object_lives *lives = NULL;
		struct object_sink sink;
		struct store *s;

		OK(store_create(&s, NULL, &err));
		sink = store_object_sink(s);
		OK(hand_over(&sink, &m.g, parts[i], &err));
		OK(sink.end(sink.to, &err));
		OK(store_finish(s, &err));
		assert_int_equal(store_objects(s, &arena, &g, &err), 1);
		assert_same_graph(&m.g, &g);
		assert_int_equal(store_object_lives(s, &arena, &lives, &err), 1);
		assert_int_equal(lives[0].median_ns, NR_APPS / 2 * NS_MS);
		assert_int_equal(lives[1].first, NR_APPS);
		store_close(s);
		arena_done(&arena);
	}
	made_done(&m);
}

static void more_or_fewer_objects_than_announced_are_refused(void **state)
{
	struct made_graph m = { 0 };
	struct error err = { 0 };
	struct object_sink sink;
	struct store *s;

	(void)state;
	make(&m);
	OK(store_create(&s, NULL, &err));
	sink = store_object_sink(s);
	assert_int_equal(sink.objects(sink.to, m.g.objects, 1, &err), -EINVAL);
	store_close(s);
	OK(store_create(&s, NULL, &err));
	sink = store_object_sink(s);
	OK(hand_over(&sink, &m.g, 100, &err));
	assert_int_equal(sink.objects(sink.to, m.g.objects, 1, &err), -EINVAL);
	store_close(s);
	OK(store_create(&s, NULL, &err));
	sink = store_object_sink(s);
	OK(sink.begin(sink.to, &m.g, &err));
	assert_int_equal(sink.end(sink.to, &err), -EINVAL);
	assert_true(store_finish(s, &err) < 0);
	store_close(s);
	made_done(&m);
}

static void types_tell_lifetimes_without_their_objects(void **state)
{
	struct made_graph m = { 0 };
	struct error err = { 0 };
	struct arena arena = { 0 };
	struct object_graph g = { 0 };
	struct object_lives *lives = NULL;
	struct store *s;

	(void)state;
	make(&m);
	OK(store_create(&s, NULL, &err));
	OK(store_set_objects(s, &m.g, &err));
	OK(store_finish(s, &err));
	assert_int_equal(store_objects_some(s, 0, &arena, &g, &err), 1);
	assert_same_types(&m.g, &g);
	assert_null(g.objects);
	assert_int_equal(g.nr_objects, m.g.nr_objects);
	assert_int_equal(store_object_lives(s, &arena, &lives, &err), 1);
	assert_int_equal(lives[0].nr, NR_APPS - 1);
	assert_int_equal(lives[0].max_ns, (NR_APPS - 1) * NS_MS);
	assert_int_equal(lives[0].median_ns, NR_APPS / 2 * NS_MS);
	assert_int_equal(lives[1].first, NR_APPS);
	assert_int_equal(lives[1].median_ns, 1000 * NS_MS);
	assert_int_equal(lives[1].nr_errors, NR_APPS * PER_APP / 2);
	store_close(s);
	arena_done(&arena);
	made_done(&m);
}

static void a_run_without_objects_has_none(void **state)
{
	struct error err = { 0 };
	struct arena arena = { 0 };
	struct object_graph g = { 0 };
	struct object_lives *lives;
	struct store *s;

	(void)state;
	OK(store_create(&s, NULL, &err));
	OK(store_finish(s, &err));
	assert_int_equal(store_objects(s, &arena, &g, &err), 0);
	assert_int_equal(store_object_lives(s, &arena, &lives, &err), 0);
	assert_int_equal(store_set_objects(s, &g, &err), -EROFS);
	store_close(s);
	arena_done(&arena);
}

static void objects_out_of_order_are_refused(void **state)
{
	struct made_graph m = { 0 };
	struct error err = { 0 };
	struct store *s;

	(void)state;
	made_type(&m, "a");
	made_type(&m, "b");
	made_object(&m, 1, STR("b1"), UINT32_MAX, 0, 1);
	made_object(&m, 0, STR("a1"), UINT32_MAX, 0, 1);
	OK(store_create(&s, NULL, &err));
	assert_int_equal(store_set_objects(s, made_end(&m), &err), -EINVAL);
	store_close(s);
	made_done(&m);
}

/* Every byte of a page is changed in turn: it is refused, or what it gives points nowhere outside.
 */
static void a_damaged_page_points_nowhere_outside(void **state)
{
	struct made_graph m = { 0 };
	struct buf raw = { 0 }, events = { 0 };
	struct object got[64];

	(void)state;
	make(&m);
	object_page_add(&raw, &m.g, NR_APPS, m.g.objects + NR_APPS, 64);
	object_events_add(&events, m.g.objects + NR_APPS, 64);
	for (size_t i = 0; i < raw.n; i++)
		for (int flip = 1; flip < 256; flip *= 2) {
			struct arena arena = { 0 };

			raw.p[i] ^= (char)flip;
			if (object_page_take(buf_str(&raw), &m.g, NR_APPS, got, 64, &arena))
				for (int o = 0; o < 64; o++) {
					assert_true(got[o].type < m.g.nr_types);
					for (size_t p = 0; p < got[o].nr_parents; p++)
						assert_true(got[o].parents[p] < m.g.nr_objects);
				}
			raw.p[i] ^= (char)flip;
			arena_done(&arena);
		}
	for (size_t i = 0; i < events.n; i++) {
		struct arena arena = { 0 };

		assert_true(object_page_take(buf_str(&raw), &m.g, NR_APPS, got, 64, &arena));
		events.p[i] ^= 0x55;
		if (object_events_take(buf_str(&events), &m.g, got, 64, &arena))
			for (int o = 0; o < 64; o++)
				for (size_t e = 0; e < got[o].nr_parts; e++)
					assert_true(got[o].events[e].template <2);
		events.p[i] ^= 0x55;
		arena_done(&arena);
	}
	buf_done(&raw);
	buf_done(&events);
	made_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_come_back_as_they_were_stored),
		cmocka_unit_test(objects_may_come_in_parts_of_any_size),
		cmocka_unit_test(more_or_fewer_objects_than_announced_are_refused),
		cmocka_unit_test(types_tell_lifetimes_without_their_objects),
		cmocka_unit_test(a_run_without_objects_has_none),
		cmocka_unit_test(objects_out_of_order_are_refused),
		cmocka_unit_test(a_damaged_page_points_nowhere_outside),
	};

	return RUN(tests);
}
