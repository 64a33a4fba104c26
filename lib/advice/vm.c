#include "lib/advice/vm.h"

#include "lib/advice/cell.h"
#include "lib/advice/defer.h"
#include "lib/advice/run.h"

/* --- unpacking -------------------------------------------------------------------------------- */

static const struct bag_entry *entry_in(const struct advice_pile *pile,
					const struct bag_entry *after)
{
	const uint64_t *at = (const uint64_t *)(const void *)after;

	at = at ? at + after->words : pile->words;
	return at < pile->words + pile->nr ? (const void *)at : NULL;
}

const struct bag_entry *run_next_entry(const struct run *r, uint32_t child,
				       const struct bag_entry *after)
{
	return r->finish ? entry_in(&r->finish->piles[child], after)
			 : bag_next(r->bag, r->p->children[child].slot, after);
}

static bool read_tuple(struct run *r, struct cursor *c, uint32_t to)
{
	const struct advice_child *child = &r->p->children[c->child];
	const uint64_t *at = c->at;
	struct advice_total ignored;

	if (at >= c->end)
		return false;
	c->weight = *at++;
	for (uint32_t i = 0; i < child->nr_columns && at; i++)
		at = cell_read(at, c->end, &r->r[to + i]);
	c->halves = at;
	for (uint32_t i = 0; i < child->nr_totals && at; i++)
		at = half_read(at, c->end, child->functions[i], &ignored);
	c->at = at;
	return at;
}

bool run_next_tuple(struct run *r, struct cursor *c, uint32_t to)
{
	for (;;) {
		if (c->left) {
			c->left--;
			if (read_tuple(r, c, to))
				return true;
			r->out->nr_damaged++;
			c->left = 0;
		}
		c->entry = run_next_entry(r, c->child, c->entry);
		if (!c->entry)
			return false;
		c->at = (const uint64_t *)(const void *)(c->entry + 1);
		c->end = (const uint64_t *)(const void *)c->entry + c->entry->words;
		c->left = c->entry->kind == BAG_SPILLED ? 0 : c->entry->nr;
	}
}

static void note_incomplete(struct run *r)
{
	if (!(r->flags & ADVICE_ROW_INCOMPLETE))
		r->out->nr_incomplete++;
	r->flags |= ADVICE_ROW_INCOMPLETE;
}

static void begin_unpack(struct run *r, uint32_t pc, uint32_t child)
{
	struct cursor *c = &r->cursors[r->depth];

	r->stack[r->depth++] = (uint8_t)pc;
	c->entry = NULL;
	c->left = 0;
	c->child = child;
	c->weight = 1;
	if (r->finish ? r->finish->piles[child].is_incomplete
		      : bag_has_lost(r->bag, r->p->children[child].slot) ||
				bag_reads_spilled(r->bag, r->p->children[child].slot))
		note_incomplete(r);
}

/* --- the program ------------------------------------------------------------------------------ */

static void take_constant(const struct advice_constant *c, struct advice_value *v)
{
	v->type = c->type;
	v->flags = 0;
	v->length = c->length;
	if (c->type == ADVICE_TEXTUAL)
		v->text = c->text;
	else
		v->i = c->number;
}

static void set_truth(struct advice_value *v, bool is)
{
	v->type = ADVICE_BOOL;
	v->flags = 0;
	v->length = 0;
	v->i = is;
}

static void negate(struct run *r, const struct advice_operation *o)
{
	static const struct advice_value zero = { .type = ADVICE_INT };
	struct advice_value v;

	if (advice_number(&r->r[o->a], &v) && v.type == ADVICE_REAL) {
		v.real ^= (uint64_t)1 << 63;
		r->r[o->to] = v;
	} else if (!advice_arithmetic(ADVICE_SUB, &zero, &r->r[o->a], &v)) {
		r->out->nr_mistyped++;
		r->r[o->to] = v;
	} else {
		r->r[o->to] = v;
	}
}

static void reckon(struct run *r, const struct advice_operation *o)
{
	const struct advice_value *a = &r->r[o->a], *b = &r->r[o->b];
	struct advice_value v;
	bool fits = o->op < ADVICE_EQ ? advice_arithmetic(o->op, a, b, &v)
				      : advice_compare(o->op, a, b, &v);

	if (!fits)
		r->out->nr_mistyped++;
	r->r[o->to] = v;
}

