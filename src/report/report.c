#include "report/report.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/time.h"

/*
 * Everything lives in the two arenas of the report, the growing arrays too, so that a report is
 * given back at once, with the sections inside cells, and so that a row that was handed out before
 * the array grew still reaches its cells. Rows have an arena of their own: a long list is shown
 * piece by piece, and forgotten in between.
 */

/* Room for one more item behind nr: the old items, or a copy twice the size. */
static void *grown(struct arena *a, void *v, size_t nr, size_t *room, size_t size)
{
	size_t want = *room ? 2 * *room : 8;
	void *wider;

	if (nr < *room)
		return v;
	wider = arena_alloc(a, mem_bytes(want, size));
	if (nr)
		memcpy(wider, v, nr * size);
	*room = want;
	return wider;
}

#define arena_push(a, vec, ...) \
	do { \
		(vec)->v = grown((a), (vec)->v, (vec)->nr, &(vec)->room, sizeof(*(vec)->v)); \
		(vec)->v[(vec)->nr++] = (__VA_ARGS__); \
	} while (0)

void report_init(struct report *r)
{
	*r = (struct report){ 0 };
}

void report_done(struct report *r)
{
	arena_done(&r->arena);
	arena_done(&r->rows_arena);
	*r = (struct report){ 0 };
}

#define SPILL_ROWS 4096

void report_spill(struct report *r, const struct section *growing)
{
	if (!r->spill || growing->rows.nr < SPILL_ROWS)
		return;
	r->spill(r->spill_to, r);
	r->nr_spilled += growing->rows.nr;
	for (size_t i = 0; i < r->sections.nr; i++) {
		struct section *s = r->sections.v[i];

		s->rows.v = NULL;
		s->prose.v = NULL;
		s->rows.nr = s->rows.room = s->prose.nr = s->prose.room = 0;
	}
	arena_reset(&r->rows_arena);
}

static struct section *section_new(struct arena *a, enum section_kind kind,
				   const struct column *columns, size_t nr_columns)
{
	struct section *s = arena_new(a, struct section);

	s->arena = a;
	s->kind = kind;
	s->columns = columns;
	s->nr_columns = nr_columns;
	return s;
}

struct section *report_section(struct report *r, enum section_kind kind, const char *name,
			       const char *title)
{
	struct section *s = section_new(&r->arena, kind, NULL, 0);

	s->arena = &r->rows_arena;
	s->name = name ? arena_z(&r->arena, str_of(name)) : NULL;
	s->title = arena_str(&r->arena, str_of(title));
	arena_push(&r->arena, &r->sections, s);
	return s;
}

struct section *report_table(struct report *r, const char *name, const char *title,
			     const struct column *columns, size_t nr_columns)
{
	struct section *s = report_section(r, SECTION_ROWS, name, title);

	s->columns = columns;
	s->nr_columns = nr_columns;
	return s;
}

struct section *section_facts(struct section *s, const struct column *columns, size_t nr_columns)
{
	return section_new(s->arena, SECTION_ROWS, columns, nr_columns);
}

struct row *section_row(struct section *s)
{
	struct cell *cells = arena_array(s->arena, struct cell, s->nr_columns);

	arena_push(s->arena, &s->rows, (struct row){ .cells = cells });
	return &s->rows.v[s->rows.nr - 1];
}

struct section *row_rows(struct section *s, struct row *row, size_t column,
			 const struct column *columns, size_t nr_columns)
{
	struct section *rows = section_new(s->arena, SECTION_ROWS, columns, nr_columns);

	assert(column < s->nr_columns);
	row->cells[column] = (struct cell){ .type = CELL_ROWS, .rows = rows };
	return rows;
}

void row_text(struct section *s, struct row *row, size_t column, struct str text)
{
	assert(column < s->nr_columns);
	row->cells[column] = (struct cell){ .type = CELL_TEXT, .text = arena_str(s->arena, text) };
}

static struct str arena_vfmt(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return STR("");
	p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return (struct str){ p, (size_t)n };
}

void row_fmt(struct section *s, struct row *row, size_t column, const char *fmt, ...)
{
	va_list ap;

	assert(column < s->nr_columns);
	va_start(ap, fmt);
	row->cells[column] =
		(struct cell){ .type = CELL_TEXT, .text = arena_vfmt(s->arena, fmt, ap) };
	va_end(ap);
}

static enum cell_type type_of(const struct section *s, size_t column)
{
	assert(column < s->nr_columns);
	return s->columns[column].type;
}

void row_int(struct section *s, struct row *row, size_t column, int64_t v)
{
	enum cell_type type = type_of(s, column);

	if (type == CELL_NUMBER || type == CELL_SHARE)
		row->cells[column] = (struct cell){ .type = type, .d = (double)v };
	else if (type == CELL_TIME && v == NS_NONE)
		row->cells[column] = (struct cell){ .type = CELL_NONE };
	else if (type == CELL_DURATION || type == CELL_TIME || type == CELL_BOOL)
		row->cells[column] = (struct cell){ .type = type, .i = v };
	else
		row->cells[column] = (struct cell){ .type = CELL_COUNT, .i = v };
}

/* The nearest whole number that fits. */
static int64_t whole(double v)
{
	if (v >= 9.2e18)
		return INT64_MAX;
	return v <= -9.2e18 ? -INT64_MAX : (int64_t)llround(v);
}

void row_double(struct section *s, struct row *row, size_t column, double v)
{
	enum cell_type type = type_of(s, column);

	if (!isfinite(v))
		row->cells[column] = (struct cell){ .type = CELL_NONE };
	else if (type == CELL_DURATION || type == CELL_TIME || type == CELL_COUNT)
		row_int(s, row, column, whole(v));
	else
		row->cells[column] =
			(struct cell){ .type = type == CELL_SHARE ? type : CELL_NUMBER, .d = v };
}

void row_spark(struct section *s, struct row *row, size_t column, const double *v, size_t nr)
{
	double *copy = arena_array(s->arena, double, nr);

	assert(column < s->nr_columns);
	if (nr)
		memcpy(copy, v, nr * sizeof(*v));
	row->cells[column] = (struct cell){ .type = CELL_SPARK, .list = { copy, nr } };
}

static double clamped(double v)
{
	return v > 0 ? (v < 1 ? v : 1) : 0;
}

void row_bar(struct section *s, struct row *row, size_t column, double from, double to, char fill)
{
	struct cell *cell = &row->cells[column];

	assert(column < s->nr_columns);
	*cell = (struct cell){ .type = CELL_BAR };
	cell->bar.from = clamped(from);
	cell->bar.to = clamped(to) > clamped(from) ? clamped(to) : clamped(from);
	cell->bar.fill = fill;
}

struct prose *section_say(struct section *s, const char *word, const char *fmt, ...)
{
	struct prose p = { .word = arena_str(s->arena, str_of(word)), .confidence = -1 };
	va_list ap;

	va_start(ap, fmt);
	p.text = arena_vfmt(s->arena, fmt, ap);
	va_end(ap);
	arena_push(s->arena, &s->prose, p);
	return &s->prose.v[s->prose.nr - 1];
}
