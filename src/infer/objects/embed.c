/* Only kinds whose names hold a number of a thousand or more: smaller ones are equal by chance. The
 * text between the numbers must agree, too, so that _m_ and _r_ stay apart, and nearly all of the
 * children must find their parent: one-sided agreement is chance as well. */
#include "infer/objects/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/shelf.h"
#include "infer/objects/relate.h"
#include "infer/objects/shape.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

enum { MAX_NUMBERS = 8, RARE = 1000 };

struct numbered {
	uint32_t thing;
	uint8_t nr;
	uint64_t v[MAX_NUMBERS];
};

struct embedding {
	const struct census *w;
	struct relating *r;
	VEC(struct numbered) things; /* kind by kind */
	uint32_t *begin;             /* by kind; one more */
};

static bool may_embed(const struct kind *k)
{
	return kind_is_kept(k) && !k->scope &&
	       !(k->traits &
		 (KIND_NUMBER | KIND_WORD | KIND_PATH | KIND_ADDRESS | KIND_RANDOM | KIND_LOG));
}

static void collect(struct embedding *e)
{
	const struct census *w = e->w;
	uint32_t *next = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*next))), nr = 0;

	vec_each (&w->things, t) {
		census_look(w, (size_t)(t - w->things.v));
		next[t->kind] += may_embed(&w->kinds.v[t->kind]) && thing_is_used(w, t);
	}
	for (size_t kind = 0; kind < w->kinds.nr; kind++) {
		e->begin[kind] = nr;
		nr += next[kind];
		next[kind] = e->begin[kind];
	}
	e->begin[w->kinds.nr] = nr;
	shelf_reserve(w->shelf, &e->things, nr + 1);
	e->things.nr = nr;
	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];
		struct numbered *n;

		census_look(w, i);
		if (!may_embed(&w->kinds.v[t->kind]) || !thing_is_used(w, t))
			continue;
		n = &e->things.v[next[t->kind]++];
		*n = (struct numbered){ .thing = i };
		n->nr = (uint8_t)shape_numbers(names_str(&w->told->values, t->value), n->v,
					       MAX_NUMBERS);
	}
	free(next);
}

/* What the shown type has behind its first number. */
static struct str rest_of(const struct kind *k)
{
	return str_skip(k->shown, str_find_char(k->shown, '#') + 1);
}

static bool has_letters(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z'))
			return true;
	return false;
}

