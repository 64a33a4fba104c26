/*
 * The rewrite rules of the paper's Table 3. P is what a stage packs, Q whatever unpacks it:
 *
 *   Π(P ⋈ Q)        only variables that are read above are packed
 *   σ_p, σ_q        a filter goes to the lowest stage that knows what it reads; not through First
 *                   and MostRecent, which would then take other tuples
 *   A_p, GA_p …     where the query aggregates, equal tuples are packed as one with their number,
 *                   and aggregates of P alone half done; emitting combines the halves
 *
 * The rule for a stage follows from whose fields are grouped by and whose are aggregated.
 */
#include "query/plan.h"
#include "query/total.h"

struct cover {
	const struct plan *p;
	uint32_t stage;
	bool any, same; /* whether there is a variable; whether all are of one stage */
};

static uint32_t common(const struct plan *p, uint32_t a, uint32_t b)
{
	while (!plan_is_below(p, b, a))
		a = p->stages.v[a].parent;
	return a;
}

static void cover_one(void *ctx, uint32_t variable)
{
	struct cover *c = ctx;
	uint32_t stage = c->p->variables.v[variable].stage;

	c->same = c->same && (!c->any || stage == c->stage);
	c->stage = c->any ? common(c->p, c->stage, stage) : stage;
	c->any = true;
}

/* The lowest stage that has all variables in it or below. */
static struct cover cover_of(const struct plan *p, const struct expr *e)
{
	struct cover c = { .p = p, .stage = 0, .same = true };

	expr_each_variable(e, cover_one, &c);
	return c;
}

static void read_observed(void *ctx, uint32_t variable)
{
	struct cover *c = ctx;

	c->same = c->same && c->p->variables.v[variable].field.n;
}

/* Whether the stage itself observes all that is read. */
static bool is_observed(const struct plan *p, uint32_t stage, const struct expr *e)
{
	struct cover c = cover_of(p, e);

	if (!c.any || !c.same || c.stage != stage)
		return false;
	expr_each_variable(e, read_observed, &c);
	return c.same;
}

/* --- selection ------------------------------------------------------------------------------- */

/* The stage below, on the way to the one that knows the variables; STAGE_NONE: it stays here. */
static uint32_t next_below(const struct plan *p, uint32_t at, const struct expr *e)
{
	struct cover c = cover_of(p, e);

	if (!c.any || c.stage == at)
		return STAGE_NONE;
	vec_each (&p->stages.v[at].children, child)
		if (plan_is_below(p, c.stage, *child))
			return p->stages.v[*child].take == TAKE_ALL && !p->stages.v[*child].output
				       ? *child
				       : STAGE_NONE;
	return STAGE_NONE;
}

struct looking {
	const struct plan *p;
	uint32_t stage;
	bool found;
};

static void look_at(void *ctx, uint32_t variable)
{
	struct looking *l = ctx;
	const struct variable *v = &l->p->variables.v[variable];

	l->found |= v->stage == l->stage && v->computed;
}

/* Whether the stage has to compute something before it can tell. */
static bool reads_computed(const struct plan *p, uint32_t stage, const struct expr *e)
{
	struct looking l = { .p = p, .stage = stage };

	expr_each_variable(e, look_at, &l);
	return l.found;
}

static void push_filters(struct plan *p, unsigned rewrites)
{
	for (uint32_t i = 0; i < p->stages.nr; i++) {
		struct stage *s = &p->stages.v[i];
		size_t kept = 0;

		for (size_t k = 0; k < s->late.nr; k++) {
			struct expr *e = s->late.v[k];
			uint32_t below =
				rewrites & REWRITE_SELECT_P ? next_below(p, i, e) : STAGE_NONE;

			if (below != STAGE_NONE)
				vec_push(&p->stages.v[below].late, e);
			else if (rewrites & REWRITE_SELECT_Q && is_observed(p, i, e))
				vec_push(&s->early, e);
			else if (reads_computed(p, i, e))
				vec_push(&s->last, e);
			else
				s->late.v[kept++] = e;
		}
		s->late.nr = kept;
	}
}

/* --- aggregation ----------------------------------------------------------------------------- */

static bool is_in_output(const struct plan *p, uint32_t stage)
{
	for (; stage != STAGE_NONE; stage = p->stages.v[stage].parent)
		if (p->stages.v[stage].output)
			return true;
	return false;
}

/* Where the halves of an aggregate are made: STAGE_NONE where it is emitted. */
static uint32_t half_at(const struct plan *p, const struct expr *aggregate)
{
	struct cover c = cover_of(p, aggregate->a);

	if (!aggregate->a || !c.any || !aggregate_is_small(aggregate->function) || !c.stage ||
	    is_in_output(p, c.stage) || p->stages.v[c.stage].take != TAKE_ALL)
		return STAGE_NONE;
	return c.stage;
}

