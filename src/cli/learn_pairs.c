/* culprit learn --show --pairs: which methods where requests begin talk to each other. */
#include "cli/learn_show.h"
#include "program/pairs.h"
#include "report/report.h"

enum { FROM, FROM_SHORT, KIND, TO, TO_SHORT, MANY, THROUGH, WHERE, LINE, SHARED, SHARED_TEXT, NR };

static const struct column columns[NR] = {
	[FROM] = { "from", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[FROM_SHORT] = { NULL, "from", CELL_TEXT, COLUMN_TEXT_ONLY },
	[KIND] = { "kind", "by", CELL_TEXT, 0 },
	[TO] = { "to", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[TO_SHORT] = { NULL, "to", CELL_TEXT, COLUMN_TEXT_ONLY },
	[MANY] = { "many", NULL, CELL_BOOL, COLUMN_JSON_ONLY },
	[THROUGH] = { "through", "through", CELL_TEXT, 0 },
	[WHERE] = { "where", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[LINE] = { "line", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[SHARED] = { "shared", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[SHARED_TEXT] = { NULL, "both know", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static const struct column shared_columns[] = {
	{ "from", NULL, CELL_TEXT, 0 },
	{ "to", NULL, CELL_TEXT, 0 },
};

static struct str kind_name(unsigned kind)
{
	return kind < PAIR_KINDS ? pair_kind_name((enum pair_kind)kind) : STR("other");
}

static void add_name(const struct model_file *m, struct section *s, struct row *row, size_t column,
		     uint32_t method, bool is_short, const char *behind)
{
	struct buf b = { 0 };

	learn_name_method(m, method, is_short, &b);
	buf_add(&b, str_of(behind));
	row_text(s, row, column, buf_str(&b));
	buf_done(&b);
}

/* The last step of a path is what people know a value by. */
static struct str last_step(struct str path)
{
	for (size_t i = path.n; i-- > 0;)
		if (path.p[i] == '/')
			return str_skip(path, i + 1);
	return path;
}

/* In this column for scripts, in the next one for people. */
static void add_shared(const struct model_file *m, const struct model_pair *p, struct section *s,
		       struct row *row, size_t column)
{
	struct section *in = row_rows(s, row, column, shared_columns, 2);
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->shared.nr; i++) {
		struct model_shared x = model_shared(m, p->shared.first + i);
		struct row *one = section_row(in);
		struct str end = last_step(x.to);

		row_text(in, one, 0, x.from);
		row_text(in, one, 1, x.to);
		buf_fmt(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(end));
	}
	row_text(s, row, column + 1, buf_str(&b));
	buf_done(&b);
}

int learn_show_pairs(const struct model_file *m, struct report *r)
{
	struct section *s = report_table(r, "pairs", "who talks to whom", columns, NR);

	for (uint32_t i = 0; i < model_nr_pairs(m); i++) {
		struct model_pair p = model_pair(m, i);
		struct row *row = section_row(s);

		add_name(m, s, row, FROM, p.from, false, "");
		add_name(m, s, row, FROM_SHORT, p.from, true, "");
		add_name(m, s, row, TO, p.to, false, "");
		add_name(m, s, row, TO_SHORT, p.to, true, p.is_many ? " *" : "");
		add_name(m, s, row, WHERE, p.where, false, "");
		row_text(s, row, KIND, kind_name(p.kind));
		row_int(s, row, MANY, p.is_many);
		row_text(s, row, THROUGH, p.through);
		if (p.line)
			row_int(s, row, LINE, p.line);
		add_shared(m, &p, s, row, SHARED);
		report_spill(r, s);
	}
	if (model_nr_pairs(m))
		return 0;
	section_say(report_section(r, SECTION_PROSE, "none", ""), NULL,
		    "No two methods of this program were found to talk to each other.");
	return 1;
}

enum { SIDE, WITH, WITH_SHORT, BY, CARRIER, PLACE, BOTH, BOTH_TEXT, PARTNER_NR };

static const struct column partner_columns[PARTNER_NR] = {
	[SIDE] = { "direction", "", CELL_TEXT, 0 },
	[WITH] = { "method", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[WITH_SHORT] = { NULL, "partner", CELL_TEXT, COLUMN_TEXT_ONLY },
	[BY] = { "kind", "by", CELL_TEXT, 0 },
	[CARRIER] = { "through", "through", CELL_TEXT, 0 },
	[PLACE] = { "where", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[BOTH] = { "shared", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[BOTH_TEXT] = { NULL, "both know", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static void add_partner(const struct model_file *m, const struct model_top *t,
			const struct model_pair *p, struct section *s)
{
	bool is_from = p->from == t->method;
	uint32_t with = is_from ? p->to : p->from;
	struct row *row = section_row(s);

	row_text(s, row, SIDE, is_from ? STR("to") : STR("from"));
	add_name(m, s, row, WITH, with, false, "");
	add_name(m, s, row, WITH_SHORT, with, true, p->is_many ? " *" : "");
	row_text(s, row, BY, kind_name(p->kind));
	row_text(s, row, CARRIER, p->through);
	add_name(m, s, row, PLACE, p->where, false, "");
	add_shared(m, p, s, row, BOTH);
}

/* Those first with which it shares something: there its requests go on. */
static void add_all(const struct model_file *m, const struct model_top *t, struct section *s)
{
	for (int shares = 1; shares >= 0; shares--)
		for (uint32_t i = 0; i < t->pairs.nr; i++) {
			struct model_pair p = model_pair(m, t->pairs.v[i]);

			if ((p.shared.nr > 0) == shares)
				add_partner(m, t, &p, s);
		}
}

void learn_add_partners(const struct model_file *m, const struct model_top *t, struct section *s,
			struct row *row, size_t column)
{
	add_all(m, t, row_rows(s, row, column, partner_columns, PARTNER_NR));
}

void learn_show_partners(const struct model_file *m, const struct model_top *t, struct report *r)
{
	struct section *s =
		report_table(r, "partners", "whom it talks to", partner_columns, PARTNER_NR);

	s->text_only = true;
	add_all(m, t, s);
	if (!t->pairs.nr)
		s->title = STR("it talks to no other");
}
