/*
 * The objects of a run for Graphviz: a box for each type with its number and lifetimes, an arrow
 * from what has many to what belongs to one. The hierarchy leaves out what other arrows imply; the
 * graph of all types draws 1:1 and m:n relations, too.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "export/dot.h"
#include "export/export.h"
#include "store/objects.h"

static void add_type(const struct object_type *t, const struct object_lives *l, size_t number,
		     struct buf *out)
{
	buf_fmt(out, "\tt%zu [label=\"", number);
	dot_quoted(out, t->name);
	buf_fmt(out, "\\n%llu", (unsigned long long)t->nr_objects);
	if (l->nr) {
		buf_add(out, STR(" × "));
		time_span_text(out, l->median_ns);
	}
	for (size_t i = 0; i < t->nr_aliases; i++) {
		buf_add(out, i ? STR(", ") : STR("\\nalso "));
		dot_quoted(out, t->aliases[i]);
	}
	buf_fmt(out, "\"%s%s];\n", t->is_in_graph ? "" : ", style=\"rounded,dashed\"",
		l->nr_errors ? ", color=\"#b2182b\"" : "");
}

static const char *style_of(const struct object_relation *r, bool is_hierarchy)
{
	if (r->relation == RELATION_ONE && !is_hierarchy)
		return ", dir=none, penwidth=2";
	if (r->relation == RELATION_CROSS)
		return ", dir=both, style=dotted";
	return r->is_inferred ? ", style=dashed" : "";
}

static void add_relation(const struct object_relation *r, bool is_hierarchy, struct buf *out)
{
	static const char *const names[] = { "", "1:1", "1:n", "m:n" };
	static const char *const deeds[] = { "", "created", "used", "finished" };

	buf_fmt(out, "\tt%u -> t%u [label=\"%s\"", r->from, r->to,
		is_hierarchy ? deeds[r->deed] : names[r->relation]);
	buf_fmt(out, ", tooltip=\"%llu lines for it, %llu against, confidence %.2f\"%s%s];\n",
		(unsigned long long)r->support, (unsigned long long)r->exceptions,
		(double)r->confidence, style_of(r, is_hierarchy),
		!is_hierarchy && r->is_reduced ? ", color=grey" : "");
}

static void draw(const struct object_graph *g, const struct object_lives *lives, bool is_hierarchy,
		 struct buf *out)
{
	buf_add(out, STR("digraph culprit {\n"
			 "\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
			 "\tedge [fontname=\"sans-serif\", fontsize=10];\n"));
	for (size_t i = 0; i < g->nr_types; i++)
		if (!is_hierarchy || g->types[i].is_in_graph)
			add_type(&g->types[i], &lives[i], i, out);
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (is_hierarchy ? r->is_in_graph && !r->is_reduced : r->relation != RELATION_EMPTY)
			add_relation(r, is_hierarchy, out);
	}
	buf_add(out, STR("}\n"));
}

static int write_graph(struct store *s, bool is_hierarchy, FILE *to, struct error *err)
{
	struct object_lives *lives = NULL;
	struct object_graph g = { 0 };
	struct arena arena = { 0 };
	struct buf out = { 0 };
	int r = store_objects_some(s, 0, &arena, &g, err);

	if (r > 0)
		r = store_object_lives(s, &arena, &lives, err);
	if (!r)
		r = error_set(err, ENOENT, "the run holds no objects: make it again from its logs");
	if (r > 0) {
		draw(&g, lives, is_hierarchy, &out);
		fwrite(out.p, 1, out.n, to);
	}
	buf_done(&out);
	arena_done(&arena);
	return r < 0 ? r : 0;
}

static int write_hierarchy(struct store *s, FILE *to, struct error *err)
{
	return write_graph(s, true, to, err);
}

static int write_types(struct store *s, FILE *to, struct error *err)
{
	return write_graph(s, false, to, err);
}

const struct exporter export_objects = {
	.name = "objects",
	.summary = "the hierarchy of the objects that logs name, for Graphviz",
	.suffix = ".dot",
	.write = write_hierarchy,
};

const struct exporter export_object_types = {
	.name = "object-types",
	.summary = "how any two types of objects relate, for Graphviz",
	.suffix = ".dot",
	.write = write_types,
};
