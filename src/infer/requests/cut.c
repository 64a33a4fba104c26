/*
 * Cuts the lines of each thread into pieces of work. Whether a piece begins between two lines is
 * learned from all threads of a family at once: after which statements work ends, with which it
 * begins, how long the silence in between is, whether the lines name the same or contradict each
 * other. What is certain (other names in the same statement, a step back in the course of the
 * program) starts the learning; rounds of expectation and maximisation do the rest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/course.h"
#include "infer/requests/cut_step.h"
#include "infer/requests/frame.h"
#include "infer/requests/work.h"

enum {
	ROUNDS = 8,
	GAP_BINS = 13,
	SURE_MIN = 5, /* agreements that make a kind of name sure */
	LOOSE_MIN = 3,
	LONG_MS = 500,    /* a silence that is the end of a piece of work, to begin with */
	ALWAYS_MS = 2000, /* a silence that ends a piece of work, unless the same is named */
	LOOK_MAX = 16,    /* lines around a cut, for one that names something */
	LOOP_MS = 10,     /* rounds of one loop are not further apart */
};
#define SURE_SHARE 0.9
#define LOOSE_SHARE 0.6
#define VERSIONS_MAX 1.5
#define NS_PER_MS 1000000

struct cutter {
	struct work *w;
	struct steps_seen steps;
	struct map pairs; /* family and type: 1 + number */
	uint32_t nr_pairs;
	uint32_t *values;      /* of each kind: how many */
	double *equal, *other; /* of each kind: what it does where another kind agrees */
	bool *is_sure, *is_loose;
	double *after[2], *before[2]; /* [begins][pair] */
	double *gaps[2];              /* [begins][family * GAP_BINS + bin] */
	double *total[2];             /* [begins][family] */
	double relations[2][RELATION_NR], all_gaps[2][GAP_BINS], all[2];
	VEC(uint32_t) pair_family;
	double *firsts; /* of each pair: threads that begin with it */
	/* what each tells about a beginning, as logarithms of odds */
	double *odds_after, *odds_before, *odds_gap, *odds_family;
	double odds_relation[RELATION_NR];
};

static bool tells(const struct cutter *c, uint32_t thing)
{
	return !c->w->is_hub[thing] && c->values[c->w->g->kind_of.v[thing]] >= 4;
}

static bool is_below(struct str a, struct str b)
{
	return (str_starts(a, b) || str_starts(b, a));
}

/* Whether two names of one kind are the same thing, or one path is above the other. */
static bool agree(const struct work *w, uint32_t a, uint32_t b)
{
	return a == b ||
	       (work_is_path(w, a) && is_below(gather_value(w->g, a), gather_value(w->g, b)));
}

struct met {
	uint32_t kind;
	bool is_shared;
	float shared, differs; /* bits */
};

static struct met *met_of(struct met *v, unsigned *nr, uint32_t kind)
{
	for (unsigned i = 0; i < *nr; i++)
		if (v[i].kind == kind)
			return &v[i];
	if (*nr == 32)
		return NULL;
	v[*nr] = (struct met){ .kind = kind };
	return &v[(*nr)++];
}

/* What the two lines have of each kind that both name. */
static unsigned meet(const struct cutter *c, const struct seen_line *p, const struct seen_line *e,
		     struct met *v)
{
	const struct work *w = c->w;
	unsigned nr = 0;

	for (unsigned i = 0; i < e->nr_own; i++) {
		uint32_t a = line_names(w, e)[i];
		uint32_t kind = w->g->kind_of.v[a];

		if (!tells(c, a))
			continue;
		for (unsigned k = 0; k < p->nr_own; k++) {
			uint32_t b = line_names(w, p)[k];
			struct met *m;

			if (w->g->kind_of.v[b] != kind || !tells(c, b) ||
			    !(m = met_of(v, &nr, kind)))
				continue;
			if (agree(w, a, b)) {
				m->is_shared = true;
				m->shared = fmaxf(m->shared, fminf(w->bits[a], w->bits[b]));
			} else if (!w->is_measure[kind]) {
				/* amounts that differ say nothing */
				m->differs = fmaxf(m->differs, fminf(w->bits[a], w->bits[b]));
			}
		}
	}
	return nr;
}

