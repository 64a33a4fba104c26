/*
 * The variance of each run is the sum of its factors (ask/variance/factors.h), so that the
 * difference of both variances is the sum of the differences of the factors, by their names.
 */
#include "ask/variances.h"

#include <math.h>
#include <stdlib.h>

#include "ask/contrast.h"
#include "ask/length.h"
#include "ask/variance/factors.h"
#include "ask/varying.h"
#include "base/map.h"
#include "base/time.h"
#include "report/report.h"
#include "store/store.h"

#define ROWS_SHOWN 12
#define LEAST_SHOWN 0.005

/* A factor of either run. */
struct varied {
	struct str name[2];
	double contribution[SIDES], share[SIDES];
	double of_difference;
};

struct sides {
	struct varying v[SIDES];
	struct variance_answer a[SIDES];
	struct arena arena;
	struct names names;
	struct map by_name; /* 1 + place in all */
	VEC(struct varied) all;
};

static void sides_done(struct sides *s)
{
	for (int i = 0; i < SIDES; i++)
		varying_done(&s->v[i]);
	arena_done(&s->arena);
	names_done(&s->names);
	map_done(&s->by_name);
	vec_done(&s->all);
}

static double variance_of(const struct type_stat *t)
{
	return t->timings.nr ? varying_squares(t) / (double)t->timings.nr : 0;
}

/* The type that both have and whose variance, over all its requests, differs most. */
static bool find_type(struct sides *s)
{
	double largest = -1;

	vec_each (&s->v[0].types.order, i) {
		const struct type_stat *x = &s->v[0].types.v.v[*i], *y;
		uint32_t other = types_find(&s->v[1].types, x->name);
		double change;

		if (other == TYPE_NONE)
			continue;
		y = &s->v[1].types.v.v[other];
		change = fabs(variance_of(y) - variance_of(x)) *
			 (double)(x->timings.nr + y->timings.nr);
		if (change <= largest)
			continue;
		largest = change;
		s->v[0].type = *i;
		s->v[1].type = other;
	}
	return largest >= 0;
}

/* Steps are named alike in both: what is learned of one holds for the other. */
static int see_both(struct sides *s, struct store *const *runs, struct error *err)
{
	const struct variance_options o = { .min_share = 0.01 };
	int r = 0;

	for (int i = 0; i < SIDES && r >= 0; i++)
		for (int k = 0; k < SIDES && r >= 0; k++)
			r = varying_learn(&s->v[i], &s->v[k], runs[k], err);
	for (int i = 0; i < SIDES && r >= 0; i++) {
		r = varying_see(&s->v[i], runs[i], err);
		if (r >= 0)
			variance_answer(s->v[i].tree, &o, &s->arena, &s->a[i]);
	}
	return r;
}

