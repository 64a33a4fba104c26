/* Compresses small pieces of bytes as well as large ones, by what a longer piece in front of them
 * all holds: any one of them is then had without its neighbours. */
#ifndef CULPRIT_STORE_LEAD_H
#define CULPRIT_STORE_LEAD_H

#include <stdbool.h>

#include "base/buf.h"

struct lead;

/* The piece in front is copied. */
struct lead *lead_new(struct str front, bool to_write);
void lead_free(struct lead *l);
/* Appends the piece, compressed. */
void lead_close(struct lead *l, struct str piece, struct buf *to);
/* Replaces *piece by what was compressed, which has nr_bytes; false where it cannot be so. */
bool lead_open(struct lead *l, struct str packed, size_t nr_bytes, struct buf *piece);

#endif
