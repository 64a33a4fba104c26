/*
 * Some write seconds, some milliseconds or nanoseconds, and say nothing of it. Work cannot take
 * longer than it was watched: where most durations of the sample would not fit between its first
 * and its last line, they are of another unit. Whole numbers are then nanoseconds, as Go writes
 * them; fractions are milliseconds. Where that does not fit either, they are no durations.
 */
#include "source/layout_units.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"

#define SAMPLE_MIN 5 /* fewer durations decide nothing */

struct durations {
	VEC(int64_t) ns;
};

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t fitting_unit(int64_t usual_ns, int64_t other_ns, struct durations *d,
			    int64_t within_ns)
{
	int64_t median;

	if (d->ns.nr < SAMPLE_MIN)
		return usual_ns;
	qsort(d->ns.v, d->ns.nr, sizeof(*d->ns.v), compare);
	median = d->ns.v[d->ns.nr / 2];
	if (median <= within_ns)
		return usual_ns;
	return median / (usual_ns / other_ns) <= within_ns ? other_ns : 0;
}

void layout_units_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct durations fraction = { 0 }, whole = { 0 };
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;

	for (size_t i = 0; i < sample->nr; i++) {
		worker->bare = BARE_NOT;
		if (layout_parse(layout, worker, sample->lines[i], &arena, &ev, &losses) != 1)
			continue;
		if (ev.ns != NS_NONE) {
			first = ev.ns < first ? ev.ns : first;
			last = ev.ns > last ? ev.ns : last;
		}
		if (worker->bare == BARE_FRACTION)
			vec_push(&fraction.ns, ev.duration);
		else if (worker->bare == BARE_WHOLE)
			vec_push(&whole.ns, ev.duration);
	}
	if (first >= 0 && last > first) {
		layout->fraction_ns = fitting_unit(NS_S, NS_MS, &fraction, last - first);
		layout->whole_ns = fitting_unit(NS_MS, 1, &whole, last - first);
	}
	vec_done(&fraction.ns);
	vec_done(&whole.ns);
	arena_done(&arena);
	layout_worker_free(worker);
}
