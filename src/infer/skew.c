/*
 * Difference constraints with outliers. "y was after x" on two clocks confines the difference of
 * their offsets from one side. When all clocks are right, zero satisfies nearly every one; when one
 * is wrong, some of its pairs are violated in numbers, and moving that one clock satisfies them.
 *
 * So we begin with all offsets zero and, while a pair of clocks is violated, try to move either of
 * its ends by just enough. Who would be violated by that move in turn has to move along (services
 * of one host share its clock). The set that satisfies most moves, of equals the smallest, of
 * equals the least trusted one. By how much it moves is then the middle of the stretch that
 * violates least: the fastest way there and the fastest way back bound it, as in NTP. Zero stays
 * zero where it contradicts nothing: no correction without need.
 *
 * Some constraints are certain (a return follows its call); others were read with the offsets as
 * they are, and a move can make them obsolete. Certain ones go first, and they alone say who has to
 * move along; the caller then says the others anew.
 *
 * Costs: at most SAMPLE_MAX constraints are kept for each ordered pair of clocks (algorithm R), and
 * at most MOVES_MAX times CANDIDATES_MAX moves are tried, each looking at the neighbours of a set.
 */
#include "infer/skew.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { SAMPLE_MAX = 2048, MOVES_MAX = 64, CANDIDATES_MAX = 32, WITNESSES_MIN = 8 };

/* Lower bounds of offset(y) - offset(x), in order while solving. */
struct pair {
	uint32_t x, y;
	bool is_certain;
	uint64_t seen, random;
	VEC(int64_t) least;
};

struct face {
	uint64_t trust;
	int64_t offset;
	bool in_set;     /* of the move that is tried */
	uint32_t *pairs; /* of which this clock is one end */
	uint32_t nr_pairs;
};

struct skew {
	VEC(struct face) faces;
	VEC(struct pair) pairs;
	uint32_t *slots, nr_slots; /* hash of (x, y) -> position + 1 */
	uint32_t *of;              /* what faces.pairs points into */
	VEC(uint32_t) set;         /* clocks of the move that is tried */
};

/* How many more constraints are satisfied. */
struct gain {
	int64_t certain, all;
	int64_t most; /* when only the number of all counts */
};

/* A set of clocks that could be moved together. */
struct move {
	VEC(uint32_t) set;
	int64_t by;
	struct gain gain;
	size_t ties;
	uint64_t trust;
};

int64_t skew_minus(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a > b ? SKEW_LIMIT : -SKEW_LIMIT;
	return d > SKEW_LIMIT ? SKEW_LIMIT : d < -SKEW_LIMIT ? -SKEW_LIMIT : d;
}

