/*
 * One request at a time. From the leaves up each call gets the number of the tree below it, so that
 * two requests have the same path exactly when the numbers above their roots are equal; from the
 * roots down each call finds its place among the hops of that pattern. Linear in the calls, but for
 * sorting those of one caller by time. Memory is that of the different patterns, bounded by
 * SHAPES_MOST and PATTERN_HOPS_MOST; requests of further patterns are counted.
 */
#include "ask/paths/patterns.h"

#include <stdlib.h>

#include "ask/length.h"

void hop_stat_done(struct hop_stat *h)
{
	sketch_done(&h->latencies);
	sketch_done(&h->selves);
}

void hop_stat_merge(struct hop_stat *to, const struct hop_stat *from)
{
	to->nr += from->nr;
	to->latency += from->latency;
	to->self += from->self;
	to->delay += from->delay;
	to->nr_delays += from->nr_delays;
	sketch_merge(&to->latencies, &from->latencies);
	sketch_merge(&to->selves, &from->selves);
}

void patterns_done(struct patterns *p)
{
	vec_each (&p->v, x)
		sketch_done(&x->latencies);
	vec_each (&p->hops, h)
		hop_stat_done(h);
	vec_done(&p->v);
	vec_done(&p->hops);
	vec_done(&p->of_shape);
	vec_done(&p->call_shape);
	vec_done(&p->call_hop);
	vec_done(&p->kids);
	calls_done(&p->calls);
	shapes_done(&p->shapes);
	names_done(&p->names);
}

/* How many of the calls that begin at kid k have the same tree and follow one another. */
static uint32_t run_length(const struct patterns *p, uint32_t k, uint32_t end)
{
	const uint32_t *kid = p->calls.kid.v;
	uint32_t n = 1;

	while (k + n < end && p->call_shape.v[kid[k + n]] == p->call_shape.v[kid[k]])
		n++;
	return n;
}

/* The tree of call i, whose own calls have theirs; i = nr of calls: that of the request. */
static uint32_t shape_of(struct patterns *p, uint32_t i)
{
	const struct calls *c = &p->calls;
	uint32_t end = c->first.v[i + 1], n;

	vec_clear(&p->kids);
	for (uint32_t k = c->first.v[i]; k < end; k += n) {
		uint32_t shape = p->call_shape.v[c->kid.v[k]];

		if (shape == SHAPE_NONE)
			return SHAPE_NONE;
		n = run_length(p, k, end);
		if (n < SHAPE_FOLD)
			n = 1;
		vec_push(&p->kids, (struct shape_kid){ shape, n });
	}
	return shapes_add(&p->shapes, i < c->v.nr ? c->v.v[i].node : SHAPE_ROOT, p->kids.v,
			  (uint32_t)p->kids.nr);
}

uint32_t patterns_shape(struct patterns *p, const struct request *r,
			const struct request_body *body)
{
	uint32_t nr;

	calls_make(&p->calls, &p->names, r, body);
	nr = (uint32_t)p->calls.v.nr;
	vec_reserve(&p->call_shape, nr + 1);
	p->call_shape.nr = nr;
	for (uint32_t i = nr; i-- > 0;)
		p->call_shape.v[i] = shape_of(p, i);
	return shape_of(p, nr);
}

static struct pattern *pattern_of(struct patterns *p, uint32_t shape)
{
	size_t nr_hops;

	while (p->of_shape.nr <= shape)
		vec_push(&p->of_shape, 0);
	if (p->of_shape.v[shape])
		return &p->v.v[p->of_shape.v[shape] - 1];
	nr_hops = p->shapes.v.v[shape].nr_hops - 1;
	if (p->hops.nr + nr_hops > PATTERN_HOPS_MOST)
		return NULL;
	vec_push(&p->v, (struct pattern){ .shape = shape,
					  .nr_hops = (uint32_t)nr_hops,
					  .first_hop = p->hops.nr });
	for (size_t i = 0; i < nr_hops; i++)
		vec_push(&p->hops, (struct hop_stat){ 0 });
	p->of_shape.v[shape] = (uint32_t)p->v.nr;
	return &p->v.v[p->v.nr - 1];
}

static void add_call(struct hop_stat *h, const struct call *c, bool first)
{
	int64_t latency = length_ns(c->start, c->end);

	h->nr++;
	h->latency += (double)latency;
	h->self += (double)c->self;
	sketch_add(&h->latencies, latency);
	sketch_add(&h->selves, c->self);
	if (first) {
		h->delay += (double)c->delay;
		h->nr_delays++;
	}
}

/* Gives the calls of call i their places, which begin at hop. */
static void place_kids(struct patterns *p, uint32_t i, uint32_t hop)
{
	const struct calls *c = &p->calls;
	uint32_t end = c->first.v[i + 1], n;

	for (uint32_t k = c->first.v[i]; k < end; k += n) {
		uint32_t shape = p->call_shape.v[c->kid.v[k]];

		n = run_length(p, k, end);
		if (n < SHAPE_FOLD)
			n = 1;
		for (uint32_t j = 0; j < n; j++) {
			uint32_t call = c->kid.v[k + j];

			p->call_hop.v[call] = hop;
			add_call(&p->hops.v[hop], &c->v.v[call], !j);
		}
		hop += p->shapes.v.v[shape].nr_hops;
	}
}

void patterns_add(struct patterns *p, const struct request *r, const struct request_body *body)
{
	uint32_t shape = patterns_shape(p, r, body), nr = (uint32_t)p->calls.v.nr;
	int64_t latency = length_ns(r->start, r->end);
	struct pattern *x;

	p->nr_requests++;
	p->nr_without += !nr;
	if (!nr)
		return;
	p->total += (double)latency;
	x = shape == SHAPE_NONE ? NULL : pattern_of(p, shape);
	if (!x) {
		p->nr_rare++;
		return;
	}
	x->count++;
	x->errors += r->error;
	x->total += (double)latency;
	x->confidence += (double)r->confidence;
	sketch_add(&x->latencies, latency);
	vec_reserve(&p->call_hop, nr + 1);
	p->call_hop.nr = nr;
	place_kids(p, nr, (uint32_t)x->first_hop);
	for (uint32_t i = 0; i < nr; i++)
		place_kids(p, i, p->call_hop.v[i] + 1);
}

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct patterns *p = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct pattern *x = &p->v.v[i], *y = &p->v.v[j];

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return i < j ? -1 : i > j;
}

uint32_t *patterns_ranked(const struct patterns *p)
{
	uint32_t *order = mem_alloc(mem_bytes(p->v.nr + 1, sizeof(*order)));

	for (uint32_t i = 0; i < p->v.nr; i++)
		order[i] = i;
	qsort_r(order, p->v.nr, sizeof(*order), by_total, (void *)p);
	return order;
}

struct shape_hop *patterns_hops(const struct patterns *p, uint32_t shape, size_t *nr)
{
	struct shape_hop *hops;

	*nr = p->shapes.v.v[shape].nr_hops - 1;
	hops = mem_alloc(mem_bytes(*nr + 1, sizeof(*hops)));
	shapes_hops(&p->shapes, shape, hops);
	return hops;
}

void patterns_path(const struct patterns *p, uint32_t shape, struct buf *out)
{
	size_t nr;
	struct shape_hop *hops = patterns_hops(p, shape, &nr);
	struct str *names = mem_alloc(mem_bytes(nr + 1, sizeof(*names)));

	for (size_t i = 0; i < nr; i++)
		names[i] = names_str(&p->names, hops[i].node);
	shapes_path(hops, nr, names, out);
	free(names);
	free(hops);
}
