#include "ask/object_level.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ask/length.h"
#include "ask/object_node.h"
#include "ask/object_kin.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/attr.h"
#include "store/objects.h"
#include "store/store.h"

/*
 * The store is the one form in which questions read requests, so objects are brought into it: no
 * question has to know of them, and the run itself stays as it is. What is below an object is
 * walked level by level, so that a bound on its spans leaves out the deepest.
 */

#define SPANS_MOST 1000
#define OBJECT_KEY "culprit.object"

typedef VEC(struct event) event_vec;
typedef VEC(struct span) span_vec;
typedef VEC(uint32_t) number_vec;
typedef VEC(uint64_t) place_vec;

struct making {
	const struct object_kin *k;
	const struct object_graph *g;
	struct object_nodes *nodes;
	struct store *to;
	struct sink sink;
	struct losses *losses;
	struct arena arena; /* of the request at hand */
	uint32_t *files;    /* by log: its number there */
	uint64_t nr_events; /* delivered so far */
	event_vec events;
	span_vec spans;
	number_vec objects; /* of each span */
	place_vec places;   /* of each event, in the store */
	number_vec owners;  /* of each event: its span */
};

int object_level_check(const char *level, struct error *err)
{
	if (!level || !strcmp(level, "request") || object_level_is(level))
		return 0;
	return error_set(err, EINVAL, "--level takes request or object, not '%s'", level);
}

bool object_level_is(const char *level)
{
	return level && !strcmp(level, "object");
}

const char *object_level_more(const char *level)
{
	return object_level_is(level) ? "--level object" : NULL;
}

static int add_files(struct making *m, struct arena *a, struct error *err)
{
	int r = 0;

	m->files = arena_array(a, uint32_t, m->g->nr_logs + 1);
	for (size_t i = 0; i < m->g->nr_logs && !r; i++) {
		const struct file_seen seen = { .path = m->g->logs[i],
						.name = m->g->logs[i],
						.format = STR("objects") };

		r = m->sink.file(m->sink.to, &seen, &m->files[i], err);
	}
	return r;
}

/* --- events ----------------------------------------------------------------------------------- */

static void add_event(struct making *m, const struct object_event *e, int64_t ns, struct str node)
{
	vec_push(&m->events, (struct event){ .ns = ns,
					     .kind = EVENT_LOG,
					     .level = e->level,
					     .file = m->files[e->log],
					     .nr_lines = 1,
					     .node = node,
					     .point = m->g->templates[e->template],
					     .title = m->g->templates[e->template],
					     .text = m->g->templates[e->template],
					     .duration = -1 });
}

static int by_ns(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return str_cmp(x->text, y->text);
}

/* Lines of one template are told by the first and the last. Gives the sequence, too. */
static int add_events(struct making *m, uint32_t number, uint64_t *sequence, struct error *err)
{
	const struct object *o = &m->g->objects[number];
	struct str node = object_node(m->nodes, number);
	int r;

	vec_clear(&m->events);
	vec_clear(&m->places);
	vec_clear(&m->owners);
	for (size_t i = 0; i < o->nr_parts; i++) {
		const struct object_event *e = &o->events[i];

		if (e->first_ns == NS_NONE)
			continue;
		add_event(m, e, e->first_ns, node);
		if (e->last_ns != e->first_ns)
			add_event(m, e, e->last_ns, node);
	}
	if (m->events.nr > 1)
		qsort(m->events.v, m->events.nr, sizeof(*m->events.v), by_ns);
	*sequence = 0;
	vec_each (&m->events, ev) {
		*sequence = (*sequence ^ str_hash(ev->text)) * 0x9e3779b97f4a7c15u;
		vec_push(&m->places, m->nr_events);
		vec_push(&m->owners, 0);
		m->nr_events++;
	}
	r = m->events.nr ? m->sink.events(m->sink.to, m->events.v, m->events.nr, err) : 0;
	return r;
}

/* --- spans ------------------------------------------------------------------------------------ */

static void add_span(struct making *m, uint32_t number, uint32_t parent, const struct object *whole)
{
	const struct object *o = &m->g->objects[number];
	struct buf name = { 0 }, attrs = { 0 };

	object_name(m->g, o, &name);
	attr_add_str(&attrs, STR(OBJECT_KEY), buf_str(&name));
	vec_push(&m->spans,
		 (struct span){ .start = o->first_ns > whole->first_ns ? o->first_ns
								       : whole->first_ns,
				.end = o->last_ns < whole->last_ns ? o->last_ns : whole->last_ns,
				.parent = parent,
				.kind = SPAN_INTERNAL,
				.status = o->nr_errors ? STATUS_ERROR : STATUS_UNSET,
				.confidence = 1,
				.id = arena_fmt(&m->arena, "%u", number + 1),
				.name = m->g->types[o->type].name,
				.node = object_node(m->nodes, number),
				.attrs = arena_str(&m->arena, buf_str(&attrs)) });
	vec_push(&m->objects, number);
	buf_done(&name);
	buf_done(&attrs);
}

