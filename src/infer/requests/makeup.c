/*
 * Before work of one sort came work of another sort in nearly every request, by so much. Near the
 * beginning of the input a request may lack it because it came before. How near that is the data
 * tell: a few times what usually lies between the two. (The other way round it does not work: what
 * comes late does so in some requests and not in others.) A request of many parts, which has no
 * like, is under way as long as it is silent no longer than it was now and then. One pass over the
 * units to count, with a number for each two sorts that occur together, and one to decide.
 */
#include "infer/requests/makeup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"

enum {
	PARTS_MAX = 32,      /* sorts of units of one request that are looked at */
	PAIRS_MAX = 1 << 20, /* of sorts that are counted */
	LEAST = 8,           /* so often seen, at least, to be called usual */
	MANY = 64,           /* units that show how a request goes on */
	NOW_AND_THEN = 3,    /* times that it was silent for so long */
	TIMES = 4,           /* so many times the usual delay may pass */
};
#define NEARLY_ALWAYS 0.95
#define LEAST_NS (10 * NS_MS)
#define MOST_NS (60 * NS_S)

struct part {
	uint32_t type;
	uint32_t log; /* of the first one */
	int64_t first;
};

struct parts {
	struct part v[PARTS_MAX];
	unsigned nr;
};

/* Two sorts of which one came first. */
struct pair {
	uint32_t first, next;
	uint32_t nr;   /* requests with both */
	int64_t delay; /* from the first to the second, in all, ns */
};

/* How long after the beginning of its log a sort of units first came in a request. */
struct came {
	uint32_t type;
	int64_t since;
};

struct makeup {
	const struct work *w;
	int64_t *log_first;  /* of each log, ns */
	int64_t first, last; /* of all */
	VEC(struct pair) pairs;
	struct map at; /* two types: 1 + where in pairs */
	VEC(struct came) came;
	uint32_t *came_at;   /* of each type: where it begins in came, and one more */
	VEC(uint32_t) usual; /* pairs, by the second sort */
};

/* A few times what usually passes. */
static int64_t moments(int64_t sum, uint32_t nr)
{
	int64_t mean = nr ? sum / nr : 0;
	int64_t ns = mean > MOST_NS / TIMES ? MOST_NS : mean * TIMES;

	return ns < LEAST_NS ? LEAST_NS : ns;
}

static void list_parts(const struct work *w, const uint32_t *units, size_t nr, struct parts *p)
{
	p->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct unit *u = &w->units.v[units[i]];
		unsigned k = 0;

		if (u->is_undated || u->is_batch)
			continue;
		while (k < p->nr && p->v[k].type != u->type)
			k++;
		if (k == PARTS_MAX)
			continue;
		if (k == p->nr)
			p->v[p->nr++] = (struct part){ .type = u->type,
						       .log = work_line(w, u->from)->file,
						       .first = u->start };
	}
}

static void see_pair(struct makeup *m, const struct part *a, const struct part *b)
{
	uint64_t key = map_pair(a->type, b->type), *at;
	struct pair *p;

	if (m->at.nr >= PAIRS_MAX && !map_find(&m->at, key))
		return;
	at = map_at(&m->at, key);
	if (!*at) {
		vec_push(&m->pairs, (struct pair){ .first = a->type, .next = b->type });
		*at = m->pairs.nr;
	}
	p = &m->pairs.v[*at - 1];
	p->nr++;
	if (__builtin_add_overflow(p->delay, b->first - a->first, &p->delay))
		p->delay = INT64_MAX;
}

static void see_request(struct makeup *m, const uint32_t *units, size_t nr)
{
	struct parts p;

	list_parts(m->w, units, nr, &p);
	for (unsigned i = 0; i < p.nr; i++) {
		vec_push(&m->came,
			 (struct came){ p.v[i].type, p.v[i].first - m->log_first[p.v[i].log] });
		for (unsigned k = i + 1; k < p.nr; k++)
			see_pair(m, &p.v[i], &p.v[k]);
	}
}

static void see_logs(struct makeup *m)
{
	const struct gather *g = m->w->g;

	m->first = INT64_MAX;
	m->last = INT64_MIN;
	for (uint32_t i = 0; i <= g->logs.nr; i++)
		m->log_first[i] = INT64_MAX;
	vec_each (&g->lines, l) {
		if (l->is_undated)
			continue;
		if (l->ns < m->log_first[l->file])
			m->log_first[l->file] = l->ns;
		m->first = l->ns < m->first ? l->ns : m->first;
		m->last = l->ns > m->last ? l->ns : m->last;
	}
}

static int by_type(const void *a, const void *b)
{
	const struct came *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

/* Requests with the sort before which there was time enough. */
static uint32_t nr_in_time(const struct makeup *m, uint32_t type, int64_t ns)
{
	uint32_t from = m->came_at[type], to = m->came_at[type + 1], end = to;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (m->came.v[mid].since <= ns)
			from = mid + 1;
		else
			to = mid;
	}
	return end - from;
}

