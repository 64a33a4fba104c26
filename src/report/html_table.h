/* Sets a section's rows as an HTML table, with sparks and time bars drawn as inline SVG. */
#ifndef CULPRIT_REPORT_HTML_TABLE_H
#define CULPRIT_REPORT_HTML_TABLE_H

#include "base/buf.h"

struct section;

void html_table(const struct section *s, struct buf *out);
/* Text as content or attribute value: nothing in it can be taken for markup. */
void html_text(struct buf *out, struct str text);

#endif
