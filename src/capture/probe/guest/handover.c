/*
 * The ring is written by whoever comes: a fetch-and-add gives each writer a stretch of its own.
 * A reader copies first and looks afterwards whether the ring has gone round meanwhile. A writer
 * that slept while the ring went round damages what took its place; the sums tell that.
 */
#include "capture/probe/guest/handover.h"

#define CHAIN 64 /* records of a stream that are looked at for one search */
#define TRIES 4
/* What is read while it may be written: sums tell. */
#define RACY __attribute__((no_sanitize("thread")))

/* n: a multiple of 8. No loop here may become a call of a library. */
RACY static void copy(void *to, const void *from, size_t n)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	for (size_t i = 0; i < n / 8; i++) {
		t[i] = f[i];
		__asm__("" : "+r"(t) : : "memory");
	}
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t head_sum(const struct handover_head *r)
{
	uint64_t s = mix(r->at, r->key);

	s = mix(s ^ r->start, r->before);
	s = mix(s ^ r->origin, r->tick);
	return mix(s, (uint64_t)r->mark << 32 | r->bytes);
}

/* n is a multiple of 8. */
RACY static uint64_t bytes_sum(const uint64_t *p, size_t n, uint64_t at)
{
	uint64_t s = at;

	for (size_t i = 0; i < n / 8; i++)
		s = mix(s + i, p[i]);
	return s;
}

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

void handover_init(struct handover *h, uint64_t ring_bytes, uint64_t lives)
{
	h->version = HANDOVER_VERSION;
	h->nr_streams = HANDOVER_STREAMS;
	h->ring_bytes = ring_bytes;
	h->lives = lives;
	/* 0 is no record's name */
	h->head = HANDOVER_LINE;
	__atomic_store_n(&h->magic, HANDOVER_MAGIC, __ATOMIC_RELEASE);
}

bool handover_is_sound(const struct handover *h)
{
	return h && __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) == HANDOVER_MAGIC &&
	       h->version == HANDOVER_VERSION && h->nr_streams == HANDOVER_STREAMS &&
	       h->ring_bytes >= 4 * HANDOVER_BYTES_MAX && !(h->ring_bytes & (h->ring_bytes - 1));
}

static char *place(const struct handover *h, uint64_t at)
{
	return (char *)h + HANDOVER_RING_AT + (at & (h->ring_bytes - 1));
}

static uint32_t stream_first(uint64_t key)
{
	return (uint32_t)(mix(key, 1) & (HANDOVER_STREAMS - 1) & ~(uint64_t)(HANDOVER_NEAR - 1));
}

static struct handover_stream *stream_find(const struct handover *h, uint64_t key)
{
	const struct handover_stream *s = &h->streams[stream_first(key)];

	for (uint32_t i = 0; i < HANDOVER_NEAR; i++)
		if (__atomic_load_n(&s[i].key, __ATOMIC_ACQUIRE) == key)
			return (struct handover_stream *)&s[i];
	return NULL;
}

static bool is_old(const struct handover *h, uint64_t tick, uint64_t now)
{
	/* processors may be a little apart */
	return now > tick && now - tick > h->lives;
}

/* Nothing is known of what is sent before since. */
static void stream_begin(struct handover_stream *s, uint64_t since)
{
	__atomic_store_n(&s->sent, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->is_doubted, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->upto, HANDOVER_NO_END, __ATOMIC_RELAXED);
	__atomic_store_n(&s->since, since, __ATOMIC_RELAXED);
	__atomic_store_n(&s->last, 0, __ATOMIC_RELEASE);
}

/* The stream's place, or one that is free, or whose records count no more. Two that take one at the
 * same time, or one that takes a place from a stream that wakes up, lose records: they are not
 * found. */
static struct handover_stream *stream_take(struct handover *h, uint64_t key, uint64_t now)
{
	struct handover_stream *s = stream_find(h, key);

	if (s)
		return s;
	for (uint32_t i = 0; i < HANDOVER_NEAR; i++) {
		uint64_t was;

		s = &h->streams[stream_first(key) + i];
		was = __atomic_load_n(&s->key, __ATOMIC_RELAXED);
		if (was && !is_old(h, __atomic_load_n(&s->tick, __ATOMIC_RELAXED), now))
			continue;
		if (__atomic_compare_exchange_n(&s->key, &was, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&s->tick, now, __ATOMIC_RELAXED);
			stream_begin(s, 0);
			return s;
		}
		if (was == key)
			return s;
	}
	return NULL;
}