static int by_next(const void *a, const void *b, void *to)
{
	const struct pair *v = to, *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];

	if (x->next != y->next)
		return x->next < y->next ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void find_usual(struct makeup *m)
{
	for (uint32_t i = 0; i < m->pairs.nr; i++) {
		const struct pair *p = &m->pairs.v[i];
		uint32_t all = p->nr < LEAST ? 0 : nr_in_time(m, p->next, moments(p->delay, p->nr));

		if (all >= LEAST && p->nr >= NEARLY_ALWAYS * all)
			vec_push(&m->usual, i);
	}
	if (m->usual.nr)
		qsort_r(m->usual.v, m->usual.nr, sizeof(*m->usual.v), by_next, m->pairs.v);
}

struct makeup *makeup_new(const struct work *w, const uint32_t *order, size_t nr)
{
	struct makeup *m = mem_zalloc(sizeof(*m));
	size_t nr_types = w->g->types.nr + 1, from = 0;

	m->w = w;
	m->log_first = mem_zalloc(mem_bytes(w->g->logs.nr + 1, sizeof(*m->log_first)));
	m->came_at = mem_zalloc(mem_bytes(nr_types + 1, sizeof(*m->came_at)));
	see_logs(m);
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && w->units.v[order[i]].session == w->units.v[order[from]].session)
			continue;
		if (w->units.v[order[from]].session)
			see_request(m, order + from, i - from);
		from = i;
	}
	if (m->came.nr)
		qsort(m->came.v, m->came.nr, sizeof(*m->came.v), by_type);
	vec_each (&m->came, c)
		m->came_at[c->type + 1]++;
	for (size_t i = 0; i < nr_types; i++)
		m->came_at[i + 1] += m->came_at[i];
	find_usual(m);
	return m;
}

void makeup_free(struct makeup *m)
{
	if (!m)
		return;
	free(m->log_first);
	free(m->came_at);
	vec_done(&m->pairs);
	vec_done(&m->came);
	vec_done(&m->usual);
	map_done(&m->at);
	free(m);
}

static bool has_part(const struct parts *p, uint32_t type)
{
	for (unsigned i = 0; i < p->nr; i++)
		if (p->v[i].type == type)
			return true;
	return false;
}

/* Where the pairs with the second type begin. */
static size_t usual_at(const struct makeup *m, uint32_t type)
{
	size_t from = 0, to = m->usual.nr;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (m->pairs.v[m->usual.v[mid]].next < type)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool was_before(const struct makeup *m, const struct parts *parts, const struct part *b)
{
	int64_t since = b->first - m->log_first[b->log];

	for (size_t i = usual_at(m, b->type); i < m->usual.nr; i++) {
		const struct pair *p = &m->pairs.v[m->usual.v[i]];

		if (p->next != b->type)
			break;
		if (!has_part(parts, p->first) && since <= moments(p->delay, p->nr))
			return true;
	}
	return false;
}

/* How long a request of many parts is silent now and then; INT64_MIN: it has too few. */
static int64_t silence_of(const struct work *w, const uint32_t *units, size_t nr, int64_t *first,
			  int64_t *last)
{
	int64_t longest[NOW_AND_THEN] = { 0 };
	size_t seen = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct unit *u = &w->units.v[units[i]];
		int64_t ns = seen ? u->start - *last : 0;

		if (u->is_undated || u->is_batch)
			continue;
		*first = seen++ ? *first : u->start;
		*last = seen == 1 || u->end > *last ? u->end : *last;
		for (unsigned k = 0; k < NOW_AND_THEN; k++)
			if (ns > longest[k]) {
				int64_t other = longest[k];

				longest[k] = ns;
				ns = other;
			}
	}
	return seen < MANY ? INT64_MIN : longest[NOW_AND_THEN - 1];
}

/* Whether the request was heard of so shortly before the end of the input, or after its beginning,
 * that it may only be silent. */
static bool is_under_way(const struct makeup *m, const uint32_t *units, size_t nr)
{
	const struct gather *g = m->w->g;
	int64_t first = 0, last = 0, silence = silence_of(m->w, units, nr, &first, &last);

	return silence != INT64_MIN && ((!g->has_after && m->last - last <= silence) ||
					(!g->has_before && first - m->first <= silence));
}

bool makeup_is_cut(const struct makeup *m, const uint32_t *units, size_t nr)
{
	struct parts parts;

	list_parts(m->w, units, nr, &parts);
	for (unsigned i = 0; i < parts.nr && !m->w->g->has_before; i++)
		if (was_before(m, &parts, &parts.v[i]))
			return true;
	return is_under_way(m, units, nr);
}
