#include "store/sorter.h"

#include <stdlib.h>

#include "base/vec.h"
#include "store/code.h"
#include "store/scratch.h"

/*
 * The usual external sort: rows gather in memory; when there are too many they are sorted and leave
 * as a run of chunks; at the end the runs are merged by a heap of their first rows. Memory is
 * MEMORY_BYTES while gathering and a chunk per run while merging.
 */

#define MEMORY_BYTES ((size_t)24 << 20)
#define CHUNK_BYTES ((size_t)128 << 10)

struct item {
	int64_t start, end;
	struct str key, row;
	size_t order; /* where it stands in rows; when runs are merged, which run */
};

struct run {
	VEC(struct chunk) chunks;
	size_t next;
	struct buf raw;
	struct str left;
	struct item first;
};

struct sorter {
	struct scratch scratch;
	struct buf rows;
	VEC(struct item) items; /* the strings have only lengths as long as rows may move */
	VEC(struct run) runs;
};

struct sorter *sorter_new(const struct place *place)
{
	struct sorter *o = mem_zalloc(sizeof(*o));

	scratch_init(&o->scratch, place);
	return o;
}

void sorter_free(struct sorter *o)
{
	if (!o)
		return;
	vec_each (&o->runs, run) {
		vec_done(&run->chunks);
		buf_done(&run->raw);
	}
	vec_done(&o->runs);
	vec_done(&o->items);
	buf_done(&o->rows);
	scratch_done(&o->scratch);
	free(o);
}

static int compare(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int c;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	c = str_cmp(a->key, b->key);
	return c ? c : a->order < b->order ? -1 : a->order > b->order;
}

static void sort_items(struct sorter *o)
{
	vec_each (&o->items, it) {
		it->key.p = o->rows.p + it->order;
		it->row.p = it->key.p + it->key.n;
	}
	if (o->items.nr)
		qsort(o->items.v, o->items.nr, sizeof(*o->items.v), compare);
}

static int put_chunk(struct sorter *o, struct run *run, struct buf *raw, struct error *err)
{
	struct chunk c;
	int r = raw->n ? scratch_put(&o->scratch, buf_str(raw), &c, err) : 0;

	if (!r && raw->n)
		vec_push(&run->chunks, c);
	buf_clear(raw);
	return r;
}

static int spill(struct sorter *o, struct error *err)
{
	struct run run = { 0 };
	int r = 0;

	if (!o->items.nr)
		return 0;
	sort_items(o);
	for (size_t i = 0; i < o->items.nr && !r; i++) {
		const struct item *it = &o->items.v[i];

		buf_svarint(&run.raw, it->start);
		buf_svarint(&run.raw, it->end);
		buf_bytes(&run.raw, it->key);
		buf_bytes(&run.raw, it->row);
		if (run.raw.n >= CHUNK_BYTES)
			r = put_chunk(o, &run, &run.raw, err);
	}
	if (!r)
		r = put_chunk(o, &run, &run.raw, err);
	vec_push(&o->runs, run);
	vec_clear(&o->items);
	buf_clear(&o->rows);
	return r;
}

int sorter_add(struct sorter *o, int64_t start, int64_t end, struct str key, struct str row,
	       struct error *err)
{
	struct item it = { start, end, { NULL, key.n }, { NULL, row.n }, o->rows.n };

	buf_add(&o->rows, key);
	buf_add(&o->rows, row);
	vec_push(&o->items, it);
	if (o->rows.n + o->items.nr * sizeof(it) < MEMORY_BYTES)
		return 0;
	return spill(o, err);
}

/* --- merging --------------------------------------------------------------------------------- */

/* 1 and the next row of the run in run->first, 0 at its end. */
static int advance(struct sorter *o, struct run *run, struct error *err)
{
	struct item *it = &run->first;
	int r = 0;

	if (!run->left.n) {
		if (run->next == run->chunks.nr)
			return 0;
		r = scratch_get(&o->scratch, &run->chunks.v[run->next++], &run->raw, err);
		run->left = buf_str(&run->raw);
	}
	if (r)
		return r;
	if (!str_take_svarint(&run->left, &it->start) || !str_take_svarint(&run->left, &it->end) ||
	    !str_take_bytes(&run->left, &it->key) || !str_take_bytes(&run->left, &it->row))
		return scratch_changed(err);
	return 1;
}

static void sift_down(struct run **heap, size_t nr, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct run *moved = heap[at];

		for (size_t end = child + 2; child < end && child < nr; child++)
			if (compare(&heap[child]->first, &heap[least]->first) < 0)
				least = child;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = moved;
		at = least;
	}
}

static int merge(struct sorter *o, struct run **heap,
		 int (*each)(void *ctx, struct str row, struct error *err), void *ctx,
		 struct error *err)
{
	size_t nr = 0;
	int r = 0;

	for (size_t i = 0; i < o->runs.nr && r >= 0; i++) {
		o->runs.v[i].first.order = i;
		r = advance(o, &o->runs.v[i], err);
		if (r > 0)
			heap[nr++] = &o->runs.v[i];
	}
	for (size_t i = nr / 2; i-- > 0;)
		sift_down(heap, nr, i);
	while (nr && r >= 0) {
		r = each(ctx, heap[0]->first.row, err);
		if (!r)
			r = advance(o, heap[0], err);
		if (!r)
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	return r < 0 ? r : 0;
}

int sorter_each(struct sorter *o, int (*each)(void *ctx, struct str row, struct error *err),
		void *ctx, struct error *err)
{
	struct run **heap;
	int r = 0;

	if (!o->runs.nr) {
		sort_items(o);
		for (size_t i = 0; i < o->items.nr && !r; i++)
			r = each(ctx, o->items.v[i].row, err);
		return r;
	}
	r = spill(o, err);
	if (r)
		return r;
	buf_done(&o->rows);
	vec_done(&o->items);
	heap = mem_alloc(mem_bytes(o->runs.nr, sizeof(struct run *)));
	r = merge(o, heap, each, ctx, err);
	free(heap);
	return r;
}