int64_t skew_plus(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

struct skew *skew_new(void)
{
	struct skew *k = mem_zalloc(sizeof(*k));

	vec_push(&k->faces, (struct face){ .trust = UINT64_MAX });
	return k;
}

void skew_forget(struct skew *k)
{
	vec_each (&k->pairs, p)
		vec_done(&p->least);
	vec_clear(&k->pairs);
	free(k->slots);
	k->slots = NULL;
	k->nr_slots = 0;
	vec_each (&k->faces, f)
		f->nr_pairs = 0;
}

void skew_free(struct skew *k)
{
	if (!k)
		return;
	skew_forget(k);
	vec_done(&k->pairs);
	vec_done(&k->faces);
	vec_done(&k->set);
	free(k->of);
	free(k);
}

uint32_t skew_clock(struct skew *k, uint64_t trust)
{
	vec_push(&k->faces, (struct face){ .trust = trust });
	return (uint32_t)k->faces.nr - 1;
}

int64_t skew_offset(const struct skew *k, uint32_t clock)
{
	return k->faces.v[clock].offset;
}

/* --- what was said --------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct skew *k, uint32_t x, uint32_t y, bool is_certain)
{
	uint64_t key = ((uint64_t)x << 33 | (uint64_t)y << 1 | is_certain) * 0x9e3779b97f4a7c15ULL;
	uint32_t mask = k->nr_slots - 1, at = (uint32_t)(key >> 32) & mask;

	for (;; at = (at + 1) & mask) {
		const struct pair *p = k->slots[at] ? &k->pairs.v[k->slots[at] - 1] : NULL;

		if (!p || (p->x == x && p->y == y && p->is_certain == is_certain))
			return &k->slots[at];
	}
}

static struct pair *pair_get(struct skew *k, uint32_t x, uint32_t y, bool is_certain)
{
	uint32_t *slot;

	if (2 * (k->pairs.nr + 1) > k->nr_slots) {
		free(k->slots);
		k->nr_slots = k->nr_slots ? 2 * k->nr_slots : 64;
		k->slots = mem_zalloc(mem_bytes(k->nr_slots, sizeof(*k->slots)));
		for (uint32_t i = 0; i < k->pairs.nr; i++) {
			const struct pair *p = &k->pairs.v[i];

			*slot_of(k, p->x, p->y, p->is_certain) = i + 1;
		}
	}
	slot = slot_of(k, x, y, is_certain);
	if (!*slot) {
		vec_push(&k->pairs,
			 (struct pair){
				 .x = x, .y = y, .is_certain = is_certain, .random = 0x2545f491 });
		*slot = (uint32_t)k->pairs.nr;
	}
	return &k->pairs.v[*slot - 1];
}

/* Algorithm R with a generator of our own, so that the same input gives the same sample. */
static void pair_add(struct pair *p, int64_t least)
{
	p->seen++;
	if (p->least.nr < SAMPLE_MAX) {
		vec_push(&p->least, least);
		return;
	}
	p->random = p->random * 6364136223846793005ULL + 1442695040888963407ULL;
	if ((p->random >> 33) % p->seen < SAMPLE_MAX)
		p->least.v[(p->random >> 17) % SAMPLE_MAX] = least;
}

void skew_after(struct skew *k, uint32_t x, int64_t at_x, uint32_t y, int64_t at_y)
{
	if (x != y)
		pair_add(pair_get(k, x, y, true), skew_minus(at_x, at_y));
}

void skew_maybe_after(struct skew *k, uint32_t x, int64_t at_x, uint32_t y, int64_t at_y)
{
	if (x != y)
		pair_add(pair_get(k, x, y, false), skew_minus(at_x, at_y));
}

static int by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static void put_in_order(struct skew *k)
{
	uint32_t *at;

	free(k->of);
	vec_each (&k->faces, f)
		f->nr_pairs = 0;
	k->of = at = mem_alloc(mem_bytes(2 * k->pairs.nr + 1, sizeof(*k->of)));
	vec_each (&k->pairs, p) {
		qsort(p->least.v, p->least.nr, sizeof(*p->least.v), by_value);
		k->faces.v[p->x].nr_pairs++;
		k->faces.v[p->y].nr_pairs++;
	}
	vec_each (&k->faces, f) {
		f->pairs = at;
		at += f->nr_pairs;
		f->nr_pairs = 0;
	}
	for (uint32_t i = 0; i < k->pairs.nr; i++) {
		struct face *x = &k->faces.v[k->pairs.v[i].x], *y = &k->faces.v[k->pairs.v[i].y];

		x->pairs[x->nr_pairs++] = i;
		y->pairs[y->nr_pairs++] = i;
	}
}

/* --- who is violated ------------------------------------------------------------------------- */

/* How many of the pair ask for more than this difference. */
static size_t violated_at(const struct pair *p, int64_t difference)
{
	size_t lo = 0, hi = p->least.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->least.v[mid] <= difference)
			lo = mid + 1;
		else
			hi = mid;
	}
	return p->least.nr - lo;
}

static int64_t difference(const struct skew *k, const struct pair *p)
{
	return skew_minus(k->faces.v[p->y].offset, k->faces.v[p->x].offset);
}

static size_t violated(const struct skew *k, const struct pair *p)
{
	return violated_at(p, difference(k, p));
}

/* One in twenty, and not a handful: what is lost, late or odd stays below that. */
static bool is_many(size_t violated, const struct pair *p)
{
	return violated >= WITNESSES_MIN && 20 * violated >= p->least.nr;
}

/* The difference after the set in hand has moved. */
static int64_t moved(const struct skew *k, const struct pair *p, int64_t by)
{
	int64_t d = difference(k, p);

	if (k->faces.v[p->y].in_set)
		d = skew_plus(d, by);
	return k->faces.v[p->x].in_set ? skew_minus(d, by) : d;
}

/* --- moves ----------------------------------------------------------------------------------- */

static void set_clear(struct skew *k)
{
	vec_each (&k->set, c)
		k->faces.v[*c].in_set = false;
	vec_clear(&k->set);
}

static void set_add(struct skew *k, uint32_t clock)
{
	k->faces.v[clock].in_set = true;
	vec_push(&k->set, clock);
}

/* All that must move along; false when that would be the one who stays, or the clock that never
 * moves. */
static bool set_close(struct skew *k, uint32_t stays, int64_t by)
{
	for (size_t i = 0; i < k->set.nr; i++) {
		const struct face *f = &k->faces.v[k->set.v[i]];

		for (uint32_t j = 0; j < f->nr_pairs; j++) {
			const struct pair *p = &k->pairs.v[f->pairs[j]];
			uint32_t other = k->faces.v[p->x].in_set ? p->y : p->x;
			size_t after = violated_at(p, moved(k, p, by));

			if (!p->is_certain || k->faces.v[other].in_set || !is_many(after, p) ||
			    after <= violated(k, p))
				continue;
			if (other == stays || !other)
				return false;
			set_add(k, other);
		}
	}
	return true;
}

