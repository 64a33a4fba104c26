#include "ask/objects/gaps.h"

#include "ask/length.h"
#include "ask/object_tell.h"
#include "ask/objects/hierarchy.h"
#include "report/report.h"

#define GAPS_SHOWN 12

enum { FROM, AFTER_START, LENGTH, SHARE, AFTER, UNTIL, NEXT, NEXT_TEXT, USUAL, RUN };

static const struct column columns[] = {
	[FROM] = { "from", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[AFTER_START] = { NULL, "begins after", CELL_DURATION, COLUMN_TEXT_ONLY },
	[LENGTH] = { "time", "time", CELL_DURATION, 0 },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
	[AFTER] = { "after", "after", CELL_TEXT, COLUMN_WIDE },
	[UNTIL] = { "until", "until", CELL_TEXT, COLUMN_WIDE },
	[NEXT] = { "next", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[NEXT_TEXT] = { NULL, "which is", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[USUAL] = { "usual", "usually", CELL_DURATION, 0 },
	[RUN] = { "count_in_run", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
};

/* The child that begins where the gap ends. */
static const struct object *next_of(const struct object_kin *k, const struct object_wait *gap)
{
	for (uint32_t i = k->child_first[gap->object]; i < k->child_first[gap->object + 1]; i++) {
		const struct object *c = &k->g->objects[k->children[i]];

		if (c->first_ns == gap->to && object_has_time(c))
			return c;
	}
	return NULL;
}

static void end_cell(const struct object_graph *g, struct section *s, struct row *row,
		     size_t column, uint32_t end)
{
	struct buf b = { 0 };

	wait_end_text(g, end, &b);
	row_text(s, row, column, buf_str(&b));
	buf_done(&b);
}

static void add_gap(const struct object_kin *k, const struct object_waits *w,
		    const struct object_wait *gap, bool is_strong, struct section *s)
{
	const struct object *o = &k->g->objects[gap->object], *next = next_of(k, gap);
	const struct wait_kind *kind = &w->kinds.v[gap->kind];
	struct row *row = section_row(s);
	struct buf name = { 0 };

	row->strong = is_strong;
	row_int(s, row, FROM, gap->from);
	row_int(s, row, AFTER_START, length_ns(o->first_ns, gap->from));
	row_int(s, row, LENGTH, length_ns(gap->from, gap->to));
	row_double(s, row, SHARE,
		   (double)length_ns(gap->from, gap->to) /
			   (double)length_ns(o->first_ns, o->last_ns));
	end_cell(k->g, s, row, AFTER, kind->before);
	end_cell(k->g, s, row, UNTIL, kind->after);
	if (next) {
		strs_cell(s, row, NEXT, next->ids, k->g->types[next->type].nr_signature);
		object_name(k->g, next, &name);
		row_text(s, row, NEXT_TEXT, buf_str(&name));
	}
	row_int(s, row, USUAL, kind->median_ns);
	row_int(s, row, RUN, kind->nr);
	buf_done(&name);
}

/* Gaps of one kind stand together, and are judged once. */
static bool find_cause(struct gaps *gaps, const struct object_ends *ends, uint32_t at)
{
	const struct object_wait *v = gaps->waits.waits.v;
	struct gap_cause found = { .gap = at };
	size_t nr = gaps->causes.nr;

	if (nr && v[gaps->causes.v[nr - 1].gap].kind == v[at].kind)
		return true;
	if (at && v[at - 1].kind == v[at].kind && v[at - 1].object == v[at].object)
		return false;
	if (!object_cause(ends, &gaps->waits, v[at].kind, &found.cause))
		return false;
	vec_push(&gaps->causes, found);
	return true;
}

void gaps_report(struct gaps *gaps, const struct object_kin *k, uint32_t object,
		 const struct object_ends *ends, struct report *report)
{
	struct section *s = NULL;

	object_gaps_find(&gaps->waits, k);
	for (uint32_t i = 0; i < gaps->waits.waits.nr; i++) {
		const struct object_wait *gap = &gaps->waits.waits.v[i];

		if (gap->object != object)
			continue;
		if (!s) {
			s = report_table(report, "gaps", "Times without anything below it", columns,
					 sizeof(columns) / sizeof(*columns));
			s->tagged = true;
		}
		if (s->rows.nr < GAPS_SHOWN)
			add_gap(k, &gaps->waits, gap, find_cause(gaps, ends, i), s);
		else
			s->nr_left_out++;
	}
	report->losses.count[LOSS_SILENCES_LEFT] += gaps->waits.nr_left_out;
}

size_t gaps_tell(const struct gaps *gaps, const struct object_ends *ends, struct section *s)
{
	for (size_t i = 0; i < gaps->causes.nr; i++) {
		const struct object_wait *gap = &gaps->waits.waits.v[gaps->causes.v[i].gap];

		object_tell_cause(s, ends, &gaps->waits, gap->kind, &gaps->causes.v[i].cause, gap);
	}
	return gaps->causes.nr;
}

void gaps_done(struct gaps *gaps)
{
	object_waits_done(&gaps->waits);
	vec_done(&gaps->causes);
}
