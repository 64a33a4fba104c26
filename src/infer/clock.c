/*
 * Clock offsets from containment.
 *
 * A child span cannot start before its parent, and a child that the parent waits for cannot end
 * after it. On two clocks a and b, each such pair confines the difference d = offset(b) - offset(a)
 * to an interval. The true difference lies in nearly all of them, so we look for the point that
 * most intervals contain. With one pair this is the widely used rule "centre the child in its
 * parent (or move it to the parent's start when it is longer)"; with many pairs it is far sharper,
 * because the fastest round trip in each direction bounds it.
 *
 * Zero is kept unless it contradicts enough pairs and the best point contradicts few: a child that
 * merely outlives its parent must not bend a clock. Differences are summed along a maximum spanning
 * forest (by number of pairs) from the clocks on which requests begin.
 *
 * Costs: O(1) per pair (a bounded sample of SAMPLE_MAX intervals is kept for each pair of clocks),
 * O(n log n) in those to solve. Offsets are constant over the run; drift is not modelled.
 */
#include "infer/clock.h"

#include <stdlib.h>

#include "base/names.h"
#include "base/vec.h"

#define SAMPLE_MAX 2048
#define NO_LIMIT (INT64_MAX / 4) /* far beyond any offset, and safe to negate and to add */

struct interval {
	int64_t lo, hi;
};

/* All that is known between two clocks: intervals for offset(b) - offset(a), a outer when first
 * seen. */
struct between {
	sym_t a, b;
	uint64_t seen, random;
	VEC(struct interval) sample;
	int64_t d;
	uint64_t agree, agree_zero, of; /* of the sample */
	bool is_wrong, is_sure;
};

struct face {
	int64_t offset;
	uint64_t pairs, agree;
	bool reached, is_wrong, is_applied;
};

struct clock {
	struct names names;
	VEC(struct between) between;
	uint32_t *slots; /* hash of (a, b) -> position + 1 */
	uint32_t nr_slots;
	VEC(uint64_t) roots; /* by name */
	struct face *faces;  /* by name, after solving */
	sym_t *by_name;      /* the clocks that seem off */
	uint32_t nr_wrong;
};

struct clock *clock_new(void)
{
	return mem_zalloc(sizeof(struct clock));
}

void clock_free(struct clock *c)
{
	if (!c)
		return;
	vec_each (&c->between, b)
		vec_done(&b->sample);
	vec_done(&c->between);
	vec_done(&c->roots);
	free(c->slots);
	free(c->faces);
	free(c->by_name);
	names_done(&c->names);
	free(c);
}

static sym_t clock_name(struct clock *c, struct str name)
{
	sym_t sym = names_add(&c->names, name);

	while (c->roots.nr <= sym)
		vec_push(&c->roots, 0);
	return sym;
}

void clock_root(struct clock *c, struct str name)
{
	sym_t sym = clock_name(c, name);

	c->roots.v[sym]++;
}

