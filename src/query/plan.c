/* Names into variables, queries in queries into one tree of stages. */
#include "query/plan.h"

#include <errno.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/lex.h"
#include "query/near.h"

#define EXPANDED_MAX 20000 /* nodes of expressions, with Let and queries put in */
#define NESTED_MAX 32      /* queries in queries */

struct column {
	struct str name;
	uint32_t variable;
};

/* A name of a From or Join. */
struct binding {
	struct str alias;
	uint32_t stage;
	const struct column *columns; /* NULL: a tracepoint, whose fields are what it exports */
	size_t nr_columns;
};

struct bound_let {
	struct str name;
	struct expr *expr;
	size_t nr_nodes; /* what is in it counts wherever it is used */
};

struct scope {
	VEC(struct binding) names;
	VEC(struct bound_let) lets;
	bool aggregates;       /* may stand here */
	struct output *output; /* whose aggregates are numbered */
};

struct binder {
	struct plan *p;
	const struct queries *q;
	struct arena *arena;
	struct error *err;
	unsigned nested;
	size_t nr_nodes;
};

struct bound_query {
	uint32_t stage;
	struct column *columns;
	size_t nr_columns;
	struct output output;
};

bool plan_is_below(const struct plan *p, uint32_t a, uint32_t b)
{
	while (a != b && a != STAGE_NONE)
		a = p->stages.v[a].parent;
	return a == b;
}

static void output_done(struct output *o)
{
	vec_done(&o->keys);
	vec_done(&o->aggregates);
	vec_done(&o->selects);
}

void query_plan_done(struct plan *p)
{
	vec_each (&p->stages, s) {
		vec_done(&s->children);
		vec_done(&s->observed);
		vec_done(&s->computed);
		vec_done(&s->early);
		vec_done(&s->late);
		vec_done(&s->last);
		vec_done(&s->packed);
		vec_done(&s->partials);
		if (s->output)
			output_done(s->output);
	}
	vec_done(&p->stages);
	vec_done(&p->variables);
	output_done(&p->output);
}

static int add_variable(struct binder *b, struct variable v, uint32_t *number)
{
	struct plan *p = b->p;

	for (size_t i = 0; v.field.n && i < p->variables.nr; i++)
		if (p->variables.v[i].stage == v.stage &&
		    str_eq(p->variables.v[i].field, v.field)) {
			*number = (uint32_t)i;
			return 0;
		}
	if (p->variables.nr == VARIABLES_MAX)
		return lex_error(p->text, v.place, b->err, "the query uses more than %d variables",
				 VARIABLES_MAX);
	*number = (uint32_t)p->variables.nr;
	vec_push(&p->variables, v);
	if (v.field.n)
		vec_push(&p->stages.v[v.stage].observed, *number);
	else if (!p->stages.v[v.stage].output)
		vec_push(&p->stages.v[v.stage].computed, *number);
	return 0;
}

static const struct binding *find_alias(const struct scope *s, struct str name)
{
	vec_each (&s->names, n)
		if (str_eq(n->alias, name))
			return n;
	return NULL;
}

static int unknown_alias(struct binder *b, const struct scope *s, struct str name, struct place at)
{
	struct near near;

	near_begin(&near, name);
	vec_each (&s->names, n)
		near_offer(&near, n->alias);
	vec_each (&s->lets, l)
		near_offer(&near, l->name);
	if (!near.best.n && s->names.nr == 1)
		near.best = s->names.v[0].alias;
	if (near.best.n)
		return lex_error(b->p->text, at, b->err,
				 "'" STR_FMT
				 "' is no name of a From, Join or Let; did you mean '" STR_FMT "'?",
				 STR_ARG(name), STR_ARG(near.best));
	return lex_error(b->p->text, at, b->err, "'" STR_FMT "' is no name of a From, Join or Let",
			 STR_ARG(name));
}

/* A column is named whole, or by what stands behind its last dot where only one ends so. */
static const struct column *find_column(const struct binding *n, struct str name)
{
	const struct column *found = NULL;

	for (size_t i = 0; i < n->nr_columns; i++)
		if (str_eq(n->columns[i].name, name))
			return &n->columns[i];
	for (size_t i = 0; i < n->nr_columns; i++) {
		struct str c = n->columns[i].name;

		if (c.n > name.n + 1 && str_ends(c, name) && c.p[c.n - name.n - 1] == '.') {
			if (found)
				return NULL;
			found = &n->columns[i];
		}
	}
	return found;
}

