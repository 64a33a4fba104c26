/* Bytes as base64 text (RFC 4648), as JSON formats carry them. */
#ifndef CULPRIT_EXPORT_BASE64_H
#define CULPRIT_EXPORT_BASE64_H

#include "base/buf.h"

void base64_add(struct buf *out, struct str bytes);

#endif
