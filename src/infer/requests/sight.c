#include "infer/requests/sight.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
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

static struct str names_of(const struct tokens *t)
{
	return (struct str){ t->words, t->nr_words };
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

void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	struct tokens own, thread;
	char *start, *p;

	if (ctx)
		ev->statement = matcher_statement(ctx, ev->point, ev->level, message);
	if (ctx && ev->statement)
		ev->point = matcher_point_name(ctx, ev->statement);
	find_names(ev, message, &own);
	tokens_find_names(&thread, ev->thread);
	start = arena_room(arena, own.nr_shape + own.nr_words + thread.nr_words + 32);
	p = put_varint(start, own.nr_shape);
	p = put_bytes(p, (struct str){ own.shape, own.nr_shape });
	*p++ = (char)(own.is_cut || thread.is_cut);
	p = put_varint(p, own.nr);
	p = put_varint(p, thread.nr);
	p = put_bytes(p, names_of(&own));
	p = put_bytes(p, names_of(&thread));
	ev->values = (struct str){ start, (size_t)(p - start) };
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
	return str_take_bytes(&s->rest, name);
}
