/*
 * Standing queries of a hub. Reports of a second are put together in its window, which is told a
 * while after the first of them came; clocks of hosts are not compared. What comes later is told
 * as another part of that second. So the whole is the sum of all that was told, always; how that
 * comes to who watches is in hub_readers.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "bus/hub_own.h"
#include "query/parse.h"

#define TOLD_MAX 256 /* agents that complain of one query */

struct hubquery *hubquery_find(struct bus_hub *h, uint64_t id)
{
	vec_each (&h->queries, s)
		if ((*s)->id == id)
			return *s;
	return NULL;
}

int hubquery_new(struct hubquery **to, struct str text, struct str tracepoints, struct error *err)
{
	struct arena arena = { 0 };
	struct hubquery *s;
	struct queries q;
	struct plan p;
	int r = query_parse(text, &arena, &q, err);

	if (!r)
		r = query_plan(&p, &q, REWRITE_ALL, &arena, err);
	if (r < 0) {
		arena_done(&arena);
		return r;
	}
	s = mem_zalloc(sizeof(*s));
	s->text = hub_copied(text);
	s->tracepoints = hub_copied(tracepoints);
	s->told_ns = INT64_MIN;
	vec_each (&p.stages, stage)
		s->nr_advice += stage->nr_points;
	partial_shape_of(&s->shape, &p);
	partial_init(&s->whole, &s->shape);
	s->whole.max_groups = HUB_GROUPS;
	query_plan_done(&p);
	arena_done(&arena);
	*to = s;
	return 0;
}

static void forget_told(struct agent_told *t)
{
	free(t->agent);
	free(t->sentence);
}

void hubquery_free(struct hubquery *s)
{
	vec_each (&s->windows, w)
		partial_done(&w->seen);
	vec_each (&s->told, t)
		forget_told(t);
	vec_done(&s->windows);
	hubquery_forget_kept(s);
	vec_done(&s->kept);
	vec_done(&s->watchers);
	vec_done(&s->ending);
	vec_done(&s->told);
	partial_done(&s->whole);
	free(s->text);
	free(s->tracepoints);
	free(s->operator_name);
	free(s);
}

/* --- who has to do with it ----------------------------------------------------------------- */

void hubquery_agents(const struct bus_hub *h, const struct hubquery *s, uint32_t *nr,
		     uint32_t *nr_silent)
{
	*nr = *nr_silent = 0;
	vec_each (&h->peers, p) {
		bool is_silent = hub_peer_is_silent(h, *p);

		if ((*p)->role == BUS_OPERATOR || (*p)->has_left || (*p)->is_dead ||
		    !hub_may_see((*p)->tenant, s->tenant))
			continue;
		*nr += (*p)->role == BUS_AGENT ? 1 : (*p)->nr_below;
		*nr_silent += (*p)->role == BUS_AGENT ? is_silent
			      : is_silent             ? (*p)->nr_below
						      : (*p)->nr_silent_below;
	}
}

void hubquery_send(struct bus_hub *h, const struct hubquery *s, struct hub_peer *to)
{
	struct message m = { .kind = MESSAGE_QUERY };

	message_n(&m, (int64_t)s->id, s->until_ns);
	message_text(&m, str_of(s->text));
	message_text(&m, str_of(s->tracepoints));
	message_text(&m, str_of(s->tenant));
	hub_say(h, to, &m);
}

void hubquery_send_all(struct bus_hub *h, struct hub_peer *to)
{
	struct message m = { .kind = MESSAGE_STANDING };
	struct buf ids = { 0 };

	vec_each (&h->queries, s)
		if (!(*s)->why_ending && hub_may_see(to->tenant, (*s)->tenant)) {
			hubquery_send(h, *s, to);
			buf_varint(&ids, (*s)->id);
		}
	message_text(&m, buf_str(&ids));
	hub_say(h, to, &m);
	buf_done(&ids);
}

