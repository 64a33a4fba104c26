/*
 * A table is created, filled, flushed, split and dropped: by one request after another, each of
 * which may be seen in many threads of many nodes. All lines about one object, in the order of
 * their time, are its time line, and it is cut where nothing was heard of the object for long and
 * something begins.
 *
 * How long that is, the statements tell: before what begins a request it is always silent, since
 * whoever asked waited for the answer and then did something else; within a request mostly the next
 * line follows at once. A long silence is within a request when a piece of work goes on across it,
 * when lines of one family stand on both sides, or when what comes after it mostly follows at once
 * upon other work, or upon just that work, in another pool of threads: then it had to wait for its
 * turn there. If no two sorts of statements can be told apart like that, nothing is said.
 */
#include "infer/requests/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/family.h"

enum {
	LOOK_BACK = 64,
	TYPE_MIN = 4, /* lines of a statement that show when it comes */
	PAIR_MIN = 2, /* times that one was seen to follow the other at once */
};
#define SILENT_NS INT64_C(200000000) /* nobody asks again so soon after the answer */
#define FAR_NS INT64_C(10000000000)  /* nothing waits so long for its turn */
#define SHORT_NS INT64_C(50000000)
#define MOMENT_NS INT64_C(5000000)
#define HARDLY 0.14 /* of what a pool of threads does that only works for others */
#define TOLD 0.5
#define OFTEN 0.4
#define MOSTLY 0.5
#define AT_TIMES 0.2
#define MORE 2
#define RARELY 0.02
#define NEARLY 0.9

static int by_time(const void *a, const void *b, void *to)
{
	const struct gather *g = to;
	const struct step *x = a, *y = b;
	const struct seen_line *p = &g->lines.v[x->line], *q = &g->lines.v[y->line];

	if (x->subject != y->subject)
		return x->subject < y->subject ? -1 : 1;
	if (p->ns != q->ns)
		return p->ns < q->ns ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static uint32_t type_of(struct timeline *t, uint32_t pool, uint32_t type)
{
	uint64_t *at = map_at(&t->types, map_pair(pool, type));

	if (!*at) {
		vec_push(&t->habits, (struct habit){ 0 });
		*at = t->habits.nr;
	}
	return (uint32_t)*at - 1;
}

uint32_t timeline_family(const struct work *w, const struct seen_line *l)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < l->nr_own && found != FAMILY_SEVERAL; i++) {
		uint32_t thing = line_names(w, l)[i], numbers = work_numbers(w, thing);
		uint32_t family = w->root[thing]                     ? w->root[thing]
				  : w->is_family[thing]              ? thing
				  : numbers && w->is_family[numbers] ? numbers
								     : 0;

		if (family)
			found = !found || found == family ? family : FAMILY_SEVERAL;
	}
	return found == FAMILY_SEVERAL ? 0 : found;
}

/* Whether the line does after a silence what was done in these lines before. */
static bool is_again(const struct work *w, uint32_t from, uint32_t at)
{
	uint32_t type = work_line(w, at)->type;

	if (at == from || work_line(w, at)->ns - work_line(w, at - 1)->ns <= SILENT_NS)
		return false;
	from = at - from > LOOK_BACK ? at - LOOK_BACK : from;
	while (at-- > from)
		if (work_line(w, at)->type == type)
			return true;
	return false;
}

static void list_unit(struct timeline *t, const struct unit *u)
{
	const struct work *w = t->w;
	uint32_t from = u->from, last = 0;

	t->nr_pieces++;
	for (uint32_t at = u->from; at < u->to; at++) {
		const struct seen_line *l = work_line(w, at);
		uint32_t subject = subject_at(w, t->s, at), pool = w->family[l->thread];

		if ((subject && last && subject != last) || is_again(w, from, at)) {
			t->nr_pieces++;
			from = at;
		}
		last = subject ? subject : last;
		if (subject)
			vec_push(&t->v, (struct step){ .line = w->by_thread[at],
						       .piece = t->nr_pieces,
						       .subject = subject,
						       .family = timeline_family(w, l),
						       .pool = pool,
						       .type = type_of(t, pool, l->type) });
	}
}

static void list_steps(struct timeline *t)
{
	vec_each (&t->w->units, u)
		if (!u->is_undated)
			list_unit(t, u);
	if (t->v.nr)
		qsort_r(t->v.v, t->v.nr, sizeof(*t->v.v), by_time, (void *)t->w->g);
}

