#include "store/pack.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/mem.h"

/* Eight bytes of checksum over everything that follows, the size of the raw bytes, a zstd frame. */

#define SUM_BYTES sizeof(uint64_t)
#define RAW_MOST ((uint64_t)1 << 31) /* more was never written: SQLite takes a row below 1 GB */

struct pack {
	ZSTD_CCtx *in;
	ZSTD_DCtx *out;
};

struct pack *pack_new(void)
{
	struct pack *p = mem_zalloc(sizeof(*p));

	p->in = ZSTD_createCCtx();
	p->out = ZSTD_createDCtx();
	if (!p->in || !p->out)
		mem_bytes(SIZE_MAX, 2); /* ends the program, as any allocation does */
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->in);
	ZSTD_freeDCtx(p->out);
	free(p);
}

void pack_close(struct pack *p, int level, uint64_t place, struct str raw, struct buf *to)
{
	size_t room = ZSTD_compressBound(raw.n), start = to->n, got;
	uint64_t sum;
	char *at;

	buf_room(to, SUM_BYTES + 10 + room);
	to->n += SUM_BYTES;
	buf_varint(to, raw.n);
	got = ZSTD_compressCCtx(p->in, to->p + to->n, room, raw.p, raw.n, level);
	if (ZSTD_isError(got))
		mem_bytes(SIZE_MAX, 2); /* with room enough only memory can fail */
	to->n += got;
	at = to->p + start;
	sum = XXH3_64bits_withSeed(at + SUM_BYTES, to->n - start - SUM_BYTES, place);
	memcpy(at, &sum, SUM_BYTES);
}

bool pack_open(struct pack *p, uint64_t place, struct str wrapped, struct buf *raw)
{
	struct str s = str_skip(wrapped, SUM_BYTES);
	uint64_t sum, n;
	size_t got;

	if (wrapped.n < SUM_BYTES)
		return false;
	memcpy(&sum, wrapped.p, SUM_BYTES);
	if (sum != XXH3_64bits_withSeed(s.p, s.n, place) || !str_take_varint(&s, &n) ||
	    n > RAW_MOST)
		return false;
	buf_clear(raw);
	got = ZSTD_decompressDCtx(p->out, buf_room(raw, n ? n : 1), n, s.p, s.n);
	if (ZSTD_isError(got) || got != n)
		return false;
	raw->n = n;
	return true;
}
