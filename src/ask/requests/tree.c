#include "ask/requests/tree.h"

#include <stdlib.h>

#include "ask/critical.h"
#include "ask/length.h"
#include "ask/object_level.h"
#include "base/error.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/report.h"
#include "store/store.h"

#define LINES_PER_SPAN 20
#define LINES_IN_ALL 400
#define TEXT_COLUMNS 200
#define SPANS_SEARCHED 4096 /* for what ended a wait */
#define DEPTH_SHOWN 60      /* deeper rows stand no further to the right */

enum {
	WHAT,
	SPAN,
	PARENT,
	NAME,
	OBJECT,
	NODE,
	THREAD,
	START,
	OFFSET,
	DURATION,
	SELF,
	CRITICAL,
	MARK,
	SURE,
	BAR,
	FILE_NAME,
	LINE,
	INDEX,
	ABOVE,
	WITHIN,
	END,
	KIND,
	FOLLOWS,
	WAITS_FOR,
	ENDED_BY,
	SEVERITY
};

static const struct column columns[] = {
	[WHAT] = { "what", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[SPAN] = { "span", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[PARENT] = { "parent", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[NAME] = { "name", "span", CELL_TEXT, COLUMN_WIDE | COLUMN_INDENT },
	[OBJECT] = { "object", "object", CELL_TEXT, COLUMN_OPTIONAL | COLUMN_WIDE },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[THREAD] = { "thread", "thread", CELL_TEXT, COLUMN_OPTIONAL | COLUMN_WIDE },
	[START] = { "start", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[OFFSET] = { "offset", "after", CELL_DURATION, 0 },
	[DURATION] = { "duration", "takes", CELL_DURATION, COLUMN_OPTIONAL },
	[SELF] = { "self", "itself", CELL_DURATION, COLUMN_OPTIONAL },
	[CRITICAL] = { "critical", "critical", CELL_DURATION, COLUMN_OPTIONAL },
	[MARK] = { "error", "error", CELL_BOOL, COLUMN_OPTIONAL },
	[SURE] = { "confidence", "sure", CELL_SHARE, COLUMN_OPTIONAL }, /* only where it is not */
	[BAR] = { NULL, "", CELL_BAR, COLUMN_TEXT_ONLY },
	[FILE_NAME] = { "file", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[LINE] = { "line", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	/* ids need not be unique: what draws the tree goes by the places of spans */
	[INDEX] = { "index", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[ABOVE] = { "above", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WITHIN] = { "within", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[END] = { "end", NULL, CELL_TIME, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[KIND] = { "kind", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[FOLLOWS] = { "follows", NULL, CELL_BOOL, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WAITS_FOR] = { "waits_for", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[ENDED_BY] = { "ended_by", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[SEVERITY] = { "level", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
};

struct tree {
	struct store *store;
	const struct request *r;
	const struct request_body *body;
	struct report *report;
	struct section *out;
	struct arena arena;
	uint32_t *first,
		*child; /* children of span i, by start: child[first[i]…]; i == nr: roots */
	uint32_t *line_first, *lines; /* positions of the events in span i; i == nr: in none */
	int64_t *self, *critical;
	struct critical path;
	VEC(struct str) files;
	size_t nr_lines;
};

static int by_start(const void *a, const void *b, void *ctx)
{
	const struct span *spans = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (spans[i].start != spans[j].start)
		return spans[i].start < spans[j].start ? -1 : 1;
	return i < j ? -1 : 1;
}

/* Lists the items of each owner: nr items, owner(i) < nr_owners. */
static void group(struct arena *arena, const uint32_t *owner, size_t nr, size_t nr_owners,
		  uint32_t **first, uint32_t **items)
{
	uint32_t *at = arena_array(arena, uint32_t, nr_owners + 2);

	*first = at++;
	for (size_t i = 0; i < nr; i++)
		at[owner[i] + 1]++;
	for (size_t i = 1; i <= nr_owners; i++)
		at[i] += at[i - 1];
	*items = arena_array(arena, uint32_t, nr + 1);
	for (uint32_t i = 0; i < nr; i++)
		(*items)[at[owner[i]]++] = i;
}

static void group_all(struct tree *t)
{
	const struct request_body *b = t->body;
	size_t n = b->nr_spans;
	uint32_t *owner = arena_array(&t->arena, uint32_t, n + b->nr_events + 1);

	for (uint32_t i = 0; i < n; i++)
		owner[i] = b->spans[i].parent < i ? b->spans[i].parent : (uint32_t)n;
	group(&t->arena, owner, n, n + 1, &t->first, &t->child);
	for (size_t i = 0; i <= n; i++)
		if (t->first[i + 1] - t->first[i] > 1)
			qsort_r(t->child + t->first[i], t->first[i + 1] - t->first[i],
				sizeof(*t->child), by_start, b->spans);
	for (size_t i = 0; i < b->nr_events; i++)
		owner[i] = b->event_span && b->event_span[i] < n ? b->event_span[i] : (uint32_t)n;
	group(&t->arena, owner, b->nr_events, n + 1, &t->line_first, &t->lines);
}

/* A span's own time: what none of its children covers. */
static int64_t self_of(const struct tree *t, uint32_t i)
{
	const struct span *s = &t->body->spans[i];
	int64_t at = s->start;
	uint64_t self = 0;

	for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++) {
		const struct span *c = &t->body->spans[t->child[k]];

		if (c->start >= s->end)
			break;
		if (c->start > at)
			self += (uint64_t)length_ns(at, c->start);
		if (c->end > at)
			at = c->end;
	}
	self += (uint64_t)length_ns(at, s->end);
	return self > INT64_MAX ? INT64_MAX : (int64_t)self;
}

static void measure(struct tree *t)
{
	struct critical *path = &t->path;

	t->self = arena_array(&t->arena, int64_t, t->body->nr_spans + 1);
	t->critical = arena_array(&t->arena, int64_t, t->body->nr_spans + 1);
	for (uint32_t i = 0; i < t->body->nr_spans; i++)
		t->self[i] = self_of(t, i);
	critical_path(t->body, &t->arena, path);
	for (size_t i = 0; i < path->nr; i++)
		if (path->v[i].span != SPAN_NONE) {
			int64_t *sum = &t->critical[path->v[i].span];

			if (__builtin_add_overflow(
				    *sum, length_ns(path->v[i].start, path->v[i].end), sum))
				*sum = INT64_MAX;
		}
}

static double place_of(const struct tree *t, int64_t ns)
{
	double whole = (double)t->r->end - (double)t->r->start;
	double at = whole > 0 ? ((double)ns - (double)t->r->start) / whole : 0;

	return at < 0 ? 0 : at > 1 ? 1 : at;
}

/* What a wait is for its name says; what ended it is work of that name that began or ended then. */
static void add_wait(struct tree *t, struct row *row, uint32_t i)
{
	const struct span *w = &t->body->spans[i];
	struct str what = w->name;
	bool is_told = str_take(&what, STR("wait for "));

	row_text(t->out, row, WAITS_FOR, what);
	for (uint32_t k = 0; is_told && k < t->body->nr_spans && k < SPANS_SEARCHED; k++) {
		const struct span *s = &t->body->spans[k];

		if (s->kind != SPAN_WAIT && (s->start == w->end || s->end == w->end) &&
		    str_eq(s->name, what)) {
			row_int(t->out, row, ENDED_BY, k);
			return;
		}
	}
}

static void add_place(struct tree *t, struct row *row, uint32_t i)
{
	const struct span *s = &t->body->spans[i];
	struct section *o = t->out;

	row_int(o, row, INDEX, i);
	if (s->parent < i)
		row_int(o, row, ABOVE, s->parent);
	row_int(o, row, END, s->end);
	if (s->kind != SPAN_UNKNOWN)
		row_text(o, row, KIND, str_of(span_kind_name(s->kind)));
	if (s->follows)
		row_int(o, row, FOLLOWS, 1);
	if (s->kind == SPAN_WAIT)
		add_wait(t, row, i);
}

static void add_span(struct tree *t, uint32_t i, unsigned depth)
{
	const struct span *s = &t->body->spans[i];
	struct section *o = t->out;
	struct row *row = section_row(o);

	row->depth = depth;
	row->strong = s->status == STATUS_ERROR;
	row_text(o, row, WHAT, STR("span"));
	add_place(t, row, i);
	row_text(o, row, SPAN, s->id);
	if (s->parent < i)
		row_text(o, row, PARENT, t->body->spans[s->parent].id);
	row_text(o, row, NAME, s->name);
	if (object_level_name(s->attrs).n)
		row_text(o, row, OBJECT, object_level_name(s->attrs));
	row_text(o, row, NODE, s->node);
	if (s->thread.n)
		row_text(o, row, THREAD, s->thread);
	row_int(o, row, START, s->start);
	row_int(o, row, OFFSET, length_signed(t->r->start, s->start));
	row_int(o, row, DURATION, length_ns(s->start, s->end));
	if ((double)s->confidence < CONFIDENCE_LOW)
		row_double(o, row, SURE, (double)s->confidence);
	row_int(o, row, SELF, t->self[i]);
	if (t->critical[i])
		row_int(o, row, CRITICAL, t->critical[i]);
	if (s->status == STATUS_ERROR)
		row_int(o, row, MARK, 1);
	row_bar(o, row, BAR, place_of(t, s->start), place_of(t, s->end),
		s->kind == SPAN_WAIT ? 'w'
		: t->critical[i]     ? 'c'
				     : 'r');
}

/* --- log lines -------------------------------------------------------------------------------- */

struct line {
	struct tree *t;
	unsigned depth;
	uint32_t at;    /* among the events of the body */
	uint32_t owner; /* the span that it stands in, or how many there are */
};

static int add_line(void *ctx, uint64_t number, const struct event *ev)
{
	struct line *l = ctx;
	struct tree *t = l->t;
	struct section *o = t->out;
	struct row *row = section_row(o);
	struct buf raw = { 0 };
	struct error why = { 0 };
	struct str text = ev->text.n ? ev->text : ev->title;
	int64_t ns = ev->ns == NS_NONE ? NS_NONE : body_event_ns(t->body, l->at, ev->ns);

	(void)number;
	if (ev->kind == EVENT_LOG && !ev->text.n) {
		if (store_event_text(t->store, ev, &raw, &why) > 0) {
			text = buf_str(&raw);
		} else {
			t->report->losses.count[LOSS_TEXT_GONE]++;
			text = ev->title.n ? ev->title : str_of(why.msg);
		}
	}
	if (!text.n)
		text = ev->point;
	row->depth = l->depth;
	row_text(o, row, WHAT, STR("line"));
	row_text(o, row, NAME, utf8_fit(str_head(text, str_find_char(text, '\n')), TEXT_COLUMNS));
	row_text(o, row, NODE, ev->node);
	if (ev->thread.n)
		row_text(o, row, THREAD, ev->thread);
	if (l->owner < t->body->nr_spans)
		row_int(o, row, WITHIN, l->owner);
	if (ev->level != LEVEL_NONE)
		row_text(o, row, SEVERITY, str_of(level_name(ev->level)));
	if (ns != NS_NONE) {
		row_int(o, row, START, ns);
		row_int(o, row, OFFSET, length_signed(t->r->start, ns));
		row_bar(o, row, BAR, place_of(t, ns), place_of(t, ns), 'r');
	}
	if (ev->line && ev->file < t->files.nr) {
		row_text(o, row, FILE_NAME, t->files.v[ev->file]);
		row_int(o, row, LINE, (int64_t)ev->line);
	}
	buf_done(&raw);
	return 0;
}

/* The first few lines of a span; the others are counted. */
static int add_lines(struct tree *t, uint32_t owner, unsigned depth, struct error *err)
{
	uint32_t first = t->line_first[owner], nr = t->line_first[owner + 1] - first, i = 0;
	struct line l = { t, depth, 0, owner };
	int r = 0;

	for (; i < nr && i < LINES_PER_SPAN && t->nr_lines < LINES_IN_ALL && r >= 0; i++) {
		l.at = t->lines[first + i];
		r = store_each_event(t->store, t->body->events[l.at], 1, add_line, &l, err);
		t->nr_lines++;
	}
	t->out->nr_left_out += nr - i;
	return r;
}

static int add_file(void *ctx, const struct stored_file *f)
{
	struct tree *t = ctx;

	while (t->files.nr <= f->number)
		vec_push(&t->files, (struct str){ 0 });
	t->files.v[f->number] = arena_str(&t->arena, f->seen.name);
	return 0;
}

struct frame {
	uint32_t owner, next;
};

/* Down and up without recursion: a trace may be deeper than the stack. */
static int walk(struct tree *t, struct error *err)
{
	VEC(struct frame) stack = { 0 };
	uint32_t roots = (uint32_t)t->body->nr_spans;
	int r = 0;

	vec_push(&stack, (struct frame){ roots, t->first[roots] });
	while (stack.nr && r >= 0) {
		struct frame *f = &stack.v[stack.nr - 1];
		unsigned depth = (unsigned)(stack.nr < DEPTH_SHOWN ? stack.nr : DEPTH_SHOWN);
		uint32_t i;

		if (f->next == t->first[f->owner + 1]) {
			stack.nr--;
			continue;
		}
		i = t->child[f->next++];
		add_span(t, i, depth - 1);
		r = add_lines(t, i, depth, err);
		vec_push(&stack, (struct frame){ i, t->first[i] });
	}
	vec_done(&stack);
	return r < 0 ? r : add_lines(t, roots, 0, err);
}

/* --- for what draws it ------------------------------------------------------------------------ */

enum { E_FROM, E_TO, E_KIND, E_SURE };

static const struct column edge_columns[] = {
	[E_FROM] = { "from", NULL, CELL_COUNT, 0 },
	[E_TO] = { "to", NULL, CELL_COUNT, 0 },
	[E_KIND] = { "kind", NULL, CELL_TEXT, 0 },
	[E_SURE] = { "confidence", NULL, CELL_NUMBER, COLUMN_OPTIONAL },
};

static void add_edges(const struct tree *t)
{
	struct section *s = report_table(t->report, "edges", "", edge_columns, 4);

	s->tagged = true;
	s->json_only = true;
	for (size_t i = 0; i < t->body->nr_edges; i++) {
		const struct edge *e = &t->body->edges[i];
		struct row *row = section_row(s);

		row_int(s, row, E_FROM, e->from);
		row_int(s, row, E_TO, e->to);
		row_text(s, row, E_KIND, str_of(edge_kind_name(e->kind)));
		if (e->confidence < 1)
			row_double(s, row, E_SURE, (double)e->confidence);
	}
}

enum { C_INDEX, C_KIND, C_START, C_END };

static const struct column critical_columns[] = {
	[C_INDEX] = { "index", NULL, CELL_COUNT, COLUMN_OPTIONAL }, /* of no span where it is not */
	[C_KIND] = { "kind", NULL, CELL_TEXT, 0 },
	[C_START] = { "start", NULL, CELL_TIME, 0 },
	[C_END] = { "end", NULL, CELL_TIME, 0 },
};

static void add_critical(const struct tree *t)
{
	struct section *s = report_table(t->report, "critical", "", critical_columns, 4);

	s->tagged = true;
	s->json_only = true;
	for (size_t i = 0; i < t->path.nr; i++) {
		const struct critical_section *c = &t->path.v[i];
		struct row *row = section_row(s);

		if (c->span != SPAN_NONE)
			row_int(s, row, C_INDEX, c->span);
		row_text(s, row, C_KIND, str_of(critical_kind_name(c->kind)));
		row_int(s, row, C_START, c->start);
		row_int(s, row, C_END, c->end);
	}
}

int tree_report(struct store *s, const struct request *r, const struct request_body *body,
		struct report *report, struct error *err)
{
	struct tree t = { .store = s, .r = r, .body = body, .report = report };
	int got;

	t.out = report_table(report, "tree", "", columns, sizeof(columns) / sizeof(*columns));
	t.out->tagged = true;
	got = store_each_file(s, add_file, &t, err);
	group_all(&t);
	measure(&t);
	if (got >= 0)
		got = walk(&t, err);
	add_critical(&t);
	add_edges(&t);
	vec_done(&t.files);
	arena_done(&t.arena);
	return got < 0 ? got : 0;
}
