/* Advice against the evaluation of whole runs: random executions with branches and joins, where
 * every event runs its stages over the bag that came to it, must answer as src/query/run.c does. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "lib/advice/spill.h"
#include "lib/advice/vm.h"
#include "query/advice_compile.h"
#include "query/advice_verify.h"
#include "query/parse.h"
#include "query/partial.h"
#include "query/run.h"
#include "query/spills.h"

#define EVENTS 22
#define SEEDS 4000

struct world {
	size_t nr;
	int64_t ns[EVENTS];
	uint64_t at[EVENTS + 1];
	uint32_t before[EVENTS * 3];
	char point[EVENTS];
	int x[EVENTS], g[EVENTS];
	struct names names;
	const struct plan *plan;
	VEC(struct str) rows;
	struct arena arena;
};

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static void make_world(struct world *w, uint64_t seed)
{
	uint64_t nr_edges = 0;

	w->nr = 3 + next(&seed) % (EVENTS - 2);
	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t causes = i ? next(&seed) % 3 : 0, last = EVENTS;

		w->ns[i] = 100 + i;
		w->point[i] = (char)('A' + next(&seed) % 3);
		w->x[i] = (int)(next(&seed) % 7) - 2;
		w->g[i] = (int)(next(&seed) % 2);
		for (uint32_t k = 0; k < causes; k++) {
			uint32_t c = next(&seed) % i;

			if (c == last)
				continue;
			last = c;
			w->before[nr_edges++] = c;
		}
		w->at[i + 1] = nr_edges;
	}
}

/* --- rows as one text ------------------------------------------------------------------------- */

static int keep_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct world *w = ctx;
	struct buf b = { 0 };

	for (size_t i = 0; i < nr; i++) {
		buf_char(&b, '|');
		value_show(&b, cells[i].value, &w->names);
		for (size_t k = 0; cells[i].buckets && k < cells[i].buckets->v.nr; k++)
			buf_fmt(&b, "[%g:%d]", cells[i].buckets->v.v[k].from,
				(int)cells[i].buckets->v.v[k].nr);
	}
	vec_push(&w->rows, arena_str(&w->arena, buf_str(&b)));
	buf_done(&b);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str answer_text(struct world *w)
{
	struct buf b = { 0 };
	struct str text;

	if (w->rows.nr)
		qsort(w->rows.v, w->rows.nr, sizeof(*w->rows.v), by_text);
	vec_each (&w->rows, r)
		buf_fmt(&b, STR_FMT "\n", STR_ARG(*r));
	text = arena_str(&w->arena, buf_str(&b));
	buf_done(&b);
	w->rows.nr = 0;
	return text;
}

/* --- the whole execution at once -------------------------------------------------------------- */

static uint64_t stages(void *ctx, uint32_t event)
{
	const struct world *w = ctx;
	uint64_t bits = 0;

	for (size_t i = 0; i < w->plan->stages.nr; i++)
		for (size_t k = 0; k < w->plan->stages.v[i].nr_points; k++)
			if (w->plan->stages.v[i].points[k].name.p[0] == w->point[event])
				bits |= (uint64_t)1 << i;
	return bits;
}

static void observe(void *ctx, uint32_t event, uint32_t stage, struct value *row)
{
	struct world *w = ctx;

	vec_each (&w->plan->stages.v[stage].observed, v) {
		struct str field = w->plan->variables.v[*v].field;

		row[*v] = str_eq(field, STR("x"))   ? value_int(w->x[event])
			  : str_eq(field, STR("n")) ? value_int(event)
			  : w->g[event]             ? value_text(names_add(&w->names, STR("one")))
						    : VALUE_NONE;
	}
}

static struct str run_whole(struct world *w, const struct plan *p)
{
	struct observer_of_events events = { w, stages, observe };
	struct happened h = { w->nr, w->ns, w->at, w->before };
	struct answer to = { w, keep_row };
	struct error err = { 0 };
	struct order order;
	struct query_run q = { p, &h, &order, &events, &w->names, &to, NULL };

	w->plan = p;
	order_make(&order, &h);
	assert_int_equal(query_run(&q, &err), 0);
	order_done(&order);
	return answer_text(w);
}

/* --- event by event, with bags ---------------------------------------------------------------- */

