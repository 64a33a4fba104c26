#include "ask/object_kin.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#define ABOVE_MOST 256 /* ancestors that are looked at to see whether a parent is implied */
#define CANDIDATES_SHOWN 4

/* --- nearest parents -------------------------------------------------------------------------- */

/* Everything above an object, the nearest first: a walk that a damaged circle cannot hold. */
struct above {
	uint32_t v[ABOVE_MOST];
	size_t nr;
};

static bool add_above(struct above *up, uint32_t one)
{
	for (size_t i = 0; i < up->nr; i++)
		if (up->v[i] == one)
			return false;
	if (up->nr < ABOVE_MOST)
		up->v[up->nr++] = one;
	return true;
}

bool object_is_above(const struct object_graph *g, uint32_t above, uint32_t below)
{
	struct above up = { .nr = 0 };

	add_above(&up, below);
	for (size_t at = 0; at < up.nr; at++) {
		const struct object *o = &g->objects[up.v[at]];

		for (size_t i = 0; i < o->nr_parents; i++) {
			if (o->parents[i] == above)
				return true;
			add_above(&up, o->parents[i]);
		}
	}
	return false;
}

uint32_t object_above_of_type(const struct object_graph *g, uint32_t of, uint32_t type)
{
	struct above up = { .nr = 0 };

	add_above(&up, of);
	for (size_t at = 0; at < up.nr; at++) {
		const struct object *o = &g->objects[up.v[at]];

		if (at && o->type == type)
			return up.v[at];
		for (size_t i = 0; i < o->nr_parents; i++)
			add_above(&up, o->parents[i]);
	}
	return UINT32_MAX;
}

/* Of two that are above each other, the first stays. */
static bool is_implied(const struct object_graph *g, const struct object *o, size_t i)
{
	uint32_t p = o->parents[i];

	for (size_t j = 0; j < o->nr_parents; j++) {
		uint32_t q = o->parents[j];

		if (q == p && j < i)
			return true;
		if (q != p && object_is_above(g, p, q) && (i > j || !object_is_above(g, q, p)))
			return true;
	}
	return false;
}

static void find_parents(struct object_kin *k, struct arena *a)
{
	const struct object_graph *g = k->g;
	size_t nr = 0;

	for (size_t i = 0; i < g->nr_objects; i++)
		nr += g->objects[i].nr_parents;
	k->parent_first = arena_room(a, mem_bytes(g->nr_objects + 1, sizeof(uint32_t)));
	k->parents = arena_room(a, mem_bytes(nr + 1, sizeof(uint32_t)));
	nr = 0;
	for (size_t i = 0; i < g->nr_objects; i++) {
		const struct object *o = &g->objects[i];

		k->parent_first[i] = (uint32_t)nr;
		for (size_t j = 0; j < o->nr_parents; j++)
			if (o->parents[j] != i && (o->nr_parents == 1 || !is_implied(g, o, j)))
				k->parents[nr++] = o->parents[j];
	}
	k->parent_first[g->nr_objects] = (uint32_t)nr;
}

