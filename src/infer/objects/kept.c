/* A kind is known again by its id, a thing by a hash of what names it. What is kept of two things
 * holds as long as every line that was asked before still names both as it did, and things of a
 * kind have numbers in the order in which they had them; a hash over the lines of each thing tells.
 * What old lines tell of other things is taken out and asked once more, and kinds that were not
 * there are asked about as if nothing had been kept: so the result is that of one settling of all
 * lines. Time goes by things and lines, a few instructions each; memory by things named together.
 */
#include "infer/objects/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/census.h"
#include "infer/objects/told.h"

#define NO_THING UINT32_MAX

static uint64_t mixed(uint64_t hash, uint64_t with)
{
	hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

void kept_init(struct kept *k, struct shelf *shelf)
{
	*k = (struct kept){ .shelf = shelf };
}

static void tie_free(struct kept_tie *t, struct shelf *shelf)
{
	shelf_done(shelf, &t->of_a.v);
	shelf_done(shelf, &t->of_b.v);
	map_done(&t->lines);
	free(t);
}

static void step_done(struct kept_step *s, struct shelf *shelf)
{
	vec_each (&s->ties, t)
		if (*t)
			tie_free(*t, shelf);
	vec_done(&s->ties);
	vec_done(&s->kinds);
	map_done(&s->kind_at);
	map_done(&s->tie_at);
	shelf_done(shelf, &s->things);
}

void kept_forget(struct kept *k)
{
	for (size_t i = 0; i < KEPT_STEPS; i++)
		step_done(&k->steps[i], k->shelf);
	k->nr_notes = k->nr_logs = 0;
}

void kept_done(struct kept *k)
{
	kept_forget(k);
}

void kept_settled(struct kept *k, const struct census *w)
{
	k->nr_notes = w->told->notes.nr;
	k->nr_logs = w->logs.nr;
	k->first_ns = w->first_ns;
	k->is_small = w->is_small;
}

/* --- who is who ----------------------------------------------------------------------------- */

/* Of a thing, by the kinds and values that name it. */
static uint64_t id_of(const struct census *w, uint32_t thing)
{
	const struct thing *t = &w->things.v[thing];
	uint64_t id = mixed(mixed(mixed(1, w->kinds.v[t->kind].id), t->value), t->life);

	return t->scope ? mixed(id, id_of(w, t->scope - 1)) : id;
}

/* Things kind by kind; at: where each of them stands there. */
static void list_kinds(struct kept_step *s, const struct census *w, struct shelf *shelf,
		       uint32_t *at)
{
	uint32_t *next = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*next))), sum = 0;

	vec_each (&w->things, t)
		next[t->kind]++;
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		const struct kind *k = &w->kinds.v[i];
		struct kept_kind kind = { .id = k->id, .begin = sum };

		kind.is_kept = kind_is_kept(k);
		kind.is_settled = k->is_settled;
		sum += next[i];
		kind.end = sum;
		next[i] = kind.begin;
		vec_push(&s->kinds, kind);
		*map_at(&s->kind_at, k->id) = s->kinds.nr;
	}
	shelf_reserve(shelf, &s->things, sum);
	s->things.nr = sum;
	for (uint32_t i = 0; i < w->things.nr; i++) {
		census_look(w, i);
		at[i] = next[w->things.v[i].kind]++;
		s->things.v[at[i]] = (struct kept_thing){ .id = id_of(w, i), .number = i };
	}
	free(next);
}

/* Of a line that names several of two kinds it is not told who is with whom: that is a part of
 * what it says of each of them. */
static void add_line(struct kept_step *s, const struct census *w, const uint32_t *at,
		     const uint32_t *v, size_t nr, uint64_t line)
{
	uint32_t several = UINT32_MAX;
	bool is_crowded = false;

	for (size_t i = 1; i < nr; i++) {
		uint32_t kind = w->things.v[v[i]].kind;

		for (size_t j = 0; j < i && kind != several; j++) {
			if (w->things.v[v[j]].kind != kind || !kind_is_kept(&w->kinds.v[kind]))
				continue;
			is_crowded |= several != UINT32_MAX;
			several = kind;
		}
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t is_one = 1;

		for (size_t j = 0; j < nr && is_crowded; j++)
			is_one &= i == j || w->things.v[v[i]].kind != w->things.v[v[j]].kind;
		s->things.v[at[v[i]]].lines += mixed(mixed(1, line), is_one);
	}
}

