#include "report/text_table.h"

#include "base/utf8.h"
#include "report/report.h"
#include "report/shown.h"
#include "report/text_paint.h"

#define GAP 2
#define BAR_COLUMNS 32
#define BAR_COLUMNS_MIN 10
#define SPARK_COLUMNS_MAX 48
#define SPARK_COLUMNS_MIN 8
#define WIDE_COLUMNS_MIN 12

struct table {
	const struct section *s;
	const struct text_style *style;
	struct buf *out;
	struct buf cell; /* the cell at hand */
	size_t *width;   /* per column; 0 is not shown */
	size_t last;     /* the last column shown, which needs no filling up */
};

static void set_cell(struct table *t, const struct row *row, size_t column)
{
	size_t depth = row->depth < SHOWN_DEPTH_MAX ? row->depth : SHOWN_DEPTH_MAX;

	buf_clear(&t->cell);
	if (t->s->columns[column].flags & COLUMN_INDENT) {
		text_spaces(&t->cell, 2 * depth);
		if (row->depth > SHOWN_DEPTH_MAX)
			buf_fmt(&t->cell, "(%u) ", row->depth);
	}
	shown_cell(&t->cell, &row->cells[column]);
}

static size_t natural_width(struct table *t, const struct row *row, size_t column)
{
	const struct cell *cell = &row->cells[column];

	if (cell->type == CELL_BAR)
		return BAR_COLUMNS;
	if (cell->type == CELL_SPARK)
		return cell->list.nr < SPARK_COLUMNS_MAX ? cell->list.nr : SPARK_COLUMNS_MAX;
	set_cell(t, row, column);
	return utf8_width(buf_str(&t->cell));
}

static size_t total_width(const struct table *t)
{
	size_t total = TEXT_MARGIN;

	for (size_t i = 0; i < t->s->nr_columns; i++)
		if (t->width[i])
			total += t->width[i] + (i == t->last ? 0 : GAP);
	return total;
}

static size_t least_width(const struct column *c)
{
	size_t title = utf8_width(str_of(c->title));

	if (c->type == CELL_BAR)
		return title > BAR_COLUMNS_MIN ? title : BAR_COLUMNS_MIN;
	if (c->type == CELL_SPARK)
		return title > SPARK_COLUMNS_MIN ? title : SPARK_COLUMNS_MIN;
	return c->flags & COLUMN_WIDE ? WIDE_COLUMNS_MIN : SIZE_MAX;
}

/* Takes what is too much from the columns that may give: drawings first, then the widest text. */
static void make_fit(struct table *t)
{
	size_t total = total_width(t), want = t->style->columns;

	while (want && total > want) {
		size_t most = 0, giver = t->s->nr_columns, take;

		for (size_t i = 0; i < t->s->nr_columns; i++) {
			const struct column *c = &t->s->columns[i];
			size_t least = t->width[i] ? least_width(c) : 0;
			bool drawn = c->type == CELL_BAR || c->type == CELL_SPARK;

			if (t->width[i] <= least || (!drawn && t->width[i] <= most))
				continue;
			giver = i;
			most = t->width[i];
			if (drawn)
				break;
		}
		if (giver == t->s->nr_columns)
			return;
		take = t->width[giver] - least_width(&t->s->columns[giver]);
		/* text gives one by one, so that several wide columns end up alike */
		if (t->s->columns[giver].type == CELL_TEXT)
			take = 1;
		if (take > total - want)
			take = total - want;
		t->width[giver] -= take;
		total -= take;
	}
}

/* Where even the narrowest form is too wide, the sparks go: they are the least exact. */
static void drop_sparks(struct table *t)
{
	for (size_t i = 0; i < t->s->nr_columns; i++)
		if (t->s->columns[i].type == CELL_SPARK)
			t->width[i] = 0;
	for (size_t i = 0; i < t->s->nr_columns; i++)
		if (t->width[i])
			t->last = i;
}

static void lay_out(struct table *t)
{
	size_t *wanted;

	for (size_t i = 0; i < t->s->nr_columns; i++) {
		if (!shown_column(t->s, i))
			continue;
		t->last = i;
		t->width[i] = utf8_width(str_of(t->s->columns[i].title));
		if (!t->width[i])
			t->width[i] = 1;
		for (size_t k = 0; k < t->s->rows.nr; k++) {
			size_t w = natural_width(t, &t->s->rows.v[k], i);

			if (w > t->width[i])
				t->width[i] = w;
		}
	}
	wanted = mem_alloc(mem_bytes(t->s->nr_columns + 1, sizeof(*wanted)));
	memcpy(wanted, t->width, t->s->nr_columns * sizeof(*wanted));
	make_fit(t);
	if (t->style->columns && total_width(t) > t->style->columns) {
		memcpy(t->width, wanted, t->s->nr_columns * sizeof(*wanted));
		drop_sparks(t);
		make_fit(t);
	}
	free(wanted);
}

/* The end of s that fits in so many columns. */
static struct str fit_end(struct str s, size_t columns)
{
	size_t wide = utf8_width(s), drop = wide > columns ? wide - columns : 0;
	struct str end = str_skip(s, utf8_fit(s, drop).n);

	/* a character of two columns stood across the cut */
	return utf8_width(end) > columns ? str_skip(s, utf8_fit(s, drop + 1).n) : end;
}

