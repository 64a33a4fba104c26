#include "store/brief.h"

#include "base/error.h"
#include "store/db.h"
#include "store/run.h"

/*
 * Block 0 of the table says what numbers mean; the others stand at the id of their first request
 * and hold one column after the other. Starts and ordinals are counted from the one before.
 */

enum { TAG_ERROR = 1, TAG_INCOMPLETE = 2, TAG_UNSURE = 4 };

/* Modulo 2^64: any value comes back, none overflows. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* --- writing --------------------------------------------------------------------------------- */

void briefs_made_done(struct briefs_made *m)
{
	for (int i = 0; i < BRIEF_COLUMNS; i++)
		buf_done(&m->columns[i]);
	buf_done(&m->block);
}

static int flush(struct store *s, struct briefs_made *m, struct error *err)
{
	int r;

	if (!m->nr)
		return 0;
	buf_clear(&m->block);
	buf_varint(&m->block, m->nr);
	for (int i = 0; i < BRIEF_COLUMNS; i++) {
		buf_bytes(&m->block, buf_str(&m->columns[i]));
		buf_clear(&m->columns[i]);
	}
	r = db_put(s->db, DB_BRIEFS, m->first, buf_str(&m->block), err);
	m->nr = 0;
	m->last = (struct brief_row){ 0 };
	return r;
}

int briefs_add(struct store *s, struct briefs_made *m, const struct brief_row *row,
	       struct error *err)
{
	const struct brief *b = &row->b;
	bool is_unsure = b->confidence != 1;

	if (!m->nr)
		m->first = b->id;
	buf_svarint(&m->columns[BRIEF_START], minus(b->start, m->last.b.start));
	buf_svarint(&m->columns[BRIEF_DURATION], b->duration);
	buf_varint(&m->columns[BRIEF_TYPE], b->type);
	buf_char(&m->columns[BRIEF_TAG],
		 (char)((b->error ? TAG_ERROR : 0) | (b->incomplete ? TAG_INCOMPLETE : 0) |
			(is_unsure ? TAG_UNSURE : 0)));
	if (is_unsure)
		buf_add(&m->columns[BRIEF_TAG],
			(struct str){ (const char *)&b->confidence, sizeof(b->confidence) });
	buf_varint(&m->columns[BRIEF_SET], row->set);
	buf_svarint(&m->columns[BRIEF_ORDINAL],
		    minus((int64_t)row->ordinal, (int64_t)m->last.ordinal));
	buf_varint(&m->columns[BRIEF_SPANS], row->nr_spans);
	m->last = *row;
	return ++m->nr < BRIEF_ROWS ? 0 : flush(s, m, err);
}

int briefs_finish(struct store *s, struct briefs_made *m, const uint32_t *place, size_t nr_types,
		  struct error *err)
{
	int r = flush(s, m, err);

	if (r)
		return r;
	buf_clear(&m->block);
	buf_varint(&m->block, nr_types);
	for (size_t i = 0; i < nr_types; i++)
		buf_varint(&m->block, place[i]);
	nodesets_add(&m->block, &s->sets);
	return db_put(s->db, DB_BRIEFS, 0, buf_str(&m->block), err);
}

/* --- what numbers mean ----------------------------------------------------------------------- */

void brief_names_done(struct brief_names *n)
{
	nodesets_done(&n->sets);
	names_done(&n->types);
	vec_done(&n->place);
	*n = (struct brief_names){ 0 };
}

static bool take_dictionary(struct store *s, struct brief_names *n, struct str from)
{
	uint64_t nr, place;

	if (!str_take_varint(&from, &nr) || nr > from.n)
		return false;
	for (; nr; nr--) {
		if (!str_take_varint(&from, &place) || place > s->catalog.types.nr)
			return false;
		vec_push(&n->place, (uint32_t)place);
	}
	return nodesets_take(&from, &n->sets) && !from.n;
}

int brief_names_read(struct store *s, struct error *err)
{
	struct brief_names *n = &s->brief_names;
	struct buf raw = { 0 };
	uint64_t number = 0;
	int r;

	if (n->is_read)
		return n->is_there;
	r = db_get(s->db, DB_BRIEFS, 0, &number, &raw, err);
	if (r > 0 && !take_dictionary(s, n, buf_str(&raw)))
		r = db_damaged(s->db, "its index of requests cannot be read", err);
	buf_done(&raw);
	if (r < 0) {
		brief_names_done(n);
		return r;
	}
	n->is_there = r > 0;
	for (size_t i = 0; !n->is_there && i < s->catalog.types.nr; i++)
		names_add(&n->types, s->catalog.types.v[i].name);
	n->is_read = true;
	return n->is_there;
}

/* --- reading --------------------------------------------------------------------------------- */

void briefs_done(struct briefs *c)
{
	buf_done(&c->raw);
	rows_done(&c->rows);
}

static int load(struct store *s, struct briefs *c, uint64_t id, struct error *err)
{
	struct str left;
	int r = db_get(s->db, DB_BRIEFS, id, &c->next, &c->raw, err);
	bool ok;

	c->left = 0;
	c->start = 0;
	c->ordinal = 0;
	if (r < 0)
		return r;
	left = buf_str(&c->raw);
	ok = r && c->next && c->next <= id && str_take_varint(&left, &c->left) && c->left &&
	     c->left <= BRIEF_ROWS && id - c->next < c->left;
	for (int i = 0; i < BRIEF_COLUMNS && ok; i++)
		ok = str_take_bytes(&left, &c->columns[i]);
	if (ok && !left.n)
		return 0;
	c->left = 0;
	return db_damaged(s->db, "a block of its index of requests is missing", err);
}

