/*
 * Standing queries of a hub. Reports of a second are put together in its window, which is told a
 * while after the first of them came; clocks of hosts are not compared. What comes later is told
 * as another part of that second. So the whole is the sum of all that was told, always.
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

void hubquery_remove(struct bus_hub *h, struct hubquery *s, const char *why)
{
	struct message m = { .kind = MESSAGE_GONE };
	int64_t wait = HUB_ENDING_NS;

	if (s->why_ending)
		return;
	message_n(&m, (int64_t)s->id);
	message_text(&m, str_of(why));
	vec_each (&h->peers, p)
		if ((*p)->role != BUS_OPERATOR && (*p)->id.n &&
		    hub_may_see((*p)->tenant, s->tenant)) {
			if (hub_say(h, *p, &m) == 0)
				vec_push(&s->ending, *p);
			wait = (*p)->role == BUS_HUB ? HUB_ENDING_BELOW_NS : wait;
		}
	s->why_ending = why;
	s->end_tick = h->tick + wait;
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
		if (!hub_peer_is_silent(h, *p))
			return false;
	return true;
}

void hubquery_end(struct bus_hub *h, struct hubquery *s)
{
	struct message m = { .kind = MESSAGE_GONE };

	vec_each (&s->windows, w)
		w->close_tick = h->tick;
	hubquery_tick(h, s);
	message_n(&m, (int64_t)s->id);
	message_text(&m, str_of(s->why_ending));
	vec_each (&s->watchers, w)
		hub_say(h, w->peer, &m);
	if (h->parent && s->is_from_parent)
		bus_agent_ended(h->parent, s->id);
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

bool hubquery_take(struct bus_hub *h, struct hubquery *s, int64_t from_ns, int64_t until_ns,
		   const struct partial *seen)
{
	int64_t second = from_ns - (from_ns % NS_S + NS_S) % NS_S;
	bool is_late = second <= s->told_ns;
	struct hub_window *w = window_at(h, s, second, is_late);

	if (until_ns > w->until_ns)
		w->until_ns = until_ns;
	partial_merge(&w->seen, seen, NULL);
	w->seen.losses.count[LOSS_REPORTS_LATE] += is_late;
	h->is_dirty = true;
	return is_late;
}

/* --- results ------------------------------------------------------------------------------- */

/* A result on its way to one operator, or a piece of it after another. */
struct sending {
	struct bus_hub *h;
	struct hubquery *s;
	struct hub_watcher *w;
	const struct hub_window *of; /* NULL: the whole */
	uint32_t nr_agents, nr_silent;
	bool is_begun; /* what follows a whole's first piece is added to it */
	int failed;
};

static void send_piece(void *ctx, struct str bytes)
{
	struct message m = { .kind = MESSAGE_RESULT };
	struct sending *to = ctx;
	const struct hub_window *of = to->of;

	if (to->failed < 0)
		return;
	message_n(&m, (int64_t)to->s->id, (int64_t)to->s->result, of ? of->from_ns : 0,
		  of ? of->until_ns : to->s->told_ns, !of && !to->is_begun,
		  to->is_begun ? 0 : (int64_t)to->w->nr_skipped, to->nr_agents, to->nr_silent);
	message_text(&m, bytes);
	to->failed = hub_say(to->h, to->w->peer, &m);
	to->is_begun = true;
}

static int send_result(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w,
		       const struct hub_window *of, struct partial *seen)
{
	struct sending to = { .h = h, .s = s, .w = w, .of = of };

	hubquery_agents(h, s, &to.nr_agents, &to.nr_silent);
	partial_pack_pieces(seen, PARTIAL_BYTES, send_piece, &to);
	return to.failed;
}

static void send_whole(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w)
{
	w->is_behind = send_result(h, s, w, NULL, &s->whole) < 0;
	if (!w->is_behind) {
		w->sent = s->result;
		w->nr_skipped = 0;
		h->counts[HUB_RESULTS]++;
	}
}

static void send_part(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w,
		      struct hub_window *part)
{
	if (w->sent - w->read >= HUB_UNREAD)
		w->is_behind = true;
	if (!w->is_behind && send_result(h, s, w, part, &part->seen) < 0)
		w->is_behind = true;
	if (w->is_behind) {
		w->nr_skipped++;
		h->counts[HUB_SKIPPED]++;
	} else {
		w->sent = s->result;
		h->counts[HUB_RESULTS]++;
	}
}

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
	vec_each (&s->watchers, w)
		send_part(h, s, w, part);
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

/* --- operators ----------------------------------------------------------------------------- */

void hubquery_watch(struct bus_hub *h, struct hubquery *s, struct hub_peer *by)
{
	struct hub_watcher w = { .peer = by };

	hubquery_unwatch(s, by);
	w.sent = w.read = s->result;
	vec_push(&s->watchers, w);
	send_whole(h, s, &s->watchers.v[s->watchers.nr - 1]);
	vec_each (&s->told, t) {
		struct message m = { .kind = MESSAGE_TOLD };

		message_n(&m, (int64_t)s->id);
		message_text(&m, str_of(t->agent));
		message_text(&m, str_of(t->sentence));
		hub_say(h, by, &m);
	}
}

void hubquery_read(struct bus_hub *h, struct hubquery *s, struct hub_peer *by, uint64_t result)
{
	vec_each (&s->watchers, w) {
		if (w->peer != by || result > w->sent)
			continue;
		if (result > w->read)
			w->read = result;
		if (w->is_behind && w->read == w->sent)
			send_whole(h, s, w);
	}
}

void hubquery_unwatch(struct hubquery *s, const struct hub_peer *by)
{
	for (size_t i = 0; i < s->watchers.nr; i++)
		if (s->watchers.v[i].peer == by)
			s->watchers.v[i--] = s->watchers.v[--s->watchers.nr];
}

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