/* "blk" of blk#1 and blk#2: they say the same. */
static struct str stem_of(const struct work *w, uint32_t kind)
{
	struct str name = names_str(&w->g->kinds, kind);

	return str_head(name, str_find_char(name, '#'));
}

static void learn_kinds(struct cutter *c, const struct seen_line *p, const struct seen_line *e)
{
	struct met v[32];
	unsigned nr = p->type == e->type ? 0 : meet(c, p, e, v);

	for (unsigned i = 0; i < nr; i++) {
		bool has_other = false;

		for (unsigned k = 0; k < nr && !has_other; k++) {
			struct str stem = stem_of(c->w, v[k].kind);

			has_other =
				v[k].is_shared && stem.n && !str_eq(stem, stem_of(c->w, v[i].kind));
		}
		if (has_other)
			(v[i].is_shared ? c->equal : c->other)[v[i].kind]++;
	}
}

/* blk#2 of blk#1: where things hardly ever have more than one number behind theirs it tells
 * versions, and another version is the same thing. */
static bool tells_versions(const struct cutter *c, uint32_t kind)
{
	uint32_t above = c->w->looks[kind].above;

	return above && c->values[kind] <= VERSIONS_MAX * c->values[above];
}

/* Whether the lines name another version of one thing each. */
static bool is_version(const struct cutter *c, const struct met *v, unsigned nr, uint32_t kind)
{
	for (unsigned i = 0; i < nr && tells_versions(c, kind); i++)
		if (v[i].is_shared && v[i].kind == c->w->looks[kind].above)
			return true;
	/* what else is called after the same numbers */
	for (unsigned i = 0; i < nr && c->w->looks[kind].is_numbers; i++)
		if (!v[i].is_shared && v[i].kind != kind && is_version(c, v, nr, v[i].kind))
			return true;
	return false;
}

static enum relation relate(const struct cutter *c, const struct seen_line *p,
			    const struct seen_line *e)
{
	struct met v[32];
	unsigned nr = meet(c, p, e, v);
	float shared = 0, differs = 0;
	bool is_sure = false;

	for (unsigned i = 0; i < nr; i++) {
		if (!v[i].is_shared && p->type != e->type && is_version(c, v, nr, v[i].kind))
			continue;
		/* the same statement that lists other things is said of something else */
		if (v[i].is_shared && (p->type != e->type || v[i].differs == 0)) {
			shared = fmaxf(shared, v[i].shared);
		} else if ((!c->is_loose[v[i].kind] || p->type == e->type) &&
			   v[i].differs > differs) {
			differs = v[i].differs;
			is_sure = c->is_sure[v[i].kind] || p->type == e->type;
		}
	}
	if (shared == 0 && differs == 0)
		return NOTHING;
	if (shared >= differs - 1)
		return SHARES;
	return is_sure ? CONTRADICTS : MAY_CONTRADICT;
}

static uint8_t gap_bin(int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;
	int bin = ms <= 0 ? 0 : 1 + (int)log2((double)ms);

	return (uint8_t)(bin < GAP_BINS ? bin : GAP_BINS - 1);
}

static uint32_t pair_of(struct cutter *c, uint32_t family, uint32_t type)
{
	uint64_t *at = map_at(&c->pairs, map_pair(family, type));

	if (!*at) {
		*at = ++c->nr_pairs;
		vec_push(&c->pair_family, family);
	}
	return (uint32_t)*at - 1;
}

static bool is_same_thread(const struct seen_line *p, const struct seen_line *e)
{
	return p->file == e->file && p->thread == e->thread;
}

static bool is_answer(const struct work *w, uint32_t at)
{
	return w->answers && w->answers[w->by_thread[at]];
}

/* Whether the work is done: its question is answered, and the next line names something else; or
 * the next line answers what had not been asked yet. */
static bool is_answered(const struct cutter *c, uint32_t at)
{
	const struct work *w = c->w;
	const struct seen_line *e = work_line(w, at);
	uint32_t asked = w->answers ? w->answers[w->by_thread[at]] : 0;

	if (asked && w->g->lines.v[asked - 1].ns > work_line(w, at - 1)->ns)
		return true;
	if (!is_answer(w, at - 1))
		return false;
	for (unsigned i = 0; i < e->nr_own; i++)
		if (tells(c, line_names(w, e)[i]))
			return true;
	return false;
}

