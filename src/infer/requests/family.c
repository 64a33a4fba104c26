#include "infer/requests/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	WORD_MAX = 64,
	ROUNDS = 4,
	DEALINGS_MAX = 1024, /* of one thing: what more families deal with is of none */
};
#define ROUND_NS INT64_C(200000000)    /* before and after what is seen of a family */
#define BEFORE_NS INT64_C(10000000000) /* what is prepared for a family comes before it */
#define MUCH_FURTHER 10
#define AFTER_NS \
	INT64_C(10000000000) /* what comes later is not of the family, whatever it names \
			      */

struct finder {
	struct work *w;
	struct map by_word;    /* word and second number: the family, or FAMILY_SEVERAL */
	struct map by_numbers; /* both numbers: the family */
	size_t nr_families;
	uint32_t *of_log; /* of each log: the family that its name is of */
	uint32_t *over; /* of each thing that is a family: the one that it is part of, or SEVERAL */
};

static uint64_t number_of(struct str s)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n && i < 19; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return UINT64_MAX;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	return s.n ? v : UINT64_MAX;
}

/* applicationId, APPLICATION_ID and application are one word. */
static uint64_t word_hash(struct str s)
{
	char text[WORD_MAX];
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < WORD_MAX; i++)
		if (s.p[i] != '_' && s.p[i] != '.')
			text[n++] = (char)(s.p[i] | 0x20);
	if (n > 2 && text[n - 2] == 'i' && text[n - 1] == 'd')
		n -= 2;
	return str_hash((struct str){ text, n });
}

static uint64_t word_key(uint64_t word, uint64_t number)
{
	return word ^ (number * 0x9e3779b97f4a7c15u);
}

static void note_family(struct finder *f, uint32_t thing, uint32_t family)
{
	const struct gather *g = f->w->g;
	struct str kind = names_str(&g->kinds, g->kind_of.v[thing]);
	struct str numbers = gather_value(g, family);
	size_t at = str_find_char(numbers, '_');
	uint64_t second = number_of(str_skip(numbers, at + 1));
	uint64_t *word;

	if (f->w->root[thing])
		return;
	*map_at(&f->by_numbers, word_key(number_of(str_head(numbers, at)), second)) = family;
	if (!str_ends(kind, STR("#2")))
		return;
	word = map_at(&f->by_word, word_key(word_hash(str_head(kind, kind.n - 2)), second));
	*word = !*word || *word == family ? family : FAMILY_SEVERAL;
}

static uint32_t family_of(const struct work *w, uint32_t thing)
{
	uint32_t numbers = w->root[thing]        ? w->root[thing]
			   : w->is_family[thing] ? thing
						 : work_numbers(w, thing);

	return numbers && w->is_family[numbers] ? numbers : 0;
}

static uint32_t both(uint32_t a, uint32_t b)
{
	return !a || a == b ? b : !b ? a : FAMILY_SEVERAL;
}

/* Numbers with a name that stand for a family: applicationId: 1; id: 1, cluster_timestamp: 17. */
static uint32_t by_numbers(const struct finder *f, const struct seen_line *l)
{
	const struct gather *g = f->w->g;
	uint64_t before = UINT64_MAX;
	uint32_t found = 0, paired = 0;

	for (unsigned i = 0; i < l->nr_own; i++) {
		uint32_t thing = line_names(f->w, l)[i];
		struct str kind = names_str(&g->kinds, g->kind_of.v[thing]);
		uint64_t value;
		const uint64_t *at;

		if (!work_look(f->w, thing)->is_number) {
			before = UINT64_MAX;
			continue;
		}
		value = number_of(gather_value(g, thing));
		at = map_find(&f->by_word, word_key(word_hash(str_head(kind, kind.n - 1)), value));
		if (at && *at != FAMILY_SEVERAL)
			found = both(found, (uint32_t)*at);
		at = before == UINT64_MAX ? NULL
					  : map_find(&f->by_numbers, word_key(value, before));
		if (at)
			paired = both(paired, (uint32_t)*at);
		before = value;
	}
	return paired ? paired : found;
}

