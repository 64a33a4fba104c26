/*
 *	CHAIN 0 NR \t r \t requests of its windows, a packet
 *	CHAIN 1 NR \t s \t those of its end
 *	CHAIN 2 0  \t z \t how many records of both, and what was left out
 */
#include "infer/requests/reduce.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "infer/requests/chain.h"
#include "infer/requests/course.h"
#include "infer/requests/emit.h"
#include "infer/requests/fragment.h"
#include "infer/requests/gather_pack.h"
#include "infer/requests/record.h"
#include "infer/requests/shuffle.h"
#include "model/loss.h"

enum { PACKET_BYTES = 1 << 18 };

struct reducer {
	const struct matcher *matcher;
	struct reducer_out out;
	bool is_open; /* a chain is at hand: */
	struct shuffle_chain about;
	struct harvest h;
	uint32_t chain, nr; /* and so many records of it came */
	uint64_t log;
	uint32_t next;         /* of the log at hand: the block that comes next */
	struct packet packet;  /* of requests, not written yet */
	struct record_key key; /* that it will have */
	enum record_kind kind;
	uint32_t nr_written[2]; /* requests, seams */
	struct losses losses;
	struct buf line;
};

struct reducer *reducer_new(const struct matcher *m, const struct reducer_out *out)
{
	struct reducer *r = mem_zalloc(sizeof(*r));

	r->matcher = m;
	r->out = *out;
	return r;
}

void reducer_free(struct reducer *r)
{
	harvest_done(&r->h);
	packet_done(&r->packet);
	buf_done(&r->line);
	free(r);
}

static int broken(struct error *err, const char *what)
{
	return error_set(err, EBADMSG, "the records of a chain are not whole: %s", what);
}

/* --- requests out --------------------------------------------------------------------------- */

static int write_packet(struct reducer *r, struct error *err)
{
	int got = 0;

	if (r->packet.bytes.n) {
		r->key.nr = r->nr_written[r->key.part]++;
		buf_clear(&r->line);
		record_begin(&r->line, &r->key, r->kind);
		record_add_sealed(&r->line, buf_str(&r->packet.bytes));
		got = r->out.line(r->out.to, buf_str(&r->line), err);
	}
	packet_clear(&r->packet);
	return got;
}

static int take(void *to, struct fragment *f, struct error *err)
{
	struct reducer *r = to;

	packet_add(&r->packet, f);
	return r->packet.bytes.n < PACKET_BYTES ? 0 : write_packet(r, err);
}

static void count(void *to, const struct losses *losses)
{
	losses_add(&((struct reducer *)to)->losses, losses);
}

static int write_last(struct reducer *r, uint64_t nr_orders, struct error *err)
{
	const struct record_key key = { r->chain, 2, 0 };

	buf_clear(&r->line);
	record_begin(&r->line, &key, RECORD_END);
	buf_fmt(&r->line, "%u\t%u\t%llu", r->nr_written[0], r->nr_written[1],
		(unsigned long long)nr_orders);
	record_losses(&r->line, &r->losses);
	return r->out.line(r->out.to, buf_str(&r->line), err);
}

bool reduce_take_last(struct str body, struct reduce_last *last, struct losses *losses)
{
	return str_take_uint(&body, &last->nr_requests) && str_take_char(&body, '\t') &&
	       str_take_uint(&body, &last->nr_seams) && str_take_char(&body, '\t') &&
	       str_take_uint(&body, &last->nr_orders) && record_take_losses(body, losses);
}

static int reduce(struct reducer *r, struct error *err)
{
	const struct outlet out = { r, take, count, r->matcher };
	size_t first = chain_first(&r->h, r->about.nr, r->about.nr_chains);
	size_t end = chain_first(&r->h, r->about.nr + 1, r->about.nr_chains);
	struct chain c;
	int got = 0;

	chain_begin(&c, &r->h, first, end, r->matcher);
	r->key = (struct record_key){ r->chain, 0, 0 };
	r->kind = RECORD_REQUESTS;
	while (c.at < c.end && got >= 0)
		got = chain_window(&c, &out, err);
	if (got >= 0)
		got = write_packet(r, err);
	r->key.part = 1;
	r->kind = RECORD_SEAM;
	if (got >= 0)
		got = chain_seam(&c, &out, err);
	if (got >= 0)
		got = write_packet(r, err);
	if (got >= 0)
		got = write_last(r, course_nr_left(c.course), err);
	chain_done(&c);
	return got;
}

/* --- lines in ------------------------------------------------------------------------------- */

static int open_chain(struct reducer *r, const struct record_key *key, struct str body,
		      struct error *err)
{
	if (r->is_open)
		return broken(err, "the end of one is missing");
	harvest_done(&r->h);
	if (key->part || key->nr || !shuffle_take_chain(body, &r->about, &r->h) ||
	    r->about.nr != key->file)
		return broken(err, "the first one is damaged");
	harvest_open(&r->h);
	r->is_open = true;
	r->chain = key->file;
	r->nr = 0;
	r->log = 0;
	r->nr_written[0] = r->nr_written[1] = 0;
	r->losses = (struct losses){ 0 };
	return 0;
}

static bool is_of_log(const struct reducer *r, struct str packed, sym_t log)
{
	struct gather g = { 0 };
	bool is = gather_unpack(&g, packed);

	vec_each (&g.lines, l)
		is = is && str_eq(names_str(&g.logs, l->file), names_str(&r->h.logs, log));
	gather_done(&g);
	return is;
}

static int add_lines(struct reducer *r, const struct record_key *key, struct str body,
		     struct error *err)
{
	struct str packed;
	int64_t reached;

	if (key->part != r->log)
		r->next = 0;
	if (key->part < r->log || !key->part || key->part > r->h.of_log.nr || key->nr != r->next)
		return broken(err, "some are missing, or not in order (LC_ALL=C sort)");
	r->log = key->part;
	r->next++;
	if (!shuffle_take_lines(body, &reached, &packed) ||
	    !is_of_log(r, packed, (sym_t)(key->part - 1)))
		return broken(err, "lines are damaged");
	return harvest_put(&r->h, (sym_t)(key->part - 1), reached, packed, err);
}

static int end_chain(struct reducer *r, struct str body, struct error *err)
{
	uint64_t nr;
	int got;

	if (!str_take_uint(&body, &nr) || body.n || nr != r->nr)
		return broken(err, "some are missing, or there twice");
	r->is_open = false;
	got = reduce(r, err);
	harvest_done(&r->h);
	return got;
}

static int add(struct reducer *r, const struct record_key *key, enum record_kind kind,
	       struct str body, struct error *err)
{
	int got;

	if (kind == RECORD_CHAIN)
		got = open_chain(r, key, body, err);
	else if (!r->is_open || key->file != r->chain)
		got = broken(err, "the first one is missing");
	else if (kind == RECORD_END)
		got = end_chain(r, body, err);
	else
		got = kind == RECORD_LINES ? add_lines(r, key, body, err)
					   : broken(err, "a line is none of theirs");
	r->nr++;
	return got;
}

int reducer_add(struct reducer *r, struct str record, struct error *err)
{
	struct arena arena = { 0 };
	struct record_key key;
	enum record_kind kind;
	struct str body;
	int got;

	if (!record_take(record, &key, &kind, &body))
		return broken(err, "a line is none of theirs");
	got = record_sealed(body, &arena, &body) ? add(r, &key, kind, body, err)
						 : broken(err, "one is damaged");
	arena_done(&arena);
	return got;
}

int reducer_end(struct reducer *r, struct error *err)
{
	return r->is_open ? broken(err, "the end of one is missing") : 0;
}
