#include "infer/requests/common.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/requests/agreed.h"

enum {
	SHARED_MAX = 64, /* further things that both name tell nothing new */
	KNOWN_BITS = 12, /* what is asked again is asked soon: a small table stays in the cache */
	FOLDERS_MAX = 8, /* of a path that are named beside it */
	DEALS_MAX = 4,   /* who deals with more does so in several requests */
};
#define DEPTH_BITS 2 /* a name by way of an owner says less */

struct common_set {
	uint64_t filter; /* a bit for each thing: what is not there is not held */
	uint64_t kinds;  /* likewise of kinds, but for folders above a path */
	uint32_t single_at, nr_singles;
};

/* The one value that a set has of a kind. */
struct common_single {
	uint32_t kind, thing;
};

struct common_known {
	uint32_t earlier, set; /* 1 + their numbers */
	uint32_t thing;
	float bits;
};

/* A thing of a list, with its kind and its depth. */
struct in_set {
	uint32_t thing, kind, depth;
};

enum { IN_SET_NR = sizeof(struct in_set) / sizeof(uint32_t) };

void common_begin(struct common *c, const struct work *w, const struct owners *o, const float *bits)
{
	*c = (struct common){ .w = w, .o = o, .bits = bits };
	c->known = mem_zalloc(mem_bytes((size_t)1 << KNOWN_BITS, sizeof(*c->known)));
}

void common_done(struct common *c)
{
	lists_done(&c->sets);
	vec_done(&c->about);
	vec_done(&c->singles);
	vec_done(&c->scratch);
	free(c->known);
}

static uint64_t filter_of(uint32_t number)
{
	return (uint64_t)1 << (number * 0x9e3779b1u >> 26);
}

static const struct in_set *in_set(const struct common *c, uint32_t set, uint32_t *nr)
{
	*nr = lists_length(&c->sets, set) / IN_SET_NR;
	return (const struct in_set *)(const void *)lists_of(&c->sets, set);
}

/* Numbers alone say nothing; two ends of one number differ by nature; one client has many
 * connections. */
static bool can_contradict(const struct kind_look *k)
{
	return !k->is_agreed && !k->is_numbers && !k->is_address;
}

static bool is_above(const struct work *w, uint32_t a, uint32_t b)
{
	struct str x = gather_value(w->g, a), y = gather_value(w->g, b);

	return (str_starts(x, y) && x.p[y.n] == '/') || (str_starts(y, x) && y.p[x.n] == '/');
}

/* Whether the thing is the only one of its kind in the set, but for folders above it. */
static bool is_single(const struct work *w, const struct in_set *v, uint32_t nr, uint32_t thing)
{
	uint32_t kind = w->g->kind_of.v[thing], of_kind = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (v[i].depth >= DEPTH_PREFIX || v[i].kind != kind || v[i].thing == thing)
			continue;
		if (!w->looks[kind].is_path || ++of_kind > FOLDERS_MAX ||
		    !is_above(w, thing, v[i].thing) ||
		    gather_value(w->g, thing).n < gather_value(w->g, v[i].thing).n)
			return false;
	}
	return true;
}

/* The kinds of which the set has one value; several are no single one. */
static void add_about(struct common *c, uint32_t set)
{
	const struct work *w = c->w;
	struct common_set about = { .single_at = (uint32_t)c->singles.nr };
	uint32_t nr;
	const struct in_set *v = in_set(c, set, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		about.filter |= filter_of(v[i].thing);
		if (v[i].depth >= DEPTH_PREFIX)
			continue;
		about.kinds |= filter_of(v[i].kind);
		if (can_contradict(&w->looks[v[i].kind]) && is_single(w, v, nr, v[i].thing))
			vec_push(&c->singles, (struct common_single){ v[i].kind, v[i].thing });
	}
	about.nr_singles = (uint32_t)c->singles.nr - about.single_at;
	vec_push(&c->about, about);
}

uint32_t common_set(struct common *c, const struct unit *u)
{
	uint32_t set, nr = c->sets.nr;

	vec_clear(&c->scratch);
	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = c->w->held.v[u->held_at + i];

		vec_push(&c->scratch, h.thing);
		vec_push(&c->scratch, c->w->g->kind_of.v[h.thing]);
		vec_push(&c->scratch, h.depth);
	}
	set = lists_add(&c->sets, c->scratch.v, c->scratch.nr);
	if (set == nr)
		add_about(c, set);
	return set;
}

/* Whether what is called after these numbers is one whole (application_17_1, job_17_1), whatever it
 * deals with; not if they are just part of the name of someone who deals with many of the kind. */
static bool is_part(const struct work *w, uint32_t numbers, uint32_t kind, const uint32_t *shared,
		    unsigned nr)
{
	if (!w->looks[w->g->kind_of.v[numbers]].is_numbers)
		return false;
	for (unsigned i = 0; i < nr; i++) {
		const uint32_t *met = beside_find(&w->met, shared[i], kind);

		if (met && *met > DEALS_MAX && work_numbers(w, shared[i]) == numbers)
			return false;
	}
	return true;
}

