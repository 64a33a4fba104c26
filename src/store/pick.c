#include "store/pick.h"

#include <stdlib.h>

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
};

static int in_order(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_ordinal(const void *x, const void *y)
{
	const struct pick *a = x, *b = y;

	return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static void sort(struct pick *v, size_t nr, int (*compare)(const void *, const void *))
{
	bool is_sorted = true;

	for (size_t i = 1; i < nr && is_sorted; i++)
		is_sorted = compare(&v[i - 1], &v[i]) <= 0;
	if (!is_sorted)
		qsort(v, nr, sizeof(*v), compare);
}

void picks_by_ordinal(struct picks *p)
{
	sort(p->v.v, p->v.nr, by_ordinal);
}

void picks_by_id(struct pick *v, size_t nr)
{
	sort(v, nr, by_id);
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

	sort(to->v.v, to->v.nr, in_order);
	if (!p->at_most || to->v.nr < p->at_most)
		return;
	to->v.nr = p->at_most;
	p->is_full = true;
	p->last = to->v.v[to->v.nr - 1].key;
}

static void add(struct picking *p, const struct brief_row *row)
{
	struct pick one = { key_of(p, &row->b), row->b.id, row->ordinal };

	if (p->is_full && one.key > p->last)
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
	int r = w->until_ns > 0 ? briefs_seek(p->s, &c, w->from_ns, err) : 0;

	while (r >= 0 && (r = briefs_next(p->s, &c, &row, err)) > 0) {
		if ((w->until_ns > 0 && row.b.start >= w->until_ns) ||
		    (in_turn && p->to->v.nr == p->at_most))
			break;
		if (narrow_has(&p->s->narrow, row.b.id) && wanted_brief(w, &row.b))
			add(p, &row);
	}
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

/* --- sampling -------------------------------------------------------------------------------- */

static uint64_t lot(uint64_t group)
{
	group = (group ^ group >> 31) * 0x9e3779b97f4a7c15u;
	group = (group ^ group >> 29) * 0xbf58476d1ce4e5b9u;
	return group ^ group >> 32;
}

void picks_sample(struct picks *p, uint64_t nr)
{
	double share = (double)nr / (double)p->v.nr;
	uint64_t below = share < 1 ? (uint64_t)(share * 0x1p63) * 2 : UINT64_MAX;
	size_t kept = 0;

	if (!p->v.nr || nr >= p->v.nr)
		return;
	for (size_t i = 0; i < p->v.nr; i++)
		if (lot(p->v.v[i].ordinal >> GROUP_BITS) < below)
			p->v.v[kept++] = p->v.v[i];
	/* few that stand together may all have drawn a blank */
	p->v.nr = kept ? kept : nr;
}
