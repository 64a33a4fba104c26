#include "infer/requests/tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WINDOW_NS \
	(120 * INT64_C(1000000000)) /* units further apart have nothing to do with each other */
#define AGAIN_NS (10 * INT64_C(1000000000))
#define CONFIDENT 1.64
#define FEW 8 /* so many without an exception are enough ... */
#define ALWAYS 0.99
#define MANY 20      /* of many statements one looks sure by chance, unless it is seen so often */
#define DEPTH_BITS 2 /* a name by way of an owner says less */

/* The last unit of each type that named a thing. */
struct recent {
	uint32_t type, unit;
};

struct finder {
	struct work *w;
	const struct owners *o;
	struct ties *l;
	VEC(struct recent) * recent; /* of each thing */
	struct map counted;          /* unit and type: counted as followed */
	struct map superseded;       /* units after which the same was done again */
};

void ties_done(struct ties *l)
{
	vec_done(&l->v);
	vec_done(&l->at);
	map_done(&l->follows);
	map_done(&l->again);
	free(l->nr_again);
	free(l->nr_of_type);
	free(l->bits);
}

/* How many units could have been followed, and how many were. */
static double counts(const struct ties *l, uint32_t type, uint32_t next, double *followed)
{
	const uint64_t *at = map_find(&l->follows, map_pair(type, next));
	const uint64_t *again = map_find(&l->again, map_pair(type, next));

	*followed = at ? (double)*at : 0;
	/* work that is done again before anything follows counts once */
	return l->nr_of_type[type] - ((double)l->nr_again[type] - (again ? (double)*again : 0));
}

static double lower_bound(double followed, double n)
{
	double p = followed < n ? followed / n : 1, z = CONFIDENT;

	return (p + z * z / 2 / n - z * sqrt(p * (1 - p) / n + z * z / 4 / n / n)) /
	       (1 + z * z / n);
}

double ties_share(const struct ties *l, uint32_t type, uint32_t next)
{
	double followed, n = counts(l, type, next, &followed);

	if (followed <= 0 || n <= 0)
		return 0;
	return n >= FEW && followed >= ALWAYS * n ? 1 : lower_bound(followed, n);
}

double ties_share_beside(const struct ties *l, uint32_t type, uint32_t next)
{
	double followed, n = counts(l, type, next, &followed);

	return followed <= 0 || n < MANY ? 0 : lower_bound(followed, n);
}

static const struct held *held_of(const struct work *w, const struct unit *u, uint32_t thing)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (w->held.v[u->held_at + i].thing == thing)
			return &w->held.v[u->held_at + i];
	return NULL;
}

/* One value of the kind; several are no single one, and none is none. */
static unsigned value_of(const struct work *w, const struct unit *u, uint32_t kind, uint32_t *value)
{
	unsigned nr = 0;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (h.depth < DEPTH_PREFIX && w->g->kind_of.v[h.thing] == kind) {
			*value = h.thing;
			nr++;
		}
	}
	return nr;
}

static bool is_above(const struct work *w, uint32_t a, uint32_t b)
{
	struct str x = gather_value(w->g, a), y = gather_value(w->g, b);

	return (str_starts(x, y) && x.p[y.n] == '/') || (str_starts(y, x) && y.p[x.n] == '/');
}

/* Whether what both name of this kind speaks against one request. */
static bool contradicts(const struct finder *f, const struct unit *a, const struct unit *b,
			uint32_t kind, const uint32_t *shared, unsigned nr_shared)
{
	const struct work *w = f->w;
	uint32_t x = 0, y = 0;

	/* numbers alone say nothing; two ends of one number differ by nature; one client has many
	 * connections */
	if (names_str(&w->g->kinds, kind).p[0] == '@' ||
	    names_str(&w->g->kinds, kind).p[0] == '#' ||
	    str_eq(names_str(&w->g->kinds, kind), STR("address")))
		return false;
	for (unsigned i = 0; i < nr_shared; i++)
		if (w->g->kind_of.v[shared[i]] == kind)
			return false;
	if (value_of(w, a, kind, &x) != 1 || value_of(w, b, kind, &y) != 1 || x == y)
		return false;
	if (work_is_path(w, x) && is_above(w, x, y))
		return false;
	for (unsigned i = 0; i < nr_shared; i++) {
		uint32_t owner = w->g->kind_of.v[shared[i]];

		if (hold_is_owner(f->o, kind, owner) || hold_same_stem(w, kind, owner) ||
		    names_str(&w->g->kinds, owner).p[0] == '#')
			return false;
	}
	return true;
}

