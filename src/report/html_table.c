#include "report/html_table.h"

#include "report/report.h"
#include "report/shown.h"

/* Drawings are in these units; SVG scales them. */
#define SPARK_BARS_MAX 60
#define SPARK_STEP 5
#define SPARK_HEIGHT 18
#define BAR_WIDTH 320
#define BAR_HEIGHT 10

void html_text(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&':
			buf_add(out, STR("&amp;"));
			break;
		case '<':
			buf_add(out, STR("&lt;"));
			break;
		case '>':
			buf_add(out, STR("&gt;"));
			break;
		case '"':
			buf_add(out, STR("&quot;"));
			break;
		case '\'':
			buf_add(out, STR("&#39;"));
			break;
		default:
			buf_char(out, text.p[i]);
		}
	}
}

static void add_spark(struct buf *out, const struct cell *c)
{
	double height[SPARK_BARS_MAX];
	size_t nr = c->list.nr < SPARK_BARS_MAX ? c->list.nr : SPARK_BARS_MAX;

	shown_spark(c, height, nr);
	buf_fmt(out,
		"<svg class=\"spark\" role=\"img\" aria-label=\"over time\" width=\"%zu\" "
		"height=\"%d\" viewBox=\"0 0 %zu %d\">",
		nr * SPARK_STEP, SPARK_HEIGHT, nr * SPARK_STEP, SPARK_HEIGHT);
	for (size_t i = 0; i < nr; i++) {
		double h = 1 + height[i] * (SPARK_HEIGHT - 1);

		if (height[i] < 0)
			continue;
		buf_fmt(out, "<rect%s x=\"%zu\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
			height[i] >= 1 ? " class=\"top\"" : "", i * SPARK_STEP, SPARK_HEIGHT - h,
			SPARK_STEP - 1, h);
	}
	buf_add(out, STR("</svg>"));
}

static void add_bar(struct buf *out, const struct cell *c)
{
	double from = c->bar.from * BAR_WIDTH, to = c->bar.to * BAR_WIDTH;
	const char *fill = c->bar.fill == 'c' ? "c" : c->bar.fill == 'w' ? "wt" : "r";
	/* waiting is also lower, so that the three differ without colour */
	int height = c->bar.fill == 'w' ? BAR_HEIGHT / 2 : BAR_HEIGHT;

	if (to < from + 1.5)
		to = from + 1.5;
	buf_fmt(out,
		"<svg role=\"img\" aria-label=\"from %.1f %% to %.1f %%\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\"><rect class=\"track\" width=\"%d\" "
		"height=\"%d\"/><rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
		"height=\"%d\"/></svg>",
		c->bar.from * 100, c->bar.to * 100, BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT,
		BAR_WIDTH, BAR_HEIGHT, fill, from, (BAR_HEIGHT - height) / 2, to - from, height);
}

static void add_indent(struct buf *out, unsigned depth)
{
	for (unsigned i = 0; i < depth && i < SHOWN_DEPTH_MAX; i++)
		buf_add(out, STR("<i></i>"));
	if (depth > SHOWN_DEPTH_MAX)
		buf_fmt(out, "<span class=\"deep\">(%u)</span> ", depth);
}

static const char *cell_class(const struct column *column, const struct cell *c)
{
	if (c->type == CELL_BAR || c->type == CELL_SPARK)
		return "d";
	if (shown_right(column->type))
		return c->type == CELL_NONE ? "n none" : "n";
	if (c->type == CELL_NONE)
		return "none";
	if (column->flags & COLUMN_INDENT)
		return "t";
	return column->flags & COLUMN_WIDE ? "w" : NULL;
}

static void add_cell(struct buf *out, const struct column *column, const struct row *row,
		     const struct cell *c)
{
	const char *class = cell_class(column, c);
	struct buf shown = { 0 };

	if (class)
		buf_fmt(out, "<td class=\"%s\">", class);
	else
		buf_add(out, STR("<td>"));
	if (column->flags & COLUMN_INDENT)
		add_indent(out, row->depth);
	if (c->type == CELL_SPARK) {
		add_spark(out, c);
	} else if (c->type == CELL_BAR) {
		add_bar(out, c);
	} else {
		shown_cell(&shown, c);
		html_text(out, buf_str(&shown));
	}
	buf_add(out, STR("</td>"));
	buf_done(&shown);
}

static bool has_bars(const struct section *s)
{
	for (size_t i = 0; i < s->nr_columns; i++)
		if (s->columns[i].type == CELL_BAR && shown_column(s, i))
			return true;
	return false;
}

static void add_key(struct buf *out)
{
	static const struct {
		const char *class, *says;
		int height;
	} keys[] = {
		{ "c", "on the critical path", BAR_HEIGHT },
		{ "r", "running", BAR_HEIGHT },
		{ "wt", "waiting", BAR_HEIGHT / 2 },
	};

	buf_add(out, STR("<p class=\"key\">"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		buf_fmt(out,
			"<svg width=\"18\" height=\"%d\" aria-hidden=\"true\"><rect class=\"%s\" "
			"y=\"%d\" width=\"18\" height=\"%d\"/></svg>%s",
			BAR_HEIGHT, keys[i].class, (BAR_HEIGHT - keys[i].height) / 2,
			keys[i].height, keys[i].says);
	buf_add(out, STR("</p>\n"));
}

static void add_titles(const struct section *s, struct buf *out)
{
	buf_add(out, STR("<thead><tr>"));
	for (size_t i = 0; i < s->nr_columns; i++) {
		if (!shown_column(s, i))
			continue;
		buf_add(out, shown_right(s->columns[i].type) ? STR("<th scope=\"col\" class=\"n\">")
							     : STR("<th scope=\"col\">"));
		html_text(out, str_of(s->columns[i].title));
		buf_add(out, STR("</th>"));
	}
	buf_add(out, STR("</tr></thead>\n<tbody>\n"));
}

void html_table(const struct section *s, struct buf *out)
{
	bool *shown = mem_zalloc(s->nr_columns + 1);

	for (size_t i = 0; i < s->nr_columns; i++)
		shown[i] = shown_column(s, i);
	buf_add(out, STR("<div class=\"scroll\"><table>"));
	add_titles(s, out);
	vec_each (&s->rows, row) {
		buf_add(out, row->strong ? STR("<tr class=\"strong\">") : STR("<tr>"));
		for (size_t i = 0; i < s->nr_columns; i++)
			if (shown[i])
				add_cell(out, &s->columns[i], row, &row->cells[i]);
		buf_add(out, STR("</tr>\n"));
	}
	buf_add(out, STR("</tbody></table></div>\n"));
	if (has_bars(s))
		add_key(out);
	free(shown);
}
