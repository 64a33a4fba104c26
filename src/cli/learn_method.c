/* culprit learn --show --method X: why requests begin in a method, what names them, what they log
 * in which order, and whom they talk to. */
#include "cli/learn_dag.h"
#include "cli/learn_show.h"
#include "program/descriptor.h"
#include "program/identifiers.h"
#include "program/origin.h"
#include "report/report.h"

enum {
	METHODS_MAX = 5,     /* shown in full; more are only named */
	NAMES_MAX = 200,     /* of methods that are only named */
	NODE_OWN_MAX = 30,   /* shown of one node: points of the method itself */
	NODE_POINTS_MAX = 3, /* and of what it calls */
	TOPS_MAX = 20,
};

static const char *why_text(unsigned why)
{
	switch ((enum top_why)why) {
	case TOP_DROP:
		return "its callers change or do not know the values that it logs: they work on "
		       "many requests, it works on one";
	case TOP_START:
		return "another thread runs it";
	case TOP_ROOT:
		return "it is called by something that was not given";
	case TOP_REMOTE:
		return "it answers a call of another process";
	case TOP_REST:
		return "nothing else is known to lead to what it logs";
	case TOP_NOT:
		break;
	}
	return "of a reason that this version does not know";
}

static const char *why_name(unsigned why)
{
	static const char *const names[] = { "none",    "identifiers", "thread",
					     "outside", "remote",      "rest" };

	return why <= TOP_REST ? names[why] : "other";
}

static struct str named(const struct model_file *m, uint32_t method, struct report *r)
{
	struct buf b = { 0 };
	struct str s;

	learn_name_method(m, method, false, &b);
	s = arena_str(&r->arena, buf_str(&b));
	buf_done(&b);
	return s;
}

static struct str type_name(struct str type)
{
	static const char letters[] = "BCDFIJSZ";
	static const char *const names[] = { "byte", "char", "double", "float",
					     "int",  "long", "short",  "boolean" };
	const char *at = type.n == 1 ? memchr(letters, type.p[0], sizeof(letters) - 1) : NULL;

	return at ? str_of(names[at - letters]) : origin_simple(descriptor_class(type));
}

/* "(ExtendedBlock, String[])": what #1 and #2 in the way to a value stand for. */
static void write_parameters(struct str type, struct buf *b)
{
	struct str rest = descriptor_parameters(type), one;
	const char *before = "(";

	while (descriptor_take(&rest, &one)) {
		size_t nr_brackets = 0;

		while (str_take_char(&one, '['))
			nr_brackets++;
		buf_add(b, str_of(before));
		buf_add(b, type_name(one));
		while (nr_brackets--)
			buf_add(b, STR("[]"));
		before = ", ";
	}
	buf_add(b, *before == '(' ? STR("()") : STR(")"));
}

static struct str titled(const struct model_file *m, uint32_t method, struct report *r)
{
	struct buf b = { 0 };
	struct str s;

	learn_name_method(m, method, false, &b);
	write_parameters(model_method(m, method).type, &b);
	s = arena_str(&r->arena, buf_str(&b));
	buf_done(&b);
	return s;
}

static const struct column id_columns[] = {
	{ "identifier", "identifier", CELL_TEXT, 0 },
	{ "path", "how the method knows it", CELL_TEXT, 0 },
	{ "count", "logged", CELL_COUNT, 0 },
};

static void add_ids(const struct model_file *m, const struct model_top *t, struct section *s)
{
	for (uint32_t i = 0; i < t->ids.nr; i++) {
		struct model_id id = model_id(m, t->ids.first + i);
		struct row *row = section_row(s);

		row_text(s, row, 0, id.name);
		row_text(s, row, 1, id.path);
		row_int(s, row, 2, id.count);
	}
}

enum { ORDER_MARK, ORDER_POINT, ORDER_LEVEL, ORDER_TEXT, ORDER_NR };

