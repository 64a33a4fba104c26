#include "lib/advice/promise.h"

#define PROMISE_WORDS (sizeof(struct bag_promise) / 8)

static struct bag_entry *entry_at(const struct bag *b, size_t word)
{
	return (struct bag_entry *)(void *)&b->entries[word];
}

static size_t word_of(const struct bag *b, const struct bag_entry *e)
{
	return (size_t)((const uint64_t *)(const void *)e - b->entries);
}

static bool promise_read(const struct bag_entry *e, struct bag_promise *p)
{
	const uint64_t *w = (const uint64_t *)(const void *)(e + 1);

	if (e->words != BAG_HEAD_WORDS + PROMISE_WORDS)
		return false;
	*p = (struct bag_promise){ w[0], w[1], w[2], w[3] };
	return true;
}

const struct bag_entry *bag_promise_next(const struct bag *b, const struct bag_entry *after,
					 struct bag_promise *p)
{
	const struct bag_entry *e = after;

	if (!bag_is_promised(b))
		return NULL;
	while ((e = bag_next(b, BAG_SLOT_PROMISE, e)))
		if (promise_read(e, p))
			return e;
	return NULL;
}

static void cut_out(struct bag *b, const struct bag_entry *e)
{
	size_t at = word_of(b, e), nr = e->words;

	for (size_t i = at; i + nr < b->words; i++) {
		b->entries[i] = b->entries[i + nr];
		__asm__("" : : : "memory");
	}
	b->words = (uint16_t)(b->words - nr);
}

/* One that this one goes on from: who wrote it changes it, others write their own. */
static bool goes_on(struct bag *b, struct bag_writer *w, const struct bag_promise *p)
{
	const struct bag_entry *e = NULL;
	struct bag_promise was;

	while ((e = bag_promise_next(b, e, &was))) {
		struct bag_entry *own = entry_at(b, word_of(b, e));

		if (was.key != p->key || was.from != p->from || was.began != p->began)
			continue;
		if (e->writer != w->id) {
			cut_out(b, e);
			return false;
		}
		((uint64_t *)(void *)(own + 1))[2] = p->to;
		own->change = (uint32_t)++w->last;
		b->order++;
		return true;
	}
	return false;
}

static bool no_room(struct bag *b)
{
	b->flags |= BAG_ALL_LOST;
	b->order++;
	return false;
}

bool bag_promise(struct bag *b, struct bag_writer *w, const struct bag_promise *p, uint64_t time)
{
	struct bag_entry head = { .slot = BAG_SLOT_PROMISE, .kind = BAG_ITEM_ALL };
	struct bag_pending pending;
	uint64_t *words;

	if (goes_on(b, w, p))
		return true;
	if (bag_count(b, BAG_SLOT_PROMISE) >= BAG_PROMISES)
		return no_room(b);
	bag_item_begin(b, &pending, &head);
	words = bag_item_words(b, &pending, PROMISE_WORDS);
	if (!words)
		return no_room(b);
	words[0] = p->key;
	words[1] = p->from;
	words[2] = p->to;
	words[3] = p->began;
	pending.entry->nr = 1;
	bag_item_commit(b, &pending, w, time > b->order ? time : b->order + 1);
	b->flags |= BAG_PROMISED;
	return true;
}

bool bag_promise_take(struct bag *b, struct bag_promise *p, uint64_t *order)
{
	const struct bag_entry *e = NULL, *first = NULL;

	while ((e = bag_next(b, BAG_SLOT_PROMISE, e)))
		if (!first || e->order < first->order)
			first = e;
	if (!first || !promise_read(first, p)) {
		b->flags &= (uint16_t)~BAG_PROMISED;
		return false;
	}
	*order = first->order;
	cut_out(b, first);
	return true;
}

static uint64_t highest(const struct bag *b)
{
	uint64_t most = 0;

	for (size_t at = 0; at < b->words; at += entry_at(b, at)->words)
		most = entry_at(b, at)->order > most ? entry_at(b, at)->order : most;
	return most;
}

/* Clocks of hosts differ: the order of what was packed since is put behind all that came. How far
 * depends on nothing but the promise and what came, so that copies of an entry stay the same. */
void bag_promise_keep(struct bag *b, uint64_t order, const struct bag *came)
{
	uint64_t most = highest(came), by = most >= order ? most + 1 - order : 0;

	for (size_t at = 0; by && at < b->words; at += entry_at(b, at)->words) {
		struct bag_entry *e = entry_at(b, at);

		if (e->order <= order)
			continue;
		e->order += by;
		b->order = e->order > b->order ? e->order : b->order;
		/* what was spilled keeps its order: nobody knows what comes first */
		if (e->kind == BAG_SPILLED)
			bag_lose(b, e->slot);
	}
	bag_join(b, came);
}
