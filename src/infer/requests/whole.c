/*
 * A statement in front of which another one nearly always stands, in the same thread or in what it
 * follows, stands there alone in the first moments of the log: the other one was written before the
 * input began. A statement that is nearly always followed by another one is not, in the last
 * moments: the other one was to come. How long such moments are the data tell: a few times what
 * usually lies between the two. Costs one pass over the lines, and a number for each two statements
 * that occur together.
 */
#include "infer/requests/whole.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"

enum {
	LEAST = 8,       /* so often seen, at least, to be called usual */
	FOLLOWERS = 16,  /* of one statement that are looked at */
	TIMES = 4,       /* so many times the usual delay may pass */
	LINES_MOST = 64, /* of a unit that are set against each other */
};
#define NEARLY_ALWAYS 0.85
#define ALWAYS 0.98 /* so often that how long ago it was does not count */
#define LEAST_NS (10 * NS_MS)
#define MOST_NS (60 * NS_S)

struct pair {
	uint32_t first, next;
	bool is_across; /* in other threads; then the first begins a unit */
	uint32_t nr;
	int64_t delay; /* of all of them together, ns */
};

struct musts {
	uint32_t *at;    /* of each type: where it begins */
	VEC(uint32_t) v; /* places in pairs */
};

struct whole {
	const struct work *w;
	int64_t *log_first;     /* of each log, ns */
	int64_t last;           /* of all logs, ns */
	uint32_t *nr;           /* of each type: units with it */
	uint32_t *nr_units;     /* of each type: units that begin with it */
	uint32_t *starts_at;    /* of each type: where theirs begin in starts */
	int64_t *starts;        /* ns */
	uint32_t *nr_after;     /* of these: with something in front */
	int64_t *delay_after;   /* and how long ago that was, in all, ns */
	VEC(struct pair) pairs; /* of these: followed by another statement */
	struct map at, across;  /* type and type: 1 + place in pairs */
	struct musts must;      /* what nearly always follows a statement */
	struct musts back;      /* what nearly always stands before it in its thread */
};

static void see_logs(struct whole *h)
{
	const struct gather *g = h->w->g;

	for (uint32_t i = 0; i <= g->logs.nr; i++) {
		h->log_first[i] = INT64_MAX;
	}
	for (size_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];

		if (l->is_undated)
			continue;
		if (l->ns < h->log_first[l->file])
			h->log_first[l->file] = l->ns;
		if (l->ns > h->last)
			h->last = l->ns;
	}
}

static bool is_first_of_type(const struct work *w, const struct unit *u, uint32_t at)
{
	for (uint32_t i = u->from; i < at; i++)
		if (work_line(w, i)->type == work_line(w, at)->type)
			return false;
	return true;
}

/* Of a unit the lines that count: the first of each statement, not too many of them. */
static unsigned marks_of(const struct work *w, const struct unit *u, uint32_t *marks)
{
	unsigned nr = 0;

	for (uint32_t at = u->from; at < u->to && nr < LINES_MOST; at++)
		if (at - u->from < LINES_MOST && is_first_of_type(w, u, at))
			marks[nr++] = at;
	return nr;
}

static void add_pair(struct whole *h, struct pair pair)
{
	uint64_t *at =
		map_at(pair.is_across ? &h->across : &h->at, map_pair(pair.first, pair.next));
	struct pair *p;

	if (!*at) {
		vec_push(&h->pairs, (struct pair){ pair.first, pair.next, pair.is_across, 0, 0 });
		*at = h->pairs.nr;
	}
	p = &h->pairs.v[*at - 1];
	p->nr++;
	if (__builtin_add_overflow(p->delay, pair.delay, &p->delay))
		p->delay = INT64_MAX;
}

static void see_unit(struct whole *h, const struct unit *u)
{
	const struct work *w = h->w;
	uint32_t marks[LINES_MOST];
	unsigned nr = marks_of(w, u, marks);
	bool has_parent = u->parent != NO_UNIT && w->units.v[u->parent].session == u->session;

	for (unsigned i = 0; i < nr; i++) {
		const struct seen_line *l = work_line(w, marks[i]);
		int64_t before = i            ? work_line(w, marks[i - 1])->ns
				 : has_parent ? w->units.v[u->parent].start
					      : l->ns;

		h->nr[l->type]++;
		h->nr_after[l->type] += i || has_parent;
		if (l->ns > before && h->delay_after[l->type] < INT64_MAX / 2 - (l->ns - before))
			h->delay_after[l->type] += l->ns - before;
		for (unsigned k = i + 1; k < nr; k++)
			add_pair(h, (struct pair){ .first = l->type,
						   .next = work_line(w, marks[k])->type,
						   .delay = work_line(w, marks[k])->ns - l->ns });
	}
}

