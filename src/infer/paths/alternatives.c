#include "infer/paths/alternatives.h"

#include <stdlib.h>

#include "infer/paths/calls.h"

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
