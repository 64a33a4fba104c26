#include "capture/probe/guest/courier.h"

#include "capture/probe/guest/far.h"
#include "capture/probe/guest/mark.h"

#define PEEK 2
#define TRUNCATES 0x20
#define AGAIN 4        /* a part of a record's life after which it is put again */
#define SAID_EVERY 64  /* bags, of a thread */
#define CHECK_SHIFT 30 /* ticks between two looks at what the kernel counts */
#define CHECK_DUE UINT32_MAX
#define LENGTH_UNKNOWN UINT64_MAX

enum courier_turn { TURN_NONE, TURN_IN, TURN_OUT };

static void count(uint64_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static void clear(void *p, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(0) : "memory");
}

static struct courier_fd *fd_of(const struct courier *c, uint64_t fd)
{
	if (fd < COURIER_FDS)
		return &c->fds[fd];
	if ((int32_t)fd >= 0)
		count(&c->counts->nr_beyond);
	return NULL;
}

/* A descriptor of a connection, or none. */
static struct courier_fd *stream_of(const struct courier *c, uint64_t fd)
{
	struct courier_fd *f = fd_of(c, fd);

	if (!f)
		return NULL;
	if (f->session != c->session) {
		clear(f, sizeof(*f));
		f->session = c->session;
	}
	if (f->s.kind == STREAM_UNKNOWN)
		stream_look(&f->s, (int)fd, c->table);
	return f->s.kind == STREAM_NONE ? NULL : f;
}

/* After a call: one that was found before it. */
static struct courier_fd *stream_known(const struct courier *c, uint64_t fd)
{
	struct courier_fd *f = fd < COURIER_FDS ? &c->fds[fd] : NULL;

	return f && f->session == c->session && f->s.kind > STREAM_NONE ? f : NULL;
}

static void fd_forget(const struct courier *c, uint64_t fd)
{
	struct courier_fd *f = fd < COURIER_FDS ? &c->fds[fd] : NULL;

	if (f && (f->s.kind || f->s.is_fresh))
		clear(f, sizeof(*f));
}

static void fd_begin(const struct courier *c, uint64_t fd, enum stream_role role)
{
	struct courier_fd *f = fd_of(c, fd);

	if (!f)
		return;
	clear(f, sizeof(*f));
	f->session = c->session;
	f->s.role = (uint8_t)role;
	f->s.is_fresh = 1;
	f->promise.began = c->time;
}

/* --- what is sent ---------------------------------------------------------------------------- */

static uint64_t origin_of(const struct courier *c)
{
	struct courier_state *s = c->state;

	if (!s->origin)
		s->origin = (c->writer->thread ^ ((uint64_t)++s->nr_origins << 48) ^ c->now) | 1;
	return s->origin;
}

/* Whether what holds for the stream by now is what the thread carries. */
static bool is_sent(const struct courier *c, const struct courier_fd *f)
{
	if (bag_is_empty(c->bag))
		return !f->sent;
	return f->sent && f->sent_origin == origin_of(c) && f->sent_order == c->bag->order &&
	       c->now - f->sent_tick < c->table->lives / AGAIN && f->turn != TURN_IN;
}

/* length: of what is sent, or LENGTH_UNKNOWN. */
static void bag_put(const struct courier *c, struct courier_fd *f, uint64_t length)
{
	size_t n = bag_bytes(c->bag), nr_first = mark_bytes(length);
	uint64_t origin = n ? origin_of(c) : 0;
	const struct handover_sending r = { .key = f->s.key_out,
					    .start = f->s.out,
					    .origin = origin,
					    .bytes = c->bag,
					    .nr = n,
					    .mark = c->first && nr_first
							    ? mark_of(c->first, nr_first)
							    : 0 };
	uint64_t at = handover_put(c->table, &r, c->now);

	if (!at) {
		count(&c->counts->nr_not_put);
		handover_forget(c->table, f->s.key_out);
	}
	f->sent = n ? at : 0;
	f->sent_origin = origin;
	f->sent_order = c->bag->order;
	f->sent_tick = c->now;
	if (n && at && ++c->state->nr_sent % SAID_EVERY == 0)
		__atomic_fetch_add(&c->counts->nr_sent, SAID_EVERY, __ATOMIC_RELAXED);
}