static bool take_tag(struct str *from, struct brief *b)
{
	unsigned char tag;

	if (!from->n)
		return false;
	tag = (unsigned char)from->p[0];
	*from = str_skip(*from, 1);
	b->error = tag & TAG_ERROR;
	b->incomplete = tag & TAG_INCOMPLETE;
	b->confidence = 1;
	if (!(tag & TAG_UNSURE))
		return true;
	if (from->n < sizeof(b->confidence))
		return false;
	memcpy(&b->confidence, from->p, sizeof(b->confidence));
	*from = str_skip(*from, sizeof(b->confidence));
	return true;
}

static bool take_row(const struct store *s, struct briefs *c, struct brief_row *row)
{
	uint64_t type, set, spans;
	int64_t start, ordinal;

	if (!str_take_svarint(&c->columns[BRIEF_START], &start) ||
	    !str_take_svarint(&c->columns[BRIEF_DURATION], &row->b.duration) ||
	    !str_take_varint(&c->columns[BRIEF_TYPE], &type) ||
	    !take_tag(&c->columns[BRIEF_TAG], &row->b) ||
	    !str_take_varint(&c->columns[BRIEF_SET], &set) ||
	    !str_take_svarint(&c->columns[BRIEF_ORDINAL], &ordinal) ||
	    !str_take_varint(&c->columns[BRIEF_SPANS], &spans))
		return false;
	c->start = plus(c->start, start);
	c->ordinal = (uint64_t)plus((int64_t)c->ordinal, ordinal);
	row->b.id = c->next;
	row->b.start = c->start;
	row->ordinal = c->ordinal;
	row->set = set > NODESET_UNKNOWN ? NODESET_UNKNOWN : set;
	row->nr_spans = spans > UINT32_MAX ? UINT32_MAX : (uint32_t)spans;
	if (type >= s->brief_names.place.nr || c->ordinal >= s->catalog.totals.nr_requests)
		return false;
	row->b.type = s->brief_names.place.v[type];
	return true;
}

/* The name of a type is looked for in the catalog; the empty one may be among them. */
static uint32_t type_of(const struct store *s, struct str name)
{
	sym_t at = names_find(&s->brief_names.types, name);

	for (size_t i = at ? at - 1 : 0; i < s->catalog.types.nr; i++)
		if (str_eq(s->catalog.types.v[i].name, name))
			return (uint32_t)i;
	return 0;
}

static int next_row(struct store *s, struct briefs *c, struct brief_row *row, struct error *err)
{
	struct request r = { 0 };
	int got;

	if (!c->rows.next)
		c->rows.next = 1;
	got = rows_next(s, &c->rows, &r, &row->ordinal, err);
	if (got <= 0)
		return got;
	row->b = (struct brief){ .id = r.id,
				 .start = r.start,
				 .duration = minus(r.end, r.start),
				 .type = type_of(s, r.type),
				 .confidence = r.confidence,
				 .error = r.error,
				 .incomplete = r.incomplete };
	row->set = NODESET_UNKNOWN;
	row->nr_spans = r.nr_spans;
	return 1;
}

int briefs_next(struct store *s, struct briefs *c, struct brief_row *row, struct error *err)
{
	int r = brief_names_read(s, err);

	if (r < 0)
		return r;
	if (!r)
		return next_row(s, c, row, err);
	if (!c->next)
		c->next = 1;
	if (c->next > s->catalog.totals.nr_requests)
		return 0;
	r = c->left ? 0 : load(s, c, c->next, err);
	if (r < 0)
		return r;
	if (!take_row(s, c, row))
		return db_damaged(s->db, "a block of its index of requests cannot be read", err);
	c->next++;
	c->left--;
	return 1;
}

int briefs_at(struct store *s, struct briefs *c, uint64_t id, struct brief_row *row,
	      struct error *err)
{
	int r = brief_names_read(s, err);

	if (r < 0)
		return r;
	if (!r && id > c->rows.next)
		r = rows_seek(s, &c->rows, id, err);
	else if (r && (id < c->next || id - c->next >= c->left))
		r = load(s, c, id, err);
	do {
		r = r < 0 ? r : briefs_next(s, c, row, err);
	} while (r > 0 && row->b.id < id);
	return r;
}

static bool first_start(const struct briefs *c, int64_t *start)
{
	struct str column = c->columns[BRIEF_START];

	return str_take_svarint(&column, start);
}

/* Looks at the fronts of blocks only, as one looks a word up. */
int briefs_seek(struct store *s, struct briefs *c, int64_t from_ns, struct error *err)
{
	uint64_t low = 1, high = s->catalog.totals.nr_requests + 1, before = 1;
	int r = brief_names_read(s, err);

	if (r <= 0)
		return r;
	while (low < high) {
		int64_t start;

		r = load(s, c, low + (high - low) / 2, err);
		if (r < 0)
			return r;
		if (!first_start(c, &start))
			return db_damaged(s->db, "a block of its index of requests is empty", err);
		if (start >= from_ns) {
			high = c->next;
		} else {
			before = c->next;
			low = c->next + c->left;
		}
	}
	c->next = before;
	c->left = 0;
	return 0;
}
