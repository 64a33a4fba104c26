#include "ask/objects/instances.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/objects/hierarchy.h"
#include "ask/objects/times.h"
#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "report/report.h"

#define ROWS_SHOWN 200
#define KIN_SHOWN 5 /* of one type below one parent: the others are counted */
#define ROUNDS_MOST 64

enum {
	OBJECT,
	NAME,
	TYPE,
	PARENTS,
	FIRST,
	BEGINS,
	AFTER,
	LAST,
	DURATION,
	EVENTS,
	ERRORS,
	ERRORS_TEXT,
	ALIASES,
	ALSO,
	CHILDREN,
	TIMES,
	ERROR_TIMES,
	BAR
};

static const struct column columns[] = {
	[OBJECT] = { "object", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[NAME] = { NULL, "object", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_INDENT | COLUMN_WIDE },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[PARENTS] = { "parents", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[FIRST] = { "first", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[BEGINS] = { NULL, "first", CELL_TIME, COLUMN_TEXT_ONLY }, /* in lists */
	[AFTER] = { NULL, "after", CELL_DURATION,
		    COLUMN_TEXT_ONLY }, /* in trees: since the first */
	[LAST] = { "last", NULL, CELL_TIME, COLUMN_JSON_ONLY },
	[DURATION] = { "duration", "lives", CELL_DURATION, 0 },
	[EVENTS] = { "events", "lines", CELL_COUNT, 0 },
	[ERRORS] = { "errors", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[ERRORS_TEXT] = { NULL, "errors", CELL_COUNT, COLUMN_TEXT_ONLY },
	[ALIASES] = { "aliases", NULL, CELL_ROWS, COLUMN_JSON_ONLY },
	[ALSO] = { NULL, "also called", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_WIDE },
	[CHILDREN] = { "children", NULL, CELL_COUNT, COLUMN_JSON_ONLY },
	[TIMES] = { "times", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[ERROR_TIMES] = { "error_times", NULL, CELL_ROWS, COLUMN_JSON_ONLY | COLUMN_OPTIONAL },
	[BAR] = { NULL, "", CELL_BAR, COLUMN_TEXT_ONLY },
};

struct listing {
	const struct object_kin *k;
	const struct object_graph *g;
	const struct instances_filter *f;
	struct report *report;
	struct section *out;
	bool is_tree;
	uint64_t nr, most;         /* rows, and how many there may be */
	int64_t from_ns, until_ns; /* what the bars span */
	struct times_wanted times; /* none where most is 0 */
	struct arena arena;
	uint32_t *main; /* by object: the parent below which it stands in full; UINT32_MAX: none */
	uint8_t *done;  /* by object: whether it was shown with what is below it */
};

static bool passes(const struct listing *l, uint32_t i)
{
	const struct object *o = &l->g->objects[i];

	if (l->f->type != UINT32_MAX && o->type != l->f->type)
		return false;
	if (l->f->from_ns == INT64_MIN && l->f->until_ns == INT64_MAX)
		return true;
	return object_has_time(o) && o->last_ns >= l->f->from_ns && o->first_ns < l->f->until_ns;
}

/* --- one row ---------------------------------------------------------------------------------- */

/* The nearest first, then those that they imply. */
static void parents_cell(struct listing *l, struct row *row, uint32_t i)
{
	static const struct column bare[] = { { NULL, NULL, CELL_ROWS, 0 } };
	const struct object_kin *k = l->k;
	const struct object *o = &l->g->objects[i];
	struct section *in = row_rows(l->out, row, PARENTS, bare, 1);
	uint32_t first = k->parent_first[i], end = k->parent_first[i + 1];

	for (uint32_t p = first; p < end; p++) {
		const struct object *up = &l->g->objects[k->parents[p]];

		strs_cell(in, section_row(in), 0, up->ids, l->g->types[up->type].nr_signature);
	}
	for (size_t j = 0; j < o->nr_parents; j++) {
		const struct object *up = &l->g->objects[o->parents[j]];
		uint32_t p = first;

		while (p < end && k->parents[p] != o->parents[j])
			p++;
		if (p == end && o->parents[j] != i)
			strs_cell(in, section_row(in), 0, up->ids,
				  l->g->types[up->type].nr_signature);
	}
}

static double place_of(const struct listing *l, int64_t ns)
{
	double whole = (double)l->until_ns - (double)l->from_ns;
	double at = whole > 0 ? ((double)ns - (double)l->from_ns) / whole : 0;

	return at < 0 ? 0 : at > 1 ? 1 : at;
}

static void names_cells(struct listing *l, struct row *row, const struct object *o)
{
	struct buf b = { 0 };

	object_name(l->g, o, &b);
	row_text(l->out, row, NAME, buf_str(&b));
	buf_clear(&b);
	for (size_t i = 0; i < o->nr_aliases; i++) {
		buf_add(&b, i ? STR(", ") : STR(""));
		buf_add(&b, o->aliases[i]);
	}
	if (b.n && !l->is_tree)
		row_text(l->out, row, ALSO, buf_str(&b));
	buf_done(&b);
}

static void add_row(struct listing *l, uint32_t i, unsigned depth)
{
	const struct object *o = &l->g->objects[i];
	const struct object_type *t = &l->g->types[o->type];
	struct section *s = l->out;
	struct row *row = section_row(s);

	l->nr++;
	row->depth = depth;
	if (l->f->for_people) {
		names_cells(l, row, o);
	} else {
		strs_cell(s, row, OBJECT, o->ids, t->nr_signature);
		strs_cell(s, row, ALIASES, o->aliases, o->nr_aliases);
		parents_cell(l, row, i);
	}
	row_text(s, row, TYPE, t->name);
	if (object_has_time(o)) {
		row_int(s, row, FIRST, o->first_ns);
		if (l->is_tree)
			row_int(s, row, AFTER, length_signed(l->from_ns, o->first_ns));
		else
			row_int(s, row, BEGINS, o->first_ns);
		row_int(s, row, LAST, o->last_ns);
		row_int(s, row, DURATION, length_ns(o->first_ns, o->last_ns));
		row_bar(s, row, BAR, place_of(l, o->first_ns), place_of(l, o->last_ns), 'r');
	}
	row_int(s, row, EVENTS, (int64_t)o->nr_events);
	row_int(s, row, ERRORS, (int64_t)o->nr_errors);
	if (o->nr_errors)
		row_int(s, row, ERRORS_TEXT, (int64_t)o->nr_errors);
	row_int(s, row, CHILDREN, (int64_t)object_nr_children(l->k, i));
	if (l->times.most && object_has_time(o))
		l->report->losses.count[LOSS_OBJECT_TIMES_LEFT] +=
			times_cells(s, row, TIMES, ERROR_TIMES, o, &l->times);
	report_spill(l->report, s);
}

/* --- as a list -------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b, void *ctx)
{
	const struct object *v = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int64_t x = object_has_time(&v[i]) ? length_ns(v[i].first_ns, v[i].last_ns) : -1;
	int64_t y = object_has_time(&v[j]) ? length_ns(v[j].first_ns, v[j].last_ns) : -1;

	if (x != y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void list(struct listing *l, const uint32_t *v, size_t nr)
{
	VEC(uint32_t) kept = { 0 };

	for (size_t i = 0; i < nr; i++) {
		uint32_t o = v ? v[i] : (uint32_t)i;

		if (passes(l, o) && !(l->f->slowest && !object_has_time(&l->g->objects[o])))
			vec_push(&kept, o);
	}
	if (l->f->slowest && kept.nr > 1)
		qsort_r(kept.v, kept.nr, sizeof(uint32_t), by_length, l->g->objects);
	if (l->f->slowest && kept.nr > l->f->slowest)
		kept.nr = l->f->slowest;
	if (l->f->has_events)
		l->times =
			(struct times_wanted){ l->f->from_ns, l->f->until_ns,
					       times_most(l->g, kept.v,
							  kept.nr < l->most ? kept.nr : l->most) };
	for (size_t i = 0; i < kept.nr && l->nr < l->most; i++)
		add_row(l, kept.v[i], 0);
	l->out->nr_left_out = kept.nr - l->nr;
	vec_done(&kept);
}

/* --- as a tree -------------------------------------------------------------------------------- */

/* How deep each object stands at the deepest: one more than its parents. */
static uint32_t *find_depths(struct listing *l)
{
	uint32_t *depth = arena_array(&l->arena, uint32_t, l->g->nr_objects + 1);
	const struct object_kin *k = l->k;
	bool moved = true;

	for (int round = 0; moved && round < ROUNDS_MOST; round++) {
		moved = false;
		for (uint32_t i = 0; i < l->g->nr_objects; i++)
			for (uint32_t p = k->parent_first[i]; p < k->parent_first[i + 1]; p++)
				if (depth[i] <= depth[k->parents[p]] &&
				    depth[k->parents[p]] < ROUNDS_MOST) {
					depth[i] = depth[k->parents[p]] + 1;
					moved = true;
				}
	}
	return depth;
}

static void find_places(struct listing *l)
{
	const struct object_kin *k = l->k;
	uint32_t *depth = find_depths(l);

	l->main = arena_array(&l->arena, uint32_t, l->g->nr_objects + 1);
	for (uint32_t i = 0; i < l->g->nr_objects; i++) {
		l->main[i] = UINT32_MAX;
		for (uint32_t p = k->parent_first[i]; p < k->parent_first[i + 1]; p++) {
			uint32_t up = k->parents[p];

			if (depth[up] < depth[i] &&
			    (l->main[i] == UINT32_MAX || depth[up] > depth[l->main[i]]))
				l->main[i] = up;
		}
	}
}

struct frame {
	const uint32_t *v;
	size_t nr, next;
	uint32_t owner;
	unsigned depth;
	uint32_t *seen; /* by type: how many came by */
};

/* Of each type the first few below one parent are shown; then a row that counts the others. */
static bool is_elided(const struct listing *l, struct frame *f, uint32_t i)
{
	return ++f->seen[l->g->objects[i].type] > KIN_SHOWN && !l->f->limit;
}

static void add_rest(struct listing *l, const struct frame *f)
{
	struct section *s = l->out;

	for (uint32_t t = 0; t < l->g->nr_types && !l->f->limit; t++) {
		struct row *row;

		if (f->seen[t] <= KIN_SHOWN)
			continue;
		row = section_row(s);
		row->depth = f->depth;
		row_fmt(s, row, NAME, "… %u more", f->seen[t] - KIN_SHOWN);
		row_text(s, row, TYPE, l->g->types[t].name);
	}
}

static struct frame frame_of(const struct listing *l, const uint32_t *v, size_t nr, uint32_t owner,
			     unsigned depth)
{
	uint32_t *seen = mem_zalloc(mem_bytes(l->g->nr_types + 1, sizeof(uint32_t)));

	return (struct frame){ v, nr, 0, owner, depth, seen };
}

/* Down and up without recursion. What stands in full elsewhere is shown without its children. */
static void walk(struct listing *l, struct frame top)
{
	VEC(struct frame) stack = { 0 };

	vec_push(&stack, top);
	while (stack.nr && l->nr < l->most) {
		struct frame *f = &stack.v[stack.nr - 1];
		unsigned depth = f->depth;
		bool is_shown;
		uint32_t i;

		if (f->next == f->nr) {
			add_rest(l, f);
			free(f->seen);
			stack.nr--;
			continue;
		}
		i = f->v[f->next++];
		/* who does not live then may have children that do: these take its place */
		is_shown = passes(l, i);
		if (is_shown && is_elided(l, f, i))
			continue;
		if (is_shown)
			add_row(l, i, depth);
		if (l->done[i] ||
		    (l->f->under == UINT32_MAX && f->owner != UINT32_MAX && l->main[i] != f->owner))
			continue;
		l->done[i] = 1;
		vec_push(&stack, frame_of(l, l->k->children + l->k->child_first[i],
					  object_nr_children(l->k, i), i, depth + is_shown));
	}
	vec_each (&stack, left)
		free(left->seen);
	vec_done(&stack);
}

struct roots {
	const struct object_graph *g;
	const uint64_t *weight; /* by type: what stands below its roots */
};

static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct roots *r = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint32_t x = r->g->objects[i].type, y = r->g->objects[j].type;

	if (r->weight[x] != r->weight[y])
		return r->weight[x] > r->weight[y] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Roots of types that have much below them come first. */
static void draw(struct listing *l)
{
	uint64_t *weight = arena_array(&l->arena, uint64_t, l->g->nr_types + 1);
	struct roots by = { l->g, weight };
	VEC(uint32_t) roots = { 0 };

	for (uint32_t i = 0; i < l->g->nr_objects; i++) {
		uint32_t up = i;

		/* parents stand higher than their children, so that this ends */
		while (l->main[up] != UINT32_MAX)
			up = l->main[up];
		weight[l->g->objects[up].type] += up != i;
		if (up == i)
			vec_push(&roots, i);
	}
	if (roots.nr > 1)
		qsort_r(roots.v, roots.nr, sizeof(uint32_t), by_weight, &by);
	walk(l, frame_of(l, roots.v, roots.nr, UINT32_MAX, 0));
	vec_done(&roots);
}

static void show_tree(struct listing *l)
{
	l->done = arena_array(&l->arena, uint8_t, l->g->nr_objects + 1);
	find_places(l);
	if (l->f->under == UINT32_MAX)
		draw(l);
	else
		walk(l, frame_of(l, &l->f->under, 1, UINT32_MAX, 0));
}

/* --- all -------------------------------------------------------------------------------------- */

static void find_times(struct listing *l, const uint32_t *v, size_t nr)
{
	l->from_ns = INT64_MAX;
	l->until_ns = INT64_MIN;
	for (size_t i = 0; i < nr; i++) {
		const struct object *o = &l->g->objects[v ? v[i] : i];

		if (!object_has_time(o))
			continue;
		if (o->first_ns < l->from_ns)
			l->from_ns = o->first_ns;
		if (o->last_ns > l->until_ns)
			l->until_ns = o->last_ns;
	}
}

int instances_report(const struct object_kin *k, const struct instances_filter *f,
		     struct report *report)
{
	struct listing l = { .k = k, .g = k->g, .f = f, .report = report };
	const uint32_t *v = NULL;
	size_t nr = k->g->nr_objects;
	int none;

	l.is_tree = f->for_people && !f->slowest && f->type == UINT32_MAX;
	l.most = f->limit ? f->limit : f->for_people ? ROWS_SHOWN : UINT64_MAX;
	if (f->under != UINT32_MAX)
		v = object_below(k, f->under, &nr, &l.arena);
	find_times(&l, v, nr);
	l.out = report_table(report, "instances", "", columns, sizeof(columns) / sizeof(*columns));
	if (l.is_tree)
		show_tree(&l);
	else
		list(&l, v, nr);
	if (l.is_tree && l.nr >= l.most && nr > l.nr)
		l.out->nr_left_out = nr - l.nr;
	none = !l.nr;
	arena_done(&l.arena);
	return none;
}
