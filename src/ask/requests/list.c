#include "ask/requests/list.h"

#include <stdlib.h>

#include "ask/length.h"
#include "report/report.h"
#include "store/store.h"

void visits_done(struct visits *n)
{
	names_done(&n->names);
	vec_done(&n->v);
	vec_done(&n->place);
}

void visits_of(struct visits *n, const struct request_body *body)
{
	vec_each (&n->v, old)
		n->place.v[old->node] = 0;
	vec_clear(&n->v);
	for (size_t i = 0; i < body->nr_spans; i++) {
		const struct span *s = &body->spans[i];
		sym_t node = names_add(&n->names, s->node);
		struct visit *v;

		if (!node)
			continue;
		while (n->place.nr <= node)
			vec_push(&n->place, 0);
		if (!n->place.v[node]) {
			vec_push(&n->v, (struct visit){ node, s->start, s->end });
			n->place.v[node] = (uint32_t)n->v.nr;
		}
		v = &n->v.v[n->place.v[node] - 1];
		if (s->start < v->start)
			v->start = s->start;
		if (s->end > v->end)
			v->end = s->end;
	}
}

enum {
	ID,
	TYPE,
	START,
	END,
	DURATION,
	EVENTS,
	NODES,
	NODES_TEXT,
	SEQUENCE,
	SPANS,
	ERRORS,
	CONFIDENCE,
	KEY,
	INCOMPLETE
};

static const struct column columns[] = {
	[ID] = { "id", "id", CELL_COUNT, 0 },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[START] = { "start", "start", CELL_TIME, 0 },
	[END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[DURATION] = { "duration", "duration", CELL_DURATION, 0 },
	[EVENTS] = { "events", "events", CELL_COUNT, 0 },
	[NODES] = { "nodes", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[NODES_TEXT] = { NULL, "nodes", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[SEQUENCE] = { "sequence", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[SPANS] = { "spans", "spans", CELL_COUNT, 0 },
	[ERRORS] = { "errors", "error", CELL_BOOL, 0 },
	[CONFIDENCE] = { "confidence", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[KEY] = { "key", "key", CELL_TEXT, COLUMN_WIDE },
	[INCOMPLETE] = { "incomplete", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
};

static const struct column node_columns[] = {
	{ "node", NULL, CELL_TEXT, 0 },
	{ "start", NULL, CELL_TIME, 0 },
	{ "end", NULL, CELL_TIME, 0 },
};

struct section *list_section(struct report *r, const char *title)
{
	return report_table(r, "requests", title, columns, sizeof(columns) / sizeof(*columns));
}

static void add_nodes(struct section *s, struct row *row, const struct visits *n)
{
	struct section *in = row_rows(s, row, NODES, node_columns, 3);
	struct buf text = { 0 };

	for (size_t i = 0; i < n->v.nr; i++) {
		struct row *one = section_row(in);
		struct str node = names_str(&n->names, n->v.v[i].node);

		row_text(in, one, 0, node);
		row_int(in, one, 1, n->v.v[i].start);
		row_int(in, one, 2, n->v.v[i].end);
		if (i < 4)
			buf_fmt(&text, "%s" STR_FMT, i ? " " : "", STR_ARG(node));
	}
	if (n->v.nr > 4)
		buf_fmt(&text, " +%zu", n->v.nr - 4);
	if (text.n)
		row_text(s, row, NODES_TEXT, buf_str(&text));
	buf_done(&text);
}

void list_add(struct section *s, struct visits *n, const struct request *r,
	      const struct request_body *body)
{
	struct row *row = section_row(s);

	visits_of(n, body);
	row_int(s, row, ID, (int64_t)r->id);
	row_text(s, row, TYPE, r->type);
	row_int(s, row, START, r->start);
	row_int(s, row, END, r->end);
	row_int(s, row, DURATION, length_ns(r->start, r->end));
	row_int(s, row, EVENTS, r->nr_events);
	add_nodes(s, row, n);
	row_fmt(s, row, SEQUENCE, "%016llx", (unsigned long long)r->sequence);
	row_int(s, row, SPANS, r->nr_spans);
	row_int(s, row, ERRORS, r->error);
	row_double(s, row, CONFIDENCE, (double)r->confidence);
	row_text(s, row, KEY, r->key);
	row_int(s, row, INCOMPLETE, r->incomplete);
}

struct walk {
	struct section *out;
	struct visits visits;
	bool slowest_first;
};

static int add_one(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;

	list_add(w->out, &w->visits, r, body);
	return 0;
}

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct cell *x = ((const struct row *)a)->cells, *y = ((const struct row *)b)->cells;
	const struct walk *w = ctx;

	if (w->slowest_first && x[DURATION].i != y[DURATION].i)
		return x[DURATION].i > y[DURATION].i ? -1 : 1;
	return (x[ID].i > y[ID].i) - (x[ID].i < y[ID].i);
}

int list_requests(struct store *s, const struct request_filter *f, struct section *out,
		  struct error *err)
{
	struct walk w = { .out = out, .slowest_first = f->order == BY_SLOWEST };
	int r = store_each_body(s, f, add_one, &w, err);

	if (out->rows.nr)
		qsort_r(out->rows.v, out->rows.nr, sizeof(*out->rows.v), in_order, &w);
	visits_done(&w.visits);
	return r;
}
