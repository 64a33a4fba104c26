#include "ident/known.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/vec.h"
#include "ident/line.h"

enum {
	SEEN = 1 << 16,
	TYPE_BYTES = 64 /* that a type may take, if it is new */
};
#define ROOM_BYTES ((size_t)8 << 20)
#define NR_SLOTS_FIRST 1024u

struct slot {
	uint64_t hash;
	const struct known_line *line; /* NULL: free */
};

struct known {
	struct arena arena;
	size_t bytes; /* in the arena, about */
	struct names types;
	struct slot *slots;
	size_t nr, nr_slots;
	uint16_t seen[SEEN]; /* of what was seen once: texts that never come again are not kept */
};

struct known *known_new(void)
{
	struct known *k = mem_zalloc(sizeof(*k));

	k->nr_slots = NR_SLOTS_FIRST;
	k->slots = mem_zalloc(mem_bytes(k->nr_slots, sizeof(*k->slots)));
	return k;
}

void known_free(struct known *k)
{
	if (!k)
		return;
	arena_done(&k->arena);
	names_done(&k->types);
	free(k->slots);
	free(k);
}

static struct slot *slot_of(const struct known *k, uint64_t hash, struct str gist)
{
	size_t at = hash & (k->nr_slots - 1);

	for (;; at = (at + 1) & (k->nr_slots - 1)) {
		struct slot *s = &k->slots[at];

		if (!s->line || (s->hash == hash && str_eq(s->line->gist, gist)))
			return s;
	}
}

const struct known_line *known_find(struct known *k, const struct gist *g, bool *is_new)
{
	const struct slot *s = slot_of(k, g->hash, (struct str){ g->text, g->n });
	uint16_t mark = (uint16_t)(g->hash >> 32 | 1), *seen;

	if (s->line)
		return s->line;
	seen = &k->seen[(g->hash >> 48) % SEEN];
	*is_new = *seen != mark;
	*seen = mark;
	return NULL;
}

static void grow(struct known *k)
{
	struct slot *old = k->slots;
	size_t nr_old = k->nr_slots;

	k->nr_slots *= 2;
	k->slots = mem_zalloc(mem_bytes(k->nr_slots, sizeof(*k->slots)));
	for (size_t i = 0; i < nr_old; i++)
		if (old[i].line)
			*slot_of(k, old[i].hash, old[i].line->gist) = old[i];
	free(old);
}

static bool note(struct known *k, const struct gist *g, const struct line *l, size_t i,
		 struct known_name *to)
{
	const struct spelling *s = &l->spelt[i];

	*to = (struct known_name){
		.type = names_str(&k->types, names_add(&k->types, l->v[i].type)),
		.prefix = arena_str(&k->arena, str_head(l->v[i].value, s->nr_prefix)),
		.place = l->v[i].place,
		.how = s->how,
	};
	return gist_note(g, s->from, &to->from) && gist_note(g, s->to, &to->to);
}

const struct known_line *known_keep(struct known *k, const struct gist *g, const struct line *l)
{
	struct known_line *kept = arena_new(&k->arena, struct known_line);
	struct known_name *v = arena_array(&k->arena, struct known_name, l->nr);

	for (size_t i = 0; i < l->nr; i++)
		if (!note(k, g, l, i, &v[i]))
			return NULL;
	*kept = (struct known_line){
		.hash = g->hash,
		.template = l->template,
		.gist = arena_str(&k->arena, (struct str){ g->text, g->n }),
		.title = arena_str(&k->arena, l->title),
		.nr = l->nr,
		.is_repeated = l->is_repeated,
		.v = v,
	};
	if (2 * k->nr >= k->nr_slots)
		grow(k);
	*slot_of(k, g->hash, kept->gist) = (struct slot){ g->hash, kept };
	k->nr++;
	k->bytes += sizeof(*kept) + l->nr * (sizeof(*v) + TYPE_BYTES) + g->n + l->title.n;
	return kept;
}

void known_tidy(struct known *k)
{
	if (k->bytes < ROOM_BYTES)
		return;
	arena_done(&k->arena);
	names_done(&k->types);
	for (size_t i = 0; i < k->nr_slots; i++)
		k->slots[i] = (struct slot){ 0 };
	k->nr = k->bytes = 0;
}