struct live {
	struct world *w;
	const struct plan *p;
	struct advice_shape shape;
	struct partial partial;
	struct bag bags[EVENTS];
	struct bag_writer writers[EVENTS];
	bool is_continued[EVENTS]; /* the thread that was there has gone on to another event */
	struct advice_out out;
	const struct advice_set *set;
	struct bag_spill spill; /* room 0: bags are as large as they are */
	struct spills *spills;
	VEC(struct str) records; /* that were spilled, and are not taken yet */
	uint64_t record[SPILL_WORDS];
};
static uint64_t nr_finished; /* runs that were deferred, of all tests */

static struct value value_of(struct live *l, const struct advice_value *v)
{
	struct value to = { .type = v->type };

	if (v->type == ADVICE_TEXTUAL)
		return value_text(names_add(&l->partial.names, (struct str){ v->text, v->length }));
	if (v->type != ADVICE_NULL)
		to.i = v->i;
	return to;
}

static void take_row(void *to, const struct advice_row *row)
{
	struct live *l = to;
	struct value columns[ADVICE_COLUMNS];
	size_t group;

	for (size_t i = 0; i < row->program->nr_columns; i++)
		columns[i] = value_of(l, &row->columns[i]);
	group = partial_group(&l->partial, columns, row->times);
	for (size_t i = 0; i < l->p->output.aggregates.nr; i++) {
		const struct advice_total *t = &row->totals[l->shape.total_of[i]];
		struct total half = { 0 };

		if (l->shape.total_of[i] == UINT32_MAX) {
			partial_add(&l->partial, group, i, columns[l->shape.column_of[i]],
				    row->times);
			continue;
		}
		half.nr = t->nr;
		half.sum = half.least = half.most = value_of(l, &t->value);
		partial_add_total(&l->partial, group, i, &half);
	}
}

/* --- bags that are too small -------------------------------------------------------------------
 */

static uint64_t *record_begin(void *to, size_t nr)
{
	struct live *l = to;

	assert_true(nr <= SPILL_WORDS);
	memset(l->record, 0xa5, sizeof(l->record));
	return l->record;
}

static void record_end(void *to, size_t nr)
{
	struct live *l = to;

	vec_push(&l->records,
		 arena_str(&l->w->arena, (struct str){ (const char *)l->record, nr * 8 }));
}

static const struct advice_program *program_of(void *ctx, uint32_t query, uint16_t piece)
{
	const struct live *l = ctx;

	assert_true(query == 1 && piece < l->set->v.nr);
	return &l->set->v.v[piece].program;
}

/* Records come in any order, and some of them twice; runs wait until they have all. */
static void take_spilled(struct live *l, uint64_t *seed)
{
	int64_t now = 0;

	for (; l->records.nr; now++) {
		size_t i = next(seed) % l->records.nr;
		uint64_t words[SPILL_WORDS];

		memcpy(words, l->records.v[i].p, l->records.v[i].n);
		spills_take(l->spills, words, l->records.v[i].n / 8, now);
		if (next(seed) % 4 || !((const struct spill_record *)(const void *)words)->id)
			l->records.v[i] = l->records.v[--l->records.nr];
		if (next(seed) % 4 == 0)
			spills_finish(l->spills, now, 0);
	}
	spills_finish(l->spills, now, 0);
	assert_int_equal(spills_waiting(l->spills), 0);
}

static bool spilled_all(struct live *l, uint64_t *seed)
{
	struct spills_counts c;

	if (!l->spills)
		return true;
	take_spilled(l, seed);
	spills_tell(l->spills, &c);
	assert_int_equal(c.nr_broken + c.nr_missing + c.nr_dropped + c.nr_forgotten + c.nr_mistyped,
			 0);
	nr_finished += c.nr_finished;
	spills_free(l->spills);
	l->spills = NULL;
	return !c.nr_incomplete && !c.nr_beyond && !l->out.nr_lost;
}

