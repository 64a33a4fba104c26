#include "infer/requests/above.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FOLDERS_MAX = 64 }; /* above one path */

void above_begin(struct above *a, const struct work *w, const struct owners *o)
{
	size_t nr = (size_t)w->g->things.nr + 1;

	*a = (struct above){ .w = w, .o = o };
	a->owners = mem_zalloc(mem_bytes(nr, sizeof(*a->owners)));
	a->folders = mem_zalloc(mem_bytes(nr, sizeof(*a->folders)));
}

void above_done(struct above *a)
{
	free(a->owners);
	free(a->folders);
	vec_done(&a->v);
}

static void list_owners(struct above *a, uint32_t thing)
{
	const struct owners *o = a->o;
	uint32_t fine = a->w->g->kind_of.v[thing];

	for (size_t k = hold_owners_at(o, fine); k < o->pairs.nr && o->pairs.v[k] >> 32 == fine;
	     k++) {
		uint32_t owner = hold_owner_of(o, thing, (uint32_t)o->pairs.v[k]);

		if (owner)
			vec_push(&a->v, owner);
	}
}

static void list_folders(struct above *a, uint32_t thing)
{
	const struct work *w = a->w;
	struct str name = names_str(&w->g->things, thing);
	unsigned folders = 0;

	if (!work_is_path(w, thing))
		return;
	while (name.n && name.p[name.n - 1] != SIGHT_SEPARATOR && folders < FOLDERS_MAX) {
		name.n--;
		if (name.p[name.n] == '/') {
			sym_t folder = names_find(&w->g->things, name);

			folders++;
			if (folder && w->seen[folder] && work_can_tell(w, folder))
				vec_push(&a->v, folder);
		}
	}
}

/* The list, made on first sight. */
static const uint32_t *list(struct above *a, uint32_t *at, uint32_t thing, uint32_t *nr,
			    void (*make)(struct above *a, uint32_t thing))
{
	if (!*at) {
		size_t from = a->v.nr;

		*at = (uint32_t)from + 1;
		vec_push(&a->v, 0);
		make(a, thing);
		a->v.v[from] = (uint32_t)(a->v.nr - from - 1);
	}
	*nr = a->v.v[*at - 1];
	return a->v.v + *at;
}

const uint32_t *above_owners(struct above *a, uint32_t thing, uint32_t *nr)
{
	return list(a, &a->owners[thing], thing, nr, list_owners);
}

const uint32_t *above_folders(struct above *a, uint32_t thing, uint32_t *nr)
{
	return list(a, &a->folders[thing], thing, nr, list_folders);
}
