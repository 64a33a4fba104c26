#include "capture/weave/far_out.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "capture/probe/guest/far.h"
#include "capture/probe/guest/handover.h"
#include "capture/weave/far_in.h"
#include "lib/advice/promise.h"

#define MESSAGE_BYTES ((size_t)56 << 10) /* an agent's message may have 64 KiB */
#define CHUNK_BYTES ((size_t)24 << 10)
#define CHAIN_MAX 8192
#define TOLD_MAX 65536
#define NAMED_NS NS_S
#define UNHEARD_NS (10 * NS_S) /* who never answers is tried seldom */
#define SELDOM_NS NS_S
#define ADVANCES \
	(sizeof(((struct far_target *)0)->advances) / sizeof(*((struct far_target *)0)->advances))

/* What one round needs. */
struct round {
	struct far_out *o;
	struct handover *table;
	struct far_in *in;
	far_send *send;
	void *ctx;
	int64_t tick;
	VEC(struct handover_head) records;
	struct buf chunk;
};

void far_address_text(const struct handover_address *a, char to[FAR_ADDRESS_TEXT])
{
	unsigned char b[16];

	for (int i = 0; i < 8; i++) {
		b[i] = (unsigned char)(a->high >> (56 - 8 * i));
		b[8 + i] = (unsigned char)(a->low >> (56 - 8 * i));
	}
	if (!a->high && a->low >> 32 == 0xffff)
		inet_ntop(AF_INET, b + 12, to, FAR_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, b, to, FAR_ADDRESS_TEXT);
}

void far_out_done(struct far_out *o)
{
	vec_each (&o->targets, t)
		buf_done(&t->bytes);
	vec_done(&o->targets);
	vec_done(&o->told);
	map_done(&o->by_key);
	map_done(&o->by_address);
	*o = (struct far_out){ 0 };
}

/* --- messages -------------------------------------------------------------------------------- */

static struct far_target *target_of(struct round *r, const struct handover_address *to)
{
	uint64_t *at = map_at(&r->o->by_address, far_address_hash(to));

	if (!*at) {
		vec_push(&r->o->targets, (struct far_target){ .to = *to, .first = r->tick });
		*at = r->o->targets.nr;
	}
	return &r->o->targets.v[*at - 1];
}

/* Which addresses are ours: who waits for us knows then that we are there. */
static void message_begin(struct round *r, struct far_target *t)
{
	uint64_t nr = r->tick - t->named >= NAMED_NS || !t->named ? r->table->nr_here : 0;

	nr = nr < HANDOVER_HERE ? nr : HANDOVER_HERE;
	buf_varint(&t->bytes, FAR_VERSION);
	buf_varint(&t->bytes, nr);
	for (uint64_t i = 0; i < nr; i++) {
		buf_varint(&t->bytes, r->table->here[i].high);
		buf_varint(&t->bytes, r->table->here[i].low);
	}
	if (nr)
		t->named = r->tick;
}

/* What was not sent is told again the next time. */
static void flush(struct round *r, struct far_target *t)
{
	char to[FAR_ADDRESS_TEXT];

	if (!t->nr_advances)
		return;
	far_address_text(&t->to, to);
	if (r->send(r->ctx, str_of(to), buf_str(&t->bytes)) < 0) {
		r->o->nr_refused++;
		t->named = 0;
		t->is_refused = true;
	} else {
		r->o->nr_sent++;
		for (size_t i = 0; i < t->nr_advances; i++)
			r->o->told.v[t->advances[i].told].told = t->advances[i].to;
	}
	t->sent = r->tick;
	buf_clear(&t->bytes);
	t->nr_advances = 0;
}

static void chunk_add(struct round *r, struct far_target *t, size_t told, uint64_t to)
{
	if (t->bytes.n + r->chunk.n > MESSAGE_BYTES || t->nr_advances == ADVANCES)
		flush(r, t);
	/* what comes behind a part that was not sent is not to be sent either */
	if (t->is_refused)
		return;
	if (!t->bytes.n)
		message_begin(r, t);
	buf_add(&t->bytes, buf_str(&r->chunk));
	t->advances[t->nr_advances].told = told;
	t->advances[t->nr_advances++].to = to;
}

/* --- records --------------------------------------------------------------------------------- */

/* From the one that holds at `from` to the last that begins before `to`, in their order. False:
 * those before the first are gone. */
static bool chain_read(struct round *r, uint64_t key, uint64_t from, uint64_t to)
{
	uint64_t at = handover_last(r->table, key), lowest = UINT64_MAX;
	struct handover_head h;
	bool is_whole = false;

	vec_clear(&r->records);
	for (size_t i = 0; i < CHAIN_MAX && !is_whole; i++) {
		bool is_over;

		if (at && !handover_head(r->table, at, key, &h))
			break;
		is_over = !at || h.start >= lowest || h.start >= to;
		if (!is_over)
			vec_push(&r->records, h);
		is_whole = !at || (!is_over && h.start <= from);
		lowest = at && h.start < lowest ? h.start : lowest;
		at = at && h.before < at ? h.before : 0;
	}
	for (size_t i = 0, k = r->records.nr; i + 1 < k; i++) {
		struct handover_head swapped = r->records.v[i];

		r->records.v[i] = r->records.v[--k];
		r->records.v[k] = swapped;
	}
	return is_whole;
}

enum bag_read { BAG_READ, BAG_UNKNOWN, BAG_WAITS };

/* A record's bag, without promises. */
static enum bag_read bag_read(struct round *r, const struct handover_head *h, int64_t since,
			      struct bag *bag)
{
	uint64_t room[HANDOVER_BYTES_MAX / 8 + 1];
	long n = handover_read(r->table, h->at, h->bytes, room, sizeof(room));