/* Who got a bag from elsewhere writes under another name; one follower may be the same thread. */
static void receive(struct live *l, uint32_t event, uint64_t *seed)
{
	struct bag *b = &l->bags[event];
	struct bag_writer *w = &l->writers[event];
	char bytes[BAG_BYTES];
	struct bag came;
	bool is_first = true;

	bag_begin(b);
	bag_writer_begin(w, (uint64_t)(event + 1) << 40);
	for (uint64_t k = l->w->at[event]; k < l->w->at[event + 1]; k++) {
		uint32_t c = l->w->before[k];
		long nr = bag_serialize(&l->bags[c], bytes, sizeof(bytes));

		assert_true(nr >= 0 && bag_deserialize(&came, bytes, (size_t)nr));
		if (is_first && !l->is_continued[c] && next(seed) % 2) {
			memcpy(b, &l->bags[c], sizeof(*b));
			*w = l->writers[c];
			l->is_continued[c] = true;
		} else if (is_first) {
			bag_adopt(b, &came, w);
		} else {
			bag_join_spilling(b, &came, w, l->out.spill);
			bag_join_spilling(b, &came, w, l->out.spill); /* told twice */
		}
		is_first = false;
	}
}

static void run_event(struct live *l, const struct advice_set *set, uint32_t event)
{
	struct advice_value inputs[ADVICE_INPUTS] = { 0 };

	inputs[ADVICE_INPUT_OWN] = (struct advice_value){ .type = ADVICE_INT, .i = l->w->x[event] };
	inputs[ADVICE_INPUT_OWN + 1] = (struct advice_value){ .type = ADVICE_INT, .i = event };
	if (l->w->g[event])
		inputs[ADVICE_INPUT_OWN + 2] =
			(struct advice_value){ .type = ADVICE_TEXTUAL, .length = 3, .text = "one" };
	vec_each (&set->v, woven)
		if (woven->tracepoint->name.p[0] == l->w->point[event])
			advice_run(&woven->program, inputs, &l->bags[event], &l->writers[event],
				   (uint64_t)l->w->ns[event], &l->out);
}

/* Whether nothing was missing. */
static bool run_live(struct world *w, const struct plan *p, const struct advice_set *set,
		     uint64_t seed, uint32_t room, struct str *text)
{
	static struct live live; /* large, and all of it is set before it is read */
	struct live *l = &live;
	struct answer to = { w, keep_row };
	struct partial_shape shape;
	struct error err = { 0 };
	bool is_whole;

	l->w = w;
	l->p = p;
	l->set = set;
	l->spill = (struct bag_spill){ l, record_begin, record_end, room };
	l->spills = room ? spills_new(&(struct spills_use){ l, program_of, take_row, 0, 0 }) : NULL;
	l->out = (struct advice_out){ .to = l, .emit = take_row, .spill = room ? &l->spill : NULL };
	memset(l->is_continued, 0, sizeof(l->is_continued));
	advice_shape_of(p, &l->shape);
	partial_shape_of(&shape, p);
	partial_init(&l->partial, &shape);
	l->partial.names = w->names;
	for (uint32_t i = 0; i < w->nr; i++) {
		receive(l, i, &seed);
		run_event(l, set, i);
	}
	assert_int_equal(l->out.nr_mistyped + l->out.nr_damaged, 0);
	is_whole = spilled_all(l, &seed) && !l->out.nr_incomplete && !l->out.nr_beyond;
	w->names = l->partial.names;
	assert_int_equal(partial_answer(&l->partial, p, &to, &err), 0);
	*text = answer_text(w);
	l->partial.names = (struct names){ 0 };
	partial_done(&l->partial);
	return is_whole;
}

/* --- queries ---------------------------------------------------------------------------------- */

static const char points_text[] =
	"tracepoint A at function a!a export x = arg0, n = arg1, g = arg2:text\n"
	"tracepoint B at function a!b export x = arg0, n = arg1, g = arg2:text\n"
	"tracepoint C at function a!c export x = arg0, n = arg1, g = arg2:text\n";