static uint32_t whole_of(const struct finder *f, uint32_t family)
{
	uint32_t over = family && family != FAMILY_SEVERAL ? f->over[family] : 0;

	return over && over != FAMILY_SEVERAL ? over : family;
}

/* By what the unit holds at these depths. */
static uint32_t by_held(const struct finder *f, const struct unit *u, unsigned from, unsigned to)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = f->w->held.v[u->held_at + i];

		if (h.depth >= from && h.depth < to)
			found = both(found, whole_of(f, family_of(f->w, h.thing)));
	}
	return found;
}

static uint32_t by_names(const struct finder *f, const struct unit *u)
{
	uint32_t found = f->of_log[work_line(f->w, u->from)->file];

	if (found)
		return found;

	found = by_held(f, u, 0, 1);
	for (uint32_t at = u->from; at < u->to && !found; at++)
		found = whole_of(f, by_numbers(f, work_line(f->w, at)));
	return found || u->is_visit ? found : by_held(f, u, 1, DEPTH_PREFIX);
}

/* A file that names one of several families and no other is a log of that. */
static void by_file(struct finder *f)
{
	size_t nr = 0;
	uint32_t *of;

	for (size_t i = 0; i < f->w->g->lines.nr; i++)
		nr = f->w->g->lines.v[i].file > nr ? f->w->g->lines.v[i].file : nr;
	of = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*of)));
	memset(of, 0, (nr + 1) * sizeof(*of));
	vec_each (&f->w->units, u) {
		uint32_t file = work_line(f->w, u->from)->file;

		of[file] = both(of[file], u->family);
	}
	vec_each (&f->w->units, u) {
		uint32_t family = of[work_line(f->w, u->from)->file];

		if (!u->family && family != FAMILY_SEVERAL)
			u->family = family;
	}
	free(of);
}

static bool can_be_owned(const struct work *w, uint32_t thing)
{
	return !work_look(w, thing)->is_mixed && !work_look(w, thing)->is_number;
}

/* What was there before the family does not belong to it. */
static bool is_older(const struct work *w, uint32_t thing, uint32_t family)
{
	return family != FAMILY_SEVERAL && w->first[thing] + BEFORE_NS < w->first[family];
}

/* Which families name which things. */
struct namers {
	uint32_t *of;    /* of each thing: the one family, or FAMILY_SEVERAL */
	struct map deal; /* thing and family */
};

static void note_namer(struct namers *n, const struct work *w, uint32_t thing, uint32_t family)
{
	n->of[thing] = both(n->of[thing], is_older(w, thing, family) ? FAMILY_SEVERAL : family);
	*map_at(&n->deal, map_pair(thing, family)) = 1;
}

/* Whether the unit holds something besides addresses. */
static bool has_more(const struct work *w, const struct unit *u)
{
	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t thing = w->held.v[u->held_at + i].thing;

		if (can_be_owned(w, thing) && !work_look(w, thing)->is_address)
			return true;
	}
	return false;
}

/* The one family that what the unit holds belongs to. What several share, or what was there before,
 * does not speak against one that names it. A connection serves whoever comes: it says nothing of
 * what is named beside it. */
static uint32_t namer_of(const struct namers *n, const struct work *w, const struct unit *u)
{
	bool skips_addresses = has_more(w, u);
	uint32_t found = 0;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		uint32_t thing = w->held.v[u->held_at + i].thing;

		if (skips_addresses && work_look(w, thing)->is_address)
			continue;
		if (can_be_owned(w, thing) && n->of[thing] != FAMILY_SEVERAL)
			found = both(found, n->of[thing]);
	}
	for (uint32_t i = 0; i < u->nr_held && found; i++) {
		uint32_t thing = w->held.v[u->held_at + i].thing;

		if (skips_addresses && work_look(w, thing)->is_address)
			continue;
		if (can_be_owned(w, thing) && n->of[thing] == FAMILY_SEVERAL &&
		    !map_find(&n->deal, map_pair(thing, found)))
			return FAMILY_SEVERAL;
	}
	return found;
}

