/*
 * A record is its length, the request itself, then its events, edges and spans. The request stands
 * here as well as in its own table, so that walking all bodies needs no second lookup per request;
 * only the id, which is not known before the end, stands in DB_IDS.
 *
 * Requests of one sort look alike, and those of a while ago do: large blocks of them take much less
 * room than small ones. But who looks at a thousand requests here and there does not want to read
 * them all. So the first block, the front, is large, and stands alone. Each row behind it holds
 * small pieces that are compressed by what the front holds:
 *
 *   row: a zero byte, then for each piece: how many records, its bytes, those compressed, these
 *
 * A record is never empty, so that the zero byte tells such a row from the blocks of former days,
 * which are records alone, as the front is.
 */
#include "store/bodies.h"

#include "store/db.h"
#include "store/lead.h"
#include "store/run.h"

/* Half of it would make a run of HDFS take a fifth more room. */
#define FRONT_BYTES ((size_t)2 << 20)
/* Beyond 16 KiB zstd takes twice as long to compress a piece. */
#define PIECE_BYTES ((size_t)15 << 10)
/* Compressed: a row ends in between, where it fits well. */
#define ROW_LEAST ((size_t)8 << 10)
#define ROW_MOST ((size_t)64 << 10)
#define PIECE_MOST ((uint64_t)1 << 31)
#define IDS_OF_ROW 4096

/* --- writing --------------------------------------------------------------------------------- */

void bodies_made_done(struct bodies_made *m)
{
	buf_done(&m->records);
	buf_done(&m->pieces);
	lead_free(m->lead);
	*m = (struct bodies_made){ 0 };
}

static int put_front(struct store *s, struct bodies_made *m, struct error *err)
{
	int r = db_put(s->db, DB_BODIES, 0, buf_str(&m->records), err);

	m->lead = lead_new(buf_str(&m->records), true);
	m->first = m->next = m->nr_records;
	m->nr_records = 0;
	buf_clear(&m->records);
	return r;
}

static void close_piece(struct bodies_made *m)
{
	struct buf packed = { 0 };

	lead_close(m->lead, buf_str(&m->records), &packed);
	if (!m->pieces.n)
		buf_char(&m->pieces, 0);
	buf_varint(&m->pieces, m->nr_records);
	buf_varint(&m->pieces, m->records.n);
	buf_bytes(&m->pieces, buf_str(&packed));
	m->next += m->nr_records;
	m->nr_records = 0;
	buf_clear(&m->records);
	buf_done(&packed);
}

static int put_row(struct store *s, struct bodies_made *m, struct error *err)
{
	int r = db_put_dense(s->db, DB_BODIES, m->first, buf_str(&m->pieces), err);

	m->first = m->next;
	buf_clear(&m->pieces);
	return r;
}

int bodies_add(struct store *s, struct str record, struct error *err)
{
	struct bodies_made *m = &s->bodies;

	buf_bytes(&m->records, record);
	m->nr_records++;
	if (!m->lead)
		return m->records.n < FRONT_BYTES ? 0 : put_front(s, m, err);
	if (m->records.n < PIECE_BYTES)
		return 0;
	close_piece(m);
	if (m->pieces.n < ROW_LEAST || (m->pieces.n < ROW_MOST && !db_fits(m->pieces.n)))
		return 0;
	return put_row(s, m, err);
}

int bodies_flush(struct store *s, struct error *err)
{
	struct bodies_made *m = &s->bodies;

	if (m->records.n && !m->lead)
		return db_put(s->db, DB_BODIES, 0, buf_str(&m->records), err);
	if (m->records.n)
		close_piece(m);
	return m->pieces.n ? put_row(s, m, err) : 0;
}

int bodies_put_ids(struct store *s, const uint32_t *ids, struct error *err)
{
	uint64_t nr = s->catalog.totals.nr_requests;
	struct buf row = { 0 };
	int r = 0;

	for (uint64_t first = 0; first < nr && !r; first += IDS_OF_ROW) {
		buf_clear(&row);
		for (uint64_t i = first; i < nr && i < first + IDS_OF_ROW; i++)
			buf_varint(&row, ids[i]);
		r = db_put(s->db, DB_IDS, first, buf_str(&row), err);
	}
	buf_done(&row);
	return r;
}

/* --- reading --------------------------------------------------------------------------------- */

void bodies_done(struct bodies *c)
{
	buf_done(&c->raw);
	buf_done(&c->piece);
	buf_done(&c->raw_ids);
}

static int damaged(struct store *s, struct error *err)
{
	return db_damaged(s->db, "a block of bodies cannot be read", err);
}

