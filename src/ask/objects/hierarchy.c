#include "ask/objects/hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/request.h"
#include "report/report.h"

#define DEPTH_MOST 64
#define NAME_BYTES 60 /* longer names of types are cut for people */

/*
 * The hierarchy is a graph without circles, people read trees: a type with several parents stands
 * in full below the one that is deepest (the container of an attempt rather than that of a host),
 * and is only named below the others. Edges that others imply are not drawn.
 */

const char *relation_name(enum relation r)
{
	static const char *const names[] = { "", "1:1", "1:n", "m:n" };

	return names[r];
}

const char *deed_name(enum relation_deed d)
{
	static const char *const names[] = { NULL, "created", "used", "finished" };

	return names[d];
}

void strs_cell(struct section *s, struct row *row, size_t column, const struct str *v, size_t nr)
{
	static const struct column bare[] = { { NULL, NULL, CELL_TEXT, 0 } };
	struct section *in = row_rows(s, row, column, bare, 1);

	for (size_t i = 0; i < nr; i++)
		row_text(in, section_row(in), 0, v[i]);
}

/* --- for scripts ------------------------------------------------------------------------------ */

enum {
	T_TYPE,
	T_SIGNATURE,
	T_INSTANCES,
	T_ALIASES,
	T_IN_GRAPH,
	T_MEDIAN,
	T_MAX,
	T_FIRST,
	T_LAST,
	T_EVENTS,
	T_ERRORS,
	T_ALSO
};

