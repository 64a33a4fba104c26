#include "report/shown.h"

#include <math.h>
#include <stdio.h>

#include "base/time.h"
#include "base/utf8.h"

#define NS_DAY (86400 * NS_S)

/* Characters that a terminal may obey, or that reorder the text around them. */
static bool steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void spelled(struct buf *b, uint32_t c)
{
	switch (c) {
	case '\n':
		buf_add(b, STR("\\n"));
		break;
	case '\r':
		buf_add(b, STR("\\r"));
		break;
	case '\t':
		buf_add(b, STR("\\t"));
		break;
	default:
		buf_fmt(b, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
	}
}

void shown_text(struct buf *b, struct str s, bool keep_lines)
{
	while (s.n) {
		uint32_t c = 0;
		size_t n = utf8_decode(s, &c);

		if (!n)
			buf_fmt(b, "\\x%02x", (unsigned char)s.p[0]);
		else if (steers(c) && !(keep_lines && c == '\n'))
			spelled(b, c);
		else
			buf_add(b, str_head(s, n));
		s = str_skip(s, n ? n : 1);
	}
}

void shown_count(struct buf *b, int64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%lld", (long long)v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			buf_char(b, ',');
		buf_char(b, digits[i]);
	}
}

static void shown_number(struct buf *b, double v)
{
	if (fabs(v) >= 999.5 && fabs(v) < 1e15)
		shown_count(b, llround(v));
	else
		buf_fmt(b, "%.3g", v);
}

/* What is nearly nothing or nearly all does not read as nothing or all. */
static void shown_share(struct buf *b, double share)
{
	double percent = share * 100, size = fabs(percent);

	if (percent > 0 && percent < 0.1)
		buf_add(b, STR("<0.1 %"));
	else if (percent > 99.9 && percent < 100)
		buf_add(b, STR(">99.9 %"));
	else if (size == 0 || (size >= 9.95 && size < 99.5) || size >= 100)
		buf_fmt(b, "%.0f %%", percent);
	else
		buf_fmt(b, "%.1f %%", percent);
}

static void shown_time(struct buf *b, int64_t ns)
{
	/* room for the zone at either end of time */
	if (ns > INT64_MAX - NS_DAY)
		ns = INT64_MAX - NS_DAY;
	if (ns != NS_NONE && ns < NS_DAY - INT64_MAX)
		ns = NS_DAY - INT64_MAX;
	time_text(b, ns, 3);
}

void shown_cell(struct buf *b, const struct cell *c)
{
	switch (c->type) {
	case CELL_NONE:
		buf_char(b, '-');
		break;
	case CELL_TEXT:
		shown_text(b, c->text, false);
		break;
	case CELL_COUNT:
		shown_count(b, c->i);
		break;
	case CELL_NUMBER:
		shown_number(b, c->d);
		break;
	case CELL_DURATION:
		time_span_text(b, c->i);
		break;
	case CELL_TIME:
		shown_time(b, c->i);
		break;
	case CELL_SHARE:
		shown_share(b, c->d);
		break;
	case CELL_BOOL:
		buf_add(b, c->i ? STR("yes") : STR("no"));
		break;
	case CELL_SPARK:
	case CELL_BAR:
	case CELL_ROWS:
		break;
	}
}

bool shown_column(const struct section *s, size_t column)
{
	const struct column *c = &s->columns[column];

	if ((c->flags & COLUMN_JSON_ONLY) || !c->title || c->type == CELL_ROWS)
		return false;
	for (size_t i = 0; i < s->rows.nr; i++)
		if (s->rows.v[i].cells[column].type != CELL_NONE)
			return true;
	return false;
}

bool shown_right(enum cell_type type)
{
	return type == CELL_COUNT || type == CELL_NUMBER || type == CELL_DURATION ||
	       type == CELL_SHARE;
}

void shown_spark(const struct cell *c, double *height, size_t nr)
{
	double max = 0;

	for (size_t i = 0; i < c->list.nr; i++)
		if (isfinite(c->list.v[i]) && c->list.v[i] > max)
			max = c->list.v[i];
	for (size_t i = 0; i < nr; i++) {
		size_t from = i * c->list.nr / nr, to = (i + 1) * c->list.nr / nr;

		height[i] = -1;
		/* the highest of those drawn together: a peak must not vanish */
		for (size_t k = from; k < to || k == from; k++) {
			double v = k < c->list.nr ? c->list.v[k] : NAN;

			if (isfinite(v) && v >= 0)
				height[i] = fmax(height[i], max > 0 ? v / max : 0);
		}
	}
}
