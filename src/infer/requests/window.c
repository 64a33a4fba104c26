#include "infer/requests/window.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "infer/requests/agreed.h"
#include "infer/requests/aside.h"
#include "infer/requests/course.h"
#include "infer/requests/family.h"
#include "infer/requests/handoff.h"
#include "infer/requests/list.h"
#include "infer/requests/nest.h"
#include "infer/requests/nouns.h"
#include "infer/requests/roots.h"
#include "infer/requests/session.h"
#include "infer/requests/turns.h"
#include "infer/requests/visit.h"
#include "infer/requests/within.h"
#include "model/loss.h"

#define FAMILY_SILENT_NS (600 * NS_S)

enum { FAMILIES_PART = 5 }; /* one in so many lines, where requests are families */

/* Takes the place of what is in *g. */
static void carry(const struct work *w, const enum sitting_state *state, struct gather *g)
{
	bool *is_kept = mem_zalloc(g->lines.nr + 1);
	struct gather kept = { 0 };
	struct gather_map map = { 0 };

	vec_each (&w->units, u)
		for (uint32_t at = u->from; at < u->to && state[u->session] == SITTING_OPEN; at++)
			is_kept[w->by_thread[at]] = true;
	for (size_t i = 0; i < g->lines.nr; i++)
		if (is_kept[i])
			gather_take(&kept, g, &map, &g->lines.v[i]);
	gather_map_done(&map);
	free(is_kept);
	gather_done(g);
	*g = kept;
}

struct life {
	int64_t start, end;
	bool is_family;
};

static enum sitting_state state_of(const struct window *n, const struct life *l)
{
	int64_t silent = l->is_family ? FAMILY_SILENT_NS : TIES_WINDOW_NS;

	if (n->until != INT64_MAX && l->end >= n->until - silent)
		return SITTING_OPEN;
	if (l->start >= n->begun || (l->start < n->from && l->end < n->from + TIES_WINDOW_NS))
		return SITTING_ELSEWHERE;
	return SITTING_OVER;
}

/* What becomes of each session. */
static enum sitting_state *find_states(struct window *n, const struct work *w)
{
	uint32_t nr = 0;
	struct life *life;
	enum sitting_state *state;

	vec_each (&w->units, u)
		nr = u->session > nr ? u->session : nr;
	life = mem_realloc(NULL, mem_bytes(nr + 1u, sizeof(*life)));
	state = mem_realloc(NULL, mem_bytes(nr + 1u, sizeof(*state)));
	for (uint32_t i = 0; i <= nr; i++)
		life[i] = (struct life){ INT64_MAX, INT64_MIN, false };
	vec_each (&w->units, u) {
		struct life *l = &life[u->session];

		l->start = u->start < l->start ? u->start : l->start;
		l->end = u->end > l->end ? u->end : l->end;
		l->is_family |= u->family && !u->is_batch;
		n->has_families |= u->family && !u->is_batch;
	}
	for (uint32_t i = 1; i <= nr; i++)
		state[i] = state_of(n, &life[i]);
	state[0] = SITTING_ELSEWHERE; /* of no session */
	free(life);
	return state;
}

/* Work that names more than is looked at is told, once it is over; so are words. */
static void count_left(const struct work *w, const enum sitting_state *state, uint64_t nr_words,
		       const struct outlet *out)
{
	struct losses losses = { 0 };

	vec_each (&w->units, u)
		losses.count[LOSS_WORK_NAMES_LEFT] +=
			u->is_full && state[u->session] == SITTING_OVER;
	losses.count[LOSS_WORDS_LEFT] = nr_words;
	out->count(out->to, &losses);
}

/* Whether words name the objects that work is about, or what belongs to these. */
static bool are_names(const struct work *w, const struct subjects *s)
{
	bool are = s->kind && w->looks[s->kind].is_word;

	for (uint32_t i = 1; i < w->g->things.nr && s->kind && !are; i++)
		are = s->owner[i] && work_look(w, i)->is_word;
	return are;
}

/* Whether requests take turns at what work is about. */
static bool has_turns(const struct work *w)
{
	vec_each (&w->units, u)
		if (u->turn)
			return true;
	return false;
}

/* Whether a good part of the lines names what is one request by its name. */
static bool are_families(const struct work *w)
{
	size_t nr = 0;

	vec_each (&w->g->lines, l)
		for (unsigned i = 0; i < l->nr_names; i++)
			if (w->is_family[line_names(w, l)[i]]) {
				nr++;
				break;
			}
	return nr * FAMILIES_PART > w->g->lines.nr;
}

/* Threads into units, and these into turns. */
static void cut_all(struct work *w, struct subjects *s, struct gather *g, struct course *course)
{
	work_begin(w, g, course);
	weigh_things(w);
	agreed_find(w);
	cut_threads(w);
	family_split(w);
	subjects_find(s, w);
	aside_find(w, s);
	turns_find(w, s);
}

/* Words are names where requests take turns at what they name; where they do not, all is as it is
 * without them. */
static void begin(struct work *w, struct nouns *nouns, struct gather *g, struct course *course)
{
	struct subjects s;
	bool are;

	roots_join(g);
	nouns_find(nouns, g);
	cut_all(w, &s, g, course);
	are = !nouns->is_on || (are_names(w, &s) && has_turns(w) && !are_families(w));
	subjects_done(&s);
	if (are)
		return;
	work_done(w);
	nouns_undo(nouns, g);
	cut_all(w, &s, g, course);
	subjects_done(&s);
}

int window_infer(struct window *n, struct gather *g, struct course *course,
		 const struct outlet *out, struct error *err)
{
	struct work w;
	struct owners owners;
	struct ties ties;
	struct nouns nouns = { 0 };
	enum sitting_state *state;
	int got;

	begin(&w, &nouns, g, course);
	weigh_units(&w);
	find_owners(&w, &owners);
	list_mark(&w);
	ties_find(&ties, &w, &owners);
	visits_find(&w, &ties);
	family_find(&w);
	turns_join(&w);
	session_find(&w, &owners, &ties);
	nest_find(&w);
	within_find(&w);
	hand_off(&w);
	state = find_states(n, &w);
	count_left(&w, state, nouns.nr_left, out);
	got = sessions_emit(&w, &owners, state, out, err);
	nouns_undo(&nouns, g);
	if (n->until != INT64_MAX)
		carry(&w, state, g);
	free(state);
	ties_done(&ties);
	owners_done(&owners);
	work_done(&w);
	return got;
}