static int bind_column(struct binder *b, const struct binding *n, struct expr *e)
{
	const struct column *c = NULL;
	struct near near;

	if (e->field.n)
		c = find_column(n, e->field);
	else if (n->nr_columns == 1)
		c = &n->columns[0];
	if (c) {
		e->number = c->variable;
		return 0;
	}
	near_begin(&near, e->field);
	for (size_t i = 0; i < n->nr_columns; i++)
		near_offer(&near, n->columns[i].name);
	if (!near.best.n && n->nr_columns)
		near.best = n->columns[0].name;
	return lex_error(b->p->text, e->place, b->err,
			 "'" STR_FMT "' selects no such column; it has, for example, '" STR_FMT "'",
			 STR_ARG(n->alias), STR_ARG(near.best));
}

static int bind_name(struct binder *b, const struct scope *s, struct expr *e)
{
	const struct binding *n = find_alias(s, e->text);
	struct variable v;

	if (!n && !e->field.n)
		for (size_t i = s->lets.nr; i-- > 0;)
			if (str_eq(s->lets.v[i].name, e->text)) {
				e->a = s->lets.v[i].expr;
				b->nr_nodes += s->lets.v[i].nr_nodes;
				return 0;
			}
	if (!n)
		return unknown_alias(b, s, e->text, e->place);
	if (n->columns)
		return bind_column(b, n, e);
	if (!e->field.n)
		return lex_error(b->p->text, e->place, b->err,
				 "'" STR_FMT
				 "' is a whole tuple: which of its fields, as in '" STR_FMT
				 ".time'?",
				 STR_ARG(e->text), STR_ARG(e->text));
	v = (struct variable){ .stage = n->stage, .field = e->field, .place = e->place };
	return add_variable(b, v, &e->number);
}

static int bind_expr(struct binder *b, struct scope *s, const struct expr *from, struct expr **to);

bool expr_same(const struct expr *a, const struct expr *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind == EXPR_NAME && a->a)
		return expr_same(a->a, b);
	if (b->kind == EXPR_NAME && b->a)
		return expr_same(a, b->a);
	if (a->kind != b->kind || a->op != b->op)
		return false;
	switch (a->kind) {
	case EXPR_NAME:
		return a->number == b->number;
	case EXPR_INT:
	case EXPR_BOOL:
		return a->i == b->i;
	case EXPR_DOUBLE:
		return a->d == b->d;
	case EXPR_TEXT:
		return str_eq(a->text, b->text);
	case EXPR_AGGREGATE:
		return a->function == b->function && a->d == b->d && expr_same(a->a, b->a);
	default:
		return expr_same(a->a, b->a) && expr_same(a->b, b->b);
	}
}

static int bind_aggregate(struct binder *b, struct scope *s, const struct expr *from,
			  struct expr *e)
{
	int got = 0;

	if (!s->aggregates)
		return lex_error(b->p->text, from->place, b->err,
				 "aggregates stand in Select only, and not in each other");
	s->aggregates = false;
	if (from->a)
		got = bind_expr(b, s, from->a, &e->a);
	s->aggregates = true;
	if (got < 0)
		return got;
	for (size_t i = 0; i < s->output->aggregates.nr; i++)
		if (expr_same(s->output->aggregates.v[i], e)) {
			e->number = (uint32_t)i;
			return 0;
		}
	e->number = (uint32_t)s->output->aggregates.nr;
	vec_push(&s->output->aggregates, e);
	return 0;
}

static bool is_arithmetic(const struct expr *e)
{
	return (e->kind == EXPR_BINARY && e->op >= OP_ADD) ||
	       (e->kind == EXPR_UNARY && e->op == OP_NEG);
}