static const char *const queries[] = {
	"From b In B Select b.n, b.x * 2 - 1, b.g",
	"From b In B GroupBy b.g Select b.g, COUNT, SUM(b.x), AVERAGE(b.x)",
	"From b In B Join a In A On a -> b Select b.n, a.x",
	"From b In B Join a In First(A) On a -> b Select b.n, a.n",
	"From b In B Join a In MostRecent(A) On a -> b Select b.n, a.n, b.x - a.x",
	"From b In B Join a In FirstN(2, A, C) On a -> b Select b.n, a.n",
	"From b In B Join a In MostRecentN(2, A) On a -> b Where a.x > 0 Select b.n, a.n",
	"From b In B Join a In MostRecentN(3, A, B, C) On a -> b Select b.n, a.n",
	"From b In B Join a In A On a -> b Where a.x > b.x Select b.n",
	"From b In B Join a In A On a -> b Join c In C On c -> a Where c.x != b.x and a.g = 'one' "
	"Select b.n, c.n",
	"From b In B Join a In A On a -> b Where a.x > 1 Select b.n, a.n",
	"From b In B Join a In A On a -> b Join c In C On c -> a Where a.x > 1 or c.x > 1 Select "
	"b.n, a.n, c.n",
	"From b In B Join a In (From y In A Join c In C On c -> y Where y.x > 1 Select y.n, c.n As "
	"m) On a -> b Select b.n, a.n, a.m",
	"From b In B Join a In First(From y In A Join c In C On c -> y Where y.x > 1 Select y.n, "
	"c.n As m) On a -> b Select b.n, a.n, a.m",
	"From b In B Join a In A On a -> b Select SUM(a.x), MIN(a.x), MAX(a.x), AVERAGE(a.x)",
	"From b In B Join a In A On a -> b Select MIN(a.g), MAX(a.g), COUNT(a.g)",
	"From b In B Join a In A On a -> b GroupBy a.g Select a.g, SUM(a.x), COUNT(a.g)",
	"From b In B Join a In A On a -> b GroupBy b.g Select b.g, SUM(b.x), COUNT",
	"From b In B Join a In A On a -> b GroupBy a.g Select a.g, SUM(b.x), COUNT",
	"From b In B Join a In A On a -> b GroupBy b.g Select b.g, SUM(a.x)",
	"From b In B Join a In A On a -> b Join c In C On c -> b GroupBy a.g Select a.g, SUM(c.x), "
	"SUM(a.x), SUM(b.x), SUM(a.x * c.x), COUNT",
	"From b In B Join a In A On a -> b Join c In C On c -> a GroupBy c.g Select c.g, SUM(a.x), "
	"SUM(c.x), MAX(b.x), COUNT, PERCENTILE(a.x, 50), HISTOGRAM(c.x + b.x)",
	"From b In B Join a In First(A) On a -> b Join c In C On c -> a GroupBy a.g Select a.g, "
	"SUM(c.x), COUNT",
	"Q8: From r In C Join q In MostRecent(A) On q -> r Select r.n - q.n\n"
	"Q9: From b In B Join l In Q8 On l -> b Select b.n, AVERAGE(l)",
	"From b In A, B Let d = b.x * 2 Join a In C On a -> b Where not d < 2 Select d + a.x, a.g",
	"From b In B Join a In A On a -> b Where a.g = null or b.g != null Select b.n, a.n",
	"From b In B Join s In (From a In A GroupBy a.g Select a.g, COUNT As c, SUM(a.x) As t, "
	"AVERAGE(a.x) As m) On s -> b Where s.c > 0 Select b.n, s.g, s.t - 1, s.m, s.c",
	"From b In B Join s In (From a In A Join c In C On c -> a Where a.x > 0 Select MIN(a.x) As "
	"l, MAX(c.x + a.x) As h, COUNT) On s -> b GroupBy b.g Select b.g, SUM(s.l), MAX(s.h)",
	"From b In B Join a In First(A) On a -> b Join s In (From c In C GroupBy c.x % 2 Select "
	"c.x % 2 As odd, COUNT As n) On s -> a Select b.n, a.n, s.odd + 1, s.n",
	"From b In B Join s In (From a In A, C GroupBy a.g Select a.g, PERCENTILE(a.x, 50) As m, "
	"COUNT As c, PERCENTILE(a.n, 99) As h, SUM(a.x) As t) On s -> b Select b.n, s.g, s.m, s.c, "
	"s.h, s.t",
	"From b In B Join s In (From a In A, B, C Select PERCENTILE(a.x / 3, 0) As l, "
	"PERCENTILE(a.n % 5, 100) As h) On s -> b GroupBy b.g Select b.g, SUM(s.l), MAX(s.h), "
	"PERCENTILE(s.h - s.l, 75), HISTOGRAM(s.l)",
	"From b In B Join s In (From a In A Join c In C On c -> a GroupBy a.g Select a.g, "
	"PERCENTILE(a.x * c.x, 33.3) As p) On s -> b Where s.p != null Select b.n, s.g, s.p",
	"From b In B Join a In First(A) On a -> b GroupBy a.g Select a.g, PERCENTILE(b.x, 90), "
	"HISTOGRAM(b.n), COUNT",
	"From b In A Join a In A On a -> b Join c In First(A) On c -> a Select b.n, a.n, c.n",
	"From b In B Join a In A On a -> b GroupBy a.x % 3, b.g Select a.x % 3, b.g, SUM(a.x * "
	"b.x), MIN(b.x)",
};
#define NR_QUERIES (sizeof(queries) / sizeof(*queries))

