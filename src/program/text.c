#include "program/text.h"

#include <stdlib.h>

static struct text one_part(struct arena *a, struct part p)
{
	struct text t = { arena_new(a, struct version), 1 };

	t.versions->parts = arena_new(a, struct part);
	*t.versions->parts = p;
	t.versions->nr = 1;
	t.versions->letters = p.kind == PART_TEXT ? (uint32_t)p.text.n : 0;
	return t;
}

struct text text_empty(struct arena *a)
{
	struct text t = { arena_new(a, struct version), 1 };

	return t;
}

struct text text_of(struct arena *a, struct str constant)
{
	if (!constant.n)
		return text_empty(a);
	return one_part(a, (struct part){ .kind = PART_TEXT, .text = arena_str(a, constant) });
}

struct text text_hole(struct arena *a, enum hole_type type, struct str from)
{
	return text_hole_at(a, type, from, NULL);
}

struct text text_hole_at(struct arena *a, enum hole_type type, struct str from,
			 const struct path *path)
{
	struct part hole = { path, PART_HOLE, type, arena_str(a, from) };

	return one_part(a, hole);
}

struct text text_any(struct arena *a, struct str from)
{
	return one_part(a, (struct part){ NULL, PART_ANY, HOLE_OBJECT, arena_str(a, from) });
}

static void join_versions(struct arena *a, const struct version *x, const struct version *y,
			  struct version *to)
{
	uint32_t nr = x->nr + y->nr;

	if (nr > PARTS_MAX) {
		*to = *x;
		return;
	}
	to->parts = arena_array(a, struct part, nr + 1U);
	if (x->nr)
		memcpy(to->parts, x->parts, x->nr * sizeof(*x->parts));
	if (y->nr)
		memcpy(to->parts + x->nr, y->parts, y->nr * sizeof(*y->parts));
	to->nr = nr;
	to->letters = x->letters + y->letters;
	to->guesses = x->guesses + y->guesses;
}

/* The first words of a version: what begins differently was written differently. */
static struct str beginning(const struct version *v)
{
	for (uint32_t i = 0; i < v->nr; i++)
		if (v->parts[i].kind == PART_TEXT && v->parts[i].text.n > 2)
			return v->parts[i].text;
	return STR("");
}

static bool begins_like_one_of(const struct version *v, const struct version *kept, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (str_eq(beginning(v), beginning(&kept[i])))
			return true;
	return false;
}

static bool is_before(const struct version *x, const struct version *y)
{
	return x->guesses != y->guesses ? x->guesses < y->guesses : x->letters > y->letters;
}

/* The fewest guesses first, then the wordiest. Equal ones keep their order: the result is the same
 * everywhere. */
static void sort_versions(struct version *all, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		struct version v = all[i];
		uint32_t at = i;

		for (; at && is_before(&v, &all[at - 1]); at--)
			all[at] = all[at - 1];
		all[at] = v;
	}
}

/* Those that begin differently, then the wordiest; the others are moved to the end. */
static void choose(struct version *all, uint32_t nr, uint32_t room)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr && kept < room; i++) {
		struct version v = all[i];

		if (begins_like_one_of(&v, all, kept))
			continue;
		memmove(all + kept + 1, all + kept, (i - kept) * sizeof(*all));
		all[kept++] = v;
	}
}

/* Fits the same messages, wherever the values come from. */
static bool same_shape(const struct version *x, const struct version *y)
{
	if (x->nr != y->nr || x->letters != y->letters)
		return false;
	for (uint32_t i = 0; i < x->nr; i++)
		if (x->parts[i].kind != y->parts[i].kind ||
		    (x->parts[i].kind == PART_TEXT && !str_eq(x->parts[i].text, y->parts[i].text)))
			return false;
	return true;
}

static uint32_t drop_equal(struct version *all, uint32_t nr)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr; i++) {
		bool is_new = true;

		for (uint32_t k = 0; k < kept && is_new; k++)
			is_new = !same_shape(&all[k], &all[i]);
		if (is_new)
			all[kept++] = all[i];
	}
	return kept;
}

/* Moves the one with the fewest letters to the end. */
static struct version take_least(struct version *all, uint32_t nr)
{
	struct version least;
	uint32_t at = nr - 1;

	for (uint32_t i = nr; i--;)
		if (all[i].letters < all[at].letters)
			at = i;
	least = all[at];
	memmove(all + at, all + at + 1, (nr - 1 - at) * sizeof(*all));
	return all[nr - 1] = least;
}

/* Of those that begin alike, the wordiest and what the others have in common. How many are left. */
static uint32_t merge_alike(struct arena *a, struct version *all, uint32_t nr)
{
	struct version *kept = arena_array(a, struct version, 2U * nr + 1);
	uint32_t nr_kept = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct version rest;
		uint32_t nr_rest = 0;

		if (begins_like_one_of(&all[i], all, i))
			continue;
		kept[nr_kept++] = all[i];
		for (uint32_t k = i + 1; k < nr; k++)
			if (str_eq(beginning(&all[i]), beginning(&all[k])))
				rest = nr_rest++ ? version_cover(a, &rest, &all[k]) : all[k];
		if (nr_rest)
			kept[nr_kept++] = rest;
	}
	memcpy(all, kept, nr_kept * sizeof(*kept));
	sort_versions(all, nr_kept);
	return nr_kept;
}

/*
 * Too many: of most only what they have in common is kept, so that nothing which could be logged
 * is left without a version. Besides, the one that says least of all; it often has the best holes.
 */
