/* The context of a log is what its path names, and each kind of which the log names one thing
 * only, again and again. A kind of small numbers whose values come back in several contexts of a
 * kind that is nearly always known means {context, number}. Of such kinds of contexts the one with
 * the fewest things is taken among those in which numbers live about as briefly as in any: a number
 * that was given out twice lives from its first time to its last. Numbers in names of threads
 * belong to the process, which is the log. One pass over the lines for the contexts, one to count,
 * one to name. */
#include "infer/objects/scope.h"

#include <stdlib.h>

#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "infer/objects/contexts.h"
#include "model/loss.h"

#define SEVERAL UINT64_MAX

/* A number within a context. */
struct life {
	uint64_t pair; /* small kind, kind of context */
	int64_t first_ns, last_ns;
};

struct scoping {
	struct census *w;
	struct contexts contexts;
	struct map covered;    /* (small kind, kind of context): lines */
	struct map recurs;     /* (small kind, kind of context): values in several contexts */
	struct map within;     /* (small kind, kind of context, value): 1 + thing, or SEVERAL */
	struct map lives;      /* (small kind, context, value): 1 + number in spans */
	struct map of_context; /* (small kind, context): 1 seen, 2 with a number that others have */
	struct map contexts_nr; /* (small kind, kind of context) */
	struct map sharing;    /* (small kind, kind of context): that share a number with another */
	size_t *nr_candidates; /* by small kind */
	VEC(struct life) spans;
	struct map sums;      /* (small kind, kind of context): of all spans */
	struct map lines;     /* small kind: lines */
	struct map values;    /* (small kind, value) */
	struct map nr_values; /* small kind: values */
};

static bool wants_scope(const struct kind *k)
{
	return kind_is_kept(k) && k->traits & KIND_SMALL;
}

static void count_life(struct scoping *s, uint64_t pair, uint32_t context, sym_t value,
		       const struct note *n)
{
	uint64_t key = pair * 0x9e3779b97f4a7c15u ^ map_pair(context, value) * 0xc2b2ae3d27d4eb4fu;
	uint64_t *at = map_at(&s->lives, key);
	struct life *l;

	if (n->first_ns == NS_NONE)
		return;
	if (!*at) {
		shelf_push(s->w->shelf, &s->spans, (struct life){ pair, n->first_ns, n->last_ns });
		*at = s->spans.nr;
	}
	l = &s->spans.v[*at - 1];
	if (n->first_ns < l->first_ns)
		l->first_ns = n->first_ns;
	if (n->last_ns > l->last_ns)
		l->last_ns = n->last_ns;
}

/* A number of a kind that wants a scope, on lines with these contexts. */
struct sight {
	uint32_t kind;
	sym_t value;
	const struct note *note;
	const struct context *v;
	size_t nr;
};

static uint64_t key_of_value(uint64_t pair, sym_t value)
{
	return map_three((uint32_t)(pair >> 32), (uint32_t)pair, value);
}

static uint64_t count_of(const struct map *m, uint64_t key)
{
	const uint64_t *at = map_find(m, key);

	return at ? *at : 0;
}

/* First pass: how often there is a context, and which values come back in another one. */
static void count_value(struct scoping *s, const struct sight *t)
{
	uint64_t *at = map_at(&s->values, map_pair(t->kind, t->value));

	if (!(*at)++)
		(*map_at(&s->nr_values, t->kind))++;
	*map_at(&s->lines, t->kind) += t->note->count;
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t pair = map_pair(t->kind, t->v[i].kind);

		if (t->v[i].thing == UINT32_MAX)
			continue;
		*map_at(&s->covered, pair) += t->note->count;
		at = map_at(&s->within, key_of_value(pair, t->value));
		if (*at && *at != SEVERAL && *at != t->v[i].thing + 1) {
			*at = SEVERAL;
			(*map_at(&s->recurs, pair))++;
		} else if (!*at) {
			*at = t->v[i].thing + 1;
		}
	}
}

