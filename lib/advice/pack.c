/* What a run does with its rows: packs them into the bag, spills them where there is no room, or
 * emits them. */
#include "lib/advice/cell.h"
#include "lib/advice/run.h"

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

static struct bag_entry head_of(const struct run *r)
{
	static const uint8_t kinds[] = { [ADVICE_ALL] = BAG_ITEMS,
					 [ADVICE_FIRST] = BAG_ITEM_FIRST,
					 [ADVICE_RECENT] = BAG_ITEM_RECENT };
	struct bag_entry head = { .slot = r->p->slot, .at_most = r->p->at_most };

	head.kind = r->p->flags & ADVICE_GROUPED ? BAG_GROUP : kinds[r->p->take];
	return head;
}

static void begin_entry(struct run *r)
{
	struct bag_entry head = head_of(r);

	bag_item_begin_within(r->bag, &r->pending, &head,
			      r->out->spill ? r->out->spill->room : BAG_WORDS);
	r->has_pending = true;
}

static void lose(struct run *r)
{
	r->out->nr_lost++;
	bag_lose(r->bag, r->p->slot);
}

static void commit(struct run *r)
{
	if (!r->has_pending)
		return;
	r->has_pending = false;
	if (!bag_item_commit(r->bag, &r->pending, r->writer, r->time))
		lose(r);
}

/* --- packing where there is no room ----------------------------------------------------------- */

/* What is told by itself never grows. */
static uint8_t alone(uint8_t kind)
{
	return kind == BAG_ITEMS ? BAG_ITEM_ALL : kind;
}

/* What was packed of the item already goes first. */
static void begin_over(struct run *r)
{
	uint64_t last = bag_last(r->bag, r->p->slot), *to;
	struct bag_entry *e = r->pending.entry;

	spilling_begin(&r->over, r->p->slot, r->writer, r->out->spill);
	r->over.order = r->time > last ? r->time : last + 1;
	r->writer->last++;
	r->is_over = true;
	if (!r->has_pending || !e || !e->nr)
		return;
	e->kind = alone(e->kind);
	e->writer = r->writer->id;
	e->order = r->over.order;
	e->change = r->nr_over++;
	to = spilling_words(&r->over, e->words);
	if (to)
		bag_copy_words(to, (const uint64_t *)(const void *)e, e->words);
}

/* A tuple by itself; those of an item have its order, and groups are of nobody else. */
static uint64_t *over_words(struct run *r, size_t nr, size_t key_words)
{
	bool is_group = r->p->flags & ADVICE_GROUPED;
	struct bag_entry head = head_of(r);
	uint64_t *to;

	if (!r->is_over)
		begin_over(r);
	r->has_pending = false;
	to = spilling_words(&r->over, BAG_HEAD_WORDS + nr);
	if (!to)
		return NULL;
	head.words = (uint16_t)(BAG_HEAD_WORDS + nr);
	head.kind = alone(head.kind);
	head.nr = 1;
	head.nr_key_words = (uint8_t)key_words;
	head.writer = is_group ? spill_id(r->writer) : r->writer->id;
	head.order = r->over.order;
	head.change = r->nr_over++;
	*(struct bag_entry *)(void *)to = head;
	r->out->nr_spilled++;
	return to + BAG_HEAD_WORDS;
}

/* The bag gets what stands for all of it, and room for those that come. */
static void end_over(struct run *r)
{
	if (!spilling_end(&r->over) || !bag_put_spilled(r->bag, &r->over, 1))
		lose(r);
	else
		bag_make_room(r->bag, r->out->spill->room / 2, r->writer, r->out->spill);
}

static uint64_t *room_for(struct run *r, size_t nr, size_t key_words)
{
	struct bag_spill *s = r->out->spill;
	uint64_t *to;

	if (r->is_over && !(r->p->flags & ADVICE_GROUPED))
		return over_words(r, nr, key_words);
	if (!r->has_pending)
		begin_entry(r);
	to = bag_item_words(r->bag, &r->pending, nr);
	if (to || !s)
		return to;
	/* a run without joins reads nothing of the bag, and packs once */
	if (!r->depth && bag_make_room(r->bag, BAG_HEAD_WORDS + nr, r->writer, s)) {
		begin_entry(r);
		return bag_item_words(r->bag, &r->pending, nr);
	}
	return over_words(r, nr, key_words);
}

static void add_tuple(struct run *r)
{
	size_t key_words, nr = tuple_words(r, &key_words);
	uint64_t *to = r->finish ? r->finish->tuple(r->finish->to, nr, key_words)
				 : room_for(r, nr, key_words);

	if (!to)
		return;
	write_tuple(r, to);
	r->out->nr_packed++;
	if (!r->has_pending)
		return;
	r->pending.entry->nr++;
	r->pending.entry->nr_key_words = (uint8_t)key_words;
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

void run_emit(struct run *r)
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

void run_pack(struct run *r)
{
	r->out->nr_cut += columns_are_cut(r);
	if (r->p->flags & ADVICE_GROUPED && !r->finish)
		pack_group(r);
	else
		add_tuple(r);
}

void run_pack_end(struct run *r)
{
	if (!r->has_pending && !r->is_over && r->exists && r->p->take != ADVICE_ALL) {
		if (r->out->spill)
			bag_make_room(r->bag, BAG_HEAD_WORDS, r->writer, r->out->spill);
		begin_entry(r);
	}
	commit(r);
	if (r->is_over)
		end_over(r);
	if (r->flags & ADVICE_ROW_INCOMPLETE)
		bag_lose(r->bag, r->p->slot);
}
