/* Header compression of HTTP/2 (RFC 7541), the reading half. */
#ifndef CULPRIT_SOURCE_PROTO_HPACK_H
#define CULPRIT_SOURCE_PROTO_HPACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"

struct hpack_entry {
	char *bytes; /* name and value */
	size_t name_n, value_n;
};

/* One direction of a connection; zero is its start. */
struct hpack {
	VEC(struct hpack_entry) entries; /* the newest last */
	size_t bytes;                    /* as the standard counts them */
	size_t max;                      /* one more than may be; 0: the default */
	struct buf name, value;          /* of texts that were coded */
};

typedef void hpack_header(void *to, struct str name, struct str value);

void hpack_done(struct hpack *h);
/*
 * Tells every header of a block. One that refers to what was sent before the capture began is told
 * without a name. False when the bytes are no such block.
 */
bool hpack_decode(struct hpack *h, struct str block, hpack_header *header, void *to);
/* Adds the text that the code stands for; false when it is none. */
bool hpack_huffman(struct buf *out, struct str coded);

#endif
