#include "ask/toll.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/stats.h"

#define KEPT (1u << 18)
#define LABELS 64      /* further nodes are not counted */
#define LEAST 6        /* requests that say what is usual */
#define SLOW_TIMES 1.5 /* less beyond the usual is not slow */

void toll_done(struct toll *t)
{
	vec_done(&t->v);
}

void toll_add(struct toll *t, struct peers *labels, uint32_t type, const struct request *r,
	      const struct request_body *body)
{
	struct visit one = { r->id, r->start, length_ns(r->start, r->end), 0, type };
	struct dice dice;

	for (size_t i = 0; i < body->nr_spans; i++) {
		sym_t label = body->spans[i].node.n ? peers_label(labels, body->spans[i].node) : 0;

		if (label && label <= LABELS)
			one.nodes |= (uint64_t)1 << (label - 1);
	}
	t->seen++;
	if (t->v.nr < KEPT) {
		vec_push(&t->v, one);
		return;
	}
	dice = (struct dice){ t->seen };
	if (dice_below(&dice, t->seen) < KEPT)
		t->v.v[dice_below(&dice, KEPT)] = one;
}

static bool is_meanwhile(const struct visit *v, const struct peer_fault *f)
{
	return v->start <= f->end && length_after(v->start, v->ns) >= f->begin;
}

/* The median of those at other times (inside: of those meanwhile that do without the node); 0
 * where too few tell. */
static int64_t median_of(const struct visit *v, size_t nr, const struct peer_fault *f, bool inside,
			 int64_t *scratch)
{
	uint64_t bit = (uint64_t)1 << (f->label - 1);
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (is_meanwhile(&v[i], f) == inside && !(inside && (v[i].nodes & bit)))
			scratch[n++] = v[i].ns;
	if (n < LEAST)
		return 0;
	stats_sort(scratch, n);
	return stats_percentile(scratch, n, 0.5);
}

/* Who began before the fault, or ended long after it, has other reasons as well. */
static bool is_witness(const struct visit *v, const struct peer_fault *f)
{
	return v->start >= f->begin && length_after(v->start, v->ns) <= f->end;
}

/* alone: nothing else tells which requests show it best. */
static double count_type(const struct visit *v, size_t nr, struct peer_fault *f, bool alone,
			 int64_t *scratch)
{
	uint64_t bit = (uint64_t)1 << (f->label - 1);
	int64_t usual = median_of(v, nr, f, false, scratch);
	int64_t without = median_of(v, nr, f, true, scratch);
	double lost = 0;

	usual = usual > without ? usual : without;
	for (size_t i = 0; i < nr && usual; i++) {
		if (!(v[i].nodes & bit) || !is_meanwhile(&v[i], f) ||
		    (double)v[i].ns <= SLOW_TIMES * (double)usual)
			continue;
		lost += (double)(v[i].ns - usual);
		vec_push(&f->requests, v[i].request);
		if (alone && is_witness(&v[i], f))
			peer_witness_add(f, v[i].request, v[i].ns - usual);
	}
	return lost;
}

static int by_type(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

void toll_count(const struct toll *t, struct peer_fault *f)
{
	struct arena arena = { 0 };
	struct visit *v = arena_array(&arena, struct visit, t->v.nr + 1);
	int64_t *scratch = arena_array(&arena, int64_t, t->v.nr + 1);
	bool alone = !f->worst[0].request;
	double lost = 0;

	for (size_t i = 0; i < t->v.nr; i++)
		v[i] = t->v.v[i];
	if (t->v.nr)
		qsort(v, t->v.nr, sizeof(*v), by_type);
	for (size_t i = 0, j; i < t->v.nr && f->label && f->label <= LABELS; i = j) {
		for (j = i; j < t->v.nr && v[j].type == v[i].type; j++)
			;
		lost += count_type(v + i, j - i, f, alone, scratch);
	}
	arena_done(&arena);
	if (t->v.nr)
		lost *= (double)t->seen / (double)t->v.nr;
	f->lost = lost > f->lost ? lost : f->lost;
	peer_requests_sort(f);
}
