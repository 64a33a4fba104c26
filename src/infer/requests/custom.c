/*
 * Of each unit it is known which statements have followed it; each counts once, however often it
 * comes. There are few sorts of units (lists of statements), so pairs of a sort and a statement are
 * counted, and spread over the statements of the sort when all is seen.
 */
#include "infer/requests/custom.h"

#include <math.h>
#include <stdlib.h>

#include "base/lists.h"
#include "base/mem.h"

enum {
	FOLLOWS_MAX = 1 << 23, /* pairs of statements that are counted */
	COUNTED_A_UNIT = 16,   /* statements that are known to follow, for each unit */
	COUNTED_MIN = 65536,
	NODE_NR = 7,
	NODES_MAX = 8, /* of one unit; more statements than they hold are looked up in a map */
	LOGS_NR = 4096,
	DELAY_LEAST_MS = 50, /* shorter delays are all alike */
};
#define NS_PER_MS 1000000

/* Statements that follow a unit. */
struct node {
	uint32_t more;          /* the next node of the unit; 0: none */
	uint32_t next[NODE_NR]; /* 1 + the statement; 0: free */
};

struct customs {
	const struct work *w;
	struct ties *l;
	struct lists sorts;
	uint32_t *last; /* of each unit: 1 + the sort that was counted last as following it */
	uint32_t *head; /* of each unit: its first node, or 0 */
	bool *is_again; /* of each unit: the same was done again */
	VEC(struct node) nodes;
	struct map beyond;        /* unit and statement: those that have no place in nodes */
	size_t nr;                /* statements that are known to follow a unit */
	struct map counts[2];     /* sort and statement: units followed; of these: done again */
	double logs[LOGS_NR + 1]; /* of delays in whole milliseconds; 0: not asked for yet */
};

struct customs *customs_new(const struct work *w, struct ties *l)
{
	struct customs *h = mem_zalloc(sizeof(*h));
	size_t nr = w->units.nr + 1;

	h->w = w;
	h->l = l;
	l->sort = mem_zalloc(mem_bytes(nr, sizeof(*l->sort)));
	h->last = mem_zalloc(mem_bytes(nr, sizeof(*h->last)));
	h->head = mem_zalloc(mem_bytes(nr, sizeof(*h->head)));
	h->is_again = mem_zalloc(nr);
	vec_push(&h->nodes, (struct node){ 0 });
	for (uint32_t i = 0; i < w->units.nr; i++)
		l->sort[i] = lists_add(&h->sorts, l->types.v + l->types_at.v[i],
				       l->types_at.v[i + 1] - l->types_at.v[i]);
	return h;
}

/* Whether it is new that the statement follows the unit. */
static bool note(struct customs *h, uint32_t unit, uint32_t next)
{
	uint32_t *link = &h->head[unit];
	uint64_t *at;

	for (unsigned i = 0; i < NODES_MAX; i++) {
		struct node *n;

		if (!*link) {
			*link = (uint32_t)h->nodes.nr;
			vec_push(&h->nodes, (struct node){ .next = { next + 1 } });
			return true;
		}
		n = &h->nodes.v[*link];
		for (unsigned k = 0; k < NODE_NR; k++) {
			if (n->next[k] == next + 1)
				return false;
			if (!n->next[k]) {
				n->next[k] = next + 1;
				return true;
			}
		}
		link = &n->more;
	}
	at = map_at(&h->beyond, map_pair(unit, next));
	return !(*at)++;
}

static double log_of(struct customs *h, int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;

	if (ms * NS_PER_MS != ns || ms >= LOGS_NR)
		return log((double)ns / 1e6 + DELAY_LEAST_MS);
	if (h->logs[ms] == 0)
		h->logs[ms] = log((double)ms + DELAY_LEAST_MS);
	return h->logs[ms];
}

static void note_delay(struct customs *h, uint32_t earlier, uint32_t unit)
{
	const struct unit *a = &h->w->units.v[earlier], *u = &h->w->units.v[unit];
	struct ties *l = h->l;
	uint64_t *at = map_at(&l->delay_at, map_pair(a->type, u->type));
	double ms = log_of(h, u->start > a->end ? u->start - a->end : 0);

	if (!*at) {
		vec_push(&l->delays, (struct delays){ 0 });
		*at = l->delays.nr;
	}
	l->delays.v[*at - 1].nr++;
	l->delays.v[*at - 1].sum += ms;
	l->delays.v[*at - 1].squares += ms * ms;
}

void customs_count(struct customs *h, uint32_t earlier, uint32_t unit)
{
	const uint32_t *types = lists_of(&h->sorts, h->l->sort[unit]);
	uint32_t nr = lists_length(&h->sorts, h->l->sort[unit]);
	size_t room = COUNTED_A_UNIT * h->w->units.nr + COUNTED_MIN;

	/* nothing of it is new */
	if (h->last[earlier] == h->l->sort[unit] + 1)
		return;
	h->last[earlier] = h->l->sort[unit] + 1;
	for (uint32_t i = 0; i < nr && h->nr < room; i++) {
		if (!note(h, earlier, types[i]))
			continue;
		h->nr++;
		if (!i)
			note_delay(h, earlier, unit);
	}
}

void customs_again(struct customs *h, uint32_t unit)
{
	h->is_again[unit] = true;
}

static void count(struct customs *h, uint32_t unit, uint32_t next)
{
	(*map_at(&h->counts[0], map_pair(h->l->sort[unit], next)))++;
	if (h->is_again[unit])
		(*map_at(&h->counts[1], map_pair(h->l->sort[unit], next)))++;
}

static void count_all(struct customs *h)
{
	for (uint32_t unit = 0; unit < h->w->units.nr; unit++)
		for (uint32_t at = h->head[unit]; at; at = h->nodes.v[at].more)
			for (unsigned k = 0; k < NODE_NR && h->nodes.v[at].next[k]; k++)
				count(h, unit, h->nodes.v[at].next[k] - 1);
	for (const struct map_slot *s = NULL; (s = map_next(&h->beyond, s));)
		count(h, (uint32_t)(s->key >> 32), (uint32_t)s->key);
}

/* Every statement of the sort is followed, unless that takes more room than there is. */
static void spread(struct customs *h, const struct map *counts, struct map *to)
{
	for (const struct map_slot *s = NULL; (s = map_next(counts, s));) {
		uint32_t sort = (uint32_t)(s->key >> 32), next = (uint32_t)s->key;

		for (uint32_t i = 0; i < lists_length(&h->sorts, sort); i++) {
			uint64_t key = map_pair(lists_of(&h->sorts, sort)[i], next);

			if (to->nr < FOLLOWS_MAX || map_find(to, key))
				*map_at(to, key) += s->value;
		}
	}
}

void customs_done(struct customs *h)
{
	struct ties *l = h->l;

	for (uint32_t i = 0; i < h->w->units.nr; i++)
		for (uint32_t k = l->types_at.v[i]; k < l->types_at.v[i + 1] && h->is_again[i]; k++)
			l->nr_again[l->types.v[k]]++;
	count_all(h);
	spread(h, &h->counts[0], &l->follows);
	spread(h, &h->counts[1], &l->again);
	map_done(&h->counts[0]);
	map_done(&h->counts[1]);
	map_done(&h->beyond);
	lists_done(&h->sorts);
	vec_done(&h->nodes);
	free(h->last);
	free(h->head);
	free(h->is_again);
	free(h);
}
