/* What handles of one run keep together: blocks of requests in brief, once one of them has unpacked
 * them, and what questions worked out. */
#ifndef CULPRIT_STORE_SHARED_H
#define CULPRIT_STORE_SHARED_H

#include "base/buf.h"
#include "store/store.h"

/* One more that uses it; each lets go with store_shared_free. */
struct store_shared *shared_use(struct store_shared *k);
/* The block that begins with that request: empty where it is not known. Lives as long as what it is
 * kept in. */
struct str shared_block(struct store_shared *k, uint64_t first);
/* Takes the bytes over if there is room, and gives what shared_block would give then. */
struct str shared_keep(struct store_shared *k, uint64_t first, struct buf *block);

#endif
