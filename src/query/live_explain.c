#include "query/live_explain.h"

#include "base/arena.h"
#include "base/error.h"
#include "model/live.h"
#include "query/advice_compile.h"
#include "query/advice_verify.h"
#include "query/parse.h"
#include "query/plan.h"

/* --- words ------------------------------------------------------------------------------------ */

static struct str where_of(const struct tracepoint *t, struct arena *arena)
{
	const struct tracepoint_place *at = t->places;

	if (!t->nr_places)
		return STR("");
	return arena_fmt(arena, "%s " STR_FMT "%s" STR_FMT " %s%s",
			 tracepoint_where_name(at->where), STR_ARG(at->binary),
			 !at->binary.n                 ? ""
			 : at->where == WHERE_FUNCTION ? "!"
						       : ":",
			 STR_ARG(at->name), tracepoint_moment_name(at->moment),
			 t->nr_places > 1 ? ", and more" : "");
}

/* Whether another definition of its name goes before it. */
static bool is_hidden(const struct live_known *k, const struct tracepoint *t)
{
	return tracepoints_find(k->files, k->nr, t->name) != t;
}

static void tell_word(const struct tracepoint *t, struct arena *arena,
		      void (*each)(void *to, const struct live_word *w), void *to)
{
	struct str *fields = arena_array(arena, struct str, t->nr_exports + 1);
	const struct live_word w = { t->name, where_of(t, arena), fields, t->nr_exports };

	for (size_t i = 0; i < t->nr_exports; i++)
		fields[i] = t->exports[i].name;
	each(to, &w);
	arena_reset(arena);
}

void live_known_words(const struct live_known *k, void (*each)(void *to, const struct live_word *w),
		      void *to)
{
	struct arena arena = { 0 };

	for (size_t f = 0; f < k->nr; f++)
		for (size_t i = 0; i < k->files[f].nr; i++)
			if (!is_hidden(k, &k->files[f].v[i]))
				tell_word(&k->files[f].v[i], &arena, each, to);
	arena_done(&arena);
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool is_of(const struct plan *plan, const struct tracepoint *t)
{
	vec_each (&plan->stages, s)
		for (size_t i = 0; i < s->nr_points; i++)
			if (str_eq(s->points[i].name, t->name))
				return true;
	return false;
}

void live_known_of(const struct live_known *k, const struct plan *plan, struct buf *text)
{
	for (size_t f = 0; f < k->nr; f++)
		for (size_t i = 0; i < k->files[f].nr; i++) {
			const struct tracepoint *t = &k->files[f].v[i];

			if (is_hidden(k, t) || !is_of(plan, t))
				continue;
			buf_add(text, t->text);
			buf_char(text, '\n');
		}
}

void live_measure_text(const struct plan *plan, uint32_t stage, struct buf *text)
{
	const struct stage *s = &plan->stages.v[stage];

	buf_add(text, STR("From e In "));
	for (size_t i = 0; i < s->nr_points; i++) {
		struct str name = s->points[i].name;

		buf_add(text, i ? STR(", `") : STR("`"));
		for (size_t k = 0; k < name.n; k++) {
			if (name.p[k] == '`')
				buf_char(text, '`');
			buf_char(text, name.p[k]);
		}
		buf_char(text, '`');
	}
	buf_add(text, STR(" Select COUNT"));
}

/* --- explaining ------------------------------------------------------------------------------- */

/* What the programs of one stage can pack, at the most. */
static void add_bounds(const struct advice_set *set, uint32_t stage, struct live_advice *a)
{
	struct error err;

	vec_each (&set->v, w) {
		struct advice_bounds b = { 0 };
		size_t nr;

		if (w->stage != stage || advice_verify(&w->program, &b, &err) < 0 || !b.tuple_bytes)
			continue;
		nr = b.nr_kept < b.nr_fitting ? b.nr_kept : b.nr_fitting;
		if ((double)nr > a->tuples)
			a->tuples = (double)nr;
		if ((double)nr * (double)b.tuple_bytes > a->bytes)
			a->bytes = (double)nr * (double)b.tuple_bytes;
	}
}

static void explain_stage(const struct plan *plan, const struct advice_set *set,
			  const struct advice *from, size_t number, struct arena *arena,
			  struct live_advice *a)
{
	const struct stage *s = &plan->stages.v[from->stage];
	struct str *at = arena_array(arena, struct str, s->nr_points + 1);

	*a = (struct live_advice){ .name = arena_fmt(arena, "A%zu", number),
				   .operations = from->operations.v,
				   .nr_operations = from->operations.nr,
				   .at = at,
				   .nr_at = s->nr_points,
				   .tuples = -1,
				   .bytes = -1,
				   .per_second = -1 };
	for (size_t i = 0; i < s->nr_points; i++)
		at[i] = s->points[i].name;
	if (!from->stage)
		return;
	if (s->is_grouped)
		a->rule = str_of(rewrite_name(s->rule));
	add_bounds(set, from->stage, a);
}

static int explain(const struct live_known *k, const struct plan *plan, const double *per_second,
		   struct arena *arena, void (*each)(void *to, const struct live_advice *a),
		   void *to, struct error *err)
{
	struct advice_set set = { 0 };
	struct advices all = { 0 };
	int got = advice_make(&set, plan, 0, k->files, k->nr, arena, err);

	if (got >= 0)
		plan_explain(plan, arena, &all);
	for (size_t i = 0; i < all.v.nr; i++) {
		struct live_advice a;

		explain_stage(plan, &set, &all.v.v[i], i + 1, arena, &a);
		if (per_second)
			a.per_second = per_second[all.v.v[i].stage];
		vec_each (&set.warnings, w)
			if (w->stage == all.v.v[i].stage)
				a.warning = w->text;
		each(to, &a);
	}
	advices_done(&all);
	advice_set_done(&set);
	return got;
}

int live_explain_query(const struct live_known *k, struct str text, const double *per_second,
		       void (*each)(void *to, const struct live_advice *a), void *to,
		       struct error *err)
{
	struct arena arena = { 0 };
	struct queries queries;
	struct plan plan;
	int got = query_parse(text, &arena, &queries, err);

	if (got >= 0)
		got = query_plan(&plan, &queries, REWRITE_ALL, &arena, err);
	if (got >= 0) {
		got = explain(k, &plan, per_second, &arena, each, to, err);
		query_plan_done(&plan);
	}
	arena_done(&arena);
	return got;
}
