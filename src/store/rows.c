#include "store/rows.h"

#include "store/code.h"
#include "store/db.h"
#include "store/run.h"

void rows_done(struct rows *c)
{
	buf_done(&c->raw);
}

static int rows_load(struct store *s, struct rows *c, uint64_t id, struct error *err)
{
	int r = db_get(s->db, DB_REQUESTS, id, &c->next, &c->raw, err);

	if (r < 0)
		return r;
	c->left = buf_str(&c->raw);
	return r && c->left.n ? 0 : db_damaged(s->db, "a block of requests is missing", err);
}

int rows_seek(struct store *s, struct rows *c, uint64_t id, struct error *err)
{
	struct request skipped;
	uint64_t ordinal;
	int r = 0;

	if (!c->left.n || id < c->next || id - c->next > 4096)
		r = rows_load(s, c, id, err);
	while (r >= 0 && c->next < id)
		r = rows_next(s, c, &skipped, &ordinal, err);
	return r < 0 ? r : 0;
}

int rows_next(struct store *s, struct rows *c, struct request *r, uint64_t *ordinal,
	      struct error *err)
{
	uint64_t want = c->next;
	int result = 0;

	if (want > s->catalog.totals.nr_requests)
		return 0;
	if (!c->left.n)
		result = rows_load(s, c, want, err);
	if (result)
		return result;
	*r = (struct request){ .id = want };
	if (c->next != want || !str_take_varint(&c->left, ordinal) ||
	    *ordinal >= s->catalog.totals.nr_requests || !code_take_request(&c->left, &s->syms, r))
		return db_damaged(s->db, "a block of requests cannot be read", err);
	c->next++;
	return 1;
}

void bodies_done(struct bodies *c)
{
	buf_done(&c->raw);
	buf_done(&c->raw_ids);
}

static int bodies_load(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	uint64_t first = 0;
	int r;

	c->loaded = false;
	r = db_get(s->db, DB_BODIES, ordinal, &c->next, &c->raw, err);
	if (r > 0)
		r = db_get(s->db, DB_IDS, ordinal, &first, &c->raw_ids, err);
	if (r < 0)
		return r;
	if (!r || first != c->next || !c->raw.n)
		return db_damaged(s->db, "a block of bodies is missing", err);
	c->left = buf_str(&c->raw);
	c->ids = buf_str(&c->raw_ids);
	c->loaded = true;
	return 0;
}

int bodies_seek(struct store *s, struct bodies *c, uint64_t ordinal, struct error *err)
{
	struct str record;
	uint64_t id;
	int r = 0;

	/* a step ahead within the block costs a look at each record between, a new block far more
	 */
	if (!c->loaded || !c->left.n || ordinal < c->next || ordinal - c->next > c->left.n)
		r = bodies_load(s, c, ordinal, err);
	while (r >= 0 && c->next < ordinal) {
		r = c->left.n ? 0 : bodies_load(s, c, ordinal, err);
		if (!r && c->next < ordinal)
			r = bodies_next(s, c, &id, &record, err);
	}
	return r < 0 ? r : 0;
}

int bodies_next(struct store *s, struct bodies *c, uint64_t *id, struct str *record,
		struct error *err)
{
	uint64_t want = c->next;
	int r = 0;

	if (want >= s->catalog.totals.nr_requests)
		return 0;
	if (!c->left.n)
		r = bodies_load(s, c, want, err);
	if (r)
		return r;
	if (c->next != want || !str_take_bytes(&c->left, record) || !str_take_varint(&c->ids, id) ||
	    !*id || *id > s->catalog.totals.nr_requests)
		return db_damaged(s->db, "a block of bodies cannot be read", err);
	c->next++;
	return 1;
}