/* Where the sender is, and how far what was put holds: who reads more has bytes that passed us by.
 * When that is doubted it is looked up before the next call. */
static void say(const struct courier *c, struct courier_fd *f, uint64_t sent, uint64_t upto)
{
	const struct handover_said s = { sent, f->sent ? upto : HANDOVER_NO_END, c->until };

	if (handover_say_sent(c->table, f->s.key_out, &s, c->now))
		f->s.checked_out = CHECK_DUE;
}

/* Of TCP within this host nobody needs to know more than that while nothing is carried. */
static bool is_said(const struct courier_fd *f)
{
	return f->s.kind != STREAM_TCP || f->s.reach == STREAM_FAR || f->sent;
}

/* What is sent from here on is known, and nothing of what was before. */
static void out_meet(const struct courier *c, struct courier_fd *f)
{
	handover_meet(c->table, f->s.key_out, f->s.out, c->now);
	f->sent = 0;
	if (f->s.reach == STREAM_FAR)
		far_since(c->table, f->s.key_out, f->s.out, c->now);
}

/* Two that write at once do so in an order that nobody knows. */
static bool writer_begin(const struct courier *c, struct courier_fd *f)
{
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(&f->writer, &was, c->tid, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED) ||
	    was == c->tid)
		return true;
	count(&c->counts->nr_crossed);
	f->s.has_out = 0;
	handover_forget(c->table, f->s.key_out);
	return false;
}

/* False: it was put right. */
static bool place_check(const struct courier *c, struct courier_fd *f, uint64_t fd, bool is_in)
{
	if (is_in)
		return !f->s.has_in || stream_check_in(&f->s, (int)fd, c->table, c->now);
	if (!f->s.has_out || stream_check_out(&f->s, (int)fd))
		return true;
	if (f->s.has_out)
		out_meet(c, f);
	return false;
}

/* From time to time: calls may have passed us by, and closed it. False: it is nothing any more. */
static bool check(const struct courier *c, struct courier_fd *f, uint64_t fd, bool is_in)
{
	uint32_t at = (uint32_t)(c->now >> CHECK_SHIFT);
	uint32_t *checked = is_in ? &f->s.checked_in : &f->s.checked_out;

	if (*checked == at)
		return true;
	if (*checked && f->s.checked_in != at && f->s.checked_out != at &&
	    !stream_is_same(&f->s, (int)fd)) {
		uint32_t writer = f->writer;

		count(&c->counts->nr_corrected);
		clear(f, sizeof(*f));
		f->session = c->session;
		f->writer = writer;
		return stream_of(c, fd);
	}
	if (f->s.reach == STREAM_FAR) {
		far_touch(c->table, f->s.key_out, c->now);
		far_touch(c->table, f->s.key_in, c->now);
	}
	if (*checked && !place_check(c, f, fd, is_in))
		count(&c->counts->nr_corrected);
	*checked = at;
	return true;
}

static bool out_enter(const struct courier *c, uint64_t fd, uint64_t length)
{
	struct courier_fd *f = stream_of(c, fd);
	bool had, is_put = false;

	if (!f)
		return false;
	if (!writer_begin(c, f))
		return true;
	if (!check(c, f, fd, false))
		return false;
	/* what comes next of another connection is not this one's */
	if (c->state->is_due && c->state->request != fd + 1)
		courier_settle(c);
	/* another process has sent on it, too, or what we counted is damaged */
	if (f->s.has_out && f->sent && !handover_follows(c->table, f->s.key_out, f->s.out)) {
		count(&c->counts->nr_corrected);
		f->s.has_out = 0;
	}
	had = f->s.has_out;
	stream_place_out(&f->s, (int)fd, c->now);
	if (!f->s.has_out) {
		count(&c->counts->nr_unplaced);
		return true;
	}
	if (!had)
		out_meet(c, f);
	if (!is_sent(c, f)) {
		bag_put(c, f, length);
		is_put = true;
	}
	if ((is_said(f) || is_put) && f->s.reach != STREAM_FAR)
		say(c, f, f->s.out | HANDOVER_SENDING,
		    length == LENGTH_UNKNOWN ? HANDOVER_NO_END : f->s.out + length);
	return true;
}

