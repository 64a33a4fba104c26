#include "ask/requests/heat.h"

#include <stdlib.h>

#include "ask/length.h"
#include "base/mem.h"
#include "report/report.h"
#include "store/levels.h"
#include "store/store.h"

/*
 * Columns are of equal width and begin at multiples of a power of two, so that they stay where they
 * are while one moves along, and so that the stored levels fit them. Rows are stretches of latency
 * bins, of which each octave has four; their edges are told.
 */

#define PRECISION 2 /* bits of the width of a column that are not rounded up */

enum { A_FROM, A_WIDTH, A_COLUMNS, A_EDGES, A_COUNT, A_ERRORS, A_MIN, A_MAX };

static const struct column axes_columns[] = {
	[A_FROM] = { "from", "from", CELL_TIME, 0 },
	[A_WIDTH] = { "width", "a column is", CELL_DURATION, 0 },
	[A_COLUMNS] = { "columns", "columns", CELL_COUNT, 0 },
	[A_EDGES] = { "edges", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[A_COUNT] = { "count", "requests", CELL_COUNT, 0 },
	[A_ERRORS] = { "errors", "errors", CELL_COUNT, 0 },
	[A_MIN] = { "min", "from", CELL_DURATION, 0 },
	[A_MAX] = { "max", "to", CELL_DURATION, 0 },
};

static const struct column edge_columns[] = { { NULL, NULL, CELL_DURATION, 0 } };

enum { COLUMN, ROW, COUNT, ERRORS };

static const struct column cell_columns[] = {
	[COLUMN] = { "column", "column", CELL_COUNT, 0 },
	[ROW] = { "row", "row", CELL_COUNT, 0 },
	[COUNT] = { "count", "count", CELL_COUNT, 0 },
	[ERRORS] = { "errors", "errors", CELL_COUNT, COLUMN_OPTIONAL },
};

struct sum {
	uint64_t count, errors;
};

struct heat {
	int64_t from; /* of the first column */
	uint64_t width;
	uint32_t columns;
	unsigned first, last; /* latency bins that have any; last < first: none */
	bool has_zero;        /* some take no time: they have a row of their own, far below */
	uint64_t count, errors;
	struct sum *sums; /* by column, then latency bin */
};

/* The widest power of two that the edges of columns are multiples of. */
static unsigned lay_out(struct heat *h, int64_t from, int64_t last, uint32_t columns)
{
	uint64_t raw = ((uint64_t)last - (uint64_t)from) / columns + 1, grain;
	unsigned shift = 0;

	while (raw >> shift >= 2u << PRECISION)
		shift++;
	grain = (uint64_t)1 << shift;
	h->width = (raw + grain - 1) / grain * grain;
	h->from = (int64_t)((uint64_t)from & ~(grain - 1));
	/* moved to the front by up to a grain, the last may be one column further */
	h->columns = (uint32_t)(((uint64_t)last - (uint64_t)h->from) / h->width) + 1;
	return shift;
}

static int add_cell(void *ctx, const struct level_cell *c)
{
	struct heat *h = ctx;
	uint64_t column = ((uint64_t)c->start - (uint64_t)h->from) / h->width;
	struct sum *sum;

	if (column >= h->columns)
		return 0;
	sum = &h->sums[column * LEVEL_BINS + c->bin];
	sum->count += c->count;
	sum->errors += c->errors;
	h->has_zero |= !c->bin;
	if (c->bin && c->bin < h->first)
		h->first = c->bin;
	if (c->bin > h->last)
		h->last = c->bin;
	h->count += c->count;
	h->errors += c->errors;
	return 0;
}

static void report_axes(const struct heat *h, unsigned bins, struct report *report)
{
	struct section *s = report_table(report, "axes", "", axes_columns,
					 sizeof(axes_columns) / sizeof(*axes_columns));
	struct row *row = section_row(s);
	struct section *edges;

	s->tagged = true;
	row_int(s, row, A_FROM, h->from);
	row_int(s, row, A_WIDTH, (int64_t)h->width);
	row_int(s, row, A_COLUMNS, h->columns);
	row_int(s, row, A_COUNT, (int64_t)h->count);
	row_int(s, row, A_ERRORS, (int64_t)h->errors);
	row_int(s, row, A_MIN, h->has_zero ? 0 : level_bin_from(h->first));
	row_int(s, row, A_MAX, level_bin_from(h->last + 1));
	edges = row_rows(s, row, A_EDGES, edge_columns, 1);
	if (h->has_zero)
		row_int(edges, section_row(edges), 0, 0);
	for (unsigned bin = h->first; bin <= h->last; bin += bins)
		row_int(edges, section_row(edges), 0, level_bin_from(bin));
	row_int(edges, section_row(edges), 0,
		h->last < h->first
			? 1
			: level_bin_from(h->first + ((h->last - h->first) / bins + 1) * bins));
}

static void add_row(struct section *s, uint32_t column, uint32_t at, const struct sum *sum)
{
	struct row *row;

	if (!sum->count)
		return;
	row = section_row(s);
	row_int(s, row, COLUMN, column);
	row_int(s, row, ROW, at);
	row_int(s, row, COUNT, (int64_t)sum->count);
	if (sum->errors)
		row_int(s, row, ERRORS, (int64_t)sum->errors);
}

static void report_cells(const struct heat *h, unsigned bins, struct report *report)
{
	struct section *s = report_table(report, "heat", "", cell_columns,
					 sizeof(cell_columns) / sizeof(*cell_columns));

	s->tagged = true;
	for (uint32_t c = 0; c < h->columns; c++) {
		const struct sum *sums = &h->sums[c * LEVEL_BINS];

		add_row(s, c, 0, &sums[0]);
		for (unsigned first = h->first; first <= h->last; first += bins) {
			struct sum sum = { 0, 0 };

			for (unsigned b = first; b < first + bins && b <= h->last; b++) {
				sum.count += sums[b].count;
				sum.errors += sums[b].errors;
			}
			add_row(s, c, (first - h->first) / bins + h->has_zero, &sum);
		}
	}
}

int heat_report(struct store *s, const struct request_filter *f, uint32_t columns, uint32_t rows,
		struct report *report, struct error *err)
{
	struct heat h = { .first = LEVEL_BINS };
	int64_t first, last;
	unsigned shift, bins;
	int r = store_first_and_last(s, f, &first, &last, err);

	if (r <= 0)
		return r < 0 ? r : 1;
	shift = lay_out(&h, first, last, columns);
	h.sums = mem_zalloc(mem_bytes((size_t)h.columns * LEVEL_BINS, sizeof(*h.sums)));
	r = store_each_cell(s, f, shift, add_cell, &h, err);
	if (r >= 0 && h.count) {
		bins = h.last < h.first ? 1 : (h.last - h.first) / rows + 1;
		report_axes(&h, bins, report);
		report_cells(&h, bins, report);
	}
	free(h.sums);
	return r < 0 ? r : !h.count;
}
