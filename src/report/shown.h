/* How one value looks to a person, the same in a terminal and on a page. */
#ifndef CULPRIT_REPORT_SHOWN_H
#define CULPRIT_REPORT_SHOWN_H

#include <stdbool.h>

#include "base/buf.h"
#include "report/report.h"

#define SHOWN_DEPTH_MAX 24 /* a tree is indented so far and no farther */

/*
 * Text of foreign origin: control characters, bytes that are not UTF-8 and marks that turn the
 * writing direction are spelled out ("\x1b"), so that no input can steer a terminal. Line ends
 * pass only with keep_lines.
 */
void shown_text(struct buf *b, struct str s, bool keep_lines);
/* "9,461" */
void shown_count(struct buf *b, int64_t v);
/* Everything but sparks, bars and rows, which are drawings. */
void shown_cell(struct buf *b, const struct cell *c);
/* Whether people see this column in this section: it is for them and holds something. */
bool shown_column(const struct section *s, size_t column);
/* Numbers stand to the right. */
bool shown_right(enum cell_type type);
/* The height of each of nr little bars in 0..1, negative for none; long lists are drawn together.
 */
void shown_spark(const struct cell *c, double *height, size_t nr);

#endif
