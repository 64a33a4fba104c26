#include "ask/object_waits.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"
#include "base/time.h"

/*
 * Lines of one template are known by the first, the last and their number: two lines are two
 * moments, more are taken to fill the time between them, since nobody knows where they stand.
 * What is shorter than a hundredth of the object's life, or than the clock of a log can tell, is no
 * silence.
 */

#define SILENCE_SHARE 100
#define SILENCE_LEAST (10 * NS_MS)
#define WAITS_MOST 4000000 /* 128 MB */
#define TEXT_BYTES 90
#define SENSE_SAMPLE 500
#define SENSE_CHILDREN 64 /* of an object, latest first */
#define SENSE_REST 10     /* a life is over soon after a silence that is so many times as long */

static void add(filled_vec *v, const struct object *o, int64_t from, int64_t to, uint32_t what)
{
	if (from < o->first_ns)
		from = o->first_ns;
	if (to > o->last_ns)
		to = o->last_ns;
	if (from <= to)
		vec_push(v, (struct filled){ from, to, what });
}

static int by_from(const void *a, const void *b)
{
	const struct filled *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static void add_children(const struct object_kin *k, uint32_t object, filled_vec *v)
{
	for (uint32_t i = k->child_first[object]; i < k->child_first[object + 1]; i++) {
		const struct object *c = &k->g->objects[k->children[i]];

		if (object_has_time(c))
			add(v, &k->g->objects[object], c->first_ns, c->last_ns,
			    WAIT_CHILD | c->type);
	}
}

void object_filled(const struct object_kin *k, uint32_t object, filled_vec *v)
{
	const struct object *o = &k->g->objects[object];

	vec_clear(v);
	for (size_t i = 0; o->events && i < o->nr_parts; i++) {
		const struct object_event *e = &o->events[i];

		if (e->first_ns == NS_NONE || e->last_ns < e->first_ns)
			continue;
		if (e->count > 2) {
			add(v, o, e->first_ns, e->last_ns, e->template);
			continue;
		}
		add(v, o, e->first_ns, e->first_ns, e->template);
		if (e->last_ns != e->first_ns)
			add(v, o, e->last_ns, e->last_ns, e->template);
	}
	add_children(k, object, v);
	if (v->nr > 1)
		qsort(v->v, v->nr, sizeof(*v->v), by_from);
}

static uint32_t kind_of(struct object_waits *w, uint32_t type, uint32_t before, uint32_t after)
{
	/* three numbers of 32 bits in a key of 64: mixed, and compared for certainty */
	uint64_t key = ((uint64_t)before << 32 | after) * 0x9e3779b97f4a7c15u ^ type;
	uint64_t *at;

	for (;; key++) {
		at = map_at(&w->by_ends, key);
		if (!*at) {
			vec_push(&w->kinds, (struct wait_kind){ .type = type,
								.before = before,
								.after = after });
			*at = w->kinds.nr;
		}
		if (w->kinds.v[*at - 1].type == type && w->kinds.v[*at - 1].before == before &&
		    w->kinds.v[*at - 1].after == after)
			return (uint32_t)(*at - 1);
	}
}

static void find_silences(struct object_waits *w, const struct object *o, uint32_t number,
			  const filled_vec *v)
{
	int64_t least = length_ns(o->first_ns, o->last_ns) / SILENCE_SHARE, end;
	uint32_t before;

	if (least < SILENCE_LEAST)
		least = SILENCE_LEAST;
	if (!v->nr)
		return;
	end = v->v[0].to;
	before = v->v[0].what;
	for (size_t i = 1; i < v->nr; i++) {
		const struct filled *f = &v->v[i];

		if (f->from > end && length_ns(end, f->from) >= least) {
			if (w->waits.nr < WAITS_MOST)
				vec_push(&w->waits, (struct object_wait){
							    end, f->from, number,
							    kind_of(w, o->type, before, f->what) });
			else
				w->nr_left_out++;
		}
		if (f->to >= end) {
			end = f->to;
			before = f->what;
		}
	}
}

static int by_kind(const void *a, const void *b)
{
	const struct object_wait *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static void sum_kinds(struct object_waits *w)
{
	VEC(int64_t) lengths = { 0 };

	for (size_t i = 0; i < w->waits.nr;) {
		uint32_t kind = w->waits.v[i].kind;
		struct wait_kind *k = &w->kinds.v[kind];

		k->first = (uint32_t)i;
		vec_clear(&lengths);
		for (; i < w->waits.nr && w->waits.v[i].kind == kind; i++) {
			int64_t ns = length_ns(w->waits.v[i].from, w->waits.v[i].to);

			vec_push(&lengths, ns);
			k->total_ns = length_after(k->total_ns, ns);
		}
		k->nr = (uint32_t)lengths.nr;
		stats_sort(lengths.v, lengths.nr);
		k->median_ns = stats_percentile(lengths.v, lengths.nr, 0.5);
	}
	vec_done(&lengths);
}

static void put_in_order(struct object_waits *w)
{
	if (w->waits.nr > 1)
		qsort(w->waits.v, w->waits.nr, sizeof(*w->waits.v), by_kind);
	sum_kinds(w);
}

void object_gaps_find(struct object_waits *w, const struct object_kin *k)
{
	filled_vec v = { 0 };

	w->is_gaps = true;
	for (uint32_t i = 0; i < k->g->nr_objects; i++) {
		const struct object *o = &k->g->objects[i];

		if (!object_has_time(o) || !object_nr_children(k, i))
			continue;
		vec_clear(&v);
		add_children(k, i, &v);
		if (!v.nr)
			continue;
		add(&v, o, o->first_ns, o->first_ns, WAIT_BEGIN);
		add(&v, o, o->last_ns, o->last_ns, WAIT_END);
		qsort(v.v, v.nr, sizeof(*v.v), by_from);
		find_silences(w, o, i, &v);
	}
	put_in_order(w);
	vec_done(&v);
}

void object_waits_find(struct object_waits *w, const struct object_kin *k)
{
	filled_vec v = { 0 };

	for (uint32_t i = 0; i < k->g->nr_objects; i++) {
		if (!object_has_time(&k->g->objects[i]))
			continue;
		object_filled(k, i, &v);
		find_silences(w, &k->g->objects[i], i, &v);
	}
	put_in_order(w);
	vec_done(&v);
}

/* Things that come by and use it do not wait with it. */
static bool is_user(const struct object_graph *g, uint32_t type, uint32_t child)
{
	for (size_t i = 0; i < g->nr_relations; i++)
		if (g->relations[i].from == type && g->relations[i].to == child)
			return g->relations[i].deed == DEED_USED;
	return false;
}

/* Whether something of its own is begun below it when the silence is over, or later. */
static bool is_worked_on(const struct object_kin *k, const struct object_wait *x)
{
	uint32_t first = k->child_first[x->object], i = k->child_first[x->object + 1];
	uint32_t type = k->g->objects[x->object].type;

	for (int tried = 0; i-- > first && tried < SENSE_CHILDREN; tried++) {
		const struct object *c = &k->g->objects[k->children[i]];

		if (!object_has_time(c) || c->first_ns < x->to)
			break;
		if (!is_user(k->g, type, c->type))
			return true;
	}
	return false;
}

enum wait_sense object_wait_sense(const struct object_waits *w, const struct object_kin *k,
				  uint32_t kind)
{
	const struct wait_kind *of = &w->kinds.v[kind];
	uint32_t step = of->nr / SENSE_SAMPLE + 1, nr = 0, worked = 0, over = 0;

	for (uint32_t i = 0; i < of->nr; i += step, nr++) {
		const struct object_wait *x = &w->waits.v[of->first + i];
		int64_t rest = length_ns(x->to, k->g->objects[x->object].last_ns);

		if (is_worked_on(k, x))
			worked++;
		else
			over += rest < length_ns(x->from, x->to) / SENSE_REST;
	}
	if (2 * worked >= nr)
		return WAIT_FOR;
	return 2 * over >= nr ? WAIT_IDLE : WAIT_UNKNOWN;
}

void object_waits_done(struct object_waits *w)
{
	vec_done(&w->waits);
	vec_done(&w->kinds);
	map_done(&w->by_ends);
}

void wait_end_text(const struct object_graph *g, uint32_t end, struct buf *b)
{
	if (end == WAIT_BEGIN || end == WAIT_END)
		buf_add(b, end == WAIT_BEGIN ? STR("it began") : STR("it ended"));
	else if (end & WAIT_CHILD)
		buf_fmt(b, "a child, " STR_FMT,
			STR_ARG(str_head(g->types[end & ~WAIT_CHILD].name, TEXT_BYTES)));
	else if (end < g->nr_templates)
		buf_fmt(b, "\"" STR_FMT "\"", STR_ARG(str_head(g->templates[end], TEXT_BYTES)));
}
