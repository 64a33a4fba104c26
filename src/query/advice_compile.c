/* One stage at one tracepoint, in the order in which src/query/run.c does it. */
#include "query/advice_compile.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "query/advice_verify.h"
#include "query/lex.h"
#include "query/total.h"

#define NOWHERE UINT32_MAX

struct compiler {
	const struct plan *p;
	const struct stage *s;
	const struct tracepoint *t;
	struct advice_program *to;
	uint32_t of[VARIABLES_MAX]; /* the register of a variable, or NOWHERE */
	uint32_t next;              /* registers from here on are free */
	const struct output *sums;  /* of what is summed up: its keys and aggregates stand … */
	uint32_t sums_at;           /* … in registers from here on */
	struct advice_shape shape;  /* of sums */
	struct error *err;
};

static void shape_of(const struct output *o, struct advice_shape *shape)
{
	uint32_t nr_totals = 0;

	shape->nr_keys = o->is_aggregated ? o->keys.nr : o->selects.nr;
	shape->nr_columns = shape->nr_keys;
	for (size_t i = 0; i < o->aggregates.nr; i++) {
		bool is_small = aggregate_is_small(o->aggregates.v[i]->function);

		shape->total_of[i] = is_small ? nr_totals++ : UINT32_MAX;
		shape->column_of[i] = is_small ? UINT32_MAX : (uint32_t)shape->nr_columns++;
	}
}

static int too_large(struct compiler *c, struct place at, const char *of, int most)
{
	return lex_error(c->p->text, at, c->err,
			 "this is too large to run where requests run: it needs more than %d %s",
			 most, of);
}

static struct place place_of(const struct compiler *c)
{
	return c->s->nr_points ? c->s->points[0].place : (struct place){ 0 };
}

static int add_op(struct compiler *c, struct advice_operation o, struct place at)
{
	if (c->to->nr_ops == ADVICE_OPS)
		return too_large(c, at, "operations", ADVICE_OPS);
	c->to->ops[c->to->nr_ops++] = o;
	return 0;
}

/* A register of its own for what follows; negative: there is none. */
static int take_registers(struct compiler *c, uint32_t nr, struct place at)
{
	uint32_t first = c->next;

	if (first + nr > ADVICE_REGISTERS)
		return too_large(c, at, "values at a time", ADVICE_REGISTERS);
	c->next += nr;
	return (int)first;
}

/* --- expressions ------------------------------------------------------------------------------ */

/* The number of a constant, each of which is there once. */
static int number_constant(struct compiler *c, const struct advice_constant *k, struct place at)
{
	struct advice_program *to = c->to;
	uint32_t nr = 0;

	while (nr < to->nr_constants && memcmp(&to->constants[nr], k, sizeof(*k)) != 0)
		nr++;
	if (nr == ADVICE_CONSTANTS)
		return too_large(c, at, "constants", ADVICE_CONSTANTS);
	if (nr == to->nr_constants)
		to->constants[to->nr_constants++] = *k;
	return (int)nr;
}

static int add_constant(struct compiler *c, const struct advice_constant *k, struct place at)
{
	struct advice_operation o = { .op = ADVICE_CONST };
	int reg = take_registers(c, 1, at);
	int nr = reg < 0 ? reg : number_constant(c, k, at);

	if (nr < 0)
		return nr;
	o.to = (uint8_t)reg;
	o.n = (uint32_t)nr;
	return add_op(c, o, at) < 0 ? -EINVAL : reg;
}

static void set_real(struct advice_constant *k, double d)
{
	k->type = ADVICE_REAL;
	memcpy(&k->number, &d, sizeof(k->number));
}

static int compile_constant(struct compiler *c, const struct expr *e)
{
	struct advice_constant k;

	memset(&k, 0, sizeof(k));
	switch (e->kind) {
	case EXPR_INT:
		k.type = ADVICE_INT;
		k.number = e->i;
		break;
	case EXPR_BOOL:
		k.type = ADVICE_BOOL;
		k.number = e->i;
		break;
	case EXPR_DOUBLE:
		set_real(&k, e->d);
		break;
	case EXPR_TEXT:
		if (e->text.n > ADVICE_TEXT)
			return lex_error(c->p->text, e->place, c->err,
					 "texts have at most %d bytes where requests run",
					 ADVICE_TEXT);
		k.type = ADVICE_TEXTUAL;
		k.length = (uint8_t)e->text.n;
		memcpy(k.text, e->text.p, e->text.n);
		break;
	default:
		break;
	}
	return add_constant(c, &k, e->place);
}

