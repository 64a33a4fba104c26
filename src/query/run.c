/*
 * One sweep over each execution in causal order. What a stage packed travels as a small number with
 * every event (slot.h), so an event costs as much as it has direct causes, and what it unpacks.
 */
#include "query/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/groups.h"
#include "query/slot.h"
#include "query/lex.h"

#define NO_CHILD UINT32_MAX
#define KEYS_MAX (VARIABLES_MAX + 1)

/* Of a stage, what is looked up for every row. */
struct role {
	struct slot slot;
	VEC(uint32_t) from; /* by half that it packs (the root: by aggregate): from which child */
	VEC(uint32_t) half; /* likewise: as which of its halves */
	VEC(uint32_t) outcome;   /* variables that its output makes */
	struct groups groups;    /* of its output */
	VEC(struct value) shown; /* rows of its output, for the event at hand */
	uint32_t tuple;          /* that the row at hand is made of */
	uint64_t weight;
	uint32_t seen;
};

struct running {
	const struct query_run *q;
	struct role *roles; /* by stage */
	size_t nr;
	struct value *row;
	struct evaluation ev;
	struct groups groups; /* of the root */
	bool exists;          /* the stage has a tuple, as far as its own source goes */
	int got;
};

/* --- what rows are made of -------------------------------------------------------------------- */

static uint64_t weight_without(const struct running *r, const struct stage *s, uint32_t child)
{
	uint64_t w = 1;

	vec_each (&s->children, c)
		if (*c != child)
			w *= r->roles[*c].weight;
	return w;
}

/* Takes the row at hand into one aggregate: its value, or the half that a child packed. */
static void add_to(struct running *r, uint32_t stage, const struct expr *a, size_t nr,
		   struct total *t)
{
	const struct stage *s = &r->q->plan->stages.v[stage];
	const struct role *role = &r->roles[stage];
	uint32_t child = nr < role->from.nr ? role->from.v[nr] : NO_CHILD;
	struct value v = value_int(1);

	if (child != NO_CHILD) {
		const struct slot *from = &r->roles[child].slot;
		size_t at = r->roles[child].tuple * from->stage->partials.nr + role->half.v[nr];

		total_combine(t, &from->halves.v[at], weight_without(r, s, child), r->q->names);
		return;
	}
	if (a->a)
		v = expr_eval(a->a, &r->ev);
	if (!total_add(t, a->function, v, weight_without(r, s, NO_CHILD), r->q->names) &&
	    !r->ev.has_failed) {
		struct str text = names_str(r->q->names, v.text);

		lex_error(r->ev.text, a->place, r->ev.err,
			  "this aggregate is of numbers, and there is %s'" STR_FMT "'",
			  v.type == VALUE_TEXT ? "text: " : "", STR_ARG(str_head(text, 60)));
		r->ev.has_failed = true;
	}
}

static void add_to_group(struct running *r, uint32_t stage, const struct output *o,
			 struct groups *g)
{
	struct value keys[KEYS_MAX];
	size_t group;

	for (size_t i = 0; i < o->keys.nr; i++)
		keys[i] = expr_eval(o->keys.v[i], &r->ev);
	group = groups_find(g, keys, r->row);
	for (size_t i = 0; i < o->aggregates.nr; i++)
		add_to(r, stage, o->aggregates.v[i], i, &g->totals.v[group * g->nr_totals + i]);
}

/* The values of aggregates, and the row of the group, are what Select reads. */
static void group_totals(struct running *r, const struct output *o, struct groups *g, size_t group,
			 struct value *totals)
{
	for (size_t i = 0; i < o->aggregates.nr; i++)
		totals[i] = total_value(&g->totals.v[group * g->nr_totals + i], o->aggregates.v[i],
					r->q->names);
	r->ev.total = totals;
	r->ev.row = g->rows.v + group * g->nr_variables;
}

/* --- stages ----------------------------------------------------------------------------------- */

static bool holds(struct running *r, struct expr *const *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!expr_holds(v[i], &r->ev))
			return false;
	return true;
}

static void compute(struct running *r, const struct stage *s)
{
	vec_each (&s->computed, v)
		r->row[*v] = expr_eval(r->q->plan->variables.v[*v].computed, &r->ev);
}