	if (n < 0 || !bag_deserialize(bag, room, (size_t)n))
		return BAG_UNKNOWN;
	switch (far_in_redeem(r->in, r->table, bag, since, r->tick)) {
	case FAR_WHOLE:
	case FAR_FOREIGN:
		return BAG_READ;
	case FAR_WAITS:
		return BAG_WAITS;
	default:
		r->o->nr_late++;
		return BAG_UNKNOWN;
	}
}

/* The records from the one of that place on; behind the last that was written, or where one waits.
 * *to: where the chunk ends therefore. */
static size_t records_write(struct round *r, size_t first, struct far_told *t, struct buf *out,
			    size_t *nr, uint64_t *to)
{
	size_t i = first;

	for (; i < r->records.nr && out->n < CHUNK_BYTES; i++) {
		const struct handover_head *h = &r->records.v[i];
		enum bag_read got;
		struct bag bag;

		got = bag_read(r, h, t->waits ? t->waits : r->tick, &bag);
		if (got == BAG_WAITS) {
			t->waits = t->waits ? t->waits : r->tick;
			break;
		}
		t->waits = 0;
		buf_varint(out, h->start);
		buf_varint(out, h->origin);
		buf_varint(out, got == BAG_UNKNOWN);
		buf_bytes(out, (struct str){ (const char *)&bag,
					     got == BAG_UNKNOWN ? 0 : bag_bytes(&bag) });
		(*nr)++;
	}
	if (i < r->records.nr)
		*to = r->records.v[i].start;
	return i;
}

/* --- streams --------------------------------------------------------------------------------- */

static size_t told_of(struct far_out *o, const struct handover_far *f, uint64_t nr, uint64_t since)
{
	uint64_t *at = map_at(&o->by_key, f->key);

	if (!*at) {
		vec_push(&o->told, (struct far_told){ .key = f->key });
		*at = o->told.nr;
	}
	if (o->told.v[*at - 1].nr != nr) {
		o->told.v[*at - 1].nr = nr;
		o->told.v[*at - 1].told = since;
		o->told.v[*at - 1].waits = 0;
	}
	return *at - 1;
}

/* Whether the stream has begun anew, or lost its records, while they were read. */
static bool is_same(const struct round *r, const struct handover_far *f, const struct far_told *t,
		    uint64_t sent)
{
	uint64_t again = 0, tick;

	return __atomic_load_n(&f->nr, __ATOMIC_ACQUIRE) == t->nr &&
	       handover_sent(r->table, t->key, &again, &tick) && again >= sent;
}

static void chunks_tell(struct round *r, const struct handover_far *f, struct far_target *target,
			size_t told, uint64_t sent)
{
	struct far_told *t = &r->o->told.v[told];
	uint64_t from = t->told;
	bool is_whole = chain_read(r, t->key, from, sent);
	struct buf records = { 0 };
	size_t at = 0;

	if (!is_same(r, f, t, sent))
		return;
	if (!is_whole) {
		uint64_t first = r->records.nr ? r->records.v[0].start : sent;

		r->o->nr_gaps += first > from;
		from = first > from ? first : from;
	}
	for (bool goes_on = true; goes_on && from < sent;) {
		uint64_t to = sent;
		size_t nr = 0, next;

		buf_clear(&records);
		next = records_write(r, at, t, &records, &nr, &to);
		goes_on = next > at && next < r->records.nr && !t->waits;
		at = next;
		if (to <= from)
			break;
		buf_clear(&r->chunk);
		buf_varint(&r->chunk, t->key);
		buf_varint(&r->chunk, t->nr);
		buf_varint(&r->chunk, from);
		buf_varint(&r->chunk, to);
		buf_varint(&r->chunk, nr);
		buf_add(&r->chunk, buf_str(&records));
		chunk_add(r, target, told, to);
		from = to;
	}
	buf_done(&records);
}

static bool is_tried_now(const struct round *r, const struct far_target *t)
{
	return map_find(&r->in->heard, far_address_hash(&t->to)) ||
	       r->tick - t->first < UNHEARD_NS || r->tick - t->sent >= SELDOM_NS;
}

static void stream_tell(struct round *r, const struct handover_far *f)
{
	uint64_t nr = __atomic_load_n(&f->nr, __ATOMIC_ACQUIRE);
	uint64_t since = __atomic_load_n(&f->since, __ATOMIC_ACQUIRE), sent = 0, tick;
	const struct handover_far copy = *f;
	struct far_target *target;
	size_t told;

	if (since == FAR_UNKNOWN || !handover_sent(r->table, copy.key, &sent, &tick))
		return;
	told = told_of(r->o, &copy, nr, since);
	if (sent <= r->o->told.v[told].told)
		return;
	target = target_of(r, &copy.peer);
	if (is_tried_now(r, target))
		chunks_tell(r, f, target, told, sent);
}

void far_out_collect(struct far_out *o, struct handover *table, struct far_in *in, far_send *send,
		     void *ctx, int64_t tick)
{
	struct round r = {
		.o = o, .table = table, .in = in, .send = send, .ctx = ctx, .tick = tick
	};

	if (o->told.nr > TOLD_MAX) {
		vec_clear(&o->told);
		map_clear(&o->by_key);
	}
	for (size_t i = 0; i < HANDOVER_FARS; i++)
		if (__atomic_load_n(&table->fars[i].key, __ATOMIC_ACQUIRE) && table->fars[i].is_out)
			stream_tell(&r, &table->fars[i]);
	vec_each (&o->targets, t) {
		flush(&r, t);
		t->is_refused = false;
	}
	vec_done(&r.records);
	buf_done(&r.chunk);
}
