#include "store/lead.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"

#define LEVEL 3 /* as of what stands alone */

struct lead {
	ZSTD_CCtx *in;
	ZSTD_DCtx *out;
	ZSTD_CDict *written;
	ZSTD_DDict *read;
};

struct lead *lead_new(struct str front, bool to_write)
{
	struct lead *l = mem_zalloc(sizeof(*l));

	if (to_write) {
		l->in = ZSTD_createCCtx();
		l->written = ZSTD_createCDict(front.p, front.n, LEVEL);
	} else {
		l->out = ZSTD_createDCtx();
		l->read = ZSTD_createDDict(front.p, front.n);
	}
	if (!(l->in && l->written) && !(l->out && l->read))
		mem_bytes(SIZE_MAX, 2); /* ends the program, as any allocation does */
	return l;
}

void lead_free(struct lead *l)
{
	if (!l)
		return;
	ZSTD_freeCCtx(l->in);
	ZSTD_freeDCtx(l->out);
	ZSTD_freeCDict(l->written);
	ZSTD_freeDDict(l->read);
	free(l);
}

void lead_close(struct lead *l, struct str piece, struct buf *to)
{
	size_t room = ZSTD_compressBound(piece.n), got;

	buf_room(to, room);
	got = ZSTD_compress_usingCDict(l->in, to->p + to->n, room, piece.p, piece.n, l->written);
	if (ZSTD_isError(got))
		mem_bytes(SIZE_MAX, 2); /* with room enough only memory can fail */
	to->n += got;
}

bool lead_open(struct lead *l, struct str packed, size_t nr_bytes, struct buf *piece)
{
	size_t got;

	buf_clear(piece);
	got = ZSTD_decompress_usingDDict(l->out, buf_room(piece, nr_bytes ? nr_bytes : 1), nr_bytes,
					 packed.p, packed.n, l->read);
	if (ZSTD_isError(got) || got != nr_bytes)
		return false;
	piece->n = got;
	return true;
}
