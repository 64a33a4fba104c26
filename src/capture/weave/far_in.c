#include "capture/weave/far_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "capture/probe/guest/far.h"
#include "lib/advice/vm.h"
#include "lib/advice/waiting.h"
#include "wire/handover.h"

#define TRIM_NS NS_S
#define STREAMS_MAX 65536
#define ADDRESSES_MAX 65536
#define DEPTH_MAX 8 /* of packing that waits for other packing */
/* A connection may be accepted so much later than it was made, and its bytes sent. Before that, the
 * same name was another one's. */
#define ACCEPT_NS NS_S

uint64_t far_address_hash(const struct handover_address *a)
{
	return str_hash((struct str){ (const char *)a, sizeof(*a) });
}

static void record_done(struct far_in *f, struct far_record *r)
{
	f->bytes -= r->bytes;
	free(r->bag);
	r->bag = NULL;
}

static void stream_empty(struct far_in *f, struct far_stream *s)
{
	for (size_t i = s->nr_gone; i < s->records.nr; i++)
		record_done(f, &s->records.v[i]);
	vec_clear(&s->records);
	s->nr_gone = 0;
}

static void stream_free(struct far_in *f, struct far_stream *s)
{
	stream_empty(f, s);
	vec_done(&s->records);
	free(s);
}

void far_in_done(struct far_in *f)
{
	vec_each (&f->streams, s)
		stream_free(f, *s);
	vec_done(&f->streams);
	map_done(&f->by_key);
	map_done(&f->heard);
	map_done(&f->silent);
	*f = (struct far_in){ 0 };
}

/* --- what comes ------------------------------------------------------------------------------ */

static struct far_stream *stream_find(const struct far_in *f, uint64_t key)
{
	const uint64_t *at = map_find(&f->by_key, key);

	return at && *at ? f->streams.v[*at - 1] : NULL;
}

static struct far_stream *stream_take(struct far_in *f, uint64_t key)
{
	struct far_stream *s = stream_find(f, key);

	if (s || f->streams.nr >= STREAMS_MAX)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->key = key;
	vec_push(&f->streams, s);
	*map_at(&f->by_key, key) = f->streams.nr;
	return s;
}

/* A chunk goes on where the one before ended, or what was in between is not known. */
static void stream_go_on(struct far_in *f, struct far_stream *s, uint64_t nr, uint64_t from)
{
	if (s->nr != nr || from < s->from || from > s->to || !s->first) {
		stream_empty(f, s);
		s->from = s->to = from;
		s->first = s->nr == nr && s->first ? s->first : time_now();
		s->nr = nr;
	}
	s->last = time_now();
}

static bool record_read(struct str *at, struct far_record *r, struct str *bag)
{
	uint64_t is_unknown;

	if (!str_take_varint(at, &r->start) || !str_take_varint(at, &r->origin) ||
	    !str_take_varint(at, &is_unknown) || !str_take_bytes(at, bag))
		return false;
	r->is_unknown = is_unknown != 0;
	return is_unknown <= 1;
}

static bool bag_is_sound(struct str bag)
{
	struct bag b;

	return bag_deserialize(&b, bag.p, bag.n) && !bag_is_promised(&b);
}

/* What held at the chunk's beginning is told again with each: it is known already. */
static void record_add(struct far_in *f, struct far_stream *s, struct far_record r, struct str bag,
		       int64_t tick)
{
	if (s->records.nr > s->nr_gone && s->records.v[s->records.nr - 1].start >= r.start)
		return;
	if (f->bytes + bag.n > FAR_KEEP_BYTES || !bag_is_sound(bag)) {
		f->nr_given_up++;
		r.is_unknown = true;
		bag.n = 0;
	}
	r.came = tick;
	if (bag.n) {
		r.bag = mem_alloc(bag.n);
		memcpy(r.bag, bag.p, bag.n);
	}
	r.bytes = (uint32_t)bag.n;
	f->bytes += bag.n;
	vec_push(&s->records, r);
}

static bool chunk_read(struct far_in *f, struct str *at, int64_t tick)
{
	uint64_t key, nr, from, to, nr_records, before = 0;
	struct far_stream *s;

	if (!str_take_varint(at, &key) || !str_take_varint(at, &nr) ||
	    !str_take_varint(at, &from) || !str_take_varint(at, &to) ||
	    !str_take_varint(at, &nr_records) || !key || from > to)
		return false;
	s = stream_take(f, key);
	if (s)
		stream_go_on(f, s, nr, from);
	for (uint64_t i = 0; i < nr_records; i++) {
		struct far_record r = { 0 };
		struct str bag;

		if (!record_read(at, &r, &bag) || r.start >= to || (i && r.start <= before) ||
		    (i && r.start <= from))
			return false;
		before = r.start;
		if (s)
			record_add(f, s, r, bag, tick);
	}
	f->nr_given_up += s ? 0 : nr_records;
	if (s && to > s->to)
		s->to = to;
	return true;
}

