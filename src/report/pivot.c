#include "report/pivot.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/live.h"
#include "report/buckets.h"
#include "report/report.h"

#define TOTAL "all"

static void set_value(struct section *s, struct row *row, size_t column, const struct live_value *v)
{
	struct cell *c = &row->cells[column];

	if (v->type == LIVE_TEXT)
		row_text(s, row, column, v->text);
	else if (v->type == LIVE_BUCKETS)
		buckets_range(s, row, column, v->buckets.v, v->buckets.nr);
	else if (v->type == LIVE_DOUBLE)
		*c = (struct cell){ .type = CELL_NUMBER, .d = v->d };
	else if (v->type != LIVE_NONE)
		*c = (struct cell){ .type = v->type == LIVE_BOOL ? CELL_BOOL : CELL_COUNT,
				    .i = v->i };
}

static void set_spark(const struct live_answer *a, const struct live_row *from, size_t measure,
		      struct section *s, struct row *row, size_t column)
{
	const struct live_value *v = &from->values[measure];

	if (v->type == LIVE_BUCKETS) {
		buckets_bars(s, row, column, v->buckets.v, v->buckets.nr);
	} else if (from->series) {
		row_spark(s, row, column, from->series + measure * a->nr_steps, a->nr_steps);
	}
}

static bool has_series(const struct live_answer *a)
{
	for (size_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].series)
			return a->nr_steps > 0;
	return false;
}

static struct column numbers(struct report *r, struct str name)
{
	const char *z = arena_z(&r->arena, name);

	return (struct column){ z, z, CELL_NUMBER, 0 };
}

static struct column keys(struct report *r, struct str name)
{
	const char *z = arena_z(&r->arena, name);

	return (struct column){ z, z, CELL_TEXT, COLUMN_WIDE };
}

/* Of one title, so that narrow terminals may do with few of its columns. */
static const struct column sparks = { NULL, "over time", CELL_SPARK, COLUMN_TEXT_ONLY };

static bool has_buckets(const struct live_answer *a, size_t column)
{
	for (size_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].values[column].type == LIVE_BUCKETS)
			return true;
	return false;
}

/* --- a list ----------------------------------------------------------------------------------- */

void pivot_list(const struct live_answer *a, struct report *r)
{
	struct column *columns = arena_array(&r->arena, struct column, 2 * a->nr_columns + 1);
	bool is_over_time = has_series(a);
	struct section *s;
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_columns; i++) {
		columns[nr++] = a->columns[i].is_key ? keys(r, a->columns[i].name)
						     : numbers(r, a->columns[i].name);
		if (is_over_time && !a->columns[i].is_key)
			columns[nr++] = has_buckets(a, i) ? buckets_column : sparks;
	}
	s = report_table(r, "rows", "", columns, nr);
	for (size_t k = 0; k < a->nr_rows; k++) {
		struct row *row = section_row(s);

		for (size_t i = 0, at = 0; i < a->nr_columns; i++) {
			set_value(s, row, at++, &a->rows[k].values[i]);
			if (is_over_time && !a->columns[i].is_key)
				set_spark(a, &a->rows[k], i, s, row, at++);
		}
	}
	s->nr_left_out = a->nr_left_out;
	losses_add(&r->losses, &a->losses);
}

/* --- one second ------------------------------------------------------------------------------- */

void pivot_second(const struct live_answer *a, struct report *r)
{
	struct column *columns = arena_array(&r->arena, struct column, a->nr_columns + 1);
	struct section *s;

	columns[0] = (struct column){ "time", NULL, CELL_TIME, COLUMN_JSON_ONLY };
	for (size_t i = 0; i < a->nr_columns; i++) {
		columns[i + 1] = numbers(r, a->columns[i].name);
		if (str_eq(a->columns[i].name, STR("time")))
			columns[0].key = "second";
	}
	s = report_table(r, "rows", "", columns, a->nr_columns + 1);
	for (size_t k = 0; k < a->nr_rows; k++) {
		struct row *row = section_row(s);

		row_int(s, row, 0, a->first_ns);
		for (size_t i = 0; i < a->nr_columns; i++) {
			const struct live_value *v = &a->rows[k].values[i];

			if (v->type == LIVE_BUCKETS)
				buckets_rows(s, row, i + 1, v->buckets.v, v->buckets.nr);
			else
				set_value(s, row, i + 1, v);
		}
	}
}

