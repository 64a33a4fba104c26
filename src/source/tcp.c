/*
 * Bytes are handed out as soon as they are in order; what comes early is held, copied, in a list
 * sorted by number. Of bytes that come twice the first stay, which makes retransmissions and a
 * second view of the same link (a capture of both ends, or of all interfaces) vanish.
 *
 * A gap is given up when the receiver has acknowledged what lies beyond it (so it was sent, and the
 * capture alone lacks it) and a little has passed, in which a packet that was only captured out of
 * order would have come; or at once when it does so along with bytes of its own, because what is
 * held must be told before its answer; or when more is held than a receiver may hold.
 */
#include "source/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/loss.h"

#define HELD_BYTES_MAX (512 << 10)
#define HELD_MAX 512
#define PATIENCE 3               /* pieces that may come before an acknowledged gap is given up */
#define PATIENCE_NS (50 * NS_MS) /* and how long */
#define SILENT_HELD_MAX 64       /* the same where no acknowledgement was ever seen */
#define FOREIGN_BYTES (1 << 26)  /* no window is so wide */

struct tcp_piece {
	struct tcp_piece *next;
	struct tcp_segment seg;
	char bytes[];
};

/* How far a lies behind b; negative: in front. Numbers wrap. */
static int32_t ahead(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

static uint32_t end_of(const struct tcp_segment *s)
{
	return s->seq + (uint32_t)s->bytes.n + s->missing;
}

void tcp_start(struct tcp_side *s, uint32_t seq)
{
	s->is_started = true;
	s->first = s->next = seq;
}

bool tcp_is_foreign(const struct tcp_side *s, uint32_t seq)
{
	int32_t d = ahead(seq, s->next);

	return s->is_started && (d > FOREIGN_BYTES || d < -FOREIGN_BYTES);
}

bool tcp_is_new(const struct tcp_side *s, uint32_t first)
{
	return !s->is_started || first != s->first;
}

/* In order, or overlapping what was handed out: only what is new goes on. */
static void hand_out(struct tcp_side *s, const struct tcp_segment *seg, const struct tcp_reader *r)
{
	uint32_t old = s->next - seg->seq;
	struct str fresh = str_skip(seg->bytes, old);
	uint32_t end = end_of(seg), gap;

	if (fresh.n)
		r->bytes(r->to, s->next, fresh, seg->ns);
	s->next += (uint32_t)fresh.n;
	gap = end - s->next;
	if (gap)
		r->gap(r->to, s->next, gap, seg->ns, true);
	s->next = end;
}

static void drop_first(struct tcp_side *s)
{
	struct tcp_piece *p = s->held;

	s->held = p->next;
	s->nr_held--;
	s->held_bytes -= (uint32_t)p->seg.bytes.n;
	free(p);
}

static void hand_out_held(struct tcp_side *s, const struct tcp_reader *r)
{
	while (s->held && ahead(s->held->seg.seq, s->next) <= 0) {
		if (ahead(end_of(&s->held->seg), s->next) > 0)
			hand_out(s, &s->held->seg, r);
		drop_first(s);
	}
}

static void give_up_gap(struct tcp_side *s, const struct tcp_reader *r, struct losses *losses)
{
	uint32_t nr = s->held->seg.seq - s->next;

	losses->count[LOSS_STREAM_GAPS]++;
	r->gap(r->to, s->next, nr, s->held->seg.ns, false);
	s->next += nr;
	hand_out_held(s, r);
}

static bool is_hopeless(const struct tcp_side *s, int64_t ns, bool is_answered)
{
	const struct tcp_piece *first = s->held;

	if (s->held_bytes > HELD_BYTES_MAX || s->nr_held > HELD_MAX)
		return true;
	if (!s->is_acked)
		return s->nr_held > SILENT_HELD_MAX || ns - first->seg.ns > NS_S;
	return ahead(s->acked, first->seg.seq) >= 0 &&
	       (is_answered || s->nr_held > PATIENCE || ns - first->seg.ns > PATIENCE_NS);
}

static void give_up_hopeless(struct tcp_side *s, int64_t ns, bool is_answered,
			     const struct tcp_reader *r, struct losses *losses)
{
	while (s->held && is_hopeless(s, ns, is_answered))
		give_up_gap(s, r, losses);
}

static void hold(struct tcp_side *s, const struct tcp_segment *seg, struct losses *losses)
{
	struct tcp_piece **at = &s->held, *p;

	while (*at && ahead((*at)->seg.seq, seg->seq) < 0)
		at = &(*at)->next;
	if (*at && (*at)->seg.seq == seg->seq && ahead(end_of(seg), end_of(&(*at)->seg)) <= 0) {
		losses->count[LOSS_PACKETS_TWICE]++;
		return;
	}
	p = mem_alloc(sizeof(*p) + seg->bytes.n);
	memcpy(p->bytes, seg->bytes.p, seg->bytes.n);
	p->seg = *seg;
	p->seg.bytes.p = p->bytes;
	p->next = *at;
	*at = p;
	s->nr_held++;
	s->held_bytes += (uint32_t)seg->bytes.n;
}

void tcp_add(struct tcp_side *s, const struct tcp_segment *seg, const struct tcp_reader *r,
	     struct losses *losses)
{
	if (!seg->bytes.n && !seg->missing)
		return;
	if (!s->is_started)
		tcp_start(s, seg->seq);
	if (ahead(end_of(seg), s->next) <= 0) {
		losses->count[LOSS_PACKETS_TWICE]++;
		return;
	}
	if (ahead(seg->seq, s->next) <= 0) {
		hand_out(s, seg, r);
		hand_out_held(s, r);
		return;
	}
	hold(s, seg, losses);
	give_up_hopeless(s, seg->ns, false, r, losses);
}

void tcp_ack(struct tcp_side *s, const struct tcp_receipt *ack, const struct tcp_reader *r,
	     struct losses *losses)
{
	if (!s->is_started)
		tcp_start(s, ack->below);
	if (!s->is_acked || ahead(ack->below, s->acked) > 0)
		s->acked = ack->below;
	s->is_acked = true;
	give_up_hopeless(s, ack->ns, ack->is_answer, r, losses);
}

void tcp_flush(struct tcp_side *s, const struct tcp_reader *r, struct losses *losses)
{
	while (s->held)
		give_up_gap(s, r, losses);
}

void tcp_done(struct tcp_side *s)
{
	while (s->held)
		drop_first(s);
}
