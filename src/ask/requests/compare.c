#include "ask/requests/compare.h"

#include <stdlib.h>

#include "ask/breakdown.h"
#include "ask/length.h"
#include "base/sort.h"
#include "report/report.h"
#include "store/store.h"

/* What the hops of either hold up adds up to what it takes: so the differences add up to the
 * difference. */

enum { THIS, MEDIAN, SIDES };

struct side {
	uint32_t spans;
	int64_t ns, busy, offset;
};

struct comparing {
	struct hops hops;
	VEC(struct side) sides; /* by hop: of this one, then of the median */
	struct section *out;
};

/* --- which one is the median ----------------------------------------------------------------- */

struct candidate {
	int64_t duration;
	uint64_t id;
};

struct candidates {
	VEC(struct candidate) v;
	uint64_t but; /* the request that is compared */
	bool is_whole_only;
	uint64_t nr, nr_faster; /* of the type; of these, than it */
	int64_t duration;
};

static int add_candidate(void *ctx, const struct brief *b)
{
	struct candidates *c = ctx;

	c->nr++;
	c->nr_faster += b->duration < c->duration;
	if (b->id != c->but && !(c->is_whole_only && b->incomplete))
		vec_push(&c->v, (struct candidate){ b->duration, b->id });
	return 0;
}

static uint64_t duration_of(const void *candidate)
{
	return sort_signed(((const struct candidate *)candidate)->duration);
}

/* The id, or 0. Those that were cut off by the ends of the input are taken only for want of others.
 */
static int find_median(struct store *s, const struct request *r, struct candidates *c, uint64_t *id,
		       struct error *err)
{
	const struct request_filter same = { .type = r->type };
	int got = 0;

	*id = 0;
	*c = (struct candidates){ .but = r->id,
				  .is_whole_only = true,
				  .duration = length_signed(r->start, r->end) };
	if (r->type.n)
		got = store_each_brief(s, &same, add_candidate, c, err);
	if (got >= 0 && !c->v.nr && c->nr > 1) {
		c->is_whole_only = false;
		c->nr = c->nr_faster = 0;
		got = store_each_brief(s, &same, add_candidate, c, err);
	}
	if (got >= 0 && c->v.nr) {
		sort_records(c->v.v, c->v.nr, sizeof(*c->v.v), duration_of);
		*id = c->v.v[(c->v.nr - 1) / 2].id;
	}
	vec_done(&c->v);
	return got;
}

/* --- hop by hop ------------------------------------------------------------------------------ */

static void add_side(struct comparing *c, int which, const struct request *r,
		     const struct request_body *body)
{
	struct breakdown d = { 0 };

	breakdown_make(&d, &c->hops, 0, r, body);
	while (c->sides.nr < SIDES * c->hops.v.nr)
		vec_push(&c->sides, (struct side){ .offset = INT64_MAX });
	vec_each (&d.parts, p) {
		struct side *side = &c->sides.v[SIDES * p->hop + which];

		side->spans = p->spans;
		side->ns = p->ns;
		side->busy = length_of(p->busy);
	}
	for (size_t i = 0; i < body->nr_spans; i++) {
		struct side *side = &c->sides.v[SIDES * d.span_hop[i] + which];
		int64_t offset = length_signed(r->start, body->spans[i].start);

		if (offset < side->offset)
			side->offset = offset;
	}
	breakdown_done(&d);
}

enum {
	HOP,
	ABOVE,
	PATH,
	NODE,
	NAME,
	CALLS,
	OFFSET,
	BUSY,
	CRITICAL,
	M_CALLS,
	M_OFFSET,
	M_BUSY,
	M_CRITICAL,
	DELTA
};

