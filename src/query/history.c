#include "query/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/live.h"
#include "query/parse.h"
#include "query/partial.h"
#include "query/run.h"

#define NO_KEY UINT32_MAX

/* What was seen in one second. */
struct step {
	int64_t second; /* since the epoch */
	struct partial seen;
	bool is_used, is_told, was_told, is_final;
};

struct history {
	struct arena arena; /* the query, its plan and its columns */
	struct str id, text;
	int64_t since_ns;
	struct queries queries;
	struct plan plan;
	struct partial_shape shape;
	struct live_column *columns;
	uint32_t *key_of; /* by column: the key that it is; NO_KEY: it was computed */
	struct partial whole;
	uint64_t nr_not_over_time;        /* rows that their second had no room for */
	uint64_t nr_rows;                 /* of a query that does not aggregate: all that came */
	uint64_t nr_late;                 /* reports of seconds that were told for good */
	uint64_t nr_missed;               /* … of seconds that are older than what is kept */
	struct step steps[HISTORY_STEPS]; /* by second, round and round */
};

/* --- a query ---------------------------------------------------------------------------------- */

static bool has_aggregate(const struct expr *e)
{
	return e && (e->kind == EXPR_AGGREGATE || has_aggregate(e->a) || has_aggregate(e->b));
}

/* Of a query that does not aggregate nothing is a key: its rows stand for themselves. */
static void name_columns(struct history *h)
{
	const struct output *o = &h->plan.output;

	h->columns = arena_array(&h->arena, struct live_column, o->selects.nr + 1);
	h->key_of = arena_array(&h->arena, uint32_t, o->selects.nr + 1);
	for (size_t i = 0; i < o->selects.nr; i++) {
		const struct expr *e = o->selects.v[i].expr;
		struct live_column *c = &h->columns[i];
		bool is_plain = e->kind == EXPR_AGGREGATE;

		c->name = arena_str(&h->arena, o->selects.v[i].name);
		c->is_key = o->is_aggregated && !has_aggregate(e);
		c->is_count = is_plain && e->function == AGGREGATE_COUNT;
		c->adds_up = c->is_count || (is_plain && e->function == AGGREGATE_SUM);
		h->key_of[i] = NO_KEY;
		for (size_t k = 0; c->is_key && k < o->keys.nr; k++)
			if (expr_same(o->keys.v[k], e))
				h->key_of[i] = (uint32_t)k;
	}
}

int history_new(struct history **made, struct str id, struct str text, int64_t since_ns,
		struct error *err)
{
	struct history *h = mem_zalloc(sizeof(*h));
	int got;

	h->id = arena_str(&h->arena, id);
	h->text = arena_str(&h->arena, text);
	h->since_ns = since_ns;
	got = query_parse(h->text, &h->arena, &h->queries, err);
	if (got >= 0)
		got = query_plan(&h->plan, &h->queries, REWRITE_ALL, &h->arena, err);
	if (got < 0) {
		arena_done(&h->arena);
		free(h);
		return got;
	}
	partial_shape_of(&h->shape, &h->plan);
	partial_init(&h->whole, &h->shape);
	name_columns(h);
	*made = h;
	return 0;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < HISTORY_STEPS; i++)
		partial_done(&h->steps[i].seen);
	partial_done(&h->whole);
	query_plan_done(&h->plan);
	arena_done(&h->arena);
	free(h);
}

const struct plan *history_plan(const struct history *h)
{
	return &h->plan;
}

struct str history_name(const struct history *h)
{
	return h->queries.nr ? h->queries.v[h->queries.nr - 1]->name : STR("");
}

void history_begin(struct history *h, int64_t since_ns)
{
	h->since_ns = since_ns;
}

int64_t history_since(const struct history *h)
{
	return h->since_ns;
}

/* --- what comes ------------------------------------------------------------------------------- */

/* NULL for a second that is older than what is kept. */
static struct step *step_at(struct history *h, int64_t second)
{
	struct step *s = &h->steps[(uint64_t)second % HISTORY_STEPS];

	if (s->is_used && s->second == second)
		return s;
	if (s->is_used && s->second > second)
		return NULL;
	partial_done(&s->seen);
	partial_init(&s->seen, &h->shape);
	if (h->plan.output.is_aggregated)
		s->seen.max_groups = HISTORY_STEP_GROUPS;
	s->second = second;
	s->is_used = true;
	s->is_told = s->was_told = s->is_final = false;
	return s;
}

