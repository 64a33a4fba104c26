#include "store/tuple.h"

#include "base/time.h"
#include "base/utf8.h"

#define EPOCH_2000_US 946684800000000LL /* PostgreSQL counts from 2000, in microseconds */
#define TEXT_OID 25

static void put(struct buf *b, uint64_t v, unsigned bytes)
{
	char *p = buf_room(b, bytes);

	for (unsigned i = 0; i < bytes; i++)
		p[i] = (char)(v >> 8 * (bytes - 1 - i));
	b->n += bytes;
}

static void field(struct buf *b, uint64_t v, unsigned bytes)
{
	put(b, bytes, 4);
	put(b, v, bytes);
}

void tuple_head(struct buf *b)
{
	buf_add(b, STR("PGCOPY\n\377\r\n\0"));
	put(b, 0, 4); /* flags */
	put(b, 0, 4); /* no extension */
}

void tuple_tail(struct buf *b)
{
	put(b, UINT16_MAX, 2);
}

void tuple_begin(struct buf *b, unsigned nr)
{
	put(b, nr, 2);
}

void tuple_null(struct buf *b)
{
	put(b, UINT32_MAX, 4);
}

void tuple_bool(struct buf *b, bool v)
{
	field(b, v, 1);
}

void tuple_int2(struct buf *b, int16_t v)
{
	field(b, (uint64_t)v, 2);
}

void tuple_int4(struct buf *b, int32_t v)
{
	field(b, (uint64_t)v, 4);
}

void tuple_int8(struct buf *b, int64_t v)
{
	field(b, (uint64_t)v, 8);
}

void tuple_float4(struct buf *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	field(b, bits, 4);
}

void tuple_float8(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	field(b, bits, 8);
}

void tuple_time(struct buf *b, int64_t ns)
{
	int64_t us = ns / NS_US - (ns % NS_US < 0);

	if (ns == NS_NONE)
		tuple_null(b);
	else
		tuple_int8(b, us - EPOCH_2000_US);
}

static bool is_plain(char c)
{
	return c && (unsigned char)c < 0x80;
}

void tuple_text(struct buf *b, struct str s)
{
	size_t at = b->n, whole;

	put(b, 0, 4);
	while (s.n) {
		for (whole = 0; whole < s.n && is_plain(s.p[whole]);)
			whole++;
		buf_add(b, str_head(s, whole));
		s = str_skip(s, whole);
		if (!s.n)
			break;
		whole = s.p[0] ? utf8_length(s) : 0;
		buf_add(b, whole ? str_head(s, whole) : STR("\xef\xbf\xbd"));
		s = str_skip(s, whole ? whole : 1);
	}
	for (unsigned i = 0; i < 4; i++)
		b->p[at + i] = (char)((b->n - at - 4) >> 8 * (3 - i));
}

void tuple_bytes(struct buf *b, struct str s)
{
	put(b, s.n, 4);
	buf_add(b, s);
}

void tuple_texts(struct buf *b, const struct str *v, size_t nr)
{
	size_t at = b->n;

	put(b, 0, 4);
	put(b, nr > 0, 4); /* dimensions */
	put(b, 0, 4);      /* no element is null */
	put(b, TEXT_OID, 4);
	if (nr) {
		put(b, nr, 4);
		put(b, 1, 4); /* its lower bound */
	}
	for (size_t i = 0; i < nr; i++)
		tuple_text(b, v[i]);
	for (unsigned i = 0; i < 4; i++)
		b->p[at + i] = (char)((b->n - at - 4) >> 8 * (3 - i));
}