static void pack(struct running *r, uint32_t stage)
{
	const struct plan *p = r->q->plan;
	const struct stage *s = &p->stages.v[stage];
	struct slot *slot = &r->roles[stage].slot;

	vec_each (&s->packed, v)
		vec_push(&slot->values, r->row[*v]);
	for (size_t i = 0; i < s->partials.nr; i++) {
		struct total t = { 0 };

		add_to(r, stage, p->output.aggregates.v[s->partials.v[i]], i, &t);
		vec_push(&slot->halves, t);
	}
	vec_push(&slot->weights, weight_without(r, s, NO_CHILD));
}

static void emit(struct running *r)
{
	const struct plan *p = r->q->plan;
	const struct output *o = &p->output;
	struct answer_cell cells[VARIABLES_MAX];
	uint64_t times;

	if (o->is_aggregated) {
		add_to_group(r, 0, o, &r->groups);
		return;
	}
	for (size_t i = 0; i < o->selects.nr; i++)
		cells[i] = (struct answer_cell){ expr_eval(o->selects.v[i].expr, &r->ev), NULL };
	times = weight_without(r, &p->stages.v[0], NO_CHILD);
	while (times-- && !r->got && !r->ev.has_failed)
		r->got = r->q->answer->row(r->q->answer->ctx, cells, o->selects.nr);
}

static void scatter(struct running *r, uint32_t child, uint32_t nr)
{
	struct role *role = &r->roles[child];
	const struct stage *s = role->slot.stage;

	role->weight = 1;
	if (s->output) {
		for (size_t i = 0; i < role->outcome.nr; i++)
			r->row[role->outcome.v[i]] = role->shown.v[nr * role->outcome.nr + i];
		return;
	}
	role->tuple = role->slot.unpacked.v[nr];
	role->weight = role->slot.weights.v[role->tuple];
	for (size_t i = 0; i < s->packed.nr; i++)
		r->row[s->packed.v[i]] = role->slot.values.v[role->tuple * s->packed.nr + i];
}

static size_t nr_unpacked(const struct role *role)
{
	if (!role->slot.stage->output)
		return role->slot.unpacked.nr;
	return role->outcome.nr ? role->shown.nr / role->outcome.nr : 0;
}

/* Every way to take one tuple of each child from here on. */
static void combine(struct running *r, uint32_t stage, size_t child)
{
	const struct stage *s = &r->q->plan->stages.v[stage];
	bool is_all = !stage || s->take == TAKE_ALL;

	if (child == (is_all ? s->children.nr : s->nr_inner)) {
		if (!holds(r, s->late.v, s->late.nr))
			return;
		compute(r, s);
		if (!holds(r, s->last.v, s->last.nr))
			return;
		r->exists = true;
	}
	if (child == s->children.nr) {
		if (stage)
			pack(r, stage);
		else
			emit(r);
		return;
	}
	for (size_t i = 0, nr = nr_unpacked(&r->roles[s->children.v[child]]);
	     i < nr && !r->got && !r->ev.has_failed; i++) {
		scatter(r, s->children.v[child], (uint32_t)i);
		combine(r, stage, child + 1);
	}
}

/* The groups of all tuples so far, as rows of what its Select says. */
static void summarise(struct running *r, uint32_t child)
{
	struct role *role = &r->roles[child];
	const struct output *o = role->slot.stage->output;
	struct value totals[VARIABLES_MAX];
	uint32_t *sorted;

	groups_reset(&role->groups);
	vec_clear(&role->shown);
	for (size_t i = 0; i < role->slot.unpacked.nr; i++) {
		const struct stage *s = role->slot.stage;
		uint32_t tuple = role->slot.unpacked.v[i];

		for (size_t k = 0; k < s->packed.nr; k++)
			r->row[s->packed.v[k]] = role->slot.values.v[tuple * s->packed.nr + k];
		add_to_group(r, child, o, &role->groups);
	}
	sorted = groups_sorted(&role->groups, r->q->names);
	for (size_t i = 0; i < role->groups.nr; i++) {
		group_totals(r, o, &role->groups, sorted[i], totals);
		vec_each (&role->outcome, v)
			vec_push(&role->shown,
				 expr_eval(r->q->plan->variables.v[*v].computed, &r->ev));
	}
	r->ev.row = r->row;
	r->ev.total = NULL;
	free(sorted);
}

