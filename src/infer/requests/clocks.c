/*
 * One thing is named in two logs within a short time, mostly. When the first mentions of many
 * things lie apart by nearly the same long time, the clocks do.
 */
#include "infer/requests/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum {
	THINGS_MIN = 10, /* that both logs name */
	LOGS_MAX = 64,
	THINGS_MAX = 8192, /* of one log that are compared */
};
#define FAR_NS INT64_C(20000000000) /* smaller differences are left alone */
#define NARROW 8 /* the middle half of the differences is so much narrower than they are */

struct clocks {
	struct gather *g;
	struct map first; /* log and thing: 1 + where its first time stands */
	VEC(int64_t) ns;
	VEC(uint32_t) things[LOGS_MAX]; /* that each log names, the first ones first */
};

static bool can_tell(const struct gather *g, uint32_t thing)
{
	struct str kind = names_str(&g->kinds, g->kind_of.v[thing]);

	return kind.n && !str_ends(kind, STR("=")) && !str_starts(kind, STR("mix:")) &&
	       !str_eq(kind, STR("address"));
}

static void note_firsts(struct clocks *c)
{
	struct gather *g = c->g;

	vec_each (&g->lines, l)
		for (unsigned i = 0; i < l->nr_own && !l->is_undated; i++) {
			uint32_t thing = g->named.v[l->name_at + i];
			uint64_t *at;

			if (!can_tell(g, thing))
				continue;
			at = map_at(&c->first, map_pair(l->file, thing));
			if (*at)
				continue;
			vec_push(&c->ns, l->ns);
			*at = c->ns.nr;
			if (c->things[l->file].nr < THINGS_MAX)
				vec_push(&c->things[l->file], thing);
		}
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* How far the clock of the log is ahead of the other one; 0 when that is not certain. */
static int64_t ahead(const struct clocks *c, sym_t log, sym_t than, uint64_t *things)
{
	VEC(int64_t) apart = { 0 };
	int64_t median = 0;

	vec_each (&c->things[log], thing) {
		const uint64_t *at = map_find(&c->first, map_pair(log, *thing));
		const uint64_t *other = map_find(&c->first, map_pair(than, *thing));
		int64_t ns;

		if (other && !__builtin_sub_overflow(c->ns.v[*at - 1], c->ns.v[*other - 1], &ns))
			vec_push(&apart, ns);
	}
	if (apart.nr >= THINGS_MIN) {
		int64_t half;

		qsort(apart.v, apart.nr, sizeof(*apart.v), by_time);
		median = apart.v[apart.nr / 2];
		half = apart.v[apart.nr * 3 / 4] - apart.v[apart.nr / 4];
		if (llabs(median) < FAR_NS || half * NARROW > llabs(median))
			median = 0;
	}
	*things = apart.nr;
	vec_done(&apart);
	return median;
}

/* Most logs agree with each other: whose difference to more of them is zero is right. */
static sym_t reference(const struct clocks *c, const size_t *lines, sym_t nr)
{
	sym_t best = 0;
	size_t most = 0;

	for (sym_t log = 0; log < nr; log++) {
		size_t agree = 0;
		uint64_t things;

		for (sym_t other = 0; other < nr; other++)
			agree += other != log && lines[other] && !ahead(c, log, other, &things)
					 ? lines[other]
					 : 0;
		if (lines[log] && agree + lines[log] > most) {
			most = agree + lines[log];
			best = log;
		}
	}
	return best;
}

void clocks_align(struct gather *g)
{
	struct clocks c = { .g = g };
	sym_t nr = g->logs.nr, right;
	size_t *lines = mem_realloc(NULL, mem_bytes(nr + 1, sizeof(*lines)));

	memset(lines, 0, (nr + 1) * sizeof(*lines));
	vec_clear(&g->shift);
	vec_clear(&g->shift_things);
	for (sym_t log = 0; log <= nr; log++) {
		vec_push(&g->shift, 0);
		vec_push(&g->shift_things, 0);
	}
	vec_each (&g->lines, l)
		lines[l->file]++;
	/* among many logs, each with few lines, clocks cannot be compared pair by pair */
	if (nr > 1 && nr <= LOGS_MAX) {
		note_firsts(&c);
		right = reference(&c, lines, nr);
		for (sym_t log = 0; log < nr; log++)
			if (log != right && lines[log])
				g->shift.v[log] = -ahead(&c, log, right, &g->shift_things.v[log]);
		vec_each (&g->lines, l)
			l->ns += g->shift.v[l->file];
	}
	map_done(&c.first);
	for (int i = 0; i < LOGS_MAX; i++)
		vec_done(&c.things[i]);
	vec_done(&c.ns);
	free(lines);
}
