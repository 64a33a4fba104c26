/*
 * A course is the sequence of a request's steps in order of their starts. Variants are normal, and
 * so is that one stops where another goes on: only when such requests are bunched in a part of the
 * time that chance would not leave them in are they told. The same holds for courses that had never
 * been taken before, which must also be slower than the rest or end in errors.
 */
#include "ask/courses.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "ask/types.h"
#include "base/time.h"

#define COURSES_MOST 20000
#define TYPES_MOST 500
#define LEAST 5                 /* moments */
#define MOMENT_NS (100 * NS_MS) /* what is no further apart has one reason */
#define LEAST_OF_TYPE 40
#define MOST_VARIED 0.15 /* courses for each request: more, and new ones say nothing */
#define USUAL_TIMES 3    /* as frequent as the one that stops, must be the one that goes on */
#define LEAST_USUAL 10
#define MOST_OF_TYPE 0.3 /* what is more frequent is no exception */
#define MOST_CHANCE 1e-3
#define SLOWER 1.5
#define MUCH_SLOWER 3 /* on average, where there are no errors */

void courses_done(struct courses *c)
{
	vec_each (&c->v, one)
		vec_done(&one->seen);
	vec_done(&c->v);
	names_done(&c->keys);
	names_done(&c->names);
	names_done(&c->nodes);
	arena_done(&c->arena);
	buf_done(&c->key);
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x > y) - (x < y);
}

static uint64_t mix(uint64_t hash, uint64_t with)
{
	hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 29);
}

/* Steps in order, each name once in a row: how often a step is repeated is no matter of course. */
static void outline(struct courses *c, const struct request_body *body, struct course *out)
{
	size_t nr = body->nr_spans;
	const struct span **v;
	uint64_t hash = 1;
	sym_t before = UINT32_MAX;

	arena_reset(&c->arena);
	v = arena_array(&c->arena, const struct span *, nr + 1);
	for (size_t i = 0; i < nr; i++)
		v[i] = &body->spans[i];
	if (nr)
		qsort(v, nr, sizeof(*v), by_start);
	for (size_t i = 0; i < nr && out->nr_steps < COURSE_STEPS; i++) {
		sym_t name = names_add(&c->names, v[i]->name);

		if (name == before)
			continue;
		before = name;
		hash = mix(hash, name);
		out->steps[out->nr_steps++] = hash;
		out->last_name = name;
		out->last_node = names_add(&c->nodes, v[i]->node);
	}
}

void courses_add(struct courses *c, uint32_t type, const struct request *r,
		 const struct request_body *body)
{
	struct course one = { .type = type };
	sym_t key;

	if (!body->nr_spans)
		return;
	outline(c, body, &one);
	buf_clear(&c->key);
	buf_varint(&c->key, type);
	buf_varint(&c->key, one.steps[one.nr_steps - 1]);
	key = names_find(&c->keys, buf_str(&c->key));
	if (!key) {
		if (c->v.nr >= COURSES_MOST) {
			c->nr_left_out++;
			return;
		}
		key = names_add(&c->keys, buf_str(&c->key));
		vec_push(&c->v, one);
	}
	vec_push(&c->v.v[key - 1].seen,
		 (struct course_seen){ r->start, r->end, r->id, r->error || r->incomplete });
}

/* --- what stands out ------------------------------------------------------------------------ */