static void add_lines(struct kept_step *s, const struct census *w, const uint32_t *at, size_t notes,
		      size_t to_note, size_t logs, size_t to_log)
{
	for (size_t i = notes; i < to_note; i++)
		add_line(s, w, at, w->named.v + w->named_at.v[i],
			 w->named_at.v[i + 1] - w->named_at.v[i], i);
	for (size_t i = logs; i < to_log && w->path.nr; i++)
		add_line(s, w, at, w->path.v + w->path_at.v[i],
			 w->path_at.v[i + 1] - w->path_at.v[i], ((uint64_t)1 << 40) + i);
}

/* Where a thing of the kind stands, from there on, or UINT32_MAX. known: filled when it is needed
 * for the first time. */
static uint32_t find_thing(const struct kept_step *s, const struct kept_kind *kind, uint32_t from,
			   uint64_t id, struct map *known)
{
	const uint64_t *at;

	if (from < kind->end && s->things.v[from].id == id)
		return from;
	for (uint32_t i = kind->begin; i < kind->end && !known->nr; i++) {
		map_reserve(known, kind->end - kind->begin);
		for (uint32_t j = kind->begin; j < kind->end; j++)
			*map_at(known, s->things.v[j].id) = j;
	}
	at = map_find(known, id);
	return at && *at >= from ? (uint32_t)*at : UINT32_MAX;
}

/* Which of its things are as they were, and their numbers now. */
static void match_things(struct keeping *k, const struct kept_kind *old,
			 const struct kept_kind *now)
{
	struct map known = { .shelf = k->kept->shelf };
	uint32_t from = now->begin;

	for (uint32_t i = old->begin; i < old->end; i++) {
		const struct kept_thing *t = &k->before->things.v[i], *found;
		uint32_t at = find_thing(&k->now, now, from, t->id, &known);

		if (at == UINT32_MAX)
			continue;
		from = at + 1;
		found = &k->now.things.v[at];
		if (found->lines != t->lines)
			continue;
		k->number[t->number] = found->number;
		k->is_other[found->number] = false;
	}
	map_done(&known);
}

static const struct kept_kind *kind_before(const struct keeping *k, const struct kept_kind *now)
{
	const uint64_t *at = map_find(&k->before->kind_at, now->id);
	const struct kept_kind *old = at ? &k->before->kinds.v[*at - 1] : NULL;

	return old && old->is_kept && now->is_kept && old->is_settled == now->is_settled ? old
											 : NULL;
}

static size_t nr_numbers(const struct kept_step *s)
{
	size_t nr = 0;

	vec_each (&s->things, t)
		nr = t->number >= nr ? (size_t)t->number + 1 : nr;
	return nr;
}

static bool may_go_on(const struct kept *k, const struct census *w)
{
	return k->nr_notes && k->first_ns == w->first_ns && !k->is_small && !w->is_small &&
	       !w->told->was_undated;
}

/* Scopes of other kinds than theirs are told as lines are, and anew each time. */
static void leave_odd(struct keeping *k, const struct census *w)
{
	vec_each (&w->things, t)
		if (t->scope && w->kinds.v[t->kind].scope != w->things.v[t->scope - 1].kind + 1)
			k->is_known[t->kind] = false;
}