static int compile_expr(struct compiler *c, const struct expr *e);

static int compile_null(struct compiler *c, const struct expr *e)
{
	const struct expr *of = e->a->kind == EXPR_NULL ? e->b : e->a;
	uint8_t op = e->op == OP_EQ ? ADVICE_IS_NULL : ADVICE_IS_NOT_NULL;
	struct expr never = { .kind = EXPR_BOOL, .place = e->place };
	int a, reg;

	if (e->op != OP_EQ && e->op != OP_NE)
		return compile_constant(c, &never);
	a = compile_expr(c, of);
	reg = a < 0 ? a : take_registers(c, 1, e->place);
	if (reg >= 0 &&
	    add_op(c, (struct advice_operation){ op, (uint8_t)reg, (uint8_t)a, (uint8_t)a, 0 },
		   e->place) < 0)
		return -EINVAL;
	return reg;
}

static int compile_operator(struct compiler *c, const struct expr *e)
{
	static const uint8_t ops[] = {
		[OP_OR] = ADVICE_OR,   [OP_AND] = ADVICE_AND, [OP_NOT] = ADVICE_NOT,
		[OP_EQ] = ADVICE_EQ,   [OP_NE] = ADVICE_NE,   [OP_LT] = ADVICE_LT,
		[OP_LE] = ADVICE_LE,   [OP_GT] = ADVICE_GT,   [OP_GE] = ADVICE_GE,
		[OP_ADD] = ADVICE_ADD, [OP_SUB] = ADVICE_SUB, [OP_MUL] = ADVICE_MUL,
		[OP_DIV] = ADVICE_DIV, [OP_MOD] = ADVICE_MOD, [OP_NEG] = ADVICE_NEG,
	};
	struct advice_operation o = { .op = ops[e->op] };
	uint32_t before = c->next;
	int a, b = 0, reg;

	if (e->b && e->op >= OP_EQ && e->op <= OP_GE &&
	    (e->a->kind == EXPR_NULL || e->b->kind == EXPR_NULL))
		return compile_null(c, e);
	a = compile_expr(c, e->a);
	if (a >= 0 && e->b)
		b = compile_expr(c, e->b);
	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	c->next = before; /* its parts are read before it is set */
	reg = take_registers(c, 1, e->place);
	if (reg < 0)
		return reg;
	o.to = (uint8_t)reg;
	o.a = (uint8_t)a;
	o.b = e->b ? (uint8_t)b : (uint8_t)a;
	return add_op(c, o, e->place) < 0 ? -EINVAL : reg;
}

/* A key or an aggregate of what was summed up. */
static bool find_sum(const struct compiler *c, const struct expr *e, int *reg)
{
	if (!c->sums)
		return false;
	for (size_t i = 0; i < c->sums->keys.nr; i++)
		if (expr_same(c->sums->keys.v[i], e)) {
			*reg = (int)(c->sums_at + i);
			return true;
		}
	if (e->kind != EXPR_AGGREGATE)
		return false;
	*reg = (int)(c->sums_at + (c->shape.total_of[e->number] == UINT32_MAX
					   ? c->shape.column_of[e->number]
					   : c->shape.nr_columns + c->shape.total_of[e->number]));
	return true;
}

static int compile_expr(struct compiler *c, const struct expr *e)
{
	int reg;

	if (find_sum(c, e, &reg))
		return reg;
	switch (e->kind) {
	case EXPR_NAME:
		if (e->a)
			return compile_expr(c, e->a);
		if (c->of[e->number] == NOWHERE)
			return lex_error(c->p->text, e->place, c->err,
					 "this cannot be known where requests run");
		return (int)c->of[e->number];
	case EXPR_UNARY:
	case EXPR_BINARY:
		return compile_operator(c, e);
	case EXPR_AGGREGATE:
		return lex_error(c->p->text, e->place, c->err,
				 "an aggregate has no value before all rows were seen");
	default:
		return compile_constant(c, e);
	}
}