static void gather(struct sides *s, int side)
{
	for (size_t i = 0; i < s->a[side].nr_factors; i++) {
		const struct variance_factor *f = &s->a[side].factors[i];
		uint64_t *at = map_at(&s->by_name, map_pair(1 + names_add(&s->names, f->name[0]),
							    names_add(&s->names, f->name[1])));

		if (!*at) {
			vec_push(&s->all, (struct varied){ .name = { f->name[0], f->name[1] } });
			*at = s->all.nr;
		}
		s->all.v[*at - 1].contribution[side] = f->contribution;
		s->all.v[*at - 1].share[side] = f->share;
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct varied *x = a, *y = b;
	int names;

	if (x->of_difference != y->of_difference)
		return x->of_difference > y->of_difference ? -1 : 1;
	names = str_cmp(x->name[0], y->name[0]);
	return names ? names : str_cmp(x->name[1], y->name[1]);
}

static void compare(struct sides *s)
{
	double difference = s->a[1].variance - s->a[0].variance;

	gather(s, 0);
	gather(s, 1);
	vec_each (&s->all, f)
		if (difference != 0)
			f->of_difference = (f->contribution[1] - f->contribution[0]) / difference;
	qsort(s->all.v, s->all.nr, sizeof(*s->all.v), largest_first);
}

/* --- telling --------------------------------------------------------------------------------- */

enum { WHAT, TYPE, FACTOR, NAME, BEFORE, AFTER, DELTA, SHARE0, SHARE1, SHARE };

static const struct column columns[] = {
	[WHAT] = { "what", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TYPE] = { "type", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[FACTOR] = { "factor", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[NAME] = { "name", "factor", CELL_TEXT, COLUMN_WIDE },
	[BEFORE] = { "before", NULL, CELL_NUMBER, COLUMN_JSON_ONLY }, /* ns² */
	[AFTER] = { "after", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[DELTA] = { "delta", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[SHARE0] = { "share_before", "of the variance", CELL_SHARE, 0 },
	[SHARE1] = { "share_after", "after", CELL_SHARE, 0 },
	[SHARE] = { "share", "of the difference", CELL_SHARE, 0 },
};

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

static void add_row(struct section *t, const struct sides *s, const struct varied *f)
{
	struct row *row = section_row(t);
	struct section *in = row_rows(t, row, FACTOR, bare, 1);

	row_text(t, row, WHAT, STR("factor"));
	row_text(t, row, TYPE, s->a[0].name);
	row_text(in, section_row(in), 0, f->name[0]);
	if (f->name[1].n)
		row_text(in, section_row(in), 0, f->name[1]);
	row_fmt(t, row, NAME, STR_FMT "%s" STR_FMT, STR_ARG(f->name[0]),
		f->name[1].n ? " with " : "", STR_ARG(f->name[1]));
	row_double(t, row, BEFORE, f->contribution[0]);
	row_double(t, row, AFTER, f->contribution[1]);
	row_double(t, row, DELTA, f->contribution[1] - f->contribution[0]);
	row_double(t, row, SHARE0, f->share[0]);
	row_double(t, row, SHARE1, f->share[1]);
	row_double(t, row, SHARE, f->of_difference);
}

static void say(const struct sides *s, struct report *report)
{
	struct section *t = report_section(report, SECTION_PROSE, "answer", "");
	struct buf text = { 0 };

	t->text_only = true;
	buf_fmt(&text, "The standard deviation of " STR_FMT " is ", STR_ARG(s->a[0].name));
	time_span_text(&text, length_of(s->a[1].sd));
	buf_add(&text, STR(", "));
	time_span_text(&text, length_of(s->a[0].sd));
	buf_add(&text, STR(" before"));
	for (size_t i = 0; i < s->all.nr; i++) {
		const struct varied *f = &s->all.v[i];

		if (f->name[1].n || f->of_difference <= 0)
			continue;
		buf_fmt(&text, "; %.0f %% of the difference of the variances is " STR_FMT,
			100 * (f->of_difference > 1 ? 1 : f->of_difference), STR_ARG(f->name[0]));
		break;
	}
	section_say(t, NULL, STR_FMT ".", STR_ARG(buf_str(&text)))->confidence = -1;
	buf_done(&text);
}

static void tell(const struct sides *s, bool for_people, struct report *report)
{
	struct section *t = report_table(report, "factors", "What changed of the variance", columns,
					 sizeof(columns) / sizeof(*columns));

	vec_each (&s->all, f) {
		if (for_people &&
		    (t->rows.nr == ROWS_SHOWN || fabs(f->of_difference) < LEAST_SHOWN)) {
			t->nr_left_out++;
			continue;
		}
		add_row(t, s, f);
		t->rows.v[t->rows.nr - 1].strong = t->rows.nr == 1;
	}
	say(s, report);
}

int variances_diff(struct store *const *runs, const struct request_filter *filters, bool for_people,
		   struct report *report, struct error *err)
{
	struct sides s = { 0 };
	int r = 0;

	for (int i = 0; i < SIDES && r >= 0; i++)
		r = varying_collect(&s.v[i], runs[i], &filters[i], err);
	if (r >= 0 && find_type(&s)) {
		r = see_both(&s, runs, err);
		if (r >= 0 && s.a[0].nr && s.a[1].nr) {
			compare(&s);
			tell(&s, for_people, report);
			r = s.a[0].variance == s.a[1].variance;
		}
	} else if (r >= 0) {
		section_say(report_section(report, SECTION_PROSE, "answer", ""), NULL,
			    "No type of request is in both runs.");
		r = 1;
	}
	sides_done(&s);
	return r;
}
