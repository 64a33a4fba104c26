#include "store/levels.h"

#include "store/db.h"
#include "store/levels_made.h"
#include "store/run.h"
#include "store/wanted.h"

#define LEAST_CELLS ((uint64_t)400000)   /* requests that are counted as fast as levels are read */
#define LEAST_POINTS ((uint64_t)2000000) /* likewise, where they are gone through twice */

struct stored_level {
	unsigned shift;
	uint64_t base;
	bool is_given_up;
};

struct levels {
	struct stored_level v[LEVELS_MOST];
	unsigned nr;
	uint64_t nr_points;
};

static int read_levels(struct store *s, struct levels *l, struct error *err)
{
	struct buf raw = { 0 };
	struct str from;
	uint64_t number, nr = 0, shift, given_up;
	int r = db_get(s->db, DB_LEVELS, 0, &number, &raw, err);
	bool ok = true;

	*l = (struct levels){ 0 };
	if (r > 0) {
		from = buf_str(&raw);
		ok = str_take_varint(&from, &nr) && nr <= LEVELS_MOST;
		for (; ok && l->nr < nr; l->nr++) {
			struct stored_level *v = &l->v[l->nr];

			ok = str_take_varint(&from, &shift) && shift < 64 &&
			     str_take_varint(&from, &v->base) && str_take_varint(&from, &given_up);
			v->shift = (unsigned)shift;
			v->is_given_up = given_up;
		}
		ok = ok && str_take_varint(&from, &l->nr_points);
	}
	buf_done(&raw);
	if (!ok)
		return db_damaged(s->db, "its levels cannot be read", err);
	return r;
}

/* --- what is asked for ----------------------------------------------------------------------- */

/* The filter and the selection together, as far as they are of type and time. */
struct asked {
	struct wanted w;
	bool is_plain; /* they are of nothing else */
	int64_t first, last;
	uint64_t nr; /* requests of that time, about */
};

static int start_of(struct store *s, uint64_t id, int64_t *start, struct error *err)
{
	struct briefs c = { 0 };
	struct brief_row row;
	int got = briefs_at(s, &c, id, &row, err);

	briefs_done(&c);
	if (!got)
		return db_damaged(s->db, "a request is missing", err);
	*start = got > 0 ? row.b.start : 0;
	return got < 0 ? got : 0;
}

static void both(struct wanted *w, const struct wanted *more)
{
	if (more->is_typed && !w->is_typed) {
		w->is_typed = true;
		w->type = more->type;
	}
	if (more->until_ns <= 0)
		return;
	if (w->until_ns <= 0) {
		w->from_ns = more->from_ns;
		w->until_ns = more->until_ns;
	}
	w->from_ns = w->from_ns > more->from_ns ? w->from_ns : more->from_ns;
	w->until_ns = w->until_ns < more->until_ns ? w->until_ns : more->until_ns;
}

/* How many are asked for at the most, to within two blocks of briefs. */
static int count_asked(struct store *s, struct asked *a, struct error *err)
{
	struct briefs c = { 0 };
	uint64_t from;
	int r = 0;

	a->nr = s->catalog.totals.nr_requests;
	if (s->narrow.is_on && s->narrow.nr < a->nr)
		a->nr = s->narrow.nr;
	if (a->w.until_ns <= 0)
		return 0;
	r = briefs_seek(s, &c, a->w.from_ns, err);
	from = c.next;
	if (!r)
		r = briefs_seek(s, &c, a->w.until_ns, err);
	if (!r && c.next - from + BRIEF_ROWS < a->nr)
		a->nr = c.next - from + BRIEF_ROWS;
	briefs_done(&c);
	return r;
}

static int read_asked(struct store *s, const struct request_filter *f, struct asked *a,
		      struct error *err)
{
	const struct narrow *n = &s->narrow;
	int r = wanted_init(&a->w, s, f, err);

