#include "query/total.h"

#include <math.h>
#include <stdlib.h>

void total_done(struct total *t)
{
	vec_done(&t->all);
}

bool aggregate_is_small(enum aggregate f)
{
	return f != AGGREGATE_PERCENTILE && f != AGGREGATE_HISTOGRAM;
}

static void extremes(struct total *t, struct value least, struct value most,
		     const struct names *names)
{
	if (!t->nr || value_cmp(least, t->least, names) < 0)
		t->least = least;
	if (!t->nr || value_cmp(most, t->most, names) > 0)
		t->most = most;
}

bool total_add(struct total *t, enum aggregate f, struct value v, uint64_t times,
	       const struct names *names)
{
	struct value n = v;

	if (v.type == VALUE_NULL || !times)
		return true;
	if (f != AGGREGATE_COUNT && f != AGGREGATE_MIN && f != AGGREGATE_MAX &&
	    !value_number(v, names, &n))
		return false;
	if (f == AGGREGATE_MIN || f == AGGREGATE_MAX) {
		value_number(v, names, &n);
		extremes(t, n, n, names);
	} else if (f == AGGREGATE_SUM || f == AGGREGATE_AVERAGE) {
		n = value_times(n, times);
		t->sum = t->nr ? value_add(t->sum, n) : n;
	} else if (f != AGGREGATE_COUNT) {
		struct weighted w = { n, times };

		vec_push(&t->all, w);
	}
	t->nr += times;
	return true;
}

void total_combine(struct total *t, const struct total *half, uint64_t times,
		   const struct names *names)
{
	struct value sum;

	if (!half->nr || !times)
		return;
	sum = half->sum.type == VALUE_NULL ? half->sum : value_times(half->sum, times);
	extremes(t, half->least, half->most, names);
	t->sum = t->nr && t->sum.type != VALUE_NULL ? value_add(t->sum, sum) : sum;
	t->nr += half->nr * times;
}

static int by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return value_cmp(x->value, y->value, NULL);
}

/* The smallest value that so many of all are not above (nearest rank). */
static struct value percentile(struct total *t, double which)
{
	uint64_t rank = (uint64_t)ceil(which / 100 * (double)t->nr), seen = 0;

	qsort(t->all.v, t->all.nr, sizeof(*t->all.v), by_value);
	vec_each (&t->all, w) {
		seen += w->times;
		if (seen >= rank)
			return w->value;
	}
	return VALUE_NONE;
}

struct value total_value(struct total *t, const struct expr *e, const struct names *names)
{
	(void)names;
	if (e->function == AGGREGATE_COUNT)
		return value_int((int64_t)t->nr);
	if (!t->nr)
		return VALUE_NONE;
	switch (e->function) {
	case AGGREGATE_SUM:
		return t->sum;
	case AGGREGATE_MIN:
		return t->least;
	case AGGREGATE_MAX:
		return t->most;
	case AGGREGATE_AVERAGE:
		return value_double(value_as_double(t->sum) / (double)t->nr);
	case AGGREGATE_PERCENTILE:
		return percentile(t, e->d);
	default:
		return VALUE_NONE;
	}
}

/* The power of two that the value is not below; numbers around zero have a bucket of their own. */
static void bounds(double v, double *from, double *to)
{
	double size = exp2(floor(log2(fabs(v))));

	if (fabs(v) < 1e-9) {
		*from = *to = 0;
	} else if (v > 0) {
		*from = size;
		*to = 2 * size;
	} else {
		*from = -2 * size;
		*to = -size;
	}
}

void total_buckets(struct total *t, struct buckets *b, const struct names *names)
{
	(void)names;
	vec_clear(&b->v);
	b->sum = 0;
	if (t->all.nr)
		qsort(t->all.v, t->all.nr, sizeof(*t->all.v), by_value);
	vec_each (&t->all, w) {
		struct bucket one = { .nr = w->times };

		bounds(value_as_double(w->value), &one.from, &one.to);
		b->sum += value_as_double(w->value) * (double)w->times;
		if (b->v.nr && b->v.v[b->v.nr - 1].from == one.from)
			b->v.v[b->v.nr - 1].nr += one.nr;
		else
			vec_push(&b->v, one);
	}
}
