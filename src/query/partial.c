#include "query/partial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/run.h"

#define WHOLE_MAX 0x1p53
#define ROWS_MAX ((uint64_t)1000000) /* that are told of one group */
#define NEAR_ZERO 1e-9               /* a bucket of its own in histograms */

void partial_shape_of(struct partial_shape *s, const struct plan *p)
{
	const struct output *o = &p->output;

	*s = (struct partial_shape){ .nr_keys = (uint32_t)(o->is_aggregated ? o->keys.nr
									    : o->selects.nr) };
	for (size_t i = 0; o->is_aggregated && i < o->aggregates.nr; i++)
		s->functions[s->nr_cells++] = (uint8_t)o->aggregates.v[i]->function;
}

void partial_init(struct partial *p, const struct partial_shape *s)
{
	*p = (struct partial){ .shape = *s, .max_groups = PARTIAL_GROUPS };
	p->groups.nr_keys = s->nr_keys;
}

static void forget_cells(struct partial *p)
{
	vec_each (&p->cells, c) {
		sum_done(&c->sum);
		if (c->spread)
			spread_done(c->spread);
		free(c->spread);
	}
	vec_clear(&p->cells);
	vec_clear(&p->times);
}

void partial_done(struct partial *p)
{
	forget_cells(p);
	vec_done(&p->cells);
	vec_done(&p->times);
	groups_done(&p->groups);
	names_done(&p->names);
	*p = (struct partial){ 0 };
}

void partial_reset(struct partial *p)
{
	struct partial_shape shape = p->shape;
	size_t max = p->max_groups;

	partial_done(p);
	partial_init(p, &shape);
	p->max_groups = max;
}

bool partial_is_empty(const struct partial *p)
{
	static const struct losses none;

	return !p->groups.nr && !memcmp(&p->losses, &none, sizeof(none));
}

/* 1 and 1.0 are the same: whoever comes first, it is told as 1. */
static struct value plain(struct value v)
{
	if (v.type == VALUE_DOUBLE && fabs(v.d) < WHOLE_MAX && v.d == trunc(v.d))
		return value_int((int64_t)v.d);
	return v;
}

size_t partial_group(struct partial *p, const struct value *raw, uint64_t rows)
{
	size_t before = p->groups.nr, group;
	struct value keys[VARIABLES_MAX];

	for (size_t i = 0; i < p->shape.nr_keys; i++)
		keys[i] = plain(raw[i]);

	if (before >= p->max_groups && !groups_has(&p->groups, keys)) {
		p->losses.count[LOSS_ROWS_DROPPED] += rows;
		return GROUP_NONE;
	}
	group = groups_find(&p->groups, keys, NULL);
	if (group == before) {
		vec_push(&p->times, 0);
		for (size_t i = 0; i < p->shape.nr_cells; i++)
			vec_push(&p->cells, (struct partial_cell){ 0 });
	}
	p->times.v[group] += rows;
	return group;
}

/* --- cells --------------------------------------------------------------------------------- */

static struct partial_cell *cell_at(struct partial *p, size_t group, size_t cell)
{
	return &p->cells.v[group * p->shape.nr_cells + cell];
}

static void extremes(struct partial *p, struct partial_cell *c, struct value least,
		     struct value most)
{
	least = plain(least);
	most = plain(most);
	if (!c->nr || value_cmp(least, c->least, &p->names) < 0)
		c->least = least;
	if (!c->nr || value_cmp(most, c->most, &p->names) > 0)
		c->most = most;
}

static bool add_sum(struct partial_cell *c, struct value n, uint64_t times)
{
	if (n.type == VALUE_DOUBLE)
		return sum_double(&c->sum, n.d, times);
	sum_int(&c->sum, n.i, times);
	return true;
}

static struct spread *cell_spread(struct partial_cell *c, enum aggregate f)
{
	if (c->spread)
		return c->spread;
	c->spread = mem_zalloc(sizeof(*c->spread));
	if (f == AGGREGATE_HISTOGRAM)
		spread_by_powers(c->spread);
	return c->spread;
}

static bool add_spread(struct partial_cell *c, enum aggregate f, struct value n, uint64_t times)
{
	double d = value_as_double(n);

	if (!isfinite(d) || (f == AGGREGATE_HISTOGRAM && !add_sum(c, n, times)))
		return false;
	if (f == AGGREGATE_HISTOGRAM && fabs(d) < NEAR_ZERO)
		d = 0;
	spread_add(cell_spread(c, f), d, times);
	return true;
}

