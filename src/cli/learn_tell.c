#include "base/buf.h"
#include "cli/learn_show.h"
#include "report/report.h"
#include "report/shown.h"

enum { CLASSES, METHODS, POINTS, POINTS_ID, TOPS, PAIRS, NR };

static const struct column columns[NR] = {
	[CLASSES] = { "classes", NULL, CELL_COUNT, 0 },
	[METHODS] = { "methods", NULL, CELL_COUNT, 0 },
	[POINTS] = { "points", NULL, CELL_COUNT, 0 },
	[POINTS_ID] = { "points_with_identifier", NULL, CELL_COUNT, 0 },
	[TOPS] = { "top_level_methods", NULL, CELL_COUNT, 0 },
	[PAIRS] = { "pairs", NULL, CELL_COUNT, 0 },
};

static void add_counted(struct buf *b, uint64_t n, const char *one, const char *many)
{
	shown_count(b, (int64_t)n);
	buf_fmt(b, " %s", n == 1 ? one : many);
}

static void say(struct section *s, const char *word, struct buf *b)
{
	section_say(s, word, STR_FMT, STR_ARG(buf_str(b)));
	buf_clear(b);
}

/* ": 834 by identifiers, 133 run by threads" */
static void tell_reasons(const struct model_file *m, struct buf *b)
{
	static const char *const reasons[] = { "by identifiers", "run by threads",
					       "called by what was not given",
					       "answering other processes", "for want of another" };
	const char *before = ": ";

	for (unsigned i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		uint64_t nr = model_count(m, COUNT_TOPS_DROP + i);

		if (!nr)
			continue;
		buf_add(b, str_of(before));
		shown_count(b, (int64_t)nr);
		buf_fmt(b, " %s", reasons[i]);
		before = ", ";
	}
}

static void tell_people(const struct model_file *m, struct section *s)
{
	uint64_t points = model_count(m, COUNT_POINTS), ids = model_count(m, COUNT_POINTS_ID);
	struct buf b = { 0 };

	add_counted(&b, model_nr_inputs(m), "jar or folder", "jars or folders");
	add_counted((buf_add(&b, STR(", ")), &b), model_count(m, COUNT_CLASSES), "class",
		    "classes");
	add_counted((buf_add(&b, STR(", ")), &b), model_count(m, COUNT_METHODS), "method",
		    "methods");
	say(s, "read", &b);
	add_counted(&b, points, "log point", "log points");
	if (points)
		buf_fmt(&b, ", %.0f %% of them with an identifier",
			100 * (double)ids / (double)points);
	say(s, "points", &b);
	add_counted(&b, model_count(m, COUNT_TOPS), "method where requests begin",
		    "methods where requests begin");
	tell_reasons(m, &b);
	say(s, "begin", &b);
	add_counted(&b, model_nr_pairs(m), "pair of methods that talk to each other",
		    "pairs of methods that talk to each other");
	say(s, "pairs", &b);
	buf_done(&b);
}

void learn_tell(const struct model_file *m, struct report *r)
{
	struct section *s = report_section(r, SECTION_STEPS, "learned", "");
	struct row *row;

	s->text_only = true;
	tell_people(m, s);
	s = report_table(r, "model", "", columns, NR);
	s->json_only = true;
	row = section_row(s);
	row_int(s, row, CLASSES, (int64_t)model_count(m, COUNT_CLASSES));
	row_int(s, row, METHODS, (int64_t)model_count(m, COUNT_METHODS));
	row_int(s, row, POINTS, (int64_t)model_count(m, COUNT_POINTS));
	row_int(s, row, POINTS_ID, (int64_t)model_count(m, COUNT_POINTS_ID));
	row_int(s, row, TOPS, (int64_t)model_count(m, COUNT_TOPS));
	row_int(s, row, PAIRS, model_nr_pairs(m));
}
