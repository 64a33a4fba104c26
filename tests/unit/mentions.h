/* Mentions written down as lines "file|thread|template|type=value type=value", one a millisecond,
 * and what is asked of the graph made of them.
 * A type with a ! behind it calls its value an id, with a < it is a part of another identifier. */
#ifndef CULPRIT_TESTS_MENTIONS_H
#define CULPRIT_TESTS_MENTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "infer/objects/objects.h"
#include "model/loss.h"
#include "model/mention.h"
#include "model/object.h"
#include "gathered.h"

#define MENTIONS_START (1700000000LL * NS_S)

struct told_graph {
	struct objects *o;
	struct gathered told;
	struct object_graph g; /* of it */
	struct losses losses;
	int64_t now_ns;
};

static inline void told_graph_with(struct told_graph *t, const struct objects_options *options)
{
	*t = (struct told_graph){ .o = objects_new(options), .now_ns = MENTIONS_START };
}

static inline void told_graph_init(struct told_graph *t, size_t memory_bytes)
{
	struct objects_options options = { .memory_bytes = memory_bytes };

	told_graph_with(t, &options);
}

static inline void told_graph_done(struct told_graph *t)
{
	gathered_done(&t->told);
	objects_free(t->o);
}

static inline uint32_t place_of(struct str value, struct str thread)
{
	uint32_t place = 0;

	if (value.n && strspn(value.p, "0123456789.") >= value.n)
		place |= NAMED_NUMBER;
	if (thread.n && str_find(thread, value) < thread.n)
		place |= NAMED_IN_THREAD;
	return place;
}

static inline void tell(struct told_graph *t, const char *text)
{
	struct str line = str_of(text), ids, word;
	struct mention m = { .count = 1, .level = LEVEL_INFO };
	struct named v[32];

	str_take_until(&line, '|', &m.file);
	str_take_until(&line, '|', &m.thread);
	str_take_until(&line, '|', &m.title);
	ids = line;
	while (m.nr < 32 && str_take_word(&ids, &word)) {
		struct named *n = &v[m.nr++];

		str_take_until(&word, '=', &n->type);
		n->value = word;
		n->place = place_of(word, m.thread);
		while (n->type.n && strchr("!<", n->type.p[n->type.n - 1]))
			n->place |= n->type.p[--n->type.n] == '!' ? NAMED_ID : NAMED_WITHIN;
	}
	m.v = v;
	m.template = str_hash(m.title);
	m.first_ns = m.last_ns = t->now_ns;
	t->now_ns += NS_MS;
	objects_add(t->o, &m);
}

static inline void tellf(struct told_graph *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline void tellf(struct told_graph *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tell(t, text);
}

static inline void settle(struct told_graph *t)
{
	struct object_sink sink = gathered_sink(&t->told);
	struct error err = { 0 };

	gathered_done(&t->told);
	objects_settle(t->o, &t->losses);
	if (objects_tell(t->o, &sink, &err))
		abort();
	t->g = t->told.g;
}

static inline int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in the order of their text, each ended by a newline; to be freed. */
struct told_lines {
	char *v[512];
	size_t nr;
};

static inline void told_line(struct told_lines *l, const char *text)
{
	if (l->nr < 512)
		l->v[l->nr++] = strdup(text);
}

static inline char *told_text(struct told_lines *l)
{
	struct buf b = { 0 };

	qsort(l->v, l->nr, sizeof(*l->v), by_text);
	for (size_t i = 0; i < l->nr; i++) {
		buf_add(&b, str_of(l->v[i]));
		buf_add(&b, STR("\n"));
		free(l->v[i]);
	}
	buf_add(&b, (struct str){ "", 1 });
	return b.p;
}

/* "app -> container" for 1:n, "==" for 1:1, "><" for m:n. */
static inline char *relations_text(const struct object_graph *g)
{
	static const char *const signs[] = { "..", "==", "->", "><" };
	struct told_lines l = { 0 };

	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];
		struct str a = g->types[r->from].name, b = g->types[r->to].name;
		char text[256];

		if (g->types[r->from].nr_signature > 1 || g->types[r->to].nr_signature > 1)
			continue;
		if (r->relation != RELATION_MANY && str_cmp(a, b) > 0) {
			struct str swap = a;

			a = b;
			b = swap;
		}
		snprintf(text, sizeof(text), STR_FMT " %s " STR_FMT, STR_ARG(a), signs[r->relation],
			 STR_ARG(b));
		told_line(&l, text);
	}
	return told_text(&l);
}

/* Types of the graph, and its edges that are drawn. */
static inline char *stack_text(const struct object_graph *g)
{
	struct told_lines l = { 0 };
	char text[256];

	for (size_t i = 0; i < g->nr_types; i++) {
		if (!g->types[i].is_in_graph)
			continue;
		snprintf(text, sizeof(text), STR_FMT, STR_ARG(g->types[i].name));
		told_line(&l, text);
	}
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (!r->is_in_graph || r->is_reduced)
			continue;
		snprintf(text, sizeof(text), STR_FMT " -> " STR_FMT,
			 STR_ARG(g->types[r->from].name), STR_ARG(g->types[r->to].name));
		told_line(&l, text);
	}
	return told_text(&l);
}

static inline void ids_text(const struct object_graph *g, uint32_t object, struct buf *b)
{
	const struct object *o = &g->objects[object];

	for (size_t i = 0; i < g->types[o->type].nr_signature; i++) {
		if (i)
			buf_add(b, STR("+"));
		buf_add(b, o->ids[i]);
	}
}

/* "app_14 (4) < query_14 user1": lines, and parents. */
static inline char *objects_text(const struct object_graph *g)
{
	struct told_lines l = { 0 };

	for (uint32_t i = 0; i < g->nr_objects; i++) {
		const struct object *o = &g->objects[i];
		struct buf b = { 0 };
		char count[32];

		ids_text(g, i, &b);
		snprintf(count, sizeof(count), " (%llu)", (unsigned long long)o->nr_events);
		buf_add(&b, str_of(count));
		for (size_t j = 0; j < o->nr_parents; j++) {
			buf_add(&b, j ? STR(" ") : STR(" < "));
			ids_text(g, o->parents[j], &b);
		}
		buf_add(&b, (struct str){ "", 1 });
		told_line(&l, b.p);
		buf_done(&b);
	}
	return told_text(&l);
}

#endif
