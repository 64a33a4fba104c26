/*
 * One column after another, so that like stands next to like for the compressor. Names share their
 * front with the name before (container_17_0001_01_000042 and …43), times and numbers go on from
 * the one before.
 */
#include "store/object_page.h"

#include <string.h>

#include "base/arena.h"
#include "base/time.h"

/* Modulo 2^64: any value comes back, none overflows. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool take_below(struct str *s, uint64_t limit, uint64_t *v)
{
	return str_take_varint(s, v) && *v < limit;
}

/* Each takes a byte at least, so that a damaged number costs no memory. */
static bool take_count(struct str *s, uint64_t *nr)
{
	return str_take_varint(s, nr) && *nr <= s->n;
}

/* --- names ----------------------------------------------------------------------------------- */

static size_t shared_front(struct str a, struct str b)
{
	size_t i = 0, most = a.n < b.n ? a.n : b.n;

	while (i < most && a.p[i] == b.p[i])
		i++;
	return i;
}

static void add_name(struct buf *to, struct str *before, struct str name)
{
	size_t front = shared_front(*before, name);

	buf_varint(to, front);
	buf_bytes(to, str_skip(name, front));
	*before = name;
}

static bool take_name(struct str *s, struct str *before, struct str *name, struct arena *a)
{
	struct str rest;
	uint64_t front;
	char *p;

	if (!str_take_varint(s, &front) || front > before->n || !str_take_bytes(s, &rest))
		return false;
	p = arena_room(a, front + rest.n + 1);
	if (front)
		memcpy(p, before->p, front);
	if (rest.n)
		memcpy(p + front, rest.p, rest.n);
	*name = *before = (struct str){ p, front + rest.n };
	return true;
}

/* --- times ----------------------------------------------------------------------------------- */

/* What has no time is told by a length of 0, which others have one more than. */
static void add_times(struct buf *to, int64_t *before, int64_t first, int64_t last)
{
	if (first == NS_NONE || last == NS_NONE) {
		buf_varint(to, 0);
		return;
	}
	buf_varint(to, last < first ? 1 : (uint64_t)minus(last, first) + 1);
	buf_svarint(to, minus(first, *before));
	*before = first;
}

static bool take_times(struct str *s, int64_t *before, int64_t *first, int64_t *last)
{
	uint64_t length;

	*first = *last = NS_NONE;
	if (!str_take_varint(s, &length))
		return false;
	if (!length)
		return true;
	if (!str_take_svarint(s, first))
		return false;
	*before = *first = plus(*first, *before);
	*last = plus(*first, (int64_t)(length - 1));
	return *last >= *first;
}

/* --- objects --------------------------------------------------------------------------------- */

static void add_parents(struct buf *to, const struct object *o, size_t number)
{
	buf_varint(to, o->nr_parents);
	for (size_t i = 0; i < o->nr_parents; i++)
		buf_svarint(to, (int64_t)number - (int64_t)o->parents[i]);
}

static void add_names(struct buf *to, const struct object_graph *g, const struct object *v,
		      size_t nr)
{
	struct str id = { 0 }, alias = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < g->types[v[i].type].nr_signature; j++)
			add_name(to, &id, v[i].ids[j]);
	for (size_t i = 0; i < nr; i++) {
		buf_varint(to, v[i].nr_aliases);
		for (size_t j = 0; j < v[i].nr_aliases; j++)
			add_name(to, &alias, v[i].aliases[j]);
	}
}

void object_page_add(struct buf *to, const struct object_graph *g, size_t first,
		     const struct object *v, size_t nr)
{
	int64_t before = 0;

	buf_varint(to, nr);
	for (size_t i = 0; i < nr; i++)
		buf_varint(to, v[i].type);
	for (size_t i = 0; i < nr; i++)
		add_times(to, &before, v[i].first_ns, v[i].last_ns);
	for (size_t i = 0; i < nr; i++) {
		buf_varint(to, v[i].nr_events);
		buf_varint(to, v[i].nr_errors);
		buf_varint(to, v[i].nr_parts);
	}
	for (size_t i = 0; i < nr; i++)
		add_parents(to, &v[i], first + i);
	add_names(to, g, v, nr);
}

size_t object_page_count(struct str raw)
{
	uint64_t nr;

	return take_count(&raw, &nr) ? nr : 0;
}

static bool take_parents(struct str *s, const struct object_graph *g, struct object *o,
			 size_t number, struct arena *a)
{
	uint64_t nr;
	int64_t back;

	if (!take_count(s, &nr))
		return false;
	o->nr_parents = nr;
	o->parents = nr ? arena_room(a, mem_bytes(nr, sizeof(*o->parents))) : NULL;
	for (size_t i = 0; i < nr; i++) {
		if (!str_take_svarint(s, &back))
			return false;
		back = minus((int64_t)number, back);
		if (back < 0 || (uint64_t)back >= g->nr_objects)
			return false;
		o->parents[i] = (uint32_t)back;
	}
	return true;
}