/* What can be told before anything is seen: a string where a number is needed. */
static int check_types(struct binder *b, const struct expr *e)
{
	const struct expr *parts[] = { e->a, e->b };

	for (int i = 0; is_arithmetic(e) && i < 2; i++)
		if (parts[i] && (parts[i]->kind == EXPR_TEXT || parts[i]->kind == EXPR_BOOL))
			return lex_error(b->p->text, parts[i]->place, b->err,
					 "a number is needed here");
	if (e->kind == EXPR_AGGREGATE && e->a && e->a->kind == EXPR_TEXT &&
	    e->function != AGGREGATE_COUNT)
		return lex_error(b->p->text, e->a->place, b->err, "a number is needed here");
	return 0;
}

static int bind_expr(struct binder *b, struct scope *s, const struct expr *from, struct expr **to)
{
	struct expr *e = arena_new(b->arena, struct expr);
	int got = 0;

	*e = *from;
	e->a = e->b = NULL;
	*to = e;
	if (++b->nr_nodes > EXPANDED_MAX)
		return lex_error(b->p->text, from->place, b->err, "the query is too large");
	if (e->kind == EXPR_NAME)
		return bind_name(b, s, e);
	if (e->kind == EXPR_AGGREGATE) {
		got = bind_aggregate(b, s, from, e);
	} else {
		if (from->a)
			got = bind_expr(b, s, from->a, &e->a);
		if (got >= 0 && from->b)
			got = bind_expr(b, s, from->b, &e->b);
	}
	return got < 0 ? got : check_types(b, e);
}

void expr_each_variable(const struct expr *e, void (*each)(void *ctx, uint32_t variable), void *ctx)
{
	if (!e)
		return;
	if (e->kind == EXPR_NAME && !e->a)
		each(ctx, e->number);
	expr_each_variable(e->a, each, ctx);
	expr_each_variable(e->b, each, ctx);
}

static bool has_aggregate(const struct expr *e)
{
	return e && (e->kind == EXPR_AGGREGATE || has_aggregate(e->a) || has_aggregate(e->b));
}

static const struct expr *find_histogram(const struct expr *e)
{
	const struct expr *in;

	if (!e || (e->kind == EXPR_AGGREGATE && e->function == AGGREGATE_HISTOGRAM))
		return e;
	in = find_histogram(e->a);
	return in ? in : find_histogram(e->b);
}

/* A histogram is no value that can be reckoned with, or packed: it is shown. */
static int check_histograms(struct binder *b, const struct output *o)
{
	vec_each (&o->selects, s) {
		const struct expr *h = find_histogram(s->expr);

		if (h && b->nested > 1)
			return lex_error(b->p->text, h->place, b->err,
					 "a HISTOGRAM is many numbers, and cannot be joined: it "
					 "stands in the Select of the query that is asked");
		if (h && h != s->expr)
			return lex_error(b->p->text, h->place, b->err,
					 "a HISTOGRAM is many numbers: it stands alone in its "
					 "column");
	}
	return 0;
}

static const struct query *find_query(const struct binder *b, struct str name)
{
	for (size_t i = b->q->nr; i-- > 0;)
		if (b->q->v[i]->name.n && str_eq(b->q->v[i]->name, name))
			return b->q->v[i];
	return NULL;
}

static int bind_query(struct binder *b, const struct query *q, struct bound_query *out);

/* The query that a source names, or NULL for tracepoints. */
static int source_query(struct binder *b, const struct input_clause *in, const struct query **q)
{
	for (size_t i = 0; i < in->nr_sources; i++) {
		const struct source_name *s = &in->sources[i];

		*q = s->query ? s->query : find_query(b, s->name);
		if (*q && in->nr_sources > 1)
			return lex_error(
				b->p->text, s->place, b->err,
				"a query stands alone: only tracepoints can be put together "
				"with commas");
	}
	return 0;
}

static int add_stage(struct binder *b, const struct input_clause *in, uint32_t *stage)
{
	struct stage s = { .alias = in->alias,
			   .points = in->sources,
			   .nr_points = in->nr_sources,
			   .at_most = 1,
			   .parent = STAGE_NONE };

	if (b->p->stages.nr == STAGES_MAX)
		return lex_error(b->p->text, in->place, b->err, "there are more than %d joins",
				 STAGES_MAX);
	*stage = (uint32_t)b->p->stages.nr;
	vec_push(&b->p->stages, s);
	return 0;
}