static uint64_t nr_rows(const struct history *h, const struct partial *p)
{
	uint64_t nr = 0;

	if (h->plan.output.is_aggregated)
		return p->groups.nr;
	vec_each (&p->times, times)
		nr += *times;
	return nr;
}

/* *beyond: rows that the second has no room for. */
static int add_step(struct history *h, struct step *s, const struct partial *seen, uint64_t *beyond,
		    struct error *err)
{
	uint64_t before = s->seen.losses.count[LOSS_ROWS_DROPPED];
	int got = partial_merge(&s->seen, seen, err);

	before += seen->losses.count[LOSS_ROWS_DROPPED];
	*beyond = got < 0 ? 0 : s->seen.losses.count[LOSS_ROWS_DROPPED] - before;
	h->nr_late += s->is_final;
	s->is_told = false;
	return got;
}

int history_add(struct history *h, int64_t until_ns, const struct partial *seen, struct error *err)
{
	struct step *s = until_ns > 0 ? step_at(h, (until_ns - 1) / NS_S) : NULL;
	uint64_t beyond = 0;
	int got = 0;

	h->nr_missed += !s && !partial_is_empty(seen);
	if (h->plan.output.is_aggregated) {
		got = partial_merge(&h->whole, seen, err);
		if (got >= 0 && s)
			got = add_step(h, s, seen, &beyond, err);
		h->nr_not_over_time += beyond;
		return got;
	}
	/* rows that stand for themselves are kept by second alone: the latest ones are wanted */
	if (s)
		got = add_step(h, s, seen, &beyond, err);
	else
		beyond = nr_rows(h, seen);
	if (got < 0)
		return got;
	h->nr_rows += nr_rows(h, seen);
	losses_add(&h->whole.losses, &seen->losses);
	h->whole.losses.count[LOSS_ROWS_DROPPED] += beyond;
	return 0;
}

/* Seconds that were told are within the whole as well. */
static void forget_told(struct history *h)
{
	for (size_t i = 0; i < HISTORY_STEPS; i++)
		if (h->steps[i].is_told)
			partial_reset(&h->steps[i].seen);
}

int history_set(struct history *h, const struct partial *whole, struct error *err)
{
	struct partial now;
	int got;

	partial_init(&now, &h->shape);
	got = partial_merge(&now, whole, err);
	if (got < 0) {
		partial_done(&now);
		return got;
	}
	partial_done(&h->whole);
	h->whole = now;
	h->nr_rows = nr_rows(h, &now);
	if (!h->plan.output.is_aggregated)
		forget_told(h);
	return 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

struct telling {
	struct history *h;
	struct arena *arena;
	struct live_answer *a;
	struct partial *at; /* the one whose rows come */
	VEC(struct live_row) rows;
	struct names known;   /* the keys of each row, which is its symbol less one */
	uint32_t *sorted;     /* groups in the order of their rows */
	size_t nr;            /* rows so far */
	size_t step;          /* of the series, for rows of steps */
	VEC(double *) series; /* by row */
	struct buf key;
};

static struct live_value told(struct telling *t, struct value v)
{
	switch (v.type) {
	case VALUE_BOOL:
		return (struct live_value){ LIVE_BOOL, { .i = v.i } };
	case VALUE_INT:
		return (struct live_value){ LIVE_INT, { .i = v.i } };
	case VALUE_DOUBLE:
		return (struct live_value){ LIVE_DOUBLE, { .d = v.d } };
	case VALUE_TEXT:
		return (struct live_value){
			LIVE_TEXT, { .text = arena_str(t->arena, names_str(&t->at->names, v.text)) }
		};
	default:
		return (struct live_value){ 0 };
	}
}

static struct live_value told_buckets(struct telling *t, const struct buckets *b)
{
	struct live_bucket *v = arena_array(t->arena, struct live_bucket, b->v.nr + 1);

	for (size_t i = 0; i < b->v.nr; i++)
		v[i] = (struct live_bucket){ b->v.v[i].from, b->v.v[i].to, b->v.v[i].nr };
	return (struct live_value){ LIVE_BUCKETS, { .buckets = { v, b->v.nr, b->sum } } };
}

/* Texts have other numbers in each partial: the keys are told from others by what they say. */
static struct str key_of_group(struct telling *t, size_t group)
{
	size_t nr = t->h->shape.nr_keys;

	buf_clear(&t->key);
	buf_char(&t->key, 'k');
	for (size_t i = 0; i < nr; i++) {
		struct value v = t->at->groups.keys.v[group * nr + i];

		buf_char(&t->key, (char)('0' + v.type));
		if (v.type == VALUE_TEXT)
			buf_bytes(&t->key, names_str(&t->at->names, v.text));
		else if (v.type != VALUE_NULL)
			buf_add(&t->key, (struct str){ (const char *)&v.i, sizeof(v.i) });
	}
	return buf_str(&t->key);
}

static int tell_row(void *to, const struct answer_cell *cells, size_t nr)
{
	struct telling *t = to;
	struct live_value *values = arena_array(t->arena, struct live_value, nr + 1);
	double *series = NULL;

	for (size_t i = 0; i < nr; i++)
		values[i] = cells[i].buckets ? told_buckets(t, cells[i].buckets)
					     : told(t, cells[i].value);
	if (t->h->plan.output.is_aggregated) {
		size_t all = nr * t->a->nr_steps;

		names_add(&t->known, key_of_group(t, t->sorted[t->nr]));
		series = arena_array(t->arena, double, all + 1);
		for (size_t i = 0; i < all; i++)
			series[i] = NAN;
	}
	vec_push(&t->rows, (struct live_row){ values, series });
	vec_push(&t->series, series);
	/* rows of a query that does not aggregate are many */
	t->nr++;
	return t->rows.nr == PARTIAL_GROUPS;
}

static int tell_step(void *to, const struct answer_cell *cells, size_t nr)
{
	struct telling *t = to;
	sym_t row = names_find(&t->known, key_of_group(t, t->sorted[t->nr++]));

	/* the whole has too many groups: this one came too late to be among them */
	if (!row)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		struct value v = cells[i].value;
		double *at = &t->series.v[row - 1][i * t->a->nr_steps + t->step];

		if (t->a->columns[i].is_key)
			continue;
		if (v.type == VALUE_INT)
			*at = (double)v.i;
		else if (v.type == VALUE_DOUBLE)
			*at = v.d;
	}
	return 0;
}

