/* Rows in the binary form of PostgreSQL's COPY. */
#ifndef CULPRIT_STORE_TUPLE_H
#define CULPRIT_STORE_TUPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* What stands before the first row, and after the last. */
void tuple_head(struct buf *b);
void tuple_tail(struct buf *b);

/* A row of nr fields, which follow one by one. */
void tuple_begin(struct buf *b, unsigned nr);
void tuple_null(struct buf *b);
void tuple_bool(struct buf *b, bool v);
void tuple_int2(struct buf *b, int16_t v);
void tuple_int4(struct buf *b, int32_t v);
void tuple_int8(struct buf *b, int64_t v);
void tuple_float4(struct buf *b, float v);
void tuple_float8(struct buf *b, double v);
/* A moment in microseconds; NS_NONE is null. */
void tuple_time(struct buf *b, int64_t ns);
/* As valid UTF-8 without zero bytes, which PostgreSQL insists on: others become U+FFFD. */
void tuple_text(struct buf *b, struct str s);
void tuple_bytes(struct buf *b, struct str s);
void tuple_texts(struct buf *b, const struct str *v, size_t nr);

#endif
