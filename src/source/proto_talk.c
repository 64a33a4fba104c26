/*
 * Bytes come in order for each side. The first ones tell the protocol; from then on it cuts the
 * stream into messages, and what a message does not need (a body) is passed over without a copy.
 *
 * Where the capture has a gap, or the bytes make no sense, a side is lost until a packet begins
 * with what looks like a message, unless a message has told its length and ends with the gap. A
 * talk that is lost more often than not goes on by turns: who speaks is known even where what is
 * said is not.
 */
#include "source/proto_talk.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/loss.h"
#include "source/proto_talk_state.h"

#define HELD_BYTES_MAX ((size_t)256 << 10)
#define GUESS_BYTES 512 /* enough to know a protocol by */
#define GUESSES_MAX 64  /* turns of an unknown one after which no more are tried */
#define LOST_MAX 6

struct talk *talk_new(const struct talk_sink *sink, const struct endpoint end[2], int client,
		      bool is_datagram)
{
	struct talk *t = mem_zalloc(sizeof(*t));

	t->sink = sink;
	t->end[0] = end[0];
	t->end[1] = end[1];
	t->client = client;
	t->is_sure_of_client = client >= 0;
	t->is_datagram = is_datagram;
	t->first = -1;
	return t;
}

static void set_proto(struct talk *t, const struct proto *proto)
{
	if (t->proto && t->proto->done)
		t->proto->done(t->state);
	free(t->state);
	t->state = proto && proto->state_bytes ? mem_zalloc(proto->state_bytes) : NULL;
	t->proto = proto;
	t->becomes = NULL;
}

size_t talk_held(const struct talk *t)
{
	return t->side[0].held.room + t->side[1].held.room;
}

const char *talk_protocol(const struct talk *t)
{
	return t->proto ? t->proto->name : "";
}

const struct endpoint *talk_end(const struct talk *t, unsigned side)
{
	return &t->end[side];
}

unsigned talk_client(const struct talk *t)
{
	return t->client > 0;
}

uint32_t *talk_notes(struct talk *t)
{
	return t->notes;
}

void *talk_state(struct talk *t)
{
	return t->state;
}

bool talk_is_client(const struct talk *t, unsigned side)
{
	return side == talk_client(t);
}

bool talk_may_trace(const struct talk *t)
{
	return !t->sink->is_blind;
}

bool talk_is_cut(const struct talk *t)
{
	return t->is_cut;
}

void talk_become(struct talk *t, const struct proto *proto)
{
	t->becomes = proto;
}

static int64_t time_at(const struct talk_side *s, uint32_t seq)
{
	unsigned i = s->nr_marks;

	while (i > 1 && (int32_t)(s->marks[i - 1].seq - seq) > 0)
		i--;
	return i ? s->marks[i - 1].ns : s->last_ns;
}

/* With no room for one more, the bytes count as come with those before. */
static void add_mark(struct talk_side *s, uint32_t seq, int64_t ns)
{
	if (s->nr_marks < MARKS)
		s->marks[s->nr_marks++] = (struct mark){ seq, ns };
}

/* Marks of bytes that are gone, but for the one that the first byte now needs. */
static void drop_marks(struct talk_side *s)
{
	unsigned keep = 0;

	while (keep + 1 < s->nr_marks && (int32_t)(s->marks[keep + 1].seq - s->seq) <= 0)
		keep++;
	s->nr_marks = (uint8_t)(s->nr_marks - keep);
	memmove(s->marks, s->marks + keep, s->nr_marks * sizeof(*s->marks));
}

static void drop_held(struct talk_side *s)
{
	s->seq += (uint32_t)s->held.n;
	buf_clear(&s->held);
	s->nr_marks = 0;
}

/* The message that is held will not become whole: it is told as far as it is there. Answers how
 * long it says that it is. */
