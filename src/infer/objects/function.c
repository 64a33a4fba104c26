/* Does each child belong to one parent? Strictly on few lines. On many lines, one in fifty may
 * speak against it, counted by children and by lines (a hub violates few children and half of the
 * lines). Failing that, statements vote: from the largest on, those that contradict what the others
 * say are left out, as long as little is left out. Last, one line in ten may speak against it where
 * there is much to go by and the other way round is far from true: files are renamed, ports given
 * out again. */
#include <stdlib.h>

#include "base/map.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "base/time.h"
#include "infer/objects/relate.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"

static uint64_t both_of(const void *record)
{
	const struct pair *p = record;

	return map_pair(p->child, p->parent);
}

static uint64_t child_of(const void *record)
{
	return ((const struct pair *)record)->child;
}

/* Of one child: the parent with the most lines, the earliest of several; pairs up to end. */
struct choice {
	uint32_t parent;
	uint64_t lines, all;
	size_t nr_parents;
};

static struct choice choose(const struct pair *p, const struct pair *end,
			    const struct map *left_out)
{
	struct choice best = { .parent = UINT32_MAX };
	int64_t best_ns = 0;

	while (p < end) {
		uint32_t parent = p->parent;
		uint64_t lines = 0;
		int64_t first = INT64_MAX;

		for (; p < end && p->parent == parent; p++) {
			if (left_out && map_find(left_out, p->template))
				continue;
			lines += p->count;
			if (p->first_ns < first)
				first = p->first_ns;
		}
		if (!lines)
			continue;
		best.all += lines;
		best.nr_parents++;
		if (lines > best.lines || (lines == best.lines && first < best_ns)) {
			best.parent = parent;
			best.lines = lines;
			best_ns = first;
		}
	}
	return best;
}

static const struct pair *end_of_child(const struct pair *p, const struct pair *end)
{
	uint32_t child = p->child;

	while (p < end && p->child == child)
		p++;
	return p;
}

struct verdict {
	uint64_t lines, minority;
	uint32_t nr_children, nr_torn;
};

static struct verdict weigh(const struct pair *p, size_t nr, const struct map *left_out)
{
	struct verdict v = { 0 };
	const struct pair *end = p + nr, *next;

	for (; p < end; p = next) {
		struct choice c;

		next = end_of_child(p, end);
		c = choose(p, next, left_out);
		v.lines += c.all;
		v.minority += c.all - c.lines;
		v.nr_children += c.nr_parents > 0;
		v.nr_torn += c.nr_parents > 1;
	}
	return v;
}

static bool is_function(const struct verdict *v, bool is_small)
{
	if (is_small)
		return !v->nr_torn;
	return 50 * (uint64_t)v->nr_torn <= v->nr_children && 50 * v->minority <= v->lines;
}

struct ballot {
	uint32_t template;
	uint64_t lines;
	size_t begin, end; /* of pairs in the order of templates */
};

static uint64_t template_of(const void *record)
{
	return ((const struct pair *)record)->template;
}

static int by_lines(const void *a, const void *b)
{
	const struct ballot *x = a, *y = b;

	if (x->lines != y->lines)
		return x->lines > y->lines ? -1 : 1;
	return (x->template > y->template) - (x->template <y->template);
}

/* Lines of one template that contradict what was told so far, or each other. */
static uint64_t contradicted(const struct map *told, const struct pair *p, const struct pair *end)
{
	struct map own = { .shelf = told->shelf };
	uint64_t nr = 0;

	for (; p < end; p++) {
		const uint64_t *at = map_find(told, p->child);

		if (!at) {
			uint64_t *mine = map_at(&own, p->child);

			if (!*mine)
				*mine = p->parent + 1;
			at = mine;
		}
		if (*at != p->parent + 1)
			nr += p->count;
	}
	map_done(&own);
	return nr;
}