static int compile_filters(struct compiler *c, struct expr *const *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t before = c->next;
		int a = compile_expr(c, v[i]);

		if (a < 0 ||
		    add_op(c, (struct advice_operation){ ADVICE_FILTER, 0, (uint8_t)a, 0, 0 },
			   v[i]->place) < 0)
			return -EINVAL;
		c->next = before;
	}
	return 0;
}

/* --- observing and unpacking ------------------------------------------------------------------ */

static int compile_observed(struct compiler *c)
{
	vec_each (&c->s->observed, v) {
		const struct variable *variable = &c->p->variables.v[*v];
		int input = tracepoint_input(c->t, variable->field);
		struct expr null = { .kind = EXPR_NULL, .place = variable->place };
		struct advice_operation o = { .op = ADVICE_OBSERVE, .n = (uint32_t)input };
		int reg = input < 0 ? compile_constant(c, &null)
				    : take_registers(c, 1, variable->place);

		if (reg < 0)
			return reg;
		c->of[*v] = (uint32_t)reg;
		if (input < 0)
			continue;
		o.to = (uint8_t)reg;
		c->to->inputs |= (uint64_t)1 << input;
		if (add_op(c, o, variable->place) < 0)
			return -EINVAL;
	}
	return 0;
}

static struct place place_of_stage(const struct stage *s)
{
	return s->nr_points ? s->points[0].place : (struct place){ 0 };
}

/* As a part of 1: what is left to do where requests run is one multiplication, as over runs. */
static int add_share(struct compiler *c, struct advice_child *to, const struct expr *a)
{
	struct advice_constant k;
	int nr;

	memset(&k, 0, sizeof(k));
	set_real(&k, a->d / 100);
	nr = number_constant(c, &k, a->place);
	if (nr < 0)
		return nr;
	if (to->nr_values == ADVICE_TOTALS)
		return too_large(c, a->place, "percentiles of a join", ADVICE_TOTALS);
	to->shares[to->nr_values++] = (uint8_t)nr;
	return 0;
}

static int describe_total(struct compiler *c, struct advice_child *to, const struct expr *a)
{
	if (!aggregate_is_small(a->function))
		return add_share(c, to, a);
	if (to->nr_totals == ADVICE_TOTALS)
		return too_large(c, a->place, "aggregates of a join", ADVICE_TOTALS);
	to->functions[to->nr_totals++] = (uint8_t)a->function;
	return 0;
}

static int describe_child(struct compiler *c, uint32_t stage, uint32_t query)
{
	const struct stage *s = &c->p->stages.v[stage];
	struct advice_child *to = &c->to->children[c->to->nr_children];
	size_t nr = s->output ? s->output->keys.nr : s->packed.nr;
	int got = 0;

	to->slot = ADVICE_SLOT(query, stage);
	to->take = (uint8_t)s->take;
	to->is_summed = s->output != NULL;
	for (size_t i = 0; s->output && i < s->output->aggregates.nr && got >= 0; i++)
		got = describe_total(c, to, s->output->aggregates.v[i]);
	for (size_t i = 0; !s->output && i < s->partials.nr && got >= 0; i++)
		got = describe_total(c, to, c->p->output.aggregates.v[s->partials.v[i]]);
	nr += to->nr_values;
	if (got >= 0 && nr > ADVICE_COLUMNS)
		got = too_large(c, place_of_stage(s), "values of a joined tuple", ADVICE_COLUMNS);
	to->nr_columns = (uint8_t)nr;
	c->to->nr_children++;
	return got;
}

/* What the Select of an aggregated query makes of its groups. */
static int compile_sums(struct compiler *c, uint32_t stage, uint32_t reg)
{
	c->sums = c->p->stages.v[stage].output;
	c->sums_at = reg;
	shape_of(c->sums, &c->shape);
	for (uint32_t v = 0; v < c->p->variables.nr; v++) {
		int at;

		if (c->p->variables.v[v].stage != stage || !c->p->variables.v[v].computed)
			continue;
		at = compile_expr(c, c->p->variables.v[v].computed);
		if (at < 0)
			return at;
		c->of[v] = (uint32_t)at;
	}
	c->sums = NULL;
	return 0;
}