/* Until when each piece goes on. */
static int64_t *piece_ends(const struct timeline *t)
{
	int64_t *end = mem_realloc(NULL, mem_bytes(t->nr_pieces + (size_t)1, sizeof(*end)));

	memset(end, 0, (t->nr_pieces + (size_t)1) * sizeof(*end));
	vec_each (&t->v, s)
		end[s->piece] = t->w->g->lines.v[s->line].ns;
	return end;
}

/* What goes on for certain: work across a silence, and lines of one family. */
static void relate(struct timeline *t)
{
	const struct gather *g = t->w->g;
	int64_t *end = piece_ends(t), reach = 0;
	size_t family_at = 0;

	for (size_t i = 0; i < t->v.nr; i++) {
		struct step *s = &t->v.v[i], *p = i ? s - 1 : NULL;
		int64_t ns = g->lines.v[s->line].ns;

		s->goes_on = false;
		s->is_first = !p || p->subject != s->subject;
		if (s->is_first) {
			reach = INT64_MIN;
			family_at = SIZE_MAX;
		} else {
			s->gap = ns - g->lines.v[p->line].ns;
			s->goes_on = reach >= ns;
		}
		if (s->family && family_at != SIZE_MAX && t->v.v[family_at].family == s->family)
			for (size_t k = family_at + 1; k <= i; k++)
				t->v.v[k].goes_on = true;
		if (s->family)
			family_at = i;
		reach = end[s->piece] > reach ? end[s->piece] : reach;
	}
	free(end);
}

/* --- what follows upon other work ------------------------------------------------------------ */

/* Whether what it takes from the line before shows anything: a pool of threads that starts again
 * was asked again. */
static bool is_telling(const struct step *s)
{
	return !s->is_first && s[-1].pool != s->pool;
}

static struct habit *habit_at(struct timeline *t, struct map *m, uint32_t first, uint32_t second)
{
	uint64_t *at = map_at(m, map_pair(first, second));

	if (!*at) {
		vec_push(&t->pair_habits, (struct habit){ 0 });
		*at = t->pair_habits.nr;
	}
	return &t->pair_habits.v[*at - 1];
}

static double late_share(const struct habit *h)
{
	return h->late ? (double)h->late / (h->soon + h->late) : 0;
}

/* Whether hardly anything begins in its pool of threads. */
static bool works_for_others(const struct timeline *t, const struct step *s)
{
	return late_share(&t->pools[s->pool]) <= HARDLY;
}

/* Whether it is often silent before such a line, in a pool of threads where that is not rare. */
static bool is_root(const struct timeline *t, const struct step *s)
{
	return !works_for_others(t, s) && late_share(&t->habits.v[s->type]) >= OFTEN;
}

static bool is_soon(const struct habit *h, double share)
{
	return h->soon >= PAIR_MIN && h->soon >= share * (h->soon + h->late);
}

/* Whether just this follows upon just that at times. Where it follows upon nothing else, other work
 * that its pool of threads does after that shows that it may have to wait there. */
static bool is_after(struct timeline *t, const struct step *s)
{
	const struct habit *all = &t->habits.v[s->type];
	struct habit pair = *habit_at(t, &t->pairs, s[-1].type, s->type);
	struct habit pool = *habit_at(t, &t->pool_pairs, s[-1].type, s->pool);

	if (is_soon(&pair, AT_TIMES))
		return true;
	if (pair.soon + pair.late < NEARLY * (all->soon + all->late))
		return false;
	return is_soon(&pool, RARELY);
}

static bool is_due(struct timeline *t, const struct step *s)
{
	if (s->goes_on || works_for_others(t, s))
		return true;
	return is_telling(s) && (!is_root(t, s) || is_after(t, s));
}

/* What nearly always begins something does so after a short silence, too. */
static bool is_sure_root(const struct timeline *t, const struct step *s)
{
	const struct habit *all = &t->habits.v[s->type];

	return is_telling(s) && s->gap > SHORT_NS && all->soon + all->late >= TYPE_MIN &&
	       all->late >= NEARLY * (all->soon + all->late);
}

static bool begins_here(struct timeline *t, const struct step *s)
{
	if (s->is_first)
		return true;
	if (s->goes_on || (s->gap <= SILENT_NS && !is_sure_root(t, s)))
		return false;
	return s->gap > FAR_NS || !is_due(t, s);
}