/* Where the sender is after a call. is_whole: all was sent that was to be. */
static void out_told(const struct courier *c, struct courier_fd *f, bool is_whole)
{
	if (!f->s.has_out)
		handover_forget(c->table, f->s.key_out);
	else if (is_said(f) && !(is_whole && f->s.kind == STREAM_TCP && f->s.reach == STREAM_HERE))
		/* of other hosts: up to there all is in the table that is to be handed over */
		say(c, f, f->s.out, f->s.out);
}

static void out_leave(const struct courier *c, uint64_t fd, int64_t result, uint64_t length,
		      bool is_many)
{
	struct courier_fd *f = stream_known(c, fd);

	if (!f)
		return;
	if (result > 0 && !is_many)
		f->s.out += (uint64_t)result;
	if (is_many || f->writer != c->tid)
		f->s.has_out = 0;
	out_told(c, f, (uint64_t)result == length);
	if (f->writer == c->tid)
		__atomic_store_n(&f->writer, 0, __ATOMIC_RELEASE);
	if (result <= 0)
		return;
	f->turn = TURN_OUT;
	if (f->nr_pending) {
		c->state->is_due = 1;
		c->state->request = (uint32_t)fd + 1;
	}
}

/* --- what is received ------------------------------------------------------------------------ */

static void bag_drop(const struct courier *c)
{
	if (!bag_is_empty(c->bag))
		bag_clear(c->bag, c->writer);
	c->state->origin = 0;
}

/* What a record says, in place of what the thread carries, or added to it. */
static void bag_take(const struct courier *c, const struct handover_found *v, bool adds)
{
	struct courier_room *m = c->room;
	long n = handover_read(c->table, v->at, v->bytes, m->bytes, sizeof(m->bytes));

	if (n < 0 || (n && !bag_deserialize(&m->bag, m->bytes, (size_t)n))) {
		count(&c->counts->nr_gone);
		n = 0;
	}
	if (!n) {
		if (!adds)
			bag_drop(c);
		return;
	}
	if (adds)
		bag_join_spilling(c->bag, &m->bag, c->writer, c->spill);
	else
		bag_adopt(c->bag, &m->bag, c->writer);
	c->state->origin = v->origin;
	if (++c->state->nr_received % SAID_EVERY == 0)
		__atomic_fetch_add(&c->counts->nr_received, SAID_EVERY, __ATOMIC_RELAXED);
}

/* By its name; one that is not there any more has no bytes, and is counted. */
static struct handover_found found_at(const struct courier *c, uint64_t key, uint64_t at)
{
	struct handover_head r;

	if (handover_head(c->table, at, key, &r))
		return (struct handover_found){ at, r.start, r.origin, r.bytes, r.mark };
	count(&c->counts->nr_gone);
	return (struct handover_found){ .at = at };
}

/* The same, as what the connection is at now. */
static void record_take(const struct courier *c, struct courier_fd *f,
			const struct handover_found *v, bool adds)
{
	bag_take(c, v, adds);
	f->is_joined = adds;
	f->current = v->at;
	f->parked = 0;
	f->taken = c->bag->order;
}

static uint64_t parking(const struct courier_fd *f)
{
	return ~f->s.key_in ? ~f->s.key_in : 1;
}

/* The thread turns to another connection, and may come back: a loop of events, in which a request
 * is read in pieces. What it has packed since is put aside. */
static void park(const struct courier *c)
{
	struct courier_fd *f = c->state->fd ? stream_known(c, c->state->fd - 1) : NULL;

	if (!f || f->turn != TURN_IN || f->reader != c->tid || bag_is_empty(c->bag) ||
	    (f->current && !f->is_joined && c->bag->order == f->taken))
		return;
	f->parked = handover_put(c->table,
				 &(struct handover_sending){ .key = parking(f),
							     .origin = origin_of(c),
							     .bytes = c->bag,
							     .nr = bag_bytes(c->bag) },
				 c->now);
}

static void unpark(const struct courier *c, struct courier_fd *f)
{
	struct handover_found v;

	if (f->parked) {
		v = found_at(c, parking(f), f->parked);
		bag_take(c, &v, false);
	} else if (f->current) {
		v = found_at(c, f->s.key_in, f->current);
		record_take(c, f, &v, false);
	} else {
		bag_drop(c);
	}
}

