#include "infer/requests/tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/agreed.h"

#define AGAIN_NS (10 * INT64_C(1000000000))
#define DELAY_LEAST_MS 50 /* shorter ones are all alike */
#define DELAY_UNKNOWN 100
#define CONFIDENT 1.64
#define FEW 8 /* so many without an exception are enough ... */
#define ALWAYS 0.99
#define MANY 20      /* of many statements one looks sure by chance, unless it is seen so often */
#define DEPTH_BITS 2 /* a name by way of an owner says less */

enum {
	TYPES_MAX = 64,        /* further statements of one unit tell nothing of what follows */
	RECENT_MAX = 64,       /* sorts of units that named a thing last */
	OFFERS_MAX = 256,      /* earlier units that one is held against */
	FOLLOWS_MAX = 1 << 23, /* pairs of statements that are counted */
	COUNTED_A_UNIT = 16,   /* statements that are known to follow, for each unit */
	COUNTED_MIN = 65536,
};

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
	uint32_t *offered;           /* of each unit: 1 + the later one that it was offered to */
	unsigned nr_offers;          /* to the unit at hand */
};

void ties_done(struct ties *l)
{
	vec_done(&l->v);
	vec_done(&l->at);
	vec_done(&l->types);
	vec_done(&l->types_at);
	map_done(&l->follows);
	map_done(&l->again);
	map_done(&l->delay_at);
	vec_done(&l->delays);
	free(l->nr_again);
	free(l->nr_of_type);
	free(l->bits);
}

static uint32_t *numbers(size_t nr)
{
	uint32_t *v = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*v)));

	memset(v, 0, (nr + 1) * sizeof(*v));
	return v;
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

double ties_spread(const struct ties *l, uint32_t type, uint32_t next)
{
	const uint64_t *at = map_find(&l->delay_at, map_pair(type, next));
	const struct delays *d = at ? &l->delays.v[*at - 1] : NULL;
	double mean, variance;

	if (!d || d->nr < 2)
		return DELAY_UNKNOWN;
	mean = d->sum / d->nr;
	variance = d->squares / d->nr - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
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
	if (w->looks[kind].is_agreed || w->looks[kind].is_numbers || w->looks[kind].is_address)
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
		    w->looks[owner].is_numbers)
			return false;
	}
	return true;
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
		    /* who answers whom is known already */
		    agreed_is(w, h.thing))
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

	if (f->offered[earlier] == unit + 1 || f->nr_offers == OFFERS_MAX)
		return;
	f->offered[earlier] = unit + 1;
	f->nr_offers++;
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

/* From which statements the lines of each unit are. */
static void list_types(struct ties *l, const struct work *w)
{
	uint32_t *taken = numbers(w->g->types.nr);

	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];
		size_t from = l->types.nr;

		vec_push(&l->types_at, (uint32_t)from);
		for (uint32_t at = u->from; at < u->to && l->types.nr - from < TYPES_MAX; at++) {
			uint32_t type = work_line(w, at)->type;

			if (taken[type] == i + 1)
				continue;
			taken[type] = i + 1;
			vec_push(&l->types, type);
			l->nr_of_type[type]++;
		}
	}
	vec_push(&l->types_at, (uint32_t)l->types.nr);
	free(taken);
}

static void remember(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];

	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t thing = f->w->held.v[u->held_at + i].thing;
		struct recent *oldest = NULL, *same = NULL;

		vec_each (&f->recent[thing], r) {
			oldest = !oldest || r->unit < oldest->unit ? r : oldest;
			same = r->type == u->type ? r : same;
		}
		if (!same && f->recent[thing].nr == RECENT_MAX)
			same = oldest;
		if (same)
			*same = (struct recent){ u->type, unit };
		else
			vec_push(&f->recent[thing], (struct recent){ u->type, unit });
	}
}

/* Adds one, unless that takes more room than there is. */
static void count_one(struct map *m, uint64_t key, size_t room)
{
	if (m->nr < room || map_find(m, key))
		(*map_at(m, key))++;
}

