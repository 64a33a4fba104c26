/* Advice in the form of the paper: OBSERVE, UNPACK, FILTER, PACK, EMIT. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/buf.h"
#include "query/plan.h"

static const char *const op_text[] = {
	[OP_OR] = " or ", [OP_AND] = " and ", [OP_NOT] = "not ", [OP_EQ] = " = ",  [OP_NE] = " != ",
	[OP_LT] = " < ",  [OP_LE] = " <= ",   [OP_GT] = " > ",   [OP_GE] = " >= ", [OP_ADD] = " + ",
	[OP_SUB] = " - ", [OP_MUL] = " * ",   [OP_DIV] = " / ",  [OP_MOD] = " % ", [OP_NEG] = "-",
};

static const char *const aggregate_text[] = {
	[AGGREGATE_COUNT] = "COUNT",
	[AGGREGATE_SUM] = "SUM",
	[AGGREGATE_MIN] = "MIN",
	[AGGREGATE_MAX] = "MAX",
	[AGGREGATE_AVERAGE] = "AVERAGE",
	[AGGREGATE_PERCENTILE] = "PERCENTILE",
	[AGGREGATE_HISTOGRAM] = "HISTOGRAM",
};

static void show_part(struct buf *b, const struct plan *p, const struct expr *e)
{
	bool in_brackets = e->kind == EXPR_BINARY;

	buf_add(b, in_brackets ? STR("(") : STR(""));
	expr_show(b, p, e);
	buf_add(b, in_brackets ? STR(")") : STR(""));
}

static void show_aggregate(struct buf *b, const struct plan *p, const struct expr *e)
{
	buf_add(b, str_of(aggregate_text[e->function]));
	if (!e->a)
		return;
	buf_char(b, '(');
	expr_show(b, p, e->a);
	if (e->function == AGGREGATE_PERCENTILE)
		buf_fmt(b, ", %g", e->d);
	buf_char(b, ')');
}

void expr_show(struct buf *b, const struct plan *p, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_INT:
		buf_fmt(b, "%" PRId64, e->i);
		return;
	case EXPR_DOUBLE:
		buf_fmt(b, "%g", e->d);
		return;
	case EXPR_BOOL:
		buf_add(b, e->i ? STR("true") : STR("false"));
		return;
	case EXPR_NULL:
		buf_add(b, STR("null"));
		return;
	case EXPR_TEXT:
		buf_fmt(b, "'" STR_FMT "'", STR_ARG(e->text));
		return;
	case EXPR_NAME:
		if (e->a)
			show_part(b, p, e->a);
		else
			buf_add(b, p->variables.v[e->number].shown);
		return;
	case EXPR_AGGREGATE:
		show_aggregate(b, p, e);
		return;
	case EXPR_UNARY:
		buf_add(b, str_of(op_text[e->op]));
		show_part(b, p, e->a);
		return;
	case EXPR_BINARY:
		show_part(b, p, e->a);
		buf_add(b, str_of(op_text[e->op]));
		show_part(b, p, e->b);
		return;
	}
}

static void comma(struct buf *b, size_t from)
{
	if (b->n > from)
		buf_add(b, STR(", "));
}

static void end_line(struct advice *a, struct buf *b, struct arena *arena)
{
	vec_push(&a->operations, arena_str(arena, buf_str(b)));
	buf_clear(b);
}

static void say_filters(const struct plan *p, struct expr *const *v, size_t nr, struct advice *a,
			struct buf *b, struct arena *arena)
{
	for (size_t i = 0; i < nr; i++) {
		buf_add(b, STR("FILTER "));
		expr_show(b, p, v[i]);
		end_line(a, b, arena);
	}
}

/* COUNT stands for how many tuples were put together. */
static void say_packed(const struct plan *p, const struct stage *s, struct buf *b)
{
	size_t from = b->n;

	vec_each (&s->packed, v) {
		comma(b, from);
		buf_add(b, p->variables.v[*v].shown);
	}
	vec_each (&s->partials, t) {
		comma(b, from);
		expr_show(b, p, p->output.aggregates.v[*t]);
	}
	if (s->is_grouped) {
		comma(b, from);
		buf_add(b, STR("COUNT"));
	}
}

static void say_unpacks(const struct plan *p, const struct stage *s, struct advice *a,
			struct buf *b, struct arena *arena)
{
	vec_each (&s->children, c) {
		const struct stage *child = &p->stages.v[*c];
		size_t from;

		buf_add(b, STR("UNPACK "));
		from = b->n;
		if (child->output)
			vec_each (&child->output->selects, one) {
				comma(b, from);
				expr_show(b, p, one->expr);
			}
		else
			say_packed(p, child, b);
		end_line(a, b, arena);
	}
}

static void say_pack(const struct plan *p, const struct stage *s, struct buf *b)
{
	buf_add(b, STR("PACK"));
	if (s->take != TAKE_ALL)
		buf_add(b, s->take == TAKE_FIRST ? STR("-FIRST") : STR("-RECENT"));
	if (s->take != TAKE_ALL && s->at_most > 1)
		buf_fmt(b, "N(%u)", s->at_most);
	buf_char(b, ' ');
	if (!s->packed.nr && !s->partials.nr && !s->is_grouped)
		buf_add(b, STR("()"));
	say_packed(p, s, b);
}

static void say_emit(const struct plan *p, struct buf *b)
{
	size_t from;

	buf_add(b, STR("EMIT "));
	from = b->n;
	vec_each (&p->output.selects, s) {
		comma(b, from);
		expr_show(b, p, s->expr);
	}
}

static void say_stage(const struct plan *p, uint32_t stage, struct advices *all,
		      struct arena *arena)
{
	const struct stage *s = &p->stages.v[stage];
	struct advice a = { .stage = stage };
	struct buf b = { 0 };
	size_t from;

	buf_add(&b, STR("OBSERVE "));
	from = b.n;
	vec_each (&s->observed, v) {
		comma(&b, from);
		buf_add(&b, p->variables.v[*v].shown);
	}
	if (b.n == from)
		buf_add(&b, STR("()"));
	end_line(&a, &b, arena);
	say_filters(p, s->early.v, s->early.nr, &a, &b, arena);
	say_unpacks(p, s, &a, &b, arena);
	say_filters(p, s->late.v, s->late.nr, &a, &b, arena);
	say_filters(p, s->last.v, s->last.nr, &a, &b, arena);
	if (stage)
		say_pack(p, s, &b);
	else
		say_emit(p, &b);
	end_line(&a, &b, arena);
	vec_push(&all->v, a);
	buf_done(&b);
}

void plan_explain(const struct plan *p, struct arena *arena, struct advices *a)
{
	for (size_t i = p->stages.nr; i-- > 0;)
		say_stage(p, (uint32_t)i, a, arena);
}

void advices_done(struct advices *a)
{
	vec_each (&a->v, one)
		vec_done(&one->operations);
	vec_done(&a->v);
}

const char *rewrite_name(enum rewrite r)
{
	switch (r) {
	case REWRITE_A_P:
		return "A_p";
	case REWRITE_GA_P:
		return "GA_p";
	case REWRITE_GA_Q:
		return "GA_q";
	case REWRITE_G_P_A_Q:
		return "G_pA_q";
	case REWRITE_G_Q_A_P:
		return "G_qA_p";
	default:
		return "";
	}
}
