/*
 * Who reads the results of a query, and the results that were not read yet. Each has a number. It
 *is kept, saved with the state, sent, and forgotten when all that watch have read it:
 *
 *	told -> kept -> saved -> sent -> read
 *
 * So whoever comes again, also to a hub that was killed in between, says what he has and gets what
 * follows, each once. Too much is not kept: who has not read the oldest then hears how many are
 *gone, and gets the whole behind what is left.
 */
#include <string.h>

#include "bus/hub_own.h"

/* --- what is kept -------------------------------------------------------------------------- */

static void kept_done(struct hub_kept *k)
{
	vec_each (&k->pieces, piece)
		buf_done(piece);
	vec_done(&k->pieces);
}

void hubquery_forget_kept(struct hubquery *s)
{
	vec_each (&s->kept, k)
		kept_done(k);
	vec_clear(&s->kept);
	s->kept_bytes = 0;
}

static void drop_oldest(struct hubquery *s, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		s->kept_bytes -= s->kept.v[i].bytes;
		kept_done(&s->kept.v[i]);
	}
	if (!nr)
		return;
	memmove(s->kept.v, s->kept.v + nr, (s->kept.nr - nr) * sizeof(*s->kept.v));
	s->kept.nr -= nr;
}

/* What all have read is of no use any more. */
static void drop_read(struct hubquery *s)
{
	uint64_t read = UINT64_MAX;
	size_t nr = 0;

	vec_each (&s->watchers, w)
		read = w->read < read ? w->read : read;
	while (nr < s->kept.nr && s->kept.v[nr].seq <= read)
		nr++;
	drop_oldest(s, nr);
}

/* The last one stays in any case, and so does what could not be sent yet. */
static void drop_beyond(struct bus_hub *h, struct hubquery *s)
{
	size_t nr = 0, bytes = s->kept_bytes;

	while (nr + 1 < s->kept.nr && s->kept.v[nr].seq <= s->safe &&
	       (s->kept.nr - nr > h->limits.seconds || bytes > HUB_KEPT_BYTES)) {
		vec_each (&s->watchers, w)
			h->counts[HUB_SKIPPED] += w->sent < s->kept.v[nr].seq;
		bytes -= s->kept.v[nr++].bytes;
	}
	drop_oldest(s, nr);
}

static void add_piece(void *ctx, struct str bytes)
{
	struct hub_kept *k = ctx;
	struct buf piece = { 0 };

	buf_add(&piece, bytes);
	vec_push(&k->pieces, piece);
	k->bytes += bytes.n;
}

void hubquery_keep(struct bus_hub *h, struct hubquery *s, int64_t from_ns, int64_t until_ns,
		   struct partial *seen)
{
	struct hub_kept k = { .seq = s->result, .from_ns = from_ns, .until_ns = until_ns };

	if (!s->watchers.nr)
		return;
	partial_pack_pieces(seen, PARTIAL_BYTES, add_piece, &k);
	s->kept_bytes += k.bytes;
	vec_push(&s->kept, k);
	drop_beyond(h, s);
}

bool hubquery_keep_again(struct hubquery *s, const struct message *m)
{
	struct hub_kept k = { .seq = (uint64_t)m->n[2], .from_ns = m->n[3], .until_ns = m->n[4] };
	struct hub_kept *last = s->kept.nr ? &s->kept.v[s->kept.nr - 1] : NULL;

	if (m->nr_numbers < 6 || m->n[5] < 0 || k.seq > s->result)
		return false;
	if (!m->n[5]) {
		if (last && k.seq <= last->seq)
			return false;
		vec_push(&s->kept, k);
		last = &s->kept.v[s->kept.nr - 1];
	}
	if (!last || last->seq != k.seq || last->pieces.nr != (uint64_t)m->n[5])
		return false;
	add_piece(last, m->t[0]);
	s->kept_bytes += m->t[0].n;
	return true;
}

/* --- sending ------------------------------------------------------------------------------- */

/* Whoever gets a part of the pieces only begins with the first one again. */
static int send_one(struct bus_hub *h, const struct hubquery *s, struct hub_watcher *w,
		    const struct hub_kept *k, bool is_whole)
{
	uint32_t nr_agents, nr_silent;
	int r = 0;

	hubquery_agents(h, s, &nr_agents, &nr_silent);
	for (size_t i = 0; i < k->pieces.nr && !r; i++) {
		struct message m = { .kind = MESSAGE_RESULT };

		message_n(&m, (int64_t)s->id, (int64_t)k->seq, k->from_ns, k->until_ns, is_whole,
			  w->has_missed, nr_agents, nr_silent, (int64_t)i, (int64_t)k->pieces.nr);
		message_text(&m, buf_str(&k->pieces.v[i]));
		r = hub_say(h, w->peer, &m);
	}
	if (r < 0)
		return r;
	w->has_missed = false;
	h->counts[HUB_RESULTS]++;
	return 0;
}

