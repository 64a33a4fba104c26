/*
 * Bins grow with the value, SKETCH_STEPS to each doubling, and only those that hold something
 * exist: sixteen bytes each, at most SKETCH_STEPS times the number of doublings between the
 * smallest and the largest value. A bin keeps the sum of its values, so that few values come out as
 * they went in.
 */
#include "ask/paths/sketch.h"

#include <math.h>
#include <string.h>

#include "ask/length.h"

#define STEP_BITS 6
_Static_assert(SKETCH_STEPS == 1 << STEP_BITS, "the bits of a step");

void sketch_done(struct sketch *s)
{
	vec_done(&s->bins);
	s->nr = 0;
}

/* Below SKETCH_STEPS each value has its own bin; above, the leading STEP_BITS + 1 bits name it. */
static uint32_t bin_of(int64_t v)
{
	uint64_t u = v > 0 ? (uint64_t)v : 0;
	unsigned top;

	if (u < SKETCH_STEPS)
		return (uint32_t)u;
	top = 63 - (unsigned)__builtin_clzll(u);
	return (top - STEP_BITS) * SKETCH_STEPS + (uint32_t)(u >> (top - STEP_BITS));
}

/* Position of the bin, or of the first one above it. */
static size_t find(const struct sketch *s, uint32_t bin)
{
	size_t low = 0, high = s->bins.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->bins.v[mid].bin < bin)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add(struct sketch *s, const struct sketch_bin *b)
{
	size_t at = find(s, b->bin);

	s->nr += b->nr;
	if (at < s->bins.nr && s->bins.v[at].bin == b->bin) {
		s->bins.v[at].nr += b->nr;
		s->bins.v[at].sum += b->sum;
		return;
	}
	vec_reserve(&s->bins, s->bins.nr + 1);
	memmove(&s->bins.v[at + 1], &s->bins.v[at], (s->bins.nr - at) * sizeof(*s->bins.v));
	s->bins.v[at] = *b;
	s->bins.nr++;
}

void sketch_add(struct sketch *s, int64_t v)
{
	add(s, &(struct sketch_bin){ bin_of(v), 1, v > 0 ? (double)v : 0 });
}

void sketch_merge(struct sketch *to, const struct sketch *from)
{
	vec_each (&from->bins, b)
		add(to, b);
}

int64_t sketch_percentile(const struct sketch *s, double p)
{
	double rank = ceil(p * (double)s->nr);
	uint64_t want = rank < 1 ? 1 : (uint64_t)rank, seen = 0;

	vec_each (&s->bins, b) {
		seen += b->nr;
		if (seen >= want)
			return length_of(b->sum / b->nr);
	}
	return s->bins.nr ? length_of(s->bins.v[s->bins.nr - 1].sum / s->bins.v[s->bins.nr - 1].nr)
			  : 0;
}
