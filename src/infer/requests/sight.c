#include "infer/requests/sight.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "infer/requests/match.h"
#include "infer/requests/match_name.h"
#include "infer/requests/match_pack.h"
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

static char *put_names(char *p, const struct tokens *t)
{
	for (unsigned i = 0; i < t->nr; i++) {
		p = put_varint(p, t->v[i].kind.n + 1 + t->v[i].value.n);
		p = put_bytes(p, t->v[i].kind);
		*p++ = SIGHT_SEPARATOR;
		p = put_bytes(p, t->v[i].value);
	}
	return p;
}

static size_t names_bytes(const struct tokens *t)
{
	size_t n = 0;

	for (unsigned i = 0; i < t->nr; i++)
		n += t->v[i].kind.n + t->v[i].value.n + 6;
	return n;
}

void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	struct tokens own, thread;
	char *start, *p;

	if (ctx)
		match_event(ctx, ev, message, arena);
	if (ctx && ev->statement)
		ev->point = matcher_point_name(ctx, ev->statement);
	tokens_find(&own, message);
	tokens_find(&thread, ev->thread);
	start = arena_alloc(arena, own.nr_shape + names_bytes(&own) + names_bytes(&thread) + 32);
	p = put_varint(start, own.nr_shape);
	p = put_bytes(p, (struct str){ own.shape, own.nr_shape });
	*p++ = (char)(own.is_cut || thread.is_cut);
	p = put_varint(p, own.nr);
	p = put_varint(p, thread.nr);
	p = put_names(p, &own);
	p = put_names(p, &thread);
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