static int compile_unpack(struct compiler *c, uint32_t stage, uint32_t query)
{
	const struct stage *child = &c->p->stages.v[stage];
	struct advice_operation o = { .op = ADVICE_UNPACK, .n = c->to->nr_children };
	size_t nr = child->output ? child->output->keys.nr + child->output->aggregates.nr
				  : child->packed.nr;
	int reg = take_registers(c, (uint32_t)nr, place_of_stage(child));

	if (reg < 0 || describe_child(c, stage, query) < 0)
		return -EINVAL;
	o.to = (uint8_t)reg;
	for (size_t k = 0; !child->output && k < child->packed.nr; k++)
		c->of[child->packed.v[k]] = (uint32_t)reg + (uint32_t)k;
	if (add_op(c, o, place_of_stage(child)) < 0)
		return -EINVAL;
	return child->output ? compile_sums(c, stage, (uint32_t)reg) : 0;
}

static int compile_unpacks(struct compiler *c, size_t from, size_t to, uint32_t query)
{
	int got = 0;

	if (c->s->children.nr > ADVICE_CHILDREN)
		return too_large(c, place_of(c), "joins of one tracepoint", ADVICE_CHILDREN);
	for (size_t i = from; i < to && got >= 0; i++)
		got = compile_unpack(c, c->s->children.v[i], query);
	return got;
}

static int compile_computed(struct compiler *c)
{
	int got = compile_filters(c, c->s->late.v, c->s->late.nr);

	if (got < 0)
		return got;
	vec_each (&c->s->computed, v) {
		int reg = compile_expr(c, c->p->variables.v[*v].computed);

		if (reg < 0)
			return reg;
		c->of[*v] = (uint32_t)reg;
	}
	return compile_filters(c, c->s->last.v, c->s->last.nr);
}

/* As combine of run.c: what First and MostRecent choose among is decided by the stage's own
 * source. */
static int compile_rows(struct compiler *c, uint32_t stage, uint32_t query)
{
	size_t nr = c->s->children.nr;
	bool is_all = !stage || c->s->take == TAKE_ALL;
	size_t inner = is_all ? nr : c->s->nr_inner;
	int got = compile_unpacks(c, 0, inner, query);

	if (got >= 0)
		got = compile_computed(c);
	if (got >= 0 && inner < nr)
		got = add_op(c, (struct advice_operation){ .op = ADVICE_EXISTS }, place_of(c));
	return got < 0 ? got : compile_unpacks(c, inner, nr, query);
}

/* --- packing and emitting --------------------------------------------------------------------- */

static int add_column(struct compiler *c, int reg, struct place at)
{
	if (reg < 0)
		return reg;
	if (c->to->nr_columns == ADVICE_COLUMNS)
		return too_large(c, at, "columns", ADVICE_COLUMNS);
	c->to->columns[c->to->nr_columns++] = (uint8_t)reg;
	return 0;
}

/* Whether a child has it half done. */
static bool find_half(const struct compiler *c, uint32_t aggregate, struct advice_part *part)
{
	for (size_t i = 0; i < c->s->children.nr; i++) {
		const struct stage *child = &c->p->stages.v[c->s->children.v[i]];

		for (size_t k = 0; k < child->partials.nr; k++)
			if (child->partials.v[k] == aggregate) {
				part->child = (uint8_t)i;
				part->half = (uint8_t)k;
				return true;
			}
	}
	return false;
}

/* is_whole: of the query itself, of which children may have halves. */
static int add_total(struct compiler *c, const struct expr *a, bool is_whole)
{
	struct advice_part part = { .function = (uint8_t)a->function,
				    .from = ADVICE_NO_REGISTER,
				    .child = ADVICE_NO_CHILD };

	if (c->to->nr_totals == ADVICE_TOTALS)
		return too_large(c, a->place, "aggregates", ADVICE_TOTALS);
	if (!(is_whole && find_half(c, a->number, &part)) && a->a) {
		int reg = compile_expr(c, a->a);

		if (reg < 0)
			return reg;
		part.from = (uint8_t)reg;
	}
	c->to->totals[c->to->nr_totals++] = part;
	return 0;
}

/* Rows by their keys. Aggregates that need every value have it as one more key, each with its
 * number, until they are put together. */
