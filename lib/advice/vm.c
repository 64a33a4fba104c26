#include "lib/advice/vm.h"

#include "lib/advice/cell.h"

/* The tuples of a child, one after another. */
struct cursor {
	const struct bag_entry *entry;
	const uint64_t *at, *end;
	const uint64_t *halves; /* of the tuple at hand */
	uint64_t weight;
	uint32_t left; /* tuples of the entry */
	uint32_t child;
};

struct run {
	const struct advice_program *p;
	const struct advice_value *inputs;
	struct bag *bag;
	struct bag_writer *writer;
	struct advice_out *out;
	uint64_t time;
	struct bag_pending pending;
	uint32_t flags; /* of rows */
	uint32_t nr_rows;
	uint32_t depth; /* cursors at work */
	bool exists, has_pending;
	uint8_t stack[ADVICE_CHILDREN]; /* where each was unpacked */
	struct cursor cursors[ADVICE_CHILDREN];
	struct advice_value r[ADVICE_REGISTERS];
};

/* --- unpacking -------------------------------------------------------------------------------- */

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

static bool next_tuple(struct run *r, struct cursor *c, uint32_t to)
{
	const struct advice_child *child = &r->p->children[c->child];

	for (;;) {
		if (c->left) {
			c->left--;
			if (read_tuple(r, c, to))
				return true;
			r->out->nr_damaged++;
			c->left = 0;
		}
		c->entry = bag_next(r->bag, child->slot, c->entry);
		if (!c->entry)
			return false;
		c->at = (const uint64_t *)(const void *)(c->entry + 1);
		c->end = (const uint64_t *)(const void *)c->entry + c->entry->words;
		c->left = c->entry->nr;
	}
}

/* What is behind the key of an entry, where that is the key at hand. */
static const uint64_t *behind_same(struct run *r, const struct cursor *c, const struct bag_entry *e,
				   uint32_t to)
{
	const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
	const uint64_t *at = (const uint64_t *)(const void *)(e + 1) + 1;
	struct advice_value v;

	for (uint32_t i = 0; i < r->p->children[c->child].nr_columns; i++) {
		at = cell_read(at, end, &v);
		if (!at || advice_cmp(&v, &r->r[to + i]))
			return NULL;
	}
	return at;
}

/* Of the groups that several writers packed, each once: where it stands first. */
static bool was_summed(struct run *r, const struct cursor *c, uint32_t to)
{
	const struct bag_entry *e = NULL;

	while ((e = bag_next(r->bag, r->p->children[c->child].slot, e)) && e != c->entry)
		if (behind_same(r, c, e, to))
			return true;
	return false;
}

static void sum_up(struct run *r, const struct cursor *c, uint32_t to)
{
	const struct advice_child *child = &r->p->children[c->child];
	struct advice_total totals[ADVICE_TOTALS], t;
	const struct bag_entry *e = c->entry;

	for (uint32_t i = 0; i < child->nr_totals; i++)
		totals[i].nr = 0;
	for (; e; e = bag_next(r->bag, child->slot, e)) {
		const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
		const uint64_t *at = behind_same(r, c, e, to);

		for (uint32_t i = 0; i < child->nr_totals && at; i++) {
			at = half_read(at, end, child->functions[i], &t);
			if (at)
				advice_total_add(child->functions[i], &totals[i], &t);
		}
	}
	for (uint32_t i = 0; i < child->nr_totals; i++)
		r->r[to + child->nr_columns + i] =
			advice_total_value(child->functions[i], &totals[i]);
}

static bool next_group(struct run *r, struct cursor *c, uint32_t to)
{
	while (next_tuple(r, c, to)) {
		if (was_summed(r, c, to))
			continue;
		c->weight = 1;
		sum_up(r, c, to);
		return true;
	}
	return false;
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
	if (bag_has_lost(r->bag, r->p->children[child].slot))
		note_incomplete(r);
}

/* --- rows ------------------------------------------------------------------------------------- */

static uint64_t weight_without(const struct run *r, uint32_t child)
{
	uint64_t w = 1;

	for (uint32_t i = 0; i < r->depth; i++)
		if (r->cursors[i].child != child)
			w *= r->cursors[i].weight;
	return w;
}