/* A stretch that does not go over the ring's end; 0: none to be had. */
static uint64_t stretch(struct handover *h, uint64_t bytes)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t at = __atomic_fetch_add(&h->head, bytes, __ATOMIC_ACQ_REL);

		if (at % HANDOVER_LINE == 0 && (at & (h->ring_bytes - 1)) + bytes <= h->ring_bytes)
			return at;
	}
	return 0;
}

RACY static void record_write(struct handover *h, const struct handover_head *r, const void *bytes)
{
	uint64_t *to = (uint64_t *)(place(h, r->at) + sizeof(*r));
	size_t n = padded(r->bytes);

	copy(to, bytes, n);
	to[n / 8] = bytes_sum(to, n, r->at);
	copy(place(h, r->at), r, sizeof(*r));
}

uint64_t handover_put(struct handover *h, const struct handover_sending *g, uint64_t now)
{
	uint64_t need = (sizeof(struct handover_head) + padded(g->nr) + 8 + HANDOVER_LINE - 1) &
			~(uint64_t)(HANDOVER_LINE - 1);
	struct handover_head r = { .key = g->key,
				   .start = g->start,
				   .origin = g->origin,
				   .tick = now,
				   .bytes = (uint32_t)g->nr,
				   .mark = g->mark };
	struct handover_stream *s;

	if (g->nr > HANDOVER_BYTES_MAX) {
		__atomic_fetch_add(&h->nr_too_long, 1, __ATOMIC_RELAXED);
		return 0;
	}
	s = stream_take(h, g->key, now);
	if (s)
		r.at = stretch(h, need);
	if (!r.at) {
		__atomic_fetch_add(&h->nr_no_room, 1, __ATOMIC_RELAXED);
		return 0;
	}
	r.before = __atomic_load_n(&s->last, __ATOMIC_ACQUIRE);
	r.sum = head_sum(&r);
	record_write(h, &r, g->bytes);
	__atomic_store_n(&s->tick, now, __ATOMIC_RELAXED);
	__atomic_store_n(&s->last, r.at, __ATOMIC_RELEASE);
	return r.at;
}

void handover_forget(struct handover *h, uint64_t key)
{
	struct handover_stream *s = stream_find(h, key);

	if (s)
		stream_begin(s, 0);
}

void handover_meet(struct handover *h, uint64_t key, uint64_t since, uint64_t now)
{
	struct handover_stream *s = stream_take(h, key, now);

	if (s)
		stream_begin(s, since);
	else
		__atomic_fetch_add(&h->nr_no_room, 1, __ATOMIC_RELAXED);
}

