#include "infer/paths/alternatives.h"

#include <stdlib.h>

#include "infer/paths/calls.h"
#include "infer/paths/piece.h"

#define SURE 0.99f  /* of the parent: then there is nothing to tell */
#define LEAST 0.02f /* of an alternative */

/* The candidate that was chosen most often but for those named already. */
static uint32_t next_likely(const struct piece *p, const struct pcall *c, const uint32_t *named,
			    unsigned nr)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t k = c->first; k < c->first + c->nr; k++) {
		bool is_named = false;

		for (unsigned i = 0; i < nr; i++)
			is_named |= named[i] == k;
		if (!is_named && (found == UINT32_MAX || p->marks[k] > p->marks[found]))
			found = k;
	}
	return found;
}

/* What the best does not have is shared out as the samples say, so that all is at most one. */
void alternatives_note(struct noted *n, const struct window *w, const struct piece *p,
		       const struct pcall *c, uint32_t best, float confidence)
{
	uint32_t named[ALTERNATIVES_MAX + 1] = { best }, others = 0;

	if (c->nr < 2 || confidence >= SURE)
		return;
	for (uint32_t k = c->first; k < c->first + c->nr; k++)
		others += k != best ? p->marks[k] : 0;
	for (unsigned i = 1; i <= ALTERNATIVES_MAX && others; i++) {
		uint32_t k = next_likely(p, c, named, i);
		float share;

		if (k == UINT32_MAX)
			return;
		share = (1 - confidence) * (float)p->marks[k] / (float)others;
		if (share < LEAST)
			return;
		named[i] = k;
		vec_push(n, (struct alternative){
				    c->call, share,
				    w->calls.v[p->spans[p->candidates.v[k]].call].position });
	}
}

void alternatives_take(struct window *w, struct noted *n)
{
	vec_reserve(&w->alternatives, w->alternatives.nr + n->nr);
	for (size_t i = 0; i < n->nr; i++)
		w->alternatives.v[w->alternatives.nr++] = n->v[i];
	vec_done(n);
}

void alternatives_forget(struct window *w, uint32_t node)
{
	size_t kept = 0;

	vec_each (&w->alternatives, a) {
		const struct call *c = &w->calls.v[a->call];

		if (c->from != node || c->is_decided)
			w->alternatives.v[kept++] = *a;
	}
	w->alternatives.nr = kept;
}

static int by_call(const void *pa, const void *pb)
{
	const struct alternative *a = pa, *b = pb;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

void alternatives_settle(struct window *w)
{
	struct alternative *v = w->alternatives.v;
	size_t kept = 0, nr = 0;

	if (!w->alternatives.nr)
		return;
	qsort(v, w->alternatives.nr, sizeof(*v), by_call);
	for (size_t i = 0; i < w->alternatives.nr; i++) {
		nr = i && v[i].call == v[i - 1].call ? nr + 1 : 0;
		if (nr < ALTERNATIVES_MAX)
			v[kept++] = v[i];
	}
	w->alternatives.nr = kept;
}

size_t alternatives_of(const struct window *w, uint32_t call, size_t *nr)
{
	const struct alternative *v = w->alternatives.v;
	size_t lo = 0, hi = w->alternatives.nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v[mid].call < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*nr = 0; lo + *nr < w->alternatives.nr && v[lo + *nr].call == call;)
		++*nr;
	return lo;
}