/* What is named together with one family only belongs to it, and so does who names it: true if
 * someone does. */
static bool by_things(struct finder *f)
{
	struct work *w = f->w;
	bool has_found = false;
	struct namers n = { .of = mem_zalloc(
				    mem_bytes(w->g->things.nr + (size_t)1, sizeof(*n.of))) };

	vec_each (&w->units, u)
		for (uint32_t i = 0; i < u->nr_held && u->family; i++)
			if (w->held.v[u->held_at + i].depth < DEPTH_PREFIX)
				note_namer(&n, w, w->held.v[u->held_at + i].thing, u->family);
	vec_each (&w->units, u) {
		uint32_t found = u->family || u->is_visit ? 0 : namer_of(&n, w, u);

		if (found && found != FAMILY_SEVERAL && u->start <= w->last[found] + AFTER_NS) {
			u->family = found;
			has_found = true;
		}
	}
	map_done(&n.deal);
	free(n.of);
	return has_found;
}

/* When a family dealt with a thing. */
struct dealing {
	uint32_t thing, family;
	int64_t first, last;
};

static int by_thing(const void *a, const void *b)
{
	const struct dealing *x = a, *y = b;

	if (x->thing != y->thing)
		return x->thing < y->thing ? -1 : 1;
	return x->family < y->family ? -1 : x->family > y->family;
}

static void deal(struct map *at, const struct unit *u, uint32_t thing, struct dealing **v,
		 size_t *nr, size_t *room)
{
	uint64_t *found = map_at(at, map_pair(thing, u->family));

	if (!*found) {
		if (*nr == *room) {
			*room = *room ? 2 * *room : 64;
			*v = mem_realloc(*v, mem_bytes(*room, sizeof(**v)));
		}
		(*v)[(*nr)++] = (struct dealing){ thing, u->family, u->start, u->end };
		*found = *nr;
	}
	if (u->start < (*v)[*found - 1].first)
		(*v)[*found - 1].first = u->start;
	if (u->end > (*v)[*found - 1].last)
		(*v)[*found - 1].last = u->end;
}

/* How long before or after all that the family did to the thing; 0: meanwhile. */
static int64_t away_from(const struct dealing *d, const struct unit *u)
{
	int64_t away = u->start < d->first ? d->first - u->start : u->start - d->last;

	return away > ROUND_NS ? away : 0;
}

/* The one family that dealt with the thing at that time. What is slow may come a while after that,
 * if it is much further away from all others. */
static uint32_t dealt(const struct dealing *v, size_t nr, uint32_t thing, const struct unit *u)
{
	size_t from = 0, to = nr;
	int64_t nearest = AFTER_NS;
	uint32_t found = 0;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (v[mid].thing < thing)
			from = mid + 1;
		else
			to = mid;
	}
	if (from + DEALINGS_MAX < nr && v[from + DEALINGS_MAX].thing == thing)
		return 0;
	for (size_t i = from; i < nr && v[i].thing == thing; i++)
		if ((u->start >= v[i].first || !away_from(&v[i], u)) &&
		    away_from(&v[i], u) < nearest)
			nearest = away_from(&v[i], u);
	if (nearest == AFTER_NS)
		return 0;
	for (; from < nr && v[from].thing == thing && found != FAMILY_SEVERAL; from++)
		if (away_from(&v[from], u) <= MUCH_FURTHER * nearest)
			found = both(found, v[from].family);
	return found;
}

/* What several families deal with belongs to the one that does so at the time. */
static void by_time(struct finder *f)
{
	struct work *w = f->w;
	struct map at = { 0 };
	struct dealing *v = NULL;
	size_t nr = 0, room = 0;

	vec_each (&w->units, u)
		for (uint32_t i = 0; i < u->nr_held && u->family && !u->is_undated; i++)
			if (u->family != FAMILY_SEVERAL &&
			    w->held.v[u->held_at + i].depth < DEPTH_PREFIX)
				deal(&at, u, w->held.v[u->held_at + i].thing, &v, &nr, &room);
	if (nr)
		qsort(v, nr, sizeof(*v), by_thing);
	vec_each (&w->units, u) {
		uint32_t found = 0;

		if (u->is_visit)
			continue;
		for (uint32_t i = 0; i < u->nr_held && !u->family && found != FAMILY_SEVERAL; i++)
			if (w->held.v[u->held_at + i].depth < DEPTH_PREFIX)
				found = both(found,
					     dealt(v, nr, w->held.v[u->held_at + i].thing, u));
		if (found && found != FAMILY_SEVERAL)
			u->family = found;
	}
	free(v);
	map_done(&at);
}

