/* Pairs of objects are put down as lines name them, those that were named lately once, and sorted
 * and put together when they are many: a table of all pairs would be asked at random. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/census.h"
#include "infer/objects/emitting.h"
#include "infer/objects/told.h"

enum {
	LATE_PAIRS = 1 << 14, /* that are known to be there */
	FEW_LINKS = 1 << 20,  /* which it is not worth while to put together */
	LATE_SPREAD = 0x9e3779b1,
};

struct linking {
	struct emitting *e;
	uint64_t *late; /* 1 + number of the link, by its pair; 0: none */
	size_t max;     /* links, before they are put together */
};

static uint64_t pair_of(const void *record)
{
	const struct object_link *l = record;

	return map_pair(l->a, l->b);
}

static void widen(struct object_link *l, const struct object_link *by)
{
	l->count += by->count;
	if (by->first_ns < l->first_ns)
		l->first_ns = by->first_ns;
	if (by->last_ns > l->last_ns)
		l->last_ns = by->last_ns;
}

/* Each pair once, in their order. */
static void put_together(struct linking *k)
{
	struct emitting *e = k->e;
	size_t nr = 0;

	sort_records_on(e->w->shelf, e->links.v, e->links.nr, sizeof(*e->links.v), pair_of);
	for (size_t i = 0; i < e->links.nr; i++) {
		struct object_link *l = &e->links.v[i];

		census_look(e->w, i);
		if (nr && pair_of(l) == pair_of(&e->links.v[nr - 1]))
			widen(&e->links.v[nr - 1], l);
		else
			e->links.v[nr++] = *l;
	}
	e->links.nr = nr;
	memset(k->late, 0, LATE_PAIRS * sizeof(*k->late));
	k->max = nr < FEW_LINKS / 2 ? FEW_LINKS : 2 * nr;
}

static void link_objects(struct linking *k, uint32_t a, uint32_t b, const struct note *n)
{
	struct emitting *e = k->e;
	struct object_link l = { a < b ? a : b, a < b ? b : a, n->first_ns, n->last_ns, n->count };
	uint32_t hash = (l.a * (uint32_t)LATE_SPREAD + l.b) * (uint32_t)LATE_SPREAD;
	uint64_t *late = &k->late[hash >> 18];

	if (*late && pair_of(&e->links.v[*late - 1]) == pair_of(&l)) {
		widen(&e->links.v[*late - 1], &l);
		return;
	}
	shelf_push(e->w->shelf, &e->links, l);
	*late = e->links.nr;
	if (e->links.nr >= k->max)
		put_together(k);
}

static void link_all_of(struct linking *k, uint32_t note)
{
	struct emitting *e = k->e;
	uint32_t v[MAX_NAMED];
	size_t nr = emit_objects_of(e, note, v);

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			if (!emit_is_above(e, v[i], v[j], MAX_DEPTH) &&
			    !emit_is_above(e, v[j], v[i], MAX_DEPTH))
				link_objects(k, v[i], v[j], &e->w->told->notes.v[note]);
}

void emit_find_links(struct emitting *e)
{
	struct linking k = { .e = e, .max = FEW_LINKS };

	k.late = mem_zalloc(LATE_PAIRS * sizeof(*k.late));
	for (uint32_t i = 0; i < e->w->told->notes.nr; i++) {
		census_look(e->w, i);
		link_all_of(&k, i);
	}
	put_together(&k);
	free(k.late);
}