/* Whether it is there for a file in it that the set names as well: a folder is made for a file. */
static bool is_just_folder(const struct common *c, uint32_t set, uint32_t folder)
{
	const struct work *w = c->w;
	struct str x = gather_value(w->g, folder);
	uint32_t nr, kind = w->g->kind_of.v[folder];
	const struct in_set *v = in_set(c, set, &nr);
	unsigned nr_paths = 0;

	for (uint32_t i = 0; i < nr && nr_paths < FOLDERS_MAX && w->looks[kind].is_path; i++) {
		struct str y;

		if (v[i].kind != kind || v[i].depth >= DEPTH_PREFIX)
			continue;
		nr_paths++;
		y = gather_value(w->g, v[i].thing);
		if (y.n > x.n && str_starts(y, x) && y.p[x.n] == '/')
			return true;
	}
	return false;
}

/* Whether different things of the kind are explained by what is shared with the earlier set: they
 * belong to it, and it is not just the folder of both. */
static bool is_explained(const struct common *c, uint32_t earlier, uint32_t kind,
			 const uint32_t *shared, unsigned nr)
{
	const struct work *w = c->w;

	for (unsigned i = 0; i < nr; i++) {
		uint32_t owner = w->g->kind_of.v[shared[i]];

		if ((owner == kind && !is_just_folder(c, earlier, shared[i])) ||
		    is_part(w, shared[i], kind, shared, nr) ||
		    (owner != kind && hold_same_stem(w, kind, owner)) ||
		    hold_is_owner(c->o, kind, owner))
			return true;
	}
	return false;
}

/* Whether the set names some of the kind, and none of them is the thing or a folder above it. */
static bool has_others(const struct common *c, uint32_t set, const struct common_single *one)
{
	const struct work *w = c->w;
	uint32_t nr, of_kind = 0;
	const struct in_set *v = in_set(c, set, &nr);

	if (!(c->about.v[set].kinds & filter_of(one->kind)))
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		if (v[i].kind != one->kind || v[i].depth >= DEPTH_PREFIX)
			continue;
		if (v[i].thing == one->thing)
			return false;
		of_kind++;
	}
	for (uint32_t i = 0; i < nr && of_kind && w->looks[one->kind].is_path; i++)
		if (v[i].kind == one->kind && v[i].depth < DEPTH_PREFIX &&
		    is_above(w, v[i].thing, one->thing) && !is_just_folder(c, set, v[i].thing))
			return false;
	return of_kind > 0;
}

/* Whether what both name of some kind speaks against one request. */
static bool contradict(const struct common *c, uint32_t earlier, uint32_t set,
		       const uint32_t *shared, unsigned nr)
{
	const struct common_single *y = c->singles.v + c->about.v[set].single_at;

	for (uint32_t k = 0; k < c->about.v[set].nr_singles; k++)
		if (has_others(c, earlier, &y[k]) &&
		    !is_explained(c, earlier, y[k].kind, shared, nr))
			return true;
	return false;
}

static const struct in_set *find(const struct in_set *v, uint32_t nr, uint32_t thing)
{
	for (uint32_t i = 0; i < nr; i++)
		if (v[i].thing == thing)
			return &v[i];
	return NULL;
}

static float tie(const struct common *c, uint32_t earlier, uint32_t set, uint32_t *thing)
{
	uint32_t shared[SHARED_MAX], nr_a, nr_b;
	const struct in_set *a = in_set(c, earlier, &nr_a), *b = in_set(c, set, &nr_b);
	uint64_t filter = c->about.v[earlier].filter;
	unsigned nr = 0;
	float best = COMMON_NONE;

	for (uint32_t i = 0; i < nr_b && nr < SHARED_MAX; i++) {
		const struct in_set *other =
			filter & filter_of(b[i].thing) ? find(a, nr_a, b[i].thing) : NULL;
		uint32_t depth;
		float bits;

		if (!other || (b[i].depth >= DEPTH_PREFIX && other->depth >= DEPTH_PREFIX) ||
		    /* who answers whom is known already */
		    agreed_is(c->w, b[i].thing))
			continue;
		shared[nr++] = b[i].thing;
		depth = b[i].depth + other->depth;
		bits = c->bits[b[i].thing] - DEPTH_BITS * (float)(depth < 2 ? depth : 2);
		if (bits > best) {
			best = bits;
			*thing = b[i].thing;
		}
	}
	return nr && contradict(c, earlier, set, shared, nr) ? COMMON_NONE : best;
}

float common_tie(struct common *c, uint32_t earlier, uint32_t set, uint32_t *thing)
{
	uint32_t at = (earlier * 0x9e3779b1u ^ set * 0x85ebca77u) >> (32 - KNOWN_BITS);
	struct common_known *k = &c->known[at];

	if (k->earlier != earlier + 1 || k->set != set + 1) {
		*k = (struct common_known){ .earlier = earlier + 1, .set = set + 1 };
		k->bits = tie(c, earlier, set, &k->thing);
	}
	*thing = k->thing;
	return k->bits;
}