/* What follows in another thread counts once for each unit that it follows. */
static void see_parents(struct whole *h)
{
	const struct work *w = h->w;
	struct map counted = { 0 };

	vec_each (&w->units, u) {
		const struct unit *parent;
		uint64_t *seen;

		if (u->is_undated || u->is_batch)
			continue;
		h->nr_units[u->type]++;
		if (u->parent == NO_UNIT || w->units.v[u->parent].session != u->session)
			continue;
		parent = &w->units.v[u->parent];
		seen = map_at(&counted, map_pair(u->parent, u->type));
		if (!*seen)
			add_pair(h, (struct pair){ .first = parent->type,
						   .next = u->type,
						   .is_across = true,
						   .delay = u->start - parent->start });
		*seen = 1;
	}
	map_done(&counted);
}

/* A few times what usually passes. */
static int64_t moments(int64_t sum, uint32_t nr)
{
	int64_t mean = nr ? sum / nr : 0;
	int64_t ns = mean > MOST_NS / TIMES ? MOST_NS : mean * TIMES;

	return ns < LEAST_NS ? LEAST_NS : ns;
}

/* Where the units that begin with each statement stand, in order of their start. */
static void list_starts(struct whole *h)
{
	size_t nr_types = h->w->g->types.nr;
	uint32_t *next = work_zeroes(nr_types + 1, sizeof(*next));

	h->starts_at = work_zeroes(nr_types + 1, sizeof(*h->starts_at));
	for (size_t i = 0; i < nr_types; i++)
		next[i + 1] = h->starts_at[i + 1] = h->starts_at[i] + h->nr_units[i];
	h->starts = work_zeroes(h->starts_at[nr_types], sizeof(*h->starts));
	vec_each (&h->w->units, u)
		if (!u->is_undated && !u->is_batch)
			h->starts[next[u->type]++] = u->start;
	free(next);
}

/* Units with the statement after which there was time enough for the other one. */
static uint32_t nr_in_time(const struct whole *h, const struct pair *p)
{
	uint32_t from = h->starts_at[p->first], to = h->starts_at[p->first + 1], first = from;
	int64_t until = h->last - moments(p->delay, p->nr);

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (h->starts[mid] <= until)
			from = mid + 1;
		else
			to = mid;
	}
	return from - first;
}

static bool is_usual(const struct whole *h, const struct pair *p)
{
	uint32_t all;

	if (p->nr < LEAST)
		return false;
	all = p->is_across ? nr_in_time(h, p) : h->nr[p->first];
	return all >= LEAST && p->nr >= NEARLY_ALWAYS * all;
}

static bool is_usual_back(const struct whole *h, const struct pair *p)
{
	return !p->is_across && p->nr >= LEAST && p->nr >= NEARLY_ALWAYS * h->nr[p->next];
}

static uint32_t key_of(const struct pair *p, bool is_back)
{
	return is_back ? p->next : p->first;
}

/* Of each statement the few that nearly always follow it, or come before it in its thread. */
static void find_must(const struct whole *h, struct musts *m, bool is_back)
{
	size_t nr_types = h->w->g->types.nr;
	uint32_t *nr = work_zeroes(nr_types, sizeof(*nr));
	VEC(uint32_t) v = { 0 };

	for (uint32_t i = 0; i < h->pairs.nr; i++) {
		const struct pair *p = &h->pairs.v[i];

		if (nr[key_of(p, is_back)] < FOLLOWERS &&
		    (is_back ? is_usual_back(h, p) : is_usual(h, p))) {
			nr[key_of(p, is_back)]++;
			vec_push(&v, i);
		}
	}
	m->at = work_zeroes(nr_types + 1, sizeof(*m->at));
	for (size_t i = 0; i < nr_types; i++)
		m->at[i + 1] = m->at[i] + nr[i];
	vec_each (&v, i)
		vec_push(&m->v, *i);
	vec_each (&v, i) {
		uint32_t type = key_of(&h->pairs.v[*i], is_back);

		m->v.v[m->at[type] + --nr[type]] = *i;
	}
	vec_done(&v);
	free(nr);
}

struct whole *whole_new(const struct work *w)
{
	struct whole *h = mem_realloc(NULL, sizeof(*h));
	size_t nr_types = w->g->types.nr;

	*h = (struct whole){ .w = w, .last = INT64_MIN };
	h->log_first = work_zeroes(w->g->logs.nr + 1, sizeof(*h->log_first));
	h->nr = work_zeroes(nr_types, sizeof(*h->nr));
	h->nr_units = work_zeroes(nr_types, sizeof(*h->nr_units));
	h->nr_after = work_zeroes(nr_types, sizeof(*h->nr_after));
	h->delay_after = work_zeroes(nr_types, sizeof(*h->delay_after));
	see_logs(h);
	vec_each (&w->units, u)
		if (!u->is_undated && !u->is_batch)
			see_unit(h, u);
	see_parents(h);
	list_starts(h);
	find_must(h, &h->must, false);
	find_must(h, &h->back, true);
	return h;
}

void whole_free(struct whole *h)
{
	if (!h)
		return;
	free(h->log_first);
	free(h->nr);
	free(h->nr_units);
	free(h->starts_at);
	free(h->starts);
	free(h->nr_after);
	free(h->delay_after);
	free(h->must.at);
	free(h->back.at);
	vec_done(&h->pairs);
	vec_done(&h->must.v);
	vec_done(&h->back.v);
	map_done(&h->at);
	map_done(&h->across);
	free(h);
}