/* --- a pivot table ---------------------------------------------------------------------------- */

struct laying {
	const struct pivot *p;
	struct report *r;
	struct section *s;
	struct names names;    /* of the keys of rows, and of the values that go across */
	struct buf key;        /* the one at hand */
	const uint32_t *order; /* values across by how much there is of them */
	size_t nr_across, nr_keys;
	uint32_t *of_value;          /* by symbol: place across + 1 */
	const struct live_row **row; /* the cells of the row at hand, by place across */
};

static void key_value(struct buf *key, const struct live_value *v)
{
	buf_char(key, (char)('0' + v->type));
	if (v->type == LIVE_TEXT)
		buf_bytes(key, v->text);
	else if (v->type == LIVE_DOUBLE)
		buf_fmt(key, "%.17g,", v->d);
	else if (v->type != LIVE_NONE)
		buf_fmt(key, "%lld,", (long long)v->i);
}

/* What names the row: the value that goes across, or all others. */
static sym_t key_of(struct laying *l, const struct live_row *row, bool is_across)
{
	const struct live_answer *a = l->p->cells;

	buf_clear(&l->key);
	buf_char(&l->key, is_across ? 'a' : 'r');
	for (size_t i = 0; i < a->nr_columns; i++)
		if (a->columns[i].is_key && (i == l->p->across) == is_across)
			key_value(&l->key, &row->values[i]);
	return names_add(&l->names, buf_str(&l->key));
}

static double amount(const struct live_value *v)
{
	return v->type == LIVE_INT ? (double)v->i : v->type == LIVE_DOUBLE ? v->d : -INFINITY;
}

static int by_amount(const void *a, const void *b, void *ctx)
{
	const struct laying *l = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double of_x = amount(&l->p->columns->rows[x].values[l->p->measure]);
	double of_y = amount(&l->p->columns->rows[y].values[l->p->measure]);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void order_across(struct laying *l)
{
	size_t nr = l->p->columns->nr_rows;
	uint32_t *order = arena_array(&l->r->arena, uint32_t, nr + 1);

	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), by_amount, l);
	l->order = order;
	l->nr_across = l->p->at_most && nr > l->p->at_most ? l->p->at_most : nr;
	l->of_value = mem_zalloc(mem_bytes(nr + 2, sizeof(*l->of_value)));
	for (size_t i = 0; i < l->nr_across; i++) {
		sym_t sym = key_of(l, &l->p->columns->rows[order[i]], true);

		if (sym < nr + 2)
			l->of_value[sym] = (uint32_t)i + 1;
	}
}

static struct str title_of(struct laying *l, const struct live_value *v)
{
	if (v->type == LIVE_TEXT)
		return v->text;
	if (v->type == LIVE_NONE)
		return STR("-");
	return v->type == LIVE_DOUBLE ? arena_fmt(&l->r->arena, "%.6g", v->d)
				      : arena_fmt(&l->r->arena, "%lld", (long long)v->i);
}

static void begin_table(struct laying *l)
{
	const struct live_answer *a = l->p->cells;
	struct column *columns =
		arena_array(&l->r->arena, struct column, a->nr_columns + 2 * l->nr_across + 2);
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_columns; i++)
		if (a->columns[i].is_key && i != l->p->across)
			columns[nr++] = keys(l->r, a->columns[i].name);
	l->nr_keys = nr;
	for (size_t i = 0; i < l->nr_across; i++) {
		const struct live_row *row = &l->p->columns->rows[l->order[i]];

		columns[nr++] = numbers(l->r, title_of(l, &row->values[l->p->across]));
		columns[nr++] = sparks;
	}
	columns[nr++] = numbers(l->r, STR(TOTAL));
	columns[nr++] = sparks;
	l->s = report_table(l->r, "pivot", arena_z(&l->r->arena, a->columns[l->p->measure].name),
			    columns, nr);
}

