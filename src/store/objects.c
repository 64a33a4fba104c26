#include "store/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/object_page.h"
#include "store/run.h"

/*
 * One table holds five kinds of pages, told apart by the upper bits of their number; the lower ones
 * are the number of the first thing in the page. Whoever asks for types reads the first page only,
 * however many objects there are: how long they live is summed up in it.
 */
enum section { HEAD, TEXTS, INSTANCES, EVENTS, LINKS };

#define SECTION_SHIFT 48
#define FORMAT 1
#define PAGE_OBJECTS 4096
#define PAGE_PARTS 65536
#define PAGE_LINKS 16384
#define PAGE_TEXTS 1024

static uint64_t place(enum section section, uint64_t first)
{
	return (uint64_t)section << SECTION_SHIFT | first;
}

/* --- writing --------------------------------------------------------------------------------- */

static int put_page(struct store *s, enum section section, uint64_t first, struct buf *raw,
		    struct error *err)
{
	int r = db_put(s->db, DB_OBJECTS, place(section, first), buf_str(raw), err);

	buf_clear(raw);
	return r;
}

static int put_texts(struct store *s, const struct object_graph *g, struct buf *raw,
		     struct error *err)
{
	size_t nr = g->nr_templates + g->nr_logs, first = 0;
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++) {
		buf_bytes(raw,
			  i < g->nr_templates ? g->templates[i] : g->logs[i - g->nr_templates]);
		if (i + 1 < nr && i + 1 - first < PAGE_TEXTS)
			continue;
		r = put_page(s, TEXTS, first, raw, err);
		first = i + 1;
	}
	return r;
}

static size_t page_end(const struct object_graph *g, size_t first)
{
	size_t end = first, parts = 0;

	while (end < g->nr_objects && end - first < PAGE_OBJECTS && parts < PAGE_PARTS)
		parts += g->objects[end++].nr_parts;
	return end;
}

static int put_instances(struct store *s, const struct object_graph *g, struct buf *raw,
			 struct error *err)
{
	size_t end;
	int r = 0;

	for (size_t first = 0; first < g->nr_objects && !r; first = end) {
		end = page_end(g, first);
		object_page_add(raw, g, first, end - first);
		r = put_page(s, INSTANCES, first, raw, err);
		if (r)
			break;
		object_events_add(raw, g->objects + first, end - first);
		r = put_page(s, EVENTS, first, raw, err);
	}
	return r;
}

static int put_links(struct store *s, const struct object_graph *g, struct buf *raw,
		     struct error *err)
{
	int r = 0;