	a->nr = 0;
	if (r || !s->catalog.totals.nr_requests || (n->is_on && !n->nr))
		return r;
	a->is_plain = a->w.max_ns <= 0 && (!n->is_on || n->is_plain);
	if (n->is_on)
		both(&a->w, &n->wanted);
	r = start_of(s, n->is_on ? n->first : 1, &a->first, err);
	if (!r)
		r = start_of(s, n->is_on ? n->last : s->catalog.totals.nr_requests, &a->last, err);
	if (!r)
		r = count_asked(s, a, err);
	if (r || a->w.until_ns <= 0)
		return r;
	if (a->w.from_ns > a->first)
		a->first = a->w.from_ns;
	if (a->w.until_ns <= a->last)
		a->last = a->w.until_ns - 1;
	if (a->first > a->last)
		a->nr = 0;
	return 0;
}

int store_first_and_last(struct store *s, const struct request_filter *f, int64_t *first,
			 int64_t *last, struct error *err)
{
	struct asked a;
	int r = read_asked(s, f, &a, err);

	if (r || !a.nr)
		return r;
	*first = a.first;
	*last = a.last;
	return 1;
}

/* --- cells ----------------------------------------------------------------------------------- */

struct counting {
	struct store *s;
	const struct request_filter *f;
	struct asked asked;
	int (*each)(void *ctx, const struct level_cell *c);
	void *ctx;
};

static int count_one(void *ctx, const struct brief *b)
{
	struct counting *c = ctx;

	return c->each(c->ctx,
		       &(struct level_cell){ b->start, level_bin(b->duration), 1, b->error });
}

/* What the columns of a level cover in part is counted one by one. */
static int count_between(struct counting *c, int64_t from, int64_t until, struct error *err)
{
	struct request_filter f = *c->f;

	f.from_ns = from;
	f.until_ns = until;
	return from < until ? store_each_brief(c->s, &f, count_one, c, err) : 0;
}

static int64_t column_start(const struct stored_level *v, uint64_t column)
{
	return (int64_t)(((v->base + column) << v->shift) ^ (uint64_t)1 << 63);
}

static int take_column(struct counting *c, struct str *from, int64_t start, uint64_t cells,
		       bool is_wanted, struct error *err)
{
	const struct brief_names *names = &c->s->brief_names;
	int r = 0;

	for (; cells && !r; cells--) {
		struct level_cell cell = { .start = start };
		uint64_t type;

		if (!str_take_varint(from, &type) || type >= names->place.nr || !from->n)
			return db_damaged(c->s->db, "its levels cannot be read", err);
		cell.bin = (unsigned char)from->p[0];
		*from = str_skip(*from, 1);
		if (!str_take_varint(from, &cell.count) || !str_take_varint(from, &cell.errors))
			return db_damaged(c->s->db, "its levels cannot be read", err);
		if (is_wanted && (!c->asked.w.is_typed || names->place.v[type] == c->asked.w.type))
			r = c->each(c->ctx, &cell);
	}
	return r;
}

/* All columns within [from, until): 1 when some may follow, 0 when not. */
static int take_block(struct counting *c, const struct stored_level *v, struct str left,
		      uint64_t from, uint64_t until, struct error *err)
{
	uint64_t column, cells;
	int r = 0;

	while (left.n && !r) {
		if (!str_take_varint(&left, &column) || !str_take_varint(&left, &cells))
			return db_damaged(c->s->db, "its levels cannot be read", err);
		if (column >= until)
			return 0;
		r = take_column(c, &left, column_start(v, column), cells, column >= from, err);
	}
	return r < 0 ? r : 1;
}

static int take_columns(struct counting *c, const struct stored_level *v, uint64_t place,
			uint64_t from, uint64_t until, struct error *err)
{
	struct buf raw = { 0 };
	uint64_t number = 0, last = UINT64_MAX, at = until - 1;
	int r = 1;

	/* from the last block to the first: each is found by the column in front of the other */
	while (r > 0 && from < until) {
		r = db_get(c->s->db, DB_LEVELS, place | at, &number, &raw, err);
		if (r <= 0 || number < place || number == last)
			break;
		last = number;
		r = take_block(c, v, buf_str(&raw), from, until, err);
		if (r < 0 || (number ^ place) <= from)
			break;
		at = (number ^ place) - 1;
		r = 1;
	}
	buf_done(&raw);
	return r < 0 ? r : 0;
}