/* The keys, as bits, that these columns show; all of them where all columns are wanted. */
static uint64_t keys_of(const struct history *h, uint64_t columns)
{
	uint64_t keys = 0;

	if (columns == UINT64_MAX || !h->plan.output.is_aggregated)
		return UINT64_MAX;
	for (size_t i = 0; i < h->plan.output.selects.nr && i < 64; i++)
		if (columns >> i & 1 && h->key_of[i] < 64)
			keys |= (uint64_t)1 << h->key_of[i];
	return keys;
}

/* The rows of one partial, by these keys. */
static int tell_partial(struct telling *t, const struct partial *from, uint64_t keys,
			int (*row)(void *to, const struct answer_cell *cells, size_t nr),
			struct error *err)
{
	const struct answer answer = { t, row };
	struct partial by;
	int got;

	partial_init(&by, &t->h->shape);
	got = partial_merge_by(&by, from, keys, err);
	if (got >= 0) {
		t->at = &by;
		t->nr = 0;
		t->sorted = groups_sorted(&by.groups, &by.names);
		got = partial_answer(&by, &t->h->plan, &answer, err);
		free(t->sorted);
	}
	if (row == tell_row) {
		t->a->losses = by.losses;
		t->a->nr_left_out = nr_rows(t->h, &by) - t->nr;
	}
	partial_done(&by);
	return got < 0 ? got : 0;
}

static int tell_steps(struct telling *t, uint64_t keys, struct error *err)
{
	int64_t first = t->a->first_ns / NS_S;
	int got = 0;

	for (t->step = 0; t->step < t->a->nr_steps && got >= 0; t->step++) {
		struct step *s = &t->h->steps[(uint64_t)(first + (int64_t)t->step) % HISTORY_STEPS];

		if (s->is_used && s->second == first + (int64_t)t->step)
			got = tell_partial(t, &s->seen, keys, tell_step, err);
	}
	return got;
}

/* As far back as the query was asked. */
static void set_steps(const struct history *h, int64_t until_ns, struct live_answer *a)
{
	int64_t last = until_ns / NS_S, first = h->since_ns / NS_S;

	if (first < last - HISTORY_STEPS)
		first = last - HISTORY_STEPS;
	a->step_ns = NS_S;
	a->first_ns = first * NS_S;
	a->nr_steps = h->plan.output.is_aggregated && last > first ? (size_t)(last - first) : 0;
}

