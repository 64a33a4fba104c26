#include "source/proto_hpack.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "source/packet_bytes.h"

#define DEFAULT_BYTES 4096
#define BYTES_MAX 65536 /* more is never asked for in practice, and would be kept for nothing */
#define ENTRY_COST 32
#define NR_STATIC 61

static const struct {
	const char *name, *value;
} fixed[NR_STATIC] = {
	{ ":authority", "" },
	{ ":method", "GET" },
	{ ":method", "POST" },
	{ ":path", "/" },
	{ ":path", "/index.html" },
	{ ":scheme", "http" },
	{ ":scheme", "https" },
	{ ":status", "200" },
	{ ":status", "204" },
	{ ":status", "206" },
	{ ":status", "304" },
	{ ":status", "400" },
	{ ":status", "404" },
	{ ":status", "500" },
	{ "accept-charset", "" },
	{ "accept-encoding", "gzip, deflate" },
	{ "accept-language", "" },
	{ "accept-ranges", "" },
	{ "accept", "" },
	{ "access-control-allow-origin", "" },
	{ "age", "" },
	{ "allow", "" },
	{ "authorization", "" },
	{ "cache-control", "" },
	{ "content-disposition", "" },
	{ "content-encoding", "" },
	{ "content-language", "" },
	{ "content-length", "" },
	{ "content-location", "" },
	{ "content-range", "" },
	{ "content-type", "" },
	{ "cookie", "" },
	{ "date", "" },
	{ "etag", "" },
	{ "expect", "" },
	{ "expires", "" },
	{ "from", "" },
	{ "host", "" },
	{ "if-match", "" },
	{ "if-modified-since", "" },
	{ "if-none-match", "" },
	{ "if-range", "" },
	{ "if-unmodified-since", "" },
	{ "last-modified", "" },
	{ "link", "" },
	{ "location", "" },
	{ "max-forwards", "" },
	{ "proxy-authenticate", "" },
	{ "proxy-authorization", "" },
	{ "range", "" },
	{ "referer", "" },
	{ "refresh", "" },
	{ "retry-after", "" },
	{ "server", "" },
	{ "set-cookie", "" },
	{ "strict-transport-security", "" },
	{ "transfer-encoding", "" },
	{ "user-agent", "" },
	{ "vary", "" },
	{ "via", "" },
	{ "www-authenticate", "" },
};

void hpack_done(struct hpack *h)
{
	for (size_t i = 0; i < h->entries.nr; i++)
		free(h->entries.v[i].bytes);
	vec_done(&h->entries);
	buf_done(&h->name);
	buf_done(&h->value);
}

static size_t limit_of(const struct hpack *h)
{
	return h->max ? h->max - 1 : DEFAULT_BYTES;
}

/* Drops the oldest until no more than this is left. */
static void shrink(struct hpack *h, size_t bytes)
{
	size_t nr = 0;

	while (nr < h->entries.nr && h->bytes > bytes) {
		struct hpack_entry *e = &h->entries.v[nr++];

		h->bytes -= e->name_n + e->value_n + ENTRY_COST;
		free(e->bytes);
	}
	h->entries.nr -= nr;
	if (nr && h->entries.nr)
		memmove(h->entries.v, h->entries.v + nr, h->entries.nr * sizeof(*h->entries.v));
}

static void add(struct hpack *h, struct str name, struct str value)
{
	size_t cost = name.n + value.n + ENTRY_COST, max = limit_of(h);
	struct hpack_entry e = { NULL, name.n, value.n };

	if (cost > max) {
		shrink(h, 0);
		return;
	}
	/* the name may be that of an entry which is about to go */
	e.bytes = mem_alloc(name.n + value.n + 1);
	memcpy(e.bytes, name.p, name.n);
	memcpy(e.bytes + name.n, value.p, value.n);
	shrink(h, max - cost);
	h->bytes += cost;
	vec_push(&h->entries, e);
}

/* A number with a prefix of so many bits (section 5.1). */
static bool take_int(struct str *s, unsigned bits, uint64_t *v)
{
	uint64_t mask = (1u << bits) - 1, byte, shift = 0;

	if (!take_be(s, 1, v))
		return false;
	*v &= mask;
	if (*v < mask)
		return true;
	do {
		if (shift > 28 || !take_be(s, 1, &byte))
			return false;
		*v += (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

static bool take_text(struct str *s, struct buf *room, struct str *text)
{
	bool is_coded = byte_at(*s, 0) & 0x80;
	uint64_t n;

	if (!take_int(s, 7, &n) || !take_part(s, n, text))
		return false;
	if (!is_coded)
		return true;
	buf_clear(room);
	if (!hpack_huffman(room, *text))
		return false;
	*text = buf_str(room);
	return true;
}

/* 0 and what is not there any more, or not yet, have no name. */
static void find(const struct hpack *h, uint64_t i, struct str *name, struct str *value)
{
	const struct hpack_entry *e;

	*name = *value = STR("");
	if (i >= 1 && i <= NR_STATIC) {
		*name = str_of(fixed[i - 1].name);
		*value = str_of(fixed[i - 1].value);
	} else if (i > NR_STATIC && i - NR_STATIC <= h->entries.nr) {
		e = &h->entries.v[h->entries.nr - (i - NR_STATIC)];
		*name = (struct str){ e->bytes, e->name_n };
		*value = (struct str){ e->bytes + e->name_n, e->value_n };
	}
}

static bool take_literal(struct hpack *h, struct str *s, unsigned bits, bool is_kept,
			 hpack_header *header, void *to)
{
	struct str name, value;
	uint64_t i;

	if (!take_int(s, bits, &i))
		return false;
	find(h, i, &name, &value);
	if ((!i && !take_text(s, &h->name, &name)) || !take_text(s, &h->value, &value))
		return false;
	header(to, name, value);
	if (is_kept)
		add(h, name, value);
	return true;
}

static bool take_field(struct hpack *h, struct str *s, hpack_header *header, void *to)
{
	unsigned first = byte_at(*s, 0);
	struct str name, value;
	uint64_t v;

	if (first & 0x80) {
		if (!take_int(s, 7, &v) || !v)
			return false;
		find(h, v, &name, &value);
		header(to, name, value);
		return true;
	}
	if (first & 0x40)
		return take_literal(h, s, 6, true, header, to);
	if (!(first & 0x20))
		return take_literal(h, s, 4, false, header, to);
	if (!take_int(s, 5, &v))
		return false;
	h->max = (v < BYTES_MAX ? (size_t)v : BYTES_MAX) + 1;
	shrink(h, limit_of(h));
	return true;
}

bool hpack_decode(struct hpack *h, struct str block, hpack_header *header, void *to)
{
	while (block.n)
		if (!take_field(h, &block, header, to))
			return false;
	return true;
}
