#include "ask/variance/tables.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "ask/variance/tell.h"
#include "report/report.h"

#define FACTORS_SHOWN 12
#define PLACES_SHOWN 25
#define LEAST_SHOWN 0.005 /* of the variance: for people */
#define STEPS 4           /* of what-if */

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

static const struct column wait_columns[NR_WAITS] = {
	[WAIT_NONE] = { NULL, NULL, CELL_SHARE, COLUMN_TEXT_ONLY },
	[WAIT_CPU] = { "cpu", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_LOCK] = { "lock", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_QUEUE] = { "queue", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_IO] = { "io", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_SLEEP] = { "sleep", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_OTHER] = { "other", NULL, CELL_SHARE, COLUMN_OPTIONAL },
	[WAIT_GC] = { "gc", NULL, CELL_SHARE, COLUMN_OPTIONAL },
};

static const struct column tail_columns[] = {
	{ "slow", NULL, CELL_DURATION, 0 },
	{ "usual", NULL, CELL_DURATION, 0 },
	{ "share", NULL, CELL_NUMBER, 0 },
};

void tables_waits(struct section *s, struct row *row, size_t column, const double *waits)
{
	struct section *in = NULL;
	struct row *one = NULL;

	for (int why = WAIT_CPU; why < NR_WAITS; why++) {
		if (!waits[why])
			continue;
		if (!in) {
			in = row_rows(s, row, column, wait_columns, NR_WAITS);
			one = section_row(in);
		}
		row_double(in, one, (size_t)why, waits[why]);
	}
}

void tables_tail(struct section *s, struct row *row, size_t column, const struct variance_tail *t)
{
	struct section *in = row_rows(s, row, column, tail_columns, 3);
	struct row *one = section_row(in);

	row_int(in, one, 0, length_of(t->slow));
	row_int(in, one, 1, length_of(t->usual));
	row_double(in, one, 2, t->share);
}

/* --- the tree -------------------------------------------------------------------------------- */

enum {
	P_INNER,
	P_PLACE,
	P_NAME,
	P_PARENT,
	P_OF,
	P_EXPLAINS,
	P_MEAN,
	P_SD,
	P_CALLS,
	P_HEIGHT,
	P_SPECIFICITY,
	P_SCORE,
	P_WAITS,
	P_TAIL
};

