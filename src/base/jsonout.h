/* Writes JSON text into a buffer: commas, quotes and escapes are its business, nothing else is. */
#ifndef CULPRIT_BASE_JSONOUT_H
#define CULPRIT_BASE_JSONOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Begin with { .out = &buffer }; nesting up to 64 deep. */
struct jsonout {
	struct buf *out;
	uint64_t has_items; /* one bit per open object or array */
	unsigned depth;
	bool after_key;
};

void jsonout_open(struct jsonout *j, char bracket);  /* '{' or '[' */
void jsonout_close(struct jsonout *j, char bracket); /* '}' or ']' */
void jsonout_key(struct jsonout *j, const char *key);
void jsonout_key_str(struct jsonout *j, struct str key);
/* Bytes that are not UTF-8 come out as U+FFFD, so that the text is always valid JSON. */
void jsonout_str(struct jsonout *j, struct str s);
void jsonout_int(struct jsonout *j, int64_t v);
void jsonout_uint(struct jsonout *j, uint64_t v);
/* Shortest text that reads back as the same number; null for NaN and infinities. */
void jsonout_double(struct jsonout *j, double v);
void jsonout_bool(struct jsonout *j, bool v);
void jsonout_null(struct jsonout *j);
/* Text that is JSON already. */
void jsonout_raw(struct jsonout *j, struct str json);

#endif
