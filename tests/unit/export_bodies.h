/* Requests made by hand or at random, for the tests of exporters. */
#ifndef CULPRIT_TESTS_EXPORT_BODIES_H
#define CULPRIT_TESTS_EXPORT_BODIES_H

#include "export/feed.h"

/* Any generator will do; this one is the same everywhere. */
static inline uint32_t random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33);
}

/* A tree of spans on a few nodes and threads; children may overlap, and may stick out a little. */
static inline struct request_body random_body(struct arena *a, uint64_t *seed, size_t nr,
					      struct request *r)
{
	static const char *const nodes[] = { "web", "auth", "db" };
	static const char *const threads[] = { "", "main", "pool-1" };
	struct request_body b = { .nr_spans = nr };

	b.spans = arena_array(a, struct span, nr);
	for (size_t i = 0; i < nr; i++) {
		struct span *s = &b.spans[i];
		int64_t from = r->start, room = r->end - r->start;

		s->parent = i ? random_next(seed) % (uint32_t)i : SPAN_NONE;
		if (i) {
			from = b.spans[s->parent].start;
			room = b.spans[s->parent].end - from + 3;
		}
		s->start = i ? from + random_next(seed) % (room + 1) : r->start;
		s->end = i ? s->start + random_next(seed) % (room + 1) : r->end;
		s->name = arena_fmt(a, "s%zu", i);
		s->node = str_of(nodes[random_next(seed) % 3]);
		s->thread = str_of(threads[random_next(seed) % 3]);
		s->id = arena_fmt(a, "%016zx", i + 1);
		s->key = r->key;
		s->confidence = 1;
	}
	r->nr_spans = (uint32_t)nr;
	return b;
}

#endif