static int64_t tell_cut(struct talk *t, unsigned side)
{
	struct talk_side *s = &t->side[side];
	int64_t n;

	if (!s->held.n || !t->proto || s->is_lost)
		return 0;
	t->is_cut = true;
	t->at = side;
	t->now = time_at(s, s->seq);
	t->now_seq = s->seq;
	n = t->proto->parse(t, side, buf_str(&s->held));
	t->is_cut = false;
	if (s->pending && s->is_by_turn)
		s->pending->ns = s->last_ns;
	return n;
}

static void lose(struct talk *t, unsigned side)
{
	struct talk_side *s = &t->side[side];

	t->sink->losses->count[LOSS_PROTOCOL_LOST]++;
	t->nr_lost++;
	drop_held(s);
	if (!s->is_by_turn)
		talk_settle(t, side, s->last_ns);
	s->skip = 0;
	s->is_lost = true;
	t->at = side;
	t->is_cut = true;
	if (t->proto->lose)
		t->proto->lose(t, side);
	/* what is missing was the answer to the call that waits, or a part of it */
	if (!talk_is_client(t, side) && !s->pending && talk_has_call(t, 0)) {
		talk_return(t, &(struct message){ 0 });
		s->has_answered = true;
	}
	t->is_cut = false;
	if (!talk_is_client(t, side))
		talk_forget_ordered(t);
	if (t->nr_lost <= LOST_MAX + t->nr_messages)
		return;
	set_proto(t, &proto_plain);
	t->nr_guesses = GUESSES_MAX;
	t->side[0].is_lost = t->side[1].is_lost = false;
	drop_held(&t->side[!side]);
}

/* The message at the front is n bytes long, of which so many are there. */
static size_t advance(struct talk *t, unsigned side, int64_t n, size_t there)
{
	struct talk_side *s = &t->side[side];
	size_t passed = (uint64_t)n < there ? (size_t)n : there;
	int64_t ns = time_at(s, s->seq + (uint32_t)passed - 1);

	s->seq += (uint32_t)passed;
	s->skip = (uint64_t)n - passed;
	if (s->is_by_turn && s->pending)
		s->pending->ns = ns;
	else if (!s->skip)
		talk_settle(t, side, ns);
	if (t->becomes)
		set_proto(t, t->becomes);
	return passed;
}

/* Cuts messages from the front; what is left is not whole. */
static struct str cut(struct talk *t, unsigned side, struct str bytes)
{
	struct talk_side *s = &t->side[side];

	while (bytes.n && t->proto) {
		int64_t n;

		t->at = side;
		t->now = time_at(s, s->seq);
		t->now_seq = s->seq;
		n = t->proto->parse(t, side, bytes);
		if (n == PROTO_MORE && bytes.n < HELD_BYTES_MAX)
			break;
		if (n <= 0) {
			s->seq += (uint32_t)bytes.n;
			buf_clear(&s->held);
			lose(t, side);
			return (struct str){ 0 };
		}
		bytes = str_skip(bytes, advance(t, side, n, bytes.n));
	}
	return bytes;
}

/* The other side has spoken: what waits for this turn to end is told. */
static void end_turn(struct talk *t, unsigned side)
{
	struct talk_side *other = &t->side[!side];

	if (other->pending && other->is_by_turn)
		talk_settle(t, !side, other->pending->ns);
}

static void keep_rest(struct talk_side *s, struct str rest)
{
	if (s->held.n && rest.n)
		memmove(s->held.p, s->held.p + (s->held.n - rest.n), rest.n);
	else if (rest.n)
		buf_add(&s->held, rest);
	s->held.n = rest.n;
	if (!rest.n)
		s->nr_marks = 0;
	else
		drop_marks(s);
	if (!rest.n && s->held.room > 4096)
		buf_done(&s->held);
}

static void feed(struct talk *t, unsigned side, struct str bytes, int64_t ns)
{
	struct talk_side *s = &t->side[side];

	add_mark(s, s->seq + (uint32_t)s->held.n, ns);
	if (!s->held.n) {
		keep_rest(s, cut(t, side, bytes));
		return;
	}
	buf_add(&s->held, bytes);
	keep_rest(s, cut(t, side, buf_str(&s->held)));
}