static void run_stage(struct running *r, uint32_t event, uint32_t stage)
{
	const struct stage *s = &r->q->plan->stages.v[stage];
	struct slot *slot = &r->roles[stage].slot;
	uint32_t first = (uint32_t)slot->weights.nr;

	vec_each (&s->children, c)
		if (!r->roles[*c].seen && (!stage || s->take == TAKE_ALL))
			return; /* before anything is observed: most events end here */
	r->q->events->observe(r->q->events->ctx, event, stage, r->row);
	if (!holds(r, s->early.v, s->early.nr))
		return;
	vec_each (&s->children, c) {
		slot_unpack(&r->roles[*c].slot, r->roles[*c].seen);
		if (r->q->plan->stages.v[*c].output)
			summarise(r, *c);
	}
	/* the children's variables may be those of another event: they are set before they are read
	 */
	r->exists = false;
	first = (uint32_t)slot->weights.nr;
	combine(r, stage, 0);
	if (!stage || (slot->weights.nr == first && !(r->exists && s->take != TAKE_ALL)))
		return;
	vec_push(&slot->items, (struct range){ first, (uint32_t)slot->weights.nr - first });
}

static void count_packed(struct running *r, uint32_t stage, uint32_t behind)
{
	const struct stage *s = &r->q->plan->stages.v[stage];
	struct run_counts *c = &r->q->counts[stage];

	if (!behind)
		return;
	slot_unpack(&r->roles[stage].slot, behind);
	c->nr_behind++;
	c->carried += r->roles[stage].slot.unpacked.nr;
	c->carried_values +=
		r->roles[stage].slot.unpacked.nr * (s->packed.nr + s->partials.nr + s->is_grouped);
	if (r->roles[stage].slot.unpacked.nr > c->most)
		c->most = r->roles[stage].slot.unpacked.nr;
}

static void run_event(struct running *r, uint32_t event, uint64_t stages)
{
	size_t before[STAGES_MAX];

	for (uint64_t bits = stages; bits && !r->got && !r->ev.has_failed; bits &= bits - 1) {
		uint32_t stage = (uint32_t)__builtin_ctzll(bits);

		before[stage] = r->roles[stage].slot.items.nr;
		run_stage(r, event, stage);
	}
	/* none of them sees what another one packs at the same event */
	for (uint32_t i = 1; i < r->nr; i++) {
		struct slot *slot = &r->roles[i].slot;
		uint32_t seen = r->roles[i].seen;

		if (stages >> i & 1 && slot->items.nr > before[i]) {
			seen = slot_pack(slot, seen, (uint32_t)slot->items.nr - 1);
			if (r->q->counts)
				r->q->counts[i].packed += slot->items.v[slot->items.nr - 1].nr;
		}
		vec_push(&slot->behind, seen);
		if (r->q->counts)
			count_packed(r, i, seen);
	}
}

/* --- executions ------------------------------------------------------------------------------- */

static void see_causes(struct running *r, uint32_t event, const uint32_t *place, uint32_t begin)
{
	const struct happened *h = r->q->happened;

	for (uint32_t i = 1; i < r->nr; i++)
		r->roles[i].seen = 0;
	for (uint64_t k = h->at[event]; k < h->at[event + 1]; k++) {
		uint32_t at = place[h->before[k]];

		if (at == UINT32_MAX)
			continue; /* an edge that led in a circle */
		for (uint32_t i = 1; i < r->nr; i++) {
			struct slot *slot = &r->roles[i].slot;

			r->roles[i].seen =
				slot_join(slot, r->roles[i].seen, slot->behind.v[at - begin]);
		}
	}
}

/* An execution without an event of every stage has no row. */
static bool has_all(const struct running *r, uint32_t begin, uint32_t end)
{
	const struct observer_of_events *ev = r->q->events;
	uint64_t want = r->nr < 64 ? ((uint64_t)1 << r->nr) - 1 : ~(uint64_t)0, has = 0;

	for (uint32_t i = begin; i < end && has != want; i++)
		has |= ev->stages(ev->ctx, r->q->order->events[i]);
	return has == want;
}

static void run_execution(struct running *r, uint32_t begin, uint32_t end, uint32_t *place)
{
	const struct observer_of_events *ev = r->q->events;

	if (!r->q->counts && !has_all(r, begin, end))
		return;
	for (uint32_t i = 1; i < r->nr; i++) {
		slot_reset(&r->roles[i].slot);
		vec_clear(&r->roles[i].slot.behind);
	}
	for (uint32_t i = begin; i < end && !r->got && !r->ev.has_failed; i++) {
		uint32_t event = r->q->order->events[i];

		see_causes(r, event, place, begin);
		run_event(r, event, ev->stages(ev->ctx, event));
		place[event] = i;
	}
}

/* --- the answer ------------------------------------------------------------------------------- */