static const struct column columns[] = {
	[HOP] = { "hop", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[ABOVE] = { "above", NULL, CELL_COUNT, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[PATH] = { "path", NULL, CELL_TEXT, COLUMN_JSON_ONLY },
	[NODE] = { "node", "node", CELL_TEXT, 0 },
	[NAME] = { "name", "hop", CELL_TEXT, COLUMN_WIDE | COLUMN_INDENT },
	[CALLS] = { "calls", "calls", CELL_COUNT, 0 },
	[OFFSET] = { "offset", "after", CELL_DURATION, COLUMN_OPTIONAL },
	[BUSY] = { "duration", "takes", CELL_DURATION, 0 },
	[CRITICAL] = { "critical", "critical", CELL_DURATION, 0 },
	[M_CALLS] = { "median_calls", "median: calls", CELL_COUNT, 0 },
	[M_OFFSET] = { "median_offset", "after", CELL_DURATION, COLUMN_OPTIONAL },
	[M_BUSY] = { "median_duration", "takes", CELL_DURATION, 0 },
	[M_CRITICAL] = { "median_critical", "critical", CELL_DURATION, 0 },
	[DELTA] = { "delta", "delta", CELL_DURATION, 0 },
};

static void put_side(struct section *s, struct row *row, size_t first, const struct side *side)
{
	row_int(s, row, first, side->spans);
	if (side->offset != INT64_MAX)
		row_int(s, row, first + 1, side->offset);
	row_int(s, row, first + 2, side->busy);
	row_int(s, row, first + 3, side->ns);
}

static void add_hop(struct comparing *c, uint32_t hop)
{
	const struct side *sides = &c->sides.v[SIDES * hop];
	const struct hop *h = &c->hops.v.v[hop];
	struct buf path = { 0 };
	struct row *row;

	/* time in no span is mostly none */
	if (h->parent == HOP_NONE && !sides[THIS].ns && !sides[MEDIAN].ns)
		return;
	row = section_row(c->out);
	row->depth = h->depth;
	row_int(c->out, row, HOP, hop);
	if (h->parent == HOP_NONE) {
		row_text(c->out, row, NAME, STR("(in no span)"));
	} else {
		row_int(c->out, row, ABOVE, h->parent);
		hops_path(&c->hops, hop, &path);
		row_text(c->out, row, PATH, buf_str(&path));
		row_text(c->out, row, NODE, hops_node(&c->hops, hop));
		row_text(c->out, row, NAME, hops_name(&c->hops, hop));
	}
	put_side(c->out, row, CALLS, &sides[THIS]);
	put_side(c->out, row, M_CALLS, &sides[MEDIAN]);
	row_int(c->out, row, DELTA, length_signed(sides[MEDIAN].ns, sides[THIS].ns));
	buf_done(&path);
}

/* Each below the one that it is part of, in order of first sight. */
static void add_hops(struct comparing *c)
{
	uint32_t nr = (uint32_t)c->hops.v.nr;
	uint32_t *child = mem_alloc(mem_bytes(3 * (size_t)nr + 1, sizeof(*child)));
	uint32_t *sibling = child + nr, *stack = sibling + nr;
	size_t depth = 0;

	for (uint32_t i = 0; i < nr; i++)
		child[i] = sibling[i] = HOP_NONE;
	for (uint32_t i = nr; i-- > 1;) {
		sibling[i] = child[c->hops.v.v[i].parent];
		child[c->hops.v.v[i].parent] = i;
	}
	if (nr)
		stack[depth++] = 0;
	while (depth) {
		uint32_t hop = stack[--depth];

		add_hop(c, hop);
		if (sibling[hop] != HOP_NONE)
			stack[depth++] = sibling[hop];
		if (child[hop] != HOP_NONE)
			stack[depth++] = child[hop];
	}
	free(child);
}

/* --- the report ------------------------------------------------------------------------------ */

enum { ID, START, DURATION, COUNT, FASTER };

static const struct column median_columns[] = {
	[ID] = { "id", "median", CELL_COUNT, 0 },
	[START] = { "start", "start", CELL_TIME, 0 },
	[DURATION] = { "duration", "duration", CELL_DURATION, 0 },
	[COUNT] = { "count", "of the type", CELL_COUNT, 0 },
	[FASTER] = { "faster", "faster than it", CELL_COUNT, 0 },
};

static const struct column beside_columns[] = {
	[ID] = { "id", "beside", CELL_COUNT, 0 },
	[START] = { "start", "start", CELL_TIME, 0 },
	[DURATION] = { "duration", "duration", CELL_DURATION, 0 },
	[COUNT] = { "count", "of the type", CELL_COUNT, COLUMN_JSON_ONLY },
	[FASTER] = { "faster", "faster than it", CELL_COUNT, COLUMN_JSON_ONLY },
};

static void report_other(const struct request *m, const struct candidates *c, bool is_median,
			 struct report *report)
{
	struct section *s = report_table(report, is_median ? "median" : "beside", "",
					 is_median ? median_columns : beside_columns,
					 sizeof(median_columns) / sizeof(*median_columns));
	struct row *row = section_row(s);

	s->tagged = true;
	row_int(s, row, ID, (int64_t)m->id);
	row_int(s, row, START, m->start);
	row_int(s, row, DURATION, length_ns(m->start, m->end));
	row_int(s, row, COUNT, (int64_t)c->nr);
	row_int(s, row, FASTER, (int64_t)c->nr_faster);
}

static void report_hops(const struct compared *it, const struct compared *other,
			struct report *report)
{
	struct comparing c = { 0 };

	add_side(&c, THIS, it->head, it->body);
	add_side(&c, MEDIAN, other->head, other->body);
	c.out = report_table(report, "compare", "", columns, sizeof(columns) / sizeof(*columns));
	c.out->tagged = true;
	add_hops(&c);
	hops_done(&c.hops);
	vec_done(&c.sides);
}

static void say_alone(struct report *report)
{
	struct section *s = report_section(report, SECTION_PROSE, "compare", "");

	section_say(s, NULL, "There is no other request of its type to compare it with.");
}

int compare_report(struct store *s, const struct compared *it, const struct compared *other,
		   struct report *report, struct error *err)
{
	struct arena arena = { 0 };
	struct candidates among;
	struct request median;
	struct request_body body;
	const struct compared usual = { &median, &body };
	uint64_t id;
	int got = find_median(s, it->head, &among, &id, err);

	if (got >= 0 && !other)
		got = id ? store_request(s, id, &arena, &median, &body, err) : 0;
	else if (got >= 0)
		got = 1;
	if (got > 0) {
		report_other(other ? other->head : &median, &among, !other, report);
		report_hops(it, other ? other : &usual, report);
	} else if (!got) {
		say_alone(report);
	}
	arena_done(&arena);
	return got < 0 ? got : !got;
}