static const struct column order_columns[ORDER_NR] = {
	[ORDER_MARK] = { NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY },
	[ORDER_POINT] = { NULL, "order", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_INDENT },
	[ORDER_LEVEL] = { NULL, "level", CELL_TEXT, COLUMN_TEXT_ONLY },
	[ORDER_TEXT] = { NULL, "message", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static void add_point_line(const struct model_file *m, struct section *s, uint32_t point,
			   uint32_t method, unsigned depth, const char *how)
{
	struct row *row = section_row(s);
	struct model_point p = model_point(m, point);
	struct buf b = { 0 };

	row->depth = depth;
	row->strong = p.method == method;
	buf_add(&b, str_of(how));
	learn_name_point(m, point, true, &b);
	row_text(s, row, ORDER_POINT, buf_str(&b));
	buf_clear(&b);
	learn_write_text(m, point, &b);
	row_text(s, row, ORDER_TEXT, buf_str(&b));
	row_text(s, row, ORDER_LEVEL, str_of(level_name(p.level)));
	buf_done(&b);
}

/* What to show of a node: the method's own points, then a few of what it calls. */
static uint32_t pick_points(const struct model_file *m, const struct model_node *n, uint32_t method,
			    uint32_t *shown)
{
	uint32_t nr = 0;

	for (int own = 1; own >= 0; own--) {
		uint32_t max = own ? NODE_OWN_MAX : nr + NODE_POINTS_MAX;

		for (uint32_t i = 0; i < n->points.nr && nr < max; i++)
			if ((model_point(m, n->points.v[i]).method == method) == own)
				shown[nr++] = n->points.v[i];
	}
	return nr;
}

static void add_dag_line(const struct model_file *m, const struct model_top *t, struct section *s,
			 const struct dag_line *line)
{
	static const char *const how[] = { "", "either ", "or " };
	uint32_t shown[NODE_OWN_MAX + NODE_POINTS_MAX], nr;
	struct model_node n;

	if (line->node == DAG_BEGIN) {
		row_text(s, section_row(s), ORDER_POINT, STR("(begin)"));
		return;
	}
	n = model_node(m, t->nodes.first + line->node);
	nr = pick_points(m, &n, t->method, shown);
	for (uint32_t i = 0; i < nr; i++) {
		add_point_line(m, s, shown[i], t->method, line->depth, i ? "" : how[line->how]);
		row_fmt(s, &s->rows.v[s->rows.nr - 1], ORDER_MARK, "%s%s%s",
			n.is_repeated ? "*" : "", n.is_exceptional ? "!" : "",
			n.is_last && i + 1 == n.points.nr ? "." : "");
	}
	if (n.points.nr > nr) {
		struct row *row = section_row(s);

		row->depth = line->depth;
		row_fmt(s, row, ORDER_MARK, "%s%s", n.is_repeated ? "*" : "", n.is_last ? "." : "");
		row_fmt(s, row, ORDER_POINT, "and %u more %s in any order", n.points.nr - nr,
			n.points.nr - nr == 1 ? "point" : "points");
	}
}

static void add_order(const struct model_file *m, const struct model_top *t, struct report *r)
{
	struct section *s =
		report_table(r, "order", "what it logs, in this order", order_columns, ORDER_NR);
	struct dag d;

	s->text_only = true;
	dag_init(&d, m, t);
	vec_each (&d.lines, line)
		add_dag_line(m, t, s, line);
	s->nr_left_out = d.nr_left_out;
	dag_done(&d);
	s = report_section(r, SECTION_PROSE, "legend", "");
	s->text_only = true;
	section_say(s, NULL,
		    "* any number of times, or not at all   ! only after an exception   "
		    ". the method may end here%s",
		    t->may_be_silent ? "   (it may also log nothing at all)" : "");
}

static const struct column bare_text[] = { { NULL, NULL, CELL_TEXT, 0 } };
static const struct column bare_count[] = { { NULL, NULL, CELL_COUNT, 0 } };

enum {
	NODE_NUMBER,
	NODE_POINTS,
	NODE_NEXT,
	NODE_REPEATED,
	NODE_THROWN,
	NODE_FIRST,
	NODE_LAST,
	NODE_NR
};

static const struct column node_columns[NODE_NR] = {
	[NODE_NUMBER] = { "node", NULL, CELL_COUNT, 0 },
	[NODE_POINTS] = { "points", NULL, CELL_ROWS, 0 },
	[NODE_NEXT] = { "next", NULL, CELL_ROWS, 0 },
	[NODE_REPEATED] = { "repeated", NULL, CELL_BOOL, 0 },
	[NODE_THROWN] = { "exceptional", NULL, CELL_BOOL, 0 },
	[NODE_FIRST] = { "first", NULL, CELL_BOOL, 0 },
	[NODE_LAST] = { "last", NULL, CELL_BOOL, 0 },
};

static void add_points(const struct model_file *m, struct model_list points, struct section *s)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < points.nr; i++) {
		buf_clear(&b);
		learn_name_point(m, points.v[i], false, &b);
		row_text(s, section_row(s), 0, buf_str(&b));
	}
	buf_done(&b);
}

