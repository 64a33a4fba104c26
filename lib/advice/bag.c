#include "lib/advice/bag.h"

#include "lib/advice/spill.h"

#define EPOCH_BITS 20
#define EPOCHS (((uint64_t)1 << EPOCH_BITS) - 1)
#define GROWS_WORDS 32u  /* that are added at once; more have an entry of their own */
#define GROWN_WORDS 128u /* of an entry: it comes into another bag as a whole, or not at all */
#define HEAD_BYTES offsetof(struct bag, entries)

_Static_assert(sizeof(struct bag) == BAG_BYTES && sizeof(struct bag_entry) == 32, "bags");

/* Forward, so that entries can be moved down. No loop here may become a call of a library. */
void bag_copy_words(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		to[i] = from[i];
		__asm__("" : "+r"(to) : : "memory");
	}
}

static void copy_bytes(void *to, const void *from, size_t nr)
{
	char *t = to;
	const char *f = from;

	for (; nr >= 8; nr -= 8, t += 8, f += 8) {
		__builtin_memcpy(t, f, 8);
		__asm__("" : "+r"(t) : : "memory");
	}
	for (; nr; nr--, t++, f++) {
		*t = *f;
		__asm__("" : "+r"(t) : : "memory");
	}
}

static struct bag_entry *entry_at(const struct bag *b, size_t word)
{
	return (struct bag_entry *)(void *)&b->entries[word];
}

static size_t word_of(const struct bag *b, const struct bag_entry *e)
{
	return (size_t)((const uint64_t *)(const void *)e - b->entries);
}

/* --- writers ---------------------------------------------------------------------------------- */

void bag_writer_begin(struct bag_writer *w, uint64_t thread)
{
	w->thread = thread & ~EPOCHS;
	w->id = w->thread;
	w->last = 0;
	w->spill = thread;
}

void bag_writer_anew(struct bag_writer *w)
{
	if (!w->last)
		return;
	w->id = w->thread | ((w->id + 1) & EPOCHS);
	w->last = 0;
}

void bag_change(struct bag *b, struct bag_entry *e, struct bag_writer *w, uint64_t time,
		uint64_t after)
{
	e->writer = w->id;
	e->order = time > after ? time : after + 1;
	e->change = (uint32_t)++w->last;
	b->order = e->order > b->order ? e->order : b->order + 1;
}

/* --- whole bags ------------------------------------------------------------------------------- */

void bag_begin(struct bag *b)
{
	b->magic = BAG_MAGIC;
	b->flags = 0;
	b->words = 0;
	b->nr_lost = 0;
	b->order = 0;
}

void bag_clear(struct bag *b, struct bag_writer *w)
{
	bag_begin(b);
	bag_writer_anew(w);
}

static void replace(struct bag *to, const struct bag *from)
{
	to->magic = BAG_MAGIC;
	to->flags = from->flags;
	to->words = from->words;
	to->nr_lost = from->nr_lost;
	to->order = from->order;
	copy_bytes(to->lost, from->lost, from->nr_lost * sizeof(*from->lost));
	bag_copy_words(to->entries, from->entries, from->words);
}

void bag_adopt(struct bag *to, const struct bag *from, struct bag_writer *w)
{
	bool has_last = false;

	for (size_t at = 0; w->last && at < from->words; at += entry_at(from, at)->words)
		has_last |= entry_at(from, at)->writer == w->id &&
			    entry_at(from, at)->change == (uint32_t)w->last;
	if (!has_last)
		bag_writer_anew(w);
	replace(to, from);
}

long bag_serialize(const struct bag *b, void *to, size_t room)
{
	size_t nr = bag_bytes(b);

	if (nr > room)
		return -1;
	copy_bytes(to, b, nr);
	return (long)nr;
}

static bool entry_makes_sense(const struct bag_entry *e, size_t left)
{
	if (left < BAG_HEAD_WORDS || e->words < BAG_HEAD_WORDS || e->words > left ||
	    e->kind > BAG_ITEMS)
		return false;
	if (e->kind == BAG_SPILLED)
		return e->words == BAG_HEAD_WORDS;
	return e->kind != BAG_GROUP || BAG_HEAD_WORDS + 1 + e->nr_key_words <= e->words;
}

bool bag_entries_make_sense(const uint64_t *words, size_t nr)
{
	const struct bag_entry *e;

	for (size_t at = 0; at < nr; at += e->words) {
		e = (const struct bag_entry *)(const void *)(words + at);
		if (!entry_makes_sense(e, nr - at))
			return false;
	}
	return true;
}

