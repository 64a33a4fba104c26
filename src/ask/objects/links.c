#include "ask/objects/links.h"

#include <stdlib.h>

#include "ask/objects/hierarchy.h"
#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "report/report.h"

#define ROWS_SHOWN 50

enum { A, A_TYPE, A_TEXT, B, B_TYPE, B_TEXT, COUNT, FIRST, LAST };

static const struct column columns[] = {
	[A] = { "a", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[A_TYPE] = { "a_type", "type", CELL_TEXT, COLUMN_WIDE },
	[A_TEXT] = { NULL, "object", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[B] = { "b", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[B_TYPE] = { "b_type", "type", CELL_TEXT, COLUMN_WIDE },
	[B_TEXT] = { NULL, "named together with", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[COUNT] = { "count", "lines", CELL_COUNT, 0 },
	[FIRST] = { "first", "first", CELL_TIME, 0 },
	[LAST] = { "last", "last", CELL_TIME, 0 },
};

static void object_cells(const struct object_graph *g, uint32_t number, struct section *s,
			 struct row *row, size_t column)
{
	const struct object *o = &g->objects[number];
	struct buf name = { 0 };

	object_name(g, o, &name);
	strs_cell(s, row, column, o->ids, g->types[o->type].nr_signature);
	row_text(s, row, column + 1, g->types[o->type].name);
	row_text(s, row, column + 2, buf_str(&name));
	buf_done(&name);
}

static void add_link(const struct object_graph *g, const struct object_link *l, struct section *s)
{
	struct row *row = section_row(s);

	object_cells(g, l->a, s, row, A);
	object_cells(g, l->b, s, row, B);
	row_int(s, row, COUNT, (int64_t)l->count);
	if (l->first_ns != NS_NONE) {
		row_int(s, row, FIRST, l->first_ns);
		row_int(s, row, LAST, l->last_ns);
	}
}

static int by_count(const void *a, const void *b, void *ctx)
{
	const struct object_link *v = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (v[i].count != v[j].count)
		return v[i].count > v[j].count ? -1 : 1;
	return i < j ? -1 : i > j;
}

int links_report(const struct object_kin *k, uint32_t under, uint64_t limit, bool for_people,
		 struct report *report)
{
	const struct object_graph *g = k->g;
	struct section *s =
		report_table(report, "links", "", columns, sizeof(columns) / sizeof(*columns));
	uint64_t most = limit ? limit : for_people ? ROWS_SHOWN : UINT64_MAX;
	struct arena arena = { 0 };
	uint8_t *is_below = arena_array(&arena, uint8_t, g->nr_objects + 1);
	VEC(uint32_t) kept = { 0 };
	size_t nr, i = 0;
	int none;

	if (under != UINT32_MAX) {
		const uint32_t *below = object_below(k, under, &nr, &arena);

		for (size_t j = 0; j < nr; j++)
			is_below[below[j]] = 1;
	}
	for (uint32_t j = 0; j < g->nr_links; j++)
		if (under == UINT32_MAX || is_below[g->links[j].a] || is_below[g->links[j].b])
			vec_push(&kept, j);
	if (kept.nr > 1)
		qsort_r(kept.v, kept.nr, sizeof(uint32_t), by_count, g->links);
	for (; i < kept.nr && i < most; i++) {
		add_link(g, &g->links[kept.v[i]], s);
		report_spill(report, s);
	}
	s->nr_left_out = kept.nr - i;
	none = !kept.nr;
	vec_done(&kept);
	arena_done(&arena);
	return none;
}