	for (size_t first = 0; first < g->nr_links && !r; first += PAGE_LINKS) {
		size_t left = g->nr_links - first;

		object_links_add(raw, g->links + first, left < PAGE_LINKS ? left : PAGE_LINKS);
		r = put_page(s, LINKS, first, raw, err);
	}
	return r;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct lengths {
	VEC(int64_t) v;
};

static void see_object(struct object_lives *l, struct lengths *lengths, const struct object *o)
{
	l->nr_events += o->nr_events;
	l->nr_errors += o->nr_errors;
	if (o->first_ns == NS_NONE || o->last_ns == NS_NONE || o->last_ns < o->first_ns)
		return;
	vec_push(&lengths->v, (int64_t)((uint64_t)o->last_ns - (uint64_t)o->first_ns));
	if (l->first_ns == NS_NONE || o->first_ns < l->first_ns)
		l->first_ns = o->first_ns;
	if (l->last_ns == NS_NONE || o->last_ns > l->last_ns)
		l->last_ns = o->last_ns;
}

static void add_lives(struct buf *to, const struct object_lives *l)
{
	buf_varint(to, l->first);
	buf_varint(to, l->nr);
	buf_svarint(to, l->median_ns);
	buf_svarint(to, l->max_ns);
	buf_svarint(to, l->first_ns);
	buf_svarint(to, l->last_ns);
	buf_varint(to, l->nr_events);
	buf_varint(to, l->nr_errors);
}

static bool take_lives(struct str *s, struct object_lives *l)
{
	return str_take_varint(s, &l->first) && str_take_varint(s, &l->nr) &&
	       str_take_svarint(s, &l->median_ns) && str_take_svarint(s, &l->max_ns) &&
	       str_take_svarint(s, &l->first_ns) && str_take_svarint(s, &l->last_ns) &&
	       str_take_varint(s, &l->nr_events) && str_take_varint(s, &l->nr_errors);
}

/* Objects stand in the order of their types. */
static void sum_lives(struct buf *to, const struct object_graph *g)
{
	struct lengths lengths = { 0 };
	size_t at = 0;

	for (size_t type = 0; type < g->nr_types; type++) {
		struct object_lives l = { .first = at, .first_ns = NS_NONE, .last_ns = NS_NONE };

		vec_clear(&lengths.v);
		for (; at < g->nr_objects && g->objects[at].type == type; at++)
			see_object(&l, &lengths, &g->objects[at]);
		l.nr = lengths.v.nr;
		if (l.nr) {
			qsort(lengths.v.v, l.nr, sizeof(int64_t), by_length);
			l.median_ns = lengths.v.v[(l.nr - 1) / 2];
			l.max_ns = lengths.v.v[l.nr - 1];
		}
		add_lives(to, &l);
	}
	vec_done(&lengths.v);
}

static int check_order(const struct object_graph *g, struct error *err)
{
	uint32_t type = 0;

	for (size_t i = 0; i < g->nr_objects; i++) {
		if (g->objects[i].type < type || g->objects[i].type >= g->nr_types)
			return error_set(err, EINVAL,
					 "objects are not in the order of their types");
		type = g->objects[i].type;
	}
	return 0;
}

int store_set_objects(struct store *s, const struct object_graph *g, struct error *err)
{
	struct buf raw = { 0 };
	int r = run_writable(s, err);

	if (!r && s->has_objects)
		r = error_set(err, EEXIST, "the objects of a run are stored once");
	if (!r)
		r = check_order(g, err);
	if (r)
		return r;
	s->has_objects = true;
	buf_varint(&raw, FORMAT);
	object_types_add(&raw, g);
	sum_lives(&raw, g);
	r = put_page(s, HEAD, 0, &raw, err);
	if (!r)
		r = put_texts(s, g, &raw, err);
	if (!r)
		r = put_instances(s, g, &raw, err);
	if (!r)
		r = put_links(s, g, &raw, err);
	buf_done(&raw);
	return run_wrote(s, r);
}

/* --- reading --------------------------------------------------------------------------------- */

struct reading {
	struct store *s;
	struct arena *arena;
	struct object_graph *g;
	struct buf raw;
	struct error *err;
};

static int damaged(const struct reading *r)
{
	return db_damaged(r->s->db, "its objects cannot be read", r->err);
}

/* Each page begins where the one before ended. */
static int get_page(struct reading *r, enum section section, uint64_t first)
{
	uint64_t number = 0;
	int got = db_get(r->s->db, DB_OBJECTS, place(section, first), &number, &r->raw, r->err);

	if (got < 0)
		return got;
	return got && number == place(section, first) ? 0 : damaged(r);
}

/* 1, or 0 when there are none. The lives of the types follow in *rest. */
static int get_head(struct reading *r, struct str *rest)
{
	uint64_t number = 0, format;
	int got = db_get(r->s->db, DB_OBJECTS, place(HEAD, 0), &number, &r->raw, r->err);

	if (got <= 0)
		return got;
	*rest = buf_str(&r->raw);
	if (number || !str_take_varint(rest, &format) || format != FORMAT ||
	    !object_types_take(rest, r->g, r->arena))
		return damaged(r);
	return 1;
}

static int get_texts(struct reading *r)
{
	size_t nr = r->g->nr_templates + r->g->nr_logs;
	VEC(struct str) texts = { 0 };
	struct str s = { 0 }, text;
	int got = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!s.n) {
			got = get_page(r, TEXTS, i);
			s = buf_str(&r->raw);
		}
		if (got || !str_take_bytes(&s, &text))
			break;
		vec_push(&texts, arena_str(r->arena, text));
	}
	if (!got && (texts.nr != nr || s.n))
		got = damaged(r);
	if (!got) {
		r->g->templates = arena_array(r->arena, struct str, nr);
		r->g->logs = r->g->templates + r->g->nr_templates;
		if (nr)
			memcpy(r->g->templates, texts.v, nr * sizeof(struct str));
	}
	vec_done(&texts);
	return got;
}

