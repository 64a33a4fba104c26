#include "infer/requests/requests.h"

#include <stdlib.h>

#include "base/mem.h"
#include "infer/requests/course.h"
#include "infer/requests/emit.h"
#include "infer/requests/family.h"
#include "infer/requests/gather.h"
#include "infer/requests/handoff.h"
#include "infer/requests/list.h"
#include "infer/requests/session.h"
#include "infer/requests/visit.h"
#include "store/store.h"

/* Clocks that were set right are told. */
static int tell_clocks(const struct gather *g, struct store *s, struct error *err)
{
	sym_t *node = mem_realloc(NULL, mem_bytes(g->shift.nr + 1, sizeof(*node)));
	int got = 0;

	vec_each (&g->lines, l)
		if (l->file < g->shift.nr)
			node[l->file] = l->node;
	for (sym_t log = 0; log < g->shift.nr && got >= 0; log++) {
		struct clock_fix fix = { .offset_ns = g->shift.v[log],
					 .pairs = g->shift_things.v[log],
					 .agree = g->shift_things.v[log],
					 .applied = true };

		if (!fix.offset_ns)
			continue;
		fix.node = names_str(&g->nodes, node[log]);
		store_losses(s)->count[LOSS_CLOCKS_CORRECTED]++;
		got = store_add_clock_fix(s, &fix, err);
	}
	free(node);
	return got;
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct work w;
	struct owners owners;
	struct ties ties;
	struct course *course;
	int got;

	if (!o->gathered || 2 * o->gathered->nr_keyed >= o->gathered->lines.nr)
		return 0;
	course = course_new(o->matcher);
	work_begin(&w, o->gathered, course);
	weigh_things(&w);
	cut_threads(&w);
	family_split(&w);
	weigh_units(&w);
	find_owners(&w, &owners);
	list_mark(&w);
	ties_find(&ties, &w, &owners);
	visits_find(&w, &ties);
	family_find(&w);
	session_find(&w, &owners, &ties);
	hand_off(&w);
	store_losses(s)->count[LOSS_NAMES_LEFT] += o->gathered->nr_cut;
	got = tell_clocks(o->gathered, s, err);
	if (got >= 0)
		got = sessions_emit(&w, &owners, o->matcher, s, err);
	ties_done(&ties);
	owners_done(&owners);
	work_done(&w);
	course_free(course);
	return got;
}

const struct inference infer_requests = {
	.name = "requests",
	.summary = "log lines of one piece of work, by threads, names and the program's own course",
	.run = run,
};