static bool begins_before(const struct whole *h, const struct unit *u)
{
	const struct seen_line *l = work_line(h->w, u->from);
	uint32_t nr = h->nr[l->type], after = h->nr_after[l->type];

	return !h->w->g->has_before && nr >= LEAST && after >= NEARLY_ALWAYS * nr &&
	       l->ns - h->log_first[l->file] <= moments(h->delay_after[l->type], after);
}

static bool has_type(const struct work *w, const struct unit *u, uint32_t type)
{
	for (uint32_t at = u->from; at < u->to; at++)
		if (work_line(w, at)->type == type)
			return true;
	return false;
}

/* In the same thread: what its last statement is followed by. A log that ends before the others is
 * that of a process that ended. */
static bool ends_after(const struct whole *h, const struct unit *u)
{
	const struct seen_line *l = work_line(h->w, u->to - 1);

	for (uint32_t i = h->must.at[l->type]; i < h->must.at[l->type + 1]; i++) {
		const struct pair *p = &h->pairs.v[h->must.v.v[i]];

		if (!p->is_across && h->last - l->ns <= moments(p->delay, p->nr) &&
		    !has_type(h->w, u, p->next))
			return true;
	}
	return false;
}

static bool is_same_thread(const struct work *w, uint32_t a, uint32_t b)
{
	return work_line(w, a)->file == work_line(w, b)->file &&
	       work_line(w, a)->thread == work_line(w, b)->thread;
}

/* A thread that did other work before, and since this unit nothing: it is still at it. */
static bool is_at_it(const struct whole *h, const struct unit *u)
{
	const struct work *w = h->w;

	return h->last - u->end <= MOST_NS && u->from && is_same_thread(w, u->from - 1, u->from) &&
	       (u->to == w->g->lines.nr || !is_same_thread(w, u->from, u->to));
}

/* A thread that begins with this unit, and does other work afterwards: it was at it already. */
static bool was_at_it(const struct whole *h, const struct unit *u)
{
	const struct work *w = h->w;

	return !w->g->has_before &&
	       u->start - h->log_first[work_line(w, u->from)->file] <= MOST_NS &&
	       u->to < w->g->lines.nr && is_same_thread(w, u->from, u->to) &&
	       (!u->from || !is_same_thread(w, u->from - 1, u->from));
}

/* Whether something nearly always stands in front of one of its lines, or behind it, and not here.
 */
static bool lacks(const struct whole *h, const struct unit *u, bool is_back)
{
	const struct musts *m = is_back ? &h->back : &h->must;
	uint32_t marks[LINES_MOST];
	unsigned nr = marks_of(h->w, u, marks);

	for (unsigned k = 0; k < nr; k++) {
		uint32_t type = work_line(h->w, marks[k])->type;

		for (uint32_t i = m->at[type]; i < m->at[type + 1]; i++) {
			const struct pair *p = &h->pairs.v[m->v.v[i]];

			if (!p->is_across && p->nr >= ALWAYS * h->nr[type] &&
			    !has_type(h->w, u, is_back ? p->first : p->next))
				return true;
		}
	}
	return false;
}

struct request_seen {
	const uint32_t *units;
	size_t nr;
	struct map types; /* that units begin with; made when it is asked for */
};

static bool has_unit(const struct whole *h, struct request_seen *r, uint32_t type)
{
	if (!r->types.nr)
		for (size_t i = 0; i < r->nr; i++)
			*map_at(&r->types, h->w->units.v[r->units[i]].type) = 1;
	return map_find(&r->types, type);
}

/* In other threads. */
static bool is_unfollowed(const struct whole *h, struct request_seen *r, const struct unit *u)
{
	for (uint32_t i = h->must.at[u->type]; i < h->must.at[u->type + 1]; i++) {
		const struct pair *p = &h->pairs.v[h->must.v.v[i]];

		if (p->is_across && h->last - u->start <= moments(p->delay, p->nr) &&
		    !has_unit(h, r, p->next))
			return true;
	}
	return false;
}

bool whole_is_cut(const struct whole *h, const uint32_t *units, size_t nr)
{
	struct request_seen r = { .units = units, .nr = nr };
	bool is_first = true, is_cut = false;

	for (size_t i = 0; i < nr && !is_cut; i++) {
		const struct unit *u = &h->w->units.v[units[i]];

		if (u->is_undated || u->is_batch)
			continue;
		is_cut = (is_first && u->parent == NO_UNIT && begins_before(h, u)) ||
			 (was_at_it(h, u) && lacks(h, u, true)) ||
			 (!h->w->g->has_after && (ends_after(h, u) || is_unfollowed(h, &r, u) ||
						  (is_at_it(h, u) && lacks(h, u, false))));
		is_first = false;
	}
	map_done(&r.types);
	return is_cut;
}