/* What pieces were compressed by. */
static int read_front(struct store *s, struct error *err)
{
	struct buf front = { 0 };
	uint64_t number = 0;
	int r = s->lead ? 1 : db_get(s->db, DB_BODIES, 0, &number, &front, err);

	if (r > 0 && !s->lead)
		s->lead = lead_new(buf_str(&front), false);
	buf_done(&front);
	return r ? r : db_damaged(s->db, "the first block of bodies is missing", err);
}

/* The next piece of the row that does not end in front of that ordinal. */
static int open_piece(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	uint64_t nr, nr_bytes;
	struct str packed;
	int r = read_front(s, err);

	c->left = (struct str){ 0 };
	if (r < 0)
		return r;
	do {
		if (!str_take_varint(&c->pieces, &nr) || !nr ||
		    nr > s->catalog.totals.nr_requests || !str_take_varint(&c->pieces, &nr_bytes) ||
		    nr_bytes > PIECE_MOST || !str_take_bytes(&c->pieces, &packed))
			return damaged(s, err);
		c->next = c->piece_end;
		c->piece_end += nr;
	} while (c->piece_end <= ordinal && c->pieces.n);
	if (c->piece_end <= ordinal || !lead_open(s->lead, packed, nr_bytes, &c->piece))
		return damaged(s, err);
	c->left = buf_str(&c->piece);
	return 0;
}

static int load(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	uint64_t first = 0;
	int r = db_get(s->db, DB_BODIES, ordinal, &first, &c->raw, err);

	c->left = c->pieces = (struct str){ 0 };
	c->piece_end = 0;
	if (r < 0)
		return r;
	if (!r || !c->raw.n || first > ordinal)
		return db_damaged(s->db, "a block of bodies is missing", err);
	c->next = first;
	if (c->raw.p[0]) {
		c->left = buf_str(&c->raw);
		return 0;
	}
	c->pieces = str_skip(buf_str(&c->raw), 1);
	c->piece_end = first;
	return open_piece(s, c, ordinal, err);
}

/* Whether the record is behind what was read, in the same block or row. A step ahead costs a look
 * at each record between, a new block far more. */
static bool is_ahead(const struct bodies *c, uint64_t ordinal)
{
	if (ordinal < c->next || (!c->left.n && !c->pieces.n))
		return false;
	if (c->piece_end)
		return ordinal < c->piece_end || c->pieces.n;
	return ordinal - c->next <= c->left.n;
}

/* Whether the row ends in front of the ordinal is known when its last piece is met. */
static int go_on(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	struct str rest = c->pieces, packed;
	uint64_t end = c->piece_end, nr, nr_bytes;

	while (end <= ordinal && str_take_varint(&rest, &nr) && str_take_varint(&rest, &nr_bytes) &&
	       str_take_bytes(&rest, &packed))
		end += nr;
	return end > ordinal ? open_piece(s, c, ordinal, err) : load(s, c, ordinal, err);
}

static int seek(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	bool is_loaded = !is_ahead(c, ordinal);
	struct str record;
	int r = 0;

	if (is_loaded)
		r = load(s, c, ordinal, err);
	else if (c->piece_end && ordinal >= c->piece_end)
		r = go_on(s, c, ordinal, err);
	while (!r && (c->next < ordinal || !c->left.n)) {
		if (c->left.n && str_take_bytes(&c->left, &record)) {
			c->next++;
			continue;
		}
		/* a block that ends before the next begins has lost some */
		r = is_loaded ? damaged(s, err) : load(s, c, ordinal, err);
		is_loaded = true;
	}
	return r;
}

int bodies_at(struct store *s, struct bodies *c, uint64_t ordinal, struct str *record,
	      struct error *err)
{
	int r = seek(s, c, ordinal, err);

	if (!r && (c->next != ordinal || !str_take_bytes(&c->left, record)))
		r = damaged(s, err);
	c->next++;
	return r;
}

static int take_id(struct store *s, struct bodies *c, uint64_t ordinal, uint64_t *id,
		   struct error *err)
{
	int r = 1;

	if (!c->ids.n || c->ids_next != ordinal) {
		r = db_get(s->db, DB_IDS, ordinal, &c->ids_next, &c->raw_ids, err);
		c->ids = buf_str(&c->raw_ids);
	}
	if (r <= 0)
		return r < 0 ? r : damaged(s, err);
	do {
		if (!str_take_varint(&c->ids, id))
			return damaged(s, err);
	} while (c->ids_next++ < ordinal);
	return *id && *id <= s->catalog.totals.nr_requests ? 0 : damaged(s, err);
}

int bodies_next(struct store *s, struct bodies *c, uint64_t *id, struct str *record,
		struct error *err)
{
	uint64_t at = c->next;
	int r;

	if (at >= s->catalog.totals.nr_requests)
		return 0;
	r = bodies_at(s, c, at, record, err);
	if (!r)
		r = take_id(s, c, at, id, err);
	return r < 0 ? r : 1;
}