/* Who used a number ties nothing: the other end uses the same number. */
static bool is_sender(const struct work *w, uint32_t thing)
{
	return str_eq(names_str(&w->g->kinds, w->g->kind_of.v[thing]), STR("@>"));
}

/* The rarest thing that ties both together; 0: none, or they contradict each other. */
static float tie(const struct finder *f, const struct unit *a, const struct unit *b,
		 uint32_t *thing)
{
	const struct work *w = f->w;
	uint32_t shared[64];
	unsigned nr = 0;
	float best = -100;

	for (uint32_t i = 0; i < b->nr_held && nr < 64; i++) {
		struct held h = w->held.v[b->held_at + i];
		const struct held *other = held_of(w, a, h.thing);
		unsigned depth;
		float bits;

		if (!other || (h.depth >= DEPTH_PREFIX && other->depth >= DEPTH_PREFIX) ||
		    is_sender(w, h.thing))
			continue;
		shared[nr++] = h.thing;
		depth = h.depth + other->depth;
		bits = f->l->bits[h.thing] - DEPTH_BITS * (float)(depth < 2 ? depth : 2);
		if (bits > best) {
			best = bits;
			*thing = h.thing;
		}
	}
	if (!nr)
		return -100;
	for (uint32_t i = 0; i < b->nr_held; i++) {
		struct held h = w->held.v[b->held_at + i];

		if (h.depth < DEPTH_PREFIX &&
		    contradicts(f, a, b, w->g->kind_of.v[h.thing], shared, nr))
			return -100;
	}
	return best;
}

/* Keeps the best earlier unit of each type. */
static void offer(struct finder *f, uint32_t unit, uint32_t earlier)
{
	struct ties *l = f->l;
	const struct unit *b = &f->w->units.v[unit], *a = &f->w->units.v[earlier];
	struct candidate c = { .unit = earlier };

	for (size_t i = l->at.v[unit]; i < l->v.nr; i++)
		if (l->v.v[i].unit == earlier)
			return;
	c.bits = tie(f, a, b, &c.thing);
	if (c.bits <= -100)
		return;
	for (size_t i = l->at.v[unit]; i < l->v.nr; i++) {
		struct candidate *old = &l->v.v[i];

		if (f->w->units.v[old->unit].type != a->type)
			continue;
		if (c.bits > old->bits || (c.bits == old->bits && earlier > old->unit))
			*old = c;
		return;
	}
	vec_push(&l->v, c);
}

/* Whether no line before it in the unit came from the same statement. */
static bool is_first_of_type(const struct work *w, const struct unit *u, uint32_t at)
{
	for (uint32_t i = u->from; i < at; i++)
		if (work_line(w, i)->type == work_line(w, at)->type)
			return false;
	return true;
}

static void remember(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];

	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t thing = f->w->held.v[u->held_at + i].thing;
		bool is_known = false;

		vec_each (&f->recent[thing], r)
			if (r->type == u->type) {
				r->unit = unit;
				is_known = true;
			}
		if (!is_known)
			vec_push(&f->recent[thing], (struct recent){ u->type, unit });
	}
}

/* Every statement of the earlier unit is followed by every one of this unit. */
static void count_pair(struct finder *f, uint32_t earlier, const struct unit *u)
{
	const struct unit *a = &f->w->units.v[earlier];

	for (uint32_t at = u->from; at < u->to; at++) {
		uint32_t next = work_line(f->w, at)->type;
		uint64_t *seen = map_at(&f->counted, map_pair(earlier, next));

		if (*seen)
			continue;
		*seen = 1;
		for (uint32_t k = a->from; k < a->to; k++)
			if (is_first_of_type(f->w, a, k))
				(*map_at(&f->l->follows,
					 map_pair(work_line(f->w, k)->type, next)))++;
	}
}