static bool take_list(struct str *s, struct str *before, struct str **v, size_t nr, struct arena *a)
{
	if (nr > s->n)
		return false;
	*v = nr ? arena_room(a, mem_bytes(nr, sizeof(**v))) : NULL;
	for (size_t i = 0; i < nr; i++)
		if (!take_name(s, before, &(*v)[i], a))
			return false;
	return true;
}

static bool take_names(struct str *s, const struct object_graph *g, struct object *v, size_t nr,
		       struct arena *a)
{
	struct str id = { 0 }, alias = { 0 };
	uint64_t also;

	for (size_t i = 0; i < nr; i++)
		if (!take_list(s, &id, &v[i].ids, g->types[v[i].type].nr_signature, a))
			return false;
	for (size_t i = 0; i < nr; i++) {
		if (!take_count(s, &also) || !take_list(s, &alias, &v[i].aliases, also, a))
			return false;
		v[i].nr_aliases = also;
	}
	return true;
}

bool object_page_take(struct str raw, const struct object_graph *g, size_t first,
		      struct object *objects, size_t nr, struct arena *a)
{
	int64_t before = 0;
	uint64_t n;

	if (!take_count(&raw, &n) || n != nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!take_below(&raw, g->nr_types, &n))
			return false;
		objects[i] = (struct object){ .type = (uint32_t)n };
	}
	for (size_t i = 0; i < nr; i++)
		if (!take_times(&raw, &before, &objects[i].first_ns, &objects[i].last_ns))
			return false;
	for (size_t i = 0; i < nr; i++) {
		if (!str_take_varint(&raw, &objects[i].nr_events) ||
		    !str_take_varint(&raw, &objects[i].nr_errors) || !str_take_varint(&raw, &n))
			return false;
		objects[i].nr_parts = n;
	}
	for (size_t i = 0; i < nr; i++)
		if (!take_parents(&raw, g, &objects[i], first + i, a))
			return false;
	return take_names(&raw, g, objects, nr, a) && !raw.n;
}

/* --- events ---------------------------------------------------------------------------------- */

void object_events_add(struct buf *to, const struct object *objects, size_t nr)
{
	int64_t before = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < objects[i].nr_parts; j++) {
			const struct object_event *e = &objects[i].events[j];

			add_times(to, &before, e->first_ns, e->last_ns);
			buf_varint(to, e->count);
			buf_varint(to, (uint64_t)e->level);
		}
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < objects[i].nr_parts; j++) {
			buf_varint(to, objects[i].events[j].template);
			buf_varint(to, objects[i].events[j].log);
		}
}

static bool take_event(struct str *s, int64_t *before, struct object_event *e)
{
	uint64_t level;

	if (!take_times(s, before, &e->first_ns, &e->last_ns) || !str_take_varint(s, &e->count) ||
	    !take_below(s, LEVEL_FATAL + 1, &level))
		return false;
	e->level = (enum level)level;
	return true;
}

bool object_events_take(struct str raw, const struct object_graph *g, struct object *objects,
			size_t nr, struct arena *a)
{
	uint64_t template, log;
	int64_t before = 0;

	for (size_t i = 0; i < nr; i++) {
		struct object *o = &objects[i];

		if (o->nr_parts > raw.n)
			return false;
		o->events = arena_room(a, mem_bytes(o->nr_parts, sizeof(*o->events)));
		for (size_t j = 0; j < o->nr_parts; j++)
			if (!take_event(&raw, &before, &o->events[j]))
				return false;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < objects[i].nr_parts; j++) {
			if (!take_below(&raw, g->nr_templates, &template) ||
			    !take_below(&raw, g->nr_logs, &log))
				return false;
			objects[i].events[j].template = (uint32_t)template;
			objects[i].events[j].log = (uint32_t)log;
		}
	return !raw.n;
}

/* --- links ----------------------------------------------------------------------------------- */

void object_links_add(struct buf *to, const struct object_link *links, size_t nr)
{
	int64_t before = 0, a = 0;

	buf_varint(to, nr);
	for (size_t i = 0; i < nr; i++) {
		buf_svarint(to, minus(links[i].a, a));
		buf_svarint(to, minus(links[i].b, links[i].a));
		a = links[i].a;
	}
	for (size_t i = 0; i < nr; i++) {
		add_times(to, &before, links[i].first_ns, links[i].last_ns);
		buf_varint(to, links[i].count);
	}
}

bool object_links_take(struct str raw, const struct object_graph *g, struct object_link *links,
		       size_t nr)
{
	int64_t before = 0, a = 0, b = 0;
	uint64_t n;

	if (!take_count(&raw, &n) || n != nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		int64_t da, db;

		if (!str_take_svarint(&raw, &da) || !str_take_svarint(&raw, &db))
			return false;
		a = plus(a, da);
		b = plus(a, db);
		if ((uint64_t)a >= g->nr_objects || (uint64_t)b >= g->nr_objects)
			return false;
		links[i] = (struct object_link){ .a = (uint32_t)a, .b = (uint32_t)b };
	}
	for (size_t i = 0; i < nr; i++)
		if (!take_times(&raw, &before, &links[i].first_ns, &links[i].last_ns) ||
		    !str_take_varint(&raw, &links[i].count))
			return false;
	return !raw.n;
}

