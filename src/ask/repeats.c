/*
 * A retry is a step that failed and was followed, in the same request, by one of the same name.
 * Logs rarely say that a step failed, only that the request has an error: there, a step counts as
 * repeated when it was done more often than nearly all requests without errors do it.
 */
#include "ask/repeats.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"
#include "ask/types.h"

#define SPANS_MOST 1024
#define STEPS_MOST 4096 /* steps of all types */
#define SEEN_MOST 8192  /* requests of each step */
#define SEEN_ALL (1u << 20)
#define LEAST 5    /* requests with retries */
#define USUAL 0.95 /* of the requests without errors have no more */
#define LEAST_SURE 0.99
#define ONE_NODE 0.6 /* of the failures: then that node is named */

void repeats_done(struct repeats *r)
{
	vec_each (&r->v, one)
		vec_done(&one->seen);
	vec_done(&r->v);
	names_done(&r->keys);
	names_done(&r->nodes);
	names_done(&r->names);
	arena_done(&r->arena);
	buf_done(&r->key);
}

static struct repeat *repeat_of(struct repeats *r, uint32_t type, struct str name)
{
	sym_t key;

	buf_clear(&r->key);
	buf_varint(&r->key, type);
	buf_add(&r->key, name);
	key = names_find(&r->keys, buf_str(&r->key));
	if (!key) {
		if (r->v.nr >= STEPS_MOST)
			return NULL;
		key = names_add(&r->keys, buf_str(&r->key));
		vec_push(&r->v, (struct repeat){
					.type = type,
					.name = names_str(&r->names, names_add(&r->names, name)) });
	}
	return &r->v.v[key - 1];
}

static int by_name(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;
	int names = str_cmp(x->name, y->name);

	if (names)
		return names;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x > y) - (x < y);
}

/* The node of the first that failed and was done again afterwards, or 0. */
static sym_t failed_on(struct repeats *r, const struct span *const *v, size_t nr)
{
	for (size_t i = 0; i + 1 < nr; i++) {
		if (v[i]->status != STATUS_ERROR)
			continue;
		for (size_t j = i + 1; j < nr; j++)
			if (v[j]->start >= v[i]->end && v[j]->parent == v[i]->parent)
				return names_add(&r->nodes, v[i]->node.n ? v[i]->node : STR("?"));
	}
	return 0;
}

void repeats_add(struct repeats *r, uint32_t type, const struct request *q,
		 const struct request_body *body)
{
	size_t nr = body->nr_spans < SPANS_MOST ? body->nr_spans : SPANS_MOST;
	const struct span **v;

	if (!nr)
		return;
	arena_reset(&r->arena);
	v = arena_array(&r->arena, const struct span *, nr);
	for (size_t i = 0; i < nr; i++)
		v[i] = &body->spans[i];
	qsort(v, nr, sizeof(*v), by_name);
	for (size_t i = 0, j; i < nr; i = j) {
		struct repeat *one = repeat_of(r, type, v[i]->name);

		for (j = i + 1; j < nr && str_eq(v[j]->name, v[i]->name); j++)
			;
		if (!one || one->seen.nr >= SEEN_MOST || r->nr_seen >= SEEN_ALL)
			continue;
		r->nr_seen++;
		vec_push(&one->seen, (struct repeat_seen){ .start = q->start,
							   .ns = length_ns(q->start, q->end),
							   .request = q->id,
							   .failed = failed_on(r, v + i, j - i),
							   .times = (uint32_t)(j - i),
							   .error = q->error });
	}
}

static uint32_t usual_times(const struct repeat *one, struct arena *arena)
{
	int64_t *times = arena_array(arena, int64_t, one->seen.nr + 1);
	size_t nr = 0;

	vec_each (&one->seen, s)
		if (!s->error && !s->failed)
			times[nr++] = s->times;
	stats_sort(times, nr);
	return nr ? (uint32_t)stats_percentile(times, nr, USUAL) : UINT32_MAX;
}

static void name_node(const struct repeats *r, const struct repeat *one, struct anomaly *a)
{
	uint64_t most = 0, all = 0;

	for (sym_t node = 1; node < r->nodes.nr; node++) {
		uint64_t nr = 0;

		vec_each (&one->seen, s)
			nr += s->failed == node;
		all += nr;
		if (nr <= most)
			continue;
		most = nr;
		a->node = names_str(&r->nodes, node);
	}
	if ((double)most < ONE_NODE * (double)all || str_eq(a->node, STR("?")))
		a->node = STR("");
}

/* Counts those that were repeated; false when there is nothing to it. */
static bool weigh(const struct repeat *one, int64_t median, uint32_t usual, struct anomaly *a)
{
	uint64_t failed = 0, errors = 0, fine = 0, fine_often = 0;
	double times = 0;

	vec_each (&one->seen, s) {
		bool again = s->failed || (s->error && s->times > usual);

		failed += s->failed > 0;
		errors += s->error;
		fine += !s->error;
		fine_often += !s->error && s->times > usual;
		if (!again)
			continue;
		a->requests++;
		times += s->times;
		a->lost += s->ns > median ? (double)(s->ns - median) : 0;
		if (a->requests == 1 || s->start < a->begin)
			a->begin = s->start;
		if (a->requests == 1 || s->start > a->end)
			a->end = s->start;
		anomaly_example(a, s->request);
	}
	if (a->requests < LEAST)
		return false;
	a->often = times / (double)a->requests;
	a->confidence = failed >= LEAST ? 1 - 1 / (1 + (double)failed)
					: stats_more_often(a->requests, errors, fine_often, fine);
	return a->confidence >= (failed >= LEAST ? 0 : LEAST_SURE) && a->lost > 0;
}

static bool look_at(const struct repeats *r, const struct repeat *one, const struct types *types,
		    struct anomaly *a)
{
	struct arena arena = { 0 };
	uint32_t usual = usual_times(one, &arena);

	arena_done(&arena);
	*a = (struct anomaly){ .kind = ANOMALY_RETRIES,
			       .type = types->v.v[one->type].name,
			       .name = one->name,
			       .before = usual == UINT32_MAX ? 1 : usual };
	if (!weigh(one, types->v.v[one->type].p50, usual, a))
		return false;
	name_node(r, one, a);
	return true;
}

void repeats_find(const struct repeats *r, const struct types *types, struct anomaly_list *out)
{
	vec_each (&r->v, one) {
		struct anomaly a, *same = NULL;

		if (!look_at(r, one, types, &a))
			continue;
		vec_each (&out->v, b)
			if (str_eq(b->type, a.type))
				same = b;
		if (!same)
			vec_push(&out->v, a);
		else if (a.lost > same->lost)
			*same = a;
	}
}