static int add_grouped(struct compiler *c, const struct output *o, bool is_whole)
{
	int got = 0;

	c->to->flags |= ADVICE_GROUPED;
	for (size_t i = 0; i < o->keys.nr && got >= 0; i++)
		got = add_column(c, compile_expr(c, o->keys.v[i]), o->keys.v[i]->place);
	for (size_t i = 0; i < o->aggregates.nr && got >= 0; i++) {
		const struct expr *a = o->aggregates.v[i];

		got = aggregate_is_small(a->function)
			      ? add_total(c, a, is_whole)
			      : add_column(c, compile_expr(c, a->a), a->place);
	}
	return got;
}

/* The tuples of an aggregated query are packed as its groups. */
static int compile_groups(struct compiler *c, const struct output *o)
{
	int got = add_grouped(c, o, false);

	return got < 0 ? got
		       : add_op(c, (struct advice_operation){ .op = ADVICE_PACK }, place_of(c));
}

/* What an aggregated query reads is not there any more once it is summed up: without the rule of
 * projection it is packed all the same, and nobody reads it. */
static int packed_register(struct compiler *c, uint32_t variable)
{
	const struct variable *v = &c->p->variables.v[variable];
	struct expr null = { .kind = EXPR_NULL, .place = v->place };
	uint32_t stage = v->stage;

	if (c->of[variable] != NOWHERE)
		return (int)c->of[variable];
	while (&c->p->stages.v[stage] != c->s && !c->p->stages.v[stage].output)
		stage = c->p->stages.v[stage].parent;
	if (&c->p->stages.v[stage] != c->s)
		return compile_constant(c, &null);
	return lex_error(c->p->text, v->place, c->err, "this cannot be known where requests run");
}

static int compile_pack(struct compiler *c)
{
	int got = 0;

	if (c->s->output)
		return compile_groups(c, c->s->output);
	c->to->flags = c->s->is_grouped ? ADVICE_GROUPED : 0;
	vec_each (&c->s->packed, v) {
		got = add_column(c, packed_register(c, *v), c->p->variables.v[*v].place);
		if (got < 0)
			return got;
	}
	vec_each (&c->s->partials, a) {
		got = add_total(c, c->p->output.aggregates.v[*a], true);
		if (got < 0)
			return got;
	}
	return add_op(c, (struct advice_operation){ .op = ADVICE_PACK }, place_of(c));
}

static int compile_emit(struct compiler *c)
{
	const struct output *o = &c->p->output;
	int got = 0;

	c->to->flags = ADVICE_EMITS;
	if (o->is_aggregated)
		got = add_grouped(c, o, true);
	for (size_t i = 0; !o->is_aggregated && i < o->selects.nr && got >= 0; i++)
		got = add_column(c, compile_expr(c, o->selects.v[i].expr),
				 o->selects.v[i].expr->place);
	return got < 0 ? got
		       : add_op(c, (struct advice_operation){ .op = ADVICE_EMIT }, place_of(c));
}

void advice_shape_of(const struct plan *p, struct advice_shape *shape)
{
	shape_of(&p->output, shape);
}

int advice_compile(const struct plan *p, uint32_t stage, uint32_t query, const struct tracepoint *t,
		   struct advice_program *program, struct error *err)
{
	const struct stage *s = &p->stages.v[stage];
	struct compiler c = { .p = p, .s = s, .t = t, .to = program, .err = err };
	int got;

	memset(program, 0, sizeof(*program));
	memset(c.of, 0xff, sizeof(c.of));
	program->magic = ADVICE_MAGIC;
	program->query = query;
	program->stage = stage;
	program->slot = ADVICE_SLOT(query, stage);
	program->take = stage ? (uint8_t)s->take : ADVICE_ALL;
	program->at_most = s->at_most > UINT16_MAX ? UINT16_MAX : (uint16_t)s->at_most;
	got = compile_observed(&c);
	if (got >= 0)
		got = compile_filters(&c, s->early.v, s->early.nr);
	if (got >= 0)
		got = compile_rows(&c, stage, query);
	if (got >= 0)
		got = stage ? compile_pack(&c) : compile_emit(&c);
	return got < 0 ? got : advice_verify(program, NULL, err);
}