/* Fills left_out with templates; true when what is left is enough to believe. */
static bool vote(struct shelf *shelf, const struct pair *pairs, size_t nr,
		 const struct verdict *all, struct map *left_out)
{
	struct pair *p = shelf_alloc(shelf, mem_bytes(nr, sizeof(*p)));
	VEC(struct ballot) ballots = { 0 };
	struct map told = { .shelf = shelf };
	uint64_t nr_lines = 0, nr_left = 0;
	uint32_t nr_kept = 0;
	struct verdict kept;

	memcpy(p, pairs, nr * sizeof(*p));
	sort_records_on(shelf, p, nr, sizeof(*p), template_of);
	for (size_t i = 0, end; i < nr; i = end) {
		struct ballot b = { p[i].template, 0, i, 0 };

		for (end = i; end < nr && p[end].template == p[i].template; end++)
			b.lines += p[end].count;
		b.end = end;
		nr_lines += b.lines;
		vec_push(&ballots, b);
	}
	qsort(ballots.v, ballots.nr, sizeof(*ballots.v), by_lines);
	vec_each (&ballots, b) {
		if (50 * contradicted(&told, p + b->begin, p + b->end) > b->lines) {
			*map_at(left_out, b->template) = 1;
			nr_left += b->lines;
			continue;
		}
		nr_kept++;
		for (size_t i = b->begin; i < b->end; i++)
			if (!*map_at(&told, p[i].child))
				*map_at(&told, p[i].child) = p[i].parent + 1;
	}
	shelf_give(shelf, p);
	vec_done(&ballots);
	map_done(&told);
	kept = weigh(pairs, nr, left_out);
	return (10 * nr_left <= nr_lines && nr_kept >= 2 &&
		10 * (uint64_t)kept.nr_children >= 8 * (uint64_t)all->nr_children) ||
	       (20 * nr_left <= 3 * nr_lines &&
		20 * (uint64_t)kept.nr_children >= 19 * (uint64_t)all->nr_children);
}

/* Three lines in twenty are left out at the most, and of the others one in fifty contradicts. So
 * what a vote can save has no more lines against it, whatever statements they are of. */
static bool may_be_voted(const struct verdict *all)
{
	return 100 * all->minority <= 17 * all->lines;
}

/* A parent is there before its child, give or take a twentieth of the run. */
static bool is_late(const struct census *w, uint32_t child, uint32_t parent)
{
	int64_t c = w->things.v[child].first_ns, p = w->things.v[parent].first_ns;

	/* who writes a log was there before its first line */
	if (w->kinds.v[w->things.v[parent].kind].traits & KIND_LOG)
		return false;
	return c != NS_NONE && p != NS_NONE && p - c > (w->last_ns - w->first_ns) / 20;
}

static void keep_choices(struct function *f, struct relating *r, const struct census *w,
			 const struct pair *p, size_t nr, const struct map *left_out)
{
	const struct pair *end = p + nr, *next;
	struct map parents = { .shelf = w->shelf };

	f->begin = (uint32_t)r->belongs.nr;
	f->nr_children = 0;
	for (; p < end; p = next) {
		struct choice c;

		next = end_of_child(p, end);
		c = choose(p, next, left_out);
		if (c.parent == UINT32_MAX)
			continue;
		shelf_push(r->shelf, &r->belongs, (struct belongs){ p->child, c.parent });
		f->nr_children++;
		f->nr_parents += !(*map_at(&parents, c.parent))++;
		f->nr_late += is_late(w, p->child, c.parent);
		f->nr_again += c.lines < 3 ? c.lines - 1 : 2;
	}
	f->end = (uint32_t)r->belongs.nr;
	map_done(&parents);
}

void function_test(struct function *f, struct relating *r, const struct census *w,
		   struct pair *pairs, size_t nr, bool by_parent)
{
	sort_records_on(w->shelf, pairs, nr, sizeof(*pairs), by_parent ? child_of : both_of);
	function_weigh(f, r, w, pairs, nr);
}

void function_weigh(struct function *f, struct relating *r, const struct census *w,
		    const struct pair *pairs, size_t nr)
{
	struct map left_out = { 0 };
	struct verdict all, kept;

	all = weigh(pairs, nr, NULL);
	*f = (struct function){ .lines = all.lines, .exceptions = all.minority };
	f->nr_children = all.nr_children;
	f->holds = is_function(&all, w->is_small);
	f->is_loose = !w->is_small && all.nr_children >= 20 && 10 * all.minority <= all.lines &&
		      20 * (uint64_t)all.nr_torn <= 3 * (uint64_t)all.nr_children;
	if (!f->holds && !w->is_small && may_be_voted(&all)) {
		f->holds = vote(w->shelf, pairs, nr, &all, &left_out);
		kept = weigh(pairs, nr, &left_out);
		if (f->holds)
			f->exceptions = all.lines - (kept.lines - kept.minority);
	}
	if (f->holds || f->is_loose)
		keep_choices(f, r, w, pairs, nr, f->holds ? &left_out : NULL);
	map_done(&left_out);
}
