#include "ask/requests/path.h"

#include <stdlib.h>

#include "ask/contrast.h"
#include "ask/critical.h"
#include "ask/length.h"
#include "report/report.h"
#include "store/store.h"

enum { SPAN, NAME, NODE, START, END, LENGTH, KIND, BAR };

static const struct column section_columns[] = {
	[SPAN] = { "span", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[NAME] = { "name", "critical path", CELL_TEXT, COLUMN_WIDE },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[START] = { "start", "from", CELL_TIME, 0 },
	[END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[LENGTH] = { NULL, "takes", CELL_DURATION, COLUMN_TEXT_ONLY },
	[KIND] = { "kind", "kind", CELL_TEXT, 0 },
	[BAR] = { NULL, "", CELL_BAR, COLUMN_TEXT_ONLY },
};
#define NR_SECTION_COLUMNS (sizeof(section_columns) / sizeof(*section_columns))

static const struct column request_columns[] = {
	{ "request", NULL, CELL_COUNT, 0 },
	{ "sections", NULL, CELL_ROWS, 0 },
};

static void add_sections(const struct critical *path, const struct request_body *body,
			 struct section *s)
{
	double whole = (double)path->end - (double)path->start;

	for (size_t i = 0; i < path->nr; i++) {
		const struct critical_section *c = &path->v[i];
		struct row *row = section_row(s);

		if (c->span != SPAN_NONE) {
			row_text(s, row, SPAN, body->spans[c->span].id);
			row_text(s, row, NAME, body->spans[c->span].name);
			row_text(s, row, NODE, body->spans[c->span].node);
		} else {
			row_text(s, row, NAME, STR("(in no span)"));
		}
		row_int(s, row, START, c->start);
		row_int(s, row, END, c->end);
		row_int(s, row, LENGTH, length_ns(c->start, c->end));
		row_text(s, row, KIND, str_of(critical_kind_name(c->kind)));
		row_bar(s, row, BAR, ((double)c->start - (double)path->start) / whole,
			((double)c->end - (double)path->start) / whole,
			c->kind == CRITICAL_WAIT ? 'w' : 'c');
	}
}

static void add_request(struct section *s, const struct request *r, const struct request_body *body,
			const struct critical *path)
{
	struct row *row = section_row(s);

	row_int(s, row, 0, (int64_t)r->id);
	add_sections(path, body, row_rows(s, row, 1, section_columns, NR_SECTION_COLUMNS));
}

static struct section *request_section(struct report *report)
{
	struct section *s = report_table(report, "critical-path", "", request_columns, 2);

	s->json_only = true;
	return s;
}

void path_of_one(const struct request *r, const struct request_body *body, struct report *report)
{
	struct arena arena = { 0 };
	struct critical path;
	struct section *people;

	critical_path(body, &arena, &path);
	add_request(request_section(report), r, body, &path);
	people = report_table(report, "sections", "", section_columns, NR_SECTION_COLUMNS);
	people->text_only = true;
	add_sections(&path, body, people);
	arena_done(&arena);
}

struct each {
	struct report *report;
	struct section *out;
	struct arena arena;
};

static int add_one(void *ctx, const struct request *r, const struct request_body *body)
{
	struct each *e = ctx;
	struct critical path;

	arena_reset(&e->arena);
	critical_path(body, &e->arena, &path);
	add_request(e->out, r, body, &path);
	report_spill(e->report, e->out);
	return 0;
}

static int by_request(const void *a, const void *b)
{
	int64_t x = ((const struct row *)a)->cells[0].i, y = ((const struct row *)b)->cells[0].i;

	return (x > y) - (x < y);
}

int path_of_each(struct store *s, const struct request_filter *f, struct report *report,
		 struct error *err)
{
	struct each e = { .report = report, .out = request_section(report) };
	int r = store_each_body(s, f, add_one, &e, err);

	if (e.out->rows.nr)
		qsort(e.out->rows.v, e.out->rows.nr, sizeof(*e.out->rows.v), by_request);
	arena_done(&e.arena);
	return r;
}

/* --- summed ---------------------------------------------------------------------------------- */

enum { TYPE, HOP_NODE, HOP_NAME, TOTAL, SHARE, REQUESTS, MEAN, PATH };

static const struct column sum_columns[] = {
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[HOP_NODE] = { "node", "node", CELL_TEXT, 0 },
	[HOP_NAME] = { "name", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TOTAL] = { "total", "total", CELL_DURATION, 0 },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
	[REQUESTS] = { "requests", "requests", CELL_COUNT, 0 },
	[MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[PATH] = { "path", "on the critical path", CELL_TEXT, COLUMN_WIDE },
};

struct sum {
	struct names types;
	struct contrast c;
};

static int add_to_sum(void *ctx, const struct request *r, const struct request_body *body)
{
	struct sum *s = ctx;

	contrast_add(&s->c, names_add(&s->types, r->type), SIDE_OTHER, false, r, body);
	return 0;
}

static void add_type(struct sum *sum, uint32_t type, size_t at_most, struct section *s)
{
	const struct contrast_set *set = &sum->c.sets.v[type];
	struct arena arena = { 0 };
	struct contrast_answer a;

	contrast_answer(&sum->c, type, &arena, &a);
	for (size_t i = 0; i < a.nr_hops; i++) {
		const struct contrast_row *h = &a.hops[i];
		struct row *row;
		struct buf path = { 0 };

		if (h->mean[SIDE_OTHER] <= 0)
			continue;
		if (at_most && i >= at_most) {
			s->nr_left_out++;
			continue;
		}
		row = section_row(s);
		hops_path(&sum->c.hops, h->hop, &path);
		row_text(s, row, TYPE, names_str(&sum->types, type));
		row_text(s, row, HOP_NODE, hops_node(&sum->c.hops, h->hop));
		row_text(s, row, HOP_NAME, hops_name(&sum->c.hops, h->hop));
		row_int(s, row, TOTAL, length_of(sum->c.sums.v[h->hop].ns[SIDE_OTHER]));
		row_double(s, row, SHARE, h->share);
		row_int(s, row, REQUESTS, (int64_t)h->requests[SIDE_OTHER]);
		row_int(s, row, MEAN,
			length_of(sum->c.sums.v[h->hop].ns[SIDE_OTHER] /
				  (double)set->nr[SIDE_OTHER]));
		row_text(s, row, PATH, buf_str(&path));
		buf_done(&path);
	}
	arena_done(&arena);
}

int path_summed(struct store *s, const struct request_filter *f, size_t at_most,
		struct report *report, struct error *err)
{
	struct sum sum = { 0 };
	int r = store_each_body(s, f, add_to_sum, &sum, err);

	if (r >= 0) {
		struct section *out = report_table(report, "hops", "", sum_columns,
						   sizeof(sum_columns) / sizeof(*sum_columns));

		for (uint32_t t = 0; t < sum.c.sets.nr; t++)
			if (sum.c.sets.v[t].nr[SIDE_OTHER])
				add_type(&sum, t, at_most, out);
		r = !out->rows.nr;
	}
	contrast_done(&sum.c);
	names_done(&sum.types);
	return r;
}
