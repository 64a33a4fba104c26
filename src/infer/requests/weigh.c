/*
 * Which names tell one piece of work from another. A hub is known to all: the address of a server,
 * the folder that everything is below. A measure is no name at all: sizes, counts, durations.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/lineage.h"
#include "infer/requests/work.h"

enum {
	HUB_TIMES = 20,   /* so much more often than others of its kind */
	STEADY_TIMES = 4, /* likewise, if it is named as long as its kind */
	KIND_MIN = 4,     /* a kind with fewer values tells nothing apart inside a thread */
	NUMBERS_MIN = 4,  /* of a kind of numbers, to see whether they are handed out */
};
#define HUB_SHARE 0.01  /* of the lines, at least */
#define ALL_SHARE 0.5   /* whatever stands in so many is a hub */
#define STEADY_LIFE 0.6 /* named from so early to so late, of the time that its kind is ... */
#define STEADY_SHARE \
	0.75 /* ... as are the values in most mentions of the kind: parts of the system */
#define AGAIN_LIFE 0.25 /* a level comes back after so much of that time ... */
#define COMES_BACK 0.5  /* ... in most mentions; what is handed out does not */
#define RISING 0.7      /* numbers that are handed out rise, so often at least */

struct times {
	int64_t *first, *last; /* of each thing */
	int64_t from, until;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void count(struct work *w, struct times *t)
{
	const struct gather *g = w->g;

	t->from = INT64_MAX;
	t->until = INT64_MIN;
	for (size_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];

		t->from = l->ns < t->from ? l->ns : t->from;
		t->until = l->ns > t->until ? l->ns : t->until;
		for (unsigned k = 0; k < l->nr_names; k++) {
			uint32_t thing = line_names(w, l)[k];

			w->seen[thing]++;
			if (l->is_undated)
				continue;
			if (!t->first[thing] || l->ns < t->first[thing])
				t->first[thing] = l->ns;
			if (l->ns > t->last[thing])
				t->last[thing] = l->ns;
		}
	}
}

/* Numbers with a name that are handed out one after another name things; others are amounts. */
static bool is_handed_out(const struct work *w, const struct times *t, const uint32_t *things,
			  size_t nr)
{
	size_t rising = 0;
	double last = 0;

	if (nr < NUMBERS_MIN)
		return false;
	(void)t;
	for (size_t i = 0; i < nr; i++) {
		double value = 0;
		struct str s = gather_value(w->g, things[i]);

		for (size_t k = 0; k < s.n && k < 18; k++)
			value = value * 10 + (s.p[k] - '0');
		rising += i && value > last;
		last = value;
	}
	return (double)rising >= RISING * (double)(nr - 1);
}