static void match(struct keeping *k, const struct census *w)
{
	size_t nr = nr_numbers(k->before);

	k->is_known = mem_zalloc(w->kinds.nr + 1);
	k->is_other = shelf_alloc(k->kept->shelf, w->things.nr + 1);
	k->number = shelf_alloc(k->kept->shelf, mem_bytes(nr + 1, sizeof(*k->number)));
	memset(k->number, 0xff, nr * sizeof(*k->number));
	/* who is named by new lines only is no other */
	vec_each (&k->now.things, t)
		k->is_other[t->number] = t->lines;
	for (uint32_t i = 0; may_go_on(k->kept, w) && i < w->kinds.nr; i++) {
		const struct kept_kind *now = &k->now.kinds.v[i], *old = kind_before(k, now);

		k->is_known[i] = old;
		if (old)
			match_things(k, old, now);
	}
	leave_odd(k, w);
	for (uint32_t i = 0; i < w->things.nr; i++) {
		uint32_t kind = w->things.v[i].kind;

		census_look(w, i);
		k->is_other[i] |= !k->is_known[kind];
		k->is_any_other |= k->is_other[i] && kind_is_kept(&w->kinds.v[kind]);
	}
}

void keeping_begin(struct keeping *k, const struct census *w, bool is_settled)
{
	struct kept *kept = w->kept;
	uint32_t *at;

	*k = (struct keeping){ .kept = kept };
	if (!kept || w->nr_related >= KEPT_STEPS)
		return;
	k->before = &kept->steps[w->nr_related];
	if (is_settled) {
		step_done(k->before, kept->shelf);
		return;
	}
	at = shelf_alloc(kept->shelf, mem_bytes(w->things.nr + 1, sizeof(*at)));
	list_kinds(&k->now, w, kept->shelf, at);
	add_lines(&k->now, w, at, 0, kept->nr_notes, 0, kept->nr_logs);
	match(k, w);
	add_lines(&k->now, w, at, kept->nr_notes, w->told->notes.nr, kept->nr_logs, w->logs.nr);
	shelf_give(kept->shelf, at);
}

/* --- ties ----------------------------------------------------------------------------------- */

static uint64_t key_of(uint64_t a, uint64_t b)
{
	return a < b ? mixed(mixed(1, a), b) : mixed(mixed(1, b), a);
}

/* Kinds may have changed places. */
static void turn(struct kept_tie *t, uint64_t id_a, uint64_t id_b)
{
	struct kept_pairs swap = t->of_a;

	if (t->id_a == id_a)
		return;
	t->of_a = t->of_b;
	t->of_b = swap;
	t->id_a = id_a;
	t->id_b = id_b;
}

bool keeping_kinds(const struct keeping *k, const struct kept_tie *t, uint32_t *a, uint32_t *b)
{
	const uint64_t *at_a = map_find(&k->now.kind_at, t->id_a);
	const uint64_t *at_b = map_find(&k->now.kind_at, t->id_b);
	uint32_t x, y;

	if (!at_a || !at_b)
		return false;
	x = (uint32_t)*at_a - 1;
	y = (uint32_t)*at_b - 1;
	*a = x < y ? x : y;
	*b = x < y ? y : x;
	return keeping_has(k, x, y);
}

struct kept_tie *keeping_tie(struct keeping *k, const struct census *w, uint32_t a, uint32_t b,
			     bool is_fresh)
{
	uint64_t id_a = w->kinds.v[a].id, id_b = w->kinds.v[b].id;
	uint64_t *at = is_fresh ? NULL : map_find(&k->before->tie_at, key_of(id_a, id_b));
	struct kept_tie *t = at ? k->before->ties.v[*at - 1] : NULL;

	if (t) {
		k->before->ties.v[*at - 1] = NULL;
		t->is_old = true;
		turn(t, id_a, id_b);
	} else {
		t = mem_zalloc(sizeof(*t));
		t->id_a = id_a;
		t->id_b = id_b;
	}
	if (t->is_old)
		k->kept->nr_gone_on++;
	else
		k->kept->nr_anew++;
	vec_push(&k->now.ties, t);
	*map_at(&k->now.tie_at, key_of(id_a, id_b)) = k->now.ties.nr;
	return t;
}

void keeping_end(struct keeping *k)
{
	if (!k->is_known)
		return;
	free(k->is_known);
	shelf_give(k->kept->shelf, k->is_other);
	shelf_give(k->kept->shelf, k->number);
	step_done(k->before, k->kept->shelf);
	*k->before = k->now;
}

/* --- pairs ---------------------------------------------------------------------------------- */

static uint64_t both_of(const void *record)
{
	const struct pair *p = record;

	return map_pair(p->child, p->parent);
}

