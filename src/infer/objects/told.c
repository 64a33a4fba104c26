#include "infer/objects/told.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/deed.h"
#include "model/mention.h"

enum { MAX_IDS = 64 }; /* of a line; lists beyond it say no more of who belongs to whom */

void told_init(struct told *t, struct shelf *shelf, size_t max_index)
{
	*t = (struct told){ .shelf = shelf, .max_index = max_index };
	t->shown.arena.shelf = t->values.arena.shelf = t->texts.arena.shelf = shelf;
	t->note_at.shelf = t->notes_before.shelf = t->again_at.shelf = shelf;
	t->turns.shelf = t->turns.turn_at.shelf = shelf;
}

void told_done(struct told *t)
{
	names_done(&t->shown);
	names_done(&t->values);
	names_done(&t->texts);
	shelf_done(t->shelf, &t->ids);
	shelf_done(t->shelf, &t->notes);
	vec_done(&t->templates);
	map_done(&t->note_at);
	map_done(&t->notes_before);
	map_done(&t->template_at);
	shelf_done(t->shelf, &t->again);
	map_done(&t->again_at);
	turns_done(&t->turns);
	told_init(t, t->shelf, t->max_index);
}

static sym_t keep(struct told *t, struct names *in, struct str s)
{
	uint32_t before = in->nr;
	sym_t sym = names_add(in, s);

	if (in->nr != before)
		t->text_bytes += s.n + 40;
	return sym;
}

/* The same where it is likely to be the one that stood there before. */
static sym_t keep_again(struct told *t, struct names *in, struct str s, sym_t before)
{
	return before && str_eq(names_str(in, before), s) ? before : keep(t, in, s);
}

static uint32_t template_of(struct told *t, const struct mention *m)
{
	uint64_t *at = map_at(&t->template_at, m->template);

	if (!*at) {
		vec_push(&t->templates, (struct told_template){ .hash = m->template });
		*at = t->templates.nr;
	}
	if (m->title.n && !t->templates.v[*at - 1].title) {
		t->templates.v[*at - 1].title = keep(t, &t->texts, m->title);
		t->templates.v[*at - 1].deed = deed_of(m->title);
	}
	return (uint32_t)(*at - 1);
}

static uint64_t mixed(uint64_t hash, uint64_t with)
{
	hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static bool is_same(const struct told *t, const struct note *a, const struct note *b)
{
	if (a->file != b->file || a->node != b->node || a->template != b->template ||
	    a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		const struct told_id *x = &t->ids.v[a->ids + i], *y = &t->ids.v[b->ids + i];

		if (x->shown != y->shown || x->value != y->value || x->life != y->life)
			return false;
	}
	return true;
}

static void widen(struct note *old, const struct note *by)
{
	if (by->first_ns != NS_NONE && (old->first_ns == NS_NONE || by->first_ns < old->first_ns))
		old->first_ns = by->first_ns;
	if (by->last_ns != NS_NONE && (old->last_ns == NS_NONE || by->last_ns > old->last_ns))
		old->last_ns = by->last_ns;
	old->count += by->count;
	if (by->level > old->level)
		old->level = by->level;
}

static void note_again(struct told *t, const struct note *old, const struct note *by)
{
	size_t note = (size_t)(old - t->notes.v);

	if (note >= t->nr_settled)
		return;
	t->was_undated |= old->first_ns == NS_NONE && by->first_ns != NS_NONE;
	if (!(*map_at(&t->again_at, note + 1))++)
		shelf_push(t->shelf, &t->again, (struct told_again){ (uint32_t)note, old->count });
}

void told_settled(struct told *t)
{
	t->nr_settled = t->notes.nr;
	t->again.nr = 0;
	map_done(&t->again_at);
	t->was_undated = false;
}

/* The note of this hash and what it says, or NULL. */
static struct note *find_note(const struct told *t, const struct map *in, uint64_t hash,
			      const struct note *n)
{
	const uint64_t *at;

	for (; (at = map_find(in, hash)) && *at; hash++)
		if (is_same(t, &t->notes.v[*at - 1], n))
			return &t->notes.v[*at - 1];
	return NULL;
}

/* Which notes there are is known of a bounded number of late ones: an equal one that comes after
 * so many others is told twice, with its lines counted in both. */
static void part_index(struct told *t)
{
	struct map late = t->note_at;

	if (!t->max_index || t->note_at.nr < t->max_index)
		return;
	map_clear(&t->notes_before);
	t->note_at = t->notes_before;
	t->notes_before = late;
}

/* The ids of the note stand at the end of t->ids: they stay when it is new. */
static void place_note(struct told *t, const struct note *n)
{
	struct note *old;
	uint64_t hash = mixed(mixed(n->template, n->file), n->node);

	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &t->ids.v[n->ids + i];

		hash = mixed(hash, map_pair(id->shown, id->value) + id->life);
	}
	old = find_note(t, &t->note_at, hash, n);
	if (!old)
		old = find_note(t, &t->notes_before, hash, n);
	if (old) {
		note_again(t, old, n);
		widen(old, n);
		t->ids.nr = n->ids;
		t->templates.v[n->template].last = (uint32_t)(old - t->notes.v) + 1;
		return;
	}
	part_index(t);
	while (*map_at(&t->note_at, hash))
		hash++;
	shelf_push(t->shelf, &t->notes, *n);
	*map_at(&t->note_at, hash) = t->notes.nr;
	t->templates.v[n->template].last = (uint32_t)t->notes.nr;
}