/* Whether the line and the one before the last go on with each other about the same. */
static bool is_about_the_same(const struct cutter *c, uint32_t at)
{
	const struct gather *g = c->w->g;
	const struct seen_line *p, *e = work_line(c->w, at);

	if (at < 2 || !is_same_thread(work_line(c->w, at - 2), e))
		return false;
	p = work_line(c->w, at - 2);
	return e->ns - p->ns <= (int64_t)LONG_MS * NS_PER_MS &&
	       course_goes_on(c->w->course, g->statement.v[p->type], g->statement.v[e->type]) &&
	       relate(c, p, e) == SHARES;
}

static void add_step(struct cutter *c, uint32_t at)
{
	const struct gather *g = c->w->g;
	const struct seen_line *p = work_line(c->w, at - 1), *e = work_line(c->w, at);
	uint32_t family = c->w->family[e->thread];
	struct step s = { .at = at,
			  .family = family,
			  .before = pair_of(c, family, p->type),
			  .after = pair_of(c, family, e->type),
			  .relation = (uint8_t)relate(c, p, e),
			  .gap = gap_bin(e->ns - p->ns) };

	s.is_about_the_same = s.relation == NOTHING && is_about_the_same(c, at);
	s.is_certain =
		s.relation == CONTRADICTS || p->is_undated != e->is_undated ||
		(s.relation == NOTHING && e->ns - p->ns > (int64_t)ALWAYS_MS * NS_PER_MS) ||
		(s.relation != SHARES && is_answered(c, at)) ||
		course_is_back(c->w->course, g->statement.v[p->type], g->statement.v[e->type]);
	if (s.is_certain)
		s.begins = 1;
	else if (s.relation == SHARES)
		s.begins = 0.02F;
	else if (s.relation == MAY_CONTRADICT)
		s.begins = 0.6F;
	else
		s.begins = e->ns - p->ns > (int64_t)LONG_MS * NS_PER_MS ? 0.95F
			   : s.gap && is_answer(c->w, at - 1)           ? 0.8F
									: 0.2F;
	vec_push(&c->steps, s);
}

static double *numbers(size_t nr)
{
	return mem_zalloc(mem_bytes(nr + 1, sizeof(double)));
}

static void count_firsts(struct cutter *c)
{
	c->firsts = numbers(c->nr_pairs);
	for (uint32_t at = 0; at < c->w->g->lines.nr; at++) {
		const struct seen_line *e = work_line(c->w, at);
		const uint64_t *pair;

		if (at && is_same_thread(work_line(c->w, at - 1), e))
			continue;
		pair = map_find(&c->pairs, map_pair(c->w->family[e->thread], e->type));
		if (pair)
			c->firsts[*pair - 1]++;
	}
}

static void begin(struct cutter *c, struct work *w)
{
	size_t nr_kinds = w->g->kinds.nr;

	*c = (struct cutter){ .w = w };
	c->values = mem_realloc(NULL, mem_bytes(nr_kinds + 1, sizeof(*c->values)));
	memset(c->values, 0, (nr_kinds + 1) * sizeof(*c->values));
	for (size_t i = 0; i < w->g->things.nr; i++)
		c->values[w->g->kind_of.v[i]] += w->seen[i] > 0;
	c->equal = numbers(nr_kinds);
	c->other = numbers(nr_kinds);
	c->is_sure = mem_realloc(NULL, 2 * (nr_kinds + 1));
	c->is_loose = c->is_sure + nr_kinds + 1;
	for (uint32_t at = 1; at < w->g->lines.nr; at++)
		if (is_same_thread(work_line(w, at - 1), work_line(w, at)))
			learn_kinds(c, work_line(w, at - 1), work_line(w, at));
	for (size_t k = 0; k < nr_kinds; k++) {
		double all = c->equal[k] + c->other[k];

		c->is_sure[k] = c->equal[k] >= SURE_MIN && c->equal[k] >= SURE_SHARE * all;
		c->is_loose[k] = all >= LOOSE_MIN && c->equal[k] < LOOSE_SHARE * all;
	}
	for (uint32_t at = 1; at < w->g->lines.nr; at++)
		if (is_same_thread(work_line(w, at - 1), work_line(w, at)))
			add_step(c, at);
	steps_be_sure(&c->steps, c->nr_pairs);
	for (int y = 0; y < 2; y++) {
		c->after[y] = numbers(c->nr_pairs);
		c->before[y] = numbers(c->nr_pairs);
		c->gaps[y] = numbers((size_t)w->nr_families * GAP_BINS);
		c->total[y] = numbers(w->nr_families);
	}
	c->odds_after = numbers(c->nr_pairs);
	c->odds_before = numbers(c->nr_pairs);
	c->odds_gap = numbers((size_t)w->nr_families * GAP_BINS);
	c->odds_family = numbers(w->nr_families);
	count_firsts(c);
}

