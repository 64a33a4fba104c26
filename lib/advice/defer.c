#include "lib/advice/defer.h"

#include "lib/advice/cell.h"
#include "lib/advice/spill.h"

#define INLINE_WORDS 16u /* of a slot, that go with the run */

static bool is_first_of_slot(const struct advice_program *p, size_t child)
{
	for (size_t i = 0; i < child; i++)
		if (p->children[i].slot == p->children[child].slot)
			return false;
	return true;
}

static size_t slot_words(const struct bag *b, uint32_t slot)
{
	size_t nr = 0;

	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		nr += e->words;
	return nr;
}

static bool is_needed(const struct advice_program *p, const struct bag *b)
{
	for (size_t i = 0; i < p->nr_children; i++)
		if (bag_reads_spilled(b, p->children[i].slot))
			return true;
	return false;
}

/* What is large is told once, and by its id from then on. How many words are left. */
static size_t make_small(const struct advice_program *p, struct bag *b, struct bag_writer *w,
			 struct bag_spill *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_children; i++) {
		uint32_t slot = p->children[i].slot;

		if (!is_first_of_slot(p, i))
			continue;
		if (slot_words(b, slot) > INLINE_WORDS)
			bag_spill_slot(b, slot, w, s);
		nr += slot_words(b, slot);
	}
	return nr;
}

static size_t cells_words(const struct advice_program *p, const struct advice_value *inputs)
{
	size_t nr = 0;

	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		if (p->inputs >> i & 1)
			nr += cell_words(&inputs[i]);
	return nr;
}

static uint64_t *put_cells(uint64_t *to, const struct advice_program *p,
			   const struct advice_value *inputs)
{
	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		if (p->inputs >> i & 1) {
			size_t nr = cell_words(&inputs[i]);

			cell_write(to, &inputs[i], nr - 1);
			to += nr;
		}
	return to;
}

static uint64_t *put_slot(uint64_t *to, const struct bag *b, uint32_t slot)
{
	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e)) {
		bag_copy_words(to, (const uint64_t *)(const void *)e, e->words);
		to += e->words;
	}
	return to;
}

static bool has_lost(const struct advice_program *p, const struct bag *b)
{
	for (size_t i = 0; i < p->nr_children; i++)
		if (bag_has_lost(b, p->children[i].slot))
			return true;
	return false;
}

static bool tell(const struct advice_program *p, const struct advice_value *inputs, struct bag *b,
		 struct bag_writer *w, struct bag_spill *s, struct spill_record *head)
{
	size_t nr_cells = cells_words(p, inputs), nr = make_small(p, b, w, s);
	uint64_t *record, *to;

	if (SPILL_HEAD_WORDS + nr_cells + nr > SPILL_WORDS)
		return false;
	record = s->begin(s->to, SPILL_WORDS);
	if (!record)
		return false;
	head->words = (uint16_t)(SPILL_HEAD_WORDS + nr_cells + nr);
	head->cell_words = (uint16_t)nr_cells;
	*(struct spill_record *)(void *)record = *head;
	to = put_cells(record + SPILL_HEAD_WORDS, p, inputs);
	for (size_t i = 0; i < p->nr_children; i++)
		if (is_first_of_slot(p, i))
			to = put_slot(to, b, p->children[i].slot);
	s->end(s->to, (size_t)(to - record));
	return true;
}

bool advice_defer_slow(const struct advice_program *p, const struct advice_value *inputs,
		       struct bag *b, struct bag_writer *w, uint64_t time, struct advice_out *out)
{
	bool packs = !(p->flags & ADVICE_EMITS), is_told;
	struct spill_record head = {
		.kind = SPILL_RUN, .piece = p->piece, .query = p->query, .time = time
	};
	struct spilling x;

	if (!is_needed(p, b))
		return false;
	spilling_begin(&x, p->slot, w, out->spill);
	if (packs) {
		uint64_t last = bag_last(b, p->slot);

		head.id = x.id = spill_id(w);
		head.order = x.order = time > last ? time : last + 1;
	}
	head.flags = has_lost(p, b) ? SPILL_INCOMPLETE : 0;
	is_told = tell(p, inputs, b, w, out->spill, &head);
	out->nr_deferred += is_told;
	if (packs && (!is_told || !bag_put_spilled(b, &x, 0))) {
		out->nr_lost++;
		bag_lose(b, p->slot);
	} else if (!is_told) {
		out->nr_dropped++;
	}
	if (packs && head.flags)
		bag_lose(b, p->slot);
	return true;
}