/* Bytes of a body; answers what follows it. */
static struct str skip_body(struct talk *t, unsigned side, struct str bytes, int64_t ns)
{
	struct talk_side *s = &t->side[side];
	size_t n = bytes.n < s->skip ? bytes.n : (size_t)s->skip;

	s->seq += (uint32_t)n;
	s->skip -= n;
	if (s->is_by_turn && s->pending)
		s->pending->ns = ns;
	else if (!s->skip)
		talk_settle(t, side, ns);
	return str_skip(bytes, n);
}

static struct proto_guess guess(const struct talk *t, unsigned side, struct str bytes)
{
	int is_client = t->is_sure_of_client ? t->client == (int)side : -1;

	return proto_guess(bytes, t->is_datagram, t->end[side].port, t->end[!side].port, is_client);
}

static void adopt(struct talk *t, unsigned side, const struct proto_guess *g)
{
	set_proto(t, g->proto);
	t->client = g->from_client ? (int)side : !(int)side;
	t->is_sure_of_client = true;
}

/* No protocol: whoever spoke first asked, unless the ports tell otherwise. */
static void adopt_plain(struct talk *t)
{
	int server = proto_server_of_ports(t->end[0].port, t->end[1].port);

	set_proto(t, &proto_plain);
	if (t->client < 0)
		t->client = server >= 0 ? !server : t->first;
}

/* What both sides have said so far goes to the protocol, in the order in which they began. */
static void replay(struct talk *t)
{
	unsigned first = t->first > 0;

	for (unsigned i = 0; i < 2; i++) {
		struct talk_side *s = &t->side[first ^ i];

		if (s->held.n)
			keep_rest(s, cut(t, first ^ i, buf_str(&s->held)));
	}
}

static void find_out(struct talk *t, unsigned side, struct str bytes, int64_t ns)
{
	struct talk_side *s = &t->side[side];
	struct proto_guess g;

	if (t->first < 0)
		t->first = (int)side;
	add_mark(s, s->seq + (uint32_t)s->held.n, ns);
	buf_add(&s->held, bytes);
	g = guess(t, side, buf_str(&s->held));
	if (g.sure >= PROTO_SURE)
		adopt(t, side, &g);
	else if (s->held.n >= GUESS_BYTES || t->side[!side].held.n)
		adopt_plain(t);
	else
		return;
	replay(t);
}

/* A connection that was joined midway, or whose first bytes were odd, may still become known. */
static void guess_again(struct talk *t, unsigned side, struct str bytes)
{
	struct proto_guess g;

	if (t->proto != &proto_plain || t->nr_guesses >= GUESSES_MAX)
		return;
	t->nr_guesses++;
	g = guess(t, side, bytes);
	if (g.sure < PROTO_SURE)
		return;
	for (unsigned i = 0; i < 2; i++)
		talk_settle(t, i, t->side[i].pending ? t->side[i].pending->ns : 0);
	talk_forget_ordered(t);
	adopt(t, side, &g);
}

/* The start of a packet is where a message may begin. */
static bool find_back(struct talk *t, unsigned side, struct str bytes)
{
	struct talk_side *s = &t->side[side];

	if (s->is_lost)
		s->is_lost = t->proto->looks(bytes, talk_is_client(t, side)) < PROTO_SURE / 3;
	return !s->is_lost;
}

void talk_bytes(struct talk *t, unsigned side, uint32_t seq, struct str bytes, int64_t ns)
{
	struct talk_side *s = &t->side[side];

	if (!s->held.n)
		s->seq = seq;
	if (!t->proto) {
		s->last_ns = ns;
		find_out(t, side, bytes, ns);
		return;
	}
	end_turn(t, side);
	guess_again(t, side, bytes);
	if (s->skip)
		bytes = skip_body(t, side, bytes, ns);
	s->last_ns = ns;
	if (bytes.n && find_back(t, side, bytes))
		feed(t, side, bytes, ns);
	else if (s->pending && s->is_by_turn)
		s->pending->ns = ns;
}

