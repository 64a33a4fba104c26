#include "store/levels_made.h"

#include <stdlib.h>

#include "store/db.h"
#include "store/levels.h"
#include "store/run.h"

/* At most so much for each request, but never less than the other: a hundredth of what it takes. */
#define BYTES_PER_REQUEST 1
#define BYTES_LEAST ((size_t)4 << 20)

void levels_made_done(struct levels_made *m)
{
	for (unsigned i = 0; i < m->nr; i++) {
		vec_done(&m->v[i].pending);
		buf_done(&m->v[i].block);
	}
	buf_done(&m->points);
}

void levels_begin(struct levels_made *m, uint64_t nr_requests, int64_t first, int64_t last)
{
	uint64_t range = (uint64_t)last - (uint64_t)first;
	unsigned shift = 0;

	if (nr_requests < LEVELS_FROM || last <= first)
		return;
	while (range >> shift >= LEVEL_COLUMNS - 1)
		shift++;
	m->bytes_max = nr_requests * BYTES_PER_REQUEST;
	if (m->bytes_max < BYTES_LEAST)
		m->bytes_max = BYTES_LEAST;
	for (; m->nr < LEVELS_MOST; m->nr++) {
		struct level_made *v = &m->v[m->nr];

		/* a level with few requests to a column is no shorter than the requests */
		if (m->nr &&
		    (shift < LEVEL_STEP || range >> (shift - LEVEL_STEP) > nr_requests / 64))
			break;
		shift -= m->nr ? LEVEL_STEP : 0;
		v->shift = shift;
		v->base = ((uint64_t)first ^ (uint64_t)1 << 63) >> shift;
	}
}

/* --- points ---------------------------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	const struct brief *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

static void end_tile(struct levels_made *m)
{
	struct brief v[] = { m->slowest, m->fastest, m->drawn };

	qsort(v, 3, sizeof(*v), by_id);
	for (int i = 0; i < 3; i++) {
		if (!v[i].id || (i && v[i].id == v[i - 1].id))
			continue;
		buf_varint(&m->points, v[i].id - m->last_id);
		buf_svarint(&m->points, (int64_t)((uint64_t)v[i].start - (uint64_t)m->last_start));
		buf_svarint(&m->points, v[i].duration);
		buf_varint(&m->points, (uint64_t)v[i].type << 1 | v[i].error);
		m->last_id = v[i].id;
		m->last_start = v[i].start;
		m->nr_points++;
	}
	m->slowest = m->fastest = m->drawn = (struct brief){ 0 };
}

static void see_point(struct levels_made *m, const struct brief *b)
{
	uint64_t lot = (b->id ^ b->id >> 17) * 0x9e3779b97f4a7c15u;

	if (!m->slowest.id || b->duration > m->slowest.duration)
		m->slowest = *b;
	if (!m->fastest.id || b->duration < m->fastest.duration)
		m->fastest = *b;
	if (!m->drawn.id || lot < m->lot) {
		m->drawn = *b;
		m->lot = lot;
	}
}

/* --- cells ----------------------------------------------------------------------------------- */

static int ascending(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static int write_block(struct store *s, struct levels_made *m, unsigned level, struct error *err)
{
	struct level_made *v = &m->v[level];
	int r = 0;

	if (v->block.n && !v->is_given_up)
		r = db_put(s->db, DB_LEVELS, ((uint64_t)level + 1) << LEVEL_PLACE | v->first,
			   buf_str(&v->block), err);
	buf_clear(&v->block);
	return r;
}

/* A column: where it is, how many cells; of each cell its type, bin, count and errors. */
static int end_column(struct store *s, struct levels_made *m, unsigned level, struct error *err)
{
	struct level_made *v = &m->v[level];
	size_t nr = v->pending.nr, cells = 0, before = v->block.n;

	if (!nr || v->is_given_up)
		return 0;
	qsort(v->pending.v, nr, sizeof(*v->pending.v), ascending);
	for (size_t i = 0; i < nr; i++)
		cells += !i || v->pending.v[i] >> 1 != v->pending.v[i - 1] >> 1;
	if (!v->block.n)
		v->first = v->column - v->base;
	buf_varint(&v->block, v->column - v->base);
	buf_varint(&v->block, cells);
	for (size_t i = 0; i < nr;) {
		uint64_t key = v->pending.v[i] >> 1, count = 0, errors = 0;

		for (; i < nr && v->pending.v[i] >> 1 == key; i++, count++)
			errors += v->pending.v[i] & 1;
		buf_varint(&v->block, key >> 8);
		buf_char(&v->block, (char)(key & 0xff));
		buf_varint(&v->block, count);
		buf_varint(&v->block, errors);
	}
	vec_clear(&v->pending);
	v->bytes += v->block.n - before;
	/* the coarsest is always kept */
	v->is_given_up = level && v->bytes > m->bytes_max >> (LEVELS_MOST - 1 - level);
	return v->block.n < LEVEL_BLOCK ? 0 : write_block(s, m, level, err);
}

int levels_add(struct store *s, struct levels_made *m, const struct brief *b, struct error *err)
{
	uint64_t key = ((uint64_t)b->type << 8 | level_bin(b->duration)) << 1 | b->error;
	int r = 0;

	for (unsigned i = 0; i < m->nr && !r; i++) {
		struct level_made *v = &m->v[i];
		uint64_t column = ((uint64_t)b->start ^ (uint64_t)1 << 63) >> v->shift;

		if (column != v->column) {
			if (!i)
				end_tile(m);
			r = end_column(s, m, i, err);
			v->column = column;
		}
		if (!v->is_given_up)
			vec_push(&v->pending, key);
	}
	if (m->nr)
		see_point(m, b);
	return r;
}

int levels_finish(struct store *s, struct levels_made *m, struct error *err)
{
	struct buf head = { 0 };
	int r = 0;

	if (!m->nr)
		return 0;
	end_tile(m);
	for (unsigned i = 0; i < m->nr && !r; i++) {
		r = end_column(s, m, i, err);
		if (!r)
			r = write_block(s, m, i, err);
	}
	buf_varint(&head, m->nr);
	for (unsigned i = 0; i < m->nr; i++) {
		buf_varint(&head, m->v[i].shift);
		buf_varint(&head, m->v[i].base);
		buf_varint(&head, m->v[i].is_given_up);
	}
	buf_varint(&head, m->nr_points);
	if (!r)
		r = db_put(s->db, DB_LEVELS, 0, buf_str(&head), err);
	if (!r)
		r = db_put(s->db, DB_LEVELS, LEVEL_POINTS, buf_str(&m->points), err);
	buf_done(&head);
	return r;
}
