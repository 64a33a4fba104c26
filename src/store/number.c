#include <stdlib.h>

#include "base/error.h"
#include "store/code.h"
#include "store/db.h"
#include "store/levels_made.h"
#include "store/run.h"
#include "store/sorter.h"

/* Numbers the requests by (start, end, key) once all are known, and writes their table. */

#define ROWS_BYTES ((size_t)128 << 10)
#define ROWS_MOST 4096

struct numbering {
	struct store *s;
	uint32_t *ids; /* by ordinal: four bytes a request is all that numbering keeps in memory */
	uint64_t next, first;
	struct buf rows;
	struct names types;
	VEC(uint64_t) counts; /* by the number of the type in types */
	struct briefs_made briefs;
	struct levels_made levels;
};

static int flush_rows(struct numbering *n, struct error *err)
{
	int r;

	if (!n->rows.n)
		return 0;
	r = db_put(n->s->db, DB_REQUESTS, n->first, buf_str(&n->rows), err);
	n->first = n->next;
	buf_clear(&n->rows);
	return r;
}

static sym_t count_type(struct numbering *n, struct str type)
{
	sym_t sym = names_add(&n->types, type);

	while (n->counts.nr <= sym)
		vec_push(&n->counts, 0);
	n->counts.v[sym]++;
	return sym;
}

static int add_brief(struct numbering *n, const struct request *r, uint64_t ordinal, uint64_t set,
		     sym_t type, struct error *err)
{
	struct brief_row row = { .ordinal = ordinal, .set = set, .nr_spans = r->nr_spans };
	int result;

	row.b = (struct brief){ .id = n->next,
				.start = r->start,
				.duration = (int64_t)((uint64_t)r->end - (uint64_t)r->start),
				.type = type,
				.confidence = r->confidence,
				.error = r->error,
				.incomplete = r->incomplete };
	result = briefs_add(n->s, &n->briefs, &row, err);
	return result ? result : levels_add(n->s, &n->levels, &row.b, err);
}

/* A row is the ordinal of the body and the request; its id is its place. The set of its nodes,
 * which stands in front while it waits, goes to the briefs. */
static int number_one(void *ctx, struct str row, struct error *err)
{
	struct numbering *n = ctx;
	struct request r = { 0 };
	struct str rest = row;
	uint64_t ordinal, set;
	int result;

	if (!str_take_varint(&rest, &set) || set > NODESET_UNKNOWN)
		return db_damaged(n->s->db, "its temporary file was changed", err);
	row = rest;
	if (!str_take_varint(&rest, &ordinal) || ordinal >= n->s->catalog.totals.nr_requests ||
	    !code_take_request(&rest, &n->s->syms, &r))
		return db_damaged(n->s->db, "its temporary file was changed", err);
	result = add_brief(n, &r, ordinal, set, count_type(n, r.type), err);
	n->ids[ordinal] = (uint32_t)n->next++;
	buf_add(&n->rows, row);
	if (result || (n->rows.n < ROWS_BYTES && n->next - n->first < ROWS_MOST))
		return result;
	return flush_rows(n, err);
}

static int compare_types(const void *x, const void *y)
{
	const struct catalog_type *a = x, *b = y;

	if (a->nr != b->nr)
		return a->nr > b->nr ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static void keep_types(struct numbering *n)
{
	struct catalog *c = &n->s->catalog;

	for (sym_t i = 0; i < n->counts.nr; i++)
		if (n->counts.v[i])
			vec_push(&c->types, (struct catalog_type){
						    arena_str(&c->arena, names_str(&n->types, i)),
						    n->counts.v[i] });
	if (c->types.nr)
		qsort(c->types.v, c->types.nr, sizeof(*c->types.v), compare_types);
}

/* Where each type stands in the catalog. */
static int finish_briefs(struct numbering *n, struct error *err)
{
	const struct catalog *c = &n->s->catalog;
	uint32_t *place = mem_zalloc(mem_bytes(n->counts.nr + 1, sizeof(*place)));
	int r;

	for (size_t i = 0; i < c->types.nr; i++)
		place[names_find(&n->types, c->types.v[i].name)] = (uint32_t)i;
	r = briefs_finish(n->s, &n->briefs, place, n->counts.nr, err);
	free(place);
	return r;
}

int number_requests(struct store *s, struct error *err)
{
	struct numbering n = { .s = s, .next = 1, .first = 1 };
	int r;

	n.ids = mem_alloc(mem_bytes(s->catalog.totals.nr_requests + 1, sizeof(*n.ids)));
	levels_begin(&n.levels, s->catalog.totals.nr_requests, s->first_start, s->last_start);
	r = sorter_each(s->sorter, number_one, &n, err);
	if (!r)
		r = flush_rows(&n, err);
	if (!r)
		r = bodies_put_ids(s, n.ids, err);
	if (!r) {
		keep_types(&n);
		r = finish_briefs(&n, err);
	}
	if (!r)
		r = levels_finish(s, &n.levels, err);
	levels_made_done(&n.levels);
	briefs_made_done(&n.briefs);
	free(n.ids);
	buf_done(&n.rows);
	names_done(&n.types);
	vec_done(&n.counts);
	return r;
}