static void set_cell(struct laying *l, struct row *row, size_t column, const struct live_answer *a,
		     const struct live_row *from)
{
	if (!from)
		return;
	set_value(l->s, row, column, &from->values[l->p->measure]);
	set_spark(a, from, l->p->measure, l->s, row, column + 1);
}

static void end_row(struct laying *l, const struct live_row *names, const struct live_answer *total,
		    const struct live_row *all)
{
	const struct live_answer *a = l->p->cells;
	struct row *row = section_row(l->s);
	size_t at = 0;

	for (size_t i = 0; names && i < a->nr_columns; i++)
		if (a->columns[i].is_key && i != l->p->across)
			set_value(l->s, row, at++, &names->values[i]);
	if (!names && l->nr_keys)
		row_text(l->s, row, 0, STR(TOTAL));
	row->strong = !names;
	for (size_t i = 0; i < l->nr_across; i++)
		set_cell(l, row, l->nr_keys + 2 * i, names ? a : l->p->columns, l->row[i]);
	set_cell(l, row, l->nr_keys + 2 * l->nr_across, total, all);
}

struct placed {
	sym_t row;
	uint32_t at; /* 1 + place across; 0: of none that is shown */
	const struct live_row *cell;
};

static int by_row(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

/* Cells by the rows that they belong to, which are known by number. */
static struct placed *place_cells(struct laying *l)
{
	const struct live_answer *a = l->p->cells;
	struct placed *v = mem_zalloc(mem_bytes(a->nr_rows + 1, sizeof(*v)));

	for (size_t i = 0; i < a->nr_rows; i++) {
		sym_t sym = key_of(l, &a->rows[i], true);

		v[i].cell = &a->rows[i];
		v[i].at = sym < l->p->columns->nr_rows + 2 ? l->of_value[sym] : 0;
		v[i].row = key_of(l, &a->rows[i], false);
	}
	qsort(v, a->nr_rows, sizeof(*v), by_row);
	return v;
}

static const struct placed *first_of(const struct placed *v, size_t nr, sym_t row)
{
	size_t from = 0, to = nr;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (v[mid].row < row)
			from = mid + 1;
		else
			to = mid;
	}
	return v + from;
}

static void add_rows(struct laying *l, const struct placed *v)
{
	const struct live_answer *rows = l->p->rows;
	const struct placed *end = v + l->p->cells->nr_rows;

	for (size_t i = 0; i < rows->nr_rows; i++) {
		sym_t sym = key_of(l, &rows->rows[i], false);
		const struct placed *at = first_of(v, l->p->cells->nr_rows, sym);

		memset(l->row, 0, (l->nr_across + 1) * sizeof(*l->row));
		for (; at < end && at->row == sym; at++)
			if (at->at)
				l->row[at->at - 1] = at->cell;
		end_row(l, &rows->rows[i], rows, &rows->rows[i]);
	}
	for (size_t i = 0; i < l->nr_across; i++)
		l->row[i] = &l->p->columns->rows[l->order[i]];
	if (l->p->whole->nr_rows)
		end_row(l, NULL, l->p->whole, &l->p->whole->rows[0]);
}

void pivot_report(const struct pivot *p, struct report *r)
{
	struct laying l = { .p = p, .r = r };
	struct placed *cells;
	size_t others;

	/* the values across come first, so that their symbols are small */
	order_across(&l);
	l.row = arena_array(&r->arena, const struct live_row *, l.nr_across + 1);
	begin_table(&l);
	cells = place_cells(&l);
	add_rows(&l, cells);
	l.s->nr_left_out = p->rows->nr_left_out;
	others = p->columns->nr_rows - l.nr_across;
	if (others)
		section_say(report_section(r, SECTION_PROSE, "note", ""), NULL,
			    "%zu more %s of " STR_FMT " without a column, counted in '%s'.", others,
			    others == 1 ? "value" : "values",
			    STR_ARG(p->cells->columns[p->across].name), TOTAL)
			->confidence = -1;
	losses_add(&r->losses, &p->cells->losses);
	free(cells);
	free(l.of_value);
	buf_done(&l.key);
	names_done(&l.names);
}