static void forget(struct cutter *c)
{
	for (int y = 0; y < 2; y++) {
		memset(c->after[y], 0, c->nr_pairs * sizeof(double));
		memset(c->before[y], 0, c->nr_pairs * sizeof(double));
		memset(c->gaps[y], 0, (size_t)c->w->nr_families * GAP_BINS * sizeof(double));
		memset(c->total[y], 0, c->w->nr_families * sizeof(double));
	}
	memset(c->relations, 0, sizeof(c->relations));
	memset(c->all_gaps, 0, sizeof(c->all_gaps));
	memset(c->all, 0, sizeof(c->all));
}

/* What begins and what goes on looks like, by what is believed now. */
static void maximise(struct cutter *c)
{
	forget(c);
	memcpy(c->after[1], c->firsts, c->nr_pairs * sizeof(double));
	vec_each (&c->steps, s)
		for (int y = 0; y < 2; y++) {
			double share = y ? s->begins : 1 - s->begins;

			c->after[y][s->after] += share;
			c->before[y][s->before] += share;
			c->relations[y][s->relation] += share;
			c->gaps[y][s->family * GAP_BINS + s->gap] += share;
			c->all_gaps[y][s->gap] += share;
			c->total[y][s->family] += share;
			c->all[y] += share;
		}
}

static double ratio(double n1, double of1, double n0, double of0)
{
	return log(((n1 + 0.5) / (of1 + 5)) / ((n0 + 0.5) / (of0 + 5)));
}

static double gap_share(const struct cutter *c, int y, uint32_t family, unsigned gap)
{
	double general = (c->all_gaps[y][gap] + 0.5) / (c->all[y] + 6);

	return (c->gaps[y][family * GAP_BINS + gap] + 5 * general) / (c->total[y][family] + 5);
}

/* Once for each value: steps share them by the thousand. */
static void weigh_odds(struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr_pairs; i++) {
		double n1 = c->total[1][c->pair_family.v[i]], n0 = c->total[0][c->pair_family.v[i]];

		c->odds_after[i] = ratio(c->after[1][i], n1, c->after[0][i], n0);
		c->odds_before[i] = ratio(c->before[1][i], n1, c->before[0][i], n0);
	}
	for (int i = 0; i < RELATION_NR; i++)
		c->odds_relation[i] = log(((c->relations[1][i] + 1) / (c->all[1] + 4)) /
					  ((c->relations[0][i] + 1) / (c->all[0] + 4)));
	for (uint32_t f = 0; f < c->w->nr_families; f++) {
		c->odds_family[f] = log((c->total[1][f] + 1) / (c->total[0][f] + 1));
		for (unsigned gap = 0; gap < GAP_BINS; gap++)
			c->odds_gap[f * GAP_BINS + gap] =
				log(gap_share(c, 1, f, gap) / gap_share(c, 0, f, gap));
	}
}

static void expect(struct cutter *c)
{
	weigh_odds(c);
	vec_each (&c->steps, s) {
		double odds = c->odds_family[s->family];

		if (s->is_certain)
			continue;
		odds += c->odds_after[s->after];
		odds += c->odds_before[s->before];
		odds += c->odds_relation[s->relation];
		odds += c->odds_gap[s->family * GAP_BINS + s->gap];
		s->begins = (float)(1 / (1 + exp(-fmax(-30, fmin(30, odds)))));
	}
}

