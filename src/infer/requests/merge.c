#include "infer/requests/merge.h"

#include <errno.h>

#include "base/arena.h"
#include "base/error.h"
#include "infer/requests/record.h"
#include "infer/requests/reduce.h"
#include "model/loss.h"
#include "store/place.h"
#include "store/store.h"

enum { PACKET_BYTES = 1 << 18 };

static const struct place nowhere;

void merge_init(struct merge *m, struct store *s, size_t nr_chains)
{
	*m = (struct merge){ .s = s };
	pthread_mutex_init(&m->lock, NULL);
	scratch_init(&m->scratch, &nowhere);
	while (m->of_chain.nr < nr_chains)
		vec_push(&m->of_chain, (struct merge_chain){ 0 });
}

void merge_done(struct merge *m)
{
	vec_each (&m->of_chain, c) {
		vec_done(&c->waiting);
		vec_done(&c->seams);
	}
	vec_done(&m->of_chain);
	scratch_done(&m->scratch);
	pthread_mutex_destroy(&m->lock);
}

static int damaged(struct error *err, const char *what)
{
	return error_set(err, ESTALE, "what the reducers wrote is not whole: %s", what);
}

static int store_packet(struct merge *m, struct str packet, bool skips_placed, struct error *err)
{
	struct names said = { 0 };
	struct arena arena = { 0 };
	struct fragment f;
	int got = 0;

	while (packet.n && got >= 0) {
		got = packet_take(&packet, &said, &arena, &f)
			      ? fragment_store(&f, m->s, skips_placed, err)
			      : damaged(err, "a request is damaged");
		arena_reset(&arena);
	}
	arena_done(&arena);
	names_done(&said);
	return got;
}

static int put(struct merge *m, struct chunks *to, struct str packet, struct error *err)
{
	struct chunk c;
	int got = scratch_put(&m->scratch, packet, &c, err);

	if (got >= 0)
		vec_push(to, c);
	return got;
}

static int store_chunks(struct merge *m, const struct chunks *v, bool skips_placed,
			struct error *err)
{
	struct buf packet = { 0 };
	int got = 0;

	for (size_t i = 0; i < v->nr && got >= 0; i++) {
		buf_clear(&packet);
		got = scratch_get(&m->scratch, &v->v[i], &packet, err);
		if (got >= 0)
			got = store_packet(m, buf_str(&packet), skips_placed, err);
	}
	buf_done(&packet);
	return got;
}

/* --- in the order of chains ----------------------------------------------------------------- */

static int add_packet(struct merge *m, size_t chain, struct str packet, struct error *err)
{
	return chain == m->at ? store_packet(m, packet, false, err)
			      : put(m, &m->of_chain.v[chain].waiting, packet, err);
}

/* What waited for it is stored. */
static int end_chain(struct merge *m, size_t chain, struct error *err)
{
	int got = 0;

	m->of_chain.v[chain].is_over = true;
	while (got >= 0 && m->at < m->of_chain.nr && m->of_chain.v[m->at].is_over)
		if (++m->at < m->of_chain.nr)
			got = store_chunks(m, &m->of_chain.v[m->at].waiting, false, err);
	return got;
}

static int flush(struct merge_out *out, struct error *err)
{
	int got;

	if (!out->packet.bytes.n)
		return 0;
	got = add_packet(out->m, out->chain, buf_str(&out->packet.bytes), err);
	packet_clear(&out->packet);
	return got;
}

static int take(void *to, struct fragment *f, struct error *err)
{
	struct merge_out *out = to;
	struct merge *m = out->m;
	int got = 0;

	pthread_mutex_lock(&m->lock);
	if (out->chain != m->at) {
		packet_add(&out->packet, f);
		if (out->packet.bytes.n >= PACKET_BYTES)
			got = flush(out, err);
	} else {
		got = flush(out, err);
		if (got >= 0)
			got = fragment_store(f, m->s, false, err);
	}
	pthread_mutex_unlock(&m->lock);
	return got;
}

int merge_over(struct merge_out *out, struct error *err)
{
	struct merge *m = out->m;
	int got;

	pthread_mutex_lock(&m->lock);
	got = flush(out, err);
	if (got >= 0)
		got = end_chain(m, out->chain, err);
	pthread_mutex_unlock(&m->lock);
	return got;
}

void merge_count(struct merge *m, const struct losses *losses)
{
	pthread_mutex_lock(&m->lock);
	losses_add(store_losses(m->s), losses);
	pthread_mutex_unlock(&m->lock);
}

static void count(void *to, const struct losses *losses)
{
	merge_count(((struct merge_out *)to)->m, losses);
}

struct outlet merge_outlet(struct merge_out *out, const struct matcher *matcher)
{
	return (struct outlet){ out, take, count, matcher };
}

int merge_seam(struct merge *m, size_t chain, struct str packet, struct error *err)
{
	int got;

	pthread_mutex_lock(&m->lock);
	got = put(m, &m->of_chain.v[chain].seams, packet, err);
	pthread_mutex_unlock(&m->lock);
	return got;
}

/* All chains ask for the same methods, by and large. */
void merge_orders(struct merge *m, uint64_t nr)
{
	pthread_mutex_lock(&m->lock);
	m->nr_orders = nr > m->nr_orders ? nr : m->nr_orders;
	pthread_mutex_unlock(&m->lock);
}

static int take_last(struct merge *m, struct merge_chain *c, struct str body, struct error *err)
{
	struct losses losses = { 0 };
	struct reduce_last last;

	if (!reduce_take_last(body, &last, &losses))
		return damaged(err, "the end of a chain is damaged");
	if (last.nr_requests != c->nr_requests || last.nr_seams != c->nr_seams || c->is_over)
		return damaged(err, "some of a chain is missing, or there twice");
	merge_count(m, &losses);
	merge_orders(m, last.nr_orders);
	return end_chain(m, (size_t)(c - m->of_chain.v), err);
}

int merge_record(struct merge *m, struct str record, struct error *err)
{
	struct arena arena = { 0 };
	struct merge_chain *c;
	struct record_key key;
	enum record_kind kind;
	struct str body;
	int got;

	if (!record_take(record, &key, &kind, &body) || key.file >= m->of_chain.nr)
		return damaged(err, "a line is none of theirs");
	c = &m->of_chain.v[key.file];
	if (kind == RECORD_END)
		return take_last(m, c, body, err);
	if (kind != RECORD_REQUESTS && kind != RECORD_SEAM)
		return damaged(err, "a line is none of theirs");
	if (c->is_over || key.nr != (kind == RECORD_SEAM ? c->nr_seams++ : c->nr_requests++))
		return damaged(err, "some of a chain is missing, or there twice");
	if (!record_sealed(body, &arena, &body))
		got = damaged(err, "a packet is damaged");
	else
		got = kind == RECORD_SEAM ? merge_seam(m, key.file, body, err)
					  : add_packet(m, key.file, body, err);
	arena_done(&arena);
	return got;
}

int merge_check(const struct merge *m, struct error *err)
{
	vec_each (&m->of_chain, c)
		if (!c->is_over)
			return damaged(err, "a chain is missing");
	return 0;
}

int merge_end(struct merge *m, struct error *err)
{
	int got = 0;

	for (size_t i = 0; i < m->of_chain.nr && got >= 0; i++)
		got = store_chunks(m, &m->of_chain.v[i].seams, true, err);
	store_losses(m->s)->count[LOSS_ORDERS_LEFT] += m->nr_orders;
	return got;
}