/* The next one, with all that is of the same request. */
static void pending_take(const struct courier *c, struct courier_fd *f)
{
	struct handover_found v = found_at(c, f->s.key_in, f->pending[0]);
	uint64_t origin = v.origin;
	size_t nr = 0;

	do
		record_take(c, f, &v, nr > 0);
	while (++nr < f->nr_pending && origin &&
	       (v = found_at(c, f->s.key_in, f->pending[nr])).origin == origin);
	f->nr_pending = (uint8_t)(f->nr_pending - nr);
	for (size_t i = 0; i < f->nr_pending; i++)
		f->pending[i] = f->pending[i + nr];
	f->is_begun = 0;
}

void courier_settle(const struct courier *c)
{
	struct courier_fd *f = c->state->request ? stream_known(c, c->state->request - 1) : NULL;

	if (f && f->nr_pending) {
		if (c->state->is_due)
			count(&c->counts->nr_guessed);
		pending_take(c, f);
	}
	c->state->is_due = 0;
}

/* What was read last, from another host. */
static void promise_add(const struct courier *c, struct courier_fd *f)
{
	f->is_next = 0;
	if (c->spill)
		bag_make_room(c->bag, BAG_PROMISE_WORDS, c->writer, c->spill);
	if (!bag_promise(c->bag, c->writer, &f->promise, c->time))
		count(&c->counts->nr_gone);
}

void courier_begin(const struct courier *c)
{
	struct courier_fd *f = c->state->request ? stream_known(c, c->state->request - 1) : NULL;

	if (c->state->is_due)
		courier_settle(c);
	if (f && f->is_begun && f->nr_pending)
		courier_settle(c);
	if (!f || f->is_begun) {
		bag_drop(c);
		if (f && f->is_next)
			promise_add(c, f);
	} else {
		f->is_begun = 1;
	}
}

static void pending_add(const struct courier *c, struct courier_fd *f, uint64_t at)
{
	count(&c->counts->nr_several);
	if (f->nr_pending < COURIER_PENDING) {
		f->pending[f->nr_pending++] = at;
		return;
	}
	/* not answered one by one: from now on all that comes together belongs together */
	f->is_batch = 1;
	f->nr_pending = 0;
	count(&c->counts->nr_batched);
}

/* Nothing came with it. */
static void received_nothing(const struct courier *c, struct courier_fd *f, bool is_turn)
{
	struct handover_found v;

	if (!is_turn || f->nr_pending)
		return;
	f->current = f->parked = 0;
	if (f->s.role == STREAM_SERVER)
		bag_drop(c);
	if (f->s.role == STREAM_SERVER && f->s.reach == STREAM_FOREIGN)
		count(&c->counts->nr_foreign);
	else if (f->s.role == STREAM_CLIENT && f->sent && f->sent_origin != c->state->origin) {
		/* a reply to what this thread has turned away from */
		v = found_at(c, f->s.key_out, f->sent);
		bag_take(c, &v, false);
	}
}

/* Several replies at once: the last one counts. */
static void reply_take(const struct courier *c, struct courier_fd *f,
		       const struct handover_found *v)
{
	count(&c->counts->nr_several);
	count(&c->counts->nr_batched);
	record_take(c, f, v, false);
}

/* In the order of the stream. */
static void received(const struct courier *c, struct courier_fd *f, const struct handover_found *v,
		     size_t nr, bool is_turn)
{
	bool is_server = f->s.role == STREAM_SERVER;
	size_t i = 0;

	/* what holds where the read began */
	if (!f->nr_pending) {
		bool is_same = v[0].origin == c->state->origin;

		if (is_turn || v[0].at > f->seen)
			record_take(c, f, &v[0], is_same && !(is_server && is_turn));
		if (v[0].at > f->seen && !is_same)
			f->is_begun = 0;
		i = 1;
	}
	for (; i < nr; i++)
		if (v[i].at > f->seen) {
			bool is_same = v[i].origin == c->state->origin;

			if (f->is_batch || (!f->nr_pending && is_same))
				record_take(c, f, &v[i], true);
			else if (is_server)
				pending_add(c, f, v[i].at);
			else
				reply_take(c, f, &v[i]);
		}
	if (v[nr - 1].at > f->seen)
		f->seen = v[nr - 1].at;
}