/* Second pass: contexts, and those with a number that another one has, too. */
static void count_sharing(struct scoping *s, const struct sight *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t pair = map_pair(t->kind, t->v[i].kind), *at;
		bool shares = count_of(&s->within, key_of_value(pair, t->value)) == SEVERAL;

		if (t->v[i].thing == UINT32_MAX)
			continue;
		at = map_at(&s->of_context, map_pair(t->kind, t->v[i].thing));
		if (!(*at & 1))
			(*map_at(&s->contexts_nr, pair))++;
		if (shares && !(*at & 2))
			(*map_at(&s->sharing, pair))++;
		*at |= shares ? 3 : 1;
	}
}

static bool is_candidate(const struct scoping *s, uint32_t small, uint32_t kind)
{
	uint64_t pair = map_pair(small, kind);
	uint64_t recurs = count_of(&s->recurs, pair);

	return recurs && 4 * count_of(&s->covered, pair) >= 3 * count_of(&s->lines, small) &&
	       (2 * recurs >= count_of(&s->nr_values, small) ||
		5 * count_of(&s->sharing, pair) >= 4 * count_of(&s->contexts_nr, pair));
}

/* Third pass: how long numbers live, on lines where all that may be the scope are known. */
static void count_lives(struct scoping *s, const struct sight *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += t->v[i].thing != UINT32_MAX && is_candidate(s, t->kind, t->v[i].kind);
	if (nr < s->nr_candidates[t->kind])
		return;
	for (size_t i = 0; i < t->nr; i++)
		if (is_candidate(s, t->kind, t->v[i].kind))
			count_life(s, map_pair(t->kind, t->v[i].kind), t->v[i].thing, t->value,
				   t->note);
}

static void each_number(struct scoping *s, void (*see)(struct scoping *, const struct sight *))
{
	struct census *w = s->w;
	struct context v[MAX_CONTEXTS];

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		struct sight sight = { .note = &w->told->notes.v[i], .v = v };
		uint32_t log = census_log(w, sight.note->file);
		bool is_known = false;

		census_look(w, i);
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			const struct thing *t = &w->things.v[w->named.v[j]];

			if (!wants_scope(&w->kinds.v[t->kind]))
				continue;
			if (!is_known)
				sight.nr = contexts_of(&s->contexts, w, i, log, v);
			is_known = true;
			sight.kind = t->kind;
			sight.value = t->value;
			see(s, &sight);
		}
	}
}

static void count_all(struct scoping *s)
{
	size_t nr_kinds = s->w->kinds.nr;

	each_number(s, count_value);
	each_number(s, count_sharing);
	s->nr_candidates = mem_zalloc(mem_bytes(nr_kinds + 1, sizeof(*s->nr_candidates)));
	for (uint32_t small = 0; small < nr_kinds; small++)
		for (uint32_t kind = 0; wants_scope(&s->w->kinds.v[small]) && kind < nr_kinds;
		     kind++)
			s->nr_candidates[small] += is_candidate(s, small, kind);
	each_number(s, count_lives);
	vec_each (&s->spans, l)
		*map_at(&s->sums, l->pair) += (uint64_t)(l->last_ns - l->first_ns);
}

/* How long numbers live within contexts of this kind, a millisecond at least. */
static uint64_t time_lived(const struct scoping *s, uint32_t small, uint32_t kind)
{
	return count_of(&s->sums, map_pair(small, kind)) + NS_MS;
}

/* 1 + the kind of context, or 0. */
static uint32_t best_scope(const struct scoping *s, uint32_t small)
{
	const struct census *w = s->w;
	uint32_t best = 0, fewest = UINT32_MAX;
	uint64_t briefest = UINT64_MAX, best_covered = 0;

	for (uint32_t kind = 0; kind < w->kinds.nr; kind++)
		if (is_candidate(s, small, kind) && time_lived(s, small, kind) < briefest)
			briefest = time_lived(s, small, kind);
	for (uint32_t kind = 0; kind < w->kinds.nr; kind++) {
		uint64_t covered = count_of(&s->covered, map_pair(small, kind));
		uint32_t nr = w->kinds.v[kind].nr_things;

		if (!is_candidate(s, small, kind) || time_lived(s, small, kind) / 2 > briefest)
			continue;
		if (nr > fewest || (nr == fewest && covered <= best_covered))
			continue;
		best = kind + 1;
		fewest = nr;
		best_covered = covered;
	}
	return best;
}

