#include "source/layout_known.h"

#include <stdlib.h>

#include "base/arena.h"
#include "model/event.h"

enum { PLACES = 1024 };

struct message {
	uint64_t hash;
	uint16_t nr_text, nr_title;
	uint16_t key, key_bytes; /* where in the message */
	enum key_kind key_kind;
	bool by_digits;
	char text[]; /* of the skeleton, then the title */
};

/* Each has one place only, where the last one that belongs there stays. */
struct layout_known {
	struct message *v[PLACES];
	uint32_t seen[PLACES]; /* hash of what was there last: the second of a kind is kept */
};

struct layout_known *layout_known_new(void)
{
	return mem_zalloc(sizeof(struct layout_known));
}

void layout_known_free(struct layout_known *known)
{
	for (size_t i = 0; known && i < PLACES; i++)
		free(known->v[i]);
	free(known);
}

static void set(const struct message *m, struct str text, struct event *ev, struct arena *arena)
{
	if (m->key_kind == KEY_NONE)
		return;
	ev->key_kind = m->key_kind;
	ev->key = (struct str){ text.p + m->key, m->key_bytes };
	ev->span = STR("");
	ev->title = arena_str(arena, (struct str){ m->text + m->nr_text, m->nr_title });
}

enum layout_known_is layout_known_find(struct layout_known *known, struct skeleton *k,
				       struct str message, struct event *ev, struct arena *arena)
{
	const struct message *m;
	uint32_t *seen, mark;

	if (!skeleton_begin(k, message))
		return KNOWN_NOT;
	skeleton_end(k);
	m = known->v[k->hash % PLACES];
	if (m && skeleton_is(k, m->hash, (struct str){ m->text, m->nr_text })) {
		if (m->by_digits)
			return KNOWN_NOT;
		set(m, message, ev, arena);
		return KNOWN_SET;
	}
	seen = &known->seen[k->hash % PLACES];
	mark = (uint32_t)(k->hash >> 32);
	if (*seen == mark)
		return KNOWN_AGAIN;
	*seen = mark;
	return KNOWN_NOT;
}

void layout_known_keep(struct layout_known *known, const struct skeleton *k, struct str message,
		       const struct event *ev, bool by_digits)
{
	struct message **to = &known->v[k->hash % PLACES];
	struct str title = by_digits ? STR("") : ev->title;
	struct message *m = mem_realloc(*to, sizeof(*m) + k->n + title.n);

	m->hash = k->hash;
	m->nr_text = (uint16_t)k->n;
	m->nr_title = (uint16_t)title.n;
	m->by_digits = by_digits;
	m->key_kind = ev->key_kind;
	m->key = (uint16_t)(ev->key.n && !by_digits ? ev->key.p - message.p : 0);
	m->key_bytes = (uint16_t)ev->key.n;
	memcpy(m->text, k->text, k->n);
	if (title.n)
		memcpy(m->text + k->n, title.p, title.n);
	*to = m;
}
