#include "ask/object_tell.h"

#include <math.h>

#include "ask/length.h"
#include "base/time.h"
#include "report/report.h"

enum {
	TYPE,
	AFTER,
	UNTIL,
	CAUSE,
	LINE,
	HITS,
	OF,
	EXPECTED,
	WITHIN,
	ELSEWHERE,
	TOGETHER,
	OBJECT,
	WAITED,
	SILENT,
	OVER
};

static const struct column facts[] = {
	[TYPE] = { "type", NULL, CELL_TEXT, 0 },
	[AFTER] = { "after", NULL, CELL_TEXT, 0 },
	[UNTIL] = { "until", NULL, CELL_TEXT, 0 },
	[CAUSE] = { "cause", NULL, CELL_TEXT, 0 },
	[LINE] = { "line", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[HITS] = { "hits", NULL, CELL_COUNT, 0 },
	[OF] = { "of", NULL, CELL_COUNT, 0 },
	[EXPECTED] = { "expected", NULL, CELL_NUMBER, 0 },
	[WITHIN] = { "within", NULL, CELL_DURATION, 0 },
	[ELSEWHERE] = { "of_another", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[TOGETHER] = { "of_the_same", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[OBJECT] = { "object", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[WAITED] = { "waited_for", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[SILENT] = { "silent_from", NULL, CELL_TIME, 0 },
	[OVER] = { "silent_until", NULL, CELL_TIME, 0 },
};

struct told {
	const struct object_graph *g;
	const struct wait_kind *kind;
	const struct object_cause *c;
	const struct object_wait *example;
	bool is_gap;
	bool is_known; /* whose end the example coincides with */
	uint32_t other;
	int64_t ns;
};

static struct str short_name(struct str s)
{
	return str_head(s, 80);
}

static void say_kind(struct buf *b, const struct told *t)
{
	buf_fmt(b, STR_FMT " %s after ", STR_ARG(short_name(t->g->types[t->kind->type].name)),
		t->is_gap ? "has nothing alive below it" : "is silent");
	wait_end_text(t->g, t->kind->before, b);
	buf_add(b, STR(" until "));
	wait_end_text(t->g, t->kind->after, b);
	buf_fmt(b, ": %u times, ", t->kind->nr);
	time_span_text(b, t->kind->median_ns);
	buf_add(b, STR(" in the middle. "));
}

static void say_cause(struct buf *b, const struct told *t)
{
	const struct object_cause *c = t->c;

	buf_fmt(b, "%u of %u end within ", c->hits, c->nr);
	time_span_text(b, c->within_ns);
	buf_fmt(b, " of the end of another " STR_FMT,
		STR_ARG(short_name(t->g->types[c->type].name)));
	if (c->elsewhere != UINT32_MAX)
		buf_fmt(b, ", mostly one of another " STR_FMT,
			STR_ARG(short_name(t->g->types[c->elsewhere].name)));
	else if (c->together != UINT32_MAX)
		buf_fmt(b, " of the same " STR_FMT,
			STR_ARG(short_name(t->g->types[c->together].name)));
	if (c->template != CAUSE_END) {
		buf_add(b, STR(" ("));
		wait_end_text(t->g, c->template, b);
		buf_char(b, ')');
	}
	buf_fmt(b, "; by chance it would be %.1f. ", c->expected);
}

static void say_example(struct buf *b, const struct told *t)
{
	object_name(t->g, &t->g->objects[t->example->object], b);
	buf_add(b, STR(" waited "));
	time_span_text(b, length_ns(t->example->from, t->example->to));
	if (!t->is_known) {
		buf_add(b, STR(", without such an end at hand."));
		return;
	}
	buf_add(b, STR(" until "));
	object_name(t->g, &t->g->objects[t->other], b);
	buf_add(b, STR(" came to its end, at "));
	time_text(b, t->ns, 3);
	buf_char(b, '.');
}

static void name_cell(const struct told *t, struct section *s, struct row *row, size_t column,
		      uint32_t object)
{
	struct buf b = { 0 };

	object_name(t->g, &t->g->objects[object], &b);
	row_text(s, row, column, buf_str(&b));
	buf_done(&b);
}

static void end_cell(const struct told *t, struct section *s, struct row *row, size_t column,
		     uint32_t end)
{
	struct buf b = { 0 };

	wait_end_text(t->g, end, &b);
	row_text(s, row, column, buf_str(&b));
	buf_done(&b);
}

static struct section *add_facts(struct section *s, const struct told *t)
{
	struct section *f = section_facts(s, facts, sizeof(facts) / sizeof(*facts));
	struct row *row = section_row(f);
	const struct object_cause *c = t->c;

	row_text(f, row, TYPE, t->g->types[t->kind->type].name);
	end_cell(t, f, row, AFTER, t->kind->before);
	end_cell(t, f, row, UNTIL, t->kind->after);
	row_text(f, row, CAUSE, t->g->types[c->type].name);
	if (c->template != CAUSE_END)
		end_cell(t, f, row, LINE, c->template);
	row_int(f, row, HITS, c->hits);
	row_int(f, row, OF, c->nr);
	row_double(f, row, EXPECTED, round(100 * c->expected) / 100);
	row_int(f, row, WITHIN, c->within_ns);
	if (c->elsewhere != UINT32_MAX)
		row_text(f, row, ELSEWHERE, t->g->types[c->elsewhere].name);
	if (c->together != UINT32_MAX)
		row_text(f, row, TOGETHER, t->g->types[c->together].name);
	name_cell(t, f, row, OBJECT, t->example->object);
	if (t->is_known)
		name_cell(t, f, row, WAITED, t->other);
	row_int(f, row, SILENT, t->example->from);
	row_int(f, row, OVER, t->example->to);
	return f;
}

struct prose *object_tell_cause(struct section *s, const struct object_ends *ends,
				const struct object_waits *w, uint32_t kind,
				const struct object_cause *c, const struct object_wait *example)
{
	struct told t = { .g = object_ends_graph(ends),
			  .kind = &w->kinds.v[kind],
			  .c = c,
			  .example = example,
			  .is_gap = w->is_gaps };
	struct buf b = { 0 };
	struct prose *p;

	t.is_known = object_cause_of(ends, c, example, &t.other, &t.ns);
	say_kind(&b, &t);
	say_cause(&b, &t);
	say_example(&b, &t);
	p = section_say(s, NULL, STR_FMT, STR_ARG(buf_str(&b)));
	p->confidence = floor(1000 * c->confidence) / 1000;
	p->facts = add_facts(s, &t);
	buf_done(&b);
	return p;
}