static bool in_enter(const struct courier *c, uint64_t fd)
{
	struct courier_fd *f = stream_of(c, fd);

	if (!f || !check(c, f, fd, true))
		return false;
	if (c->state->is_due)
		courier_settle(c);
	stream_place_in(&f->s, (int)fd, c->table, c->now);
	return true;
}

/* Where what was read began. */
static bool in_place(const struct courier *c, struct courier_fd *f, uint64_t fd, uint64_t nr,
		     uint64_t *from)
{
	/* a sender may have begun to count anew while we waited */
	bool had = f->s.has_in && stream_counts_on(&f->s, c->table);

	f->s.in += nr;
	f->s.has_in = had;
	/* it is known then where it ended */
	if (!had || !f->s.key_in)
		stream_place_in(&f->s, (int)fd, c->table, c->now);
	*from = f->s.in - nr;
	return f->s.has_in && f->s.key_in && f->s.in >= nr;
}

/* What was read. */
struct stretch {
	uint64_t from, to;
	const char *bytes; /* or NULL: not known where they are */
};

/* Whether bytes that their sender has marked are where we take them to be. */
static bool are_marked(const struct stretch *r, const struct handover_found *v, size_t nr)
{
	for (size_t i = 0; r->bytes && i < nr; i++)
		if (v[i].start >= r->from && v[i].start < r->to &&
		    !mark_fits(v[i].mark, r->bytes + (v[i].start - r->from), r->to - v[i].start))
			return false;
	return true;
}

/* Bytes that passed their sender by, or that we have not counted right: nobody knows what came with
 * them. Both ends look up where they are. */
static void received_unknown(const struct courier *c, struct courier_fd *f, bool is_turn)
{
	/* once for all pieces of a message */
	if (is_turn || f->current || f->nr_pending)
		count(&c->counts->nr_doubted);
	handover_doubt(c->table, f->s.key_in);
	f->s.checked_in = CHECK_DUE;
	f->current = f->parked = 0;
	f->nr_pending = 0;
	if (f->s.role == STREAM_SERVER)
		bag_drop(c);
}

/* From another host: the agents know what came with it. A read that goes on with the one before is
 * of the same request, unless somebody has said meanwhile that this has begun. */
static void far_received(const struct courier *c, struct courier_fd *f, uint64_t from, uint64_t to,
			 bool is_turn)
{
	struct bag_promise *p = &f->promise;
	bool is_server = f->s.role == STREAM_SERVER;
	bool is_next = !is_turn && is_server && f->is_begun;

	received_nothing(c, f, is_turn);
	if (is_turn || is_next || p->to != from)
		p->from = from;
	p->key = f->s.key_in;
	p->to = to;
	promise_add(c, f);
	f->is_next = is_next;
}

static void in_leave(const struct courier *c, uint64_t fd, int64_t result, const char *bytes)
{
	struct courier_fd *f = stream_known(c, fd);
	struct handover_found v[HANDOVER_FOUND_MAX];
	struct handover_missing missing = { 0 };
	struct stretch r = { .bytes = bytes };
	size_t nr = 0;
	bool is_turn, is_placed;

	if (!f || result <= 0)
		return;
	is_turn = f->turn != TURN_IN || f->reader != c->tid;
	f->turn = TURN_IN;
	f->reader = c->tid;
	if (c->state->fd != fd + 1) {
		park(c);
		c->state->fd = (uint32_t)fd + 1;
		if (!is_turn)
			unpark(c, f);
	}
	is_placed = in_place(c, f, fd, (uint64_t)result, &r.from);
	r.to = r.from + (uint64_t)result;
	if (!is_placed)
		count(&c->counts->nr_unplaced);
	else if (f->s.reach != STREAM_FAR)
		nr = handover_find(c->table, f->s.key_in, r.from, r.to, c->now, v, &missing);
	if (missing.nr_more)
		__atomic_fetch_add(&c->counts->nr_batched, missing.nr_more, __ATOMIC_RELAXED);
	/* what was there before is wanted only by who does not have it yet */
	if (missing.is_gone && (is_turn || !nr) && !f->current)
		count(&c->counts->nr_gone);
	if (f->s.role == STREAM_SERVER) {
		c->state->request = (uint32_t)fd + 1;
		f->is_begun = is_turn ? 0 : f->is_begun;
	}
	if (is_placed && f->s.reach == STREAM_FAR)
		far_received(c, f, r.from, r.to, is_turn);
	else if (missing.is_unknown || !are_marked(&r, v, nr))
		received_unknown(c, f, is_turn);
	else if (nr)
		received(c, f, v, nr, is_turn);
	else
		received_nothing(c, f, is_turn);
}

