/* culprit learn --show: what a model holds, in figures; with --table beside those of the paper. */
#include "cli/learn_show.h"
#include "report/report.h"
#include "report/shown.h"

enum { PAPER_NR = 4 };

/* A figure of the program, and the same in table 2 of the lprof paper; negative: not told there. */
struct figure {
	const char *name, *title;
	bool is_share;
	double paper[PAPER_NR];     /* HDFS, YARN, Cassandra, HBase */
	enum model_count count, of; /* a share, or a mean, of this */
	bool is_mean;
};

#define UNTOLD { -1, -1, -1, -1 }

static const struct figure figures[] = {
	{ "threads",
	  "methods that threads are begun with",
	  false,
	  { 44, 45, 92, 85 },
	  COUNT_THREADS,
	  0,
	  false },
	{ "threads_that_log",
	  "of these, with at least one log point *",
	  true,
	  { 0.95, 0.73, 0.74, 0.80 },
	  COUNT_THREADS_USUAL,
	  COUNT_THREADS,
	  false },
	{ "top_level_methods",
	  "methods where requests begin",
	  false,
	  { 167, 79, 74, 193 },
	  COUNT_TOPS,
	  0,
	  false },
	{ "top_level_methods_usual", "of these, with at least one log point *", false, UNTOLD,
	  COUNT_TOPS_USUAL, 0, false },
	{ "points", "log points", false, UNTOLD, COUNT_POINTS, 0, false },
	{ "points_with_identifier_all", "of these, with at least one identifier", true, UNTOLD,
	  COUNT_POINTS_ID, COUNT_POINTS, false },
	{ "points_usual", "log points *", false, UNTOLD, COUNT_USUAL, 0, false },
	{ "points_with_identifier",
	  "of these, with at least one identifier",
	  true,
	  { 0.79, 0.66, 0.45, 0.74 },
	  COUNT_USUAL_ID,
	  COUNT_USUAL,
	  false },
	{ "points_with_value", "of these, with any value at all", true, UNTOLD, COUNT_USUAL_VALUE,
	  COUNT_USUAL, false },
	{ "points_per_dag",
	  "log points * of an order, mean",
	  false,
	  { 8, 21, 21, 30 },
	  COUNT_DAG_USUAL,
	  COUNT_TOPS_USUAL,
	  true },
	{ "dag_nodes_mean", "nodes of an order, mean", false, UNTOLD, COUNT_DAG_NODES, COUNT_TOPS,
	  true },
	{ "dag_nodes_max", "nodes of an order, most", false, UNTOLD, COUNT_DAG_NODES_MAX, 0,
	  false },
};

enum {
	FIGURE,
	TITLE,
	VALUE,
	SHOWN,
	PAPER,
	PAPER_SHOWN = PAPER + PAPER_NR,
	NR = PAPER_SHOWN + PAPER_NR
};

static const struct column columns[NR] = {
	[FIGURE] = { "figure", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TITLE] = { NULL, "figure", CELL_TEXT, COLUMN_TEXT_ONLY },
	[VALUE] = { "value", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[SHOWN] = { NULL, "this program", CELL_TEXT, COLUMN_TEXT_ONLY },
	[PAPER] = { "paper_hdfs", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[PAPER + 1] = { "paper_yarn", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[PAPER + 2] = { "paper_cassandra", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[PAPER + 3] = { "paper_hbase", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[PAPER_SHOWN] = { NULL, "paper: HDFS", CELL_TEXT, COLUMN_TEXT_ONLY },
	[PAPER_SHOWN + 1] = { NULL, "YARN", CELL_TEXT, COLUMN_TEXT_ONLY },
	[PAPER_SHOWN + 2] = { NULL, "Cassandra", CELL_TEXT, COLUMN_TEXT_ONLY },
	[PAPER_SHOWN + 3] = { NULL, "HBase", CELL_TEXT, COLUMN_TEXT_ONLY },
};

static double value_of(const struct model_file *m, const struct figure *f)
{
	double value = (double)model_count(m, f->count);
	double of = (double)model_count(m, f->of);

	if (!f->is_share && !f->is_mean)
		return value;
	return of > 0 ? value / of : 0;
}

static void add_value(struct section *s, struct row *row, size_t number, size_t shown,
		      const struct figure *f, double value)
{
	struct buf b = { 0 };

	if (value < 0)
		return;
	row_double(s, row, number, value);
	if (f->is_share)
		buf_fmt(&b, "%.0f %%", 100 * value);
	else if (f->is_mean)
		buf_fmt(&b, "%.1f", value);
	else if (value < (double)(INT64_MAX / 2)) /* what a damaged model may claim is not */
		shown_count(&b, (int64_t)value);
	row_text(s, row, shown, buf_str(&b));
	buf_done(&b);
}

int learn_show_table(const struct model_file *m, struct report *r)
{
	struct section *s =
		report_table(r, "table", "the figures of table 2 of the lprof paper", columns, NR);

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		struct row *row = section_row(s);

		row_text(s, row, FIGURE, str_of(figures[i].name));
		row_text(s, row, TITLE, str_of(figures[i].title));
		add_value(s, row, VALUE, SHOWN, &figures[i], value_of(m, &figures[i]));
		for (size_t k = 0; k < PAPER_NR; k++)
			add_value(s, row, PAPER + k, PAPER_SHOWN + k, &figures[i],
				  figures[i].paper[k]);
	}
	s = report_section(r, SECTION_PROSE, "note", "");
	s->text_only = true;
	section_say(
		s, NULL,
		"* as in the paper: only log points of level info and above that do not stand in "
		"an exception handler.");
	return 0;
}

static const struct column input_columns[] = {
	{ "input", "input", CELL_TEXT, 0 },
	{ "classes", "classes", CELL_COUNT, 0 },
	{ "bytes", "bytes", CELL_COUNT, 0 },
};

int learn_show_summary(const struct model_file *m, struct report *r)
{
	struct section *s = report_table(r, "inputs", "learned from", input_columns, 3);

	s->text_only = true;
	for (uint32_t i = 0; i < model_nr_inputs(m); i++) {
		struct model_input in = model_input(m, i);
		struct row *row = section_row(s);

		row_text(s, row, 0, in.name);
		row_int(s, row, 1, in.nr_classes);
		row_int(s, row, 2, (int64_t)in.bytes);
	}
	learn_tell(m, r);
	return 0;
}