static bool makes_sense(const struct bag *b, size_t nr)
{
	return b->magic == BAG_MAGIC &&
	       !(b->flags & ~(BAG_ALL_LOST | BAG_PROMISED | BAG_HAS_SPILLED)) &&
	       b->nr_lost <= BAG_LOST && b->words <= BAG_WORDS &&
	       HEAD_BYTES + 8 * (size_t)b->words == nr &&
	       bag_entries_make_sense(b->entries, b->words);
}

/* What is so of every bag of ours. */
static void put_right(struct bag *b)
{
	for (size_t at = 0; at < b->words; at += entry_at(b, at)->words) {
		const struct bag_entry *e = entry_at(b, at);

		if (e->kind == BAG_SPILLED)
			b->flags |= BAG_HAS_SPILLED;
		if (e->order > b->order)
			b->order = e->order;
	}
}

bool bag_front_is_sound(struct bag *front, size_t nr)
{
	if (nr < HEAD_BYTES || nr > sizeof(*front) || !makes_sense(front, nr))
		return false;
	put_right(front);
	return true;
}

bool bag_deserialize(struct bag *b, const void *bytes, size_t nr)
{
	bag_begin(b);
	if (!nr)
		return true;
	if (nr > sizeof(*b))
		return false;
	copy_bytes(b, bytes, nr);
	if (bag_front_is_sound(b, nr))
		return true;
	bag_begin(b);
	return false;
}

/* --- entries ---------------------------------------------------------------------------------- */

const struct bag_entry *bag_next(const struct bag *b, uint32_t slot, const struct bag_entry *after)
{
	size_t at = after ? word_of(b, after) + after->words : 0;

	for (; at < b->words; at += entry_at(b, at)->words)
		if (entry_at(b, at)->slot == slot)
			return entry_at(b, at);
	return NULL;
}

/* Items and groups that are here. */
static size_t nr_here(const struct bag *b, uint32_t slot)
{
	size_t nr = 0;

	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		nr += e->kind != BAG_SPILLED;
	return nr;
}

/* The same item may be here and among those that were spilled, or spilled twice. */
size_t bag_count(const struct bag *b, uint32_t slot)
{
	size_t nr = nr_here(b, slot);

	if (!(b->flags & BAG_HAS_SPILLED))
		return nr;
	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		if (e->kind == BAG_SPILLED && e->nr > nr)
			nr = e->nr;
	return nr;
}

bool bag_has_lost(const struct bag *b, uint32_t slot)
{
	if (b->flags & BAG_ALL_LOST)
		return true;
	for (size_t i = 0; i < b->nr_lost; i++)
		if (b->lost[i] == slot)
			return true;
	return false;
}

void bag_lose(struct bag *b, uint32_t slot)
{
	if (bag_has_lost(b, slot))
		return;
	b->order++;
	if (b->nr_lost == BAG_LOST)
		b->flags |= BAG_ALL_LOST;
	else
		b->lost[b->nr_lost++] = slot;
}

static void cut_out(struct bag *b, const struct bag_entry *e)
{
	size_t at = word_of(b, e), nr = e->words;

	bag_copy_words(&b->entries[at], &b->entries[at + nr], b->words - at - nr);
	b->words = (uint16_t)(b->words - nr);
}

void bag_cut_slot(struct bag *b, uint32_t slot)
{
	size_t to = 0;

	for (size_t at = 0, nr; at < b->words; at += nr) {
		nr = entry_at(b, at)->words;
		if (entry_at(b, at)->slot == slot)
			continue;
		if (to != at)
			bag_copy_words(&b->entries[to], &b->entries[at], nr);
		to += nr;
	}
	b->words = (uint16_t)to;
}

static bool is_later(const struct bag_entry *a, const struct bag_entry *b)
{
	return a->order != b->order ? a->order > b->order : a->writer > b->writer;
}

/* Of FIRST the last, of RECENT the first: what goes when there is one more. */
static const struct bag_entry *worst_of(const struct bag *b, uint32_t slot)
{
	const struct bag_entry *worst = NULL;

	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		if (e->kind != BAG_SPILLED &&
		    (!worst || is_later(e, worst) == (e->kind == BAG_ITEM_FIRST)))
			worst = e;
	return worst;
}

static size_t most_of(const struct bag_entry *e)
{
	return e->at_most ? e->at_most : 1;
}

static bool is_limited(const struct bag_entry *e)
{
	return e->kind == BAG_ITEM_FIRST || e->kind == BAG_ITEM_RECENT;
}

/* --- packing ---------------------------------------------------------------------------------- */

void bag_item_begin_within(struct bag *b, struct bag_pending *p, const struct bag_entry *head,
			   uint32_t room)
{
	p->room = room;
	p->is_full = b->words + BAG_HEAD_WORDS > room;
	p->entry = p->is_full ? NULL : entry_at(b, b->words);
	if (p->is_full)
		return;
	*p->entry = *head;
	p->entry->words = BAG_HEAD_WORDS;
	p->entry->nr = 0;
}