static void add_nodes(const struct model_file *m, const struct model_top *t, struct section *s)
{
	for (uint32_t i = 0; i < t->nodes.nr; i++) {
		struct model_node n = model_node(m, t->nodes.first + i);
		struct row *row = section_row(s);
		struct section *next = row_rows(s, row, NODE_NEXT, bare_count, 1);

		row_int(s, row, NODE_NUMBER, i);
		add_points(m, n.points, row_rows(s, row, NODE_POINTS, bare_text, 1));
		for (uint32_t k = 0; k < n.ahead.nr; k++)
			if (n.ahead.v[k] < t->nodes.nr - i)
				row_int(next, section_row(next), 0, i + n.ahead.v[k]);
		row_int(s, row, NODE_REPEATED, n.is_repeated);
		row_int(s, row, NODE_THROWN, n.is_exceptional);
		row_int(s, row, NODE_FIRST, n.is_first);
		row_int(s, row, NODE_LAST, n.is_last);
	}
}

static const struct column thread_columns[] = {
	{ "name", "name", CELL_TEXT, COLUMN_WIDE },
	{ "given_by", "given by", CELL_TEXT, 0 },
};

/* Whether it is the name of a thread that runs the method, or that the method gives to its own. */
static bool is_name_of(const struct model_top *t, const struct model_thread_name *n)
{
	return n->runs == t->method || n->method == t->method;
}

/* Ends of try blocks are there more than once in class files. */
static bool is_named_before(const struct model_file *m, const struct model_top *t, uint32_t name)
{
	struct model_thread_name n = model_thread_name(m, name), x;

	for (uint32_t i = 0; i < name; i++) {
		x = model_thread_name(m, i);
		if (is_name_of(t, &x) && x.method == n.method && x.line == n.line)
			return true;
	}
	return false;
}

static void add_threads(const struct model_file *m, const struct model_top *t, struct section *s)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < model_nr_thread_names(m); i++) {
		struct model_thread_name n = model_thread_name(m, i);
		struct row *row;

		if (!is_name_of(t, &n) || is_named_before(m, t, i))
			continue;
		row = section_row(s);
		buf_clear(&b);
		if (n.versions.nr)
			learn_write_version(m, n.versions.first, &b);
		row_text(s, row, 0, buf_str(&b));
		buf_clear(&b);
		learn_name_method(m, n.method, true, &b);
		if (n.line)
			buf_fmt(&b, ":%u", n.line);
		row_text(s, row, 1, buf_str(&b));
	}
	buf_done(&b);
}

enum {
	TOP_METHOD,
	TOP_TYPE,
	TOP_REASON,
	TOP_SILENT,
	TOP_IDS,
	TOP_POINTS,
	TOP_NODES,
	TOP_PAIRS,
	TOP_THREADS,
	TOP_NR
};

static const struct column top_columns[TOP_NR] = {
	[TOP_METHOD] = { "method", NULL, CELL_TEXT, 0 },
	[TOP_TYPE] = { "type", NULL, CELL_TEXT, 0 },
	[TOP_REASON] = { "why", NULL, CELL_TEXT, 0 },
	[TOP_SILENT] = { "may_be_silent", NULL, CELL_BOOL, 0 },
	[TOP_IDS] = { "identifiers", NULL, CELL_ROWS, 0 },
	[TOP_POINTS] = { "points", NULL, CELL_ROWS, 0 },
	[TOP_NODES] = { "nodes", NULL, CELL_ROWS, 0 },
	[TOP_PAIRS] = { "partners", NULL, CELL_ROWS, 0 },
	[TOP_THREADS] = { "threads", NULL, CELL_ROWS, 0 },
};

static void add_for_scripts(const struct model_file *m, uint32_t top, struct section *s)
{
	struct model_top t = model_top(m, top);
	struct model_method method = model_method(m, t.method);
	struct row *row = section_row(s);
	struct buf b = { 0 };

	learn_name_method(m, t.method, false, &b);
	row_text(s, row, TOP_METHOD, buf_str(&b));
	buf_done(&b);
	row_text(s, row, TOP_TYPE, method.type);
	row_text(s, row, TOP_REASON, str_of(why_name(t.why)));
	row_int(s, row, TOP_SILENT, t.may_be_silent);
	add_ids(m, &t, row_rows(s, row, TOP_IDS, id_columns, 3));
	add_points(m, t.points, row_rows(s, row, TOP_POINTS, bare_text, 1));
	add_nodes(m, &t, row_rows(s, row, TOP_NODES, node_columns, NODE_NR));
	learn_add_partners(m, &t, s, row, TOP_PAIRS);
	add_threads(m, &t, row_rows(s, row, TOP_THREADS, thread_columns, 2));
}