/* Cut nearer to the end, since names tell most at their front; behind the indentation, which gets
 * half of the room at most. */
static size_t add_cut(struct buf *out, struct str s, size_t columns, bool ascii)
{
	struct str dots = ascii ? STR("...") : STR("…"), front, back;
	size_t wide = utf8_width(s), lead;

	if (wide <= columns) {
		buf_add(out, s);
		return wide;
	}
	lead = str_take_spaces(&s);
	if (lead > columns / 2)
		lead = columns / 2;
	columns -= lead + utf8_width(dots);
	front = utf8_fit(s, columns - columns / 4);
	back = fit_end(s, columns / 4);
	text_spaces(out, lead);
	buf_add(out, front);
	buf_add(out, dots);
	buf_add(out, back);
	return lead + utf8_width(front) + utf8_width(dots) + utf8_width(back);
}

static size_t add_spark(struct table *t, const struct cell *c, size_t columns)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = "_.-:=+*#";
	double height[SPARK_COLUMNS_MAX];
	size_t nr = c->list.nr < columns ? c->list.nr : columns;

	if (nr > SPARK_COLUMNS_MAX)
		nr = SPARK_COLUMNS_MAX;
	shown_spark(c, height, nr);
	for (size_t i = 0; i < nr; i++) {
		int level = (int)(height[i] * 7.999);

		if (height[i] < 0)
			buf_char(t->out, ' ');
		else if (t->style->ascii)
			buf_char(t->out, ascii[level]);
		else
			buf_add(t->out, str_of(blocks[level]));
	}
	return nr;
}

static const char *bar_fill(char fill, bool ascii)
{
	switch (fill) {
	case 'c':
		return ascii ? "#" : "█";
	case 'w':
		return ascii ? "." : "░";
	default:
		return ascii ? "=" : "▒";
	}
}

static size_t add_bar(struct table *t, const struct cell *c, size_t columns)
{
	size_t from = (size_t)(c->bar.from * (double)columns);
	size_t to = (size_t)(c->bar.to * (double)columns + 0.5);

	if (from >= columns)
		from = columns - 1;
	if (to <= from)
		to = from + 1;
	text_spaces(t->out, from);
	if (c->bar.fill == 'c')
		text_paint(t->style, t->out, PAINT_CRITICAL);
	for (size_t i = from; i < to; i++)
		buf_add(t->out, str_of(bar_fill(c->bar.fill, t->style->ascii)));
	if (c->bar.fill == 'c')
		text_paint(t->style, t->out, PAINT_OFF);
	return to;
}

/* Text that stands in columns of its width; the last column is not filled up with spaces. */
static void add_aligned(struct table *t, struct str text, size_t column)
{
	size_t room = t->width[column], wide = utf8_width(text);
	bool right = shown_right(t->s->columns[column].type);

	if (right && wide < room)
		text_spaces(t->out, room - wide);
	wide = add_cut(t->out, text, room, t->style->ascii);
	if (!right && column != t->last && wide < room)
		text_spaces(t->out, room - wide);
}

static void add_cell(struct table *t, const struct row *row, size_t column)
{
	const struct cell *cell = &row->cells[column];
	size_t room = t->width[column], wide;

	if (cell->type != CELL_BAR && cell->type != CELL_SPARK) {
		set_cell(t, row, column);
		if (row->strong)
			text_paint(t->style, t->out, PAINT_STRONG);
		add_aligned(t, buf_str(&t->cell), column);
		if (row->strong)
			text_paint(t->style, t->out, PAINT_OFF);
		return;
	}
	wide = cell->type == CELL_BAR ? add_bar(t, cell, room) : add_spark(t, cell, room);
	if (column != t->last)
		text_spaces(t->out, room - wide);
}

static void end_line(struct table *t, size_t from)
{
	while (t->out->n > from && t->out->p[t->out->n - 1] == ' ')
		t->out->n--;
	buf_char(t->out, '\n');
}

static void add_titles(struct table *t)
{
	size_t from = t->out->n;

	text_paint(t->style, t->out, PAINT_FAINT);
	text_spaces(t->out, TEXT_MARGIN);
	for (size_t i = 0; i < t->s->nr_columns; i++) {
		if (!t->width[i])
			continue;
		add_aligned(t, str_of(t->s->columns[i].title), i);
		if (i != t->last)
			text_spaces(t->out, GAP);
	}
	text_paint(t->style, t->out, PAINT_OFF);
	end_line(t, from);
}

void text_table(const struct section *s, const struct text_style *style, struct buf *out)
{
	struct table t = { .s = s, .style = style, .out = out };

	t.width = mem_zalloc(mem_bytes(s->nr_columns + 1, sizeof(*t.width)));
	lay_out(&t);
	if (s->rows.nr)
		add_titles(&t);
	for (size_t k = 0; k < s->rows.nr; k++) {
		size_t from = out->n;

		text_spaces(out, TEXT_MARGIN);
		for (size_t i = 0; i < s->nr_columns; i++) {
			if (!t.width[i])
				continue;
			add_cell(&t, &s->rows.v[k], i);
			if (i != t.last)
				text_spaces(out, GAP);
		}
		end_line(&t, from);
	}
	free(t.width);
	buf_done(&t.cell);
}