static bool is_there(const number_vec *v, uint32_t number)
{
	for (size_t i = v->nr; i--;)
		if (v->v[i] == number)
			return true;
	return false;
}

/* What was over before it began, or came after it, is no part of its time. */
static bool is_within(const struct object *o, const struct object *whole)
{
	return object_has_time(o) && o->last_ns >= whole->first_ns && o->first_ns <= whole->last_ns;
}

static void add_spans(struct making *m, uint32_t number)
{
	const struct object_kin *k = m->k;
	const struct object *whole = &m->g->objects[number];

	vec_clear(&m->spans);
	vec_clear(&m->objects);
	add_span(m, number, SPAN_NONE, whole);
	for (uint32_t at = 0; at < m->spans.nr; at++) {
		uint32_t up = m->objects.v[at];

		for (uint32_t i = k->child_first[up]; i < k->child_first[up + 1]; i++) {
			uint32_t child = k->children[i];

			if (!is_within(&m->g->objects[child], whole))
				continue;
			if (m->spans.nr == SPANS_MOST)
				m->losses->count[LOSS_OBJECT_SPANS_LEFT]++;
			else if (!is_there(&m->objects, child))
				add_span(m, child, at, whole);
		}
	}
}

static int add_object(struct making *m, uint32_t number, struct error *err)
{
	const struct object *o = &m->g->objects[number];
	struct request_body body = { 0 };
	struct request r = { .type = m->g->types[o->type].name,
			     .key_kind = KEY_WORK,
			     .method = STR("objects"),
			     .start = o->first_ns,
			     .end = o->last_ns,
			     .error = o->nr_errors > 0,
			     .confidence = 1 };
	struct buf name = { 0 };
	int got = add_events(m, number, &r.sequence, err);

	if (got < 0)
		return got;
	add_spans(m, number);
	object_name(m->g, o, &name);
	r.key = buf_str(&name);
	r.nr_spans = (uint32_t)m->spans.nr;
	r.nr_events = (uint32_t)m->places.nr;
	body = (struct request_body){ .spans = m->spans.v,
				      .events = m->places.v,
				      .event_span = m->owners.v,
				      .nr_spans = m->spans.nr,
				      .nr_events = m->places.nr };
	got = store_add_request(m->to, &r, &body, err);
	buf_done(&name);
	arena_reset(&m->arena);
	return got;
}

static int add_objects(struct making *m, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; i < m->g->nr_objects && !r; i++) {
		const struct object *o = &m->g->objects[i];

		if (object_has_time(o) && o->last_ns > o->first_ns)
			r = add_object(m, i, err);
		else
			m->losses->count[LOSS_OBJECTS_MOMENT]++;
	}
	return r;
}

static int fill(struct store *to, const struct object_graph *g, struct arena *a, struct error *err)
{
	struct object_kin k;
	struct making m = { .g = g, .to = to, .sink = store_sink(to), .losses = store_losses(to) };
	int r;

	object_kin_init(&k, g, a);
	m.k = &k;
	m.nodes = object_nodes_new(g, a);
	r = add_files(&m, a, err);
	if (!r)
		r = add_objects(&m, err);
	vec_done(&m.events);
	vec_done(&m.spans);
	vec_done(&m.objects);
	vec_done(&m.places);
	vec_done(&m.owners);
	arena_done(&m.arena);
	return r;
}

int object_level_run(struct store *run, struct store **made, struct error *err)
{
	struct object_graph g = { 0 };
	struct arena arena = { 0 };
	struct store *to = NULL;
	int r = store_objects_some(run, OBJECTS_EVENTS | OBJECTS_TEXTS, &arena, &g, err);

	if (!r)
		r = error_set(err, ENOENT,
			      "the run holds no objects: make it again from its logs, or leave out "
			      "--level object");
	if (r > 0)
		r = store_create(&to, NULL, err);
	if (!r) {
		losses_add(store_losses(to), store_losses(run));
		r = fill(to, &g, &arena, err);
	}
	if (!r)
		r = store_finish(to, err);
	if (!r)
		*made = to;
	else if (to)
		store_close(to);
	arena_done(&arena);
	return r;
}

struct str object_level_name(struct str attrs)
{
	struct attr a;

	while (attr_take(&attrs, &a))
		if (str_eq(a.key, STR(OBJECT_KEY)))
			return a.text;
	return (struct str){ "", 0 };
}
