#include "infer/requests/operation.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SAME_LEVEL 1.3 /* a finer level with hardly more values names the same objects */
#define FAIR 0.2       /* a part of the work that is no accident */
#define AT_ONCE_NS INT64_C(20000000)

struct operations {
	const struct work *w;
	uint32_t *rank;   /* of each kind: 0 if it names no objects; else the higher, the finer */
	uint32_t *object; /* of each log of a lineage: the kind that it deals with, or 0 */
	uint32_t *role;   /* of each log: logs of the same sort share it */
};

enum { LEVELS = 10, LOOK_AROUND = 64 /* lines */ };

/* container#2 ... container#4: how many values each level of a compound has. */
struct stems {
	struct names names;
	VEC(uint32_t) of; /* of each kind: its stem; 0: it is no compound */
	VEC(uint32_t) nr; /* LEVELS of each stem */
};

/* Where the level stands in the name of a compound's kind; 0: it is none. */
static size_t level_at(struct str kind)
{
	size_t at = str_find_char(kind, '#');

	return at && at + 2 == kind.n && kind.p[at + 1] >= '0' && kind.p[at + 1] <= '9' ? at + 1
											: 0;
}

static void count_levels(const struct work *w, const uint32_t *nr, struct stems *t)
{
	for (uint32_t k = 0; k < w->g->kinds.nr; k++) {
		struct str name = names_str(&w->g->kinds, k);
		size_t at = level_at(name);
		uint32_t stem = at ? names_add(&t->names, str_head(name, at)) : 0;

		vec_push(&t->of, stem);
		while (t->nr.nr < (stem + (size_t)1) * LEVELS)
			vec_push(&t->nr, 0);
		if (stem)
			t->nr.v[stem * LEVELS + (unsigned)(name.p[at] - '0')] = nr[k];
	}
}

/* Whether the level of a compound is the coarsest that tells as many things apart as the finest. */
static bool is_coarsest(const struct stems *t, uint32_t kind, unsigned level)
{
	const uint32_t *nr = &t->nr.v[t->of.v[kind] * LEVELS];
	double most = 0;

	for (unsigned i = 0; i < LEVELS; i++)
		most = nr[i] > most ? nr[i] : most;
	for (unsigned i = 0; i < level; i++)
		if (nr[i] && SAME_LEVEL * nr[i] >= most)
			return false;
	return SAME_LEVEL * nr[level] >= most;
}

static bool is_owned(const struct work *w, const struct owners *o, uint32_t kind)
{
	for (size_t i = hold_owners_at(o, kind); i < o->pairs.nr && o->pairs.v[i] >> 32 == kind;
	     i++)
		if (!hold_same_stem(w, kind, (uint32_t)o->pairs.v[i]) &&
		    names_str(&w->g->kinds, (uint32_t)o->pairs.v[i]).p[0] != '#')
			return true;
	return false;
}

/* Of what one kind owns, the finest is what is dealt with: a client that works on one file is no
 * part of it as its blocks are. */
static void keep_finest(struct operations *p, const struct owners *o)
{
	struct map finest = { 0 }; /* kind of owner: the highest rank of what it owns */

	for (int is_second = 0; is_second < 2; is_second++)
		for (size_t i = 0; i < o->pairs.nr; i++) {
			uint32_t fine = (uint32_t)(o->pairs.v[i] >> 32);
			uint64_t *rank = map_at(&finest, (uint32_t)o->pairs.v[i]);

			if (p->rank[fine] == UINT32_MAX)
				continue;
			if (is_second && p->rank[fine] < *rank)
				p->rank[fine] = 0;
			else if (p->rank[fine] > *rank)
				*rank = p->rank[fine];
		}
	map_done(&finest);
}

/* Compounds that something owns are objects, at the coarsest level that tells them apart; so are
 * members of a family. */