static void place_forget(const struct courier *c, uint64_t fd)
{
	struct courier_fd *f = stream_known(c, fd);

	if (f)
		f->s.has_in = f->s.has_out = 0;
}

/* --- calls ----------------------------------------------------------------------------------- */

static bool is_in(enum carry_call call, const uint64_t *a)
{
	return call == CARRY_IN || call == CARRY_IN_PARTS ||
	       (call == CARRY_IN_4 && !(a[3] & PEEK)) || (call == CARRY_IN_3 && !(a[2] & PEEK));
}

static bool is_out(enum carry_call call)
{
	return call == CARRY_OUT || call == CARRY_OUT_PARTS || call == CARRY_OUT_MANY;
}

/* How much is to be sent. */
static uint64_t length_of(enum carry_call call, const uint64_t *a)
{
	return call == CARRY_OUT ? a[2] : LENGTH_UNKNOWN;
}

/* Where what was read is, if it is in one piece. */
static const char *bytes_of(enum carry_call call, const uint64_t *a)
{
	bool is_one = call == CARRY_IN || (call == CARRY_IN_4 && !(a[3] & TRUNCATES));

	return is_one ? (const char *)a[1] : NULL;
}

void courier_asleep(const struct courier *c, enum carry_call call, const uint64_t *a,
		    int64_t result)
{
	struct courier_fd *f = (uint32_t)a[0] < COURIER_FDS ? &c->fds[(uint32_t)a[0]] : NULL;

	if (!f || !is_out(call) || f->s.kind <= STREAM_NONE || f->writer != c->tid)
		return;
	f->s.out += result > 0 ? (uint64_t)result : 0;
	f->s.has_out &= call != CARRY_OUT_MANY;
	out_told(c, f, (uint64_t)result == length_of(call, a));
}

bool courier_enter(const struct courier *c, enum carry_call call, const uint64_t *a)
{
	uint64_t fd = (uint32_t)a[0];

	if (is_out(call))
		return out_enter(c, fd, length_of(call, a));
	if (call == CARRY_IN || call == CARRY_IN_PARTS || call == CARRY_IN_3 || call == CARRY_IN_4)
		return is_in(call, a) && in_enter(c, fd);
	if (call == CARRY_CLOSE)
		fd_forget(c, fd);
	return call != CARRY_CLOSE && call < CARRY_NR;
}

void courier_leave(const struct courier *c, enum carry_call call, const uint64_t *a, int64_t result)
{
	uint64_t fd = (uint32_t)a[0], got = (uint32_t)result;
	const int *pair = (const int *)(call == CARRY_PAIR ? a[3] : a[0]);

	if (is_out(call)) {
		out_leave(c, fd, result, length_of(call, a), call == CARRY_OUT_MANY);
	} else if (is_in(call, a)) {
		in_leave(c, fd, result, bytes_of(call, a));
	} else if (call == CARRY_IN_MANY) {
		place_forget(c, fd);
	} else if (call == CARRY_SPLICE) {
		place_forget(c, fd);
		place_forget(c, (uint32_t)a[2]);
	} else if (call == CARRY_OVER) {
		fd_forget(c, (uint32_t)a[1]);
	} else if (call == CARRY_NEW) {
		fd_forget(c, got);
	} else if (call == CARRY_CONNECT) {
		fd_begin(c, fd, STREAM_CLIENT);
	} else if (call == CARRY_ACCEPT && (int32_t)got >= 0) {
		fd_begin(c, got, STREAM_SERVER);
	} else if ((call == CARRY_PAIR || call == CARRY_PIPE) && (int32_t)got == 0) {
		fd_begin(c, (uint32_t)pair[0], STREAM_EITHER);
		fd_begin(c, (uint32_t)pair[1], STREAM_EITHER);
	}
}
