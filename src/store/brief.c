#include "store/brief.h"

#include <endian.h>

#include "base/error.h"
#include "store/db.h"
#include "store/run.h"
#include "store/shared.h"
#include "store/wanted.h"

/*
 * Block 0 of the table says what numbers mean; the others stand at the id of their first request
 * and hold one column after the other. Starts and ordinals are counted from the one before. A
 * column is the least number in it, how many bytes what exceeds it needs, and these: a number is
 * had by one look at eight bytes, so that as many stand behind the last one.
 */

enum { TAG_ERROR = 1, TAG_INCOMPLETE = 2 };

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
		vec_done(&m->columns[i]);
	buf_done(&m->block);
}

static unsigned bytes_for(uint64_t most)
{
	unsigned n = 0;

	for (; most; most >>= 8)
		n++;
	return n;
}

static void add_column(struct buf *to, const int64_t *v, size_t nr)
{
	int64_t least = v[0], most = v[0];
	unsigned bytes;
	char *p;

	for (size_t i = 1; i < nr; i++) {
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	bytes = bytes_for((uint64_t)minus(most, least));
	buf_svarint(to, least);
	buf_varint(to, bytes);
	p = buf_room(to, nr * bytes + 8);
	for (size_t i = 0; i < nr; i++, p += bytes) {
		uint64_t word = htole64((uint64_t)minus(v[i], least));

		memcpy(p, &word, sizeof(word));
	}
	to->n += nr * bytes;
}

static int flush(struct store *s, struct briefs_made *m, struct error *err)
{
	int r;

	if (!m->nr)
		return 0;
	buf_clear(&m->block);
	buf_varint(&m->block, m->nr);
	for (int i = 0; i < BRIEF_COLUMNS; i++) {
		add_column(&m->block, m->columns[i].v, m->nr);
		vec_clear(&m->columns[i]);
	}
	buf_add(&m->block, STR("\0\0\0\0\0\0\0\0"));
	r = db_put(s->db, DB_BRIEFS, m->first, buf_str(&m->block), err);
	m->nr = 0;
	m->last = (struct brief_row){ 0 };
	return r;
}

int briefs_add(struct store *s, struct briefs_made *m, const struct brief_row *row,
	       struct error *err)
{
	const struct brief *b = &row->b;
	int64_t v[BRIEF_COLUMNS];
	uint32_t sure;

	if (!m->nr)
		m->first = b->id;
	memcpy(&sure, &b->confidence, sizeof(sure));
	v[BRIEF_START] = minus(b->start, m->last.b.start);
	v[BRIEF_DURATION] = b->duration;
	v[BRIEF_TYPE] = b->type;
	v[BRIEF_TAG] = (b->error ? TAG_ERROR : 0) | (b->incomplete ? TAG_INCOMPLETE : 0);
	v[BRIEF_SURE] = sure;
	v[BRIEF_SET] = (int64_t)row->set;
	v[BRIEF_ORDINAL] = minus((int64_t)row->ordinal, (int64_t)m->last.ordinal);
	v[BRIEF_SPANS] = row->nr_spans;
	for (int i = 0; i < BRIEF_COLUMNS; i++)
		vec_push(&m->columns[i], v[i]);
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

static bool take_column(struct str *from, struct brief_numbers *c, uint64_t nr)
{
	uint64_t bytes;

	if (!str_take_svarint(from, &c->least) || !str_take_varint(from, &bytes) || bytes > 8 ||
	    from->n < nr * bytes)
		return false;
	c->p = from->p;
	c->bytes = (unsigned)bytes;
	c->mask = bytes < 8 ? ((uint64_t)1 << 8 * bytes) - 1 : UINT64_MAX;
	*from = str_skip(*from, nr * bytes);
	return true;
}

/* Takes the columns of a block that begins with the request `next` and holds the one asked for. */
static bool take_block(struct briefs *c, struct str left, uint64_t id)
{
	bool ok = c->next && c->next <= id && str_take_varint(&left, &c->left) && c->left &&
		  c->left <= BRIEF_ROWS && id - c->next < c->left;

	for (int i = 0; i < BRIEF_COLUMNS && ok; i++)
		ok = take_column(&left, &c->columns[i], c->left);
	return ok && left.n == sizeof(uint64_t);
}

/* What is kept was looked at by whoever read it. */
static int load(struct store *s, struct briefs *c, uint64_t id, struct error *err)
{
	uint64_t first = id ? id - (id - 1) % BRIEF_ROWS : 0;
	struct str block = shared_block(s->shared, first);
	int r;

	c->left = 0;
	c->at = 0;
	c->start = 0;
	c->ordinal = 0;
	c->next = first;
	if (!block.n) {
		r = db_get(s->db, DB_BRIEFS, id, &c->next, &c->raw, err);
		if (r < 0)
			return r;
		block = r ? buf_str(&c->raw) : STR("");
		if (r && take_block(c, block, id))
			block = shared_keep(s->shared, c->next, &c->raw);
	}
	if (take_block(c, block, id))
		return 0;
	c->left = 0;
	return db_damaged(s->db, "a block of its index of requests is missing", err);
}

static inline int64_t number_at(const struct briefs *c, enum brief_column column)
{
	const struct brief_numbers *n = &c->columns[column];
	uint64_t word;

	memcpy(&word, n->p + c->at * n->bytes, sizeof(word));
	return plus(n->least, (int64_t)(le64toh(word) & n->mask));
}

/* What is left of the row that the cursor stands in front of, whose start, duration and type are
 * taken; and goes behind it. */
static bool take_rest(const struct store *s, struct briefs *c, struct brief_row *row)
{
	uint64_t set = (uint64_t)number_at(c, BRIEF_SET);
	uint32_t sure = (uint32_t)number_at(c, BRIEF_SURE);
	int64_t tag = number_at(c, BRIEF_TAG);

	c->start = row->b.start;
	c->ordinal = (uint64_t)plus((int64_t)c->ordinal, number_at(c, BRIEF_ORDINAL));
	if (c->ordinal >= s->catalog.totals.nr_requests)
		return false;
	row->b.id = c->next;
	row->b.error = tag & TAG_ERROR;
	row->b.incomplete = tag & TAG_INCOMPLETE;
	memcpy(&row->b.confidence, &sure, sizeof(sure));
	row->ordinal = c->ordinal;
	row->set = set > NODESET_UNKNOWN ? NODESET_UNKNOWN : set;
	row->nr_spans = (uint32_t)number_at(c, BRIEF_SPANS);
	c->at++;
	c->next++;
	c->left--;
	return true;
}

static bool take_type(const struct store *s, const struct briefs *c, uint32_t *type)
{
	uint64_t number = (uint64_t)number_at(c, BRIEF_TYPE);

	if (number >= s->brief_names.place.nr)
		return false;
	*type = s->brief_names.place.v[number];
	return true;
}

static bool take_row(const struct store *s, struct briefs *c, struct brief_row *row)
{
	row->b.start = plus(c->start, number_at(c, BRIEF_START));
	row->b.duration = number_at(c, BRIEF_DURATION);
	return take_type(s, c, &row->b.type) && take_rest(s, c, row);
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

static int cannot_be_read(struct store *s, struct error *err)
{
	return db_damaged(s->db, "a block of its index of requests cannot be read", err);
}

/* 1 with rows in front of the cursor, 0 at the end. */
static int fill(struct store *s, struct briefs *c, struct error *err)
{
	int r;

	if (!c->next)
		c->next = 1;
	if (c->next > s->catalog.totals.nr_requests)
		return 0;
	r = c->left ? 0 : load(s, c, c->next, err);
	return r < 0 ? r : 1;
}

int briefs_next(struct store *s, struct briefs *c, struct brief_row *row, struct error *err)
{
	int r = brief_names_read(s, err);

	if (!r)
		return next_row(s, c, row, err);
	if (r > 0)
		r = fill(s, c, err);
	if (r > 0 && !take_row(s, c, row))
		r = cannot_be_read(s, err);
	return r;
}

/* --- those that are wanted ------------------------------------------------------------------- */

/* All that follow start later, and have higher numbers. */
static bool is_behind(const struct store *s, const struct wanted *w, const struct brief *b)
{
	return (w->until_ns > 0 && b->start >= w->until_ns) ||
	       (s->narrow.is_on && b->id > s->narrow.last);
}

enum { BEHIND, FOUND, BLOCK_ENDS, BROKEN };

/* Goes on to the next one in the block. Most are not wanted, and a look at one or two columns shows
 * it. */
static int next_in_block(const struct store *s, struct briefs *c, const struct wanted *w,
			 struct brief_row *row)
{
	for (; c->left; c->left--, c->next++, c->at++) {
		struct brief *b = &row->b;

		b->id = c->next;
		b->start = plus(c->start, number_at(c, BRIEF_START));
		if (is_behind(s, w, b))
			return BEHIND;
		if (narrow_has(&s->narrow, b->id)) {
			b->duration = number_at(c, BRIEF_DURATION);
			if (!take_type(s, c, &b->type))
				return BROKEN;
			if (wanted_brief(w, b))
				return take_rest(s, c, row) ? FOUND : BROKEN;
		}
		c->start = b->start;
		c->ordinal = (uint64_t)plus((int64_t)c->ordinal, number_at(c, BRIEF_ORDINAL));
	}
	return BLOCK_ENDS;
}

static int next_row_wanted(struct store *s, struct briefs *c, const struct wanted *w,
			   struct brief_row *row, struct error *err)
{
	int r;

	do {
		r = next_row(s, c, row, err);
		if (r <= 0 || is_behind(s, w, &row->b))
			return r < 0 ? r : 0;
	} while (!narrow_has(&s->narrow, row->b.id) || !wanted_brief(w, &row->b));
	return 1;
}

int briefs_next_wanted(struct store *s, struct briefs *c, const struct wanted *w,
		       struct brief_row *row, struct error *err)
{
	int r, got = BLOCK_ENDS;

	if (!s->brief_names.is_there) {
		r = brief_names_read(s, err);
		if (r <= 0)
			return r < 0 ? r : next_row_wanted(s, c, w, row, err);
	}
	while (got == BLOCK_ENDS) {
		r = fill(s, c, err);
		if (r <= 0)
			return r;
		got = next_in_block(s, c, w, row);
	}
	return got == BROKEN ? cannot_be_read(s, err) : got == FOUND;
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

/* Looks at the fronts of blocks only, as one looks a word up. */
int briefs_seek(struct store *s, struct briefs *c, int64_t from_ns, struct error *err)
{
	uint64_t low = 1, high = s->catalog.totals.nr_requests + 1, before = 1;
	int r = brief_names_read(s, err);

	if (r <= 0)
		return r;
	while (low < high) {
		r = load(s, c, low + (high - low) / 2, err);
		if (r < 0)
			return r;
		if (number_at(c, BRIEF_START) >= from_ns) {
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

int briefs_begin(struct store *s, struct briefs *c, int64_t from_ns, struct error *err)
{
	int r = from_ns > INT64_MIN ? briefs_seek(s, c, from_ns, err) : brief_names_read(s, err);

	/* a block is read from its front */
	if (r >= 0 && s->brief_names.is_there && s->narrow.is_on && c->next < s->narrow.first)
		c->next = s->narrow.first;
	return r < 0 ? r : 0;
}
