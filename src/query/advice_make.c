/* All of a plan's advice, and what is to be said about it before it is installed. */
#include <errno.h>

#include "base/arena.h"
#include "base/error.h"
#include "lib/advice/bag.h"
#include "query/advice_compile.h"
#include "query/advice_verify.h"
#include "query/lex.h"
#include "query/near.h"
#include "query/total.h"

#define TEXT_GUESS 24 /* bytes of a text, where nothing else is known */
/* of a group with one value and no other key: head, number, value */
#define VALUE_BYTES (sizeof(struct bag_entry) + 8 + 16)

struct maker {
	struct advice_set *set;
	const struct plan *p;
	uint32_t query;
	const struct tracepoints *files;
	size_t nr_files;
	struct arena *arena;
	struct error *err;
};

void advice_set_done(struct advice_set *set)
{
	vec_done(&set->v);
	vec_done(&set->warnings);
}

/* --- fields ----------------------------------------------------------------------------------- */

static int unknown_field(struct maker *m, const struct stage *s, const struct variable *v)
{
	struct near near;

	near_begin(&near, v->field);
	for (int i = 0; i < ADVICE_INPUT_OWN; i++)
		near_offer(&near, tracepoint_default((enum advice_input)i));
	for (size_t i = 0; i < s->nr_points; i++) {
		const struct tracepoint *t =
			tracepoints_find(m->files, m->nr_files, s->points[i].name);

		for (size_t k = 0; k < t->nr_exports; k++)
			near_offer(&near, t->exports[k].name);
	}
	if (near.best.n)
		return lex_error(m->p->text, v->place, m->err,
				 "'" STR_FMT "' exports no '" STR_FMT "'; did you mean '" STR_FMT
				 "'?",
				 STR_ARG(s->points[0].name), STR_ARG(v->field), STR_ARG(near.best));
	return lex_error(m->p->text, v->place, m->err, "'" STR_FMT "' exports no '" STR_FMT "'",
			 STR_ARG(s->points[0].name), STR_ARG(v->field));
}

/* Of a union, one that has it is enough. */
static int check_fields(struct maker *m, const struct stage *s)
{
	vec_each (&s->observed, number) {
		const struct variable *v = &m->p->variables.v[*number];
		bool is_known = false;

		for (size_t i = 0; i < s->nr_points; i++)
			is_known |= tracepoint_input(tracepoints_find(m->files, m->nr_files,
								      s->points[i].name),
						     v->field) >= 0;
		if (!is_known)
			return unknown_field(m, s, v);
	}
	return 0;
}

/* --- what it will cost ------------------------------------------------------------------------ */

static enum value_type type_of(const struct tracepoint *t, struct str field)
{
	int input = tracepoint_input(t, field);

	if (input >= ADVICE_INPUT_OWN)
		return t->exports[input - ADVICE_INPUT_OWN].type;
	return input == ADVICE_INPUT_TIME || input == ADVICE_INPUT_PROC_ID ||
			       input == ADVICE_INPUT_THREAD
		       ? VALUE_INT
		       : VALUE_TEXT;
}

/* Bytes that one event with one tuple takes of a bag. Where all are kept they share a head. */
static size_t tuple_bytes(struct maker *m, const struct stage *s)
{
	bool is_shared = s->take == TAKE_ALL && !s->is_grouped;
	size_t bytes = (is_shared ? 0 : sizeof(struct bag_entry)) + 8 + s->partials.nr * 24;

	vec_each (&s->packed, number) {
		const struct variable *v = &m->p->variables.v[*number];
		const struct stage *of = &m->p->stages.v[v->stage];
		const struct tracepoint *t =
			of->nr_points ? tracepoints_find(m->files, m->nr_files, of->points[0].name)
				      : NULL;
		bool is_text = v->field.n && t && type_of(t, v->field) == VALUE_TEXT;

		bytes += is_text ? 8 + TEXT_GUESS : 16;
	}
	return bytes;
}

/* Of an aggregated query, where it packs each value by itself. */
static void warn_of_values(struct maker *m, uint32_t stage)
{
	const struct stage *s = &m->p->stages.v[stage];
	struct advice_warning w = { .stage = stage };

	vec_each (&s->output->aggregates, a) {
		if (aggregate_is_small((*a)->function))
			continue;
		w.text = arena_fmt(m->arena,
				   "'" STR_FMT "' packs every different value of a PERCENTILE; a "
				   "request carries about %zu of them, and what is beyond is told "
				   "by itself and joined outside, which costs more",
				   STR_ARG(s->alias), BAG_WORDS * 8 / VALUE_BYTES);
		vec_push(&m->set->warnings, w);
		return;
	}
}

static void warn_of_size(struct maker *m, uint32_t stage)
{
	const struct stage *s = &m->p->stages.v[stage];
	size_t bytes = tuple_bytes(m, s), fit = BAG_WORDS * 8 / bytes;
	struct advice_warning w = { .stage = stage };

	if (s->output)
		warn_of_values(m, stage);
	if (!stage || s->is_grouped || s->output)
		return;
	if (s->take != TAKE_ALL && s->at_most <= fit)
		return;
	w.text = arena_fmt(
		m->arena,
		"'" STR_FMT "' packs %s, and a request carries about %zu of them (%zu bytes each): "
		"what is beyond is told by itself and joined outside, which costs more. First, "
		"MostRecent or an aggregate of it carries less",
		STR_ARG(s->alias),
		s->take == TAKE_ALL ? "every tuple" : "more tuples than it has room for", fit,
		bytes);
	vec_push(&m->set->warnings, w);
}