void bag_item_begin(struct bag *b, struct bag_pending *p, const struct bag_entry *head)
{
	bag_item_begin_within(b, p, head, BAG_WORDS);
}

uint64_t *bag_item_words(struct bag *b, struct bag_pending *p, size_t nr)
{
	uint64_t *words;

	if (p->is_full || b->words + p->entry->words + nr > p->room) {
		p->is_full = true;
		return NULL;
	}
	words = &b->entries[b->words + p->entry->words];
	p->entry->words = (uint16_t)(p->entry->words + nr);
	return words;
}

uint64_t bag_last(const struct bag *b, uint32_t slot)
{
	uint64_t last = 0;

	for (const struct bag_entry *e = bag_next(b, slot, NULL); e; e = bag_next(b, slot, e))
		last = e->order > last ? e->order : last;
	return last;
}

/* The most recent one of a slot: mostly it is as long as the one before. */
static bool put_over(struct bag *b, const struct bag_entry *e)
{
	const struct bag_entry *old;

	if (e->kind != BAG_ITEM_RECENT || e->at_most > 1)
		return false;
	old = bag_next(b, e->slot, NULL);
	if (!old || old->words != e->words || old->kind == BAG_SPILLED)
		return false;
	if (b->flags & BAG_HAS_SPILLED && bag_next(b, e->slot, old))
		return false;
	bag_copy_words((uint64_t *)(void *)entry_at(b, word_of(b, old)),
		       (const uint64_t *)(const void *)e, e->words);
	return true;
}

/* What was spilled before all of the most recent ones is not among them. */
static void cut_spilled(struct bag *b, const struct bag_entry *e)
{
	uint32_t slot = e->slot;
	uint64_t first;

	if (!(b->flags & BAG_HAS_SPILLED) || e->kind != BAG_ITEM_RECENT ||
	    nr_here(b, slot) < most_of(e))
		return;
	first = worst_of(b, slot)->order;
	for (e = bag_next(b, slot, NULL); e;)
		if (e->kind == BAG_SPILLED && e->order < first) {
			cut_out(b, e);
			e = bag_next(b, slot, NULL);
		} else {
			e = bag_next(b, slot, e);
		}
}

/* What this writer has packed of the slot already, if it is still what it has changed itself. */
static struct bag_entry *growing(const struct bag *b, const struct bag_entry *by,
				 const struct bag_writer *w)
{
	const struct bag_entry *e = NULL;

	while ((e = bag_next(b, by->slot, e)))
		if (e->kind == BAG_ITEMS && e->writer == w->id &&
		    e->words + by->words <= GROWN_WORDS + BAG_HEAD_WORDS)
			return entry_at(b, word_of(b, e));
	return NULL;
}

/* Up, from the back. */
static void move_up(uint64_t *words, size_t nr, size_t by)
{
	while (nr--) {
		words[nr + by] = words[nr];
		__asm__("" : "+r"(words) : : "memory");
	}
}

/* Tuples of an entry that is not in the bag yet go behind those of the one that grows. */
static bool grow(struct bag *b, const struct bag_entry *by, struct bag_writer *w, uint64_t time)
{
	struct bag_entry *e = growing(b, by, w);
	size_t nr = by->words - BAG_HEAD_WORDS, end, behind;
	uint64_t words[GROWS_WORDS];

	if (!e || nr > GROWS_WORDS)
		return false;
	end = word_of(b, e) + e->words;
	behind = b->words - end;
	e->nr = (uint16_t)(e->nr + by->nr);
	bag_copy_words(words, (const uint64_t *)(const void *)(by + 1), nr);
	move_up(&b->entries[end], behind, nr); /* to where `by` is */
	bag_copy_words(&b->entries[end], words, nr);
	e->words = (uint16_t)(e->words + nr);
	e->change = (uint32_t)++w->last;
	b->words = (uint16_t)(b->words + nr);
	b->order = time > b->order ? time : b->order + 1;
	return true;
}

bool bag_item_commit(struct bag *b, struct bag_pending *p, struct bag_writer *w, uint64_t time)
{
	struct bag_entry *e = p->entry;

	if (p->is_full)
		return false;
	if (e->kind == BAG_ITEMS && grow(b, e, w, time))
		return true;
	/* no entry has a higher order than the bag */
	bag_change(b, e, w, time, time > b->order ? b->order : bag_last(b, e->slot));
	if (put_over(b, e))
		return true;
	b->words = (uint16_t)(b->words + e->words);
	while (is_limited(e) && nr_here(b, e->slot) > most_of(e)) {
		const struct bag_entry *worst = worst_of(b, e->slot);
		size_t nr = worst->words;

		cut_out(b, worst);
		if (worst == e)
			return true;
		e = (struct bag_entry *)(void *)((uint64_t *)(void *)e - nr);
	}
	cut_spilled(b, e);
	return true;
}