/* Units after which the same was done to the same thing again. */
static void note_again(struct finder *f, uint32_t unit)
{
	const struct work *w = f->w;
	const struct unit *u = &w->units.v[unit];
	struct ties *l = f->l;

	for (size_t i = l->at.v[unit]; i < l->v.nr; i++) {
		uint32_t earlier = l->v.v[i].unit;
		const struct unit *a = &w->units.v[earlier];

		if (a->type != u->type || u->start - a->start > AGAIN_NS)
			continue;
		*map_at(&f->superseded, earlier) = 1;
	}
}

/* What is known of superseded units, once all are seen. */
static void sum_up(struct finder *f)
{
	struct ties *l = f->l;

	for (const struct map_slot *s = NULL; (s = map_next(&f->superseded, s));) {
		const struct unit *a = &f->w->units.v[s->key];

		for (uint32_t at = a->from; at < a->to; at++)
			if (is_first_of_type(f->w, a, at))
				l->nr_again[work_line(f->w, at)->type]++;
	}
	for (const struct map_slot *s = NULL; (s = map_next(&f->counted, s));) {
		uint32_t earlier = (uint32_t)(s->key >> 32);
		const struct unit *a = &f->w->units.v[earlier];

		if (!map_find(&f->superseded, earlier))
			continue;
		for (uint32_t at = a->from; at < a->to; at++)
			if (is_first_of_type(f->w, a, at))
				(*map_at(&l->again,
					 map_pair(work_line(f->w, at)->type, (uint32_t)s->key)))++;
	}
}

static void count_types(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];
	struct ties *l = f->l;

	for (size_t i = l->at.v[unit]; i < l->v.nr; i++)
		count_pair(f, l->v.v[i].unit, u);
	for (uint32_t at = u->from; at < u->to; at++)
		if (is_first_of_type(f->w, u, at))
			l->nr_of_type[work_line(f->w, at)->type]++;
}

static void weigh(struct ties *l, const struct work *w)
{
	size_t nr = w->g->things.nr + 1;
	uint32_t *count = mem_realloc(NULL, mem_bytes(nr, sizeof(*count)));

	memset(count, 0, nr * sizeof(*count));
	for (size_t i = 0; i < w->held.nr; i++)
		count[w->held.v[i].thing]++;
	l->bits = mem_realloc(NULL, mem_bytes(nr, sizeof(*l->bits)));
	for (size_t i = 0; i < nr; i++)
		l->bits[i] = count[i] ? (float)-log2((double)count[i] / (double)w->units.nr) : 0;
	free(count);
}

void ties_find(struct ties *l, struct work *w, const struct owners *o)
{
	struct finder f = { .w = w, .o = o, .l = l };
	size_t nr_things = w->g->things.nr + 1, nr_types = w->g->types.nr + 1;

	*l = (struct ties){ 0 };
	weigh(l, w);
	l->nr_of_type = mem_realloc(NULL, mem_bytes(nr_types, sizeof(*l->nr_of_type)));
	memset(l->nr_of_type, 0, nr_types * sizeof(*l->nr_of_type));
	l->nr_again = mem_realloc(NULL, mem_bytes(nr_types, sizeof(*l->nr_again)));
	memset(l->nr_again, 0, nr_types * sizeof(*l->nr_again));
	f.recent = mem_realloc(NULL, mem_bytes(nr_things, sizeof(*f.recent)));
	memset(f.recent, 0, nr_things * sizeof(*f.recent));
	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];

		vec_push(&l->at, (uint32_t)l->v.nr);
		for (uint32_t k = 0; k < u->nr_held; k++)
			vec_each (&f.recent[w->held.v[u->held_at + k].thing], r)
				if (u->start - w->units.v[r->unit].start <= WINDOW_NS)
					offer(&f, i, r->unit);
		count_types(&f, i);
		note_again(&f, i);
		if (!u->is_batch && !u->is_undated)
			remember(&f, i);
	}
	vec_push(&l->at, (uint32_t)l->v.nr);
	for (size_t i = 0; i < nr_things; i++)
		vec_done(&f.recent[i]);
	free(f.recent);
	sum_up(&f);
	map_done(&f.superseded);
	map_done(&f.counted);
}