/* Every statement of the earlier unit is followed by every one of this unit. */
static void note_delay(struct finder *f, uint32_t earlier, uint32_t unit)
{
	const struct unit *a = &f->w->units.v[earlier], *u = &f->w->units.v[unit];
	struct ties *l = f->l;
	uint64_t *at = map_at(&l->delay_at, map_pair(a->type, u->type));
	double ms = log((double)(u->start > a->end ? u->start - a->end : 0) / 1e6 + DELAY_LEAST_MS);

	if (!*at) {
		vec_push(&l->delays, (struct delays){ 0 });
		*at = l->delays.nr;
	}
	l->delays.v[*at - 1].nr++;
	l->delays.v[*at - 1].sum += ms;
	l->delays.v[*at - 1].squares += ms * ms;
}

static void count_pair(struct finder *f, uint32_t earlier, uint32_t unit)
{
	struct ties *l = f->l;
	size_t room = COUNTED_A_UNIT * f->w->units.nr + COUNTED_MIN;

	for (uint32_t i = l->types_at.v[unit]; i < l->types_at.v[unit + 1]; i++) {
		uint32_t next = l->types.v[i];

		if (f->counted.nr >= room || map_find(&f->counted, map_pair(earlier, next)))
			continue;
		*map_at(&f->counted, map_pair(earlier, next)) = 1;
		if (i == l->types_at.v[unit])
			note_delay(f, earlier, unit);
		for (uint32_t k = l->types_at.v[earlier]; k < l->types_at.v[earlier + 1]; k++)
			count_one(&l->follows, map_pair(l->types.v[k], next), FOLLOWS_MAX);
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

	for (const struct map_slot *s = NULL; (s = map_next(&f->superseded, s));)
		for (uint32_t i = l->types_at.v[s->key]; i < l->types_at.v[s->key + 1]; i++)
			l->nr_again[l->types.v[i]]++;
	for (const struct map_slot *s = NULL; (s = map_next(&f->counted, s));) {
		uint32_t earlier = (uint32_t)(s->key >> 32);

		if (!map_find(&f->superseded, earlier))
			continue;
		for (uint32_t i = l->types_at.v[earlier]; i < l->types_at.v[earlier + 1]; i++)
			count_one(&l->again, map_pair(l->types.v[i], (uint32_t)s->key),
				  FOLLOWS_MAX);
	}
}

static void weigh(struct ties *l, const struct work *w)
{
	size_t nr = w->g->things.nr + 1;
	uint32_t *count = numbers(nr);

	for (size_t i = 0; i < w->held.nr; i++)
		count[w->held.v[i].thing]++;
	l->bits = mem_realloc(NULL, mem_bytes(nr, sizeof(*l->bits)));
	for (size_t i = 0; i < nr; i++)
		l->bits[i] = count[i] ? (float)-log2((double)count[i] / (double)w->units.nr) : 0;
	free(count);
}

/* Holds a unit against the earlier ones that named the same. */
static void meet_earlier(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];
	struct ties *l = f->l;

	vec_push(&l->at, (uint32_t)l->v.nr);
	f->nr_offers = 0;
	for (uint32_t k = 0; k < u->nr_held; k++)
		vec_each (&f->recent[f->w->held.v[u->held_at + k].thing], r)
			if (u->start - f->w->units.v[r->unit].start <= TIES_WINDOW_NS)
				offer(f, unit, r->unit);
	for (size_t i = l->at.v[unit]; i < l->v.nr; i++)
		count_pair(f, l->v.v[i].unit, unit);
	note_again(f, unit);
	if (!u->is_batch && !u->is_undated)
		remember(f, unit);
}

void ties_find(struct ties *l, struct work *w, const struct owners *o)
{
	struct finder f = { .w = w, .o = o, .l = l };
	size_t nr_things = w->g->things.nr + 1, nr_types = w->g->types.nr + 1;

	*l = (struct ties){ 0 };
	weigh(l, w);
	l->nr_of_type = numbers(nr_types);
	l->nr_again = numbers(nr_types);
	list_types(l, w);
	f.offered = numbers(w->units.nr);
	f.recent = mem_realloc(NULL, mem_bytes(nr_things, sizeof(*f.recent)));
	memset(f.recent, 0, nr_things * sizeof(*f.recent));
	for (uint32_t i = 0; i < w->units.nr; i++)
		meet_earlier(&f, i);
	vec_push(&l->at, (uint32_t)l->v.nr);
	for (size_t i = 0; i < nr_things; i++)
		vec_done(&f.recent[i]);
	free(f.recent);
	free(f.offered);
	sum_up(&f);
	map_done(&f.superseded);
	map_done(&f.counted);
}