/* --- joining ---------------------------------------------------------------------------------- */

static bool same_words(const uint64_t *a, const uint64_t *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The entry that it is another state of; entries up to this word are looked at. */
static struct bag_entry *twin_of(const struct bag *b, const struct bag_entry *e, size_t until)
{
	for (size_t at = 0; at < until; at += entry_at(b, at)->words) {
		struct bag_entry *o = entry_at(b, at);

		if (o->writer != e->writer || o->slot != e->slot || o->kind != e->kind)
			continue;
		if (e->kind != BAG_GROUP) {
			if (o->order == e->order)
				return o;
		} else if (o->nr_key_words == e->nr_key_words && o->words == e->words &&
			   same_words((uint64_t *)(void *)(o + 1) + 1,
				      (const uint64_t *)(const void *)(e + 1) + 1,
				      e->nr_key_words)) {
			return o;
		}
	}
	return NULL;
}

/* Whether it belongs to those that are kept; the one that has to go for it is gone then. */
static bool makes_room(struct bag *b, const struct bag_entry *e, size_t *until)
{
	const struct bag_entry *worst;

	if (!is_limited(e) || nr_here(b, e->slot) < most_of(e))
		return true;
	worst = worst_of(b, e->slot);
	if (is_later(e, worst) != (e->kind == BAG_ITEM_RECENT))
		return false;
	if (word_of(b, worst) < *until)
		*until -= worst->words;
	cut_out(b, worst);
	return true;
}

struct joining {
	struct bag *to;
	struct bag_writer *w;
	struct bag_spill *s; /* or NULL */
	size_t until;        /* where twins may be */
};

/* It finds no room: others may go, or it does. Entries have other places then. */
static bool join_beyond(struct joining *j, const struct bag_entry *e)
{
	bool is_kept;

	if (!j->s)
		return false;
	is_kept =
		bag_make_room(j->to, e->words, j->w, j->s) || bag_spill_entry(j->to, e, j->w, j->s);
	j->until = j->to->words;
	return is_kept;
}

/* Whether anything is other than before. */
static bool join_entry(struct joining *j, const struct bag_entry *e)
{
	struct bag *to = j->to;
	struct bag_entry *twin = twin_of(to, e, j->until);
	const uint64_t *words = (const uint64_t *)(const void *)e;
	size_t room = j->s ? j->s->room : BAG_WORDS;

	if (twin) {
		if (e->order < twin->order ||
		    (e->order == twin->order && e->change <= twin->change))
			return false;
		if (e->words == twin->words) {
			bag_copy_words((uint64_t *)(void *)twin, words, e->words);
			return true;
		}
		j->until -= twin->words;
		cut_out(to, twin);
	}
	if (!twin && !makes_room(to, e, &j->until))
		return false;
	if (to->words + e->words > room) {
		if (!join_beyond(j, e)) {
			bag_lose(to, e->slot);
			return true;
		}
		if (to->words + e->words > room)
			return true;
	}
	bag_copy_words(&to->entries[to->words], words, e->words);
	to->words = (uint16_t)(to->words + e->words);
	return true;
}

/* Words of entries that both begin with. What comes back with an answer is mostly what went with
 * the question. */
static size_t same_front(const struct bag *a, const struct bag *b)
{
	size_t at = 0, nr;

	for (; at < a->words && at < b->words; at += nr) {
		nr = entry_at(a, at)->words;
		if (entry_at(b, at)->words != nr ||
		    !same_words(&a->entries[at], &b->entries[at], nr))
			break;
	}
	return at;
}

void bag_join_spilling(struct bag *to, const struct bag *from, struct bag_writer *w,
		       struct bag_spill *s)
{
	struct joining j = { to, w, s, to->words };
	bool is_other = false;

	if (bag_is_empty(from))
		return;
	if (bag_is_empty(to)) {
		replace(to, from);
		return;
	}
	for (size_t at = same_front(to, from); at < from->words; at += entry_at(from, at)->words)
		is_other |= join_entry(&j, entry_at(from, at));
	for (size_t i = 0; i < from->nr_lost; i++)
		bag_lose(to, from->lost[i]);
	is_other |= from->flags & ~to->flags;
	to->flags |= from->flags;
	if (is_other)
		to->order = (from->order > to->order ? from->order : to->order) + 1;
}

void bag_join(struct bag *to, const struct bag *from)
{
	bag_join_spilling(to, from, NULL, NULL);
}