void hubquery_add(struct bus_hub *h, struct hubquery *s)
{
	vec_push(&h->queries, s);
	h->is_dirty = true;
	vec_each (&h->peers, p)
		if ((*p)->role != BUS_OPERATOR && (*p)->id.n &&
		    hub_may_see((*p)->tenant, s->tenant))
			hubquery_send(h, s, *p);
}

void hubquery_await(const struct bus_hub *h, struct hubquery *s)
{
	int64_t wait = HUB_ENDING_NS;

	vec_each (&h->peers, p) {
		if ((*p)->role == BUS_OPERATOR || (*p)->has_left || (*p)->is_dead ||
		    !hub_may_see((*p)->tenant, s->tenant))
			continue;
		vec_push(&s->ending, *p);
		if ((*p)->role == BUS_HUB || (*p)->is_awaited)
			wait = HUB_ENDING_BELOW_NS;
	}
	s->end_tick = h->tick + wait;
}

void hubquery_remove(struct bus_hub *h, struct hubquery *s, const char *why)
{
	struct message m = { .kind = MESSAGE_GONE };

	if (s->why_ending)
		return;
	message_n(&m, (int64_t)s->id);
	message_text(&m, str_of(why));
	hubquery_await(h, s);
	vec_each (&s->ending, p)
		hub_say(h, *p, &m);
	s->why_ending = why;
	h->is_dirty = true;
}

void hubquery_ended(struct hubquery *s, const struct hub_peer *p)
{
	for (size_t i = 0; i < s->ending.nr;)
		if (s->ending.v[i] == p)
			s->ending.v[i] = s->ending.v[--s->ending.nr];
		else
			i++;
}

bool hubquery_is_over(const struct bus_hub *h, const struct hubquery *s)
{
	if (h->tick >= s->end_tick)
		return true;
	vec_each (&s->ending, p)
		if ((*p)->is_awaited || h->tick - (*p)->heard_tick <= HUB_GIVEN_UP_NS)
			return false;
	return true;
}

void hubquery_lose(struct bus_hub *h, struct hubquery *s, enum loss loss, uint64_t nr)
{
	struct partial none;

	if (!nr || s->is_closed)
		return;
	partial_init(&none, &s->shape);
	none.losses.count[loss] = nr;
	/* with the last second that was told: one that is not over yet must not end by this */
	hubquery_take(h, s, s->told_ns > 0 ? s->told_ns : time_now(), 0, &none);
	partial_done(&none);
}

void hubquery_close(struct bus_hub *h, struct hubquery *s)
{
	/* those that have not said that it was all */
	hubquery_lose(h, s, LOSS_AGENTS_SILENT, s->ending.nr);
	vec_each (&s->windows, w)
		w->close_tick = h->tick;
	hubquery_tick(h, s);
	if (h->parent && s->is_from_parent)
		bus_agent_ended(h->parent, s->id);
	s->is_closed = h->is_dirty = true;
	s->gone_tick = h->tick + HUB_LAST_NS;
}

void hubquery_end(struct bus_hub *h, struct hubquery *s)
{
	struct message m = { .kind = MESSAGE_GONE };

	message_n(&m, (int64_t)s->id);
	message_text(&m, str_of(s->why_ending));
	vec_each (&s->watchers, w)
		hub_say(h, w->peer, &m);
	for (size_t i = 0; i < h->queries.nr; i++)
		if (h->queries.v[i] == s)
			h->queries.v[i--] = h->queries.v[--h->queries.nr];
	h->is_dirty = true;
	hubquery_free(s);
}

/* --- reports ------------------------------------------------------------------------------- */

