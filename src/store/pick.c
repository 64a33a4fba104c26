#include "store/pick.h"

#include <stdlib.h>

#include "base/sort.h"
#include "store/run.h"
#include "store/wanted.h"

/* Bodies that stand together are read together: a sample is drawn in groups of so many, since each
 * block of bodies that it touches has to be read. */
#define GROUP_BITS 4

enum { BATCH = 64 << 10 };

struct picking {
	struct store *s;
	const struct request_filter *f;
	struct wanted wanted;
	struct picks *to;
	uint32_t *rank;   /* of types, by name */
	uint64_t at_most; /* 0: all */
	bool is_full;     /* from here on only what comes before the last is of interest */
	int64_t last;
	uint64_t below; /* of a sample: what is drawn by lot */
};

static uint64_t lot(uint64_t group)
{
	group = (group ^ group >> 31) * 0x9e3779b97f4a7c15u;
	group = (group ^ group >> 29) * 0xbf58476d1ce4e5b9u;
	return group ^ group >> 32;
}

/* Equal ones stay in order of id, in which they are picked. */
static uint64_t key_of_pick(const void *pick)
{
	return sort_signed(((const struct pick *)pick)->key);
}

static uint64_t id_of(const void *pick)
{
	return ((const struct pick *)pick)->id;
}

static uint64_t ordinal_of(const void *pick)
{
	return ((const struct pick *)pick)->ordinal;
}

void picks_by_ordinal(struct picks *p)
{
	sort_records(p->v.v, p->v.nr, sizeof(*p->v.v), ordinal_of);
}

void picks_by_id(struct pick *v, size_t nr)
{
	sort_records(v, nr, sizeof(*v), id_of);
}

/* --- order ----------------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct store *s = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return str_cmp(s->catalog.types.v[a].name, s->catalog.types.v[b].name);
}

static uint32_t *rank_types(struct store *s)
{
	size_t nr = s->catalog.types.nr;
	uint32_t *order = mem_alloc(mem_bytes(nr + 1, sizeof(*order)));
	uint32_t *rank = mem_zalloc(mem_bytes(nr + 1, sizeof(*rank)));

	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	if (nr)
		qsort_r(order, nr, sizeof(*order), by_name, s);
	for (uint32_t i = 0; i < nr; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

static int64_t key_of(const struct picking *p, const struct brief *b)
{
	switch (p->f->order) {
	case BY_SLOWEST:
		return ~b->duration;
	case BY_FASTEST:
		return b->duration;
	case BY_LATEST:
		return ~(int64_t)b->id;
	case BY_TYPE:
		return p->rank[b->type];
	default:
		return (int64_t)b->id;
	}
}

/* --- picking --------------------------------------------------------------------------------- */

/* Twice what is wanted is gathered before the better half is kept: a heap without a heap. */
static void keep_first(struct picking *p)
{
	struct picks *to = p->to;

	sort_records(to->v.v, to->v.nr, sizeof(*to->v.v), key_of_pick);
	if (!p->at_most || to->v.nr < p->at_most)
		return;
	to->v.nr = p->at_most;
	p->is_full = true;
	p->last = to->v.v[to->v.nr - 1].key;
}

static void add(struct picking *p, const struct brief_row *row)
{
	struct pick one = { key_of(p, &row->b), row->b.id, row->ordinal };

	if ((p->is_full && one.key > p->last) ||
	    (p->below && lot(row->ordinal >> GROUP_BITS) >= p->below))
		return;
	if (p->at_most && p->to->v.nr >= BATCH && p->to->v.nr / 2 >= p->at_most)
		keep_first(p);
	vec_push(&p->to->v, one);
}

static int walk(struct picking *p, struct error *err)
{
	const struct wanted *w = &p->wanted;
	struct briefs c = { 0 };
	struct brief_row row;
	bool in_turn = p->f->order == BY_ID && p->at_most;
	int r = briefs_begin(p->s, &c, w->until_ns > 0 ? w->from_ns : INT64_MIN, err);

	while (r >= 0 && !(in_turn && p->to->v.nr == p->at_most) &&
	       (r = briefs_next_wanted(p->s, &c, w, &row, err)) > 0)
		add(p, &row);
	briefs_done(&c);
	return r < 0 ? r : 0;
}

int picks_make(struct store *s, const struct request_filter *f, struct picks *to, struct error *err)
{
	struct picking p = { .s = s, .f = f, .to = to };
	uint64_t skip = f->offset;
	int r = wanted_init(&p.wanted, s, f, err);

	if (r)
		return r;
	if (f->limit && __builtin_add_overflow(f->limit, f->offset, &p.at_most))
		p.at_most = UINT64_MAX;
	p.rank = f->order == BY_TYPE ? rank_types(s) : NULL;
	r = walk(&p, err);
	free(p.rank);
	keep_first(&p);
	if (skip > to->v.nr)
		skip = to->v.nr;
	if (skip)
		memmove(to->v.v, to->v.v + skip, (to->v.nr - skip) * sizeof(*to->v.v));
	to->v.nr -= skip;
	return r;
}

int picks_of(struct store *s, const uint64_t *ids, size_t nr, struct picks *p, struct error *err)
{
	struct briefs c = { 0 };
	struct brief_row row;
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++) {
		r = ids[i] && ids[i] <= s->catalog.totals.nr_requests
			    ? briefs_at(s, &c, ids[i], &row, err)
			    : 0;
		if (r > 0)
			vec_push(&p->v, (struct pick){ 0, row.b.id, row.ordinal });
	}
	briefs_done(&c);
	return r < 0 ? r : 0;
}

/* --- sampling -------------------------------------------------------------------------------- */

static uint64_t share_of(uint64_t nr, uint64_t all)
{
	return nr < all ? (uint64_t)((double)nr / (double)all * 0x1p63) * 2 + 1 : UINT64_MAX;
}

static void draw(struct picks *p, uint64_t nr)
{
	uint64_t below = share_of(nr, p->v.nr);
	size_t kept = 0;

	for (size_t i = 0; i < p->v.nr; i++)
		if (lot(p->v.v[i].ordinal >> GROUP_BITS) < below)
			p->v.v[kept++] = p->v.v[i];
	/* few that stand together may all have drawn a blank */
	p->v.nr = kept ? kept : nr;
}

/* A question may be told the type and the time that are selected once more. */
bool picks_are_all(const struct store *s, const struct request_filter *f)
{
	const struct wanted *w = &s->narrow.wanted;
	bool same_time = f->until_ns <= 0 || (s->narrow.is_on && f->from_ns == w->from_ns &&
					      f->until_ns == w->until_ns);
	bool same_type = !f->type.n || (s->narrow.is_on && w->is_typed &&
					str_eq(f->type, s->catalog.types.v[w->type].name));

	return !f->limit && !f->offset && f->max_ns <= 0 && same_time && same_type;
}

int picks_sample(struct store *s, const struct request_filter *f, struct picks *to, uint64_t nr,
		 uint64_t *nr_left, struct error *err)
{
	struct picking p = { .s = s, .f = f, .to = to };
	uint64_t all;
	int r;

	if (picks_are_all(s, f) && store_nr_requests(s) > 1000 * (1u << GROUP_BITS)) {
		all = store_nr_requests(s);
		p.below = share_of(nr, all);
		r = wanted_init(&p.wanted, s, f, err);
		if (!r)
			r = walk(&p, err);
	} else {
		r = picks_make(s, f, to, err);
		all = to->v.nr;
		if (!r && nr < all)
			draw(to, nr);
	}
	*nr_left = all - to->v.nr;
	return r;
}
