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