static const struct column place_columns[] = {
	[P_INNER] = { "inner", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[P_PLACE] = { "place", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[P_NAME] = { "name", "place", CELL_TEXT, COLUMN_INDENT | COLUMN_WIDE },
	[P_PARENT] = { "parent", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[P_OF] = { "of_variance", "variance", CELL_SHARE, 0 },
	[P_EXPLAINS] = { "explains", "explains", CELL_SHARE, 0 },
	[P_MEAN] = { "mean", "mean", CELL_DURATION, 0 },
	[P_SD] = { "sd", "sd", CELL_DURATION, 0 },
	[P_CALLS] = { "calls", "calls", CELL_NUMBER, COLUMN_OPTIONAL },
	[P_HEIGHT] = { "height", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[P_SPECIFICITY] = { "specificity", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[P_SCORE] = { "score", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[P_WAITS] = { "waits", NULL, CELL_ROWS,
		      COLUMN_JSON_ONLY | COLUMN_OPTIONAL | COLUMN_OBJECT },
	[P_TAIL] = { "tail", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL | COLUMN_OBJECT },
};

static void add_place(struct section *s, const struct variance_answer *a, size_t i)
{
	const struct variance_place *p = &a->places[i];
	struct row *row = section_row(s);

	row->depth = p->depth;
	if (p->is_inner) {
		struct section *in = row_rows(s, row, P_INNER, bare, 1);

		row_text(in, section_row(in), 0, p->name);
	}
	row_int(s, row, P_PLACE, (int64_t)i);
	row_text(s, row, P_NAME, p->name);
	if (p->parent != UINT32_MAX)
		row_int(s, row, P_PARENT, p->parent);
	row_double(s, row, P_OF, p->of_variance);
	row_double(s, row, P_EXPLAINS, p->explains);
	row_int(s, row, P_MEAN, length_of(p->mean));
	row_int(s, row, P_SD, length_of(p->sd));
	if (p->calls > 0)
		row_double(s, row, P_CALLS, p->calls);
	row_int(s, row, P_HEIGHT, p->height);
	row_double(s, row, P_SPECIFICITY, p->specificity);
	row_double(s, row, P_SCORE, p->score);
	tables_waits(s, row, P_WAITS, p->waits);
	tables_tail(s, row, P_TAIL, &p->tail);
}

/* For scripts the inner nodes, or with --tree all; for people the largest, or with --tree all. */
void tables_tree(const struct variance_answer *a, const struct variance_telling *how,
		 struct report *report)
{
	struct section *s = report_table(report, "tree", "The tree", place_columns,
					 sizeof(place_columns) / sizeof(*place_columns));

	for (size_t i = 0; i < a->nr_places; i++) {
		const struct variance_place *p = &a->places[i];
		bool wanted = how->tree || (how->for_people ? p->of_variance >= LEAST_SHOWN &&
								      s->rows.nr < PLACES_SHOWN
							    : p->is_inner);

		if (wanted)
			add_place(s, a, i);
		else
			s->nr_left_out += how->for_people;
	}
}

/* --- the slowest ----------------------------------------------------------------------------- */

static const struct column slowest_columns[] = {
	{ "tail_factor", "in the slowest", CELL_TEXT, COLUMN_WIDE },
	{ "slow", "slowest 1 %", CELL_DURATION, 0 },
	{ "usual", "usual", CELL_DURATION, 0 },
	{ "of_gap", "share of the difference", CELL_SHARE, 0 },
};

static int largest_gap(const void *a, const void *b)
{
	const struct variance_factor *x = *(const struct variance_factor *const *)a,
				     *y = *(const struct variance_factor *const *)b;

	if (x->tail.share != y->tail.share)
		return x->tail.share > y->tail.share ? -1 : 1;
	return str_cmp(x->path, y->path);
}

void tables_slowest(const struct variance_answer *a, const struct variance_telling *how,
		    struct report *report)
{
	struct section *s = report_table(report, "tail", "The slowest against the usual ones",
					 slowest_columns, 4);
	const struct variance_factor **v = mem_alloc(mem_bytes(a->nr_factors + 1, sizeof(*v)));
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_factors; i++)
		if (!a->factors[i].name[1].n)
			v[nr++] = &a->factors[i];
	qsort(v, nr, sizeof(*v), largest_gap);
	for (size_t i = 0; i < nr; i++) {
		struct row *row;

		if (how->for_people &&
		    (i >= FACTORS_SHOWN || fabs(v[i]->tail.share) < LEAST_SHOWN)) {
			s->nr_left_out++;
			continue;
		}
		row = section_row(s);
		row_text(s, row, 0, v[i]->name[0]);
		row_int(s, row, 1, length_of(v[i]->tail.slow));
		row_int(s, row, 2, length_of(v[i]->tail.usual));
		row_double(s, row, 3, v[i]->tail.share);
	}
	free(v);
}

/* --- what if --------------------------------------------------------------------------------- */

static const struct column if_columns[] = {
	{ "what_if", "if", CELL_TEXT, 0 },    { "kept", "variation kept", CELL_SHARE, 0 },
	{ "at", "around its", CELL_TEXT, 0 }, { "mean", "mean", CELL_DURATION, 0 },
	{ "sd", "sd", CELL_DURATION, 0 },     { "p50", "p50", CELL_DURATION, 0 },
	{ "p99", "p99", CELL_DURATION, 0 },   { "variance", "variance", CELL_SHARE, 0 },
};

static void add_if(struct section *s, const struct variance_telling *how,
		   const struct variance_if *now, const struct variance_if *then, bool at_mean)
{
	struct row *row = section_row(s);

	row_text(s, row, 0, how->what_if);
	row_double(s, row, 1, then->kept);
	row_text(s, row, 2, at_mean ? STR("mean") : STR("median"));
	row_int(s, row, 3, length_of(then->mean));
	row_int(s, row, 4, length_of(then->sd));
	row_int(s, row, 5, then->p50);
	row_int(s, row, 6, then->p99);
	row_double(s, row, 7, now->sd > 0 ? then->sd * then->sd / (now->sd * now->sd) : 0);
}

void tables_what_if(const struct variance_tree *t, const struct variance_telling *how,
		    struct report *report)
{
	struct section *s = report_table(report, "what_if", "What if it varied less", if_columns,
					 sizeof(if_columns) / sizeof(*if_columns));
	struct variance_if now, then;

	if (!variance_what_if(t, how->what_if, 1, false, &now))
		return;
	for (int i = STEPS; i >= 0; i--)
		if (variance_what_if(t, how->what_if, (double)i / STEPS, false, &then))
			add_if(s, how, &now, &then, false);
	if (variance_what_if(t, how->what_if, 0, true, &then))
		add_if(s, how, &now, &then, true);
}