void partial_add(struct partial *p, size_t group, size_t cell, struct value v, uint64_t times)
{
	enum aggregate f = p->shape.functions[cell];
	struct partial_cell *c;
	struct value n = v;
	bool is_fine = true;

	if (group == GROUP_NONE || v.type == VALUE_NULL || !times)
		return;
	c = cell_at(p, group, cell);
	if (f == AGGREGATE_MIN || f == AGGREGATE_MAX) {
		value_number(v, &p->names, &n);
		is_fine = n.type != VALUE_DOUBLE || isfinite(n.d);
		if (is_fine)
			extremes(p, c, n, n);
	} else if (f != AGGREGATE_COUNT) {
		is_fine =
			value_number(v, &p->names, &n) &&
			(f == AGGREGATE_SUM || f == AGGREGATE_AVERAGE ? add_sum(c, n, times)
								      : add_spread(c, f, n, times));
	}
	if (is_fine)
		c->nr += times;
	else
		p->losses.count[LOSS_VALUES_NO_NUMBER] += times;
}

void partial_add_total(struct partial *p, size_t group, size_t cell, const struct total *half)
{
	enum aggregate f = p->shape.functions[cell];
	struct partial_cell *c;

	if (group == GROUP_NONE || !half->nr)
		return;
	c = cell_at(p, group, cell);
	if (f == AGGREGATE_MIN || f == AGGREGATE_MAX)
		extremes(p, c, f == AGGREGATE_MIN ? half->least : half->most,
			 f == AGGREGATE_MAX ? half->most : half->least);
	else if (f != AGGREGATE_COUNT && !add_sum(c, half->sum, 1)) {
		p->losses.count[LOSS_VALUES_NO_NUMBER] += half->nr;
		return;
	}
	c->nr += half->nr;
}

/* --- two of them --------------------------------------------------------------------------- */

static struct value brought(struct partial *to, const struct partial *from, struct value v)
{
	if (v.type == VALUE_TEXT)
		v.text = names_add(&to->names, names_str(&from->names, v.text));
	return v;
}

static void merge_cell(struct partial *to, struct partial_cell *c, const struct partial *from,
		       const struct partial_cell *d, enum aggregate f)
{
	if (!d->nr)
		return;
	if (f == AGGREGATE_MIN || f == AGGREGATE_MAX)
		extremes(to, c, brought(to, from, d->least), brought(to, from, d->most));
	sum_merge(&c->sum, &d->sum);
	if (d->spread)
		spread_merge(cell_spread(c, f), d->spread);
	c->nr += d->nr;
}

static void merge_group(struct partial *to, const struct partial *from, size_t i, uint64_t keep)
{
	struct value keys[VARIABLES_MAX];
	size_t nr = to->shape.nr_cells, group;

	for (size_t k = 0; k < to->shape.nr_keys; k++)
		keys[k] =
			k >= 64 || keep >> k & 1
				? brought(to, from, from->groups.keys.v[i * to->shape.nr_keys + k])
				: VALUE_NONE;
	group = partial_group(to, keys, from->times.v[i]);
	if (group == GROUP_NONE)
		return;
	for (size_t k = 0; k < nr; k++)
		merge_cell(to, cell_at(to, group, k), from, &from->cells.v[i * nr + k],
			   to->shape.functions[k]);
}

static bool same_shape(const struct partial_shape *a, const struct partial_shape *b)
{
	return a->nr_keys == b->nr_keys && a->nr_cells == b->nr_cells &&
	       !memcmp(a->functions, b->functions, a->nr_cells);
}

int partial_merge(struct partial *to, const struct partial *from, struct error *err)
{
	return partial_merge_by(to, from, UINT64_MAX, err);
}

void partial_merge_some(struct partial *to, const struct partial *from, size_t first, size_t nr)
{
	for (size_t i = first; i < first + nr; i++)
		merge_group(to, from, i, UINT64_MAX);
}

int partial_merge_by(struct partial *to, const struct partial *from, uint64_t keep,
		     struct error *err)
{
	if (!same_shape(&to->shape, &from->shape))
		return error_set(err, EINVAL, "these are results of different queries");
	for (size_t i = 0; i < from->groups.nr; i++)
		merge_group(to, from, i, keep);
	losses_add(&to->losses, &from->losses);
	return 0;
}

/* --- the answer ---------------------------------------------------------------------------- */

struct answering {
	struct partial *p;
	const struct output *o;
	struct expr **selects; /* that read keys by number instead of variables */
	struct evaluation ev;
	const struct answer *answer;
	struct buckets *buckets; /* by column */
};

/* A copy in which what is grouped by is read from the keys. */
static struct expr *by_keys(const struct output *o, const struct expr *e, struct arena *arena)
{
	struct expr *copy;

