#include "ask/requests/list.h"

#include <math.h>

#include "ask/length.h"
#include "base/buf.h"
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
	SURE,
	KEY,
	INCOMPLETE,
	CUT
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
	[SURE] = { NULL, "sure", CELL_SHARE, COLUMN_TEXT_ONLY }, /* only where it is not */
	[KEY] = { "key", "key", CELL_TEXT, COLUMN_WIDE },
	[INCOMPLETE] = { "incomplete", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
	[CUT] = { NULL, "incomplete", CELL_BOOL, COLUMN_TEXT_ONLY }, /* only where one is */
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

static void add_row(struct section *s, const struct visits *n, const struct request *r)
{
	struct row *row = section_row(s);

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
	row_double(s, row, CONFIDENCE, round(1000 * (double)r->confidence) / 1000);
	if ((double)r->confidence < CONFIDENCE_LOW)
		row_double(s, row, SURE, (double)r->confidence);
	row_text(s, row, KEY, r->key);
	row_int(s, row, INCOMPLETE, r->incomplete);
	if (r->incomplete)
		row_int(s, row, CUT, 1);
}

void list_add(struct section *s, struct visits *n, const struct request *r,
	      const struct request_body *body)
{
	visits_of(n, body);
	add_row(s, n, r);
}

#define PAGE_MOST 10000 /* rows: a page of a list */

/*
 * Of a page of a list, bodies are read in the order of its rows. Otherwise bodies come in the order
 * of the store, rows are wanted in another, and a run may have more requests than fit in memory as
 * rows. So a first walk packs the visits of each request, some ten bytes a node, and a second one,
 * without bodies, makes the rows in their order.
 */
struct walk {
	struct report *report;
	struct section *out;
	struct visits visits;
	struct buf packed;
	VEC(uint64_t) at; /* by id: where its visits begin in packed */
};

static int pack_visits(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;

	visits_of(&w->visits, body);
	while (w->at.nr <= r->id)
		vec_push(&w->at, UINT64_MAX);
	w->at.v[r->id] = w->packed.n;
	buf_varint(&w->packed, w->visits.v.nr);
	vec_each (&w->visits.v, v) {
		buf_varint(&w->packed, v->node);
		buf_svarint(&w->packed, (int64_t)((uint64_t)v->start - (uint64_t)r->start));
		buf_svarint(&w->packed, (int64_t)((uint64_t)v->end - (uint64_t)v->start));
	}
	return 0;
}

static void unpack_visits(struct walk *w, const struct request *r)
{
	struct str s = { 0 };
	uint64_t nr = 0, node;
	int64_t start, length;

	vec_clear(&w->visits.v);
	if (r->id < w->at.nr && w->at.v[r->id] != UINT64_MAX)
		s = str_skip(buf_str(&w->packed), w->at.v[r->id]);
	str_take_varint(&s, &nr);
	while (nr-- && str_take_varint(&s, &node) && str_take_svarint(&s, &start) &&
	       str_take_svarint(&s, &length)) {
		start = (int64_t)((uint64_t)start + (uint64_t)r->start);
		vec_push(&w->visits.v,
			 (struct visit){ (sym_t)node, start,
					 (int64_t)((uint64_t)start + (uint64_t)length) });
	}
}

static int add_one(void *ctx, const struct request *r)
{
	struct walk *w = ctx;

	unpack_visits(w, r);
	add_row(w->out, &w->visits, r);
	report_spill(w->report, w->out);
	return 0;
}

static int add_whole(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;

	list_add(w->out, &w->visits, r, body);
	report_spill(w->report, w->out);
	return 0;
}

int list_requests(struct store *s, const struct request_filter *f, struct report *report,
		  struct section *out, struct error *err)
{
	struct walk w = { .report = report, .out = out };
	int r;

	if (f->limit && f->limit <= PAGE_MOST) {
		r = store_each_body_in_order(s, f, add_whole, &w, err);
		visits_done(&w.visits);
		return r;
	}
	r = store_each_body(s, f, pack_visits, &w, err);
	/* what was packed is not what visits_of would find left over */
	vec_clear(&w.visits.place);
	vec_clear(&w.visits.v);
	if (r >= 0)
		r = store_each_request(s, f, add_one, &w, err);
	buf_done(&w.packed);
	vec_done(&w.at);
	visits_done(&w.visits);
	return r;
}
