/*
 * A line is about what it names, or about the owner of what it names. Who owns what is read off the
 * lines that name both: a region that always stands beside one table belongs to it. The
 * kind that owns other kinds and that most lines are about is taken; all in a few walks over
 * the lines.
 */
#include "infer/requests/subject.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/hold.h"

enum {
	CANDIDATES = 6, /* kinds that are tried: those that most lines name one of */
	VALUES_MIN = 4, /* of a kind, to show anything */
	EVEN_MIN = 3,   /* objects, were all named equally often */
	ROUNDS = 2,     /* what belongs to something that belongs to the object */
};
#define OWNED 0.9  /* so many of the lines that name both name the same owner */
#define NAMED 0.05 /* of all lines name things of the kind */
#define HALF 0.5
#define EARLY_NS INT64_C(2000000000)
#define SHARE 0.33 /* of all lines are about one object */

/* What stands beside a thing. */
struct vote {
	uint32_t owner, with, all;
};

struct tally {
	uint32_t values, single, owners;
};

struct finder {
	const struct work *w;
	uint32_t kind;
	struct vote *votes;  /* of each thing */
	struct tally *kinds; /* of each kind */
	uint32_t *seen_by;   /* of each owner: 1 + the kind it was counted for last */
	bool *is_place;      /* of each thing: a log is called after it */
	uint32_t *by_kind;   /* all things */
	uint32_t *of_line;
};

static uint32_t both(uint32_t a, uint32_t b)
{
	return !a || a == b ? b : !b ? a : SUBJECT_SEVERAL;
}

/* Whether names of this kind may be what requests are about: things that have a name, and not
 * amounts, addresses, places, or members of a family. */
static bool can_be_subject(const struct work *w, uint32_t kind)
{
	const struct kind_look *look = &w->looks[kind];

	return kind && !look->is_numbers && !look->is_agreed && !look->is_sender &&
	       !look->is_number && !look->is_address && !look->is_path;
}

static bool is_of_family(const struct work *w, uint32_t thing)
{
	uint32_t numbers = work_numbers(w, thing);

	return w->root[thing] || w->is_family[thing] || (numbers && w->is_family[numbers]);
}

/* The one thing of the kind that the line names. */
static uint32_t named_in(const struct finder *f, const struct seen_line *l)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < l->nr_names; i++) {
		uint32_t thing = line_names(f->w, l)[i];

		if (f->w->g->kind_of.v[thing] == f->kind && !f->is_place[thing])
			found = both(found, thing);
	}
	return found;
}

static void vote(struct finder *f, const struct seen_line *l, uint32_t owner)
{
	for (unsigned i = 0; i < l->nr_names; i++) {
		struct vote *v = &f->votes[line_names(f->w, l)[i]];

		if (!v->all)
			v->owner = owner;
		v->all++;
		v->with += v->owner == owner;
	}
}

static bool is_single(const struct vote *v)
{
	return v->with >= OWNED * v->all;
}

/* Which kinds belong to the objects. */
static void count_kinds(struct finder *f)
{
	const struct gather *g = f->w->g;

	memset(f->kinds, 0, (g->kinds.nr + 1) * sizeof(*f->kinds));
	memset(f->seen_by, 0, (g->things.nr + 1) * sizeof(*f->seen_by));
	for (uint32_t i = 0; i < g->things.nr; i++) {
		uint32_t thing = f->by_kind[i], kind = g->kind_of.v[thing];
		const struct vote *v = &f->votes[thing];
		struct tally *t = &f->kinds[kind];

		/* what stands beside it once shows nothing */
		if (v->all < 2 || kind == f->kind)
			continue;
		t->values++;
		t->single += is_single(v);
		t->owners += f->seen_by[v->owner] != kind + 1;
		f->seen_by[v->owner] = kind + 1;
	}
}

static bool is_owned(const struct finder *f, uint32_t kind)
{
	const struct tally *t = &f->kinds[kind];

	return kind != f->kind && !f->w->is_measure[kind] && !f->w->looks[kind].is_address &&
	       t->values >= VALUES_MIN && t->single >= OWNED * t->values && t->owners >= 2;
}

static uint32_t owner_of(const struct finder *f, uint32_t thing)
{
	const struct vote *v = &f->votes[thing];

	return v->all && is_single(v) && is_owned(f, f->w->g->kind_of.v[thing]) ? v->owner : 0;
}

/* What the line is about: what it names, and what owns the rest of what it names. */
static uint32_t subject_of(const struct finder *f, const struct seen_line *l)
{
	uint32_t found = named_in(f, l);

	for (unsigned i = 0; i < l->nr_names && found != SUBJECT_SEVERAL; i++)
		found = both(found, owner_of(f, line_names(f->w, l)[i]));
	return found;
}

/* How many lines are about one thing of the kind, unless nearly all are about the same. */
static size_t count_lines(struct finder *f)
{
	const struct gather *g = f->w->g;
	double squares = 0, nr = 0;

	memset(f->seen_by, 0, (g->things.nr + 1) * sizeof(*f->seen_by));
	for (size_t i = 0; i < g->lines.nr; i++)
		if (f->of_line[i] && f->of_line[i] != SUBJECT_SEVERAL) {
			squares += 2 * (double)f->seen_by[f->of_line[i]]++ + 1;
			nr++;
		}
	return nr * nr < EVEN_MIN * squares ? 0 : (size_t)nr;
}