/* An end of the stretch of moves that satisfies a constraint. */
struct end {
	int64_t at;
	int step; /* +1: satisfied from here on, -1: until here */
};

static int by_place(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return b->step - a->step;
}

static struct end *ends_of_set(const struct skew *k, bool certain_only, size_t *nr_ends)
{
	VEC(struct end) ends = { 0 };

	vec_each (&k->set, c) {
		const struct face *f = &k->faces.v[*c];

		for (uint32_t j = 0; j < f->nr_pairs; j++) {
			const struct pair *p = &k->pairs.v[f->pairs[j]];
			int64_t d = difference(k, p);
			bool has_x = k->faces.v[p->x].in_set, has_y = k->faces.v[p->y].in_set;

			if ((has_x && has_y) || (certain_only && !p->is_certain))
				continue;
			vec_each (&p->least, least)
				vec_push(&ends, has_y ? (struct end){ skew_minus(*least, d), 1 }
						      : (struct end){ skew_minus(d, *least), -1 });
		}
	}
	if (ends.nr)
		qsort(ends.v, ends.nr, sizeof(*ends.v), by_place);
	*nr_ends = ends.nr;
	return ends.v;
}

/* The middle of the stretch that satisfies most; where it has no other end, the end that it has. */
static int64_t best_place(const struct skew *k, bool certain_only)
{
	int64_t lo = -SKEW_LIMIT, hi = SKEW_LIMIT, depth = 0, most = 0;
	size_t nr;
	struct end *ends = ends_of_set(k, certain_only, &nr);

	if (nr)
		hi = ends[0].at;
	for (size_t i = 0; i < nr; i++) {
		depth += ends[i].step;
		if (depth <= most)
			continue;
		most = depth;
		lo = ends[i].at;
		hi = i + 1 < nr ? ends[i + 1].at : SKEW_LIMIT;
	}
	free(ends);
	if (lo <= -SKEW_LIMIT)
		return nr ? hi : 0;
	return hi >= SKEW_LIMIT ? lo : lo + (hi - lo) / 2;
}

static struct gain gain_of_set(const struct skew *k, int64_t by)
{
	struct gain gain = { 0 };

	vec_each (&k->set, c) {
		const struct face *f = &k->faces.v[*c];

		for (uint32_t j = 0; j < f->nr_pairs; j++) {
			const struct pair *p = &k->pairs.v[f->pairs[j]];
			int64_t more =
				(int64_t)violated(k, p) - (int64_t)violated_at(p, moved(k, p, by));

			if (k->faces.v[p->x].in_set == k->faces.v[p->y].in_set)
				continue;
			gain.all += more;
			gain.certain += p->is_certain ? more : 0;
		}
	}
	return gain;
}

/* How many others are compared with the set. */
static size_t ties_of_set(const struct skew *k)
{
	size_t nr = 0;

	vec_each (&k->set, c)
		nr += k->faces.v[*c].nr_pairs;
	return nr;
}

static uint64_t trust_in_set(const struct skew *k)
{
	uint64_t trust = 0;

	vec_each (&k->set, c)
		trust += k->faces.v[*c].trust;
	return trust;
}

/* Whether a differs from b by more than chance and obsolete constraints make it differ. */
static bool is_apart(int64_t a, int64_t b)
{
	return 10 * llabs(a - b) > (a > b ? a : b);
}

/*
 * Who has fewer neighbours is the likelier one: had the other been wrong, more of its neighbours
 * would have said so.
 */
static bool is_better(const struct skew *k, struct gain gain, const struct move *best)
{
	size_t ties = ties_of_set(k);

	if (!best->set.nr)
		return true;
	if (is_apart(gain.certain, best->gain.certain))
		return gain.certain > best->gain.certain;
	if (is_apart(gain.most, best->gain.most))
		return gain.most > best->gain.most;
	if (k->set.nr != best->set.nr)
		return k->set.nr < best->set.nr;
	return ties != best->ties ? ties < best->ties : trust_in_set(k) < best->trust;
}

