/*
 *	CHAIN 0 0            \t c \t windows, logs, how far each clock is off
 *	CHAIN LOG+1 0        \t l \t lines of the log      a block of the harvest each
 *	CHAIN LOG+1 1        \t l \t …
 *	CHAIN ffffffffffffffff 0 \t z \t how many there are
 *
 * A block goes to each chain that looks at lines of its time: to two where it stands at a seam.
 */
#include "infer/requests/shuffle.h"

#include "base/arena.h"
#include "base/buf.h"
#include "infer/requests/chain.h"
#include "infer/requests/record.h"

struct writing {
	const struct shuffle *sh;
	struct buf body, line;
	uint32_t nr; /* records of the chain so far */
	int (*put)(void *to, struct str record, struct error *err);
	void *to;
};

static int put(struct writing *w, const struct record_key *key, enum record_kind kind,
	       struct error *err)
{
	buf_clear(&w->line);
	record_begin(&w->line, key, kind);
	record_add_sealed(&w->line, buf_str(&w->body));
	w->nr++;
	return w->put(w->to, buf_str(&w->line), err);
}

static int put_chain(struct writing *w, uint32_t nr, struct error *err)
{
	const struct harvest *h = w->sh->h;
	const struct record_key key = { nr, 0, 0 };
	struct buf *b = &w->body;
	int64_t before = 0;

	buf_clear(b);
	buf_varint(b, nr);
	buf_varint(b, w->sh->nr_chains);
	buf_varint(b, h->doubts_requests);
	buf_varint(b, h->bounds.nr);
	vec_each (&h->bounds, at) {
		buf_svarint(b, (int64_t)((uint64_t)*at - (uint64_t)before));
		before = *at;
	}
	buf_varint(b, h->of_log.nr);
	for (sym_t i = 0; i < h->of_log.nr; i++) {
		buf_bytes(b, i && i < h->logs.nr ? names_str(&h->logs, i) : STR(""));
		buf_svarint(b, h->of_log.v[i].shift);
	}
	buf_varint(b, h->order.nr);
	vec_each (&h->order, log)
		buf_varint(b, *log);
	return put(w, &key, RECORD_CHAIN, err);
}

/* What harvest_upto will ask for, from the block that a cursor begins with. */
static int put_log(struct writing *w, uint32_t chain, sym_t log, size_t from, int64_t until,
		   struct error *err)
{
	struct harvest *h = w->sh->h;
	const struct harvest_log *about = &h->of_log.v[log];
	struct record_key key = { chain, log + UINT64_C(1), 0 };
	struct buf packed = { 0 };
	int got = 0;

	for (size_t i = from; i < about->blocks.nr && got >= 0; i++, key.nr++) {
		const struct harvest_block *block = &h->blocks.v[about->blocks.v[i]];

		if (harvest_shifted(block->reached, about->shift) >= until)
			break;
		buf_clear(&packed);
		got = harvest_bytes(h, about->blocks.v[i], &packed, err);
		if (got < 0)
			break;
		buf_clear(&w->body);
		buf_svarint(&w->body, block->reached);
		buf_add(&w->body, buf_str(&packed));
		got = put(w, &key, RECORD_LINES, err);
	}
	buf_done(&packed);
	return got;
}

static int put_end(struct writing *w, uint32_t chain, struct error *err)
{
	const struct record_key key = { chain, UINT64_MAX, 0 };

	buf_clear(&w->body);
	buf_fmt(&w->body, "%u", w->nr);
	return put(w, &key, RECORD_END, err);
}

static int write_chain(struct writing *w, size_t nr, struct error *err)
{
	struct harvest *h = w->sh->h;
	size_t first = chain_first(h, nr, w->sh->nr_chains);
	size_t end = chain_first(h, nr + 1, w->sh->nr_chains);
	struct harvest_cursor c;
	int got;

	w->nr = 0;
	got = put_chain(w, (uint32_t)nr, err);
	harvest_cursor(h, &c, chain_from(h, first));
	for (sym_t log = 0; log < h->of_log.nr && got >= 0; log++)
		got = put_log(w, (uint32_t)nr, log, c.nr_read.v[log], chain_until(h, end), err);
	harvest_cursor_done(&c);
	return got < 0 ? got : put_end(w, (uint32_t)nr, err);
}

int shuffle_write(const struct shuffle *sh,
		  int (*line)(void *to, struct str record, struct error *err), void *to,
		  struct error *err)
{
	struct writing w = { .sh = sh, .put = line, .to = to };
	int got = 0;

	for (size_t i = 0; i < sh->nr_chains && got >= 0; i++)
		got = write_chain(&w, i, err);
	buf_done(&w.body);
	buf_done(&w.line);
	return got;
}

/* --- back ----------------------------------------------------------------------------------- */

static bool take_bounds(struct str *s, struct harvest *h)
{
	uint64_t nr;
	int64_t step, at = 0;

	if (!str_take_varint(s, &nr) || !nr || nr > s->n)
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		if (!str_take_svarint(s, &step))
			return false;
		at = (int64_t)((uint64_t)at + (uint64_t)step);
		if (i && at <= h->bounds.v[i - 1])
			return false;
		vec_push(&h->bounds, at);
	}
	return at == INT64_MAX;
}

static bool take_logs(struct str *s, struct harvest *h)
{
	struct str name;
	uint64_t nr;

	if (!str_take_varint(s, &nr) || nr > s->n)
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		struct harvest_log log = { .reached = INT64_MIN, .put = INT64_MIN };

		if (!str_take_bytes(s, &name) || names_add(&h->logs, name) != i ||
		    !str_take_svarint(s, &log.shift))
			return false;
		vec_push(&h->of_log, log);
	}
	return true;
}

/* Each at most once. */
static bool take_order(struct str *s, struct harvest *h)
{
	uint64_t nr, log;

	if (!str_take_varint(s, &nr) || nr > h->of_log.nr)
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		if (!str_take_varint(s, &log) || log >= h->of_log.nr || h->of_log.v[log].rank)
			return false;
		vec_push(&h->order, (sym_t)log);
		h->of_log.v[log].rank = h->order.nr;
	}
	return true;
}

bool shuffle_take_chain(struct str body, struct shuffle_chain *c, struct harvest *h)
{
	uint64_t nr, nr_chains, doubts;

	if (!str_take_varint(&body, &nr) || !str_take_varint(&body, &nr_chains) ||
	    !str_take_varint(&body, &doubts) || !take_bounds(&body, h) || !take_logs(&body, h) ||
	    !take_order(&body, h) || body.n || nr_chains > h->bounds.nr || nr >= nr_chains)
		return false;
	h->doubts_requests = doubts;
	*c = (struct shuffle_chain){ nr, nr_chains };
	return true;
}

bool shuffle_take_lines(struct str body, int64_t *reached, struct str *packed)
{
	*packed = body;
	return str_take_svarint(packed, reached);
}
