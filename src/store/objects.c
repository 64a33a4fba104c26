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

static size_t page_end(const struct object *v, size_t nr, size_t first)
{
	size_t end = first, parts = 0;

	while (end < nr && end - first < PAGE_OBJECTS && parts < PAGE_PARTS)
		parts += v[end++].nr_parts;
	return end;
}

/* What is known while objects come in. */
struct objects_made {
	const struct object_graph *head; /* who hands it over has it; NULL once it ended */
	uint64_t nr_objects, nr_links;   /* so far */
	uint32_t type;                   /* of the latest object */
	struct object_lives *lives;      /* by type */
	VEC(int64_t) lengths;            /* of the lives of that type */
	struct buf raw;
};

void objects_made_free(struct objects_made *m)
{
	if (!m)
		return;
	free(m->lives);
	vec_done(&m->lengths);
	buf_done(&m->raw);
	free(m);
}

static int put_instances(struct store *s, const struct object *v, size_t nr, struct error *err)
{
	struct objects_made *m = s->objects;
	size_t end;
	int r = 0;

	for (size_t first = 0; first < nr && !r; first = end) {
		end = page_end(v, nr, first);
		object_page_add(&m->raw, m->head, m->nr_objects, v + first, end - first);
		r = put_page(s, INSTANCES, m->nr_objects, &m->raw, err);
		if (r)
			break;
		object_events_add(&m->raw, v + first, end - first);
		r = put_page(s, EVENTS, m->nr_objects, &m->raw, err);
		m->nr_objects += end - first;
	}
	return r;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void see_object(struct objects_made *m, const struct object *o)
{
	struct object_lives *l = &m->lives[o->type];

	l->nr_events += o->nr_events;
	l->nr_errors += o->nr_errors;
	if (o->first_ns == NS_NONE || o->last_ns == NS_NONE || o->last_ns < o->first_ns)
		return;
	vec_push(&m->lengths, (int64_t)((uint64_t)o->last_ns - (uint64_t)o->first_ns));
	if (l->first_ns == NS_NONE || o->first_ns < l->first_ns)
		l->first_ns = o->first_ns;
	if (l->last_ns == NS_NONE || o->last_ns > l->last_ns)
		l->last_ns = o->last_ns;
}

/* Objects stand in the order of their types: those of all types before this one have been seen,
 * and so many objects are before the next of it. */
static void end_types(struct objects_made *m, size_t type, uint64_t nr_before)
{
	struct object_lives *l = &m->lives[m->type];

	if (m->type >= type)
		return;
	l->nr = m->lengths.nr;
	if (l->nr) {
		qsort(m->lengths.v, l->nr, sizeof(int64_t), by_length);
		l->median_ns = m->lengths.v[(l->nr - 1) / 2];
		l->max_ns = m->lengths.v[l->nr - 1];
	}
	vec_clear(&m->lengths);
	while (++m->type < type)
		m->lives[m->type].first = nr_before;
	if (m->type < m->head->nr_types)
		m->lives[m->type].first = nr_before;
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

/* Those that are about to follow objects of a type; checked before anything of them is written. */
static int check_order(const struct object *v, size_t nr, uint32_t type, size_t nr_types,
		       struct error *err)
{
	for (size_t i = 0; i < nr; i++) {
		if (v[i].type < type || v[i].type >= nr_types)
			return error_set(err, EINVAL,
					 "objects are not in the order of their types");
		type = v[i].type;
	}
	return 0;
}

/* Whether objects may come in now, of which that many are left. */
static int check_room(const struct store *s, bool is_room, struct error *err)
{
	int r = run_writable(s, err);

	if (!r && (!s->objects || !s->objects->head || !is_room))
		r = error_set(err, EINVAL, "these objects were not announced");
	return r;
}

static int sink_begin(void *to, const struct object_graph *head, struct error *err)
{
	struct store *s = to;
	struct objects_made *m;
	int r = run_writable(s, err);

	if (!r && s->objects)
		r = error_set(err, EEXIST, "the objects of a run are stored once");
	if (r)
		return r;
	m = s->objects = mem_zalloc(sizeof(*m));
	m->head = head;
	m->lives = mem_zalloc(mem_bytes(head->nr_types + 1, sizeof(*m->lives)));
	for (size_t i = 0; i < head->nr_types; i++)
		m->lives[i].first_ns = m->lives[i].last_ns = NS_NONE;
	return run_wrote(s, put_texts(s, head, &m->raw, err));
}

static int sink_objects(void *to, const struct object *v, size_t nr, struct error *err)
{
	struct store *s = to;
	struct objects_made *m = s->objects;
	int r = check_room(s, m && m->head && nr <= m->head->nr_objects - m->nr_objects, err);

	if (!r)
		r = check_order(v, nr, m->type, m->head->nr_types, err);
	if (r)
		return run_wrote(s, r);
	for (size_t i = 0; i < nr; i++) {
		end_types(m, v[i].type, m->nr_objects + i);
		see_object(m, &v[i]);
	}
	return run_wrote(s, put_instances(s, v, nr, err));
}

/* A reader knows where pages of links begin: all but the last are full. */
static int sink_links(void *to, const struct object_link *v, size_t nr, struct error *err)
{
	struct store *s = to;
	struct objects_made *m = s->objects;
	int r = check_room(s,
			   m && m->head && !(m->nr_links % PAGE_LINKS) &&
				   nr <= m->head->nr_links - m->nr_links,
			   err);

	for (size_t first = 0; first < nr && !r; first += PAGE_LINKS) {
		size_t left = nr - first, here = left < PAGE_LINKS ? left : PAGE_LINKS;

		object_links_add(&m->raw, v + first, here);
		r = put_page(s, LINKS, m->nr_links, &m->raw, err);
		m->nr_links += here;
	}
	return run_wrote(s, r);
}

/* The first page is the last that is written: it sums up. */
static int sink_end(void *to, struct error *err)
{
	struct store *s = to;
	struct objects_made *m = s->objects;
	int r = check_room(s,
			   m && m->head && m->nr_objects == m->head->nr_objects &&
				   m->nr_links == m->head->nr_links,
			   err);

	if (r)
		return run_wrote(s, r);
	end_types(m, m->head->nr_types, m->nr_objects);
	buf_varint(&m->raw, FORMAT);
	object_types_add(&m->raw, m->head);
	for (size_t i = 0; i < m->head->nr_types; i++)
		add_lives(&m->raw, &m->lives[i]);
	m->head = NULL;
	return run_wrote(s, put_page(s, HEAD, 0, &m->raw, err));
}

struct object_sink store_object_sink(struct store *s)
{
	return (struct object_sink){ .to = s,
				     .begin = sink_begin,
				     .objects = sink_objects,
				     .links = sink_links,
				     .end = sink_end };
}

int store_set_objects(struct store *s, const struct object_graph *g, struct error *err)
{
	int r = run_writable(s, err);

	if (!r)
		r = check_order(g->objects, g->nr_objects, 0, g->nr_types, err);
	if (!r)
		r = sink_begin(s, g, err);
	if (!r)
		r = sink_objects(s, g->objects, g->nr_objects, err);
	if (!r)
		r = sink_links(s, g->links, g->nr_links, err);
	return r ? r : sink_end(s, err);
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
