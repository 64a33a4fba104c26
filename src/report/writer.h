/* Shows a report: to a person in a terminal, to a script as JSON lines, to a colleague as one HTML
 * file. */
#ifndef CULPRIT_REPORT_WRITER_H
#define CULPRIT_REPORT_WRITER_H

#include <stdbool.h>

#include "base/buf.h"

struct report;

struct text_style {
	unsigned columns; /* width of the terminal; 0 for "do not cut" */
	bool colour;
	bool ascii; /* no block characters */
};

void report_write_text(const struct report *r, const struct text_style *style, struct buf *out);
/* One object per line, and a last line {"losses":{…}} whenever there are any. */
void report_write_json(const struct report *r, struct buf *out);
/* The same without the losses: a piece of a report that is not complete yet. */
void report_write_json_piece(const struct report *r, struct buf *out);
/* One self-contained file: no script from outside, no font, no network. */
void report_write_html(const struct report *r, struct buf *out);

#endif