static size_t try_kind(struct finder *f, uint32_t kind)
{
	const struct gather *g = f->w->g;

	f->kind = kind;
	memset(f->votes, 0, (g->things.nr + 1) * sizeof(*f->votes));
	for (size_t i = 0; i < g->lines.nr; i++)
		f->of_line[i] = named_in(f, &g->lines.v[i]);
	for (int round = 0; round < ROUNDS; round++) {
		memset(f->votes, 0, (g->things.nr + 1) * sizeof(*f->votes));
		for (size_t i = 0; i < g->lines.nr; i++)
			if (f->of_line[i] && f->of_line[i] != SUBJECT_SEVERAL)
				vote(f, &g->lines.v[i], f->of_line[i]);
		count_kinds(f);
		for (size_t i = 0; i < g->lines.nr; i++)
			f->of_line[i] = subject_of(f, &g->lines.v[i]);
	}
	return count_lines(f);
}

/* Whether there are things below the objects, more of them than objects. */
static bool owns_any(const struct finder *f)
{
	for (uint32_t k = 1; k < f->w->g->kinds.nr; k++)
		if (is_owned(f, k) && !hold_same_stem(f->w, k, f->kind) &&
		    (can_be_subject(f->w, k) || f->w->looks[k].is_path) &&
		    f->kinds[k].owners < OWNED * f->kinds[k].values)
			return true;
	return false;
}

/* What is known of a kind before anything is tried. */
struct standing {
	double lines, squares; /* that name its things, and of each thing the square */
	double early;          /* soon after the thing was first named */
	uint32_t values;
	bool is_family;
};

static struct standing *stand(const struct work *w)
{
	const struct gather *g = w->g;
	struct standing *kinds = work_zeroes(g->kinds.nr, sizeof(*kinds));

	for (uint32_t i = 1; i < g->things.nr; i++) {
		struct standing *k = &kinds[g->kind_of.v[i]];

		k->lines += w->seen[i];
		k->squares += (double)w->seen[i] * w->seen[i];
		k->values += w->seen[i] > 0;
		k->is_family |= is_of_family(w, i);
	}
	for (size_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];

		for (unsigned n = 0; n < l->nr_names; n++) {
			uint32_t thing = line_names(w, l)[n];

			kinds[g->kind_of.v[thing]].early += l->ns - w->first[thing] < EARLY_NS;
		}
	}
	return kinds;
}

/* Enough things, of which no few are named most, and of which less than half is said when they are
 * new: things that one request makes for itself are no objects that others come back to. */
static bool is_promising(const struct work *w, uint32_t kind, const struct standing *k)
{
	return k->values >= VALUES_MIN && !k->is_family && can_be_subject(w, kind) &&
	       k->lines >= NAMED * (double)w->g->lines.nr &&
	       k->lines * k->lines >= EVEN_MIN * k->squares && k->early < HALF * k->lines;
}

/* The kinds that most lines name, of those that may be subjects. */
static unsigned list_kinds(const struct work *w, uint32_t *to)
{
	struct standing *kinds = stand(w);
	unsigned nr = 0;

	for (uint32_t k = 0; k < w->g->kinds.nr; k++)
		if (!is_promising(w, k, &kinds[k]))
			kinds[k].lines = 0;
	while (nr < CANDIDATES) {
		uint32_t best = 0;

		for (uint32_t k = 1; k < w->g->kinds.nr; k++)
			best = kinds[k].lines > kinds[best].lines ? k : best;
		if (kinds[best].lines <= 0)
			break;
		to[nr++] = best;
		kinds[best].lines = 0;
	}
	free(kinds);
	return nr;
}

static uint32_t *sort_by_kind(const struct gather *g)
{
	uint32_t *at = work_zeroes(g->kinds.nr + 1, sizeof(*at));
	uint32_t *to = work_zeroes(g->things.nr, sizeof(*to));

	for (uint32_t i = 0; i < g->things.nr; i++)
		at[g->kind_of.v[i] + 1]++;
	for (uint32_t k = 1; k <= g->kinds.nr; k++)
		at[k] += at[k - 1];
	for (uint32_t i = 0; i < g->things.nr; i++)
		to[at[g->kind_of.v[i]]++] = i;
	free(at);
	return to;
}

void subjects_find(struct subjects *s, const struct work *w)
{
	struct finder f = { .w = w };
	uint32_t kinds[CANDIDATES];
	unsigned nr = list_kinds(w, kinds);
	size_t most = 0;

	*s = (struct subjects){ 0 };
	if (!nr)
		return;
	f.votes = work_zeroes(w->g->things.nr, sizeof(*f.votes));
	f.kinds = work_zeroes(w->g->kinds.nr, sizeof(*f.kinds));
	f.seen_by = work_zeroes(w->g->things.nr, sizeof(*f.seen_by));
	f.is_place = work_zeroes(w->g->things.nr, sizeof(*f.is_place));
	vec_each (&w->g->file_names, thing)
		f.is_place[*thing] = true;
	f.by_kind = sort_by_kind(w->g);
	f.of_line = work_zeroes(w->g->lines.nr, sizeof(*f.of_line));
	for (unsigned i = 0; i < nr; i++) {
		size_t lines = try_kind(&f, kinds[i]);

		if (lines > most && (double)lines >= SHARE * (double)w->g->lines.nr &&
		    owns_any(&f)) {
			most = lines;
			s->kind = kinds[i];
		}
	}
	if (s->kind) {
		try_kind(&f, s->kind);
		s->owner = work_zeroes(w->g->things.nr, sizeof(*s->owner));
		for (uint32_t i = 1; i < w->g->things.nr; i++)
			s->owner[i] = owner_of(&f, i);
		s->of_line = f.of_line;
		f.of_line = NULL;
	}
	free(f.votes);
	free(f.kinds);
	free(f.seen_by);
	free(f.is_place);
	free(f.by_kind);
	free(f.of_line);
}

void subjects_done(struct subjects *s)
{
	free(s->of_line);
	free(s->owner);
	free(s->is_aside);
	*s = (struct subjects){ 0 };
}