static void show_top(const struct model_file *m, uint32_t top, struct report *r)
{
	struct model_top t = model_top(m, top);
	struct section *s = report_section(r, SECTION_PROSE, "top", "");

	s->title = titled(m, t.method, r);
	s->text_only = true;
	section_say(s, NULL, "A request begins here: %s. %u %s to it.", why_text(t.why),
		    t.points.nr, t.points.nr == 1 ? "log point belongs" : "log points belong");
	s = report_table(r, "identifiers", "its identifiers", id_columns, 3);
	s->text_only = true;
	add_ids(m, &t, s);
	if (!t.ids.nr)
		s->title = STR("it logs no identifier");
	if (t.nodes.nr)
		add_order(m, &t, r);
	learn_show_partners(m, &t, r);
	s = report_table(r, "threads", "names of its threads", thread_columns, 2);
	s->text_only = true;
	add_threads(m, &t, s);
	if (!s->rows.nr)
		s->json_only = true; /* so that it is not shown at all */
}

/* A method that logs, but where no request begins: to which ones its lines belong. */
static void show_other(const struct model_file *m, uint32_t method, struct report *r)
{
	struct section *s = report_section(r, SECTION_PROSE, "method", "");
	struct buf b = { 0 };
	uint32_t nr = 0;

	s->title = titled(m, method, r);
	s->text_only = true;
	for (uint32_t i = 0; i < model_nr_points(m) && !nr; i++) {
		struct model_point p = model_point(m, i);

		if (p.method != method)
			continue;
		nr = p.tops.nr;
		for (uint32_t k = 0; k < nr && k < TOPS_MAX; k++) {
			buf_add(&b, STR("\n"));
			learn_name_method(m, model_top(m, p.tops.v[k]).method, false, &b);
		}
	}
	if (nr > TOPS_MAX)
		buf_fmt(&b, "\nand %u more", nr - TOPS_MAX);
	section_say(s, NULL, "No request begins here. %s" STR_FMT,
		    nr ? "What it logs belongs to requests that begin in:"
		       : "Much of all work passes through it: what it logs belongs to none in "
			 "particular.",
		    STR_ARG(buf_str(&b)));
	buf_done(&b);
}

static const struct column name_columns[] = {
	{ "method", "method", CELL_TEXT, 0 },
	{ "begins", "requests begin here", CELL_BOOL, 0 },
};

static void show_names(const struct model_file *m, const struct learn_found *f, struct report *r)
{
	struct section *s = report_table(r, "methods", "several methods have this in their name",
					 name_columns, 2);
	size_t nr = f->tops.nr + f->methods.nr;

	s->text_only = true;
	for (size_t i = 0; i < nr && i < NAMES_MAX; i++) {
		bool is_top = i < f->tops.nr;
		uint32_t method =
			is_top ? model_top(m, f->tops.v[i]).method : f->methods.v[i - f->tops.nr];
		struct row *row = section_row(s);

		row_text(s, row, 0, named(m, method, r));
		row_int(s, row, 1, is_top);
	}
	s->nr_left_out = nr > NAMES_MAX ? nr - NAMES_MAX : 0;
}

int learn_show_method(const struct model_file *m, const char *name, struct report *r)
{
	struct section *scripts = report_table(r, "methods", "", top_columns, TOP_NR);
	struct learn_found f;
	size_t nr;

	scripts->json_only = true;
	learn_find(m, str_of(name), &f);
	nr = f.tops.nr + f.methods.nr;
	vec_each (&f.tops, top)
		add_for_scripts(m, *top, scripts);
	if (nr > METHODS_MAX) {
		show_names(m, &f, r);
	} else {
		vec_each (&f.tops, top)
			show_top(m, *top, r);
		vec_each (&f.methods, method)
			show_other(m, *method, r);
	}
	if (!nr)
		section_say(report_section(r, SECTION_PROSE, "none", ""), NULL,
			    "No method that logs has '%s' in its name.", name);
	learn_found_done(&f);
	return nr ? 0 : 1;
}