static uint64_t child_of(const void *record)
{
	return ((const struct pair *)record)->child;
}

static uint64_t template_of(const void *record)
{
	return ((const struct pair *)record)->template;
}

static int compare(const struct pair *a, const struct pair *b)
{
	uint64_t x = both_of(a), y = both_of(b);

	if (x != y)
		return x < y ? -1 : 1;
	return (a->template > b->template) - (a->template <b->template);
}

static void widen(struct pair *p, const struct pair *by)
{
	p->count += by->count;
	p->nr_notes += by->nr_notes;
	if (by->first_ns < p->first_ns)
		p->first_ns = by->first_ns;
}

/* In order, equal ones put together. How many are left. */
static size_t in_order(struct shelf *shelf, struct pair *v, size_t nr)
{
	size_t to = 0;

	sort_records_on(shelf, v, nr, sizeof(*v), template_of);
	sort_records_on(shelf, v, nr, sizeof(*v), both_of);
	for (size_t i = 0; i < nr; i++) {
		if (to && !compare(&v[to - 1], &v[i]))
			widen(&v[to - 1], &v[i]);
		else
			v[to++] = v[i];
	}
	return to;
}

/* Puts those aside that are not there yet, in front; the others are widened. How many. */
static size_t widen_known(struct kept_pairs *p, struct pair *v, size_t nr)
{
	size_t to = 0, low = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t high = p->v.nr;

		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (compare(&p->v.v[mid], &v[i]) < 0)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < p->v.nr && !compare(&p->v.v[low], &v[i]))
			widen(&p->v.v[low], &v[i]);
		else
			v[to++] = v[i];
	}
	return to;
}

/* What is new has high numbers, most of it, so that little has to move. */
static void put_in(struct kept_pairs *p, struct shelf *shelf, struct pair *v, size_t nr)
{
	size_t old = p->v.nr, to;

	nr = widen_known(p, v, nr);
	to = old + nr;
	shelf_reserve(shelf, &p->v, to);
	p->v.nr = to;
	while (nr) {
		if (old && compare(&p->v.v[old - 1], &v[nr - 1]) > 0)
			p->v.v[--to] = p->v.v[--old];
		else
			p->v.v[--to] = v[--nr];
	}
}

/* What is told of others once more is taken out; lines: by template, or NULL. */
static void take_numbers(struct kept_pairs *p, const uint32_t *number, struct map *lines)
{
	size_t to = 0;

	vec_each (&p->v, pair) {
		uint32_t child = number[pair->child], parent = number[pair->parent];

		if (child == NO_THING || parent == NO_THING) {
			if (lines)
				*map_at(lines, pair->template) -= pair->count;
			continue;
		}
		/* pages that stay as they are need not be written */
		if (pair != &p->v.v[to] || pair->child != child || pair->parent != parent) {
			p->v.v[to] = *pair;
			p->v.v[to].child = child;
			p->v.v[to].parent = parent;
		}
		to++;
	}
	p->v.nr = to;
}

void kept_tie_add(struct kept_tie *t, const struct keeping *k, struct pair *of_b, size_t nr)
{
	struct shelf *shelf = k->kept->shelf;
	struct pair *of_a;
	uint64_t *at = NULL;

	if (t->is_old) {
		take_numbers(&t->of_a, k->number, NULL);
		take_numbers(&t->of_b, k->number, &t->lines);
		t->is_old = false;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!i || of_b[i].template != of_b[i - 1].template)
			at = map_at(&t->lines, of_b[i].template);
		*at += of_b[i].count;
	}
	nr = in_order(shelf, of_b, nr);
	of_a = shelf_alloc(shelf, mem_bytes(nr + 1, sizeof(*of_a)));
	for (size_t i = 0; i < nr; i++) {
		of_a[i] = of_b[i];
		of_a[i].parent = of_b[i].child;
		of_a[i].child = of_b[i].parent;
	}
	put_in(&t->of_b, shelf, of_b, nr);
	sort_records_on(shelf, of_a, nr, sizeof(*of_a), child_of);
	put_in(&t->of_a, shelf, of_a, nr);
	shelf_give(shelf, of_a);
}
