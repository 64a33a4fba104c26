#include "ask/paths/instances.h"

#include <errno.h>
#include <stdlib.h>

#include "ask/length.h"
#include "ask/paths/patterns.h"
#include "base/error.h"
#include "report/report.h"
#include "store/store.h"

enum { INSTANCE, PATH, START, END, DURATION, NR_CALLS, CONFIDENCE, CALLS };

static const struct column columns[] = {
	[INSTANCE] = { "instance", "instance", CELL_COUNT, 0 },
	[PATH] = { "path", "path", CELL_TEXT, COLUMN_WIDE },
	[START] = { "start", "start", CELL_TIME, 0 },
	[END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[DURATION] = { NULL, "duration", CELL_DURATION, COLUMN_TEXT_ONLY },
	[NR_CALLS] = { NULL, "calls", CELL_COUNT, COLUMN_TEXT_ONLY },
	[CONFIDENCE] = { "confidence", "sure", CELL_SHARE, 0 },
	[CALLS] = { "calls", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
};

enum {
	MESSAGE,
	PARENT,
	FROM,
	TO,
	CALL_START,
	CALL_END,
	OFFSET,
	TAKES,
	SELF,
	CALL_CONFIDENCE,
	UNSURE,
	NOT_SEEN,
	ALTERNATIVES,
	BAR
};

static const struct column call_columns[] = {
	[MESSAGE] = { "message", "message", CELL_COUNT, 0 },
	[PARENT] = { "parent", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[FROM] = { "from", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TO] = { "to", "node", CELL_TEXT, COLUMN_WIDE | COLUMN_INDENT },
	[CALL_START] = { "start", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[CALL_END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[OFFSET] = { NULL, "after", CELL_DURATION, COLUMN_TEXT_ONLY },
	[TAKES] = { NULL, "takes", CELL_DURATION, COLUMN_TEXT_ONLY },
	[SELF] = { "self", "itself", CELL_DURATION, 0 },
	[CALL_CONFIDENCE] = { "confidence", "sure", CELL_SHARE, 0 },
	[UNSURE] = { NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY },
	[NOT_SEEN] = { "not_seen", "not seen", CELL_TEXT, COLUMN_OPTIONAL },
	[ALTERNATIVES] = { "alternatives", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BAR] = { NULL, "", CELL_BAR, COLUMN_TEXT_ONLY },
};
#define NR_CALL_COLUMNS (sizeof(call_columns) / sizeof(*call_columns))

static const struct column alternative_columns[] = {
	{ "parent", NULL, CELL_COUNT, 0 },
	{ "confidence", NULL, CELL_SHARE, 0 },
};

/* For people: one row for each. */
static const struct column other_columns[] = {
	{ NULL, "message", CELL_COUNT, COLUMN_TEXT_ONLY },
	{ NULL, "node", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	{ NULL, "made by message", CELL_COUNT, COLUMN_TEXT_ONLY },
	{ NULL, "sure", CELL_SHARE, COLUMN_TEXT_ONLY },
	{ NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY },
};

struct walk {
	struct patterns patterns; /* only for the names and shapes of paths */
	struct report *report;
	struct section *out;
	bool alternatives; /* are asked for */
};

static double place_of(const struct request *r, int64_t ns)
{
	double whole = (double)r->end - (double)r->start;
	double at = whole > 0 ? ((double)ns - (double)r->start) / whole : 0;

	return at < 0 ? 0 : at > 1 ? 1 : at;
}

static void add_alternatives(struct section *s, struct row *row, struct str packed)
{
	struct section *in = row_rows(s, row, ALTERNATIVES, alternative_columns, 2);
	uint64_t message;
	double confidence;

	while (calls_take_alternative(&packed, &message, &confidence)) {
		struct row *one = section_row(in);

		row_int(in, one, 0, (int64_t)message);
		row_double(in, one, 1, confidence);
	}
}

static struct row *add_call(struct section *s, const struct patterns *p, const struct request *r,
			    const struct request_body *body, const struct call *c)
{
	bool root = c->parent == CALL_NONE;
	const struct call *up = root ? NULL : &p->calls.v.v[c->parent];
	struct row *row = section_row(s);

	row_int(s, row, MESSAGE, (int64_t)calls_message(body, c->span));
	row_int(s, row, PARENT, up ? (int64_t)calls_message(body, up->span) : 0);
	row_text(s, row, FROM, up ? names_str(&p->names, up->node) : calls_client(body, c->span));
	row_text(s, row, TO, names_str(&p->names, c->node));
	row_int(s, row, CALL_START, c->start);
	row_int(s, row, CALL_END, c->end);
	row_int(s, row, OFFSET, length_signed(r->start, c->start));
	row_int(s, row, TAKES, length_ns(c->start, c->end));
	row_int(s, row, SELF, c->self);
	row_double(s, row, CALL_CONFIDENCE, (double)body->spans[c->span].confidence);
	if ((double)body->spans[c->span].confidence < CONFIDENCE_LOW)
		row_text(s, row, UNSURE, STR("unsure"));
	if (calls_not_seen(body, c->span).n)
		row_text(s, row, NOT_SEEN, calls_not_seen(body, c->span));
	row_bar(s, row, BAR, place_of(r, c->start), place_of(r, c->end), 'r');
	return row;
}

static void add_instance(struct walk *w, const struct request *r, const struct request_body *body)
{
	uint32_t shape = patterns_shape(&w->patterns, r, body);
	struct buf path = { 0 };
	struct section *calls;
	struct row *row;

	if (!w->patterns.calls.v.nr)
		return;
	row = section_row(w->out);
	if (shape == SHAPE_NONE)
		w->report->losses.count[LOSS_PATHS_RARE]++;
	else
		patterns_path(&w->patterns, shape, &path);
	row_int(w->out, row, INSTANCE, (int64_t)r->id);
	row_text(w->out, row, PATH, buf_str(&path));
	row_int(w->out, row, START, r->start);
	row_int(w->out, row, END, r->end);
	row_int(w->out, row, DURATION, length_ns(r->start, r->end));
	row_int(w->out, row, NR_CALLS, (int64_t)w->patterns.calls.v.nr);
	row_double(w->out, row, CONFIDENCE, (double)r->confidence);
	calls = row_rows(w->out, row, CALLS, call_columns, NR_CALL_COLUMNS);
	vec_each (&w->patterns.calls.v, c) {
		struct row *one = add_call(calls, &w->patterns, r, body, c);

		if (w->alternatives)
			add_alternatives(calls, one, calls_alternatives(body, c->span));
	}
	buf_done(&path);
}

static int each(void *ctx, const struct request *r, const struct request_body *body)
{
	struct walk *w = ctx;

	add_instance(w, r, body);
	report_spill(w->report, w->out);
	return 0;
}

static int by_instance(const void *a, const void *b)
{
	int64_t x = ((const struct row *)a)->cells[INSTANCE].i;
	int64_t y = ((const struct row *)b)->cells[INSTANCE].i;

	return (x > y) - (x < y);
}

int instances_all(struct store *s, const struct request_filter *f, bool alternatives,
		  struct report *report, struct error *err)
{
	struct walk w = { .report = report, .alternatives = alternatives };
	int r;

	w.out = report_table(report, "instances", "", columns, sizeof(columns) / sizeof(*columns));
	r = store_each_body(s, f, each, &w, err);
	if (w.out->rows.nr)
		qsort(w.out->rows.v, w.out->rows.nr, sizeof(*w.out->rows.v), by_instance);
	patterns_done(&w.patterns);
	return r < 0 ? r : !w.out->rows.nr && !report->nr_spilled;
}

struct frame {
	uint32_t call, next;
};

/* The calls as a tree, without recursion: it may be deeper than the stack. */
static void add_tree(const struct patterns *p, const struct request *r,
		     const struct request_body *body, struct report *report)
{
	struct section *s = report_table(report, "calls", "", call_columns, NR_CALL_COLUMNS);
	const struct calls *c = &p->calls;
	uint32_t roots = (uint32_t)c->v.nr;
	VEC(struct frame) stack = { 0 };

	s->text_only = true;
	vec_push(&stack, (struct frame){ roots, c->first.v[roots] });
	while (stack.nr) {
		struct frame *f = &stack.v[stack.nr - 1];
		uint32_t call;

		if (f->next == c->first.v[f->call + 1]) {
			stack.nr--;
			continue;
		}
		call = c->kid.v[f->next++];
		add_call(s, p, r, body, &c->v.v[call]);
		s->rows.v[s->rows.nr - 1].depth = (unsigned)stack.nr - 1;
		vec_push(&stack, (struct frame){ call, c->first.v[call] });
	}
	vec_done(&stack);
}

/* What each call is taken for, and what else it may be, the calls in the order of messages. */
static void add_others(const struct walk *w, const struct request_body *body)
{
	struct section *s = report_table(w->report, "alternatives", "other callers", other_columns,
					 sizeof(other_columns) / sizeof(*other_columns));

	s->text_only = true;
	vec_each (&w->patterns.calls.v, c) {
		struct str packed = calls_alternatives(body, c->span);
		uint64_t message = 0;
		double sure = (double)body->spans[c->span].confidence;

		if (!packed.n || c->parent == CALL_NONE)
			continue;
		message = calls_message(body, w->patterns.calls.v.v[c->parent].span);
		for (bool is_taken = true;; is_taken = false) {
			struct row *row = section_row(s);

			row_int(s, row, 0, (int64_t)calls_message(body, c->span));
			row_text(s, row, 1, names_str(&w->patterns.names, c->node));
			row_int(s, row, 2, (int64_t)message);
			row_double(s, row, 3, sure);
			if (is_taken)
				row_text(s, row, 4, STR("taken"));
			if (!calls_take_alternative(&packed, &message, &sure))
				break;
		}
	}
	if (!s->rows.nr) {
		s = report_section(w->report, SECTION_PROSE, "alternatives", "");
		s->text_only = true;
		section_say(s, NULL,
			    "No call of this request could well belong to another caller.");
	}
}

int instances_one(struct store *s, uint64_t id, bool alternatives, struct report *report,
		  struct error *err)
{
	struct walk w = { .report = report, .alternatives = alternatives };
	struct arena arena = { 0 };
	struct request r;
	struct request_body body;
	int got = store_request(s, id, &arena, &r, &body, err);

	if (got > 0) {
		w.out = report_table(report, "instances", "", columns,
				     sizeof(columns) / sizeof(*columns));
		add_instance(&w, &r, &body);
		add_tree(&w.patterns, &r, &body, report);
		if (alternatives)
			add_others(&w, &body);
		got = !w.out->rows.nr;
	} else if (!got) {
		got = error_set(err, ENOENT,
				"no instance %llu; --instances lists them, requests have the "
				"same numbers",
				(unsigned long long)id);
	}
	patterns_done(&w.patterns);
	arena_done(&arena);
	return got;
}