static uint64_t hash_of(const uint64_t *v, size_t nr)
{
	uint64_t hash = nr;

	for (size_t i = 0; i < nr; i++) {
		hash = (hash ^ v[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 31;
	}
	return hash;
}

static bool is_rare(const struct numbered *n)
{
	for (size_t i = 0; i < n->nr; i++)
		if (n->v[i] >= RARE)
			return true;
	return false;
}

struct found {
	VEC(struct belongs) v;
	uint32_t nr_parents; /* that have children */
	bool is_rare;        /* by names that are equal in a large number */
};

/* The children whose first numbers are those of a parent. */
static void find_children(struct embedding *e, uint32_t parent, uint32_t child, size_t nr_numbers,
			  struct found *f)
{
	struct map by_numbers = { .shelf = e->w->shelf }, seen = { .shelf = e->w->shelf };

	for (uint32_t i = e->begin[parent]; i < e->begin[parent + 1]; i++) {
		const struct numbered *n = &e->things.v[i];

		census_look(e->w, i);
		if (n->nr != nr_numbers)
			continue;
		f->is_rare |= is_rare(n);
		*map_at(&by_numbers, hash_of(n->v, n->nr)) = n->thing + 1;
	}
	for (uint32_t i = e->begin[child]; i < e->begin[child + 1]; i++) {
		const struct numbered *n = &e->things.v[i];
		const uint64_t *at = n->nr >= nr_numbers
					     ? map_find(&by_numbers, hash_of(n->v, nr_numbers))
					     : NULL;

		census_look(e->w, i);
		if (!at)
			continue;
		shelf_push(e->w->shelf, &f->v, (struct belongs){ n->thing, (uint32_t)(*at - 1) });
		f->nr_parents += !(*map_at(&seen, *at))++;
	}
	map_done(&by_numbers);
	map_done(&seen);
}

static void compare(struct embedding *e, uint32_t parent, uint32_t child)
{
	struct str p = rest_of(&e->w->kinds.v[parent]), c = rest_of(&e->w->kinds.v[child]);
	uint64_t nr_p = e->begin[parent + 1] - e->begin[parent];
	uint64_t nr_c = e->begin[child + 1] - e->begin[child];
	struct found f = { 0 };
	bool is_same = str_eq(p, c);

	if (!nr_p || !nr_c || !str_starts(c, p) || (is_same && has_letters(p)))
		return;
	find_children(e, parent, child, e->things.v[e->begin[parent]].nr, &f);
	if (f.is_rare && is_same && 10 * f.v.nr >= 8 * nr_c && 10 * f.nr_parents >= 8 * nr_p)
		relate_tell(e->r, e->w, f.v.v, f.v.nr, (struct tie){ .is_alias = true });
	else if (f.is_rare && !is_same && 20 * f.v.nr >= 19 * nr_c && 2 * f.nr_parents >= nr_p)
		relate_tell(e->r, e->w, f.v.v, f.v.nr, (struct tie){ .is_embedded = true });
	shelf_done(e->w->shelf, &f.v);
}

/* --- connections and their hosts ------------------------------------------------------------ */

/* 10.0.0.1:40312 is a connection of 10.0.0.1, whatever else the lines name. */
static void tie_connections(struct relating *r, const struct census *w, uint32_t host,
			    uint32_t connection)
{
	VEC(struct belongs) found = { 0 };
	struct map hosts = { .shelf = w->shelf }, seen = { .shelf = w->shelf };
	uint32_t nr_hosts = 0, nr_parents = 0, nr = 0;

	for (uint32_t i = 0; i < w->things.nr; i++) {
		census_look(w, i);
		if (w->things.v[i].kind == host && thing_is_used(w, &w->things.v[i])) {
			*map_at(&hosts, w->things.v[i].value) = i + 1;
			nr_hosts++;
		}
	}
	for (uint32_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];
		struct str address;
		const char *colon;
		const uint64_t *at;
		sym_t sym;

		census_look(w, i);
		if (t->kind != connection || !thing_is_used(w, t))
			continue;
		address = names_str(&w->told->values, t->value);
		colon = memrchr(address.p, ':', address.n);
		if (!colon)
			continue;
		nr++;
		sym = names_find(&w->told->values, str_head(address, (size_t)(colon - address.p)));
		at = sym ? map_find(&hosts, sym) : NULL;
		if (!at)
			continue;
		shelf_push(w->shelf, &found, (struct belongs){ i, (uint32_t)(*at - 1) });
		nr_parents += !(*map_at(&seen, *at))++;
	}
	if (nr_parents >= 2 && 2 * nr_parents >= nr_hosts &&
	    20 * (uint64_t)found.nr >= 19 * (uint64_t)nr)
		relate_tell(r, w, found.v, found.nr, (struct tie){ .is_embedded = true });
	map_done(&hosts);
	map_done(&seen);
	shelf_done(w->shelf, &found);
}

static void embed_addresses(struct relating *r, const struct census *w)
{
	for (uint32_t host = 0; host < w->kinds.nr; host++) {
		if (!kind_is_kept(&w->kinds.v[host]) || !str_eq(w->kinds.v[host].shown, STR("ip")))
			continue;
		for (uint32_t k = 0; k < w->kinds.nr; k++)
			if (kind_is_kept(&w->kinds.v[k]) && w->kinds.v[k].traits & KIND_BRIEF)
				tie_connections(r, w, host, k);
	}
}

void embed_make(struct relating *r, const struct census *w)
{
	struct embedding e = { .w = w, .r = r };
	VEC(uint32_t) used = { 0 };

	e.begin = mem_zalloc(mem_bytes(w->kinds.nr + 2, sizeof(*e.begin)));
	collect(&e);
	/* there may be as many kinds as words at random, of which few are used */
	for (uint32_t kind = 0; kind < w->kinds.nr; kind++)
		if (e.begin[kind] < e.begin[kind + 1])
			vec_push(&used, kind);
	vec_each (&used, parent)
		vec_each (&used, child)
			if (*parent != *child)
				compare(&e, *parent, *child);
	embed_addresses(r, w);
	vec_done(&used);
	free(e.begin);
	shelf_done(w->shelf, &e.things);
}
