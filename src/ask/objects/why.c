#include "ask/objects/why.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/object_causes.h"
#include "ask/object_tell.h"
#include "ask/object_waits.h"
#include "ask/objects/gaps.h"
#include "ask/objects/hierarchy.h"
#include "ask/stats.h"
#include "base/arena.h"
#include "base/time.h"
#include "report/report.h"

#define KINDS_SHOWN 8
#define KINDS_TRIED 16
#define WORTH_SHOWING 0.02 /* of the object's life */

struct why {
	const struct object_kin *k;
	const struct object_graph *g;
	const struct object *o;
	uint32_t object;
	double life_ns;
	struct object_waits waits;
	struct object_ends *ends;
	struct report *report;
	struct arena arena;
};

/* --- what fills it ---------------------------------------------------------------------------- */

enum { F_WHAT, F_COUNT, F_TIME, F_SHARE, F_FIRST, F_AFTER, F_LONGEST, F_LONGEST_TEXT, F_LENGTH };

static const struct column fill_columns[] = {
	[F_WHAT] = { "what", "filled by", CELL_TEXT, COLUMN_WIDE },
	[F_COUNT] = { "count", "objects", CELL_COUNT, COLUMN_OPTIONAL },
	[F_TIME] = { "time", "time", CELL_DURATION, 0 },
	[F_SHARE] = { "share", "share", CELL_SHARE, 0 },
	[F_FIRST] = { "first", NULL, CELL_TIME, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[F_AFTER] = { "after", "first after", CELL_DURATION, COLUMN_OPTIONAL },
	[F_LONGEST] = { "longest", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[F_LONGEST_TEXT] = { NULL, "longest", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[F_LENGTH] = { "longest_time", "it takes", CELL_DURATION, COLUMN_OPTIONAL },
};

/* The time that intervals of one kind cover together; those of v are in the order of from. */
static int64_t cover(const filled_vec *v, bool (*is_meant)(uint32_t what, uint32_t type),
		     uint32_t type)
{
	int64_t sum = 0, end = INT64_MIN;

	vec_each (v, f) {
		int64_t from = f->from > end ? f->from : end;

		if (!is_meant(f->what, type))
			continue;
		if (f->to > from)
			sum = length_after(sum, length_ns(from, f->to));
		if (f->to > end)
			end = f->to;
	}
	return sum;
}

static bool is_of_type(uint32_t what, uint32_t type)
{
	return what == (WAIT_CHILD | type);
}

static bool is_any_child(uint32_t what, uint32_t type)
{
	(void)type;
	return what & WAIT_CHILD;
}

static void add_fill(struct why *w, struct section *s, const filled_vec *v, uint32_t type)
{
	const struct object_kin *k = w->k;
	uint32_t longest = UINT32_MAX, nr = 0, first = UINT32_MAX;
	int64_t most = -1, ns;
	struct buf name = { 0 };
	struct row *row;

	for (uint32_t i = k->child_first[w->object]; i < k->child_first[w->object + 1]; i++) {
		const struct object *c = &w->g->objects[k->children[i]];

		if (c->type != type || !object_has_time(c))
			continue;
		if (!nr++)
			first = k->children[i];
		ns = length_ns(c->first_ns, c->last_ns);
		if (ns > most) {
			most = ns;
			longest = k->children[i];
		}
	}
	if (!nr)
		return;
	ns = cover(v, is_of_type, type);
	row = section_row(s);
	row_text(s, row, F_WHAT, w->g->types[type].name);
	row_int(s, row, F_COUNT, nr);
	row_int(s, row, F_TIME, ns);
	row_double(s, row, F_SHARE, w->life_ns > 0 ? (double)ns / w->life_ns : 0);
	row_int(s, row, F_FIRST, w->g->objects[first].first_ns);
	row_int(s, row, F_AFTER, length_ns(w->o->first_ns, w->g->objects[first].first_ns));
	strs_cell(s, row, F_LONGEST, w->g->objects[longest].ids, w->g->types[type].nr_signature);
	object_name(w->g, &w->g->objects[longest], &name);
	row_text(s, row, F_LONGEST_TEXT, buf_str(&name));
	row_int(s, row, F_LENGTH, most);
	buf_done(&name);
}

static void add_total(struct why *w, struct section *s, const char *what, int64_t ns)
{
	struct row *row = section_row(s);

	row_text(s, row, F_WHAT, str_of(what));
	row_int(s, row, F_TIME, ns);
	row_double(s, row, F_SHARE, w->life_ns > 0 ? (double)ns / w->life_ns : 0);
}

static void report_fills(struct why *w)
{
	struct section *s = report_table(w->report, "fills", "What fills its time", fill_columns,
					 sizeof(fill_columns) / sizeof(*fill_columns));
	filled_vec v = { 0 };
	int64_t covered;

	s->tagged = true;
	object_filled(w->k, w->object, &v);
	for (uint32_t t = 0; t < w->g->nr_types; t++)
		add_fill(w, s, &v, t);
	covered = cover(&v, is_any_child, 0);
	add_total(w, s, "(nothing below it is alive)",
		  length_ns(w->o->first_ns, w->o->last_ns) - covered);
	vec_done(&v);
}

/* --- silences --------------------------------------------------------------------------------- */

/* Silences of one kind in the object and below it. */
struct here {
	uint32_t kind, nr, longest; /* longest: a place in waits */
	int64_t covers_ns;
	enum wait_sense sense;
	bool is_cause;
	struct object_cause cause;
};

typedef VEC(struct here) here_vec;

enum {
	W_TYPE,
	W_SENSE,
	W_AFTER,
	W_UNTIL,
	W_COUNT,
	W_COVERS,
	W_SHARE,
	W_LENGTH,
	W_USUAL,
	W_RUN,
	W_OBJECT,
	W_OBJECT_TEXT,
	W_FROM
};

static const struct column wait_columns[] = {
	[W_TYPE] = { "type", "silent is", CELL_TEXT, COLUMN_WIDE },
	[W_SENSE] = { "reads_as", "reads as", CELL_TEXT, COLUMN_OPTIONAL },
	[W_AFTER] = { "after", "after", CELL_TEXT, COLUMN_WIDE },
	[W_UNTIL] = { "until", "until", CELL_TEXT, COLUMN_WIDE },
	[W_COUNT] = { "count", "times", CELL_COUNT, 0 },
	[W_COVERS] = { "time", "time", CELL_DURATION, 0 },
	[W_SHARE] = { "share", "share", CELL_SHARE, 0 },
	[W_LENGTH] = { "longest_time", "longest", CELL_DURATION, 0 },
	[W_USUAL] = { "usual", "usually", CELL_DURATION, 0 },
	[W_RUN] = { "count_in_run", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[W_OBJECT] = { "longest", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[W_OBJECT_TEXT] = { NULL, "of", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[W_FROM] = { "longest_from", NULL, CELL_TIME, COLUMN_JSON_ONLY },
};

/* Waits of a kind stand in the order of their starts. */
static void see_wait(struct why *w, struct here *h, uint32_t at, int64_t *end)
{
	const struct object_wait *x = &w->waits.waits.v[at], *longest;
	int64_t from = x->from > w->o->first_ns ? x->from : w->o->first_ns;
	int64_t to = x->to < w->o->last_ns ? x->to : w->o->last_ns;

	if (from >= to)
		return;
	longest = &w->waits.waits.v[h->longest];
	if (!h->nr++ || length_ns(x->from, x->to) > length_ns(longest->from, longest->to))
		h->longest = at;
	if (from < *end)
		from = *end;
	if (to > from) {
		h->covers_ns = length_after(h->covers_ns, length_ns(from, to));
		*end = to;
	}
}

static int by_cover(const void *a, const void *b)
{
	const struct here *x = a, *y = b;

	/* idleness last, then what is known to wait for something, then what seems to */
	if ((x->sense == WAIT_IDLE) != (y->sense == WAIT_IDLE))
		return x->sense == WAIT_IDLE ? 1 : -1;
	if (x->is_cause != y->is_cause)
		return x->is_cause ? -1 : 1;
	if (x->sense != y->sense)
		return x->sense > y->sense ? -1 : 1;
	if (x->covers_ns != y->covers_ns)
		return x->covers_ns > y->covers_ns ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* The kinds that matter to this object: waits first, of them those that cover most of its life. */
static void find_here(struct why *w, here_vec *v)
{
	uint8_t *below = arena_array(&w->arena, uint8_t, w->g->nr_objects + 1);
	size_t nr;
	const uint32_t *all = object_below(w->k, w->object, &nr, &w->arena);

	for (size_t i = 0; i < nr; i++)
		below[all[i]] = 1;
	for (uint32_t kind = 0; kind < w->waits.kinds.nr; kind++) {
		const struct wait_kind *k = &w->waits.kinds.v[kind];
		struct here h = { .kind = kind };
		int64_t end = INT64_MIN;

		for (uint32_t i = k->first; i < k->first + k->nr; i++)
			if (below[w->waits.waits.v[i].object])
				see_wait(w, &h, i, &end);
		if (!h.nr || (double)h.covers_ns < WORTH_SHOWING * w->life_ns)
			continue;
		h.sense = object_wait_sense(&w->waits, w->k, kind);
		vec_push(v, h);
	}
	if (v->nr > 1)
		qsort(v->v, v->nr, sizeof(*v->v), by_cover);
	for (size_t i = 0; i < v->nr && i < KINDS_TRIED; i++)
		v->v[i].is_cause = object_cause(w->ends, &w->waits, v->v[i].kind, &v->v[i].cause);
	/* those that wait for something known come first */
	if (v->nr > 1)
		qsort(v->v, v->nr, sizeof(*v->v), by_cover);
}

static void add_wait(struct why *w, struct section *s, const struct here *h)
{
	const struct wait_kind *k = &w->waits.kinds.v[h->kind];
	const struct object_wait *longest = &w->waits.waits.v[h->longest];
	const struct object *o = &w->g->objects[longest->object];
	struct row *row = section_row(s);
	struct buf b = { 0 };

	row->strong = h->is_cause;
	row_text(s, row, W_TYPE, w->g->types[k->type].name);
	if (h->sense != WAIT_UNKNOWN)
		row_text(s, row, W_SENSE, h->sense == WAIT_FOR ? STR("wait") : STR("idle"));
	wait_end_text(w->g, k->before, &b);
	row_text(s, row, W_AFTER, buf_str(&b));
	buf_clear(&b);
	wait_end_text(w->g, k->after, &b);
	row_text(s, row, W_UNTIL, buf_str(&b));
	buf_clear(&b);
	row_int(s, row, W_COUNT, h->nr);
	row_int(s, row, W_COVERS, h->covers_ns);
	row_double(s, row, W_SHARE, (double)h->covers_ns / w->life_ns);
	row_int(s, row, W_LENGTH, length_ns(longest->from, longest->to));
	row_int(s, row, W_USUAL, k->median_ns);
	row_int(s, row, W_RUN, k->nr);
	strs_cell(s, row, W_OBJECT, o->ids, w->g->types[o->type].nr_signature);
	object_name(w->g, o, &b);
	row_text(s, row, W_OBJECT_TEXT, buf_str(&b));
	row_int(s, row, W_FROM, longest->from);
	buf_done(&b);
}

static void report_waits(struct why *w, const here_vec *v)
{
	struct section *s = report_table(
		w->report, "silences", "Silences in it and below it, by what stands around them",
		wait_columns, sizeof(wait_columns) / sizeof(*wait_columns));

	s->tagged = true;
	for (size_t i = 0; i < v->nr && i < KINDS_SHOWN; i++)
		add_wait(w, s, &v->v[i]);
	s->nr_left_out = v->nr > KINDS_SHOWN ? v->nr - KINDS_SHOWN : 0;
}

static void report_causes(struct why *w, const here_vec *v, const struct gaps *gaps)
{
	struct section *s =
		report_section(w->report, SECTION_PROSE, "causes", "What the silences wait for");
	bool is_told = gaps_tell(gaps, w->ends, s) > 0;

	for (size_t i = 0; i < v->nr && i < KINDS_SHOWN; i++) {
		if (!v->v[i].is_cause || v->v[i].sense == WAIT_IDLE)
			continue;
		is_told = true;
		object_tell_cause(s, w->ends, &w->waits, v->v[i].kind, &v->v[i].cause,
				  &w->waits.waits.v[v->v[i].longest]);
	}
	if (!is_told)
		section_say(s, NULL,
			    v->nr ? "No end of another object coincides with the ends of these "
				    "silences better than chance: what they wait for, or whether "
				    "it is work, the logs do not tell."
				  : "It is never silent for long.");
}

/* How long objects of its type live: the median. */
static int64_t usual_life(const struct why *w)
{
	VEC(int64_t) lives = { 0 };
	int64_t median;

	for (size_t i = 0; i < w->g->nr_objects; i++) {
		const struct object *o = &w->g->objects[i];

		if (o->type == w->o->type && object_has_time(o))
			vec_push(&lives, length_ns(o->first_ns, o->last_ns));
	}
	stats_sort(lives.v, lives.nr);
	median = stats_percentile(lives.v, lives.nr, 0.5);
	vec_done(&lives);
	return median;
}

static void say_object(struct why *w)
{
	struct section *s = report_section(w->report, SECTION_PROSE, "object", "");
	struct buf b = { 0 };
	size_t ups = object_nr_parents(w->k, w->object);

	buf_add(&b, w->g->types[w->o->type].name);
	buf_char(&b, ' ');
	object_name(w->g, w->o, &b);
	for (size_t i = 0; i < ups && i < 4; i++) {
		uint32_t up = w->k->parents[w->k->parent_first[w->object] + i];

		buf_add(&b, i ? STR(", ") : STR(" of "));
		object_name(w->g, &w->g->objects[up], &b);
	}
	buf_add(&b, STR(" lives "));
	time_span_text(&b, length_ns(w->o->first_ns, w->o->last_ns));
	buf_add(&b, STR(" (the median of its type is "));
	time_span_text(&b, usual_life(w));
	buf_add(&b, STR("), from "));
	time_text(&b, w->o->first_ns, 3);
	buf_add(&b, STR(" to "));
	time_text(&b, w->o->last_ns, 3);
	buf_fmt(&b, "; %llu lines name it, %llu of them errors.",
		(unsigned long long)w->o->nr_events, (unsigned long long)w->o->nr_errors);
	/* names may be long, and hold what a format would obey */
	section_say(s, NULL, STR_FMT, STR_ARG(buf_str(&b)));
	buf_done(&b);
}

int bottleneck_report(const struct object_kin *k, uint32_t object, struct report *report)
{
	struct why w = {
		.k = k, .g = k->g, .o = &k->g->objects[object], .object = object, .report = report
	};
	struct gaps gaps = { 0 };
	here_vec v = { 0 };

	if (!object_has_time(w.o)) {
		section_say(report_section(report, SECTION_PROSE, "object", ""), NULL,
			    "No line that names it tells a time.");
		return 1;
	}
	w.life_ns = (double)length_ns(w.o->first_ns, w.o->last_ns);
	say_object(&w);
	report_fills(&w);
	object_waits_find(&w.waits, k);
	w.ends = object_ends_new(k->g);
	find_here(&w, &v);
	gaps_report(&gaps, k, object, w.ends, report);
	report_waits(&w, &v);
	report_causes(&w, &v, &gaps);
	gaps_done(&gaps);
	report->losses.count[LOSS_SILENCES_LEFT] += w.waits.nr_left_out;
	vec_done(&v);
	object_ends_free(w.ends);
	object_waits_done(&w.waits);
	arena_done(&w.arena);
	return 0;
}