static struct hub_window *window_at(struct bus_hub *h, struct hubquery *s, int64_t second,
				    bool is_late)
{
	struct hub_window w = { .from_ns = second, .until_ns = second + NS_S };

	vec_each (&s->windows, have)
		if (have->from_ns == second)
			return have;
	/* clocks that are far apart open many: what is too much goes with the newest */
	if (s->windows.nr >= HUB_WINDOWS)
		return &s->windows.v[s->windows.nr - 1];
	w.close_tick = h->tick + (is_late ? HUB_HOLD_LATE_NS : HUB_HOLD_NS);
	partial_init(&w.seen, &s->shape);
	w.seen.max_groups = HUB_GROUPS;
	vec_push(&s->windows, w);
	return &s->windows.v[s->windows.nr - 1];
}

static int64_t second_of(int64_t ns)
{
	return ns - (ns % NS_S + NS_S) % NS_S;
}

bool hubquery_is_late(const struct hubquery *s, int64_t from_ns)
{
	return second_of(from_ns) <= s->told_ns;
}

void hubquery_take(struct bus_hub *h, struct hubquery *s, int64_t from_ns, int64_t until_ns,
		   const struct partial *seen)
{
	struct hub_window *w = window_at(h, s, second_of(from_ns), hubquery_is_late(s, from_ns));

	if (until_ns > w->until_ns)
		w->until_ns = until_ns;
	partial_merge(&w->seen, seen, NULL);
	h->is_dirty = true;
}

/* --- results ------------------------------------------------------------------------------- */

/* Rows that are not put together are told once, and the whole keeps the first of them. */
static void add_to_whole(struct hubquery *s, const struct partial *part)
{
	uint64_t dropped =
		s->whole.losses.count[LOSS_ROWS_DROPPED] + part->losses.count[LOSS_ROWS_DROPPED];

	partial_merge(&s->whole, part, NULL);
	if (!s->shape.nr_cells)
		s->whole.losses.count[LOSS_ROWS_DROPPED] = dropped;
	vec_each (&part->times, rows)
		s->nr_rows += *rows;
}

static void tell(struct bus_hub *h, struct hubquery *s, struct hub_window *part)
{
	add_to_whole(s, &part->seen);
	s->result++;
	if (part->from_ns > s->told_ns)
		s->told_ns = part->from_ns;
	if (h->parent && s->is_from_parent)
		bus_agent_report(h->parent, s->id, part->from_ns, part->until_ns, &part->seen);
	hubquery_keep(h, s, part->from_ns, part->until_ns, &part->seen);
	partial_done(&part->seen);
	h->is_dirty = true;
}

void hubquery_tick(struct bus_hub *h, struct hubquery *s)
{
	for (size_t i = 0; i < s->windows.nr;) {
		struct hub_window w = s->windows.v[i];

		if (h->tick < w.close_tick) {
			i++;
			continue;
		}
		memmove(s->windows.v + i, s->windows.v + i + 1,
			(s->windows.nr - i - 1) * sizeof(w));
		s->windows.nr--;
		tell(h, s, &w);
	}
}

/* --- what agents say of it ----------------------------------------------------------------- */

void hubquery_told(struct bus_hub *h, struct hubquery *s, struct str agent, struct str sentence)
{
	struct message m = { .kind = MESSAGE_TOLD };
	struct agent_told t = { .query = s->id };

	for (size_t i = 0; i < s->told.nr; i++)
		if (str_eq(str_of(s->told.v[i].agent), agent)) {
			forget_told(&s->told.v[i]);
			s->told.v[i--] = s->told.v[--s->told.nr];
		}
	if (sentence.n && s->told.nr < TOLD_MAX) {
		t.agent = hub_copied(agent);
		t.sentence = hub_copied(sentence);
		vec_push(&s->told, t);
	}
	message_n(&m, (int64_t)s->id);
	message_text(&m, agent);
	message_text(&m, sentence);
	vec_each (&s->watchers, w)
		hub_say(h, w->peer, &m);
	if (h->parent && s->is_from_parent)
		bus_agent_tell_of(h->parent, s->id, agent, sentence);
}