static void warn_of_text(struct maker *m, uint32_t stage, const struct expr *e);

static bool is_text_variable(struct maker *m, const struct expr *e)
{
	const struct variable *v;
	const struct stage *s;

	if (!e || e->kind != EXPR_NAME)
		return false;
	if (e->a)
		return is_text_variable(m, e->a);
	v = &m->p->variables.v[e->number];
	s = &m->p->stages.v[v->stage];
	if (!v->field.n || !s->nr_points)
		return false;
	for (size_t i = 0; i < s->nr_points; i++) {
		const struct tracepoint *t =
			tracepoints_find(m->files, m->nr_files, s->points[i].name);

		if (!t || type_of(t, v->field) != VALUE_TEXT)
			return false;
	}
	return true;
}

static void warn_one(struct maker *m, uint32_t stage, const struct expr *e)
{
	struct advice_warning w = { .stage = stage };

	if (!is_text_variable(m, e))
		return;
	w.text = arena_fmt(m->arena,
			   "'" STR_FMT "' is text, and a number is needed: where it is not written "
			   "like one the value is missing, which is counted",
			   STR_ARG(str_head(str_skip(m->p->text, e->place.at), e->place.length)));
	vec_push(&m->set->warnings, w);
}

/* Where a number is needed and text is exported. */
static void warn_of_text(struct maker *m, uint32_t stage, const struct expr *e)
{
	if (!e)
		return;
	if ((e->kind == EXPR_BINARY && e->op >= OP_ADD) ||
	    (e->kind == EXPR_UNARY && e->op == OP_NEG)) {
		warn_one(m, stage, e->a);
		warn_one(m, stage, e->b);
	}
	if (e->kind == EXPR_AGGREGATE && e->function != AGGREGATE_COUNT &&
	    e->function != AGGREGATE_MIN && e->function != AGGREGATE_MAX)
		warn_one(m, stage, e->a);
	warn_of_text(m, stage, e->a);
	warn_of_text(m, stage, e->b);
}

static void warn_of_types(struct maker *m)
{
	for (uint32_t i = 0; i < m->p->stages.nr; i++) {
		vec_each (&m->p->stages.v[i].early, e)
			warn_of_text(m, i, *e);
		vec_each (&m->p->stages.v[i].late, e)
			warn_of_text(m, i, *e);
		vec_each (&m->p->stages.v[i].last, e)
			warn_of_text(m, i, *e);
	}
	vec_each (&m->p->output.aggregates, a)
		warn_of_text(m, 0, *a);
	for (size_t i = 0; !m->p->output.is_aggregated && i < m->p->output.selects.nr; i++)
		warn_of_text(m, 0, m->p->output.selects.v[i].expr);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int refuse_size(struct maker *m, const struct stage *s, const struct advice_bounds *b)
{
	return lex_error(m->p->text, s->points[0].place, m->err,
			 "a tuple of this can take %zu bytes, and a request carries %zu",
			 b->tuple_bytes, (size_t)BAG_WORDS * 8);
}

/* Its thread would have gone on before the tuple is in its bag. */
static int refuse_outside(struct maker *m, const struct source_name *s)
{
	return lex_error(m->p->text, s->place, m->err,
			 "'" STR_FMT
			 "' cannot be joined: a system call is watched from outside the "
			 "program, and packs nothing; ask From it, and join what happened before",
			 STR_ARG(s->name));
}

static int make_stage(struct maker *m, uint32_t stage)
{
	const struct stage *s = &m->p->stages.v[stage];
	int got = 0;

	for (size_t i = 0; i < s->nr_points; i++)
		if (!tracepoints_find(m->files, m->nr_files, s->points[i].name))
			return tracepoint_unknown(m->p->text, &s->points[i], m->files, m->nr_files,
						  m->err);
	got = check_fields(m, s);
	for (size_t i = 0; i < s->nr_points && got >= 0; i++) {
		struct woven w = { .stage = stage };
		struct advice_bounds bounds;

		w.tracepoint = tracepoints_find(m->files, m->nr_files, s->points[i].name);
		got = advice_compile(m->p, stage, m->query, w.tracepoint, &w.program, m->err);
		if (got >= 0)
			got = advice_verify(&w.program, &bounds, m->err);
		if (got >= 0 && !(w.program.flags & ADVICE_EMITS) &&
		    tracepoint_is_at(w.tracepoint, WHERE_SYSCALL))
			got = refuse_outside(m, &s->points[i]);
		if (got >= 0 && stage && !bounds.nr_fitting)
			got = refuse_size(m, s, &bounds);
		w.program.piece = (uint16_t)m->set->v.nr;
		if (got >= 0)
			vec_push(&m->set->v, w);
	}
	return got;
}

int advice_make(struct advice_set *set, const struct plan *p, uint32_t query,
		const struct tracepoints *files, size_t nr_files, struct arena *arena,
		struct error *err)
{
	struct maker m = { set, p, query, files, nr_files, arena, err };
	int got = 0;

	*set = (struct advice_set){ 0 };
	for (uint32_t i = 0; i < p->stages.nr && got >= 0; i++)
		got = make_stage(&m, i);
	if (got < 0) {
		advice_set_done(set);
		*set = (struct advice_set){ 0 };
		return got;
	}
	for (uint32_t i = 0; i < p->stages.nr; i++)
		warn_of_size(&m, i);
	warn_of_types(&m);
	return 0;
}