typedef VEC(struct object) objects_read;

/* A damaged number of objects costs no memory: there must be pages that hold them. */
static int get_object_page(struct reading *r, bool with_events, objects_read *v)
{
	size_t first = v->nr, nr;
	int got = get_page(r, INSTANCES, first);

	if (got)
		return got;
	nr = object_page_count(buf_str(&r->raw));
	if (!nr || nr > r->g->nr_objects - first)
		return damaged(r);
	vec_reserve(v, first + nr);
	if (!object_page_take(buf_str(&r->raw), r->g, first, v->v + first, nr, r->arena))
		return damaged(r);
	if (with_events) {
		got = get_page(r, EVENTS, first);
		if (!got && !object_events_take(buf_str(&r->raw), r->g, v->v + first, nr, r->arena))
			got = damaged(r);
	}
	v->nr += nr;
	return got;
}

static int get_objects(struct reading *r, bool with_events)
{
	objects_read v = { 0 };
	int got = 0;

	while (v.nr < r->g->nr_objects && !got)
		got = get_object_page(r, with_events, &v);
	if (!got) {
		r->g->objects = arena_room(r->arena, mem_bytes(v.nr + 1, sizeof(struct object)));
		if (v.nr)
			memcpy(r->g->objects, v.v, v.nr * sizeof(struct object));
	}
	vec_done(&v);
	return got;
}

static int get_links(struct reading *r)
{
	VEC(struct object_link) v = { 0 };
	int got = 0;

	while (v.nr < r->g->nr_links && !got) {
		size_t left = r->g->nr_links - v.nr, nr = left < PAGE_LINKS ? left : PAGE_LINKS;

		got = get_page(r, LINKS, v.nr);
		if (got)
			break;
		vec_reserve(&v, v.nr + nr);
		if (!object_links_take(buf_str(&r->raw), r->g, v.v + v.nr, nr))
			got = damaged(r);
		v.nr += nr;
	}
	if (!got) {
		r->g->links = arena_array(r->arena, struct object_link, v.nr);
		if (v.nr)
			memcpy(r->g->links, v.v, v.nr * sizeof(struct object_link));
	}
	vec_done(&v);
	return got;
}

int store_objects_some(struct store *s, unsigned parts, struct arena *a, struct object_graph *g,
		       struct error *err)
{
	struct object_graph made = { 0 };
	struct reading r = { s, a, &made, { 0 }, err };
	struct str rest;
	int got = get_head(&r, &rest), more = 0;

	if (got > 0 && parts & OBJECTS_TEXTS)
		more = get_texts(&r);
	if (got > 0 && !more && parts & (OBJECTS_INSTANCES | OBJECTS_EVENTS))
		more = get_objects(&r, parts & OBJECTS_EVENTS);
	if (got > 0 && !more && parts & OBJECTS_LINKS)
		more = get_links(&r);
	if (got > 0 && !more)
		*g = made;
	buf_done(&r.raw);
	return more < 0 ? more : got;
}

int store_objects(struct store *s, struct arena *a, struct object_graph *g, struct error *err)
{
	return store_objects_some(s, OBJECTS_ALL, a, g, err);
}

int store_object_lives(struct store *s, struct arena *a, struct object_lives **lives,
		       struct error *err)
{
	struct object_graph g = { 0 };
	struct reading r = { s, a, &g, { 0 }, err };
	struct object_lives *v = NULL;
	struct str rest;
	int got = get_head(&r, &rest);

	if (got > 0)
		v = arena_array(a, struct object_lives, g.nr_types);
	for (size_t i = 0; got > 0 && i < g.nr_types; i++)
		if (!take_lives(&rest, &v[i]) || v[i].first > g.nr_objects)
			got = damaged(&r);
	if (got > 0)
		*lives = v;
	buf_done(&r.raw);
	return got;
}