static struct text keep_best(struct arena *a, struct version *all, uint32_t nr,
			     const struct version *cover)
{
	uint32_t room = VERSIONS_MAX - 2;
	struct version least, rest;

	sort_versions(all, nr);
	if (nr > VERSIONS_MAX)
		nr = drop_equal(all, nr);
	if (nr > VERSIONS_MAX && !cover)
		nr = merge_alike(a, all, nr);
	if (nr <= VERSIONS_MAX)
		return (struct text){ all, nr };
	least = take_least(all, nr);
	choose(all, nr - 1, room);
	if (cover) {
		rest = *cover;
	} else {
		rest = all[room];
		for (uint32_t i = room + 1; i + 1 < nr; i++)
			rest = version_cover(a, &rest, &all[i]);
	}
	all[room] = least;
	all[room + 1] = rest;
	sort_versions(all, VERSIONS_MAX);
	return (struct text){ all, VERSIONS_MAX };
}

static struct version cover_of(struct arena *a, struct text t)
{
	struct version cover = t.versions[0];

	for (uint32_t i = 1; i < t.nr; i++)
		cover = version_cover(a, &cover, &t.versions[i]);
	return cover;
}

struct text text_join(struct arena *a, struct text x, struct text y)
{
	struct version *all = arena_array(a, struct version, (size_t)x.nr * y.nr + 1);
	struct version cover, front, back;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x.nr; i++)
		for (uint32_t k = 0; k < y.nr; k++)
			join_versions(a, &x.versions[i], &y.versions[k], &all[nr++]);
	if (nr <= VERSIONS_MAX)
		return keep_best(a, all, nr, NULL);
	front = cover_of(a, x);
	back = cover_of(a, y);
	join_versions(a, &front, &back, &cover);
	return keep_best(a, all, nr, &cover);
}

struct text text_or(struct arena *a, struct text x, struct text y)
{
	struct version *all = arena_array(a, struct version, (size_t)x.nr + y.nr + 1);

	for (uint32_t i = 0; i < x.nr; i++)
		all[i] = x.versions[i];
	for (uint32_t i = 0; i < y.nr; i++)
		all[x.nr + i] = y.versions[i];
	return keep_best(a, all, x.nr + y.nr, NULL);
}

/* Neighbouring constants become one, and so do neighbours that may be anything. */
static void tidy_version(struct arena *a, struct version *v)
{
	struct part *parts = arena_array(a, struct part, v->nr + 1U);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		const struct part *p = &v->parts[i];
		struct part *last = nr ? &parts[nr - 1] : NULL;

		if (p->kind == PART_TEXT && last && last->kind == PART_TEXT)
			last->text = arena_fmt(a, "%.*s%.*s", (int)last->text.n, last->text.p,
					       (int)p->text.n, p->text.p);
		else if (!(p->kind == PART_ANY && last && last->kind == PART_ANY))
			parts[nr++] = *p;
	}
	v->parts = parts;
	v->nr = nr;
}

static bool same_parts(const struct version *x, const struct version *y)
{
	if (x->nr != y->nr)
		return false;
	for (uint32_t i = 0; i < x->nr; i++)
		if (x->parts[i].kind != y->parts[i].kind || x->parts[i].type != y->parts[i].type ||
		    !str_eq(x->parts[i].text, y->parts[i].text))
			return false;
	return true;
}

struct text text_tidy(struct arena *a, struct text x)
{
	struct version *all = arena_array(a, struct version, x.nr + 1U);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x.nr; i++) {
		bool is_new = true;

		all[nr] = x.versions[i];
		tidy_version(a, &all[nr]);
		for (uint32_t k = 0; k < nr; k++)
			is_new &= !same_parts(&all[k], &all[nr]);
		nr += is_new;
	}
	return keep_best(a, all, nr, NULL);
}

void text_guess(struct text t)
{
	for (uint32_t i = 0; i < t.nr; i++)
		t.versions[i].guesses++;
}

bool path_is_same(const struct path *x, const struct path *y)
{
	if (x->root != y->root || x->nr != y->nr)
		return false;
	for (uint16_t i = 0; i < x->nr; i++)
		if (!str_eq(x->fields[i], y->fields[i]))
			return false;
	return true;
}

static const struct path *keep_path(struct arena *a, const struct path *p)
{
	struct path *kept;

	if (!p)
		return NULL;
	kept = arena_new(a, struct path);
	*kept = *p;
	kept->fields = arena_array(a, struct str, p->nr + 1U);
	for (uint16_t i = 0; i < p->nr; i++)
		kept->fields[i] = arena_str(a, p->fields[i]);
	return kept;
}

struct text text_keep(struct arena *a, struct text t)
{
	struct text kept = { arena_array(a, struct version, t.nr + 1U), t.nr };

	for (uint32_t i = 0; i < t.nr; i++) {
		struct version *v = &kept.versions[i];

		*v = t.versions[i];
		v->parts = arena_array(a, struct part, v->nr + 1U);
		for (uint32_t k = 0; k < v->nr; k++) {
			v->parts[k] = t.versions[i].parts[k];
			v->parts[k].text = arena_str(a, v->parts[k].text);
			v->parts[k].path = keep_path(a, v->parts[k].path);
		}
	}
	return kept;
}

void version_write(const struct version *v, struct buf *b)
{
	for (uint32_t i = 0; i < v->nr; i++)
		buf_add(b, v->parts[i].kind == PART_TEXT ? v->parts[i].text : STR("{}"));
}
