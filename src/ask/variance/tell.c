#include "ask/variance/tell.h"

#include <inttypes.h>
#include <math.h>

#include "ask/length.h"
#include "ask/variance/tables.h"
#include "ask/variance/tree.h"
#include "base/buf.h"
#include "base/time.h"
#include "report/report.h"

#define FACTORS_SHOWN 12
#define LEAST_SHOWN 0.005 /* of the variance: for people */
#define NEARLY_ALL 0.85
#define MOST 0.5
#define PAIR_SAID 0.1

enum {
	FACTOR,
	NAME,
	SHARE,
	LOW,
	HIGH,
	SURE,
	CONTRIBUTION,
	SPECIFICITY,
	SCORE,
	HEIGHT,
	PLACES,
	PATH,
	MEAN,
	SD,
	NOISE,
	WAITS,
	WAITED,
	TAIL,
	INHERENT,
	WORK,
	WORK_SHARE,
	WITHOUT,
	P99_IF,
	IF_P99,
	IF_SD,
	NOTE
};

static const struct column factor_columns[] = {
	[FACTOR] = { "factor", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[NAME] = { NULL, "factor", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[SHARE] = { "share", "share", CELL_SHARE, 0 },
	[LOW] = { "low", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[HIGH] = { "high", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[SURE] = { NULL, "95 %", CELL_TEXT, COLUMN_TEXT_ONLY },
	[CONTRIBUTION] = { "contribution", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[SPECIFICITY] = { "specificity", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[SCORE] = { "score", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[HEIGHT] = { "height", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[PLACES] = { "places", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[PATH] = { "path", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[MEAN] = { "mean", "mean", CELL_DURATION, COLUMN_OPTIONAL },
	[SD] = { "sd", "sd", CELL_DURATION, COLUMN_OPTIONAL },
	[NOISE] = { "noise", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
	[WAITS] = { "waits", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL | COLUMN_OBJECT },
	[WAITED] = { "waited", "waiting", CELL_SHARE, COLUMN_OPTIONAL },
	[TAIL] = { "tail", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL | COLUMN_OBJECT },
	[INHERENT] = { "inherent", NULL, CELL_BOOL, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WORK] = { "work", NULL, CELL_TEXT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WORK_SHARE] = { "work_share", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[WITHOUT] = { "variance_if", NULL, CELL_NUMBER, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[P99_IF] = { "p99_if", "p99 if constant", CELL_DURATION, COLUMN_OPTIONAL },
	[IF_P99] = { "if_p99", NULL, CELL_SPARK, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[IF_SD] = { "if_sd", NULL, CELL_SPARK, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[NOTE] = { NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

/* --- rows ------------------------------------------------------------------------------------ */

static const char *wait_words(enum wait_why why)
{
	static const char *const words[NR_WAITS] = {
		[WAIT_CPU] = "for a processor",    [WAIT_LOCK] = "for a lock",
		[WAIT_QUEUE] = "in a queue",       [WAIT_IO] = "for input or output",
		[WAIT_SLEEP] = "for time to pass", [WAIT_GC] = "for the collection of garbage",
	};

	return words[why] ? words[why] : "for something";
}

/* The one reason that most of the waiting is for; NONE where none stands out. */
static enum wait_why main_wait(const double *waits, double *share)
{
	enum wait_why most = WAIT_NONE;

	*share = 0;
	for (int why = WAIT_CPU; why < NR_WAITS; why++)
		if (waits[why] > *share) {
			*share = waits[why];
			most = (enum wait_why)why;
		}
	return most;
}

/* Its name says it already. */
static bool is_wait(const struct variance_factor *f)
{
	return str_starts(f->name[0], STR("wait:"));
}

static void add_note(struct buf *b, const char *note)
{
	if (b->n)
		buf_add(b, STR(", "));
	buf_add(b, str_of(note));
}

static void row_note(struct section *s, struct row *row, const struct variance_factor *f)
{
	struct buf note = { 0 };
	double share;
	enum wait_why why = main_wait(f->waits, &share);

	if (f->name[1].n)
		add_note(&note, f->share < 0 ? "make up for each other" : "vary together");
	if (share >= MOST && !is_wait(f)) {
		add_note(&note, "waits ");
		buf_add(&note, str_of(wait_words(why)));
	}
	if (f->is_inherent) {
		add_note(&note, "goes with ");
		buf_add(&note, f->work_name);
	}
	if (f->is_noise)
		add_note(&note, isnan(f->low) ? "too few to be sure" : "not told from noise");
	if (f->nr_places > 1) {
		add_note(&note, "");
		buf_fmt(&note, "%zu places", f->nr_places);
	}
	row_text(s, row, NOTE, buf_str(&note));
	buf_done(&note);
}

static void row_leaf(struct section *s, struct row *row, const struct variance_factor *f,
		     size_t nr_steps)
{
	row_int(s, row, MEAN, length_of(f->mean));
	row_int(s, row, SD, length_of(f->sd));
	tables_waits(s, row, WAITS, f->waits);
	if (f->waited > 0)
		row_double(s, row, WAITED, f->waited);
	tables_tail(s, row, TAIL, &f->tail);
	row_int(s, row, INHERENT, f->is_inherent);
	if (f->work > 0) {
		row_text(s, row, WORK, f->work_name);
		row_double(s, row, WORK_SHARE, f->work);
	}
	if (f->has_if) {
		row_double(s, row, WITHOUT, f->variance_if);
		row_int(s, row, P99_IF, f->p99_if);
	}
	if (f->if_p99) {
		row_spark(s, row, IF_P99, f->if_p99, nr_steps + 1);
		row_spark(s, row, IF_SD, f->if_sd, nr_steps + 1);
	}
}

static void row_name(struct section *s, struct row *row, const struct variance_factor *f)
{
	struct section *in = row_rows(s, row, FACTOR, bare, 1);

	row_text(in, section_row(in), 0, f->name[0]);
	if (f->name[1].n)
		row_text(in, section_row(in), 0, f->name[1]);
	row_fmt(s, row, NAME, STR_FMT "%s" STR_FMT, STR_ARG(f->name[0]),
		f->name[1].n ? " with " : "", STR_ARG(f->name[1]));
}

static void add_factor(struct section *s, const struct variance_factor *f, size_t nr_steps)
{
	struct row *row = section_row(s);
	int digits = fabs(f->share) < 0.1;

	row_name(s, row, f);
	row_double(s, row, SHARE, f->share);
	row_double(s, row, CONTRIBUTION, f->contribution);
	row_double(s, row, SPECIFICITY, f->specificity);
	row_double(s, row, SCORE, f->score);
	row_int(s, row, HEIGHT, f->height);
	row_int(s, row, PLACES, (int64_t)f->nr_places);
	row_text(s, row, PATH, f->path);
	row_int(s, row, NOISE, f->is_noise);
	if (!isnan(f->low)) {
		row_double(s, row, LOW, f->low);
		row_double(s, row, HIGH, f->high);
		row_fmt(s, row, SURE, "%.*f to %.*f %%", digits, 100 * f->low, digits,
			100 * f->high);
	}
	if (!f->name[1].n)
		row_leaf(s, row, f, nr_steps);
	row_note(s, row, f);
}

static bool is_wanted(const struct variance_factor *f, const struct variance_telling *how)
{
	double least = how->min_share;

	if (how->for_people && !how->top && least < LEAST_SHOWN)
		least = LEAST_SHOWN;
	return !(fabs(f->share) < least);
}

/* Where some are left out, their sum is told, so that shares still add up. */
static void add_factors(const struct variance_answer *a, const struct variance_telling *how,
			struct report *report)
{
	struct section *s =
		report_table(report, "factors", "Where the variance comes from", factor_columns,
			     sizeof(factor_columns) / sizeof(*factor_columns));
	size_t most = how->top ? how->top : how->for_people ? FACTORS_SHOWN : SIZE_MAX;
	double rest = 0;

	for (size_t i = 0; i < a->nr_factors; i++) {
		const struct variance_factor *f = &a->factors[i];

		if (s->rows.nr < most && is_wanted(f, how)) {
			add_factor(s, f, how->nr_steps);
			s->rows.v[s->rows.nr - 1].strong = s->rows.nr == 1;
		} else {
			rest += f->share;
			s->nr_left_out++;
		}
	}
	if (s->nr_left_out) {
		static const struct column rest_columns[] = {
			{ "rest", NULL, CELL_COUNT, 0 },
			{ "share", NULL, CELL_SHARE, 0 },
		};
		struct section *in = report_table(report, "rest", "", rest_columns, 2);
		struct row *row = section_row(in);

		in->json_only = true;
		row_int(in, row, 0, (int64_t)s->nr_left_out);
		row_double(in, row, 1, rest);
	}
}

/* --- in words -------------------------------------------------------------------------------- */

static const struct column summary_columns[] = {
	{ "summary", NULL, CELL_TEXT, 0 },        { "intervals", NULL, CELL_COUNT, 0 },
	{ "mean", NULL, CELL_DURATION, 0 },       { "sd", NULL, CELL_DURATION, 0 },
	{ "variance", NULL, CELL_NUMBER, 0 },     { "p50", NULL, CELL_DURATION, 0 },
	{ "p99", NULL, CELL_DURATION, 0 },        { "slow_mean", NULL, CELL_DURATION, 0 },
	{ "usual_mean", NULL, CELL_DURATION, 0 }, { "height", NULL, CELL_COUNT, 0 },
	{ "sampled", NULL, CELL_COUNT, 0 },       { "culprit", NULL, CELL_TEXT, COLUMN_OPTIONAL },
};

/* The first that is no pair and is sure; where none is, the first that is no pair. */
static const struct variance_factor *culprit_of(const struct variance_answer *a)
{
	const struct variance_factor *first = NULL;

	for (size_t i = 0; i < a->nr_factors; i++) {
		const struct variance_factor *f = &a->factors[i];

		if (f->name[1].n || f->share <= 0)
			continue;
		if (!f->is_noise)
			return f;
		first = first ? first : f;
	}
	return first;
}

static void say_whole(struct buf *b, const struct variance_answer *a, const char *unit)
{
	buf_fmt(b, "'" STR_FMT "' (%" PRIu64 " %s, mean ", STR_ARG(a->name), a->nr, unit);
	time_span_text(b, length_of(a->mean));
	buf_add(b, STR(", sd "));
	time_span_text(b, length_of(a->sd));
	buf_add(b, STR(", p99 "));
	time_span_text(b, a->p99);
	buf_char(b, ')');
}

static void say_kind(struct buf *b, const struct variance_factor *f)
{
	double share;
	enum wait_why why = main_wait(f->waits, &share);

	if (is_wait(f))
		return;
	if (share >= NEARLY_ALL)
		buf_fmt(b, ", nearly all of it waiting %s", wait_words(why));
	else if (share >= MOST)
		buf_fmt(b, ", most of it waiting %s", wait_words(why));
	else if (f->is_inherent)
		buf_fmt(b, ", which goes with the amount of work (" STR_FMT " explains %.0f %%)",
			STR_ARG(f->work_name), 100 * f->work);
}

/* What a function does itself is the function where nothing else of it is worth telling. */
static bool is_all_of_it(const struct variance_answer *a, const struct variance_factor *f,
			 struct str function)
{
	double all = 0;

	for (size_t i = 0; i < a->nr_places; i++)
		if (a->places[i].parent != UINT32_MAX && str_eq(a->places[i].name, function))
			all += a->places[i].of_variance;
	return all > 0 && f->share >= NEARLY_ALL * all;
}

static void say_name(struct buf *b, const struct variance_answer *a,
		     const struct variance_factor *f)
{
	struct str function = f->name[0];

	if (!str_starts(function, STR("body:"))) {
		buf_add(b, function);
		return;
	}
	function = str_skip(function, strlen("body:"));
	if (!is_all_of_it(a, f, function))
		buf_add(b, STR("what "));
	buf_add(b, function);
	if (!is_all_of_it(a, f, function))
		buf_add(b, STR(" does itself"));
}

/* The last callers that have a name tell where it is, in a program that one knows. */
static void say_where(struct buf *b, const struct variance_factor *f)
{
	struct str left = f->path, callers[2] = { { 0 } };
	struct str own =
		str_starts(f->name[0], STR("body:")) ? str_skip(f->name[0], 5) : f->name[0];
	bool is_root = true;

	while (left.n) {
		const char *end = memmem(left.p, left.n, " > ", 3);
		struct str name = end ? str_head(left, (size_t)(end - left.p)) : left;

		left = end ? str_skip(left, name.n + 3) : STR("");
		if (!is_root && left.n && !memmem(name.p, name.n, "+0x", 3) && !str_eq(name, own)) {
			callers[0] = callers[1];
			callers[1] = name;
		}
		is_root = false;
	}
	if (!callers[1].n)
		return;
	buf_add(b, STR(" (in "));
	if (callers[0].n)
		buf_fmt(b, STR_FMT " > ", STR_ARG(callers[0]));
	buf_fmt(b, STR_FMT ")", STR_ARG(callers[1]));
}

static void say_culprit(struct buf *b, const struct variance_answer *a,
			const struct variance_factor *f, const char *unit)
{
	double share = f->share > 1 ? 1 : f->share;

	buf_fmt(b, "%.0f %% of the variance of ", 100 * share);
	say_whole(b, a, unit);
	buf_fmt(b, " %s ", f->is_noise ? "may come from" : "comes from");
	say_name(b, a, f);
	say_where(b, f);
	say_kind(b, f);
	if (f->has_if && f->p99_if < a->p99) {
		buf_add(b, STR("; if it were constant, p99 would be "));
		time_span_text(b, f->p99_if);
	}
	buf_char(b, '.');
	if (f->is_noise && isnan(f->low))
		buf_fmt(b, " There are too few %s to be sure.", unit);
	else if (f->is_noise)
		buf_add(b, STR(" This cannot be told from noise."));
}

/* What varies together may be more than what varies by itself. */
static void say_pair(struct buf *b, const struct variance_answer *a)
{
	const struct variance_factor *most = NULL;

	for (size_t i = 0; i < a->nr_factors; i++) {
		const struct variance_factor *f = &a->factors[i];

		if (f->name[1].n && !f->is_noise && (!most || f->share > most->share))
			most = f;
	}
	if (most && most->share >= PAIR_SAID)
		buf_fmt(b, " A further %.0f %% is that " STR_FMT " and " STR_FMT " vary together.",
			100 * most->share, STR_ARG(most->name[0]), STR_ARG(most->name[1]));
}

static void add_summary(const struct variance_answer *a, const struct variance_telling *how,
			struct report *report)
{
	struct section *s = report_section(report, SECTION_PROSE, "summary", "");
	const struct variance_factor *f = a->variance > 0 ? culprit_of(a) : NULL;
	const char *unit = how->unit ? how->unit : "intervals";
	struct buf text = { 0 };
	struct section *facts;
	struct prose *p;
	struct row *row;

	if (f) {
		say_culprit(&text, a, f, unit);
		say_pair(&text, a);
	} else {
		say_whole(&text, a, unit);
		buf_add(&text, STR(" does not vary."));
	}
	p = section_say(s, NULL, STR_FMT, STR_ARG(buf_str(&text)));
	p->confidence = -1;
	p->facts = facts = section_facts(s, summary_columns,
					 sizeof(summary_columns) / sizeof(*summary_columns));
	row = section_row(facts);
	row_text(facts, row, 0, a->name);
	row_int(facts, row, 1, (int64_t)a->nr);
	row_int(facts, row, 2, length_of(a->mean));
	row_int(facts, row, 3, length_of(a->sd));
	row_double(facts, row, 4, a->variance);
	row_int(facts, row, 5, a->p50);
	row_int(facts, row, 6, a->p99);
	row_int(facts, row, 7, length_of(a->slow_mean));
	row_int(facts, row, 8, length_of(a->usual_mean));
	row_int(facts, row, 9, a->height);
	row_int(facts, row, 10, (int64_t)a->nr_kept);
	if (f)
		row_text(facts, row, 11, f->name[0]);
	buf_done(&text);
}

int variance_tell(const struct variance_answer *a, const struct variance_tree *t,
		  const struct variance_telling *how, struct report *report)
{
	if (!a->nr) {
		struct section *s = report_section(report, SECTION_PROSE, "summary", "");

		section_say(s, NULL, "There is nothing to tell the variance of.");
		return 1;
	}
	add_summary(a, how, report);
	if (a->variance <= 0)
		return 1;
	add_factors(a, how, report);
	tables_tree(a, how, report);
	if (how->tail || (how->for_people && a->slow_mean > 1.5 * a->usual_mean))
		tables_slowest(a, how, report);
	if (how->what_if.n && t)
		tables_what_if(t, how, report);
	return 0;
}