/* Words of a bag that holds next to nothing: room for an id of each slot, and for little more. */
static uint32_t room_of(const struct plan *p, uint64_t seed)
{
	static const uint32_t more[] = { 0, 8, 4, 16, 24 };

	return (uint32_t)(p->stages.nr * BAG_HEAD_WORDS) + more[seed % 5];
}

static void make_case(const char *text, unsigned rewrites, const struct tracepoints *points,
		      struct plan *p, struct advice_set *set, struct arena *arena)
{
	struct error err = { 0 };
	struct queries q;

	if (query_parse(str_of(text), arena, &q, &err) < 0 ||
	    query_plan(p, &q, rewrites, arena, &err) < 0 ||
	    advice_make(set, p, 1, points, 1, arena, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
}

static void advice_over_bags_answers_as_the_whole_run_does(void **state)
{
	static const unsigned sets[] = { REWRITE_ALL, 0, REWRITE_ALL & ~REWRITE_PROJECT,
					 REWRITE_ALL & ~(REWRITE_A_P | REWRITE_GA_P) };
	enum { NR_SETS = sizeof(sets) / sizeof(*sets) };
	static struct plan plans[NR_QUERIES][NR_SETS];
	static struct advice_set made[NR_QUERIES][NR_SETS];
	struct tracepoints points;
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct world w = { 0 };
	uint64_t nr_told = 0;

	(void)state;
	nr_finished = 0;
	assert_int_equal(tracepoints_parse(STR("a.tp"), str_of(points_text), &arena, &points, &err),
			 0);
	for (size_t i = 0; i < NR_QUERIES; i++)
		for (size_t k = 0; k < NR_SETS; k++)
			make_case(queries[i], sets[k], &points, &plans[i][k], &made[i][k], &arena);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		size_t i = seed % NR_QUERIES;
		struct str want;

		make_world(&w, seed * 7919);
		want = run_whole(&w, &plans[i][0]);
		nr_told += want.n > 0;
		for (size_t k = 0; k < NR_SETS; k++) {
			struct str got;

			assert_true(run_live(&w, &plans[i][k], &made[i][k], seed, 0, &got));
			if (!str_eq(got, want))
				fail_msg("seed %d, rewrites %u: %s\n" STR_FMT "is not\n" STR_FMT,
					 (int)seed, sets[k], queries[i], STR_ARG(got),
					 STR_ARG(want));
			assert_true(run_live(&w, &plans[i][k], &made[i][k], seed,
					     room_of(&plans[i][k], seed / NR_QUERIES), &got));
			if (!str_eq(got, want))
				fail_msg("seed %d, rewrites %u, spilled: %s\n" STR_FMT
					 "is not\n" STR_FMT,
					 (int)seed, sets[k], queries[i], STR_ARG(got),
					 STR_ARG(want));
		}
		arena_reset(&w.arena);
	}
	print_message("%d runs were finished elsewhere\n", (int)nr_finished);
	assert_true(nr_told > SEEDS / 4 && nr_finished > SEEDS);
	for (size_t i = 0; i < NR_QUERIES; i++)
		for (size_t k = 0; k < NR_SETS; k++) {
			query_plan_done(&plans[i][k]);
			advice_set_done(&made[i][k]);
		}
	names_done(&w.names);
	vec_done(&w.rows);
	arena_done(&w.arena);
	arena_done(&arena);
}

/* --- random queries --------------------------------------------------------------------------- */

#define PLANS 2500

static uint64_t one_of(uint64_t *seed, const char *const *v, size_t nr, struct buf *b)
{
	uint64_t i = next(seed) % nr;

	buf_add(b, str_of(v[i]));
	return i;
}
#define ONE_OF(seed, b, ...) \
	one_of(seed, (const char *const[]){ __VA_ARGS__ }, \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), b)