static void send_whole(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w)
{
	struct hub_kept k = { .seq = s->result, .until_ns = s->told_ns };

	partial_pack_pieces(&s->whole, PARTIAL_BYTES, add_piece, &k);
	if (!send_one(h, s, w, &k, true))
		w->wants_whole = w->is_new = false;
	kept_done(&k);
}

/* Up to there all is gone that it has not got. */
static void miss(struct hub_watcher *w, uint64_t upto)
{
	uint64_t nr = upto - w->sent;

	w->sent += nr;
	w->read += nr; /* it does not wait for what never comes */
	w->wants_whole = w->has_missed = true;
}

static void send_kept(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w)
{
	vec_each (&s->kept, k) {
		if (k->seq <= w->sent)
			continue;
		if (k->seq > s->safe || w->sent - w->read >= HUB_UNREAD)
			return;
		if (k->seq > w->sent + 1)
			miss(w, k->seq - 1);
		if (send_one(h, s, w, k, false) < 0)
			return;
		w->sent = k->seq;
	}
	if (w->sent < s->safe)
		miss(w, s->safe);
}

/* The whole has all that was told: it is sent when that is saved. */
static void feed(struct bus_hub *h, struct hubquery *s, struct hub_watcher *w)
{
	if (w->is_waited_for || !w->peer->id.n)
		return;
	if (w->is_new)
		w->sent = w->read = s->safe;
	send_kept(h, s, w);
	if (w->wants_whole && w->sent == s->result)
		send_whole(h, s, w);
}

void hubquery_saved(struct bus_hub *h, struct hubquery *s)
{
	s->safe = s->result;
	vec_each (&s->watchers, w)
		feed(h, s, w);
	drop_read(s);
}

/* --- who reads ----------------------------------------------------------------------------- */

/* The entry of that one; whether it is a new one. */
static bool watcher_set(struct hubquery *s, const struct hub_watcher *w)
{
	vec_each (&s->watchers, at)
		if (at->peer == w->peer) {
			*at = *w;
			return false;
		}
	vec_push(&s->watchers, *w);
	return true;
}

void hubquery_expect(struct hubquery *s, struct hub_peer *by, uint64_t read)
{
	watcher_set(s, &(struct hub_watcher){
			       .peer = by, .is_waited_for = true, .sent = read, .read = read });
}

static void say_told(struct bus_hub *h, const struct hubquery *s, struct hub_peer *to)
{
	vec_each (&s->told, t) {
		struct message m = { .kind = MESSAGE_TOLD };

		message_n(&m, (int64_t)s->id);
		message_text(&m, str_of(t->agent));
		message_text(&m, str_of(t->sentence));
		hub_say(h, to, &m);
	}
}

void hubquery_watch(struct bus_hub *h, struct hubquery *s, struct hub_peer *by, uint64_t has,
		    bool wants_whole)
{
	struct hub_watcher w = { .peer = by, .wants_whole = wants_whole };

	/* of nothing the whole is small; who has more than we know of had it of a state that is
	 * lost
	 */
	if (!has || !s->result || has - 1 > s->result)
		w.is_new = w.wants_whole = true;
	w.sent = w.read = w.is_new ? s->safe : has - 1;
	/* a hub that is killed has to know whom it keeps results for */
	h->is_dirty |= watcher_set(s, &w);
	vec_each (&s->watchers, at)
		if (at->peer == by)
			feed(h, s, at);
	drop_read(s);
	say_told(h, s, by);
}

void hubquery_read(struct bus_hub *h, struct hubquery *s, struct hub_peer *by, uint64_t result)
{
	vec_each (&s->watchers, w) {
		if (w->peer != by || result > w->sent || w->is_waited_for)
			continue;
		if (result > w->read)
			w->read = result;
		feed(h, s, w);
	}
	drop_read(s);
}

void hubquery_unwatch(struct hubquery *s, const struct hub_peer *by)
{
	for (size_t i = 0; i < s->watchers.nr; i++)
		if (s->watchers.v[i].peer == by)
			s->watchers.v[i--] = s->watchers.v[--s->watchers.nr];
	drop_read(s);
}

bool hubquery_is_read(const struct bus_hub *h, const struct hubquery *s)
{
	if (h->tick >= s->gone_tick)
		return true;
	vec_each (&s->watchers, w)
		if (w->read < s->result || w->wants_whole)
			return false;
	return true;
}
