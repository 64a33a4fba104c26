/* culprit learn --show --points: every log point with its patterns. */
#include "cli/learn_show.h"
#include "report/report.h"

enum {
	POINT,
	SHORT,
	CLASS,
	METHOD,
	FILE_NAME,
	LINE,
	LEVEL,
	LOGGER,
	PATTERNS,
	HOLES,
	HAS_ERROR,
	EXCEPTIONAL,
	COMMON,
	BEGINS,
	TEXT,
	NR
};

static const struct column columns[NR] = {
	[POINT] = { "point", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[SHORT] = { NULL, "log point", CELL_TEXT, COLUMN_TEXT_ONLY },
	[CLASS] = { "class", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[METHOD] = { "method", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[FILE_NAME] = { "file", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[LINE] = { "line", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[LEVEL] = { "level", "level", CELL_TEXT, 0 },
	[LOGGER] = { "logger", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[PATTERNS] = { "patterns", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[HOLES] = { "holes", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[HAS_ERROR] = { "exception", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
	[EXCEPTIONAL] = { "handler", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
	[COMMON] = { "common", NULL, CELL_BOOL, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BEGINS] = { "requests", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[TEXT] = { NULL, "message", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };

enum { HOLE_PATTERN, HOLE_KIND, HOLE_FROM, HOLE_PATH, HOLE_IS_ID, HOLE_NR };

static const struct column hole_columns[HOLE_NR] = {
	[HOLE_PATTERN] = { "pattern", NULL, CELL_COUNT, 0 },
	[HOLE_KIND] = { "type", NULL, CELL_TEXT, 0 },
	[HOLE_FROM] = { "from", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[HOLE_PATH] = { "path", NULL, CELL_TEXT, COLUMN_OPTIONAL },
	[HOLE_IS_ID] = { "identifier", NULL, CELL_BOOL, COLUMN_OPTIONAL },
};

static const char *hole_name(const struct model_part *p)
{
	static const char *const names[] = { "text", "integer", "decimal",  "boolean",
					     "char", "object",  "exception" };

	return p->kind == PART_ANY ? "any" : names[p->type];
}

static void add_hole(struct section *s, const struct model_part *p, uint32_t pattern)
{
	struct row *row = section_row(s);

	row_int(s, row, HOLE_PATTERN, pattern);
	row_text(s, row, HOLE_KIND, str_of(hole_name(p)));
	if (p->text.n)
		row_text(s, row, HOLE_FROM, p->text);
	if (p->path.n)
		row_text(s, row, HOLE_PATH, p->path);
	if (p->is_id)
		row_int(s, row, HOLE_IS_ID, 1);
}

static void add_versions(const struct model_file *m, const struct model_point *p,
			 struct section *patterns, struct section *holes)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->versions.nr; i++) {
		struct model_version v = model_version(m, p->versions.first + i);

		buf_clear(&b);
		learn_write_version(m, p->versions.first + i, &b);
		row_text(patterns, section_row(patterns), 0, buf_str(&b));
		for (uint32_t k = 0; k < v.parts.nr; k++) {
			struct model_part part = model_part(m, v.parts.first + k);

			if (part.kind != PART_TEXT)
				add_hole(holes, &part, i);
		}
	}
	buf_done(&b);
}

static void add_tops(const struct model_file *m, const struct model_point *p, struct section *s)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->tops.nr; i++) {
		buf_clear(&b);
		learn_name_method(m, model_top(m, p->tops.v[i]).method, false, &b);
		row_text(s, section_row(s), 0, buf_str(&b));
	}
	buf_done(&b);
}

static void add_point(const struct model_file *m, uint32_t point, struct section *s)
{
	struct model_point p = model_point(m, point);
	struct model_method method = model_method(m, p.method);
	struct row *row = section_row(s);
	struct section *patterns = row_rows(s, row, PATTERNS, bare, 1);
	struct section *holes = row_rows(s, row, HOLES, hole_columns, HOLE_NR);
	struct buf b = { 0 };

	learn_name_point(m, point, false, &b);
	row_text(s, row, POINT, buf_str(&b));
	buf_clear(&b);
	learn_name_point(m, point, true, &b);
	row_text(s, row, SHORT, buf_str(&b));
	buf_clear(&b);
	learn_write_text(m, point, &b);
	row_text(s, row, TEXT, buf_str(&b));
	buf_done(&b);
	row_text(s, row, CLASS, method.class);
	row_text(s, row, METHOD, method.name);
	row_text(s, row, FILE_NAME, method.file);
	if (p.line)
		row_int(s, row, LINE, p.line);
	if (p.level != LEVEL_NONE)
		row_text(s, row, LEVEL, str_of(level_name(p.level)));
	if (p.logger.n)
		row_fmt(s, row, LOGGER, STR_FMT "%s", STR_ARG(p.logger), p.is_below ? "*" : "");
	row_int(s, row, HAS_ERROR, p.has_error);
	row_int(s, row, EXCEPTIONAL, p.is_exceptional);
	if (p.is_common)
		row_int(s, row, COMMON, 1);
	add_versions(m, &p, patterns, holes);
	add_tops(m, &p, row_rows(s, row, BEGINS, bare, 1));
}

int learn_show_points(const struct model_file *m, struct report *r)
{
	struct section *s = report_table(r, "points", "log points", columns, NR);

	for (uint32_t i = 0; i < model_nr_points(m); i++) {
		add_point(m, i, s);
		report_spill(r, s);
	}
	return model_nr_points(m) ? 0 : 1;
}
