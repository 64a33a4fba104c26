#include "infer/requests/cut_step.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	AT_ONCE_BIN = 6, /* of gaps: less than 64 ms */
	SELDOM = 20,     /* of a statement in a family of threads */
	CHANCE_MIN = 5,  /* steps from one statement to another that show a habit */
};
#define LEADS_SHARE 0.9
#define OPEN_SHARE 0.7

struct sure {
	struct steps_seen *steps;
	uint32_t nr_pairs;
};

/* Where one statement comes after another, most times about something else, work ends in between:
 * when both name the same for once, that is chance. */
static void find_chance(struct sure *c)
{
	struct map differ = { 0 }, share = { 0 }; /* two statements of a family: how often */

	vec_each (c->steps, s)
		if (s->before != s->after && s->relation != NOTHING)
			(*map_at(s->relation == SHARES ? &share : &differ,
				 map_pair(s->before, s->after)))++;
	vec_each (c->steps, s) {
		uint64_t key = map_pair(s->before, s->after);
		const uint64_t *differs = map_find(&differ, key);

		if (s->relation != SHARES || !differs || *differs < CHANCE_MIN ||
		    *differs <= *map_find(&share, key))
			continue;
		s->is_certain = true;
		s->begins = 1;
	}
	map_done(&differ);
	map_done(&share);
}

/* A line that is seldom and has nothing to do with its neighbours, such as a warning, stands in the
 * middle of their work when the program goes on from one to the other about the same. */
static void find_bridges(struct sure *c)
{
	uint32_t *nr = mem_zalloc(mem_bytes(c->nr_pairs + 1, sizeof(*nr)));

	vec_each (c->steps, s)
		nr[s->after]++;
	for (size_t i = 0; i + 1 < c->steps->nr; i++) {
		struct step *s = &c->steps->v[i], *next = s + 1;

		if (nr[s->after] >= SELDOM || s->relation != NOTHING || next->relation != NOTHING ||
		    s->is_certain || next->is_certain || next->at != s->at + 1 ||
		    !next->is_about_the_same)
			continue;
		s->is_certain = next->is_certain = true;
		s->begins = next->begins = 0;
	}
	free(nr);
}

/* What stands around a statement in its threads. */
struct around {
	uint32_t nr_next, nr_before; /* lines with another one behind them, or in front */
	uint32_t nr_at_once;         /* of the former: it comes at once */
	uint32_t next, before;       /* how often the most frequent one does, at once */
	uint32_t follower, leader;   /* which that is behind it, and in front */
	uint32_t nr_ends, nr_told;   /* lines behind which work ends; of so many this is told */
	double ends_before;          /* share of such lines, of all statements in front */
	bool is_named;               /* some of its lines name what others do or do not */
};

static void look_around(const struct sure *c, struct around *v)
{
	struct map pairs = { 0 };

	vec_each (c->steps, s) {
		uint64_t nr;

		v[s->before].nr_next++;
		v[s->after].nr_before++;
		if (s->is_certain || s->relation != NOTHING) {
			v[s->before].nr_told++;
			v[s->before].nr_ends += s->begins > 0.5F;
		}
		if (s->relation != NOTHING)
			v[s->before].is_named = v[s->after].is_named = true;
		if (s->gap > AT_ONCE_BIN)
			continue;
		v[s->before].nr_at_once++;
		nr = ++*map_at(&pairs, map_pair(s->before, s->after));
		if (nr > v[s->before].next) {
			v[s->before].next = (uint32_t)nr;
			v[s->before].follower = s->after;
		}
		if (nr > v[s->after].before) {
			v[s->after].before = (uint32_t)nr;
			v[s->after].leader = s->before;
		}
	}
	vec_each (c->steps, s)
		if (v[s->before].nr_told)
			v[s->after].ends_before +=
				(double)v[s->before].nr_ends / v[s->before].nr_told;
	map_done(&pairs);
}

/* Whether a statement that names nothing has the same one behind it nearly always when anything
 * comes at once, as it mostly does, and in front now this, now that with which work ends mostly:
 * then it is the beginning of what the other one goes on with. What it begins may fail: then the
 * thread is silent, and what comes later tells nothing. */
static bool leads(const struct around *a)
{
	return !a->is_named && a->nr_next >= CHANCE_MIN && a->next >= LEADS_SHARE * a->nr_at_once &&
	       a->nr_at_once >= OPEN_SHARE * a->nr_next && a->before < OPEN_SHARE * a->nr_before &&
	       a->ends_before >= OPEN_SHARE * a->nr_before;
}

/* Whether a statement that names nothing has the same one in front nearly always, at once, and
 * behind it other work begins: then it is the end of that one's work, however late it comes for
 * once. */
static bool trails(const struct around *a)
{
	return !a->is_named && a->nr_before >= CHANCE_MIN &&
	       a->before >= LEADS_SHARE * a->nr_before && a->nr_told &&
	       a->nr_ends >= LEADS_SHARE * a->nr_next;
}

/* Lines that name nothing and are there for the ones in front of them or behind them. */
static void find_sides(struct sure *c)
{
	struct around *v = mem_zalloc(mem_bytes(c->nr_pairs + 1, sizeof(*v)));

	look_around(c, v);
	vec_each (c->steps, s) {
		const struct around *a = &v[s->before], *b = &v[s->after];
		bool is_led = a->follower == s->after && s->gap <= AT_ONCE_BIN && leads(a);
		bool is_tail = b->leader == s->before && trails(b);

		if (s->is_certain || (!is_led && !is_tail && !leads(b)))
			continue;
		s->is_certain = true;
		s->begins = is_led || is_tail ? 0 : 1;
		s->is_led = is_led;
	}
	free(v);
}

void steps_be_sure(struct steps_seen *steps, uint32_t nr_pairs)
{
	struct sure c = { steps, nr_pairs };

	find_chance(&c);
	find_bridges(&c);
	find_sides(&c);
}