static void begin_answer(struct history *h, struct arena *arena, struct live_answer *a)
{
	struct live_column *columns;

	*a = (struct live_answer){ .id = arena_str(arena, h->id),
				   .text = arena_str(arena, h->text),
				   .since_ns = h->since_ns,
				   .nr_not_over_time = h->nr_not_over_time,
				   .nr_columns = h->plan.output.selects.nr };
	columns = arena_array(arena, struct live_column, a->nr_columns + 1);
	for (size_t i = 0; i < a->nr_columns; i++) {
		columns[i] = h->columns[i];
		columns[i].name = arena_str(arena, columns[i].name);
	}
	a->columns = columns;
}

static void end_answer(struct telling *t)
{
	struct live_row *rows = arena_array(t->arena, struct live_row, t->rows.nr + 1);

	if (t->rows.nr)
		memcpy(rows, t->rows.v, t->rows.nr * sizeof(*rows));
	t->a->rows = rows;
	t->a->nr_rows = t->rows.nr;
	vec_done(&t->rows);
	vec_done(&t->series);
	names_done(&t->known);
	buf_done(&t->key);
}

/* The latest second first, then what is older than all of them. */
static int tell_plain(struct telling *t, struct error *err)
{
	struct history *h = t->h;
	int64_t last = INT64_MAX;
	int got = 0;

	while (got >= 0 && t->rows.nr < PARTIAL_GROUPS) {
		struct step *next = NULL;

		for (size_t i = 0; i < HISTORY_STEPS; i++) {
			struct step *s = &h->steps[i];

			if (s->is_used && s->second < last && (!next || s->second > next->second))
				next = s;
		}
		got = tell_partial(t, next ? &next->seen : &h->whole, UINT64_MAX, tell_row, err);
		if (!next)
			break;
		last = next->second;
	}
	t->a->losses = h->whole.losses;
	t->a->nr_left_out = h->nr_rows > t->rows.nr ? h->nr_rows - t->rows.nr : 0;
	return got;
}

int history_answer(struct history *h, uint64_t keep, int64_t until_ns, struct arena *arena,
		   struct live_answer *a, struct error *err)
{
	struct telling t = { .h = h, .arena = arena, .a = a };
	uint64_t keys = keys_of(h, keep);
	int got;

	begin_answer(h, arena, a);
	set_steps(h, until_ns, a);
	got = h->plan.output.is_aggregated ? tell_partial(&t, &h->whole, keys, tell_row, err)
					   : tell_plain(&t, err);
	if (got >= 0 && a->nr_steps)
		got = tell_steps(&t, keys, err);
	a->losses.count[LOSS_SECONDS_MISSED] += h->nr_missed;
	end_answer(&t);
	return got;
}

/* --- seconds, one after the other --------------------------------------------------------------
 */

/* The first one that is over. */
static struct step *next_step(struct history *h, int64_t until_ns, bool is_final)
{
	struct step *next = NULL;

	for (size_t i = 0; i < HISTORY_STEPS; i++) {
		struct step *s = &h->steps[i];
		bool is_done = is_final ? s->is_final : s->is_told;

		if (s->is_used && !is_done && (s->second + 1) * NS_S <= until_ns &&
		    (!next || s->second < next->second))
			next = s;
	}
	return next;
}

int64_t history_next(struct history *h, int64_t until_ns, bool *is_again)
{
	struct step *next = next_step(h, until_ns, false);

	if (!next)
		return NS_NONE;
	*is_again = next->was_told;
	next->is_told = next->was_told = true;
	return next->second * NS_S;
}

int64_t history_next_final(struct history *h, int64_t until_ns)
{
	struct step *next = next_step(h, until_ns, true);

	if (!next)
		return NS_NONE;
	next->is_final = true;
	return next->second * NS_S;
}

int64_t history_room(int64_t until_ns)
{
	return ((until_ns - 1) / NS_S - HISTORY_STEPS + 1) * NS_S;
}

uint64_t history_late(const struct history *h)
{
	return h->nr_late;
}

int history_second(struct history *h, int64_t ns, struct arena *arena, struct live_answer *a,
		   struct error *err)
{
	struct telling t = { .h = h, .arena = arena, .a = a };
	struct step *s = &h->steps[(uint64_t)(ns / NS_S) % HISTORY_STEPS];
	int got = 0;

	begin_answer(h, arena, a);
	a->first_ns = ns;
	a->step_ns = NS_S;
	if (s->is_used && s->second == ns / NS_S)
		got = tell_partial(&t, &s->seen, UINT64_MAX, tell_row, err);
	end_answer(&t);
	return got;
}