bool handover_say_sent(struct handover *h, uint64_t key, const struct handover_said *say,
		       uint64_t now)
{
	struct handover_stream *s = stream_take(h, key, now);

	if (!s) {
		__atomic_fetch_add(&h->nr_no_room, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&s->tick, now, __ATOMIC_RELAXED);
	__atomic_store_n(&s->until, say->until, __ATOMIC_RELAXED);
	__atomic_store_n(&s->upto, say->upto, __ATOMIC_RELAXED);
	/* it is out before the call that follows has sent anything: the kernel's locks see to it */
	__atomic_store_n(&s->sent, say->sent + 1, __ATOMIC_RELEASE);
	return __atomic_load_n(&s->is_doubted, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&s->is_doubted, 0, __ATOMIC_RELAXED);
}

bool handover_follows(const struct handover *h, uint64_t key, uint64_t start)
{
	const struct handover_stream *s = stream_find(h, key);
	uint64_t upto = s ? __atomic_load_n(&s->upto, __ATOMIC_RELAXED) : HANDOVER_NO_END;

	return upto == HANDOVER_NO_END || upto == start;
}

void handover_doubt(struct handover *h, uint64_t key)
{
	struct handover_stream *s = stream_find(h, key);

	if (s)
		__atomic_store_n(&s->is_doubted, 1, __ATOMIC_RELAXED);
}

enum handover_sent handover_sent(const struct handover *h, uint64_t key, uint64_t *sent,
				 uint64_t *until)
{
	const struct handover_stream *s = stream_find(h, key);
	uint64_t said = s ? __atomic_load_n(&s->sent, __ATOMIC_ACQUIRE) : 0;

	if (!said)
		return HANDOVER_UNSAID;
	*sent = (said - 1) & ~HANDOVER_SENDING;
	*until = __atomic_load_n(&s->until, __ATOMIC_RELAXED);
	return said & HANDOVER_SENDING ? HANDOVER_MORE : HANDOVER_SAID;
}

static bool is_there(const struct handover *h, uint64_t at)
{
	uint64_t head = __atomic_load_n(&h->head, __ATOMIC_ACQUIRE);

	return at && at % HANDOVER_LINE == 0 && at < head && head - at <= h->ring_bytes;
}

uint64_t handover_last(const struct handover *h, uint64_t key)
{
	const struct handover_stream *s = stream_find(h, key);

	return s ? __atomic_load_n(&s->last, __ATOMIC_ACQUIRE) : 0;
}

bool handover_head(const struct handover *h, uint64_t at, uint64_t key, struct handover_head *r)
{
	if (!is_there(h, at))
		return false;
	copy(r, place(h, at), sizeof(*r));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return r->at == at && r->key == key && r->sum == head_sum(r) &&
	       r->bytes <= HANDOVER_BYTES_MAX && is_there(h, at);
}

static size_t turned(struct handover_found *out, size_t nr)
{
	for (size_t i = 0, k = nr; i + 1 < k; i++) {
		struct handover_found f = out[i];

		out[i] = out[--k];
		out[k] = f;
	}
	return nr;
}

/* The records of a chain; at: the newest. */
static size_t chain_find(const struct handover *h, uint64_t key, uint64_t at, uint64_t from,
			 uint64_t to, uint64_t now, struct handover_found *out,
			 struct handover_missing *m)
{
	uint64_t lowest = ~(uint64_t)0;
	struct handover_head r;
	size_t nr = 0;
	int i;

	for (i = 0; i < CHAIN && handover_head(h, at, key, &r) && !is_old(h, r.tick, now); i++) {
		/* a newer one from there on, or from before: a call that sent nothing, or less */
		bool is_over = r.start >= lowest;

		lowest = is_over ? lowest : r.start;
		/* names fall, or it is no chain */
		at = r.before < at ? r.before : 0;
		if (is_over || r.start >= to)
			continue;
		if (nr == HANDOVER_FOUND_MAX) {
			for (size_t k = 1; k < nr; k++)
				out[k - 1] = out[k];
			nr--;
			m->nr_more++;
		}
		out[nr++] = (struct handover_found){ r.at, r.start, r.origin, r.bytes, r.mark };
		if (r.start <= from)
			return turned(out, nr);
	}
	/* the chain goes on to where nothing can be read any more */
	m->is_gone = at != 0;
	return turned(out, nr);
}

size_t handover_find(const struct handover *h, uint64_t key, uint64_t from, uint64_t to,
		     uint64_t now, struct handover_found *out, struct handover_missing *m)
{
	const struct handover_stream *s = stream_find(h, key);
	size_t nr;

	*m = (struct handover_missing){ 0 };
	if (!s)
		return 0;
	nr = chain_find(h, key, __atomic_load_n(&s->last, __ATOMIC_ACQUIRE), from, to, now, out, m);
	m->is_unknown = from < __atomic_load_n(&s->since, __ATOMIC_ACQUIRE) ||
			(nr && to > __atomic_load_n(&s->upto, __ATOMIC_ACQUIRE));
	return nr;
}

long handover_read(const struct handover *h, uint64_t at, size_t bytes, void *to, size_t room)
{
	size_t n = padded(bytes), in = at & (h->ring_bytes - 1);
	uint64_t sum;

	if (n > room || in + sizeof(struct handover_head) + n + 8 > h->ring_bytes ||
	    !is_there(h, at))
		return -1;
	copy(to, place(h, at) + sizeof(struct handover_head), n);
	copy(&sum, place(h, at) + sizeof(struct handover_head) + n, 8);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_there(h, at) && sum == bytes_sum(to, n, at) ? (long)bytes : -1;
}