static uint64_t key_of(sym_t a, sym_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint32_t *between_slot(const struct clock *c, sym_t a, sym_t b)
{
	uint64_t key = key_of(a, b);
	uint32_t mask = c->nr_slots - 1, at = (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & mask;

	for (;; at = (at + 1) & mask) {
		uint32_t found = c->slots[at];

		if (!found || key_of(c->between.v[found - 1].a, c->between.v[found - 1].b) == key)
			return &c->slots[at];
	}
}

static struct between *between_get(struct clock *c, sym_t a, sym_t b)
{
	uint32_t *slot;

	if (2 * (c->between.nr + 1) > c->nr_slots) {
		free(c->slots);
		c->nr_slots = c->nr_slots ? 2 * c->nr_slots : 64;
		c->slots = mem_zalloc(mem_bytes(c->nr_slots, sizeof(*c->slots)));
		for (uint32_t i = 0; i < c->between.nr; i++)
			*between_slot(c, c->between.v[i].a, c->between.v[i].b) = i + 1;
	}
	slot = between_slot(c, a, b);
	if (!*slot) {
		vec_push(&c->between, (struct between){ .a = a, .b = b, .random = 0x2545f491 });
		*slot = (uint32_t)c->between.nr;
	}
	return &c->between.v[*slot - 1];
}

/* Algorithm R with a generator of our own, so that the same input gives the same sample. */
static void between_add(struct between *b, struct interval iv)
{
	b->seen++;
	if (b->sample.nr < SAMPLE_MAX) {
		vec_push(&b->sample, iv);
		return;
	}
	b->random = b->random * 6364136223846793005ULL + 1442695040888963407ULL;
	if ((b->random >> 33) % b->seen < SAMPLE_MAX)
		b->sample.v[(b->random >> 17) % SAMPLE_MAX] = iv;
}

static int64_t bounded(int64_t a, int64_t minus)
{
	int64_t d;

	if (__builtin_sub_overflow(a, minus, &d))
		return a > minus ? NO_LIMIT : -NO_LIMIT;
	return d > NO_LIMIT ? NO_LIMIT : d < -NO_LIMIT ? -NO_LIMIT : d;
}

void clock_pair(struct clock *c, struct str outer, struct str inner, int64_t outer_start,
		int64_t outer_end, int64_t inner_start, int64_t inner_end)
{
	sym_t o = clock_name(c, outer), i = clock_name(c, inner);
	struct interval iv = { bounded(outer_start, inner_start), NO_LIMIT };
	struct between *b;

	if (!o || !i || o == i)
		return;
	/* an inner span that is longer than the outer one was not waited for */
	if (outer_end != CLOCK_OPEN &&
	    bounded(inner_end, inner_start) <= bounded(outer_end, outer_start))
		iv.hi = bounded(outer_end, inner_end);
	b = between_get(c, o, i);
	between_add(b, b->a == o ? iv : (struct interval){ -iv.hi, -iv.lo });
}

struct bound {
	int64_t at;
	int step; /* +1 an interval begins, -1 it has ended before here */
};

static int bound_cmp(const void *pa, const void *pb)
{
	const struct bound *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return b->step - a->step;
}

static uint64_t distance(struct interval r)
{
	return r.lo > 0 ? (uint64_t)r.lo : r.hi < 0 ? (uint64_t)-r.hi : 0;
}

/* The stretch that most intervals contain; of several the one nearest to zero. */
static struct interval deepest(const struct between *b, uint64_t *depth_max)
{
	struct bound *bounds = mem_alloc(mem_bytes(2 * b->sample.nr, sizeof(*bounds)));
	struct interval best = { 0, 0 };
	uint64_t depth = 0, most = 0;
	size_t nr = 0;

	vec_each (&b->sample, iv) {
		bounds[nr++] = (struct bound){ iv->lo, 1 };
		bounds[nr++] = (struct bound){ iv->hi, -1 };
	}
	qsort(bounds, nr, sizeof(*bounds), bound_cmp);
	for (size_t i = 0; i < nr; i++) {
		struct interval r;

		depth += (uint64_t)bounds[i].step;
		if (bounds[i].step < 0 || depth < most)
			continue;
		r = (struct interval){ bounds[i].at, bounds[i + 1].at };
		if (depth > most || distance(r) < distance(best))
			best = r;
		most = depth;
	}
	free(bounds);
	*depth_max = most;
	return best;
}

/* The middle, or the end that exists: an interval without limit on one side says only "at least".
 */
static int64_t middle(struct interval r)
{
	if (r.hi >= NO_LIMIT)
		return r.lo <= -NO_LIMIT ? 0 : r.lo;
	if (r.lo <= -NO_LIMIT)
		return r.hi;
	/* truncating as the rule for one pair does, seen from the smaller bound */
	return r.lo + (r.hi - r.lo) / 2;
}

static void between_solve(struct between *b)
{
	uint64_t best, zero = 0, of = b->sample.nr;
	struct interval r = deepest(b, &best);

	vec_each (&b->sample, iv)
		zero += iv->lo <= 0 && iv->hi >= 0;
	b->of = of;
	b->agree_zero = zero;
	b->agree = best;
	b->d = middle(r);
	/* 5 % of the pairs must speak against zero; a clear case has few against the best point too
	 */
	b->is_wrong = 20 * (best - zero) >= of && best > zero;
	b->is_sure = b->is_wrong && (10 * best >= 9 * of || 2 * (best - zero) >= of);
	if (!b->is_sure)
		b->agree = zero;
}

static int between_cmp(const void *pa, const void *pb)
{
	const struct between *a = *(struct between *const *)pa, *b = *(struct between *const *)pb;

	if (a->seen != b->seen)
		return a->seen > b->seen ? -1 : 1;
	return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

/* A forest over the clocks: for each clock the evidence that ties it to its neighbours. */
struct forest {
	uint32_t *set;   /* union-find */
	uint32_t *first; /* by clock: position + 1 in next, of its first tie */
	uint32_t *next;  /* two entries for each tie chosen */
	struct between **tie;
	uint32_t nr;
};

static uint32_t find_set(struct forest *f, uint32_t x)
{
	for (; f->set[x] != x; x = f->set[x])
		f->set[x] = f->set[f->set[x]];
	return x;
}

static void forest_tie(struct forest *f, sym_t clock, struct between *b)
{
	f->tie[f->nr] = b;
	f->next[f->nr] = f->first[clock];
	f->first[clock] = ++f->nr;
}

/* Kruskal: the strongest evidence first, never a circle. */
static void forest_init(struct forest *f, struct clock *c)
{
	struct between **order = mem_alloc(mem_bytes(c->between.nr, sizeof(*order)));
	size_t nr = c->names.nr + 1;

	*f = (struct forest){ mem_alloc(mem_bytes(nr, sizeof(*f->set))),
			      mem_zalloc(mem_bytes(nr, sizeof(*f->first))),
			      mem_zalloc(mem_bytes(2 * nr, sizeof(*f->next))),
			      mem_zalloc(mem_bytes(2 * nr, sizeof(*f->tie))), 0 };
	for (uint32_t i = 0; i < nr; i++)
		f->set[i] = i;
	for (size_t i = 0; i < c->between.nr; i++)
		order[i] = &c->between.v[i];
	qsort(order, c->between.nr, sizeof(*order), between_cmp);
	for (size_t i = 0; i < c->between.nr; i++) {
		uint32_t a = find_set(f, order[i]->a), b = find_set(f, order[i]->b);

		if (a == b)
			continue;
		f->set[a] = b;
		forest_tie(f, order[i]->a, order[i]);
		forest_tie(f, order[i]->b, order[i]);
	}
	free(order);
}

static void forest_done(struct forest *f)
{
	free(f->set);
	free(f->first);
	free(f->next);
	free(f->tie);
}

static void reach(const struct face *from, struct face *to, const struct between *b, int64_t d)
{
	to->reached = true;
	to->offset = from->offset + (b->is_sure ? d : 0);
	to->is_wrong = b->is_wrong;
	to->pairs = b->of;
	to->agree = b->agree;
}

/* Sums the differences outwards from one clock that is taken to be right. */
static void spread(struct clock *c, const struct forest *f, sym_t root, sym_t *queue)
{
	size_t head = 0, tail = 0;

	c->faces[root].reached = true;
	queue[tail++] = root;
	while (head < tail) {
		sym_t at = queue[head++];

		for (uint32_t i = f->first[at]; i; i = f->next[i - 1]) {
			const struct between *b = f->tie[i - 1];
			sym_t to = b->a == at ? b->b : b->a;

			if (c->faces[to].reached)
				continue;
			reach(&c->faces[at], &c->faces[to], b, b->a == at ? b->d : -b->d);
			queue[tail++] = to;
		}
	}
}

struct ranked {
	const struct clock *clock;
	sym_t sym;
};

static int by_roots(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	uint64_t na = a->clock->roots.v[a->sym], nb = b->clock->roots.v[b->sym];

	return na != nb ? (na > nb ? -1 : 1) : (a->sym > b->sym) - (a->sym < b->sym);
}

static int by_name(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return str_cmp(names_str(&a->clock->names, a->sym), names_str(&b->clock->names, b->sym));
}

static void limit(struct face *f, int64_t max_skew_ns)
{
	bool too_far = max_skew_ns >= 0 && (f->offset > max_skew_ns || f->offset < -max_skew_ns);

	if (f->offset)
		f->is_wrong = true;
	f->is_applied = f->offset && !too_far;
}

static void list_wrong(struct clock *c, struct ranked *all, size_t nr)
{
	free(c->by_name);
	c->by_name = mem_alloc(mem_bytes(nr, sizeof(*c->by_name)));
	c->nr_wrong = 0;
	qsort(all, nr, sizeof(*all), by_name);
	for (size_t i = 0; i < nr; i++)
		if (c->faces[all[i].sym].is_wrong)
			c->by_name[c->nr_wrong++] = all[i].sym;
}

void clock_solve(struct clock *c, int64_t max_skew_ns)
{
	size_t nr = c->names.nr ? c->names.nr - 1 : 0;
	struct ranked *all = mem_alloc(mem_bytes(nr, sizeof(*all)));
	sym_t *queue = mem_alloc(mem_bytes(nr, sizeof(*queue)));
	struct forest forest;

	free(c->faces);
	c->faces = mem_zalloc(mem_bytes(c->names.nr + 1, sizeof(*c->faces)));
	vec_each (&c->between, b)
		between_solve(b);
	forest_init(&forest, c);
	for (sym_t i = 1; i <= nr; i++)
		all[i - 1] = (struct ranked){ c, i };
	qsort(all, nr, sizeof(*all), by_roots);
	for (size_t i = 0; i < nr; i++)
		if (!c->faces[all[i].sym].reached)
			spread(c, &forest, all[i].sym, queue);
	for (sym_t i = 1; i <= nr; i++)
		limit(&c->faces[i], max_skew_ns);
	list_wrong(c, all, nr);
	forest_done(&forest);
	free(queue);
	free(all);
}

int64_t clock_offset(const struct clock *c, struct str name)
{
	sym_t sym = c->faces ? names_find(&c->names, name) : 0;

	return sym && c->faces[sym].is_applied ? c->faces[sym].offset : 0;
}

bool clock_next(const struct clock *c, uint32_t *at, struct clock_found *found)
{
	const struct face *f;
	sym_t sym;

	if (*at >= c->nr_wrong)
		return false;
	sym = c->by_name[(*at)++];
	f = &c->faces[sym];
	*found = (struct clock_found){ names_str(&c->names, sym), f->offset, f->pairs, f->agree,
				       f->is_applied };
	return true;
}
