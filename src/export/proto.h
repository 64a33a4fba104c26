/* Writes protobuf fields into a buffer: tag and value, nothing of any schema. */
#ifndef CULPRIT_EXPORT_PROTO_H
#define CULPRIT_EXPORT_PROTO_H

#include <stdint.h>

#include "base/buf.h"

void proto_uint(struct buf *b, unsigned field, uint64_t v);
void proto_fixed64(struct buf *b, unsigned field, uint64_t v);
void proto_double(struct buf *b, unsigned field, double v);
/* A message or bytes. */
void proto_bytes(struct buf *b, unsigned field, struct str v);
/* A string: bytes that are not UTF-8, which protobuf forbids there, become U+FFFD. */
void proto_text(struct buf *b, unsigned field, struct str v);

#endif
