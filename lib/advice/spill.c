#include "lib/advice/spill.h"

#include "lib/advice/waiting.h"

_Static_assert(SPILL_HEAD_WORDS + BAG_HEAD_WORDS + BAG_WORDS <= SPILL_WORDS,
	       "any entry fits into a record");

/* A bijection: ids of one thread differ, those of two are as far apart as chance has it. */
uint64_t spill_id(struct bag_writer *w)
{
	uint64_t id;

	do {
		id = w->spill += 0x9e3779b97f4a7c15u;
		id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9u;
		id = (id ^ id >> 27) * 0x94d049bb133111ebu;
		id ^= id >> 31;
	} while (!id);
	return id;
}

/* --- records ---------------------------------------------------------------------------------- */

void spilling_begin(struct spilling *x, uint32_t slot, struct bag_writer *w, struct bag_spill *s)
{
	x->s = s;
	x->w = w;
	x->record = NULL;
	x->nr = 0;
	x->slot = slot;
	x->is_failed = false;
	x->id = x->order = 0;
}

static void put_head(uint64_t *to, const struct spilling *x, size_t nr)
{
	*(struct bag_entry *)(void *)to =
		(struct bag_entry){ .slot = x->slot,
				    .words = BAG_HEAD_WORDS,
				    .kind = BAG_SPILLED,
				    .nr = (uint16_t)(nr < UINT16_MAX ? nr : UINT16_MAX),
				    .writer = x->id,
				    .order = x->order };
}

static bool record_begin(struct spilling *x)
{
	x->record = x->s->begin(x->s->to, SPILL_WORDS);
	if (!x->record) {
		x->is_failed = true;
		return false;
	}
	x->nr = SPILL_HEAD_WORDS;
	if (x->id) {
		put_head(x->record + x->nr, x, 0);
		x->nr += BAG_HEAD_WORDS;
	}
	return true;
}

static void record_end(struct spilling *x)
{
	uint64_t id = spill_id(x->w);

	*(struct spill_record *)(void *)x->record =
		(struct spill_record){ .id = id, .words = (uint16_t)x->nr, .kind = SPILL_TUPLES };
	x->s->end(x->s->to, x->nr);
	x->id = id;
	x->record = NULL;
}

uint64_t *spilling_words(struct spilling *x, size_t nr)
{
	uint64_t *words;

	if (x->record && x->nr + nr > SPILL_WORDS)
		record_end(x);
	if (x->is_failed || (!x->record && !record_begin(x)))
		return NULL;
	words = x->record + x->nr;
	x->nr += nr;
	return words;
}

bool spilling_end(struct spilling *x)
{
	if (x->record)
		record_end(x);
	return !x->is_failed && x->id;
}

static bool spilling_add(struct spilling *x, const struct bag_entry *e)
{
	uint64_t *to = spilling_words(x, e->words);

	if (!to)
		return false;
	bag_copy_words(to, (const uint64_t *)(const void *)e, e->words);
	x->order = e->order > x->order ? e->order : x->order;
	return true;
}

/* --- bags ------------------------------------------------------------------------------------- */

static void put_spilled(struct bag *b, const struct spilling *x, size_t nr)
{
	put_head(&b->entries[b->words], x, nr);
	b->words = (uint16_t)(b->words + BAG_HEAD_WORDS);
	b->flags |= BAG_HAS_SPILLED;
	b->order = x->order > b->order ? x->order : b->order + 1;
}

bool bag_put_spilled(struct bag *b, const struct spilling *x, size_t nr)
{
	if (!bag_make_room(b, BAG_HEAD_WORDS, x->w, x->s))
		return false;
	put_spilled(b, x, nr);
	return true;
}

bool bag_spill_slot(struct bag *b, uint32_t slot, struct bag_writer *w, struct bag_spill *s)
{
	size_t nr = bag_count(b, slot);
	bool is_own = false;
	struct spilling x;

	spilling_begin(&x, slot, w, s);
	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e)) {
		if (!spilling_add(&x, e))
			break;
		is_own |= e->kind == BAG_GROUP && e->writer == w->id;
	}
	if (!spilling_end(&x))
		return false;
	bag_cut_slot(b, slot);
	put_spilled(b, &x, nr);
	/* a group that the writer begins anew is another one than what it has written before */
	if (is_own)
		bag_writer_anew(w);
	return true;
}

/* What stands for another part of the bag is no tuple. */
static bool is_query_slot(uint32_t slot)
{
	return slot != BAG_SLOT_PROMISE && slot != BAG_SLOT_WAITING;
}

/* The slot with most words, if there is anything to gain by spilling it. */
static bool largest_slot(const struct bag *b, uint32_t *slot)
{
	const struct bag_entry *e, *end = (const void *)&b->entries[b->words];
	size_t most = BAG_HEAD_WORDS;

	for (e = (const void *)b->entries; e < end;
	     e = (const void *)((const uint64_t *)(const void *)e + e->words)) {
		size_t words = 0;

		if (!is_query_slot(e->slot) || bag_next(b, e->slot, NULL) != e)
			continue;
		for (const struct bag_entry *o = e; o; o = bag_next(b, e->slot, o))
			words += o->words;
		if (words > most) {
			most = words;
			*slot = e->slot;
		}
	}
	return most > BAG_HEAD_WORDS;
}

bool bag_make_room(struct bag *b, size_t words, struct bag_writer *w, struct bag_spill *s)
{
	uint32_t slot;

	while (b->words + words > s->room)
		if (!largest_slot(b, &slot) || !bag_spill_slot(b, slot, w, s))
			return false;
	return true;
}

bool bag_spill_entry(struct bag *b, const struct bag_entry *e, struct bag_writer *w,
		     struct bag_spill *s)
{
	struct spilling x;

	if (!is_query_slot(e->slot))
		return false;
	spilling_begin(&x, e->slot, w, s);
	return spilling_add(&x, e) && spilling_end(&x) &&
	       bag_put_spilled(b, &x, e->kind == BAG_SPILLED ? e->nr : 1);
}
