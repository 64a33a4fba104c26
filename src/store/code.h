/* The coded form of one span, event or request as a row of bytes, and back. */
#ifndef CULPRIT_STORE_CODE_H
#define CULPRIT_STORE_CODE_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "model/request.h"

struct arena;
struct event_syms;
struct syms;

/* Rows are written into room that was reserved before, hence without a check per number. */
#define U64_ROOM 10

static inline char *put_u64(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static inline char *put_s64(char *p, int64_t v)
{
	return put_u64(p, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static inline char *put_bytes(char *p, struct str s)
{
	p = put_u64(p, s.n);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p + s.n;
}

/* kind, level, key_kind and op in one small number, since few of their combinations occur */
uint64_t code_tag(const struct event *ev);
bool code_set_tag(struct event *ev, uint64_t tag);

/* Without attrs and text: what inference needs to tie events together. */
void code_add_event(struct buf *to, const struct event_syms *syms, const struct event *ev,
		    uint64_t number);
bool code_take_event(struct str *from, const struct syms *t, struct event *ev, uint64_t *number);

/* Times stand relative to base. */
void code_add_span(struct buf *to, struct syms *t, const struct span *s, int64_t base);
bool code_take_span(struct str *from, const struct syms *t, struct span *s, int64_t base);

void code_add_request(struct buf *to, struct syms *t, const struct request *r);
bool code_take_request(struct str *from, const struct syms *t, struct request *r);

#endif
