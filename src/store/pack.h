/* Wraps bytes for the run file: compressed, with a checksum that also knows where they belong. */
#ifndef CULPRIT_STORE_PACK_H
#define CULPRIT_STORE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct pack; /* the compressor's working memory, for use again and again */

struct pack *pack_new(void);
void pack_free(struct pack *p);
/* Appends the wrapped form of raw; level as of zstd, negative for speed. */
void pack_close(struct pack *p, int level, uint64_t place, struct str raw, struct buf *to);
/* Replaces *raw by what was wrapped; false when a bit differs, or when it was wrapped for another
 * place. */
bool pack_open(struct pack *p, uint64_t place, struct str wrapped, struct buf *raw);

#endif
