/* Brings the names of traces and spans into one form, however their source writes them. */
#ifndef CULPRIT_SOURCE_TRACE_ID_H
#define CULPRIT_SOURCE_TRACE_ID_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * Hexadecimal digits of a usual length become lower case, base64 of 8 or 16 bytes becomes
 * hexadecimal, anything else stays as it is. The result lives in the arena.
 */
struct str trace_id_of_text(struct arena *a, struct str text);
struct str trace_id_of_bytes(struct arena *a, struct str bytes);
/* Only zeros (or nothing): how some sources say "none". */
bool trace_id_is_none(struct str id);

/* Both alphabets, with or without padding; false, and nothing added, when it is not base64. */
bool trace_id_take_base64(struct buf *out, struct str text);
bool trace_id_take_hex(struct buf *out, struct str text);

#endif