struct sides {
	bool group_p, group_q, total_p, total_q;
};

static struct sides sides_of(const struct plan *p, uint32_t stage)
{
	struct sides s = { 0 };

	vec_each (&p->output.keys, key) {
		struct cover c = cover_of(p, *key);
		bool below = plan_is_below(p, c.stage, stage);

		s.group_p |= c.any && below;
		s.group_q |= c.any && !below;
	}
	vec_each (&p->output.aggregates, a) {
		uint32_t at = half_at(p, *a);
		bool below = at != STAGE_NONE && plan_is_below(p, at, stage);

		s.total_p |= below;
		s.total_q |= !below;
	}
	return s;
}

static enum rewrite rule_of(struct sides s)
{
	if (s.total_p)
		return s.group_p ? REWRITE_GA_P : s.group_q ? REWRITE_G_Q_A_P : REWRITE_A_P;
	return s.group_p ? REWRITE_G_P_A_Q : REWRITE_GA_Q;
}

static void group_packs(struct plan *p, unsigned rewrites)
{
	for (uint32_t i = 1; p->output.is_aggregated && i < p->stages.nr; i++) {
		struct stage *s = &p->stages.v[i];

		if (s->take != TAKE_ALL || is_in_output(p, i))
			continue;
		s->rule = rule_of(sides_of(p, i));
		s->is_grouped = rewrites & s->rule;
	}
	vec_each (&p->output.aggregates, a) {
		uint32_t at = half_at(p, *a);

		if (at == STAGE_NONE || !p->stages.v[at].is_grouped)
			continue;
		for (; at; at = p->stages.v[at].parent)
			vec_push(&p->stages.v[at].partials, (*a)->number);
	}
}

/* --- projection ------------------------------------------------------------------------------ */

struct reading {
	struct plan *p;
	uint32_t at; /* the stage that reads */
};

static void pack(struct stage *s, uint32_t variable)
{
	vec_each (&s->packed, v)
		if (*v == variable)
			return;
	vec_push(&s->packed, variable);
}

/* Every stage on the way up has to pack it; what an output makes is there once it is unpacked. */
static void pack_on_the_way(void *ctx, uint32_t variable)
{
	struct reading *r = ctx;
	const struct variable *v = &r->p->variables.v[variable];
	uint32_t stage = v->stage;

	if (stage != r->at && r->p->stages.v[stage].output && v->computed)
		stage = r->p->stages.v[stage].parent;
	for (; stage != r->at; stage = r->p->stages.v[stage].parent)
		pack(&r->p->stages.v[stage], variable);
}

static void read_all(struct plan *p, uint32_t at, struct expr *const *v, size_t nr)
{
	struct reading r = { p, at };

	for (size_t i = 0; i < nr; i++)
		expr_each_variable(v[i], pack_on_the_way, &r);
}

static bool is_half(const struct plan *p, uint32_t aggregate)
{
	for (uint32_t i = 1; i < p->stages.nr; i++)
		vec_each (&p->stages.v[i].partials, a)
			if (*a == aggregate)
				return true;
	return false;
}

/* Halves read their variables where they are made. */
static void read_output(struct plan *p, uint32_t at, const struct output *o, bool is_root)
{
	struct reading r = { p, at };

	read_all(p, at, o->keys.v, o->keys.nr);
	vec_each (&o->selects, s)
		if (!o->is_aggregated)
			expr_each_variable(s->expr, pack_on_the_way, &r);
	vec_each (&o->aggregates, a) {
		bool half = is_root && is_half(p, (*a)->number);
		uint32_t where = half ? half_at(p, *a) : at;

		read_all(p, where, &(*a)->a, 1);
	}
}

static void pack_everything(struct plan *p)
{
	for (uint32_t i = 0; i < p->variables.nr; i++) {
		struct reading r = { p, 0 };

		pack_on_the_way(&r, i);
	}
}

/* What its output reads has to be packed by the stage itself, too: it is read by its parent. */
static void project(struct plan *p, unsigned rewrites)
{
	if (!(rewrites & REWRITE_PROJECT))
		pack_everything(p);
	for (uint32_t i = 0; i < p->stages.nr; i++) {
		struct stage *s = &p->stages.v[i];
		struct reading r = { p, i };

		read_all(p, i, s->late.v, s->late.nr);
		read_all(p, i, s->last.v, s->last.nr);
		vec_each (&s->computed, c)
			expr_each_variable(p->variables.v[*c].computed, pack_on_the_way, &r);
		if (s->output)
			read_output(p, s->parent, s->output, false);
	}
	read_output(p, 0, &p->output, true);
}

void plan_rewrite(struct plan *p, unsigned rewrites)
{
	push_filters(p, rewrites);
	group_packs(p, rewrites);
	project(p, rewrites);
}