/* A number that stands beside numbers of a scope is of that scope, too. */
static uint32_t scope_of_siblings(const struct scoping *s, uint32_t small)
{
	const struct census *w = s->w;
	struct map lines = { 0 };
	uint64_t all = count_of(&s->lines, small);
	uint32_t scope = 0;

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		uint32_t begin = w->named_at.v[i], end = w->named_at.v[i + 1], sibling = 0;
		bool is_here = false;

		census_look(w, i);
		for (uint32_t j = begin; j < end; j++) {
			const struct kind *k = &w->kinds.v[w->things.v[w->named.v[j]].kind];

			is_here |= w->things.v[w->named.v[j]].kind == small;
			if (k->scope && !k->is_of_writer)
				sibling = k->scope;
		}
		if (is_here && sibling)
			*map_at(&lines, sibling) += w->told->notes.v[i].count;
	}
	for (uint32_t kind = 0; kind < w->kinds.nr; kind++)
		if (count_of(&lines, kind + 1) && 2 * count_of(&lines, kind + 1) >= all &&
		    4 * count_of(&s->covered, map_pair(small, kind)) >= 3 * all)
			scope = kind + 1;
	map_done(&lines);
	return scope;
}

static uint32_t scope_thing(const struct scoping *s, const struct kind *k, size_t note,
			    uint32_t log)
{
	const struct census *w = s->w;
	struct context v[MAX_CONTEXTS];
	size_t nr;

	if (k->is_of_writer) {
		uint32_t writer = w->writers.v[log];

		return w->things.v[writer].kind == k->scope - 1 ? writer : UINT32_MAX;
	}
	nr = contexts_of(&s->contexts, w, note, log, v);
	for (size_t i = 0; i < nr; i++)
		if (v[i].kind == k->scope - 1)
			return v[i].thing;
	return UINT32_MAX;
}

/* Things of scoped kinds are made anew, within their scope; their lines outside any are counted. */
static void name_within(struct scoping *s)
{
	struct census *w = s->w;
	VEC(uint32_t) named = { 0 };

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t log = census_log(w, n->file), begin = w->named_at.v[i];
		uint32_t end = w->named_at.v[i + 1];

		census_look(w, i);
		w->named_at.v[i] = (uint32_t)named.nr;
		for (uint32_t j = begin; j < end; j++) {
			uint32_t thing = w->named.v[j], scope;
			struct thing t = w->things.v[thing];
			const struct kind *k = &w->kinds.v[t.kind];

			if (k->scope && !t.scope) {
				scope = scope_thing(s, k, i, log);
				if (scope == UINT32_MAX) {
					w->losses->count[LOSS_IDS_NO_SCOPE] += n->count;
					continue;
				}
				thing = census_thing(w, t.kind, t.value, scope + 1);
				census_lives(w, thing, n);
				if (w->kinds.v[w->things.v[scope].kind].traits & KIND_LOG)
					census_lives(w, scope, n);
			}
			shelf_push(w->shelf, &named, thing);
		}
	}
	w->named_at.v[w->told->notes.nr] = (uint32_t)named.nr;
	shelf_done(w->shelf, &w->named);
	w->named.v = named.v;
	w->named.nr = named.nr;
	w->named.room = named.room;
}

/* The kind of things that write most of the lines that name this kind. */
static uint32_t writing_kind(const struct census *w, uint32_t kind)
{
	struct map lines = { 0 };
	uint32_t best = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t writer = w->writers.v[census_log(w, n->file)];

		census_look(w, i);
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++)
			if (w->things.v[w->named.v[j]].kind == kind)
				*map_at(&lines, w->things.v[writer].kind) += n->count;
	}
	for (uint32_t k = 0; k < w->kinds.nr; k++) {
		uint64_t *at = map_find(&lines, k);

		if (at && *at > most) {
			most = *at;
			best = k;
		}
	}
	map_done(&lines);
	return best;
}

