/*
 * Who writes a file again takes its old blocks away and adds new ones. Nothing follows the first
 * regularly, for most files that lose their blocks do not come back; but what is taken away is
 * known by that nobody asks for it afterwards, and what is begun by that it was never named before.
 */
#include "infer/requests/anew.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	LAST_MIN = 8, /* units that show that nobody asks for a part after them */
	BINS = 5,     /* of times after which things are begun anew, each twice as long as before */
	SOON_MIN = 8, /* things begun anew at once that show that it is done */
	FAR_TIMES = 8, /* so much denser they are than far from there, where it is chance */
};
#define LAST_SHARE 0.9
#define TAIL_SHARE 0.1 /* of these: so many come in a bin that is still of the habit */
#define ANEW_NS INT64_C(200000000)
#define FAR_NS (ANEW_NS << BINS)

struct ends {
	uint32_t all, asked; /* parts that were named, and asked for later */
};

/* Whether it is a compound that something owns. */
static bool is_part(const struct anew *a, uint32_t thing)
{
	const struct owners *o = a->o;
	const struct kind_look *look = work_look(a->w, thing);
	uint32_t kind = a->w->g->kind_of.v[thing];
	size_t at = look->stem && !look->is_numbers ? hold_owners_at(o, kind) : o->pairs.nr;

	return at < o->pairs.nr && o->pairs.v[at] >> 32 == kind;
}

/* Counts the parts that such units name, and whether something else was asked about them later. */
static void count(const struct anew *a, struct ends *ends, const bool *is_entry)
{
	const struct work *w = a->w;
	uint32_t *next = mem_zalloc(mem_bytes((size_t)w->g->things.nr + 1, sizeof(*next)));

	for (size_t i = w->units.nr; i-- > 0;) {
		const struct unit *u = &w->units.v[i];
		bool is_asked = is_entry[w->family[work_line(w, u->from)->thread]];

		for (uint32_t k = 0; k < u->nr_held; k++) {
			struct held h = w->held.v[u->held_at + k];

			if (h.depth || !is_part(a, h.thing))
				continue;
			ends[u->type].all++;
			ends[u->type].asked += next[h.thing] && next[h.thing] != u->type + 1;
			if (is_asked && (!next[h.thing] || next[h.thing] == u->type + 1))
				next[h.thing] = u->type + 1;
		}
	}
	free(next);
}

void anew_done(struct anew *a)
{
	free(a->is_last);
	free(a->within);
}

/* How far away the thing is from what the unit names. */
static unsigned depth_of(const struct work *w, const struct unit *u, uint32_t thing)
{
	for (uint32_t i = 0; i < u->nr_held; i++)
		if (w->held.v[u->held_at + i].thing == thing)
			return w->held.v[u->held_at + i].depth;
	return DEPTH_PREFIX;
}

/* Whether the unit is the first to name a part of such an owner. */
static bool adds_part(const struct anew *a, const struct unit *u, uint32_t owner)
{
	const struct work *w = a->w;

	for (uint32_t i = 0; i < u->nr_held; i++) {
		struct held h = w->held.v[u->held_at + i];

		if (!h.depth && w->first[h.thing] >= u->start && is_part(a, h.thing) &&
		    hold_is_owner(a->o, w->g->kind_of.v[h.thing], w->g->kind_of.v[owner]))
			return true;
	}
	return false;
}

/* Whether the unit begins anew what the earlier one has taken a part away from, however late. */
static bool begins(const struct anew *a, const struct unit *u, const struct candidate *c)
{
	const struct work *w = a->w;
	const struct unit *before = &w->units.v[c->unit];
	unsigned depth = depth_of(w, before, c->thing);

	return a->is_last[before->type] &&
	       work_line(w, before->from)->file == work_line(w, u->from)->file && depth > 0 &&
	       depth < DEPTH_PREFIX && !depth_of(w, u, c->thing) && adds_part(a, u, c->thing);
}

bool anew_is(const struct anew *a, const struct unit *u, const struct candidate *c)
{
	const struct unit *before = &a->w->units.v[c->unit];

	return u->start - before->end <= a->within[before->type] && begins(a, u, c);
}

/* How often things are begun anew after such work: at once, after so long, and far from there. */
struct times {
	uint32_t soon, nr[BINS], far;
};

static void count_time(struct times *t, int64_t ns)
{
	unsigned bin = 0;

	while (bin < BINS && ns > ANEW_NS << (bin + 1))
		bin++;
	if (ns <= ANEW_NS)
		t->soon++;
	else if (bin < BINS)
		t->nr[bin]++;
	else
		t->far++;
}

/* On a busy machine it takes longer: as long as it is done much more often after such a time than
 * far from there, where somebody else does so. */
static int64_t within(const struct times *t)
{
	int64_t ns = ANEW_NS;

	for (unsigned bin = 0; bin < BINS && t->soon >= SOON_MIN; bin++) {
		double by_chance = (double)t->far * (double)(ANEW_NS << bin) /
				   (double)(TIES_WINDOW_NS - FAR_NS);

		if (t->nr[bin] < TAIL_SHARE * t->soon || t->nr[bin] < FAR_TIMES * by_chance)
			break;
		ns = ANEW_NS << (bin + 1);
	}
	return ns;
}

static void find_within(struct anew *a, const struct ties *l)
{
	const struct unit *units = a->w->units.v;
	size_t nr = (size_t)a->w->g->types.nr + 1;
	struct times *times = mem_zalloc(mem_bytes(nr, sizeof(*times)));

	for (uint32_t u = 0; u < a->w->units.nr; u++)
		for (uint32_t i = l->at.v[u]; i < l->at.v[u + 1]; i++) {
			const struct unit *before = &units[l->v.v[i].unit];

			if (begins(a, &units[u], &l->v.v[i]))
				count_time(&times[before->type], units[u].start - before->end);
		}
	a->within = mem_zalloc(mem_bytes(nr, sizeof(*a->within)));
	for (size_t i = 0; i < nr; i++)
		a->within[i] = within(&times[i]);
	free(times);
}

void anew_begin(struct anew *a, const struct work *w, const struct owners *o, const struct ties *l,
		const bool *is_entry)
{
	size_t nr = (size_t)w->g->types.nr + 1;
	struct ends *ends = mem_zalloc(mem_bytes(nr, sizeof(*ends)));

	*a = (struct anew){ .w = w, .o = o, .is_last = mem_zalloc(nr) };
	count(a, ends, is_entry);
	for (size_t i = 0; i < nr; i++)
		a->is_last[i] = ends[i].all >= LAST_MIN &&
				ends[i].all - ends[i].asked >= LAST_SHARE * ends[i].all;
	free(ends);
	find_within(a, l);
}
