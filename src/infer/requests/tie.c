#include "infer/requests/tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/common.h"
#include "infer/requests/custom.h"

#define AGAIN_NS (10 * INT64_C(1000000000))
#define DELAY_UNKNOWN 100
#define CONFIDENT 1.64
#define FEW 8 /* so many without an exception are enough ... */
#define ALWAYS 0.99
#define MANY 20 /* of many statements one looks sure by chance, unless it is seen so often */

enum {
	TYPES_MAX = 64,   /* further statements of one unit tell nothing of what follows */
	RECENT_MAX = 64,  /* sorts of units that named a thing last */
	RECENT_LEAST = 2, /* places that are kept for them at first */
	OFFERS_MAX = 256, /* earlier units that one is held against */
	LOGS_NR = 1024,
};

/* The last unit of a type that named a thing. */
struct recent {
	uint32_t type, unit, set;
};

/* Those of one thing. */
struct recents {
	uint32_t at; /* in pool */
	uint16_t nr, room;
};

/* Where the candidate of a type stands. */
struct offered {
	uint32_t unit; /* 1 + the unit that it is offered to */
	uint32_t at;
	uint32_t last; /* 1 + where the last one stands, if that is another; 0: it does not */
};

struct finder {
	struct work *w;
	struct ties *l;
	struct customs *customs;
	struct common common;
	struct recents *recent; /* of each thing */
	VEC(struct recent) pool;
	uint32_t *offered;       /* of each unit: 1 + the later one that it was offered to */
	struct offered *by_type; /* of each type: the best earlier unit */
	unsigned nr_offers;      /* to the unit at hand */
	uint32_t from;           /* earlier units are too far away from the one at hand */
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
	free(l->sort);
	free(l->set);
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

int64_t ties_delay(const struct ties *l, uint32_t type, uint32_t next)
{
	const uint64_t *at = map_find(&l->delay_at, map_pair(type, next));
	const struct delays *d = at ? &l->delays.v[*at - 1] : NULL;

	return d && d->nr >= 2 ? (int64_t)(exp(d->sum / d->nr) * 1e6) : INT64_MAX;
}

double ties_share_beside(const struct ties *l, uint32_t type, uint32_t next)
{
	double followed, n = counts(l, type, next, &followed);

	return followed <= 0 || n < MANY ? 0 : lower_bound(followed, n);
}

/* Of those of one type the best is kept, and the last one beside it. */
static void offer_another(struct ties *l, struct offered *o, struct candidate c)
{
	struct candidate best = l->v.v[o->at], last = o->last ? l->v.v[o->last - 1] : best;

	if (c.unit > last.unit)
		last = c;
	if (c.bits > best.bits || (c.bits == best.bits && c.unit > best.unit))
		best = c;
	l->v.v[o->at] = best;
	last.is_last = true;
	if (o->last) {
		l->v.v[o->last - 1] = last;
	} else if (last.unit != best.unit) {
		vec_push(&l->v, last);
		o->last = (uint32_t)l->v.nr;
	}
}

/* Keeps the best earlier unit of each type. */
static void offer(struct finder *f, uint32_t unit, struct recent earlier)
{
	struct ties *l = f->l;
	struct candidate c = { .unit = earlier.unit };
	struct offered *o = &f->by_type[earlier.type];

	if (f->offered[c.unit] == unit + 1 || f->nr_offers == OFFERS_MAX)
		return;
	f->offered[c.unit] = unit + 1;
	f->nr_offers++;
	c.bits = common_tie(&f->common, earlier.set, l->set[unit], &c.thing);
	if (c.bits <= COMMON_NONE)
		return;
	if (o->unit == unit + 1) {
		offer_another(l, o, c);
		return;
	}
	*o = (struct offered){ .unit = unit + 1, .at = (uint32_t)l->v.nr };
	vec_push(&l->v, c);
}

/* From which statements the lines of each unit are. */
static void list_types(struct ties *l, const struct work *w)
{
	uint32_t *taken = work_counts(w->g->types.nr);

	for (uint32_t i = 0; i < w->units.nr; i++) {
		const struct unit *u = &w->units.v[i];
		size_t from = l->types.nr;

		vec_push(&l->types_at, (uint32_t)from);
		for (uint32_t at = u->from; at < u->to && l->types.nr - from < TYPES_MAX; at++) {
			/* that of the unit first */
			uint32_t type = at == u->from ? u->type : work_line(w, at)->type;

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

/* A place for one more that named the thing last. */
static struct recent *recent_new(struct finder *f, struct recents *r)
{
	if (r->nr == r->room) {
		uint16_t room = r->room ? (uint16_t)(2 * r->room) : RECENT_LEAST;
		uint32_t at = (uint32_t)f->pool.nr;

		vec_reserve(&f->pool, at + (size_t)room);
		f->pool.nr += room;
		if (r->nr)
			memcpy(f->pool.v + at, f->pool.v + r->at, r->nr * sizeof(*f->pool.v));
		*r = (struct recents){ at, r->nr, room };
	}
	return &f->pool.v[r->at + r->nr++];
}

static void remember(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct recents *r = &f->recent[f->w->held.v[u->held_at + i].thing];
		struct recent *v = f->pool.v + r->at, *same = NULL;

		for (unsigned k = 0; k < r->nr && !same; k++)
			same = v[k].type == u->type ? &v[k] : NULL;
		if (!same && r->nr == RECENT_MAX) {
			same = v;
			for (unsigned k = 1; k < r->nr; k++)
				same = v[k].unit < same->unit ? &v[k] : same;
		}
		if (!same)
			same = recent_new(f, r);
		*same = (struct recent){ u->type, unit, f->l->set[unit] };
	}
}

/* Units after which the same was done to the same thing again. */
static void note_again(struct finder *f, uint32_t unit)
{
	const struct unit *u = &f->w->units.v[unit];
	const struct offered *o = &f->by_type[u->type];
	uint32_t earlier;

	if (o->unit != unit + 1)
		return;
	earlier = f->l->v.v[o->at].unit;
	if (u->start - f->w->units.v[earlier].start <= AGAIN_NS)
		customs_again(f->customs, earlier);
}

static void weigh(struct ties *l, const struct work *w)
{
	size_t nr = w->g->things.nr + 1;
	uint32_t *count = work_counts(nr);
	float logs[LOGS_NR];

	for (size_t i = 0; i < w->held.nr; i++)
		count[w->held.v[i].thing]++;
	l->bits = mem_realloc(NULL, mem_bytes(nr, sizeof(*l->bits)));
	for (size_t i = 0; i < LOGS_NR; i++)
		logs[i] = i ? (float)-log2((double)i / (double)w->units.nr) : 0;
	for (size_t i = 0; i < nr; i++)
		l->bits[i] = count[i] < LOGS_NR
				     ? logs[count[i]]
				     : (float)-log2((double)count[i] / (double)w->units.nr);
	free(count);
}

/* Holds a unit against the earlier ones that named the same. */
static void meet_earlier(struct finder *f, uint32_t unit)
{
	const struct unit *units = f->w->units.v, *u = &units[unit];
	struct ties *l = f->l;

	while (u->start - units[f->from].start > TIES_WINDOW_NS)
		f->from++;
	vec_push(&l->at, (uint32_t)l->v.nr);
	f->nr_offers = 0;
	for (uint32_t k = 0; k < u->nr_held; k++) {
		const struct recents *r = &f->recent[f->w->held.v[u->held_at + k].thing];

		for (unsigned i = 0; i < r->nr; i++)
			if (f->pool.v[r->at + i].unit >= f->from)
				offer(f, unit, f->pool.v[r->at + i]);
	}
	for (size_t i = l->at.v[unit]; i < l->v.nr; i++)
		if (!l->v.v[i].is_last)
			customs_count(f->customs, l->v.v[i].unit, unit);
	note_again(f, unit);
	if (!u->is_batch && !u->is_undated)
		remember(f, unit);
}

void ties_find(struct ties *l, struct work *w, const struct owners *o)
{
	struct finder f = { .w = w, .l = l };
	size_t nr_things = w->g->things.nr + 1, nr_types = w->g->types.nr + 1;

	*l = (struct ties){ 0 };
	weigh(l, w);
	l->nr_of_type = work_counts(nr_types);
	l->nr_again = work_counts(nr_types);
	list_types(l, w);
	common_begin(&f.common, w, o, l->bits);
	f.customs = customs_new(w, l);
	l->set = work_counts(w->units.nr);
	for (uint32_t i = 0; i < w->units.nr; i++)
		l->set[i] = common_set(&f.common, &w->units.v[i]);
	f.offered = work_counts(w->units.nr);
	f.by_type = mem_zalloc(mem_bytes(nr_types, sizeof(*f.by_type)));
	f.recent = mem_zalloc(mem_bytes(nr_things, sizeof(*f.recent)));
	for (uint32_t i = 0; i < w->units.nr; i++)
		meet_earlier(&f, i);
	vec_push(&l->at, (uint32_t)l->v.nr);
	customs_done(f.customs);
	common_done(&f.common);
	vec_done(&f.pool);
	free(f.recent);
	free(f.by_type);
	free(f.offered);
}