static int check_from(struct binder *b, const struct input_clause *in, const struct output *o)
{
	if (in->take != TAKE_ALL && !in->before.n)
		return lex_error(b->p->text, in->place, b->err,
				 "First and MostRecent are of what happened before something: they "
				 "stand in a Join");
	if (o->is_aggregated && !in->before.n)
		return lex_error(b->p->text, in->place, b->err,
				 "the rows of an aggregated query belong to no moment: it can be "
				 "joined, not be a From");
	if (o->is_aggregated && in->take != TAKE_ALL)
		return lex_error(b->p->text, in->place, b->err,
				 "the rows of an aggregated query have no order: join it without "
				 "First or MostRecent");
	return 0;
}

static int bind_input(struct binder *b, struct scope *s, const struct input_clause *in,
		      uint32_t *stage)
{
	struct binding n = { .alias = in->alias };
	struct bound_query sub = { 0 };
	const struct query *q = NULL;
	struct stage *at;
	int got;

	if (find_alias(s, in->alias))
		return lex_error(b->p->text, in->place, b->err, "'" STR_FMT "' is used twice",
				 STR_ARG(in->alias));
	got = source_query(b, in, &q);
	if (got >= 0)
		got = q ? bind_query(b, q, &sub) : add_stage(b, in, &sub.stage);
	if (got >= 0)
		got = check_from(b, in, &sub.output);
	output_done(&sub.output);
	if (got < 0)
		return got;
	at = &b->p->stages.v[sub.stage];
	at->alias = in->alias;
	at->take = in->take;
	at->at_most = in->at_most;
	at->nr_inner = at->children.nr;
	n.stage = *stage = sub.stage;
	n.columns = sub.columns;
	n.nr_columns = sub.nr_columns;
	vec_push(&s->names, n);
	return 0;
}

static int bind_join(struct binder *b, struct scope *s, const struct input_clause *in)
{
	const struct binding *after;
	uint32_t stage, parent;
	int got;

	if (str_eq(in->after, in->alias) && find_alias(s, in->before))
		return lex_error(b->p->text, in->before_place, b->err,
				 "what is joined happens before: On " STR_FMT " -> " STR_FMT,
				 STR_ARG(in->alias), STR_ARG(in->before));
	if (!str_eq(in->before, in->alias))
		return lex_error(b->p->text, in->before_place, b->err,
				 "what is joined stands before the arrow: On " STR_FMT " -> …",
				 STR_ARG(in->alias));
	after = find_alias(s, in->after);
	/* the paper's Q9 calls its From so */
	if (!after && str_eq_nocase(in->after, STR("end")))
		after = &s->names.v[0];
	if (!after)
		return unknown_alias(b, s, in->after, in->after_place);
	parent = after->stage;
	if (b->p->stages.v[parent].output)
		return lex_error(b->p->text, in->after_place, b->err,
				 "the rows of an aggregated query belong to no moment: nothing "
				 "happens before them");
	got = bind_input(b, s, in, &stage);
	if (got < 0)
		return got;
	b->p->stages.v[stage].parent = parent;
	vec_push(&b->p->stages.v[parent].children, stage);
	return 0;
}

/* "a and b" are two filters, which can go different ways. */
static void add_filter(struct stage *s, struct expr *e)
{
	if (e->kind == EXPR_BINARY && e->op == OP_AND) {
		add_filter(s, e->a);
		add_filter(s, e->b);
	} else {
		vec_push(&s->late, e);
	}
}

static bool is_key(const struct output *o, const struct expr *e)
{
	for (size_t i = 0; i < o->keys.nr; i++)
		if (expr_same(o->keys.v[i], e))
			return true;
	return false;
}

/* Outside of aggregates there is only what is equal for all rows of a group. */
static int check_grouped(struct binder *b, struct output *o, struct expr *e, bool explicit)
{
	int got;

	if (!e || e->kind == EXPR_AGGREGATE || is_key(o, e))
		return 0;
	if (e->kind == EXPR_NAME && e->a)
		return check_grouped(b, o, e->a, explicit);
	if (!has_aggregate(e) && !explicit) {
		if (o->keys.nr == VARIABLES_MAX)
			return lex_error(b->p->text, e->place, b->err,
					 "the query has more than %d groups", VARIABLES_MAX);
		if (e->kind >= EXPR_NAME)
			vec_push(&o->keys, e);
		return 0;
	}
	if (e->kind == EXPR_NAME)
		return lex_error(b->p->text, e->place, b->err,
				 "this is neither in GroupBy nor inside an aggregate; add it to "
				 "GroupBy");
	got = check_grouped(b, o, e->a, explicit);
	return got < 0 ? got : check_grouped(b, o, e->b, explicit);
}