static void find_objects(struct operations *p, const struct owners *o)
{
	const struct work *w = p->w;
	uint32_t *nr = mem_realloc(NULL, mem_bytes(w->g->kinds.nr + 1, sizeof(*nr)));
	bool *has_family = mem_realloc(NULL, w->g->kinds.nr + 1);
	struct stems stems = { 0 };

	memset(nr, 0, (w->g->kinds.nr + 1) * sizeof(*nr));
	memset(has_family, 0, w->g->kinds.nr + 1);
	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t numbers = w->seen[i] ? work_numbers(w, i) : 0;

		nr[w->g->kind_of.v[i]] += w->seen[i] > 0;
		has_family[w->g->kind_of.v[i]] |= numbers && w->is_family[numbers];
	}
	count_levels(w, nr, &stems);
	for (uint32_t k = 1; k < w->g->kinds.nr; k++) {
		struct str name = names_str(&w->g->kinds, k);
		unsigned level;

		if (!stems.of.v[k])
			continue;
		level = (unsigned)(name.p[name.n - 1] - '0');
		if (is_coarsest(&stems, k, level) &&
		    (has_family[k] ? level > 2 : is_owned(w, o, k)))
			p->rank[k] = has_family[k] ? UINT32_MAX : nr[k];
	}
	keep_finest(p, o);
	names_done(&stems.names);
	vec_done(&stems.of);
	vec_done(&stems.nr);
	free(nr);
	free(has_family);
}

/* nn.log of nn1.log and nn2.log. */
static void find_roles(struct operations *p)
{
	const struct gather *g = p->w->g;
	struct names roles = { 0 };

	for (sym_t log = 0; log < g->logs.nr; log++) {
		char text[256];
		size_t n = 0;
		struct str name = names_str(&g->logs, log);

		for (size_t i = 0; i < name.n && n < sizeof(text); i++)
			if (name.p[i] < '0' || name.p[i] > '9')
				text[n++] = name.p[i];
		p->role[log] = names_add(&roles, (struct str){ text, n });
	}
	names_done(&roles);
}

/* Logs in which a fair part of the work is done to objects are one role, whoever writes them. */
static void find_deals(struct operations *p)
{
	const struct work *w = p->w;
	uint32_t *all = mem_realloc(NULL, mem_bytes(2 * (w->g->logs.nr + 1), sizeof(*all)));
	uint32_t *with = all + w->g->logs.nr + 1;

	memset(all, 0, 2 * (w->g->logs.nr + 1) * sizeof(*all));
	vec_each (&w->units, u) {
		uint32_t log = work_line(w, u->from)->file;

		if ((!u->family && !u->turn) || log >= w->g->logs.nr)
			continue;
		all[log]++;
		for (uint32_t i = 0; i < u->nr_held; i++) {
			uint32_t kind = w->g->kind_of.v[w->held.v[u->held_at + i].thing];

			if (w->held.v[u->held_at + i].depth || !p->rank[kind])
				continue;
			p->object[log] = kind;
			with[log]++;
			break;
		}
	}
	for (uint32_t log = 0; log < w->g->logs.nr; log++)
		if (with[log] < FAIR * all[log] || !all[log])
			p->object[log] = 0;
	free(all);
}

struct operations *operations_new(const struct work *w, const struct owners *o)
{
	struct operations *p = mem_realloc(NULL, sizeof(*p));
	size_t nr_logs = w->g->logs.nr + 1;

	*p = (struct operations){ .w = w };
	p->rank = mem_realloc(NULL, mem_bytes(w->g->kinds.nr + 1, sizeof(*p->rank)));
	memset(p->rank, 0, (w->g->kinds.nr + 1) * sizeof(*p->rank));
	p->object = mem_realloc(NULL, mem_bytes(2 * nr_logs, sizeof(*p->object)));
	memset(p->object, 0, 2 * nr_logs * sizeof(*p->object));
	p->role = p->object + nr_logs;
	find_objects(p, o);
	find_roles(p);
	find_deals(p);
	return p;
}

void operations_free(struct operations *p)
{
	if (!p)
		return;
	free(p->rank);
	free(p->object);
	free(p);
}

/* The one object among these names; 0: none, or several. Of different kinds the finest is dealt
 * with: the others tell for whom (the client that writes the block). */
static uint32_t object_in(const struct operations *p, const uint32_t *names, unsigned nr)
{
	uint32_t found = 0, rank = 0;
	bool is_several = false;

	for (unsigned i = 0; i < nr; i++) {
		uint32_t of = p->rank[p->w->g->kind_of.v[names[i]]];

		if (of > rank) {
			found = names[i];
			rank = of;
			is_several = false;
		} else if (of == rank && of && found != names[i]) {
			is_several = true;
		}
	}
	return is_several ? 0 : found;
}

