/*
 * Requests of one sequence passed the same points in the same order in each thread, so the first of
 * them shows it. A first walk counts, a second one over the bodies takes the events of the first
 * request of each sequence, and the events are then read in one pass, in the order of the store:
 * memory is for the sequences, not for the requests.
 */
#include "ask/requests/sequences.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask/length.h"
#include "base/map.h"
#include "base/names.h"
#include "base/vec.h"
#include "report/report.h"
#include "store/store.h"

#define SEQUENCES_SHOWN 10
#define POINTS_SHOWN 40
#define POINTS_MOST 2000   /* of one sequence */
#define WANTED_MOST 500000 /* of all of them: the rest is counted */

struct sequence {
	uint64_t id, nr, request; /* request: the first one */
	sym_t type;
	double total; /* ns */
	size_t point_at, nr_points;
	uint64_t nr_left_out;
};

struct place {
	uint64_t event;
	uint32_t span;
	sym_t point, span_name, node;
};

struct sequences {
	struct map at; /* id: 1 + place in v */
	VEC(struct sequence) v;
	VEC(struct place) places;
	struct names texts;
	VEC(uint32_t) by_event;
	size_t next; /* in by_event */
};

static int count(void *ctx, const struct request *r)
{
	struct sequences *q = ctx;
	uint64_t *at = map_at(&q->at, r->sequence);
	struct sequence *one;

	if (!*at) {
		vec_push(&q->v, (struct sequence){ .id = r->sequence,
						   .request = r->id,
						   .type = names_add(&q->texts, r->type) });
		*at = q->v.nr;
	}
	one = &q->v.v[*at - 1];
	one->nr++;
	one->total += (double)length_ns(r->start, r->end);
	return 0;
}