/* Without a Select, what every tracepoint exports of the From. */
static int select_defaults(struct binder *b, struct scope *s, struct output *o)
{
	static const char *const fields[] = { "time", "host", "procName", "thread", "tracepoint" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct expr e = { .kind = EXPR_NAME,
				  .text = s->names.v[0].alias,
				  .field = str_of(fields[i]) };
		struct select_clause c = { .name = arena_fmt(b->arena, STR_FMT ".%s",
							     STR_ARG(e.text), fields[i]) };
		int got = s->names.v[0].columns ? 1 : bind_expr(b, s, &e, &c.expr);

		if (got < 0)
			return got;
		if (!got)
			vec_push(&o->selects, c);
	}
	for (size_t i = 0; i < s->names.v[0].nr_columns; i++) {
		struct expr *e = arena_new(b->arena, struct expr);
		struct select_clause c = { e, s->names.v[0].columns[i].name };

		e->kind = EXPR_NAME;
		e->number = s->names.v[0].columns[i].variable;
		vec_push(&o->selects, c);
	}
	return 0;
}

static int bind_output(struct binder *b, struct scope *s, const struct query *q, struct output *o)
{
	struct select_clause c;
	struct expr *e;
	int got = 0;

	for (size_t i = 0; i < q->nr_groups && got >= 0; i++) {
		got = bind_expr(b, s, q->groups[i], &e);
		if (got >= 0)
			vec_push(&o->keys, e);
	}
	s->aggregates = true;
	s->output = o;
	for (size_t i = 0; i < q->nr_selects && got >= 0; i++) {
		c = q->selects[i];
		got = bind_expr(b, s, q->selects[i].expr, &c.expr);
		if (got >= 0)
			vec_push(&o->selects, c);
	}
	s->aggregates = false;
	for (size_t i = 0; !q->nr_selects && i < q->nr_groups && got >= 0; i++) {
		c.expr = o->keys.v[i];
		c.name = str_head(str_skip(b->p->text, c.expr->place.at), c.expr->place.length);
		vec_push(&o->selects, c);
	}
	if (o->keys.nr + o->aggregates.nr > VARIABLES_MAX)
		got = lex_error(b->p->text, q->from.place, b->err,
				"the query has more than %d groups and aggregates", VARIABLES_MAX);
	o->is_aggregated = q->nr_groups || o->aggregates.nr;
	for (size_t i = 0; o->is_aggregated && i < o->selects.nr && got >= 0; i++)
		got = check_grouped(b, o, o->selects.v[i].expr, q->nr_groups > 0);
	return got < 0 ? got : check_histograms(b, o);
}

/* What a query that is a source offers by name. A plain variable stays what it is. */
static int make_columns(struct binder *b, struct bound_query *out)
{
	struct output *o = &out->output;
	struct output *kept = NULL;
	int got = 0;

	if (o->is_aggregated) {
		kept = arena_new(b->arena, struct output);
		b->p->stages.v[out->stage].output = kept;
	}
	out->nr_columns = o->selects.nr;
	out->columns = arena_array(b->arena, struct column, o->selects.nr + 1);
	for (size_t i = 0; i < o->selects.nr && got >= 0; i++) {
		const struct expr *e = o->selects.v[i].expr;
		struct variable v = { .stage = out->stage,
				      .computed = e,
				      .shown = o->selects.v[i].name,
				      .place = e->place };

		out->columns[i].name = o->selects.v[i].name;
		if (e->kind == EXPR_NAME && !e->a && !kept)
			out->columns[i].variable = e->number;
		else
			got = add_variable(b, v, &out->columns[i].variable);
	}
	if (kept) {
		*kept = *o;
		*o = (struct output){ .is_aggregated = true };
	}
	return got;
}

static int bind_clauses(struct binder *b, struct scope *s, const struct query *q,
			struct bound_query *out)
{
	int got = bind_input(b, s, &q->from, &out->stage);
	struct expr *e;