static void count_habits(struct timeline *t)
{
	memset(t->pools, 0, (t->w->nr_families + 1) * sizeof(*t->pools));
	if (t->habits.nr)
		memset(t->habits.v, 0, t->habits.nr * sizeof(*t->habits.v));
	map_done(&t->pairs);
	map_done(&t->pool_pairs);
	vec_clear(&t->pair_habits);
	vec_each (&t->v, s)
		if (is_telling(s)) {
			bool is_late = s->gap > SILENT_NS && !s->goes_on;

			habit_count(&t->pools[s->pool], is_late);
			habit_count(&t->habits.v[s->type], is_late);
			habit_count(habit_at(t, &t->pairs, s[-1].type, s->type), is_late);
			habit_count(habit_at(t, &t->pool_pairs, s[-1].type, s->pool), is_late);
		}
}

/* Threads overtake each other when they log: of lines within a moment after a silence, one of a
 * pool in which much begins comes first. */
static void put_first(struct timeline *t, size_t at)
{
	int64_t ns = t->w->g->lines.v[t->v.v[at].line].ns;
	size_t best = at;
	struct step moved;

	for (size_t i = at + 1; i < t->v.nr && i < at + LOOK_BACK; i++) {
		const struct step *s = &t->v.v[i];

		if (s->is_first || t->w->g->lines.v[s->line].ns - ns > MOMENT_NS)
			break;
		if (late_share(&t->pools[s->pool]) >
		    MORE * late_share(&t->pools[t->v.v[best].pool]))
			best = i;
	}
	moved = t->v.v[best];
	memmove(&t->v.v[at + 1], &t->v.v[at], (best - at) * sizeof(moved));
	t->v.v[at] = moved;
}

static void put_in_order(struct timeline *t)
{
	for (size_t i = 0; i < t->v.nr; i++)
		if (!t->v.v[i].is_first && !t->v.v[i].goes_on && t->v.v[i].gap > SILENT_NS)
			put_first(t, i);
}

/* --- whether they take turns ------------------------------------------------------------------ */

static double entropy(double part, double of)
{
	double p = of > 0 ? part / of : 0;

	return p <= 0 || p >= 1 ? 0 : -of * (p * log(p) + (1 - p) * log(1 - p));
}

/* How much the statement behind a silence tells of whether it was a long one: nothing, where
 * requests come at any time. */
static double told(const struct timeline *t)
{
	double left = 0, late = 0, of = 0;

	vec_each (&t->habits, h) {
		uint32_t nr = h->soon + h->late;

		if (nr < TYPE_MIN)
			continue;
		left += entropy(h->late, nr);
		late += h->late;
		of += nr;
	}
	return late > 0 && late < of ? 1 - left / entropy(late, of) : 0;
}

/* The share of the lines that are of the first turn at their object: most of what is said of things
 * that a request makes for itself. */
static double first_share(const struct timeline *t)
{
	double nr = 0;
	uint32_t first = 0;

	vec_each (&t->v, s) {
		first = s->is_first ? s->turn : first;
		nr += s->turn == first;
	}
	return t->v.nr ? nr / (double)t->v.nr : 1;
}

bool timeline_is_by_turns(const struct timeline *t)
{
	return told(t) >= TOLD && first_share(t) < MOSTLY;
}

static void number_turns(struct timeline *t)
{
	uint32_t turn = 0;

	vec_each (&t->v, s) {
		turn += s->begins;
		s->turn = turn;
	}
}

void timeline_cut(struct timeline *t)
{
	relate(t);
	count_habits(t);
	put_in_order(t);
	relate(t);
	count_habits(t);
	vec_each (&t->v, s)
		s->begins = begins_here(t, s);
	number_turns(t);
}

void timeline_init(struct timeline *t, const struct work *w, const struct subjects *s)
{
	*t = (struct timeline){ .w = w, .s = s };
	t->pools = mem_zalloc(mem_bytes(w->nr_families + (size_t)1, sizeof(*t->pools)));
	list_steps(t);
}

void timeline_done(struct timeline *t)
{
	map_done(&t->types);
	map_done(&t->pairs);
	map_done(&t->pool_pairs);
	vec_done(&t->habits);
	vec_done(&t->pair_habits);
	vec_done(&t->v);
	free(t->pools);
}