/* A number: of these aliases ("v0", "v1" …). */
static void random_number(struct buf *b, uint64_t *seed, size_t nr_aliases, int depth)
{
	if (depth && next(seed) % 3 == 0) {
		buf_char(b, '(');
		random_number(b, seed, nr_aliases, depth - 1);
		ONE_OF(seed, b, " + ", " - ", " * ", " % ");
		random_number(b, seed, nr_aliases, depth - 1);
		buf_char(b, ')');
	} else if (next(seed) % 6 == 0) {
		buf_fmt(b, "%d", (int)(next(seed) % 4));
	} else {
		buf_fmt(b, "v%zu", (size_t)(next(seed) % nr_aliases));
		ONE_OF(seed, b, ".x", ".n");
	}
}

static void random_condition(struct buf *b, uint64_t *seed, size_t nr_aliases, int depth)
{
	if (depth && next(seed) % 3 == 0) {
		ONE_OF(seed, b, "(", "not (");
		random_condition(b, seed, nr_aliases, depth - 1);
		ONE_OF(seed, b, " and ", " or ");
		random_condition(b, seed, nr_aliases, depth - 1);
		buf_char(b, ')');
	} else if (next(seed) % 4 == 0) {
		buf_fmt(b, "v%zu.g", (size_t)(next(seed) % nr_aliases));
		ONE_OF(seed, b, " = 'one'", " != 'two'", " = null", " != null");
	} else {
		random_number(b, seed, nr_aliases, 1);
		ONE_OF(seed, b, " < ", " >= ", " = ", " != ", " > ");
		random_number(b, seed, nr_aliases, 1);
	}
}

static void random_source(struct buf *b, uint64_t *seed, bool may_sum, bool *is_sum)
{
	*is_sum = may_sum && next(seed) % 5 == 0;
	if (*is_sum) {
		buf_add(b, STR("(From v0 In "));
		ONE_OF(seed, b, "A", "B", "A, C");
		ONE_OF(seed, b, "", " Join v1 In C On v1 -> v0", " Where v0.x > 0");
		ONE_OF(seed, b, " GroupBy v0.g Select v0.g As g, ", " Select 'all' As g, ");
		ONE_OF(seed, b, "SUM(v0.x)", "MIN(v0.x)", "MAX(v0.n) - MIN(v0.x)",
		       "PERCENTILE(v0.x, 50)", "PERCENTILE(v0.n, 90) - PERCENTILE(v0.x, 10)");
		buf_add(b, STR(" As x, COUNT As n)"));
	} else if (next(seed) % 5 == 0) {
		buf_add(b, STR("From v0 In "));
		ONE_OF(seed, b, "A", "B", "A, C");
		ONE_OF(seed, b, "", " Join v1 In First(C) On v1 -> v0",
		       " Join v1 In B On v1 -> v0");
		ONE_OF(seed, b, "", " Where v0.x != 1", " Where v0.x * 2 > v0.n");
		buf_add(b, STR(" Select v0.x + 1 As x, v0.n As n, v0.g As g"));
	} else {
		ONE_OF(seed, b, "A", "B", "C", "A, B", "B, C", "A, B, C");
	}
}

static void random_join(struct buf *b, uint64_t *seed, size_t nr, uint64_t *sums)
{
	struct buf source = { 0 };
	size_t after = next(seed) % nr, kind = next(seed) % 6;
	bool is_sum, is_query;

	random_source(&source, seed, kind == 0, &is_sum);
	is_query = str_starts(buf_str(&source), STR("From"));
	while (*sums >> after & 1)
		after--;
	buf_fmt(b, " Join v%zu In ", nr);
	if (is_sum || (kind == 0 && !is_query))
		buf_fmt(b, STR_FMT, STR_ARG(buf_str(&source)));
	else if (kind < 2)
		buf_fmt(b, "All(" STR_FMT ")", STR_ARG(buf_str(&source)));
	else if (kind < 4)
		buf_fmt(b, "%s(" STR_FMT ")", kind == 2 ? "First" : "MostRecent",
			STR_ARG(buf_str(&source)));
	else
		buf_fmt(b, "%s(%d, " STR_FMT ")", kind == 4 ? "FirstN" : "MostRecentN",
			(int)(1 + next(seed) % 3), STR_ARG(buf_str(&source)));
	buf_fmt(b, " On v%zu -> v%zu", nr, after);
	*sums |= (uint64_t)is_sum << nr;
	buf_done(&source);
}