bool far_in_take(struct far_in *f, struct str bytes, int64_t tick)
{
	uint64_t version, nr_addresses;
	struct handover_address a;

	if (!str_take_varint(&bytes, &version) || version != FAR_VERSION ||
	    !str_take_varint(&bytes, &nr_addresses))
		goto broken;
	for (uint64_t i = 0; i < nr_addresses; i++) {
		uint64_t hash;

		if (!str_take_varint(&bytes, &a.high) || !str_take_varint(&bytes, &a.low))
			goto broken;
		hash = far_address_hash(&a);
		*map_at(&f->heard, hash) = (uint64_t)tick;
		if (map_find(&f->silent, hash))
			*map_at(&f->silent, hash) = 0;
	}
	while (bytes.n)
		if (!chunk_read(f, &bytes, tick))
			goto broken;
	f->nr_news++;
	return true;
broken:
	f->nr_broken++;
	return false;
}

/* --- what is asked for ------------------------------------------------------------------------ */

/* The place behind all records that begin before that position. */
static size_t begun_before(const struct far_stream *s, uint64_t position)
{
	size_t low = s->nr_gone, high = s->records.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->records.v[middle].start < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What came with those bytes; records: from the first to behind the last. */
static enum far_answer found(const struct far_stream *s, const struct bag_promise *p, size_t *first,
			     size_t *end)
{
	const struct far_record *v = s->records.v;
	size_t i = begun_before(s, p->from + 1);

	*end = begun_before(s, p->to);
	/* the one that holds where they begin */
	if (i > s->nr_gone)
		i--;
	*first = i;
	for (size_t k = i; k < *end; k++) {
		if (v[k].is_unknown)
			return FAR_LATE;
		if (v[k].origin != v[i].origin)
			return FAR_MIXED;
	}
	return FAR_WHOLE;
}

static bool is_covered(const struct far_stream *s, const struct bag_promise *p)
{
	return s && p->from >= s->from && p->to <= s->to &&
	       (!p->began || s->first >= (int64_t)p->began - ACCEPT_NS);
}

/* Nobody has told of it so far. */
static enum far_answer absent(struct far_in *f, const struct handover *table,
			      const struct bag_promise *p, int64_t since, int64_t tick)
{
	const struct handover_far *far = far_find(table, p->key);
	uint64_t hash = far ? far_address_hash(&far->peer) : 0;
	const uint64_t *silent = far ? map_find(&f->silent, hash) : NULL;
	bool is_heard = far && map_find(&f->heard, hash);
	int64_t limit = silent && *silent  ? FAR_SILENT_NS
			: is_heard || !far ? FAR_WAIT_NS
					   : FAR_UNHEARD_NS;

	if (tick - since < limit)
		return FAR_WAITS;
	if (!far || (is_heard && !(silent && *silent)))
		return FAR_LATE;
	*map_at(&f->silent, hash) = (uint64_t)tick;
	return FAR_FOREIGN;
}

static enum far_answer ask(struct far_in *f, const struct handover *table,
			   const struct bag_promise *p, int64_t since, int64_t tick)
{
	const struct far_stream *s = stream_find(f, p->key);
	size_t first, end;

	if (is_covered(s, p))
		return found(s, p, &first, &end);
	return absent(f, table, p, since, tick);
}

static void keep(const struct far_in *f, struct bag *bag, const struct bag_promise *p,
		 uint64_t order)
{
	const struct far_stream *s = stream_find(f, p->key);
	struct bag came;
	size_t first, end;

	if (!is_covered(s, p))
		return;
	found(s, p, &first, &end);
	for (size_t i = first; i < end; i++)
		if (bag_deserialize(&came, s->records.v[i].bag, s->records.v[i].bytes))
			bag_promise_keep(bag, order, &came);
}

/* What is asked for, and how deep in what waits. */
struct redeeming {
	struct far_in *f;
	const struct handover *table;
	int64_t since, tick;
	unsigned depth;
};

static enum far_answer redeem(const struct redeeming *r, struct bag *bag);

/* What the advice packed, by a writer of its own. */
static void packed_join(struct bag *bag, const struct bag *from, uint32_t slot, uint64_t writer)
{
	const struct bag_entry *e = NULL;
	struct bag made;

	bag_begin(&made);
	while ((e = bag_next(from, slot, e)))
		if (e->writer == writer) {
			memcpy(made.entries + made.words, e, e->words * 8u);
			made.words = (uint16_t)(made.words + e->words);
			made.order = e->order > made.order ? e->order : made.order;
		}
	if (bag_has_lost(from, slot))
		bag_lose(&made, slot);
	bag_join(bag, &made);
}

/* Runs it over what it would have read. What cannot be is marked as lost. */
static void pack(const struct redeeming *r, struct bag *bag, struct bag_waiting *w)
{
	const struct advice_program *p =
		w->query && r->f->advice ? r->f->advice(r->f->ctx, w->query, w->which) : NULL;
	struct redeeming inner = *r;
	struct advice_out out = { 0 };
	struct bag_writer writer;
	enum far_answer got = FAR_LATE;

	inner.depth++;
	if (p && p->inputs == w->inputs && !(p->flags & ADVICE_EMITS) && r->depth < DEPTH_MAX)
		got = redeem(&inner, &w->seen);
	if (got != FAR_WHOLE && got != FAR_FOREIGN) {
		bag_lose(bag, w->slot);
		return;
	}
	bag_writer_begin(&writer, (w->writer ^ w->order * 0x9e3779b97f4a7c15u) << 20);
	advice_run(p, w->values, &w->seen, &writer, w->time > w->order ? w->time : w->order, &out);
	packed_join(bag, &w->seen, p->slot, writer.id);
}

static enum far_answer redeem(const struct redeeming *r, struct bag *bag)
{
	enum far_answer all = FAR_WHOLE;
	const struct bag_entry *e = NULL;
	struct bag_waiting waiting;
	struct bag_promise p;
	uint64_t order;

	while ((e = bag_promise_next(bag, e, &p))) {
		enum far_answer one = ask(r->f, r->table, &p, r->since, r->tick);

		if (one == FAR_WAITS)
			return one;
		all = one > all ? one : all;
	}
	if (all == FAR_LATE || all == FAR_MIXED)
		return all;
	while (bag_promise_take(bag, &p, &order))
		keep(r->f, bag, &p, order);
	while (bag_waiting_take(bag, &waiting))
		pack(r, bag, &waiting);
	return all;
}

enum far_answer far_in_redeem(struct far_in *f, const struct handover *table, struct bag *bag,
			      int64_t since, int64_t tick)
{
	return redeem(&(struct redeeming){ f, table, since, tick, 0 }, bag);
}

/* --- what is given up --------------------------------------------------------------------------
 */

/* Of records that are old, the last one holds on. */
static void stream_trim(struct far_in *f, struct far_stream *s, int64_t tick)
{
	while (s->nr_gone + 1 < s->records.nr &&
	       tick - s->records.v[s->nr_gone + 1].came > FAR_KEEP_NS) {
		record_done(f, &s->records.v[s->nr_gone++]);
		s->from = s->records.v[s->nr_gone].start;
	}
	if (s->nr_gone > s->records.nr / 2) {
		s->records.nr -= s->nr_gone;
		memmove(s->records.v, s->records.v + s->nr_gone,
			s->records.nr * sizeof(*s->records.v));
		s->nr_gone = 0;
	}
}

static void stream_remove(struct far_in *f, size_t i)
{
	struct far_stream *s = f->streams.v[i], *last = f->streams.v[--f->streams.nr];

	*map_at(&f->by_key, s->key) = 0;
	if (last != s) {
		f->streams.v[i] = last;
		*map_at(&f->by_key, last->key) = i + 1;
	}
	stream_free(f, s);
}

/* Keys that mean nothing any more are forgotten from time to time. */
static void keys_renew(struct far_in *f)
{
	if (f->by_key.nr < 4 * f->streams.nr + 4096)
		return;
	map_clear(&f->by_key);
	for (size_t i = 0; i < f->streams.nr; i++)
		*map_at(&f->by_key, f->streams.v[i]->key) = i + 1;
}

void far_in_trim(struct far_in *f, int64_t tick)
{
	int64_t now = time_now();

	if (tick - f->trimmed < TRIM_NS)
		return;
	f->trimmed = tick;
	for (size_t i = f->streams.nr; i-- > 0;) {
		stream_trim(f, f->streams.v[i], tick);
		if (now - f->streams.v[i]->last > 2 * FAR_KEEP_NS)
			stream_remove(f, i);
	}
	keys_renew(f);
	/* who is heard again is known again */
	if (f->heard.nr > ADDRESSES_MAX)
		map_clear(&f->heard);
	if (f->silent.nr > ADDRESSES_MAX)
		map_clear(&f->silent);
}