	for (size_t i = 0; i < q->nr_joins && got >= 0; i++)
		got = bind_join(b, s, &q->joins[i]);
	for (size_t i = 0; i < q->nr_lets && got >= 0; i++) {
		struct bound_let let = { .name = q->lets[i].name, .nr_nodes = b->nr_nodes };

		got = bind_expr(b, s, q->lets[i].expr, &let.expr);
		let.nr_nodes = b->nr_nodes - let.nr_nodes;
		if (got >= 0)
			vec_push(&s->lets, let);
	}
	for (size_t i = 0; i < q->nr_wheres && got >= 0; i++) {
		got = bind_expr(b, s, q->wheres[i], &e);
		if (got >= 0)
			add_filter(&b->p->stages.v[out->stage], e);
	}
	return got < 0 ? got : bind_output(b, s, q, &out->output);
}

static int bind_query(struct binder *b, const struct query *q, struct bound_query *out)
{
	struct scope s = { 0 };
	int got = 0;

	if (b->nested++ == NESTED_MAX)
		got = lex_error(b->p->text, q->from.place, b->err,
				"queries use each other more than %d deep; does one use itself?",
				NESTED_MAX);
	if (got >= 0)
		got = bind_clauses(b, &s, q, out);
	if (got >= 0 && b->nested > 1 && q->nr_selects + q->nr_groups)
		got = make_columns(b, out);
	else if (got >= 0 && b->nested > 1 && s.names.v[0].columns) {
		out->columns = (struct column *)s.names.v[0].columns;
		out->nr_columns = s.names.v[0].nr_columns;
	} else if (got >= 0 && b->nested == 1 && !out->output.selects.nr) {
		got = select_defaults(b, &s, &out->output);
	}
	b->nested--;
	vec_done(&s.names);
	vec_done(&s.lets);
	return got;
}

/* The root comes first, and each stage before its children. */
static void put_in_order(struct plan *p, uint32_t root, struct arena *arena)
{
	size_t nr = p->stages.nr, at = 0;
	uint32_t *old = arena_array(arena, uint32_t, nr + 1);
	uint32_t *new = arena_array(arena, uint32_t, nr + 1);
	struct stage *moved = arena_array(arena, struct stage, nr + 1);

	old[at++] = root;
	for (size_t i = 0; i < at; i++)
		vec_each (&p->stages.v[old[i]].children, c)
			old[at++] = *c;
	for (size_t i = 0; i < at; i++)
		new[old[i]] = (uint32_t)i;
	for (size_t i = 0; i < at; i++) {
		moved[i] = p->stages.v[old[i]];
		if (moved[i].parent != STAGE_NONE)
			moved[i].parent = new[moved[i].parent];
		vec_each (&moved[i].children, c)
			*c = new[*c];
	}
	memcpy(p->stages.v, moved, at * sizeof(*moved));
	vec_each (&p->variables, v)
		v->stage = new[v->stage];
}

/* Names without their alias where only one stage has such a field. */
static void name_variables(struct plan *p, struct arena *arena)
{
	vec_each (&p->variables, v) {
		bool is_alone = true;

		if (!v->field.n)
			continue;
		vec_each (&p->variables, other)
			if (other != v && str_eq(other->field, v->field))
				is_alone = false;
		v->shown = is_alone ? v->field
				    : arena_fmt(arena, STR_FMT "." STR_FMT,
						STR_ARG(p->stages.v[v->stage].alias),
						STR_ARG(v->field));
	}
}

int query_plan(struct plan *p, const struct queries *q, unsigned rewrites, struct arena *arena,
	       struct error *err)
{
	struct binder b = { .p = p, .q = q, .arena = arena, .err = err };
	struct bound_query root = { 0 };
	int got;

	*p = (struct plan){ .text = q->text };
	if (!q->nr)
		return error_set(err, EINVAL, "there is no query: it begins with From");
	got = bind_query(&b, q->v[q->nr - 1], &root);
	p->output = root.output;
	if (got < 0) {
		query_plan_done(p);
		*p = (struct plan){ 0 };
		return got;
	}
	put_in_order(p, root.stage, arena);
	name_variables(p, arena);
	plan_rewrite(p, rewrites);
	return 0;
}