static int by_start(const void *a, const void *b, void *ctx)
{
	const struct object *v = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (v[i].first_ns != v[j].first_ns)
		return v[i].first_ns < v[j].first_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void find_children(struct object_kin *k, struct arena *a)
{
	size_t n = k->g->nr_objects, nr = k->parent_first[n];
	uint32_t *at = arena_array(a, uint32_t, n + 2);

	k->child_first = at++;
	k->children = arena_room(a, mem_bytes(nr + 1, sizeof(uint32_t)));
	for (size_t i = 0; i < nr; i++)
		at[k->parents[i] + 1]++;
	for (size_t i = 1; i <= n; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = k->parent_first[i]; j < k->parent_first[i + 1]; j++)
			k->children[at[k->parents[j]]++] = i;
	for (uint32_t i = 0; i < n; i++)
		if (object_nr_children(k, i) > 1)
			qsort_r(k->children + k->child_first[i], object_nr_children(k, i),
				sizeof(uint32_t), by_start, k->g->objects);
}

void object_kin_init(struct object_kin *k, const struct object_graph *g, struct arena *a)
{
	*k = (struct object_kin){ .g = g };
	find_parents(k, a);
	find_children(k, a);
}

/* --- up and down ------------------------------------------------------------------------------ */

static bool set_bit(uint8_t *bits, uint32_t i)
{
	uint8_t bit = (uint8_t)(1 << i % 8);
	bool is_new = !(bits[i / 8] & bit);

	bits[i / 8] |= bit;
	return is_new;
}

uint32_t *object_below(const struct object_kin *k, uint32_t root, size_t *nr, struct arena *a)
{
	uint8_t *seen = mem_zalloc(k->g->nr_objects / 8 + 1);
	VEC(uint32_t) v = { 0 };
	uint32_t *kept;

	set_bit(seen, root);
	vec_push(&v, root);
	for (size_t at = 0; at < v.nr; at++) {
		uint32_t o = v.v[at];

		for (uint32_t i = k->child_first[o]; i < k->child_first[o + 1]; i++)
			if (set_bit(seen, k->children[i]))
				vec_push(&v, k->children[i]);
	}
	kept = arena_room(a, mem_bytes(v.nr, sizeof(uint32_t)));
	memcpy(kept, v.v, v.nr * sizeof(uint32_t));
	*nr = v.nr;
	vec_done(&v);
	free(seen);
	return kept;
}

/* --- names ------------------------------------------------------------------------------------ */

void object_name(const struct object_graph *g, const struct object *o, struct buf *b)
{
	for (size_t i = 0; i < g->types[o->type].nr_signature; i++) {
		if (i)
			buf_char(b, '+');
		buf_add(b, o->ids[i]);
	}
}

/* How well a name fits: 3 the whole, 2 another name of it, 1 one id of several, 0 not at all. */
static int fits(const struct object_graph *g, const struct object *o, struct str name)
{
	size_t nr = g->types[o->type].nr_signature;
	struct str rest = name;
	int fit = 0;

	for (size_t i = 0; i < nr && rest.p; i++) {
		if (!str_take(&rest, o->ids[i]) || (i + 1 < nr && !str_take_char(&rest, '+')))
			rest.p = NULL;
		if (str_eq(o->ids[i], name))
			fit = 1;
	}
	if (rest.p && !rest.n)
		return 3;
	for (size_t i = 0; i < o->nr_aliases; i++)
		if (str_eq(o->aliases[i], name))
			return 2;
	return fit;
}

struct search {
	const struct object_graph *g;
	int best;
	uint64_t nr;
	uint32_t first;
	struct buf shown;
};

static void look_at(struct search *s, uint32_t i, struct str name)
{
	const struct object *o = &s->g->objects[i];
	int fit = fits(s->g, o, name);

	if (!fit || fit < s->best)
		return;
	if (fit > s->best) {
		s->best = fit;
		s->nr = 0;
		buf_clear(&s->shown);
	}
	if (!s->nr++)
		s->first = i;
	if (s->nr > CANDIDATES_SHOWN)
		return;
	buf_fmt(&s->shown, "%s'" STR_FMT " ", s->nr > 1 ? ", " : "",
		STR_ARG(str_head(s->g->types[o->type].name, 80)));
	object_name(s->g, o, &s->shown);
	buf_char(&s->shown, '\'');
	/* names may be as long as lines: a message is not */
	if (s->shown.n > 400)
		s->shown.n = 400;
}

/* "stage 3": a type and a name of its own; of types that fit, the longest name. */
static bool split_type(const struct object_graph *g, struct str *name, struct str *type)
{
	struct str best = { 0 };

	for (uint32_t t = 0; t < g->nr_types; t++) {
		struct str rest = *name;

		if (g->types[t].name.n > best.n && str_take(&rest, g->types[t].name) &&
		    str_take_char(&rest, ' ') && rest.n)
			best = g->types[t].name;
	}
	if (!best.n)
		return false;
	*type = best;
	*name = str_skip(*name, best.n + 1);
	return true;
}

/* Of that type, or of any when it is empty. */
static void search_all(struct search *s, struct str name, struct str type)
{
	for (uint32_t i = 0; i < s->g->nr_objects; i++)
		if (!type.n || str_eq(s->g->types[s->g->objects[i].type].name, type))
			look_at(s, i, name);
}

int object_find(const struct object_graph *g, struct str name, uint32_t *found, struct error *err)
{
	struct search s = { .g = g };
	struct str bare = name, type = { 0 };
	int r = 0;

	search_all(&s, name, type);
	if (!s.nr && split_type(g, &bare, &type))
		search_all(&s, bare, type);
	if (!s.nr)
		r = error_set(err, ENOENT,
			      "no object '" STR_FMT
			      "'; culprit objects --instances lists them with their names",
			      STR_ARG(str_head(name, 200)));
	else if (s.nr > 1)
		r = error_set(err, EINVAL,
			      "'" STR_FMT "' may be any of %llu objects: " STR_FMT "%s",
			      STR_ARG(str_head(name, 200)), (unsigned long long)s.nr,
			      STR_ARG(buf_str(&s.shown)), s.nr > CANDIDATES_SHOWN ? " …" : "");
	else
		*found = s.first;
	buf_done(&s.shown);
	return r;
}

static bool has_part(struct str s, struct str part)
{
	for (size_t i = 0; i + part.n <= s.n; i++)
		if (str_eq_nocase((struct str){ s.p + i, part.n }, part))
			return true;
	return false;
}

int object_find_type(const struct object_graph *g, struct str part, uint32_t *found,
		     struct error *err)
{
	struct buf shown = { 0 };
	size_t nr = 0;
	int r = 0;

	for (uint32_t t = 0; t < g->nr_types; t++) {
		if (str_eq(g->types[t].name, part)) {
			*found = t;
			buf_done(&shown);
			return 0;
		}
		if (!has_part(g->types[t].name, part))
			continue;
		if (!nr++)
			*found = t;
		if (nr <= CANDIDATES_SHOWN)
			buf_fmt(&shown, "%s" STR_FMT, nr > 1 ? ", " : "",
				STR_ARG(str_head(g->types[t].name, 80)));
	}
	if (nr != 1)
		r = error_set(err, nr ? EINVAL : ENOENT,
			      nr ? "'" STR_FMT "' is in the names of several types: " STR_FMT
				 : "no type of objects '" STR_FMT "'" STR_FMT,
			      STR_ARG(str_head(part, 200)), STR_ARG(buf_str(&shown)));
	buf_done(&shown);
	return r;
}