static int by_first(const void *a, const void *b, void *to)
{
	const int64_t *first = to;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (first[x] != first[y])
		return first[x] < first[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* How long a kind is named, from its first value to its last, and whether most of what is named of
 * it is named all that time. */
struct life {
	double ns;
	bool is_steady;
	double comes_back; /* share of what is named of it that is named again much later */
};

static double lived(const struct times *t, uint32_t thing)
{
	return (double)(t->last[thing] - t->first[thing]);
}

static struct life life_of(const struct work *w, const struct times *t, const uint32_t *things,
			   size_t nr)
{
	int64_t from = INT64_MAX, until = INT64_MIN;
	double all = 0, steady = 0, again = 0, life;

	for (size_t i = 0; i < nr; i++) {
		from = t->first[things[i]] < from ? t->first[things[i]] : from;
		until = t->last[things[i]] > until ? t->last[things[i]] : until;
	}
	life = (double)(until - from);
	for (size_t i = 0; i < nr; i++) {
		all += w->seen[things[i]];
		steady += lived(t, things[i]) >= STEADY_LIFE * life ? w->seen[things[i]] : 0;
		again += lived(t, things[i]) >= AGAIN_LIFE * life ? w->seen[things[i]] : 0;
	}
	return (struct life){ life, steady >= STEADY_SHARE * all, again / all };
}

static void weigh_kind(struct work *w, const struct times *t, uint32_t kind, uint32_t *things,
		       uint32_t *counts, size_t nr)
{
	struct str name = names_str(&w->g->kinds, kind);
	double lines = (double)w->g->lines.nr;
	struct life life = life_of(w, t, things, nr);
	double median;
	size_t middle;

	for (size_t i = 0; i < nr; i++)
		counts[i] = w->seen[things[i]];
	qsort(counts, nr, sizeof(*counts), by_number);
	middle = nr / 2;
	median = counts[middle];
	if (str_ends(name, STR("="))) {
		qsort_r(things, nr, sizeof(*things), by_first, t->first);
		w->is_measure[kind] =
			!is_handed_out(w, t, things, nr) || life.comes_back > COMES_BACK;
	}
	for (size_t i = 0; i < nr; i++) {
		double n = w->seen[things[i]];
		bool is_always = lived(t, things[i]) >= STEADY_LIFE * life.ns &&
				 (life.is_steady || n > STEADY_TIMES * median);

		w->bits[things[i]] = (float)-log2(n / lines);
		w->is_hub[things[i]] =
			(n > HUB_SHARE * lines && (n > HUB_TIMES * median || is_always)) ||
			n > ALL_SHARE * lines;
	}
}

uint32_t work_numbers(const struct work *w, uint32_t thing)
{
	struct str kind = names_str(&w->g->kinds, w->g->kind_of.v[thing]);
	struct str value = gather_value(w->g, thing);
	size_t at = str_find_char(kind, '#'), n;
	char text[300] = "#2\x1f";

	if (!at || at + 2 != kind.n || kind.p[at + 1] < '2' || value.n <= at)
		return 0;
	value = str_skip(value, at + 1);
	n = str_find_char(value, '_');
	n += n < value.n ? 1 + str_find_char(str_skip(value, n + 1), '_') : 0;
	if (n + 3 > sizeof(text))
		return 0;
	memcpy(text + 3, value.p, n);
	return names_find(&w->g->things, (struct str){ text, n + 3 });
}

/* application_17_1, container_17_1_1, job_17_1: whatever is called after the same numbers is part
 * of one piece of work. */
static void find_families(struct work *w)
{
	uint64_t *word = work_zeroes(w->g->things.nr, sizeof(*word));

	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		struct str kind = names_str(&w->g->kinds, w->g->kind_of.v[i]);
		uint32_t numbers = w->seen[i] ? work_numbers(w, i) : 0;
		uint64_t hash = str_hash(str_head(kind, str_find_char(kind, '#'))) | 1;

		if (!numbers)
			continue;
		if (word[numbers] && word[numbers] != hash)
			w->is_family[numbers] = true;
		word[numbers] = hash;
	}
	for (uint32_t i = 1; i < w->g->things.nr; i++) {
		uint32_t numbers = work_numbers(w, i);

		if (numbers && w->is_family[numbers])
			w->is_hub[i] = w->is_hub[numbers] = false;
	}
	free(word);
}

void weigh_things(struct work *w)
{
	size_t nr = w->g->things.nr, nr_kinds = w->g->kinds.nr;
	struct times t = { work_zeroes(nr, sizeof(int64_t)), work_zeroes(nr, sizeof(int64_t)), 0,
			   0 };
	uint32_t *things = work_zeroes(nr, sizeof(*things)),
		 *counts = work_zeroes(nr, sizeof(*counts));
	size_t *at = work_zeroes(nr_kinds + 1, sizeof(*at));

	w->seen = work_zeroes(nr, sizeof(*w->seen));
	w->bits = work_zeroes(nr, sizeof(*w->bits));
	w->is_hub = work_zeroes(nr, sizeof(*w->is_hub));
	w->root = work_zeroes(nr, sizeof(*w->root));
	w->is_family = work_zeroes(nr, sizeof(*w->is_family));
	w->is_measure = work_zeroes(nr_kinds, sizeof(*w->is_measure));
	count(w, &t);
	for (size_t i = 0; i < nr; i++)
		if (w->seen[i])
			at[w->g->kind_of.v[i] + 1]++;
	for (size_t k = 1; k <= nr_kinds; k++)
		at[k] += at[k - 1];
	for (size_t i = 0; i < nr; i++)
		if (w->seen[i])
			things[at[w->g->kind_of.v[i]]++] = (uint32_t)i;
	for (size_t k = nr_kinds; k-- > 0;) {
		size_t from = k ? at[k - 1] : 0;

		if (at[k] > from)
			weigh_kind(w, &t, (uint32_t)k, things + from, counts, at[k] - from);
	}
	find_families(w);
	lineage_find(w);
	w->first = t.first;
	w->last = t.last;
	free(things);
	free(counts);
	free(at);
}