/* A round of a loop whose lines name something else: the same execution, another unit. */
static bool is_round(const struct cutter *c, const struct step *s)
{
	const struct gather *g = c->w->g;
	const struct seen_line *p = work_line(c->w, s->at - 1), *e = work_line(c->w, s->at);

	return s->relation == CONTRADICTS && e->ns - p->ns < (int64_t)LOOP_MS * NS_PER_MS &&
	       course_goes_on(c->w->course, g->statement.v[p->type], g->statement.v[e->type]);
}

/* The nearest line of the thread that names something, from here on in steps of one or minus one.
 */
static uint32_t naming_line(const struct cutter *c, uint32_t at, int step)
{
	const struct work *w = c->w;
	uint32_t to = at;

	for (int n = 0; n < LOOK_MAX; n++, to += (uint32_t)step) {
		const struct seen_line *l;

		if (to >= w->g->lines.nr || !is_same_thread(work_line(w, at), work_line(w, to)))
			break;
		l = work_line(w, to);
		for (unsigned i = 0; i < l->nr_own; i++)
			if (tells(c, line_names(w, l)[i]))
				return to;
	}
	return at;
}

/* Whether what is named before and after the cut are different things. */
static bool is_contradicted(const struct cutter *c, const struct step *s)
{
	uint32_t p = naming_line(c, s->at - 1, -1), e = naming_line(c, s->at, 1);

	return s->relation == CONTRADICTS ||
	       relate(c, work_line(c->w, p), work_line(c->w, e)) >= MAY_CONTRADICT;
}

/* Where threads work in frames, what lies between two ends is one piece of work. */
static void see_frames(struct cutter *c)
{
	struct frame_step *v = mem_realloc(NULL, mem_bytes(c->steps.nr + 1, sizeof(*v)));

	for (size_t i = 0; i < c->steps.nr; i++) {
		const struct step *s = &c->steps.v[i];

		v[i] = (struct frame_step){ .at = s->at,
					    .before = s->before,
					    .after = s->after,
					    .silence = s->gap,
					    .is_cut = s->begins > 0.5F,
					    .is_sure = s->begins > 0.5F && is_contradicted(c, s),
					    .is_same = s->relation == SHARES,
					    .is_round = is_round(c, s) };
	}
	frame_join(v, c->steps.nr, c->nr_pairs);
	for (size_t i = 0; i < c->steps.nr; i++)
		c->steps.v[i].begins = v[i].is_cut;
	free(v);
}

static void collect(struct cutter *c)
{
	struct work *w = c->w;
	size_t next = 0;
	uint32_t execution = 0;

	for (uint32_t at = 0; at < w->g->lines.nr; at++) {
		const struct step *s = next < c->steps.nr && c->steps.v[next].at == at
					       ? &c->steps.v[next++]
					       : NULL;
		const struct seen_line *l = work_line(w, at);
		struct unit *u = w->units.nr ? &w->units.v[w->units.nr - 1] : NULL;

		if (s && s->begins <= 0.5F) {
			if (s->is_led && u->main + 1 == at) {
				u->main = at;
				u->type = l->type;
			}
			u->to = at + 1;
			u->end = l->ns > u->end ? l->ns : u->end;
			continue;
		}
		if (!s || !is_round(c, s))
			execution++;
		vec_push(&w->units, (struct unit){ .from = at,
						   .to = at + 1,
						   .main = at,
						   .start = l->ns,
						   .end = l->ns,
						   .type = l->type,
						   .is_undated = l->is_undated,
						   .execution = execution,
						   .parent = NO_UNIT,
						   .sure = 1 });
	}
	work_sort(w);
}

void cut_threads(struct work *w)
{
	struct cutter c;

	begin(&c, w);
	for (int i = 0; i < ROUNDS; i++) {
		maximise(&c);
		expect(&c);
	}
	see_frames(&c);
	collect(&c);
	for (int y = 0; y < 2; y++) {
		free(c.after[y]);
		free(c.before[y]);
		free(c.gaps[y]);
		free(c.total[y]);
	}
	free(c.firsts);
	free(c.odds_after);
	free(c.odds_before);
	free(c.odds_gap);
	free(c.odds_family);
	vec_done(&c.pair_family);
	free(c.values);
	free(c.equal);
	free(c.other);
	free(c.is_sure);
	map_done(&c.pairs);
	vec_done(&c.steps);
}