static int count_by_level(struct counting *c, const struct stored_level *v, unsigned nr,
			  struct error *err)
{
	uint64_t first = ((uint64_t)c->asked.first ^ (uint64_t)1 << 63) >> v->shift;
	uint64_t last = ((uint64_t)c->asked.last ^ (uint64_t)1 << 63) >> v->shift;
	int64_t inner_from, inner_until;
	uint64_t place = ((uint64_t)nr + 1) << LEVEL_PLACE;
	int r;

	/* whole columns only, in between; the last one and the first are mostly cut */
	first = first < v->base ? 0 : first - v->base + 1;
	last = last < v->base ? 0 : last - v->base;
	inner_from = column_start(v, first);
	inner_until = column_start(v, last);
	r = count_between(c, c->asked.first, inner_from, err);
	if (!r)
		r = take_columns(c, v, place, first, last, err);
	if (!r)
		r = count_between(c, inner_until, c->asked.last + 1, err);
	return r;
}

int store_each_cell(struct store *s, const struct request_filter *f, unsigned shift,
		    int (*each)(void *ctx, const struct level_cell *c), void *ctx,
		    struct error *err)
{
	struct counting c = { .s = s, .f = f, .each = each, .ctx = ctx };
	struct levels l = { 0 };
	int r = read_asked(s, f, &c.asked, err);

	if (r || !c.asked.nr)
		return r;
	if (c.asked.is_plain && c.asked.nr > LEAST_CELLS) {
		r = brief_names_read(s, err);
		if (r > 0)
			r = read_levels(s, &l, err);
	}
	if (r < 0)
		return r;
	for (unsigned i = 0; i < l.nr; i++)
		if (l.v[i].shift <= shift && !l.v[i].is_given_up &&
		    (uint64_t)(c.asked.last - c.asked.first) >> l.v[i].shift > 1)
			return count_by_level(&c, &l.v[i], i, err);
	return store_each_brief(s, f, count_one, &c, err);
}

/* --- points ---------------------------------------------------------------------------------- */

static bool take_point(struct store *s, struct str *from, struct brief *b)
{
	uint64_t id, type;
	int64_t start;

	if (!str_take_varint(from, &id) || !str_take_svarint(from, &start) ||
	    !str_take_svarint(from, &b->duration) || !str_take_varint(from, &type) ||
	    type >> 1 >= s->brief_names.place.nr)
		return false;
	b->id += id;
	b->start = (int64_t)((uint64_t)b->start + (uint64_t)start);
	b->type = s->brief_names.place.v[type >> 1];
	b->error = type & 1;
	return true;
}

static int each_stored(struct store *s, const struct asked *a,
		       int (*each)(void *ctx, const struct brief *b), void *ctx, struct error *err)
{
	struct brief b = { .confidence = 1 };
	struct buf raw = { 0 };
	struct str left;
	uint64_t number = 0;
	int r = db_get(s->db, DB_LEVELS, LEVEL_POINTS, &number, &raw, err);

	left = buf_str(&raw);
	r = r < 0 ? r : 0;
	while (!r && left.n) {
		if (!take_point(s, &left, &b))
			r = db_damaged(s->db, "its points cannot be read", err);
		else if (b.start >= a->first && b.start <= a->last)
			r = each(ctx, &b);
	}
	buf_done(&raw);
	return r;
}

int store_each_point(struct store *s, const struct request_filter *f, uint32_t at_most,
		     int (*each)(void *ctx, const struct brief *b), void *ctx, struct error *err)
{
	struct asked a;
	struct levels l = { 0 };
	int64_t first, last;
	double share;
	int r = read_asked(s, f, &a, err);

	if (r || !a.nr)
		return r;
	if (!a.is_plain || a.w.is_typed || a.nr <= LEAST_POINTS)
		return store_each_brief(s, f, each, ctx, err);
	r = brief_names_read(s, err);
	if (r > 0)
		r = read_levels(s, &l, err);
	if (r >= 0)
		r = start_of(s, 1, &first, err);
	if (r >= 0)
		r = start_of(s, s->catalog.totals.nr_requests, &last, err);
	if (r < 0)
		return r;
	share = ((double)a.last - (double)a.first + 1) / ((double)last - (double)first + 1);
	if (share * (double)l.nr_points < at_most)
		return store_each_brief(s, f, each, ctx, err);
	return each_stored(s, &a, each, ctx, err);
}
