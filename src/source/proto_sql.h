/* Names an SQL statement by what it does and to which table. */
#ifndef CULPRIT_SOURCE_PROTO_SQL_H
#define CULPRIT_SOURCE_PROTO_SQL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* "SELECT orders", "INSERT log", "BEGIN"; added to what is there. */
void sql_title(struct buf *b, struct str statement);
/* Does the text begin as statements do. */
bool sql_looks(struct str text);

#endif