static void half_of(const struct run *r, const struct advice_part *part, struct advice_total *t)
{
	const struct advice_child *child = &r->p->children[part->child];
	const struct cursor *c = r->cursors;
	const uint64_t *at;

	while (c->child != part->child)
		c++;
	at = c->halves;
	for (uint32_t i = 0; i <= part->half; i++)
		at = half_read(at, c->end, child->functions[i], t);
	advice_total_times(part->function, t, weight_without(r, part->child));
}

static void total_of_row(struct run *r, const struct advice_part *part, uint64_t weight,
			 struct advice_total *t)
{
	static const struct advice_value one = { .type = ADVICE_INT, .i = 1 };

	if (part->child != ADVICE_NO_CHILD)
		half_of(r, part, t);
	else if (!advice_total_of(part->function,
				  part->from == ADVICE_NO_REGISTER ? &one : &r->r[part->from],
				  weight, t))
		r->out->nr_mistyped++;
}

static bool columns_are_cut(const struct run *r)
{
	for (uint32_t i = 0; i < r->p->nr_columns; i++)
		if (r->r[r->p->columns[i]].flags & ADVICE_CUT)
			return true;
	return false;
}

static size_t tuple_words(const struct run *r, size_t *key_words)
{
	const struct advice_program *p = r->p;
	size_t nr = 0;

	for (uint32_t i = 0; i < p->nr_columns; i++)
		nr += cell_words(&r->r[p->columns[i]]);
	*key_words = nr;
	nr++;
	for (uint32_t i = 0; i < p->nr_totals; i++)
		nr += half_words(p->totals[i].function);
	return nr;
}

static void write_tuple(struct run *r, uint64_t *to)
{
	const struct advice_program *p = r->p;
	uint64_t weight = weight_without(r, ADVICE_NO_CHILD);
	struct advice_total t;

	*to++ = weight;
	for (uint32_t i = 0; i < p->nr_columns; i++) {
		const struct advice_value *v = &r->r[p->columns[i]];

		cell_write(to, v, cell_words(v) - 1);
		to += cell_words(v);
	}
	for (uint32_t i = 0; i < p->nr_totals; i++) {
		total_of_row(r, &p->totals[i], weight, &t);
		half_write(to, p->totals[i].function, &t);
		to += half_words(p->totals[i].function);
	}
}

static void begin_entry(struct run *r)
{
	static const uint8_t kinds[] = { [ADVICE_ALL] = BAG_ITEM_ALL,
					 [ADVICE_FIRST] = BAG_ITEM_FIRST,
					 [ADVICE_RECENT] = BAG_ITEM_RECENT };
	struct bag_entry head = { .slot = r->p->slot, .at_most = r->p->at_most };

	head.kind = r->p->flags & ADVICE_GROUPED ? BAG_GROUP : kinds[r->p->take];
	bag_item_begin(r->bag, &r->pending, &head);
	r->has_pending = true;
}

static void commit(struct run *r)
{
	r->has_pending = false;
	if (bag_item_commit(r->bag, &r->pending, r->writer, r->time))
		return;
	r->out->nr_lost++;
	bag_lose(r->bag, r->p->slot);
}

