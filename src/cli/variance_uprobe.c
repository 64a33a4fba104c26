/* Functions that cannot be patched, watched by uprobes, as far as the budget goes. */
#include <time.h>

#include "base/error.h"
#include "base/time.h"
#include "capture/uprobes.h"
#include "cli/say.h"
#include "cli/variance_session.h"

#define UPROBES_MAX 32
#define LOOK_NS (200 * NS_MS)
#define MUCH 0.2 /* of a processor is not borne that long */
#define FIRST_LOOK_NS NS_MS
#define HITS_OF_CALL 2
#define BUDGET_PART 4 /* of the budget, as for what calls cost */

static bool open_uprobes(struct session *s)
{
	struct uprobing *u = &s->uprobing;
	const struct map_slot *at = NULL;
	struct error why = { 0 };

	if (u->uprobes || u->is_refused)
		return u->uprobes;
	if (uprobes_open(&u->uprobes, &why) < 0) {
		u->is_refused = true;
		return false;
	}
	u->looked = time_tick();
	u->call_ns = (int64_t)(2 * uprobes_cost_ns(u->uprobes));
	uprobes_process(u->uprobes, s->pid);
	while ((at = map_next(&s->processes, at)))
		if (at->value == 1)
			uprobes_process(u->uprobes, (int)at->key);
	return true;
}

/* Its calls are told even if nobody has read one yet; what they cost is no other function's fault.
 */
static void leave_alone(struct session *s, uint32_t number)
{
	struct watch *n = &s->list.v.v[number];
	struct uprobing *u = &s->uprobing;
	uint64_t nr = uprobes_hits_of(u->uprobes, number), all = uprobes_hits(u->uprobes);

	if (n->nr_calls < (nr + 1) / HITS_OF_CALL)
		n->nr_calls = (nr + 1) / HITS_OF_CALL;
	uprobes_remove(u->uprobes, number); /* takes a while, in which it is called on */
	u->nr_hits += nr - n->nr_hit + uprobes_hits(u->uprobes) - all;
	u->nr--;
	n->is_uprobe = n->is_on = false;
	n->out = WATCH_HOT;
	if (n->role != ROLE_NONE)
		say_error("'" STR_FMT "' cannot be patched (%s), and is called so often that "
			  "uprobes (%.0f us a call) would cost more than the budget allows "
			  "(--overhead)",
			  STR_ARG(s->list.roles.v[number].name), n->why ? n->why : "",
			  (double)s->uprobing.call_ns / 1e3);
}

/* What so many of them cost, as a share of one processor. */
static double cost_since(const struct uprobing *u, int64_t since, uint64_t hits)
{
	double took = (double)(time_tick() - since);

	return took > 0 ? (double)hits * uprobes_cost_ns(u->uprobes) / took : 0;
}

/* One that is called all the time is found out before it has cost much. */
bool session_uprobe(struct session *s, uint32_t number)
{
	const struct timespec look = { .tv_nsec = FIRST_LOOK_NS };
	struct watch *n = &s->list.v.v[number];
	struct error ignored = { 0 };
	int64_t began;

	if (s->uprobing.nr >= UPROBES_MAX || !open_uprobes(s))
		return false;
	began = time_tick();
	if (uprobes_add(s->uprobing.uprobes, &n->how, &ignored) < 0)
		return false;
	/* whoever patches does not try again, in another process */
	probe_remove(s->probe, &number, 1, &ignored);
	n->is_uprobe = n->is_on = true;
	n->nr_hit = 0;
	s->uprobing.nr++;
	nanosleep(&look, NULL);
	if (cost_since(&s->uprobing, began, uprobes_hits_of(s->uprobing.uprobes, number)) > 0.5)
		leave_alone(s, number);
	return n->is_on;
}

/* The one that was called most often since the last look. */
static uint32_t hottest(const struct session *s)
{
	uint64_t most = 0;
	uint32_t at = UINT32_MAX;

	for (uint32_t i = 0; i < s->list.v.nr; i++) {
		const struct watch *n = &s->list.v.v[i];

		uint64_t nr = n->is_uprobe ? uprobes_hits_of(s->uprobing.uprobes, i) : 0;

		if (nr > n->nr_hit && nr - n->nr_hit > most) {
			most = nr - n->nr_hit;
			at = i;
		}
	}
	return at;
}

/* Functions that were taken from the list meanwhile are let go. */
static void let_go(struct session *s)
{
	for (uint32_t i = 0; i < s->list.v.nr; i++)
		if (s->list.v.v[i].is_uprobe && !s->list.v.v[i].is_on) {
			uprobes_remove(s->uprobing.uprobes, i);
			s->list.v.v[i].is_uprobe = false;
			s->uprobing.nr--;
		}
}

int session_uprobes_read(struct session *s, const struct probe_reader *r, int64_t *until,
			 struct error *err)
{
	struct uprobing *u = &s->uprobing;
	double cost, room = s->options->budget / BUDGET_PART;
	uint32_t hot;
	int got;

	if (!u->uprobes)
		return 0;
	got = uprobes_read(u->uprobes, r, until, err);
	cost = cost_since(u, u->looked, uprobes_hits(u->uprobes) - u->nr_hits);
	if (got < 0 || (time_tick() - u->looked < LOOK_NS && cost < MUCH))
		return got;
	let_go(s);
	hot = cost > room ? hottest(s) : UINT32_MAX;
	if (hot != UINT32_MAX) {
		leave_alone(s, hot);
		session_new_round(s);
	} else if (cost > u->cost) {
		u->cost = cost;
	}
	vec_each (&s->list.v, n)
		if (n->is_uprobe)
			n->nr_hit = uprobes_hits_of(u->uprobes, n->how.id);
	u->looked = time_tick();
	u->nr_hits = uprobes_hits(u->uprobes);
	return 0;
}
