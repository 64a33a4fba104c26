#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void buf_done(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

char *buf_room(struct buf *b, size_t n)
{
	size_t want = b->n + n;

	if (want < n)
		mem_bytes(SIZE_MAX, 2);
	if (want > b->room) {
		b->room = want > 2 * b->room ? want : 2 * b->room;
		b->p = mem_realloc(b->p, b->room);
	}
	return b->p + b->n;
}

void buf_add(struct buf *b, struct str s)
{
	if (!s.n)
		return;
	memcpy(buf_room(b, s.n), s.p, s.n);
	b->n += s.n;
}

void buf_char(struct buf *b, char c)
{
	*buf_room(b, 1) = c;
	b->n++;
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	va_start(ap, fmt);
	vsnprintf(buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

void buf_varint(struct buf *b, uint64_t v)
{
	char *p = buf_room(b, 10), *start = p;

	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	b->n += (size_t)(p - start);
}

void buf_svarint(struct buf *b, int64_t v)
{
	buf_varint(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

void buf_bytes(struct buf *b, struct str s)
{
	buf_varint(b, s.n);
	buf_add(b, s);
}

bool str_take_long_varint(struct str *s, uint64_t *v)
{
	uint64_t value = 0;

	for (size_t i = 0; i < s->n && i < 10; i++) {
		uint64_t byte = (unsigned char)s->p[i];

		if (i == 9 && byte > 1)
			return false;
		value |= (byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		*s = str_skip(*s, i + 1);
		*v = value;
		return true;
	}
	return false;
}

bool str_take_svarint(struct str *s, int64_t *v)
{
	uint64_t u;

	if (!str_take_varint(s, &u))
		return false;
	*v = (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
	return true;
}

bool str_take_bytes(struct str *s, struct str *v)
{
	struct str rest = *s;
	uint64_t n;

	if (!str_take_varint(&rest, &n) || n > rest.n)
		return false;
	*v = str_head(rest, n);
	*s = str_skip(rest, n);
	return true;
}
