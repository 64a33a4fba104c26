#include "ask/requests/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/operations.h"
#include "report/report.h"
#include "store/store.h"

enum { FILE_NAME, LINE, REQUEST, POINT };

static const struct column columns[] = {
	[FILE_NAME] = { "file", "file", CELL_TEXT, 0 },
	[LINE] = { "line", "line", CELL_COUNT, 0 },
	[REQUEST] = { "request", "request", CELL_COUNT, 0 },
	[POINT] = { "point", "point", CELL_TEXT, COLUMN_WIDE },
};

static const struct column columns_of_operations[] = {
	[FILE_NAME] = { "file", "file", CELL_TEXT, 0 },
	[LINE] = { "line", "line", CELL_COUNT, 0 },
	[REQUEST] = { "request", "operation", CELL_TEXT, 0 },
	[POINT] = { "point", "point", CELL_TEXT, COLUMN_WIDE },
};

struct file {
	struct str path; /* in the report */
	uint64_t next;   /* the first line that was not listed yet */
};

struct walk {
	struct report *report;
	struct section *out;
	uint64_t at_most;       /* rows */
	VEC(struct file) files; /* by number */
	uint64_t *requests, nr_events;
	uint32_t *operations; /* of each event; NULL when they are not asked for */
	struct names points;
	VEC(struct str) kept; /* by point: its text in the report */
};

static struct str keep(struct walk *w, struct str point)
{
	sym_t sym = names_add(&w->points, point);

	while (w->kept.nr <= sym)
		vec_push(&w->kept, (struct str){ 0 });
	if (!w->kept.v[sym].p)
		w->kept.v[sym] = arena_str(&w->report->arena, point);
	return w->kept.v[sym];
}

static int add_file(void *ctx, const struct stored_file *f)
{
	struct walk *w = ctx;

	while (w->files.nr <= f->number)
		vec_push(&w->files, (struct file){ 0 });
	w->files.v[f->number] = (struct file){ arena_str(&w->report->arena, f->seen.name), 1 };
	return 0;
}

/* Lines repeat few texts: they are held once and not copied into each cell. */
static void add_line(struct walk *w, const struct file *f, uint64_t line, uint64_t request,
		     uint32_t operation, struct str point)
{
	struct row *row;

	if (w->out->rows.nr >= w->at_most) {
		w->out->nr_left_out++;
		return;
	}
	row = section_row(w->out);
	row->cells[FILE_NAME] = (struct cell){ .type = CELL_TEXT, .text = f->path };
	row_int(w->out, row, LINE, (int64_t)line);
	if (request && w->operations)
		row->cells[REQUEST] =
			(struct cell){ .type = CELL_TEXT,
				       .text = arena_fmt(&w->report->arena, "%" PRIu64 ".%u",
							 request, operation) };
	else if (request)
		row_int(w->out, row, REQUEST, (int64_t)request);
	if (point.n)
		row->cells[POINT] = (struct cell){ .type = CELL_TEXT, .text = point };
	report_spill(w->report, w->out);
}

static int add_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct walk *w = ctx;
	uint64_t request = number < w->nr_events ? w->requests[number] : 0;
	struct str point;
	struct file *f;

	if (ev->kind != EVENT_LOG || !ev->line || ev->file >= w->files.nr)
		return 0;
	f = &w->files.v[ev->file];
	/* lines that are part of no event; a line has a byte at least, whatever the run says */
	for (; f->next < ev->line && f->next <= ev->offset; f->next++)
		add_line(w, f, f->next, 0, 0, STR(""));
	point = keep(w, ev->point);
	for (uint64_t i = 0; i < ev->nr_lines && i <= ev->length; i++)
		add_line(w, f, ev->line + i, request,
			 request && w->operations ? w->operations[number] : 0, point);
	if (f->next < ev->line + ev->nr_lines)
		f->next = ev->line + ev->nr_lines;
	return 0;
}

/* A request that was not rebuilt is one operation. */
static int add_operations(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;
	struct str packed = { 0 };
	uint32_t number = 1;

	(void)r;
	if (body->nr_spans)
		operations_find(body->spans[0].attrs, &packed);
	for (size_t i = 0; i < body->nr_events; i++) {
		if (packed.n)
			operations_next(&packed, &number);
		if (body->events[i] < w->nr_events)
			w->operations[body->events[i]] = number;
	}
	return 0;
}

int lines_report(struct store *s, bool by_operation, uint64_t at_most, struct report *r,
		 struct error *err)
{
	struct walk w = { .report = r, .at_most = at_most ? at_most : UINT64_MAX };
	const struct request_filter all = { 0 };
	int got;

	w.out = report_table(r, "lines", "", by_operation ? columns_of_operations : columns, 4);
	got = store_each_file(s, add_file, &w, err);
	if (got >= 0)
		got = store_event_requests(s, &w.requests, &w.nr_events, err);
	if (got >= 0 && by_operation) {
		w.operations = mem_realloc(NULL, mem_bytes(w.nr_events + 1, sizeof(uint32_t)));
		memset(w.operations, 0, (w.nr_events + 1) * sizeof(uint32_t));
		got = store_each_body(s, &all, add_operations, &w, err);
	}
	if (got >= 0)
		got = store_each_event(s, 0, w.nr_events, add_event, &w, err);
	free(w.requests);
	free(w.operations);
	names_done(&w.points);
	vec_done(&w.kept);
	vec_done(&w.files);
	return got < 0 ? got : !w.out->rows.nr && !r->nr_spilled;
}
