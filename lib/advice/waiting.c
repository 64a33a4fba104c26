#include "lib/advice/waiting.h"

#include "lib/advice/cell.h"

#define FRONT_WORDS 4 /* query and which, slot, time, inputs */
#define BAG_FRONT_WORDS (offsetof(struct bag, entries) / 8)

static struct bag_entry *entry_at(const struct bag *b, size_t word)
{
	return (struct bag_entry *)(void *)&b->entries[word];
}

static void copy_words(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		to[i] = from[i];
		__asm__("" : "+r"(to) : : "memory");
	}
}

/* What a program reads, now or when it can. */
static bool is_read(const struct advice_program *p, uint32_t slot)
{
	if (slot == BAG_SLOT_PROMISE || slot == BAG_SLOT_WAITING)
		return true;
	for (uint32_t i = 0; i < p->nr_children; i++)
		if (p->children[i].slot == slot)
			return true;
	return false;
}

static size_t seen_words(const struct bag *b, const struct advice_program *p)
{
	size_t nr = 0;

	for (size_t at = 0; at < b->words; at += entry_at(b, at)->words)
		nr += is_read(p, entry_at(b, at)->slot) ? entry_at(b, at)->words : 0;
	return nr;
}

/* A bag with only that. words: of its entries. */
static void seen_write(uint64_t *to, const struct bag *b, const struct advice_program *p,
		       size_t words)
{
	struct bag *seen = (struct bag *)(void *)to;

	copy_words(to, (const uint64_t *)(const void *)b, BAG_FRONT_WORDS);
	seen->words = (uint16_t)words;
	to += BAG_FRONT_WORDS;
	for (size_t at = 0; at < b->words; at += entry_at(b, at)->words) {
		const struct bag_entry *e = entry_at(b, at);

		if (!is_read(p, e->slot))
			continue;
		copy_words(to, (const uint64_t *)(const void *)e, e->words);
		to += e->words;
	}
}

bool bag_wait(struct bag *b, struct bag_writer *w, const struct advice_program *p, uint32_t which,
	      const struct advice_value *inputs, uint64_t time)
{
	struct bag_entry head = { .slot = BAG_SLOT_WAITING, .kind = BAG_ITEM_ALL };
	size_t nr = FRONT_WORDS, nr_seen = seen_words(b, p);
	struct bag_pending pending;
	uint64_t *to;

	for (uint32_t i = 0; i < ADVICE_INPUTS; i++)
		nr += p->inputs >> i & 1 ? cell_words(&inputs[i]) : 0;
	bag_item_begin(b, &pending, &head);
	to = bag_item_words(b, &pending, nr + BAG_FRONT_WORDS + nr_seen);
	if (!to) {
		bag_lose(b, p->slot);
		return false;
	}
	to[0] = p->query | (uint64_t)which << 32;
	to[1] = p->slot;
	to[2] = time;
	to[3] = p->inputs;
	seen_write(to + nr, b, p, nr_seen);
	to += FRONT_WORDS;
	for (uint32_t i = 0; i < ADVICE_INPUTS; i++)
		if (p->inputs >> i & 1) {
			cell_write(to, &inputs[i], cell_words(&inputs[i]) - 1);
			to += cell_words(&inputs[i]);
		}
	pending.entry->nr = 1;
	bag_item_commit(b, &pending, w, time > b->order ? time : b->order + 1);
	return true;
}

static bool waiting_read(struct bag_waiting *w, size_t nr)
{
	const uint64_t *at = w->words, *end = w->words + nr;

	if (nr < FRONT_WORDS)
		return false;
	w->query = (uint32_t)at[0];
	w->which = (uint32_t)(at[0] >> 32);
	w->slot = (uint32_t)at[1];
	w->time = at[2];
	w->inputs = at[3];
	at += FRONT_WORDS;
	for (uint32_t i = 0; i < ADVICE_INPUTS && at; i++)
		if (w->inputs >> i & 1)
			at = cell_read(at, end, &w->values[i]);
	return at && bag_deserialize(&w->seen, at, (size_t)(end - at) * 8);
}

bool bag_waiting_take(struct bag *b, struct bag_waiting *w)
{
	const struct bag_entry *e = NULL, *first = NULL;
	size_t at, nr;

	while ((e = bag_next(b, BAG_SLOT_WAITING, e)))
		if (!first || e->order < first->order)
			first = e;
	if (!first)
		return false;
	at = (size_t)((const uint64_t *)(const void *)first - b->entries);
	nr = first->words;
	w->writer = first->writer;
	w->order = first->order;
	copy_words(w->words, (const uint64_t *)(const void *)(first + 1), nr - BAG_HEAD_WORDS);
	copy_words(&b->entries[at], &b->entries[at + nr], b->words - at - nr);
	b->words = (uint16_t)(b->words - nr);
	if (!waiting_read(w, nr - BAG_HEAD_WORDS))
		w->query = 0;
	return true;
}
