/* Reads queries as they are written (docs/query.md has the grammar). */
#ifndef CULPRIT_QUERY_PARSE_H
#define CULPRIT_QUERY_PARSE_H

#include "query/ast.h"

struct arena;
struct error;

#define QUERY_DEPTH 64         /* brackets in brackets */
#define QUERY_PARTS 256        /* of one kind in one query: joins, columns, sources … */
#define QUERY_BYTES (64 << 10) /* of text */

/* 0, or -EINVAL with line, column, the line itself with a caret, and what was meant. Everything is
 * in the arena, names and strings borrow from the text. */
int query_parse(struct str text, struct arena *arena, struct queries *q, struct error *err);

#endif