static void random_query(struct buf *b, uint64_t *seed)
{
	size_t nr = 1, joins = next(seed) % 4;
	uint64_t sums = 0;

	buf_add(b, STR("From v0 In "));
	ONE_OF(seed, b, "A", "B", "C", "A, B");
	for (; joins--; nr++)
		random_join(b, seed, nr, &sums);
	for (uint64_t i = next(seed) % 3; i--;) {
		buf_add(b, STR(" Where "));
		random_condition(b, seed, nr, 2);
	}
	if (next(seed) % 3) {
		size_t by = next(seed) % nr;

		ONE_OF(seed, b, " GroupBy ", " GroupBy v0.n % 2, ");
		buf_fmt(b, "v%zu.g Select v%zu.g, COUNT", by, by);
		for (uint64_t i = next(seed) % 4; i--;) {
			uint64_t f = ONE_OF(seed, b, ", SUM(", ", MIN(", ", MAX(", ", AVERAGE(",
					    ", COUNT(", ", PERCENTILE(");

			random_number(b, seed, nr, 2);
			buf_add(b, f == 5 ? STR(", 50)") : STR(")"));
		}
		return;
	}
	buf_add(b, STR(" Select v0.n, "));
	random_number(b, seed, nr, 2);
	buf_fmt(b, ", v%zu.g", (size_t)(next(seed) % nr));
}

/* Many plans, many executions. What does not fit says so, and is never silently wrong. */
static void random_queries_answer_as_the_whole_run_does(void **state)
{
	struct tracepoints points;
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct world w = { 0 };
	uint64_t nr_told = 0, nr_whole = 0, nr_spilled_whole = 0, nr = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= PLANS; seed++, arena_reset(&arena)) {
		uint64_t state_of = seed * 104729;
		struct buf text = { 0 };
		struct advice_set set;
		struct plan p;

		random_query(&text, &state_of);
		buf_char(&text, 0);
		assert_int_equal(
			tracepoints_parse(STR("a"), str_of(points_text), &arena, &points, &err), 0);
		make_case(text.p, seed % 3 ? REWRITE_ALL : next(&state_of) % (REWRITE_ALL + 1),
			  &points, &p, &set, &arena);
		for (uint64_t k = 0; k < 4; k++, nr++) {
			struct str want, got;
			bool is_whole;

			make_world(&w, seed * 31 + k * 7919);
			want = run_whole(&w, &p);
			is_whole = run_live(&w, &p, &set, seed + k, 0, &got);
			nr_told += want.n > 0;
			nr_whole += is_whole;
			if (is_whole && !str_eq(got, want))
				fail_msg("plan %d, execution %d: %s\n" STR_FMT "is not\n" STR_FMT,
					 (int)seed, (int)k, text.p, STR_ARG(got), STR_ARG(want));
			is_whole = run_live(&w, &p, &set, seed + k, room_of(&p, seed + k), &got);
			nr_spilled_whole += is_whole;
			if (is_whole && !str_eq(got, want))
				fail_msg("plan %d, execution %d, spilled: %s\n" STR_FMT
					 "is not\n" STR_FMT,
					 (int)seed, (int)k, text.p, STR_ARG(got), STR_ARG(want));
			arena_reset(&w.arena);
		}
		query_plan_done(&p);
		advice_set_done(&set);
		buf_done(&text);
	}
	print_message("%d runs were finished elsewhere\n", (int)nr_finished);
	assert_true(nr_told > nr / 4 && nr_whole > nr * 9 / 10 && nr_spilled_whole > nr * 9 / 10 &&
		    nr_finished > nr / 4);
	names_done(&w.names);
	vec_done(&w.rows);
	arena_done(&w.arena);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_queries_answer_as_the_whole_run_does),
		cmocka_unit_test(advice_over_bags_answers_as_the_whole_run_does),
	};

	return RUN(tests);
}
