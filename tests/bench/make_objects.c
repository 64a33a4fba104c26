/* Writes a run of many made-up objects, to see how the page bears them: make_objects FILE [OBJECTS]
 * [MOMENTS]. Sessions, tasks below them, attempts below these; each is named at so many moments,
 * and some of these tell of errors. The same each time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "store/objects.h"
#include "store/store.h"

#define START (1700000000LL * NS_S)
#define LONG (3600 * NS_S) /* the whole run */
#define TEMPLATES 200

enum { SESSION, TASK, ATTEMPT, TYPES };

static const char *const names[TYPES] = { "session", "task", "attempt" };

static uint64_t dice = 88172645463325252u;

static uint64_t roll(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % below;
}

static void make_types(struct object_graph *g, struct arena *a)
{
	g->nr_types = TYPES;
	g->types = arena_array(a, struct object_type, TYPES);
	g->nr_relations = TYPES - 1;
	g->relations = arena_array(a, struct object_relation, TYPES);
	for (uint32_t i = 0; i < TYPES; i++) {
		struct str *signature = arena_new(a, struct str);

		*signature = str_of(names[i]);
		g->types[i] = (struct object_type){ .name = *signature,
						    .signature = signature,
						    .nr_signature = 1,
						    .is_in_graph = true };
		if (i)
			g->relations[i - 1] = (struct object_relation){ .from = i - 1,
									.to = i,
									.relation = RELATION_MANY,
									.support = 100,
									.is_in_graph = true,
									.confidence = 1 };
	}
	g->nr_templates = TEMPLATES;
	g->templates = arena_array(a, struct str, TEMPLATES);
	for (int i = 0; i < TEMPLATES; i++)
		g->templates[i] = arena_fmt(a, "step %d of <*> done", i);
	g->nr_logs = 1;
	g->logs = arena_array(a, struct str, 1);
	g->logs[0] = STR("made.log");
}

/* Each template tells of two moments. */
static void make_events(struct object *o, uint64_t moments, struct arena *a)
{
	uint64_t length = (uint64_t)(o->last_ns - o->first_ns), nr = (moments + 1) / 2;

	o->events = arena_array(a, struct object_event, nr);
	o->nr_parts = nr;
	o->nr_events = 2 * nr;
	for (uint64_t i = 0; i < nr; i++) {
		struct object_event *e = &o->events[i];

		e->first_ns = o->first_ns + (int64_t)(length * i / nr);
		e->last_ns = e->first_ns + (int64_t)roll(length - length * i / nr);
		e->count = 2;
		e->template = (uint32_t)(i % TEMPLATES);
		e->level = roll(500) ? LEVEL_INFO : LEVEL_ERROR;
		o->nr_errors += e->level == LEVEL_ERROR;
	}
}

/* A tenth of each type is above the next one. */
static void make_objects(struct object_graph *g, uint64_t nr, uint64_t moments, struct arena *a)
{
	uint64_t first[TYPES + 1] = { 0, nr / 100 + 1, nr / 10 + 2, nr };

	g->nr_objects = nr;
	g->objects = arena_array(a, struct object, nr);
	for (uint32_t type = 0; type < TYPES; type++)
		for (uint64_t i = first[type]; i < first[type + 1]; i++) {
			struct object *o = &g->objects[i];
			uint64_t above = type ? first[type] - first[type - 1] : 1;
			int64_t length = type ? LONG >> (2 * type) : LONG;

			o->type = type;
			o->ids = arena_new(a, struct str);
			o->ids[0] = arena_fmt(a, "%s_%06llu", names[type], (unsigned long long)i);
			o->first_ns =
				START + (int64_t)((i - first[type]) * (uint64_t)(LONG - length) /
						  (first[type + 1] - first[type]));
			o->last_ns = o->first_ns + length / 2 + (int64_t)roll((uint64_t)length / 2);
			if (type) {
				o->parents = arena_new(a, uint32_t);
				o->parents[0] = (uint32_t)(first[type - 1] + i % above);
				o->nr_parents = 1;
			}
			make_events(o, moments, a);
			g->types[type].nr_objects++;
		}
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
	uint64_t moments = argc > 3 ? strtoull(argv[3], NULL, 10) : 100;
	struct object_graph g = { 0 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct store *s = NULL;
	int r;

	if (argc < 2 || nr < 10 || !moments) {
		fprintf(stderr, "usage: make_objects FILE [OBJECTS] [MOMENTS]\n");
		return 2;
	}
	make_types(&g, &arena);
	make_objects(&g, nr, moments, &arena);
	r = store_create(&s, argv[1], &err);
	if (r >= 0)
		r = store_set_objects(s, &g, &err);
	if (r >= 0)
		r = store_finish(s, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	store_close(s);
	arena_done(&arena);
	return r < 0;
}
