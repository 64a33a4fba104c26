/* culprit learn --show --dot X: the order of the log points of a method for Graphviz. */
#include <errno.h>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/learn_show.h"

enum { TOPS_MAX = 50, LABEL_POINTS_MAX = 6, LABEL_COLUMNS_MAX = 60 };

/* Inside double quotes. */
static void quote(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_char(b, '\\');
		buf_char(b, (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
	}
}

static void write_label(const struct model_file *m, const struct model_node *n, struct buf *b)
{
	struct buf text = { 0 };

	for (uint32_t i = 0; i < n->points.nr && i < LABEL_POINTS_MAX; i++) {
		buf_clear(&text);
		learn_name_point(m, n->points.v[i], true, &text);
		buf_add(&text, STR("  "));
		learn_write_text(m, n->points.v[i], &text);
		quote(b, utf8_fit(buf_str(&text), LABEL_COLUMNS_MAX));
		buf_add(b, STR("\\l"));
	}
	if (n->points.nr > LABEL_POINTS_MAX)
		buf_fmt(b, "and %u more\\l", n->points.nr - LABEL_POINTS_MAX);
	buf_done(&text);
}

static void write_node(const struct model_file *m, const struct model_top *t, uint32_t top,
		       uint32_t i, struct buf *b)
{
	struct model_node n = model_node(m, t->nodes.first + i);

	buf_fmt(b, "\t\tt%un%u [label=\"", top, i);
	write_label(m, &n, b);
	buf_fmt(b, "\"%s%s];\n", n.is_repeated ? ", peripheries=2, xlabel=\"*\"" : "",
		n.is_exceptional ? ", style=dashed" : "");
	if (n.is_first)
		buf_fmt(b, "\t\tt%ubegin -> t%un%u;\n", top, top, i);
	if (n.is_last)
		buf_fmt(b, "\t\tt%un%u -> t%uend;\n", top, i, top);
	for (uint32_t k = 0; k < n.ahead.nr; k++)
		if (n.ahead.v[k] < t->nodes.nr - i)
			buf_fmt(b, "\t\tt%un%u -> t%un%u;\n", top, i, top, i + n.ahead.v[k]);
}

static void write_top(const struct model_file *m, uint32_t top, struct buf *b)
{
	struct model_top t = model_top(m, top);
	struct buf name = { 0 };

	learn_name_method(m, t.method, false, &name);
	buf_fmt(b, "\tsubgraph cluster%u {\n\t\tlabel=\"", top);
	quote(b, buf_str(&name));
	buf_fmt(b, "\";\n\t\tt%ubegin [shape=circle, label=\"\", width=0.2];\n", top);
	buf_fmt(b, "\t\tt%uend [shape=doublecircle, label=\"\", width=0.15];\n", top);
	for (uint32_t i = 0; i < t.nodes.nr; i++)
		write_node(m, &t, top, i, b);
	if (t.may_be_silent)
		buf_fmt(b, "\t\tt%ubegin -> t%uend [style=dotted];\n", top, top);
	buf_add(b, STR("\t}\n"));
	buf_done(&name);
}

int learn_show_dot(const struct model_file *m, const char *name, struct buf *out, struct error *err)
{
	struct learn_found f;
	size_t nr;

	learn_find(m, str_of(name), &f);
	nr = f.tops.nr;
	if (!nr || nr > TOPS_MAX) {
		learn_found_done(&f);
		if (nr)
			return error_set(err, EINVAL,
					 "requests begin in %zu methods of the name '%s'; say more "
					 "of it, as in Class.method",
					 nr, name);
		return error_set(err, ENOENT,
				 "requests begin in no method of the name '%s'; see: culprit learn "
				 "--show MODEL --method %s",
				 name, name);
	}
	buf_add(out, STR("digraph order {\n\tnode [shape=box, fontname=\"monospace\"];\n"));
	vec_each (&f.tops, top)
		write_top(m, *top, out);
	buf_add(out, STR("}\n"));
	learn_found_done(&f);
	return 0;
}
