#include "infer/requests/sight.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "infer/requests/match.h"
#include "infer/requests/match_name.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

static char *put_varint(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static char *put_bytes(char *p, struct str s)
{
	memcpy(p, s.p, s.n);
	return p + s.n;
}

/* The names of one thread, as they are packed. */
struct packed {
	struct str names;
	unsigned nr;
	bool is_cut;
};

static struct packed packed_of(const struct tokens *t)
{
	return (struct packed){ { t->words, t->nr_words }, t->nr, t->is_cut };
}

/* A thread has one place only, where the last one that belongs there stays. Its name stands in
 * front of what it names. */
enum { PLACES = 256, PLACE_BYTES = 232 };

struct memory {
	struct {
		uint64_t hash;
		uint16_t thread_bytes, names_bytes;
		uint8_t nr;
		bool is_cut;
		char bytes[PLACE_BYTES];
	} known[PLACES];
};

void *sight_remember(void)
{
	return mem_zalloc(sizeof(struct memory));
}

void sight_forget(void *memory)
{
	free(memory);
}

/* What a thread's name names, from memory if it was asked for before. */
static struct packed names_of_thread(struct memory *m, struct str thread, struct tokens *t)
{
	uint64_t hash;
	size_t at;

	if (!m || !thread.n || thread.n > PLACE_BYTES) {
		tokens_find_names(t, thread);
		return packed_of(t);
	}
	hash = str_hash(thread);
	at = hash % PLACES;
	if (m->known[at].hash != hash ||
	    !str_eq((struct str){ m->known[at].bytes, m->known[at].thread_bytes }, thread)) {
		tokens_find_names(t, thread);
		if (thread.n + t->nr_words > PLACE_BYTES)
			return packed_of(t);
		m->known[at].hash = hash;
		m->known[at].thread_bytes = (uint16_t)thread.n;
		m->known[at].names_bytes = (uint16_t)t->nr_words;
		m->known[at].nr = (uint8_t)t->nr;
		m->known[at].is_cut = t->is_cut;
		memcpy(m->known[at].bytes, thread.p, thread.n);
		memcpy(m->known[at].bytes + thread.n, t->words, t->nr_words);
	}
	return (struct packed){ { m->known[at].bytes + thread.n, m->known[at].names_bytes },
				m->known[at].nr,
				m->known[at].is_cut };
}

/* Whether a number is among the names that two ends have agreed on. */
static bool is_message(const struct tokens *t)
{
	for (unsigned i = 0; i < t->nr; i++)
		if (t->v[i].kind.p[0] == '@')
			return true;
	return false;
}

/* Where the statement is known, the shape is asked for of messages only. */
static void find_names(const struct event *ev, struct str message, struct tokens *t)
{
	if (ev->statement)
		tokens_find_names(t, message);
	if (!ev->statement || is_message(t))
		tokens_find(t, message);
}

void sight_event_again(const void *ctx, void *memory, struct event *ev, struct str message,
		       struct arena *arena)
{
	struct tokens own, scratch;
	struct packed thread;
	char *start, *p;

	if (ctx)
		ev->statement = matcher_statement(ctx, ev->point, ev->level, message);
	if (ctx && ev->statement)
		ev->point = matcher_point_name(ctx, ev->statement);
	find_names(ev, message, &own);
	thread = names_of_thread(memory, ev->thread, &scratch);
	start = arena_room(arena, own.nr_shape + own.nr_words + thread.names.n + 32);
	p = put_varint(start, own.nr_shape);
	p = put_bytes(p, (struct str){ own.shape, own.nr_shape });
	*p++ = (char)(own.is_cut || thread.is_cut);
	p = put_varint(p, own.nr);
	p = put_varint(p, thread.nr);
	p = put_bytes(p, (struct str){ own.words, own.nr_words });
	p = put_bytes(p, thread.names);
	ev->values = (struct str){ start, (size_t)(p - start) };
}

void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	sight_event_again(ctx, NULL, ev, message, arena);
}

bool sight_open(struct sight *s, struct str values)
{
	uint64_t n;

	*s = (struct sight){ .rest = values };
	if (!str_take_varint(&s->rest, &n) || n >= s->rest.n)
		return false;
	s->shape = str_head(s->rest, n);
	s->rest = str_skip(s->rest, n);
	s->is_cut = s->rest.p[0];
	s->rest = str_skip(s->rest, 1);
	return str_take_varint(&s->rest, &s->nr_own) && str_take_varint(&s->rest, &s->nr_thread);
}

bool sight_next(struct sight *s, struct str *name)
{
	if (s->rest.n < sizeof(s->hash))
		return false;
	memcpy(&s->hash, s->rest.p, sizeof(s->hash));
	s->rest = str_skip(s->rest, sizeof(s->hash));
	return str_take_bytes(&s->rest, name);
}

void sight_put(struct buf *b, struct str name)
{
	uint64_t hash = str_hash(name);

	buf_add(b, (struct str){ (const char *)&hash, sizeof(hash) });
	buf_bytes(b, name);
}