static int by_span(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* The places of one request, those of one span together. */
static int take_places(void *ctx, const struct request *r, const struct request_body *body)
{
	struct sequences *q = ctx;
	const uint64_t *at = map_find(&q->at, r->sequence);
	struct sequence *one = at ? &q->v.v[*at - 1] : NULL;

	if (!one || one->request != r->id)
		return 0;
	one->point_at = q->places.nr;
	for (size_t i = 0; i < body->nr_events; i++) {
		uint32_t span = body->event_span ? body->event_span[i] : SPAN_NONE;
		const struct span *s = span < body->nr_spans ? &body->spans[span] : NULL;

		if (one->nr_points == POINTS_MOST || q->places.nr == WANTED_MOST) {
			one->nr_left_out++;
			continue;
		}
		vec_push(&q->places,
			 (struct place){ .event = body->events[i],
					 .span = span,
					 .span_name = s ? names_add(&q->texts, s->name) : 0,
					 .node = s ? names_add(&q->texts, s->node) : 0 });
		one->nr_points++;
	}
	if (one->nr_points)
		qsort(q->places.v + one->point_at, one->nr_points, sizeof(*q->places.v), by_span);
	return 0;
}

static int by_event(const void *a, const void *b, void *to)
{
	const struct place *places = to;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (places[x].event != places[y].event)
		return places[x].event < places[y].event ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int name_point(void *ctx, uint64_t number, const struct event *ev)
{
	struct sequences *q = ctx;

	for (; q->next < q->by_event.nr; q->next++) {
		struct place *p = &q->places.v[q->by_event.v[q->next]];

		if (p->event > number)
			break;
		if (p->event == number)
			p->point = names_add(&q->texts, ev->point.n ? ev->point : ev->title);
	}
	return q->next == q->by_event.nr;
}

static int read_points(struct sequences *q, struct store *s, struct error *err)
{
	struct store_totals totals;
	int got = store_totals(s, &totals, err);

	for (uint32_t i = 0; i < q->places.nr; i++)
		vec_push(&q->by_event, i);
	if (got < 0 || !q->places.nr)
		return got;
	qsort_r(q->by_event.v, q->by_event.nr, sizeof(*q->by_event.v), by_event, q->places.v);
	return store_each_event(s, q->places.v[q->by_event.v[0]].event,
				totals.nr_events - q->places.v[q->by_event.v[0]].event, name_point,
				q, err);
}

/* --- the report ------------------------------------------------------------------------------ */

enum { ID, COUNT, TYPE, MEAN, REQUEST, NR_POINTS, POINTS };

static const struct column columns[] = {
	[ID] = { "sequence", "sequence", CELL_TEXT, 0 },
	[COUNT] = { "count", "count", CELL_COUNT, 0 },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[REQUEST] = { "request", "first", CELL_COUNT, 0 },
	[NR_POINTS] = { NULL, "points", CELL_COUNT, COLUMN_TEXT_ONLY },
	[POINTS] = { "points", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
};

enum { P_SPAN, P_SPAN_NAME, P_NODE, P_POINT, P_CLASS, P_METHOD, P_LINE };

static const struct column point_columns[] = {
	[P_SPAN] = { "span", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[P_SPAN_NAME] = { "name", "in", CELL_TEXT, COLUMN_WIDE },
	[P_NODE] = { "node", "node", CELL_TEXT, 0 },
	[P_POINT] = { "point", "log point", CELL_TEXT, COLUMN_WIDE },
	[P_CLASS] = { "class", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[P_METHOD] = { "method", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[P_LINE] = { "line", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
};

static size_t last_of(struct str s, char c)
{
	size_t i = s.n;

	while (i && s.p[i - 1] != c)
		i--;
	return i ? i - 1 : s.n;
}

/* "org.example.Shop.order:17" says class, method and line, "Shop.java:17" only the line. */
static void add_parts(struct section *in, struct row *row, struct str point)
{
	static const struct str endings[] = { STR("java"), STR("scala"), STR("kt"), STR("groovy"),
					      STR("py"),   STR("go"),    STR("rb"), STR("js"),
					      STR("ts"),   STR("c"),     STR("cc"), STR("cpp"),
					      STR("rs"),   STR("php"),   STR("cs") };
	size_t colon = last_of(point, ':'), dot;
	struct str digits = str_skip(point, colon + 1), method;
	uint64_t line;

	if (colon == point.n || !str_take_uint(&digits, &line) || digits.n || line > INT32_MAX)
		return;
	row_int(in, row, P_LINE, (int64_t)line);
	point = str_head(point, colon);
	dot = last_of(point, '.');
	method = dot < point.n ? str_skip(point, dot + 1) : (struct str){ 0 };
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (str_eq(method, endings[i]))
			return;
	if (!method.n)
		return;
	row_text(in, row, P_CLASS, str_head(point, dot));
	row_text(in, row, P_METHOD, method);
}

static void add_points(const struct sequences *q, const struct sequence *one, struct section *in,
		       size_t at_most)
{
	for (size_t i = 0; i < one->nr_points && i < at_most; i++) {
		const struct place *p = &q->places.v[one->point_at + i];
		struct row *row = section_row(in);

		if (p->span != SPAN_NONE)
			row_int(in, row, P_SPAN, (int64_t)p->span + 1);
		row_text(in, row, P_SPAN_NAME, names_str(&q->texts, p->span_name));
		row_text(in, row, P_NODE, names_str(&q->texts, p->node));
		row_text(in, row, P_POINT, names_str(&q->texts, p->point));
		add_parts(in, row, names_str(&q->texts, p->point));
	}
	in->nr_left_out = one->nr_left_out;
	if (one->nr_points > at_most)
		in->nr_left_out += one->nr_points - at_most;
}

static int by_count(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return x->request < y->request ? -1 : x->request > y->request;
}

static void add_all(struct sequences *q, bool for_people, struct report *report)
{
	struct section *out =
		report_table(report, "sequences", "", columns, sizeof(columns) / sizeof(*columns));

	if (q->v.nr)
		qsort(q->v.v, q->v.nr, sizeof(*q->v.v), by_count);
	vec_each (&q->v, one) {
		struct row *row;

		if (for_people && out->rows.nr == SEQUENCES_SHOWN) {
			out->nr_left_out++;
			continue;
		}
		row = section_row(out);
		row_fmt(out, row, ID, "%016llx", (unsigned long long)one->id);
		row_int(out, row, COUNT, (int64_t)one->nr);
		row_text(out, row, TYPE, names_str(&q->texts, one->type));
		row_int(out, row, MEAN, (int64_t)(one->total / (double)one->nr));
		row_int(out, row, REQUEST, (int64_t)one->request);
		row_int(out, row, NR_POINTS, (int64_t)(one->nr_points + one->nr_left_out));
		if (!for_people) {
			add_points(q, one, row_rows(out, row, POINTS, point_columns, 7), SIZE_MAX);
			report_spill(report, out);
		}
	}
}

/* People see the points of the most frequent ones below the table. */
static void add_shown(const struct sequences *q, struct report *report)
{
	for (size_t i = 0; i < q->v.nr && i < 3; i++) {
		char title[64];

		snprintf(title, sizeof(title), "Sequence %016llx",
			 (unsigned long long)q->v.v[i].id);
		add_points(q, &q->v.v[i],
			   report_table(report, "points", arena_z(&report->arena, str_of(title)),
					point_columns, 7),
			   POINTS_SHOWN);
	}
}

int sequences_report(struct store *s, const struct request_filter *f, bool for_people,
		     struct report *report, struct error *err)
{
	struct sequences q = { 0 };
	int got = store_each_request(s, f, count, &q, err);

	if (got >= 0)
		got = store_each_body(s, f, take_places, &q, err);
	if (got >= 0)
		got = read_points(&q, s, err);
	if (got >= 0) {
		add_all(&q, for_people, report);
		if (for_people)
			add_shown(&q, report);
	}
	got = got < 0 ? got : !q.v.nr;
	map_done(&q.at);
	vec_done(&q.v);
	vec_done(&q.places);
	vec_done(&q.by_event);
	names_done(&q.texts);
	return got;
}