/* --- types and relations --------------------------------------------------------------------- */

static void add_type(struct buf *to, const struct object_type *t)
{
	buf_bytes(to, t->name);
	buf_varint(to, t->nr_objects);
	buf_varint(to, t->is_in_graph);
	buf_varint(to, t->nr_signature);
	for (size_t i = 0; i < t->nr_signature; i++)
		buf_bytes(to, t->signature[i]);
	buf_varint(to, t->nr_aliases);
	for (size_t i = 0; i < t->nr_aliases; i++)
		buf_bytes(to, t->aliases[i]);
}

static void add_relation(struct buf *to, const struct object_relation *r)
{
	buf_varint(to, r->from);
	buf_varint(to, r->to);
	buf_varint(to, (uint64_t)r->relation);
	buf_varint(to, (uint64_t)r->deed);
	buf_varint(to, r->support);
	buf_varint(to, r->exceptions);
	buf_varint(to, (uint64_t)r->is_in_graph | (uint64_t)r->is_reduced << 1 |
			       (uint64_t)r->is_inferred << 2);
	buf_add(to, (struct str){ (const char *)&r->confidence, sizeof(r->confidence) });
}

void object_types_add(struct buf *to, const struct object_graph *g)
{
	buf_varint(to, g->nr_objects);
	buf_varint(to, g->nr_links);
	buf_varint(to, g->nr_templates);
	buf_varint(to, g->nr_logs);
	buf_varint(to, g->nr_types);
	for (size_t i = 0; i < g->nr_types; i++)
		add_type(to, &g->types[i]);
	buf_varint(to, g->nr_relations);
	for (size_t i = 0; i < g->nr_relations; i++)
		add_relation(to, &g->relations[i]);
}

static bool take_strs(struct str *s, struct str **v, size_t *nr, struct arena *a)
{
	struct str one;
	uint64_t n;

	if (!take_count(s, &n))
		return false;
	*v = arena_array(a, struct str, n);
	*nr = n;
	for (size_t i = 0; i < n; i++) {
		if (!str_take_bytes(s, &one))
			return false;
		(*v)[i] = arena_str(a, one);
	}
	return true;
}

static bool take_type(struct str *s, struct object_type *t, struct arena *a)
{
	struct str name;
	uint64_t is_in;

	if (!str_take_bytes(s, &name) || !str_take_varint(s, &t->nr_objects) ||
	    !take_below(s, 2, &is_in))
		return false;
	t->name = arena_str(a, name);
	t->is_in_graph = is_in;
	return take_strs(s, &t->signature, &t->nr_signature, a) &&
	       take_strs(s, &t->aliases, &t->nr_aliases, a);
}

static bool take_relation(struct str *s, size_t nr_types, struct object_relation *r)
{
	uint64_t from, to, relation, deed, flags;

	if (!take_below(s, nr_types, &from) || !take_below(s, nr_types, &to) ||
	    !take_below(s, RELATION_CROSS + 1, &relation) ||
	    !take_below(s, DEED_FINISHED + 1, &deed) || !str_take_varint(s, &r->support) ||
	    !str_take_varint(s, &r->exceptions) || !take_below(s, 8, &flags) ||
	    s->n < sizeof(r->confidence))
		return false;
	memcpy(&r->confidence, s->p, sizeof(r->confidence));
	*s = str_skip(*s, sizeof(r->confidence));
	r->from = (uint32_t)from;
	r->to = (uint32_t)to;
	r->relation = (enum relation)relation;
	r->deed = (enum relation_deed)deed;
	r->is_in_graph = flags & 1;
	r->is_reduced = flags >> 1 & 1;
	r->is_inferred = flags >> 2 & 1;
	return true;
}

bool object_types_take(struct str *raw, struct object_graph *g, struct arena *a)
{
	uint64_t objects, links, templates, logs, types, relations;

	if (!take_below(raw, UINT32_MAX, &objects) || !take_below(raw, SIZE_MAX, &links) ||
	    !take_below(raw, UINT32_MAX, &templates) || !take_below(raw, UINT32_MAX, &logs) ||
	    !take_count(raw, &types))
		return false;
	*g = (struct object_graph){ .nr_objects = objects,
				    .nr_links = links,
				    .nr_templates = templates,
				    .nr_logs = logs,
				    .nr_types = types };
	g->types = arena_array(a, struct object_type, types);
	for (size_t i = 0; i < types; i++)
		if (!take_type(raw, &g->types[i], a))
			return false;
	if (!take_count(raw, &relations))
		return false;
	g->nr_relations = relations;
	g->relations = arena_array(a, struct object_relation, relations);
	for (size_t i = 0; i < relations; i++)
		if (!take_relation(raw, types, &g->relations[i]))
			return false;
	return true;
}