	if (!e)
		return NULL;
	copy = arena_new(arena, struct expr);
	*copy = *e;
	if (e->kind == EXPR_AGGREGATE)
		return copy;
	for (size_t i = 0; i < o->keys.nr; i++)
		if (expr_same(o->keys.v[i], e)) {
			copy->kind = EXPR_NAME;
			copy->a = NULL;
			copy->number = (uint32_t)i;
			return copy;
		}
	copy->a = by_keys(o, e->a, arena);
	copy->b = by_keys(o, e->b, arena);
	return copy;
}

static struct value cell_value(struct partial_cell *c, const struct expr *e, struct losses *l)
{
	int64_t whole;

	if (e->function == AGGREGATE_COUNT)
		return value_int((int64_t)c->nr);
	if (!c->nr)
		return VALUE_NONE;
	switch (e->function) {
	case AGGREGATE_SUM:
		return sum_whole(&c->sum, &whole) ? value_int(whole)
						  : value_double(sum_value(&c->sum));
	case AGGREGATE_AVERAGE:
		return value_double(sum_value(&c->sum) / (double)c->nr);
	case AGGREGATE_MIN:
		return c->least;
	case AGGREGATE_MAX:
		return c->most;
	case AGGREGATE_PERCENTILE:
		l->count[LOSS_PERCENTILES_COARSE] += spread_is_coarse(c->spread);
		return value_double(spread_percentile(c->spread, e->d));
	default:
		return VALUE_NONE;
	}
}

static int answer_group(struct answering *a, size_t group)
{
	struct answer_cell cells[VARIABLES_MAX];
	struct value totals[VARIABLES_MAX];

	for (size_t i = 0; i < a->o->aggregates.nr; i++)
		totals[i] =
			cell_value(cell_at(a->p, group, i), a->o->aggregates.v[i], &a->p->losses);
	a->ev.total = totals;
	a->ev.row = a->p->groups.keys.v + group * a->p->shape.nr_keys;
	for (size_t i = 0; i < a->o->selects.nr; i++) {
		const struct expr *e = a->o->selects.v[i].expr;
		struct partial_cell *c;

		cells[i] = (struct answer_cell){ expr_eval(a->selects[i], &a->ev), NULL };
		if (e->kind != EXPR_AGGREGATE || e->function != AGGREGATE_HISTOGRAM)
			continue;
		c = cell_at(a->p, group, e->number);
		vec_clear(&a->buckets[i].v);
		if (c->spread)
			spread_buckets(c->spread, &a->buckets[i]);
		a->buckets[i].sum = sum_value(&c->sum);
		cells[i].buckets = &a->buckets[i];
	}
	return a->answer->row(a->answer->ctx, cells, a->o->selects.nr);
}

static int answer_rows(struct answering *a, size_t group)
{
	struct answer_cell cells[VARIABLES_MAX];
	uint64_t times = a->p->times.v[group];
	int got = 0;

	for (size_t i = 0; i < a->p->shape.nr_keys; i++)
		cells[i] =
			(struct answer_cell){ a->p->groups.keys.v[group * a->p->shape.nr_keys + i],
					      NULL };
	if (times > ROWS_MAX) {
		a->p->losses.count[LOSS_ROWS_DROPPED] += times - ROWS_MAX;
		times = ROWS_MAX;
	}
	while (times-- && !got)
		got = a->answer->row(a->answer->ctx, cells, a->p->shape.nr_keys);
	return got;
}

static int answer_all(struct answering *a)
{
	uint32_t *sorted = groups_sorted(&a->p->groups, &a->p->names);
	int got = 0;

	for (size_t i = 0; i < a->p->groups.nr && !got && !a->ev.has_failed; i++)
		got = a->o->is_aggregated ? answer_group(a, sorted[i]) : answer_rows(a, sorted[i]);
	free(sorted);
	return a->ev.has_failed ? -EINVAL : got;
}

int partial_answer(struct partial *p, const struct plan *plan, const struct answer *answer,
		   struct error *err)
{
	struct answering a = { .p = p, .o = &plan->output, .answer = answer };
	struct arena arena = { 0 };
	struct partial_shape shape;
	int got;

	partial_shape_of(&shape, plan);
	if (!same_shape(&shape, &p->shape))
		return error_set(err, EINVAL, "this is the result of another query");
	a.ev = (struct evaluation){ .names = &p->names, .text = plan->text, .err = err };
	a.selects = arena_array(&arena, struct expr *, a.o->selects.nr + 1);
	a.buckets = mem_zalloc(VARIABLES_MAX * sizeof(*a.buckets));
	for (size_t i = 0; i < a.o->selects.nr; i++)
		a.selects[i] = by_keys(a.o, a.o->selects.v[i].expr, &arena);
	got = answer_all(&a);
	for (size_t i = 0; i < VARIABLES_MAX; i++)
		vec_done(&a.buckets[i].v);
	free(a.buckets);
	arena_done(&arena);
	return got;
}