/* Requests of the type that start before a moment. */
static size_t starts_before(const struct type_stat *t, int64_t ns)
{
	size_t low = 0, high = t->timings.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->timings.v[mid].start < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t starts_in(const struct type_stat *t, int64_t from, int64_t until)
{
	return starts_before(t, length_after(until, 1)) - starts_before(t, from);
}

/* The chance that so many, drawn from all of the type, fall into a part of the time like this. */
static double bunched(const struct type_stat *t, const struct anomaly *a)
{
	double part = (double)starts_in(t, a->begin, a->end) / (double)t->timings.nr;

	return pow(part, (double)a->requests - 1) * (double)a->requests;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* How many times something happened, when what came together counts once. */
static size_t moments(struct course_moments *m)
{
	size_t nr = 0;

	if (m->v.nr)
		qsort(m->v.v, m->v.nr, sizeof(*m->v.v), by_time);
	for (size_t i = 0; i < m->v.nr; i++)
		nr += !i || length_ns(m->v.v[i - 1], m->v.v[i]) > MOMENT_NS;
	return nr;
}

static void gather(const struct course *one, const struct type_stat *t, struct anomaly *a,
		   struct course_moments *m)
{
	vec_each (&one->seen, s) {
		int64_t ns = length_ns(s->start, s->end);

		if (!a->requests || s->start < a->begin)
			a->begin = s->start;
		if (!a->requests || s->start > a->end)
			a->end = s->start;
		a->requests++;
		a->before += s->error;
		a->lost += (double)ns > SLOWER * (double)t->p50 ? (double)(ns - t->p50) : 0;
		anomaly_example(a, s->request);
		vec_push(&m->v, s->start);
	}
}

/* Whether another course begins with all of this one, goes on, and is the usual one. */
static bool stops_midway(const struct courses *c, const struct course *one)
{
	if (one->nr_steps >= COURSE_STEPS || one->nr_steps < 2)
		return false;
	vec_each (&c->v, longer)
		if (longer->type == one->type && longer->nr_steps > one->nr_steps &&
		    longer->steps[one->nr_steps - 1] == one->steps[one->nr_steps - 1] &&
		    longer->seen.nr >= LEAST_USUAL && longer->seen.nr >= USUAL_TIMES * one->seen.nr)
			return true;
	return false;
}

/* Requests at the end of the input may just not have gone on yet. */
static bool is_cut(const struct course *one, const struct types *types)
{
	int64_t last = one->seen.v[0].end;

	vec_each (&one->seen, s)
		last = s->end > last ? s->end : last;
	return length_ns(last, types->last) <= types->v.v[one->type].p99;
}

static bool is_odd(const struct type_stat *t, const struct anomaly *a, struct course_moments *m)
{
	return moments(m) >= LEAST && (double)a->requests <= MOST_OF_TYPE * (double)t->timings.nr &&
	       bunched(t, a) <= MOST_CHANCE;
}

static void finish(const struct type_stat *t, struct anomaly *a, struct anomaly_list *out)
{
	a->type = t->name;
	a->often = (double)a->requests;
	a->confidence = 1 - bunched(t, a);
	if (a->end >= t->timings.v[t->timings.nr - 1].start)
		a->end = NS_NONE;
	vec_push(&out->v, *a);
}

static void find_stops(struct courses *c, const struct types *types, uint32_t type,
		       struct anomaly_list *out)
{
	const struct type_stat *t = &types->v.v[type];
	const struct course *most = NULL;
	struct anomaly a = { .kind = ANOMALY_STOPS };
	struct course_moments m = { 0 };

	vec_each (&c->v, one) {
		if (one->type != type || !stops_midway(c, one) || is_cut(one, types))
			continue;
		one->stops = true;
		gather(one, t, &a, &m);
		if (!most || one->seen.nr > most->seen.nr)
			most = one;
	}
	if (most && is_odd(t, &a, &m)) {
		a.name = names_str(&c->names, most->last_name);
		a.node = names_str(&c->nodes, most->last_node);
		finish(t, &a, out);
	}
	vec_done(&m.v);
}

/* Half of them go wrong, or they are much slower than the rest. */
static bool is_bad(const struct type_stat *t, const struct anomaly *a)
{
	return a->before * 2 >= (double)a->requests ||
	       a->lost >= (MUCH_SLOWER - 1) * (double)t->p50 * (double)a->requests;
}

/* Courses whose first request came late, and that were taken again and again from then on. */
static void find_new(struct courses *c, const struct types *types, uint32_t type,
		     struct anomaly_list *out)
{
	const struct type_stat *t = &types->v.v[type];
	const struct course *most = NULL;
	struct anomaly a = { .kind = ANOMALY_COURSE };
	struct course_moments m = { 0 }, none = { 0 };

	vec_each (&c->v, one) {
		struct anomaly alone = { 0 };

		if (one->type != type || one->stops || one->seen.nr < LEAST - 1)
			continue;
		vec_clear(&none.v);
		gather(one, t, &alone, &none);
		if (starts_in(t, t->timings.v[0].start, alone.begin) * 4 < t->timings.nr ||
		    bunched(t, &alone) > MOST_CHANCE)
			continue;
		gather(one, t, &a, &m);
		if (!most || one->seen.nr > most->seen.nr)
			most = one;
	}
	if (most && is_odd(t, &a, &m) && is_bad(t, &a)) {
		a.name = names_str(&c->names, most->last_name);
		finish(t, &a, out);
	}
	vec_done(&m.v);
	vec_done(&none.v);
}

void courses_find(struct courses *c, const struct types *types, struct anomaly_list *out)
{
	for (size_t i = 0; i < types->order.nr && i < TYPES_MOST; i++) {
		uint32_t type = types->order.v[i];
		size_t nr = types->v.v[type].timings.nr, courses = 0;

		if (nr < LEAST_OF_TYPE)
			continue;
		vec_each (&c->v, one)
			courses += one->type == type;
		if ((double)courses > MOST_VARIED * (double)nr)
			continue;
		find_stops(c, types, type, out);
		find_new(c, types, type, out);
	}
}