/* The object that the line names, or else its thread or its log. A log that is called after an
 * object is about that. */
static uint32_t object_of(const struct operations *p, const struct seen_line *l)
{
	const struct gather *g = p->w->g;
	const uint32_t *names = line_names(p->w, l);
	uint32_t found = 0;

	if (l->file + 1u < g->file_at.nr)
		found = object_in(p, g->file_names.v + g->file_at.v[l->file],
				  g->file_at.v[l->file + 1] - g->file_at.v[l->file]);
	if (!found)
		found = object_in(p, names, l->nr_own);
	if (!found)
		found = object_in(p, names + l->nr_own, l->nr_names - l->nr_own);
	return found;
}

/* By a compound, or by the first of its numbers alone. */
static bool names_family(const struct work *w, const struct seen_line *l, uint32_t family)
{
	struct str first = gather_value(w->g, family);

	first = str_head(first, str_find_char(first, '_'));
	for (unsigned i = 0; i < l->nr_own; i++) {
		uint32_t name = line_names(w, l)[i], numbers = work_numbers(w, name);

		if (w->is_family[name] || (numbers && w->is_family[numbers]) ||
		    str_eq(gather_value(w->g, name), first))
			return true;
	}
	return false;
}

/* Whether the thread goes on from one of these lines to the other. */
static bool goes_on(const struct seen_line *from, const struct seen_line *to)
{
	return from->file == to->file && from->thread == to->thread &&
	       to->ns - from->ns <= AT_ONCE_NS;
}

/* Where the line stands in its unit. */
static uint32_t place_of(const struct work *w, const struct unit *u, const struct seen_line *l)
{
	uint32_t from = u->from, to = u->to;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (work_line(w, mid) < l)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Whether the line tells what it is about; sets *object to that. */
static bool tells(const struct operations *p, uint32_t family, const struct seen_line *l,
		  uint32_t *object)
{
	*object = object_of(p, l);
	return *object || names_family(p->w, l, family);
}

/* Whether the line names a thing of its own, of whatever family that is. */
static bool names_any(const struct work *w, const struct seen_line *l)
{
	for (unsigned i = 0; i < l->nr_own; i++) {
		uint32_t thing = line_names(w, l)[i];
		const struct kind_look *look = work_look(w, thing);

		if (!w->is_hub[thing] && (look->is_path || (look->stem && !look->is_numbers)))
			return true;
	}
	return false;
}

/* A line that names nothing is about what its work is about so far, or else from then on; or else
 * about what its thread did just before. */
static uint32_t object_around(const struct operations *p, const struct unit *u,
			      const struct seen_line *l)
{
	const struct work *w = p->w;
	uint32_t here, at, object;

	if (names_any(w, l) || names_family(w, l, u->family))
		return 0;
	here = place_of(w, u, l);
	for (at = here; at > u->from && here - at < LOOK_AROUND; at--)
		if (tells(p, u->family, work_line(w, at - 1), &object))
			return object;
	for (at = here + 1; at < u->to && at - here <= LOOK_AROUND; at++)
		if (tells(p, u->family, work_line(w, at), &object))
			return object;
	for (at = u->from; at > 0 && here - at < LOOK_AROUND; at--) {
		if (!goes_on(work_line(w, at - 1), l))
			break;
		if (tells(p, u->family, work_line(w, at - 1), &object))
			return object;
	}
	return 0;
}

uint64_t operations_of(const struct operations *p, const struct unit *u, const struct seen_line *l)
{
	const struct work *w = p->w;

	/* what descends from one number is told apart by who does it */
	if (u->turn || (u->family && w->root[u->family]))
		return p->object[l->file] ? map_pair(1, p->object[l->file])
					  : map_pair(2, p->role[l->file]);
	if (u->family) {
		uint32_t object = object_of(p, l);

		return map_pair(3, object ? object : object_around(p, u, l));
	}
	return map_pair(4 + (u->is_served ? 1 : 0), object_of(p, l));
}