static void answer_group(struct running *r, size_t group, struct buckets *buckets)
{
	const struct output *o = &r->q->plan->output;
	struct answer_cell cells[VARIABLES_MAX];
	struct value totals[VARIABLES_MAX];

	group_totals(r, o, &r->groups, group, totals);
	for (size_t i = 0; i < o->selects.nr; i++) {
		const struct expr *e = o->selects.v[i].expr;

		cells[i] = (struct answer_cell){ expr_eval(e, &r->ev), NULL };
		if (e->kind != EXPR_AGGREGATE || e->function != AGGREGATE_HISTOGRAM)
			continue;
		total_buckets(&r->groups.totals.v[group * r->groups.nr_totals + e->number],
			      &buckets[i], r->q->names);
		cells[i].buckets = &buckets[i];
	}
	r->got = r->q->answer->row(r->q->answer->ctx, cells, o->selects.nr);
}

static void answer_groups(struct running *r)
{
	struct buckets *buckets = mem_zalloc(VARIABLES_MAX * sizeof(*buckets));
	uint32_t *sorted = groups_sorted(&r->groups, r->q->names);

	for (size_t i = 0; i < r->groups.nr && !r->got && !r->ev.has_failed; i++)
		answer_group(r, sorted[i], buckets);
	for (size_t i = 0; i < VARIABLES_MAX; i++)
		vec_done(&buckets[i].v);
	free(buckets);
	free(sorted);
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Which child hands up the halves of an aggregate. */
static void find_halves(struct running *r, uint32_t stage, uint32_t aggregate)
{
	const struct plan *p = r->q->plan;
	struct role *role = &r->roles[stage];
	uint32_t from = NO_CHILD, half = 0;

	vec_each (&p->stages.v[stage].children, c)
		for (size_t i = 0; i < p->stages.v[*c].partials.nr; i++)
			if (p->stages.v[*c].partials.v[i] == aggregate) {
				from = *c;
				half = (uint32_t)i;
			}
	vec_push(&role->from, from);
	vec_push(&role->half, half);
}

static void groups_shape(struct groups *g, const struct plan *p, const struct output *o)
{
	g->nr_keys = o->keys.nr;
	g->nr_variables = p->variables.nr;
	g->nr_totals = o->aggregates.nr;
}

static void begin_run(struct running *r)
{
	const struct plan *p = r->q->plan;

	r->roles = mem_zalloc(mem_bytes(r->nr, sizeof(*r->roles)));
	r->row = mem_zalloc(mem_bytes(p->variables.nr + 1, sizeof(*r->row)));
	r->ev.row = r->row;
	groups_shape(&r->groups, p, &p->output);
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct stage *s = &p->stages.v[i];

		r->roles[i].slot.stage = s;
		r->roles[i].slot.names = r->q->names;
		r->roles[i].weight = 1;
		if (s->output)
			groups_shape(&r->roles[i].groups, p, s->output);
		for (uint32_t v = 0; s->output && v < p->variables.nr; v++)
			if (p->variables.v[v].stage == i && p->variables.v[v].computed)
				vec_push(&r->roles[i].outcome, v);
		for (size_t k = 0; i && k < s->partials.nr; k++)
			find_halves(r, i, s->partials.v[k]);
	}
	for (uint32_t k = 0; k < p->output.aggregates.nr; k++)
		find_halves(r, 0, k);
}

static void end_run(struct running *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		slot_done(&r->roles[i].slot);
		vec_done(&r->roles[i].from);
		vec_done(&r->roles[i].half);
		vec_done(&r->roles[i].outcome);
		vec_done(&r->roles[i].shown);
		groups_done(&r->roles[i].groups);
	}
	groups_done(&r->groups);
	free(r->roles);
	free(r->row);
}

int query_run(const struct query_run *q, struct error *err)
{
	struct running r = { .q = q, .nr = q->plan->stages.nr };
	uint32_t *place = mem_realloc(NULL, mem_bytes(q->happened->nr + 1, sizeof(*place)));
	uint32_t begin = 0;

	memset(place, 0xff, (q->happened->nr + 1) * sizeof(*place));
	r.ev = (struct evaluation){ .names = q->names, .text = q->plan->text, .err = err };
	begin_run(&r);
	for (size_t i = 0; i < q->order->nr_ends && !r.got && !r.ev.has_failed; i++) {
		run_execution(&r, begin, q->order->ends[i], place);
		begin = q->order->ends[i];
	}
	if (!r.got && !r.ev.has_failed && q->plan->output.is_aggregated)
		answer_groups(&r);
	end_run(&r);
	free(place);
	return r.ev.has_failed ? -EINVAL : r.got;
}
