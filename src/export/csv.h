/* The request table as comma-separated values (RFC 4180). */
#ifndef CULPRIT_EXPORT_CSV_H
#define CULPRIT_EXPORT_CSV_H

#include "base/buf.h"

struct request;

void csv_head(struct buf *out);
void csv_request(const struct request *r, struct buf *out);

#endif
