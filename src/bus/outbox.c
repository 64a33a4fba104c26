#include "bus/outbox.h"

#include <string.h>

#include "query/partial.h"

void outbox_init(struct outbox *o, uint64_t epoch, size_t max_bytes)
{
	*o = (struct outbox){ .epoch = epoch, .next_seq = 1, .max_bytes = max_bytes };
}

void outbox_done(struct outbox *o)
{
	vec_each (&o->v, one)
		buf_done(&one->bytes);
	vec_done(&o->v);
}

static void take_out(struct outbox *o, size_t i)
{
	o->bytes -= o->v.v[i].bytes.n;
	buf_done(&o->v.v[i].bytes);
	memmove(o->v.v + i, o->v.v + i + 1, (o->v.nr - i - 1) * sizeof(*o->v.v));
	o->v.nr--;
}

static void replace(struct outbox *o, struct outgoing *one, struct partial *seen)
{
	o->bytes -= one->bytes.n;
	buf_clear(&one->bytes);
	partial_pack(&one->bytes, seen);
	o->bytes += one->bytes.n;
}

/* Only what is missing is left of it, with its rows counted among that. */
static void empty(struct outbox *o, struct outgoing *one)
{
	struct losses losses;
	struct partial p;

	if (partial_unpack(&p, buf_str(&one->bytes), NULL) == 0) {
		losses = p.losses;
		vec_each (&p.times, rows)
			losses.count[LOSS_ROWS_DROPPED] += *rows;
		partial_reset(&p);
		p.losses = losses;
		replace(o, one, &p);
		o->nr_dropped++;
	}
	partial_done(&p);
}

/* The later one goes into the earlier one. */
static bool join(struct outbox *o, size_t a, size_t b)
{
	struct outgoing *x = &o->v.v[a], *y = &o->v.v[b];
	struct partial p, q;
	bool is_joined = false;

	if (partial_unpack(&p, buf_str(&x->bytes), NULL) < 0)
		return false;
	if (partial_unpack(&q, buf_str(&y->bytes), NULL) == 0 && !partial_merge(&p, &q, NULL)) {
		p.losses.count[LOSS_REPORTS_JOINED]++;
		replace(o, x, &p);
		if (x->bytes.n > PARTIAL_BYTES)
			empty(o, x);
		if (y->from_ns < x->from_ns)
			x->from_ns = y->from_ns;
		if (y->until_ns > x->until_ns)
			x->until_ns = y->until_ns;
		take_out(o, b);
		o->nr_joined++;
		is_joined = true;
	}
	partial_done(&p);
	partial_done(&q);
	return is_joined;
}

static size_t first_waiting(const struct outbox *o)
{
	size_t i = 0;

	while (i < o->v.nr && o->v.v[i].seq)
		i++;
	return i;
}

/* Each waiting report with the next one of its query: about half as many are left. */
static bool join_pairs(struct outbox *o)
{
	size_t before = o->v.nr;

	for (size_t i = first_waiting(o); i < o->v.nr; i++)
		for (size_t k = i + 1; k < o->v.nr; k++)
			if (o->v.v[k].query == o->v.v[i].query) {
				join(o, i, k);
				break;
			}
	return o->v.nr < before;
}

static void make_room(struct outbox *o)
{
	while (o->v.nr - first_waiting(o) > OUTBOX_WAITING && join_pairs(o))
		;
	while (o->bytes > o->max_bytes && join_pairs(o))
		;
	for (size_t i = first_waiting(o); i < o->v.nr && o->bytes > o->max_bytes; i++)
		empty(o, &o->v.v[i]);
}

struct adding {
	struct outbox *o;
	uint64_t query;
	int64_t from_ns, until_ns;
};

static void add_piece(void *ctx, struct str bytes)
{
	const struct adding *a = ctx;
	struct outgoing one = { .query = a->query, .from_ns = a->from_ns, .until_ns = a->until_ns };

	buf_add(&one.bytes, bytes);
	a->o->bytes += bytes.n;
	vec_push(&a->o->v, one);
}

void outbox_add(struct outbox *o, uint64_t query, int64_t from_ns, int64_t until_ns,
		struct partial *seen)
{
	struct adding a = { o, query, from_ns, until_ns };

	partial_pack_pieces(seen, PARTIAL_BYTES, add_piece, &a);
	if (o->bytes > o->max_bytes || o->v.nr > OUTBOX_WAITING + OUTBOX_FLYING)
		make_room(o);
}

void outbox_number(struct outbox *o)
{
	for (size_t i = 0; i < o->v.nr && i < OUTBOX_FLYING; i++)
		if (!o->v.v[i].seq)
			o->v.v[i].seq = o->next_seq++;
}

struct outgoing *outbox_next(struct outbox *o)
{
	for (size_t i = 0; i < o->v.nr && i < OUTBOX_FLYING; i++) {
		if (o->v.v[i].is_sent)
			continue;
		if (!o->v.v[i].seq && o->is_saved_first)
			return NULL;
		if (!o->v.v[i].seq)
			o->v.v[i].seq = o->next_seq++;
		return &o->v.v[i];
	}
	return NULL;
}

bool outbox_has(const struct outbox *o, uint64_t query)
{
	vec_each (&o->v, one)
		if (one->query == query && !one->is_sent)
			return true;
	return false;
}

void outbox_sent(struct outgoing *one, int64_t tick)
{
	one->is_sent = true;
	one->sent_tick = tick;
}

void outbox_ack(struct outbox *o, uint64_t epoch, uint64_t seq)
{
	if (epoch != o->epoch)
		return;
	while (o->v.nr && o->v.v[0].seq && o->v.v[0].seq <= seq)
		take_out(o, 0);
}

void outbox_again(struct outbox *o)
{
	vec_each (&o->v, one)
		one->is_sent = false;
}

int64_t outbox_oldest(const struct outbox *o)
{
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < o->v.nr && i < OUTBOX_FLYING; i++)
		if (o->v.v[i].is_sent && o->v.v[i].sent_tick < oldest)
			oldest = o->v.v[i].sent_tick;
	return oldest;
}