/* Where certain ones ask for the move, they alone say how far; else all do. */
static void try_move(struct skew *k, uint32_t clock, uint32_t stays, int64_t by, struct move *best)
{
	struct gain gain = { 0 };

	if (!clock)
		return;
	set_clear(k);
	set_add(k, clock);
	if (set_close(k, stays, by)) {
		int64_t by_all = best_place(k, false);
		struct gain of_all = gain_of_set(k, by_all);

		by = best_place(k, true);
		gain = gain_of_set(k, by);
		if (gain.certain < WITNESSES_MIN) {
			by = by_all;
			gain = of_all;
		}
		gain.most = of_all.all;
	}
	if ((gain.certain >= WITNESSES_MIN || (gain.certain >= 0 && gain.all >= WITNESSES_MIN)) &&
	    is_better(k, gain, best)) {
		vec_clear(&best->set);
		vec_each (&k->set, c)
			vec_push(&best->set, *c);
		best->by = by;
		best->gain = gain;
		best->trust = trust_in_set(k);
		best->ties = ties_of_set(k);
	}
	set_clear(k);
}

/* Just enough that no more than a few of the pair are left violated. */
static int64_t wanted(const struct skew *k, const struct pair *p)
{
	return skew_minus(p->least.v[p->least.nr - 1 - p->least.nr / 50], difference(k, p));
}

struct worst {
	uint32_t pair;
	size_t violated;
};

static int by_violated(const void *pa, const void *pb)
{
	const struct worst *a = pa, *b = pb;

	if (a->violated != b->violated)
		return a->violated > b->violated ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

/* The best of the moves that relieve one of the pairs that are violated most. */
static bool best_move(struct skew *k, struct move *best)
{
	VEC(struct worst) worst = { 0 };

	vec_clear(&best->set);
	best->gain = (struct gain){ 0 };
	for (uint32_t i = 0; i < k->pairs.nr; i++) {
		size_t nr = violated(k, &k->pairs.v[i]);

		if (is_many(nr, &k->pairs.v[i]))
			vec_push(&worst, (struct worst){ i, nr });
	}
	if (worst.nr)
		qsort(worst.v, worst.nr, sizeof(*worst.v), by_violated);
	for (size_t i = 0; i < worst.nr && i < CANDIDATES_MAX; i++) {
		const struct pair *p = &k->pairs.v[worst.v[i].pair];
		bool x_is_moved = k->faces.v[p->x].offset, y_is_moved = k->faces.v[p->y].offset;
		int64_t by = wanted(k, p);

		/* what is left over from a move is set right there, not with the neighbours */
		if (p->is_certain || y_is_moved || !x_is_moved)
			try_move(k, p->y, p->x, by, best);
		if (p->is_certain || x_is_moved || !y_is_moved)
			try_move(k, p->x, p->y, -by, best);
	}
	vec_done(&worst);
	return best->set.nr > 0;
}

/* What is not certain may be obsolete after a move, so that such a move comes alone. */
bool skew_solve(struct skew *k)
{
	struct move best = { 0 };
	bool any = false;

	put_in_order(k);
	for (unsigned i = 0; i < MOVES_MAX && best_move(k, &best); i++) {
		bool is_certain = best.gain.certain >= WITNESSES_MIN;

		if (any && !is_certain)
			break;
		vec_each (&best.set, c)
			k->faces.v[*c].offset = skew_plus(k->faces.v[*c].offset, best.by);
		any = true;
		if (!is_certain)
			break;
	}
	vec_done(&best.set);
	return any;
}

/* Whether so few speak against the set in hand being there that nothing is wrong with it. */
static bool is_free(const struct skew *k, int64_t by)
{
	vec_each (&k->set, c) {
		const struct face *f = &k->faces.v[*c];

		for (uint32_t j = 0; j < f->nr_pairs; j++) {
			const struct pair *p = &k->pairs.v[f->pairs[j]];

			if (is_many(violated_at(p, moved(k, p, by)), p))
				return false;
		}
	}
	return true;
}

void skew_centre(struct skew *k)
{
	put_in_order(k);
	for (uint32_t c = 1; c < k->faces.nr; c++) {
		int64_t by, home = -k->faces.v[c].offset;

		if (!home)
			continue;
		set_add(k, c);
		by = best_place(k, false);
		if (is_free(k, home))
			k->faces.v[c].offset = 0;
		else if (gain_of_set(k, by).all >= 0)
			k->faces.v[c].offset = skew_plus(k->faces.v[c].offset, by);
		set_clear(k);
	}
}

bool skew_is_sure(const struct skew *k, uint32_t clock, struct skew_fit *fit)
{
	const struct face *f = &k->faces.v[clock];
	bool is_sure = true;

	*fit = (struct skew_fit){ 0 };
	for (uint32_t j = 0; j < f->nr_pairs; j++) {
		const struct pair *p = &k->pairs.v[f->pairs[j]];
		size_t nr = violated(k, p);

		fit->pairs += p->least.nr;
		fit->agree += p->least.nr - nr;
		if (10 * nr > p->least.nr && nr > violated_at(p, 0))
			is_sure = false;
	}
	return is_sure && 10 * fit->agree >= 9 * fit->pairs;
}
