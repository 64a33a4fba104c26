/* Colours of the terminal writer; without colour each is nothing. */
#ifndef CULPRIT_REPORT_TEXT_PAINT_H
#define CULPRIT_REPORT_TEXT_PAINT_H

#include "base/buf.h"
#include "report/writer.h"

#define PAINT_STRONG "\033[1m"
#define PAINT_FAINT "\033[2m"
#define PAINT_COMMAND "\033[36m"
#define PAINT_WARNING "\033[33m"
#define PAINT_CRITICAL "\033[31m"
#define PAINT_OFF "\033[0m"

static inline void text_paint(const struct text_style *style, struct buf *out, const char *paint)
{
	if (style->colour)
		buf_add(out, str_of(paint));
}

static inline void text_spaces(struct buf *out, size_t nr)
{
	while (nr--)
		buf_char(out, ' ');
}

#endif