/* Bytes are missing within a message, or from its start on. */
static void gap_in_message(struct talk *t, unsigned side, uint64_t missing)
{
	struct talk_side *s = &t->side[side];
	uint64_t there = s->held.n;
	int64_t n = tell_cut(t, side);

	if (n <= 0 || n == PROTO_ALL || (uint64_t)n < there + missing) {
		lose(t, side);
		return;
	}
	drop_held(s);
	s->skip = (uint64_t)n - there - missing;
	if (s->skip)
		return;
	s->is_by_turn = false;
	talk_settle(t, side, s->last_ns);
}

/* Before anything is known only a packet that was cut tells that someone spoke. */
static bool find_out_by_gap(struct talk *t, unsigned side, const struct talk_missing *m)
{
	if (!m->is_cut && !t->side[0].held.n && !t->side[1].held.n)
		return false;
	if (t->first < 0)
		t->first = (int)side;
	adopt_plain(t);
	replay(t);
	return true;
}

static void gap_by_turn(struct talk *t, unsigned side, const struct talk_missing *m)
{
	struct talk_side *s = &t->side[side];

	t->at = side;
	t->now = m->ns;
	t->now_seq = m->seq;
	t->proto->parse(t, side, (struct str){ "", 0 });
	if (s->pending)
		s->pending->ns = m->ns;
}

void talk_gap(struct talk *t, unsigned side, const struct talk_missing *m)
{
	struct talk_side *s = &t->side[side];
	size_t left = m->nr;

	if (t->proto || find_out_by_gap(t, side, m)) {
		end_turn(t, side);
		s->last_ns = m->ns;
		if (s->skip)
			left = skip_body(t, side, (struct str){ "", m->nr }, m->ns).n;
		if (t->proto->is_by_turn) {
			gap_by_turn(t, side, m);
		} else if (left && !s->is_lost) {
			gap_in_message(t, side, left);
		}
		if (s->pending && s->is_by_turn)
			s->pending->ns = m->ns;
	}
	s->seq = m->seq + m->nr;
}

void talk_datagram(struct talk *t, unsigned side, struct str bytes, int64_t ns)
{
	struct talk_side *s = &t->side[side];
	struct proto_guess g = guess(t, side, bytes);

	if (t->first < 0)
		t->first = (int)side;
	if (g.sure >= PROTO_SURE && g.proto != t->proto)
		adopt(t, side, &g);
	else if (!t->proto)
		adopt_plain(t);
	end_turn(t, side);
	s->last_ns = t->now = ns;
	s->nr_marks = 0;
	t->at = side;
	t->now_seq = t->nr_calls += side == talk_client(t);
	if (t->proto->parse(t, side, bytes) <= 0)
		t->sink->losses->count[LOSS_PROTOCOL_LOST]++;
	if (s->is_by_turn && s->pending)
		s->pending->ns = ns;
	else
		talk_settle(t, side, ns);
}

static void end_side(struct talk *t, unsigned side)
{
	struct talk_side *s = &t->side[side];

	tell_cut(t, side);
	t->at = side;
	t->now = s->last_ns;
	if (t->proto && t->proto->end)
		t->proto->end(t, side);
	talk_settle(t, side, s->is_by_turn && s->pending ? s->pending->ns : s->last_ns);
	buf_done(&s->held);
}

void talk_free(struct talk *t)
{
	if (!t)
		return;
	if (!t->proto && (t->side[0].held.n || t->side[1].held.n)) {
		adopt_plain(t);
		replay(t);
	}
	end_side(t, talk_client(t));
	end_side(t, !talk_client(t));
	set_proto(t, NULL);
	talk_calls_done(t);
	free(t);
}