/* Numbers that come back in several logs and in no other context mean something in a log each. */
static bool comes_back(const struct census *w, uint32_t kind)
{
	struct map log_of = { .shelf = w->shelf };
	uint64_t nr_values = 0, nr_several = 0;

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		uint64_t log = (uint64_t)census_log(w, w->told->notes.v[i].file) + 1;

		census_look(w, i);
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			const struct thing *t = &w->things.v[w->named.v[j]];
			uint64_t *at;

			if (t->kind != kind)
				continue;
			at = map_at(&log_of, t->value);
			nr_values += !*at;
			nr_several += *at && *at != SEVERAL && *at != log;
			*at = *at && *at != log ? SEVERAL : log;
		}
	}
	map_done(&log_of);
	return nr_several && 2 * nr_several >= nr_values;
}

/* By kind: things within a scope that two statements name. */
static uint64_t *statements_twice(const struct census *w)
{
	uint64_t *nr = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	struct map first = { .shelf = w->shelf };

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		uint64_t template = (uint64_t)w->told->notes.v[i].template + 1;

		census_look(w, i);
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			const struct thing *t = &w->things.v[w->named.v[j]];
			uint64_t *at = t->scope ? map_at(&first, w->named.v[j]) : NULL;

			if (!at || *at == SEVERAL)
				continue;
			if (*at && *at != template) {
				nr[t->kind]++;
				*at = SEVERAL;
			} else {
				*at = template;
			}
		}
	}
	map_done(&first);
	return nr;
}

void scope_drop_counters(struct census *w)
{
	uint64_t *lines = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*lines)));
	uint64_t *twice = statements_twice(w);
	uint64_t *nr_scopes = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr_scopes)));
	struct map scopes = { .shelf = w->shelf };

	census_count(w);
	vec_each (&w->things, t) {
		census_look(w, (size_t)(t - w->things.v));
		lines[t->kind] += t->scope ? t->lines : 0;
		if (t->scope && t->lines && !(*map_at(&scopes, map_pair(t->kind, t->scope)))++)
			nr_scopes[t->kind]++;
	}
	for (size_t i = 0; i < w->kinds.nr; i++)
		if (w->kinds.v[i].scope && !w->is_small &&
		    (nr_scopes[i] == w->kinds.v[i].nr_things ||
		     2 * lines[i] < 3 * (uint64_t)w->kinds.v[i].nr_things ||
		     10 * twice[i] < 3 * (uint64_t)w->kinds.v[i].nr_things))
			w->kinds.v[i].fate = FATE_ONCE;
	free(lines);
	free(twice);
	free(nr_scopes);
	map_done(&scopes);
}

void scope_make(struct census *w)
{
	struct scoping s = { .w = w };

	s.within.shelf = s.lives.shelf = s.of_context.shelf = s.values.shelf = w->shelf;

	census_count(w);
	contexts_find(&s.contexts, w);
	count_all(&s);
	for (uint32_t kind = 0; kind < w->kinds.nr && !w->is_small; kind++) {
		struct kind *k = &w->kinds.v[kind];

		if (!wants_scope(k))
			continue;
		k->scope = k->traits & KIND_THREAD ? 0 : best_scope(&s, kind);
		/* /orders/17 is the same order in whatever log */
		if (!k->scope && !(k->traits & KIND_FOLDER) && comes_back(w, kind)) {
			k->scope = writing_kind(w, kind) + 1;
			k->is_of_writer = true;
		}
	}
	for (uint32_t kind = 0; kind < w->kinds.nr && !w->is_small; kind++) {
		struct kind *k = &w->kinds.v[kind];

		if (wants_scope(k) && !(k->traits & KIND_THREAD) &&
		    (!k->scope || k->is_of_writer)) {
			uint32_t scope = scope_of_siblings(&s, kind);

			k->is_of_writer &= !scope;
			k->scope = scope ? scope : k->scope;
		}
	}
	name_within(&s);
	census_count(w);
	contexts_done(&s.contexts);
	free(s.nr_candidates);
	map_done(&s.of_context);
	map_done(&s.contexts_nr);
	map_done(&s.sharing);
	map_done(&s.covered);
	map_done(&s.recurs);
	map_done(&s.within);
	map_done(&s.lives);
	map_done(&s.sums);
	shelf_done(w->shelf, &s.spans);
	map_done(&s.lines);
	map_done(&s.values);
	map_done(&s.nr_values);
}
