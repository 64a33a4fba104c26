/* Sets a section's rows as a table in a terminal: columns aligned, numbers right, cut to the width.
 */
#ifndef CULPRIT_REPORT_TEXT_TABLE_H
#define CULPRIT_REPORT_TEXT_TABLE_H

#include "base/buf.h"

struct section;
struct text_style;

#define TEXT_MARGIN 2 /* columns left free in front of everything */

void text_table(const struct section *s, const struct text_style *style, struct buf *out);

#endif