static void add_tuple(struct run *r)
{
	size_t key_words, nr = tuple_words(r, &key_words);
	uint64_t *to;

	if (!r->has_pending)
		begin_entry(r);
	to = bag_item_words(r->bag, &r->pending, nr);
	if (!to)
		return;
	write_tuple(r, to);
	r->pending.entry->nr++;
	r->pending.entry->nr_key_words = (uint8_t)key_words;
	r->out->nr_packed++;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* What is behind the key, or NULL where it is another group. */
static const uint64_t *behind_key(const struct run *r, const struct bag_entry *e)
{
	const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
	const uint64_t *at = (const uint64_t *)(const void *)(e + 1) + 1;
	struct advice_value v;

	if (e->writer != r->writer->id || e->kind != BAG_GROUP)
		return NULL;
	for (uint32_t i = 0; i < r->p->nr_columns; i++) {
		at = cell_read(at, end, &v);
		if (!at || !advice_value_same(&v, &r->r[r->p->columns[i]]))
			return NULL;
	}
	return at;
}

static void fold(struct run *r, struct bag_entry *e, uint64_t *at)
{
	const uint64_t *end = (const uint64_t *)(const void *)e + e->words;
	uint64_t weight = weight_without(r, ADVICE_NO_CHILD);

	((uint64_t *)(void *)(e + 1))[0] += weight;
	for (uint32_t i = 0; i < r->p->nr_totals; i++) {
		uint8_t function = r->p->totals[i].function;
		struct advice_total was, t;

		if (!half_read(at, end, function, &was)) {
			r->out->nr_damaged++;
			return;
		}
		total_of_row(r, &r->p->totals[i], weight, &t);
		advice_total_add(function, &was, &t);
		half_write(at, function, &was);
		at += half_words(function);
	}
	bag_change(r->bag, e, r->writer, r->time, e->order);
}

static void pack_group(struct run *r)
{
	const struct bag_entry *e = NULL;

	while ((e = bag_next(r->bag, r->p->slot, e))) {
		const uint64_t *at = behind_key(r, e);

		if (at) {
			fold(r, (struct bag_entry *)e, (uint64_t *)at);
			r->out->nr_packed++;
			return;
		}
	}
	add_tuple(r);
	commit(r);
}

static void emit(struct run *r)
{
	const struct advice_program *p = r->p;
	struct advice_value columns[ADVICE_COLUMNS];
	struct advice_total totals[ADVICE_TOTALS];
	struct advice_row row = { .program = p, .columns = columns, .totals = totals };

	row.times = weight_without(r, ADVICE_NO_CHILD);
	row.flags = r->flags | (columns_are_cut(r) ? ADVICE_ROW_CUT : 0);
	for (uint32_t i = 0; i < p->nr_columns; i++)
		columns[i] = r->r[p->columns[i]];
	for (uint32_t i = 0; i < p->nr_totals; i++)
		total_of_row(r, &p->totals[i], row.times, &totals[i]);
	r->out->nr_emitted++;
	r->out->nr_cut += row.flags & ADVICE_ROW_CUT ? 1 : 0;
	r->out->emit(r->out->to, &row);
}

static void pack(struct run *r)
{
	r->out->nr_cut += columns_are_cut(r);
	if (r->p->flags & ADVICE_GROUPED)
		pack_group(r);
	else
		add_tuple(r);
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
		pack(r);
	else if (o->op == ADVICE_EMIT)
		emit(r);
	return true;
}

/* The next tuple of the innermost join that has one; false: all is done. */
static bool next_row(struct run *r, uint32_t *pc)
{
	while (r->depth) {
		const struct advice_operation *o = &r->p->ops[r->stack[r->depth - 1]];
		struct cursor *c = &r->cursors[r->depth - 1];
		bool is_summed = r->p->children[c->child].is_summed;

		if (r->nr_rows++ >= ADVICE_ROWS) {
			r->out->nr_beyond++;
			note_incomplete(r);
			return false;
		}
		if (is_summed ? next_group(r, c, o->to) : next_tuple(r, c, o->to)) {
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

void advice_run(const struct advice_program *p, const struct advice_value *inputs, struct bag *bag,
		struct bag_writer *writer, uint64_t time, struct advice_out *out)
{
	bool packs = !(p->flags & ADVICE_EMITS);
	struct run r;

	if (packs && p->take == ADVICE_FIRST && bag_count(bag, p->slot) >= p->at_most)
		return;
	r.p = p;
	r.inputs = inputs;
	r.bag = bag;
	r.writer = writer;
	r.out = out;
	r.time = time;
	r.flags = r.nr_rows = r.depth = 0;
	r.exists = r.has_pending = false;
	run_rows(&r);
	if (!packs)
		return;
	if (!r.has_pending && r.exists && p->take != ADVICE_ALL)
		begin_entry(&r);
	if (r.has_pending)
		commit(&r);
	if (r.flags & ADVICE_ROW_INCOMPLETE)
		bag_lose(bag, p->slot);
}
