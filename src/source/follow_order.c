/*
 * The name of a file that is gone tells nothing any more: others are called so by now, or have been
 * renamed beyond it. But contents are known by the order in which they were met, so that it belongs
 * in front of the first of its log that was met later.
 */
#include "source/follow_order.h"

#include <stdlib.h>

#include "source/follow_set.h"

static int by_name(const void *a, const void *b)
{
	const struct followed *x = *(struct followed *const *)a, *y = *(struct followed *const *)b;
	int r;

	/* those that are gone come last, the first to be met first */
	if (!x->gone != !y->gone)
		return x->gone ? 1 : -1;
	if (x->gone)
		return x->birth < y->birth ? -1 : 1;
	r = rotation_cmp_paths(str_of(x->path), str_of(y->path));
	return r ? r : (x->serial > y->serial) - (x->serial < y->serial);
}

/* Where it belongs among the first nr. */
static size_t place_of(struct followed *const *files, size_t nr, const struct followed *it)
{
	size_t i = 0, end = 0;

	for (; i < nr; i++) {
		if (strcmp(files[i]->log, it->log) != 0)
			continue;
		if (files[i]->birth > it->birth)
			return i;
		end = i + 1;
	}
	if (end)
		return end;
	for (i = 0; i < nr; i++)
		if (rotation_cmp_paths(str_of(files[i]->path), str_of(it->path)) > 0)
			break;
	return i;
}

void follow_order(struct follow *f)
{
	struct followed **v = f->files.v;

	if (f->files.nr < 2)
		return;
	qsort(v, f->files.nr, sizeof(*v), by_name);
	for (size_t i = 0; i < f->files.nr; i++) {
		struct followed *it = v[i];
		size_t at = it->gone ? place_of(v, i, it) : i;

		memmove(&v[at + 1], &v[at], (i - at) * sizeof(*v));
		v[at] = it;
	}
}