/* Logs that are called after a family, and families that only such logs of one other name. */
static void find_wholes(struct finder *f)
{
	const struct gather *g = f->w->g;

	for (sym_t log = 0; log + 1 < g->file_at.nr; log++)
		for (uint32_t i = g->file_at.v[log]; i < g->file_at.v[log + 1]; i++)
			f->of_log[log] = both(f->of_log[log], family_of(f->w, g->file_names.v[i]));
	for (size_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];
		uint32_t log = f->of_log[l->file];

		for (unsigned k = 0; k < l->nr_own && log && log != FAMILY_SEVERAL; k++) {
			uint32_t named = family_of(f->w, line_names(f->w, l)[k]);

			if (named && named != log)
				f->over[named] = both(f->over[named], log);
		}
	}
	/* a family with logs of its own is nobody's part */
	for (sym_t log = 0; log + 1 < g->file_at.nr; log++)
		if (f->of_log[log] && f->of_log[log] != FAMILY_SEVERAL)
			f->over[f->of_log[log]] = 0;
}

static void begin(struct finder *f, struct work *w)
{
	*f = (struct finder){ .w = w };
	f->of_log = work_counts(w->g->logs.nr + 1);
	f->over = work_counts(w->g->things.nr);
	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t family = w->seen[i] ? family_of(w, i) : 0;

		f->nr_families += family == i;
		if (family)
			note_family(f, i, family);
	}
	find_wholes(f);
}

static void end(struct finder *f)
{
	free(f->of_log);
	free(f->over);
	map_done(&f->by_word);
	map_done(&f->by_numbers);
}

static uint32_t of_line(const struct finder *f, const struct seen_line *l)
{
	uint32_t found = 0;

	if (f->of_log[l->file])
		return f->of_log[l->file];
	for (unsigned i = 0; i < l->nr_own; i++)
		found = both(found, whole_of(f, family_of(f->w, line_names(f->w, l)[i])));
	return found ? found : whole_of(f, by_numbers(f, l));
}

/* Where in the unit another family begins; its end when none does. */
static uint32_t next_family(const struct finder *f, const struct unit *u)
{
	uint32_t family = 0;

	for (uint32_t at = u->from; at < u->to; at++) {
		uint32_t here = of_line(f, work_line(f->w, at));

		if (family && here && here != family)
			return at;
		family = here ? here : family;
	}
	return u->to;
}

void family_split(struct work *w)
{
	struct finder f;
	size_t nr = w->units.nr;

	begin(&f, w);
	for (size_t i = 0; i < w->units.nr && f.nr_families; i++) {
		uint32_t at = next_family(&f, &w->units.v[i]);
		struct unit rest = w->units.v[i];

		if (at == rest.to && i < nr)
			continue;
		work_fit(w, &w->units.v[i], rest.from, at);
		/* it is made to fit in its turn: a line is looked at once */
		rest.from = at;
		if (at < rest.to)
			vec_push(&w->units, rest);
	}
	if (w->units.nr > nr)
		work_sort(w);
	end(&f);
}

void family_find(struct work *w)
{
	struct finder f;

	begin(&f, w);
	if (f.nr_families) {
		vec_each (&w->units, u)
			u->family = by_names(&f, u);
		if (f.nr_families > 1) {
			by_file(&f);
			/* a file is its writer's, and who reads it is of the same family */
			for (int i = 0; i < ROUNDS && by_things(&f); i++)
				;
			by_time(&f);
		}
	}
	end(&f);
}
