/* A growing run of bytes that one appends to: text to print, records to write. */
#ifndef CULPRIT_BASE_BUF_H
#define CULPRIT_BASE_BUF_H

#include <stdint.h>

#include "base/str.h"

/* Zero is a valid, empty buffer. */
struct buf {
	char *p;
	size_t n, room;
};

void buf_done(struct buf *b);
static inline void buf_clear(struct buf *b)
{
	b->n = 0;
}
static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}
/* Room for n more bytes; where they begin. The caller adds to b->n what it used. */
char *buf_room(struct buf *b, size_t n);
void buf_add(struct buf *b, struct str s);
void buf_char(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Unsigned LEB128, and the same for signed numbers folded around zero. */
void buf_varint(struct buf *b, uint64_t v);
void buf_svarint(struct buf *b, int64_t v);
/* A length and then the bytes. */
void buf_bytes(struct buf *b, struct str s);

/* The readers of the last three, bounds-checked. */
bool str_take_long_varint(struct str *s, uint64_t *v);
static inline bool str_take_varint(struct str *s, uint64_t *v)
{
	if (!s->n || (s->p[0] & 0x80))
		return str_take_long_varint(s, v);
	*v = (unsigned char)s->p[0];
	*s = str_skip(*s, 1);
	return true;
}
bool str_take_svarint(struct str *s, int64_t *v);
bool str_take_bytes(struct str *s, struct str *v);

#endif
