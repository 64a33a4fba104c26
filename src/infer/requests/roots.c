/*
 * By its look a path is of the kind of its first folder: /user/ann/part-1 is a "path/user". A
 * server prints all its files by the same statements, whatever folder they are in, and the disk
 * that it keeps them on by others. Tops that one statement names in one place are joined, and what
 * is joined with one of them. One pass over the lines.
 */
#include "infer/requests/roots.h"

#include "base/map.h"
#include "base/mem.h"

enum { OFTEN = 2 }; /* once may be a mishap */

struct roots {
	struct map place; /* statement and place: 1 + the kind that is named there */
	struct map nr;    /* place and kind: how often */
	VEC(uint32_t) of; /* of each kind: another one that it is joined to, or itself */
};

static bool is_path_kind(const struct gather *g, uint32_t kind)
{
	return str_starts(names_str(&g->kinds, kind), STR("path/"));
}

static uint32_t root_of(const struct roots *r, uint32_t kind)
{
	while (r->of.v[kind] != kind)
		kind = r->of.v[kind];
	return kind;
}

static void see(struct roots *r, uint32_t type, unsigned place, uint32_t kind)
{
	uint64_t at = map_pair(type, place), *first;
	uint64_t *nr = map_at(&r->nr, ((at ^ (at >> 29)) * 0x9e3779b97f4a7c15u) ^ kind);
	uint32_t a, b;

	if (++*nr != OFTEN)
		return;
	first = map_at(&r->place, at);
	if (!*first)
		*first = kind + 1u;
	a = root_of(r, (uint32_t)*first - 1);
	b = root_of(r, kind);
	r->of.v[a > b ? a : b] = a < b ? a : b;
}

void roots_join(struct gather *g)
{
	struct roots r = { 0 };

	for (uint32_t k = 0; k < g->kinds.nr; k++)
		vec_push(&r.of, k);
	for (size_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];
		unsigned place = 0;

		for (unsigned k = 0; k < l->nr_own; k++) {
			uint32_t kind = g->kind_of.v[g->named.v[l->name_at + k]];

			if (is_path_kind(g, kind))
				see(&r, l->type, place++, kind);
		}
	}
	vec_each (&g->kind_of, kind)
		*kind = root_of(&r, *kind);
	map_done(&r.place);
	map_done(&r.nr);
	vec_done(&r.of);
}
