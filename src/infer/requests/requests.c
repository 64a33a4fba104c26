#include "infer/requests/requests.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "infer/requests/agreed.h"
#include "infer/requests/course.h"
#include "infer/requests/emit.h"
#include "infer/requests/family.h"
#include "infer/requests/handoff.h"
#include "infer/requests/harvest.h"
#include "infer/requests/list.h"
#include "infer/requests/roots.h"
#include "infer/requests/session.h"
#include "infer/requests/visit.h"
#include "store/store.h"

#define FAMILY_SILENT_NS (600 * NS_S)

/* Clocks that were set right are told. */
static int tell_clocks(const struct harvest *h, struct store *s, struct error *err)
{
	int got = 0;

	for (sym_t log = 0; log < h->of_log.nr && got >= 0; log++) {
		const struct harvest_log *about = &h->of_log.v[log];
		struct clock_fix fix = { .node = names_str(&h->nodes, about->node),
					 .offset_ns = about->shift,
					 .pairs = about->things,
					 .agree = about->things,
					 .applied = true };

		if (!fix.offset_ns)
			continue;
		store_losses(s)->count[LOSS_CLOCKS_CORRECTED]++;
		got = store_add_clock_fix(s, &fix, err);
	}
	return got;
}

/* Lines that others may still follow, for the next window; they take the place of those in *g. */
static void carry(const struct work *w, const bool *is_open, struct gather *g)
{
	bool *is_kept = mem_zalloc(g->lines.nr + 1);
	struct gather kept = { 0 };
	struct gather_map map = { 0 };

	vec_each (&w->units, u)
		for (uint32_t at = u->from; at < u->to && is_open[u->session]; at++)
			is_kept[w->by_thread[at]] = true;
	for (size_t i = 0; i < g->lines.nr; i++)
		if (is_kept[i])
			gather_take(&kept, g, &map, &g->lines.v[i]);
	gather_map_done(&map);
	free(is_kept);
	gather_done(g);
	*g = kept;
}

/* Of each session, whether something may still follow what was done last. */
static bool *find_open(const struct work *w, int64_t until)
{
	uint32_t nr = 0;
	bool *is_open;

	vec_each (&w->units, u)
		nr = u->session > nr ? u->session : nr;
	is_open = mem_zalloc(nr + 1u);
	vec_each (&w->units, u)
		if (until != INT64_MAX && u->session &&
		    u->end >= until - (u->family ? FAMILY_SILENT_NS : TIES_WINDOW_NS))
			is_open[u->session] = true;
	return is_open;
}

/* Adds the requests that are over at the end of the window; what is not stays in *g. */
static int infer_window(struct store *s, const struct infer_options *o, struct course *course,
			struct gather *g, int64_t until, struct error *err)
{
	struct work w;
	struct owners owners;
	struct ties ties;
	bool *is_open;
	int got;

	roots_join(g);
	work_begin(&w, g, course);
	weigh_things(&w);
	agreed_find(&w);
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
	is_open = find_open(&w, until);
	got = sessions_emit(&w, &owners, o->matcher, is_open, s, err);
	if (until != INT64_MAX)
		carry(&w, is_open, g);
	free(is_open);
	ties_done(&ties);
	owners_done(&owners);
	work_done(&w);
	return got;
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct harvest *h = o->harvest;
	struct gather g = { 0 };
	struct course *course;
	int64_t until;
	int got;

	if (!h || 2 * h->nr_keyed >= h->nr_lines)
		return 0;
	course = course_new(o->matcher);
	store_losses(s)->count[LOSS_NAMES_LEFT] += h->block.nr_cut;
	got = tell_clocks(h, s, err);
	while (got >= 0 && (got = harvest_window(h, &g, &until, err)) > 0) {
		got = infer_window(s, o, course, &g, until, err);
		if (got >= 0 && o->is_stopped && o->is_stopped())
			got = error_set(err, EINTR, "interrupted");
	}
	gather_done(&g);
	course_free(course);
	return got;
}

const struct inference infer_requests = {
	.name = "requests",
	.summary = "log lines of one piece of work, by threads, names and the program's own course",
	.run = run,
};