static const struct column type_columns[] = {
	[T_TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[T_SIGNATURE] = { "signature", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[T_INSTANCES] = { "instances", "objects", CELL_COUNT, 0 },
	[T_ALIASES] = { "aliases", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[T_IN_GRAPH] = { "in_graph", "in hierarchy", CELL_BOOL, 0 },
	[T_MEDIAN] = { "median", "lives (median)", CELL_DURATION, 0 },
	[T_MAX] = { "max", "longest", CELL_DURATION, 0 },
	[T_FIRST] = { "first", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[T_LAST] = { "last", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[T_EVENTS] = { "events", "lines", CELL_COUNT, 0 },
	[T_ERRORS] = { "errors", "errors", CELL_COUNT, 0 },
	[T_ALSO] = { NULL, "also called", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

static void also_cell(struct section *s, struct row *row, size_t column,
		      const struct object_type *t)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < t->nr_aliases; i++) {
		buf_add(&b, i ? STR(", ") : STR(""));
		buf_add(&b, t->aliases[i]);
	}
	if (b.n)
		row_text(s, row, column, buf_str(&b));
	buf_done(&b);
}

static void add_type(struct section *s, const struct object_type *t, const struct object_lives *l)
{
	struct row *row = section_row(s);

	row_text(s, row, T_TYPE, t->name);
	strs_cell(s, row, T_SIGNATURE, t->signature, t->nr_signature);
	row_int(s, row, T_INSTANCES, (int64_t)t->nr_objects);
	strs_cell(s, row, T_ALIASES, t->aliases, t->nr_aliases);
	row_int(s, row, T_IN_GRAPH, t->is_in_graph);
	if (l->nr) {
		row_int(s, row, T_MEDIAN, l->median_ns);
		row_int(s, row, T_MAX, l->max_ns);
		row_int(s, row, T_FIRST, l->first_ns);
		row_int(s, row, T_LAST, l->last_ns);
	}
	row_int(s, row, T_EVENTS, (int64_t)l->nr_events);
	row_int(s, row, T_ERRORS, (int64_t)l->nr_errors);
	also_cell(s, row, T_ALSO, t);
}

static struct section *types_section(struct report *report, const char *title)
{
	return report_table(report, "types", title, type_columns,
			    sizeof(type_columns) / sizeof(*type_columns));
}

enum {
	R_FROM,
	R_TO,
	R_RELATION,
	R_FROM_TEXT,
	R_RELATION_TEXT,
	R_TO_TEXT,
	R_DEED,
	R_SUPPORT,
	R_EXCEPTIONS,
	R_CONFIDENCE,
	R_SURE,
	R_IN_GRAPH,
	R_IMPLIED,
	R_INFERRED
};

static const struct column relation_columns[] = {
	[R_FROM] = { "from", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[R_TO] = { "to", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[R_RELATION] = { "relation", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[R_FROM_TEXT] = { NULL, "from", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[R_RELATION_TEXT] = { NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY },
	[R_TO_TEXT] = { NULL, "to", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[R_DEED] = { "deed", "deed", CELL_TEXT, COLUMN_OPTIONAL },
	[R_SUPPORT] = { "support", "lines for", CELL_COUNT, 0 },
	[R_EXCEPTIONS] = { "exceptions", "against", CELL_COUNT, 0 },
	[R_CONFIDENCE] = { "confidence", NULL, CELL_NUMBER, COLUMN_JSON_ONLY },
	[R_SURE] = { NULL, "sure", CELL_SHARE, COLUMN_TEXT_ONLY },
	[R_IN_GRAPH] = { "in_graph", "in hierarchy", CELL_BOOL, 0 },
	[R_IMPLIED] = { "implied", "implied", CELL_BOOL, 0 },
	[R_INFERRED] = { "inferred", "by neighbours", CELL_BOOL, 0 },
};

static double rounded(float confidence)
{
	return round(1000 * (double)confidence) / 1000;
}

static void add_relation(struct section *s, const struct object_graph *g,
			 const struct object_relation *r)
{
	const struct object_type *from = &g->types[r->from], *to = &g->types[r->to];
	struct row *row = section_row(s);
	const char *deed = deed_name(r->deed);

	strs_cell(s, row, R_FROM, from->signature, from->nr_signature);
	strs_cell(s, row, R_TO, to->signature, to->nr_signature);
	row_text(s, row, R_RELATION, str_of(relation_name(r->relation)));
	row_text(s, row, R_FROM_TEXT, from->name);
	row_text(s, row, R_RELATION_TEXT, str_of(relation_name(r->relation)));
	row_text(s, row, R_TO_TEXT, to->name);
	if (deed)
		row_text(s, row, R_DEED, str_of(deed));
	row_int(s, row, R_SUPPORT, (int64_t)r->support);
	row_int(s, row, R_EXCEPTIONS, (int64_t)r->exceptions);
	row_double(s, row, R_CONFIDENCE, rounded(r->confidence));
	row_double(s, row, R_SURE, rounded(r->confidence));
	row_int(s, row, R_IN_GRAPH, r->is_in_graph);
	row_int(s, row, R_IMPLIED, r->is_reduced);
	row_int(s, row, R_INFERRED, r->is_inferred);
}

static struct section *relations_section(struct report *report, const char *title)
{
	return report_table(report, "relations", title, relation_columns,
			    sizeof(relation_columns) / sizeof(*relation_columns));
}

void relations_report(const struct object_graph *g, const struct object_lives *lives,
		      struct report *report)
{
	struct section *s = types_section(report, "Types");

	for (size_t i = 0; i < g->nr_types; i++)
		add_type(s, &g->types[i], &lives[i]);
	s = relations_section(report, "Relations");
	for (size_t i = 0; i < g->nr_relations; i++)
		if (g->relations[i].relation != RELATION_EMPTY)
			add_relation(s, g, &g->relations[i]);
}

static void edges_for_scripts(const struct object_graph *g, const struct object_lives *lives,
			      struct report *report)
{
	struct section *s = types_section(report, "");

	s->json_only = true;
	for (size_t i = 0; i < g->nr_types; i++)
		if (g->types[i].is_in_graph)
			add_type(s, &g->types[i], &lives[i]);
	s = relations_section(report, "");
	s->json_only = true;
	for (size_t i = 0; i < g->nr_relations; i++)
		if (g->relations[i].is_in_graph)
			add_relation(s, g, &g->relations[i]);
}

/* --- for people ------------------------------------------------------------------------------- */

enum {
	C_TYPE,
	C_OBJECTS,
	C_MEDIAN,
	C_MAX,
	C_LINES,
	C_ERRORS,
	C_DEED,
	C_SUPPORT,
	C_AGAINST,
	C_SURE,
	C_ALSO
};

static const struct column tree_columns[] = {
	[C_TYPE] = { NULL, "type", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_INDENT },
	[C_OBJECTS] = { NULL, "objects", CELL_COUNT, COLUMN_TEXT_ONLY },
	[C_MEDIAN] = { NULL, "median life", CELL_DURATION, COLUMN_TEXT_ONLY },
	[C_MAX] = { NULL, "longest", CELL_DURATION, COLUMN_TEXT_ONLY },
	[C_LINES] = { NULL, "lines", CELL_COUNT, COLUMN_TEXT_ONLY },
	[C_ERRORS] = { NULL, "errors", CELL_COUNT, COLUMN_TEXT_ONLY },
	[C_DEED] = { NULL, "is", CELL_TEXT, COLUMN_TEXT_ONLY },
	[C_SUPPORT] = { NULL, "shown by", CELL_COUNT, COLUMN_TEXT_ONLY },
	[C_AGAINST] = { NULL, "against", CELL_COUNT, COLUMN_TEXT_ONLY },
	[C_SURE] = { NULL, "sure", CELL_SHARE, COLUMN_TEXT_ONLY },
	[C_ALSO] = { NULL, "also called", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
};

struct drawing {
	const struct object_graph *g;
	const struct object_lives *lives;
	struct section *out;
	uint32_t *depth;                       /* the longest way down to each type */
	const struct object_relation **parent; /* the edge below which it stands in full, or NULL */
	uint32_t *below;                       /* how many types stand below it */
};

/* An edge may have been seen one to one only: each application had one attempt. */
static bool is_drawn(const struct object_relation *r)
{
	return r->is_in_graph && !r->is_reduced && r->from != r->to;
}

/* The longest ways: as many rounds as there are types, or fewer. A circle ends at DEPTH_MOST. */
static void find_depths(struct drawing *d)
{
	const struct object_graph *g = d->g;
	bool moved = true;

	for (size_t round = 0; moved && round < g->nr_types; round++) {
		moved = false;
		for (size_t i = 0; i < g->nr_relations; i++) {
			const struct object_relation *r = &g->relations[i];

			if (!is_drawn(r) || d->depth[r->to] > d->depth[r->from] ||
			    d->depth[r->from] >= DEPTH_MOST)
				continue;
			d->depth[r->to] = d->depth[r->from] + 1;
			moved = true;
		}
	}
}

static bool is_nearer(const struct drawing *d, const struct object_relation *a,
		      const struct object_relation *b)
{
	if (!b || d->depth[a->from] != d->depth[b->from])
		return !b || d->depth[a->from] > d->depth[b->from];
	if (a->support != b->support)
		return a->support > b->support;
	return a->from < b->from;
}

static void find_places(struct drawing *d)
{
	const struct object_graph *g = d->g;

	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (is_drawn(r) && d->depth[r->from] < d->depth[r->to] &&
		    is_nearer(d, r, d->parent[r->to]))
			d->parent[r->to] = r;
	}
	for (uint32_t t = 0; t < g->nr_types; t++)
		for (uint32_t up = t; d->parent[up];) {
			up = d->parent[up]->from;
			d->below[up]++;
		}
}

static void add_row(struct drawing *d, uint32_t type, const struct object_relation *by,
		    unsigned depth, const struct object_relation *stands)
{
	const struct object_type *t = &d->g->types[type];
	const struct object_lives *l = &d->lives[type];
	struct section *s = d->out;
	struct row *row = section_row(s);

	row->depth = depth;
	if (stands)
		row_fmt(s, row, C_TYPE, STR_FMT " (see below " STR_FMT ")",
			STR_ARG(str_head(t->name, NAME_BYTES)),
			STR_ARG(str_head(d->g->types[stands->from].name, NAME_BYTES)));
	else
		row_text(s, row, C_TYPE, str_head(t->name, NAME_BYTES));
	if (by) {
		const char *deed = deed_name(by->deed);

		row_int(s, row, C_SUPPORT, (int64_t)by->support);
		if (by->exceptions)
			row_int(s, row, C_AGAINST, (int64_t)by->exceptions);
		row_double(s, row, C_SURE, rounded(by->confidence));
		if (deed || by->is_inferred)
			row_text(s, row, C_DEED, str_of(deed ? deed : "near it"));
	}
	if (stands)
		return;
	row_int(s, row, C_OBJECTS, (int64_t)t->nr_objects);
	if (l->nr) {
		row_int(s, row, C_MEDIAN, l->median_ns);
		row_int(s, row, C_MAX, l->max_ns);
	}
	row_int(s, row, C_LINES, (int64_t)l->nr_events);
	if (l->nr_errors)
		row_int(s, row, C_ERRORS, (int64_t)l->nr_errors);
	also_cell(s, row, C_ALSO, t);
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct drawing *d = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (d->below[x] != d->below[y])
		return d->below[x] > d->below[y] ? -1 : 1;
	return str_cmp(d->g->types[x].name, d->g->types[y].name);
}

/* Types with much below them first; those that stand elsewhere are named last. */
static void draw(struct drawing *d, uint32_t type, unsigned depth)
{
	const struct object_graph *g = d->g;
	VEC(uint32_t) kids = { 0 };

	for (uint32_t t = 0; t < g->nr_types; t++)
		if (d->parent[t] && d->parent[t]->from == type)
			vec_push(&kids, t);
	if (kids.nr > 1)
		qsort_r(kids.v, kids.nr, sizeof(uint32_t), by_place, d);
	vec_each (&kids, kid) {
		add_row(d, *kid, d->parent[*kid], depth, NULL);
		draw(d, *kid, depth + 1);
	}
	vec_done(&kids);
	for (size_t i = 0; i < g->nr_relations; i++) {
		const struct object_relation *r = &g->relations[i];

		if (is_drawn(r) && r->from == type && d->parent[r->to] != r)
			add_row(d, r->to, r, depth, d->parent[r->to]);
	}
}

static void draw_all(struct drawing *d)
{
	const struct object_graph *g = d->g;
	VEC(uint32_t) roots = { 0 };

	for (uint32_t t = 0; t < g->nr_types; t++)
		if (g->types[t].is_in_graph && !d->parent[t])
			vec_push(&roots, t);
	if (roots.nr > 1)
		qsort_r(roots.v, roots.nr, sizeof(uint32_t), by_place, d);
	vec_each (&roots, root) {
		add_row(d, *root, NULL, 0, NULL);
		draw(d, *root, 1);
	}
	vec_done(&roots);
}

static void say_rest(const struct object_graph *g, struct report *report)
{
	size_t types = 0, relations = 0;
	struct section *s;

	for (size_t i = 0; i < g->nr_types; i++)
		types += !g->types[i].is_in_graph;
	for (size_t i = 0; i < g->nr_relations; i++)
		relations += !is_drawn(&g->relations[i]);
	if (!types && !relations)
		return;
	s = report_section(report, SECTION_PROSE, "rest", "");
	s->text_only = true;
	section_say(s, NULL,
		    "%zu type%s and %zu relation%s more are not part of the hierarchy, or follow "
		    "from it: --relations lists them.",
		    types, types == 1 ? "" : "s", relations, relations == 1 ? "" : "s");
}

void hierarchy_report(const struct object_graph *g, const struct object_lives *lives,
		      struct report *report)
{
	struct arena arena = { 0 };
	struct drawing d = { .g = g, .lives = lives };

	edges_for_scripts(g, lives, report);
	d.out = report_table(report, "hierarchy", "Objects by type", tree_columns,
			     sizeof(tree_columns) / sizeof(*tree_columns));
	d.out->text_only = true;
	d.depth = arena_array(&arena, uint32_t, g->nr_types + 1);
	d.below = arena_array(&arena, uint32_t, g->nr_types + 1);
	d.parent = arena_array(&arena, const struct object_relation *, g->nr_types + 1);
	find_depths(&d);
	find_places(&d);
	draw_all(&d);
	say_rest(g, report);
	arena_done(&arena);
}