static void decide(struct run *r, const struct advice_operation *o)
{
	const struct advice_value *a = &r->r[o->a], *b = &r->r[o->b];
	struct advice_value *to = &r->r[o->to];

	if (o->op == ADVICE_IS_NULL || o->op == ADVICE_IS_NOT_NULL)
		set_truth(to, (a->type == ADVICE_NULL) == (o->op == ADVICE_IS_NULL));
	else if (o->op == ADVICE_AND)
		set_truth(to, advice_holds(a) && advice_holds(b));
	else if (o->op == ADVICE_OR)
		set_truth(to, advice_holds(a) || advice_holds(b));
	else if (a->type == ADVICE_NULL)
		*to = *a;
	else
		set_truth(to, !advice_holds(a));
}

/* False where the row goes no further. */
static bool step(struct run *r, uint32_t pc)
{
	const struct advice_operation *o = &r->p->ops[pc];

	if (o->op == ADVICE_OBSERVE)
		r->r[o->to] = r->inputs[o->n];
	else if (o->op == ADVICE_CONST)
		take_constant(&r->p->constants[o->n], &r->r[o->to]);
	else if (o->op == ADVICE_NEG)
		negate(r, o);
	else if (o->op <= ADVICE_GE)
		reckon(r, o);
	else if (o->op <= ADVICE_NOT)
		decide(r, o);
	else if (o->op == ADVICE_FILTER)
		return advice_holds(&r->r[o->a]);
	else if (o->op == ADVICE_EXISTS)
		r->exists = true;
	else if (o->op == ADVICE_PACK)
		run_pack(r);
	else if (o->op == ADVICE_EMIT)
		run_emit(r);
	return true;
}

/* The next tuple of the innermost join that has one; false: all is done. */
static bool next_row(struct run *r, uint32_t *pc)
{
	while (r->depth) {
		const struct advice_operation *o = &r->p->ops[r->stack[r->depth - 1]];
		struct cursor *c = &r->cursors[r->depth - 1];
		bool is_summed = r->p->children[c->child].is_summed;

		if (r->nr_rows++ >= (r->finish ? r->finish->nr_rows_max : ADVICE_ROWS)) {
			r->out->nr_beyond++;
			note_incomplete(r);
			return false;
		}
		if (is_summed ? run_next_group(r, c, o->to) : run_next_tuple(r, c, o->to)) {
			*pc = r->stack[r->depth - 1] + 1u;
			return true;
		}
		r->depth--;
	}
	return false;
}

static void run_rows(struct run *r)
{
	uint32_t pc = 0;

	for (;;) {
		bool goes_on = pc < r->p->nr_ops;

		if (goes_on && r->p->ops[pc].op == ADVICE_UNPACK) {
			begin_unpack(r, pc, r->p->ops[pc].n);
			goes_on = false;
		} else if (goes_on) {
			goes_on = step(r, pc);
		}
		if (goes_on)
			pc++;
		else if (!next_row(r, &pc))
			return;
	}
}

static void begin(struct run *r, const struct advice_program *p, const struct advice_value *inputs,
		  struct advice_out *out)
{
	r->p = p;
	r->inputs = inputs;
	r->out = out;
	r->flags = r->nr_rows = r->depth = r->nr_over = 0;
	r->exists = r->has_pending = r->is_over = false;
}

void advice_run(const struct advice_program *p, const struct advice_value *inputs, struct bag *bag,
		struct bag_writer *writer, uint64_t time, struct advice_out *out)
{
	bool packs = !(p->flags & ADVICE_EMITS);
	struct run r;

	if (packs && p->take == ADVICE_FIRST && bag_count(bag, p->slot) >= p->at_most)
		return;
	if (out->spill && advice_defer(p, inputs, bag, writer, time, out))
		return;
	r.bag = bag;
	r.writer = writer;
	r.time = time;
	r.finish = NULL;
	begin(&r, p, inputs, out);
	run_rows(&r);
	if (packs)
		run_pack_end(&r);
}

bool advice_finish(const struct advice_program *p, const struct advice_value *inputs,
		   const struct advice_finish *how, struct advice_out *out)
{
	struct run r;

	r.bag = NULL;
	r.writer = NULL;
	r.time = 0;
	r.finish = how;
	begin(&r, p, inputs, out);
	run_rows(&r);
	return r.exists;
}