/* Hexadecimal values that nothing names are told apart by their length, which is that of one kind.
 */
static sym_t shown_as(struct told *t, const struct named *n, sym_t before)
{
	char text[32];

	if (!str_eq(n->type, STR("hex")))
		return keep_again(t, &t->shown, n->type, before);
	if (str_starts(n->value, STR("0x")))
		return keep(t, &t->shown, STR("hex-0x"));
	snprintf(text, sizeof(text), "hex-%zu", n->value.n);
	return keep(t, &t->shown, str_of(text));
}

/* What lines of the template showed at that place last, or 0. */
static sym_t shown_before(const struct told *t, uint32_t template, size_t place)
{
	uint32_t last = t->templates.v[template].last;
	const struct note *n = last ? &t->notes.v[last - 1] : NULL;

	return n && place < n->nr ? t->ids.v[n->ids + place].shown : 0;
}

static uint16_t life_of(struct told *t, const struct note *n, const struct mention *m, size_t i,
			sym_t value, uint64_t *log)
{
	if (!turns_may(&m->v[i]))
		return 0;
	if (!*log)
		*log = str_hash(m->file);
	return turns_life(&t->turns, *log, &m->v[i], value, t->templates.v[n->template].deed, m);
}

/* lives: of each identifier, or NULL where they are to be found out. */
static void add(struct told *t, const struct mention *m, const uint16_t *lives)
{
	uint64_t log = 0;
	struct note n = { .first_ns = m->first_ns,
			  .last_ns = m->last_ns,
			  .count = m->count,
			  .node = keep_again(t, &t->texts, m->node, t->node),
			  .file = keep_again(t, &t->texts, m->file, t->file),
			  .thread = keep_again(t, &t->texts, m->thread, t->thread),
			  .template = template_of(t, m),
			  .ids = (uint32_t)t->ids.nr,
			  .level = (uint8_t)m->level };

	t->node = n.node;
	t->file = n.file;
	t->thread = n.thread;
	for (size_t i = 0; i < m->nr && i < MAX_IDS; i++) {
		sym_t value = keep(t, &t->values, m->v[i].value);
		struct told_id id = { shown_as(t, &m->v[i], shown_before(t, n.template, i)), value,
				      (uint16_t)m->v[i].place,
				      lives ? lives[i] : life_of(t, &n, m, i, value, &log) };

		shelf_push(t->shelf, &t->ids, id);
		n.nr++;
	}
	t->nr_left += (m->nr - n.nr) * m->count;
	place_note(t, &n);
}

void told_add(struct told *t, const struct mention *m)
{
	add(t, m, NULL);
}

size_t told_bytes(const struct told *t)
{
	return t->text_bytes + turns_bytes(&t->turns) + t->ids.nr * sizeof(*t->ids.v) +
	       t->notes.nr * (sizeof(*t->notes.v) + 2 * sizeof(struct map_slot)) +
	       t->templates.nr * sizeof(*t->templates.v);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median_last(const struct told *t)
{
	int64_t *v = shelf_alloc(t->shelf, mem_bytes(t->notes.nr + 1, sizeof(*v))), median;

	for (size_t i = 0; i < t->notes.nr; i++)
		v[i] = t->notes.v[i].last_ns;
	qsort(v, t->notes.nr, sizeof(*v), by_time);
	median = v[t->notes.nr / 2];
	shelf_give(t->shelf, v);
	return median;
}

static void move_note(struct told *to, const struct told *from, const struct note *n)
{
	const struct told_template *old = &from->templates.v[n->template];
	struct named v[MAX_IDS];
	uint16_t lives[MAX_IDS];
	struct mention m = { n->first_ns, n->last_ns, n->count, .level = n->level, .v = v };

	m.node = names_str(&from->texts, n->node);
	m.file = names_str(&from->texts, n->file);
	m.thread = names_str(&from->texts, n->thread);
	m.template = old->hash;
	m.title = names_str(&from->texts, old->title);
	for (; m.nr < n->nr; m.nr++) {
		const struct told_id *id = &from->ids.v[n->ids + m.nr];

		v[m.nr] = (struct named){ names_str(&from->shown, id->shown),
					  names_str(&from->values, id->value), id->place };
		lives[m.nr] = id->life;
	}
	add(to, &m, lives);
}

uint64_t told_forget(struct told *t)
{
	struct told fresh;
	int64_t median = median_last(t);
	uint64_t nr_lines = 0;
	size_t nr_half = t->notes.nr / 2, nr_equal = 0;

	told_init(&fresh, t->shelf, t->max_index);
	vec_each (&t->notes, n) {
		/* many may end at the very time of the median: of these the first ones go */
		if (n->last_ns < median || (n->last_ns == median && nr_equal++ < nr_half / 2))
			nr_lines += n->count;
		else
			move_note(&fresh, t, n);
	}
	fresh.nr_left = t->nr_left;
	fresh.turns = t->turns;
	t->turns = (struct turns){ 0 };
	turns_forget(&fresh.turns, median, &t->values, &fresh.values);
	told_done(t);
	*t = fresh;
	return nr_lines;
}
