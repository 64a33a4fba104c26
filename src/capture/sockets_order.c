/* A heap of copies, the oldest on top; of equal times the one that came first. */
#include "capture/sockets_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "wire/socket_record.h"

struct waiting {
	uint64_t number; /* as they came */
	struct socket_record record;
	size_t payload_bytes;
	char payload[];
};

struct sockets_order {
	sockets_take *take;
	void *to;
	size_t max_bytes, bytes;
	uint64_t nr_added;
	VEC(struct waiting *) heap;
};

struct sockets_order *sockets_order_new(size_t max_bytes, sockets_take *take, void *to)
{
	struct sockets_order *o = mem_zalloc(sizeof(*o));

	o->take = take;
	o->to = to;
	o->max_bytes = max_bytes;
	return o;
}

static size_t bytes_of(const struct waiting *w)
{
	return sizeof(*w) + w->payload_bytes;
}

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	if (a->record.ns != b->record.ns)
		return a->record.ns < b->record.ns;
	return a->number < b->number;
}

static void swap(struct waiting **a, struct waiting **b)
{
	struct waiting *was = *a;

	*a = *b;
	*b = was;
}

static void rise(struct sockets_order *o, size_t at)
{
	struct waiting **v = o->heap.v;

	for (; at && is_before(v[at], v[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&v[at], &v[(at - 1) / 2]);
}

static void sink_down(struct sockets_order *o)
{
	struct waiting **v = o->heap.v;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < o->heap.nr) {
		if (child + 1 < o->heap.nr && is_before(v[child + 1], v[child]))
			child++;
		if (!is_before(v[child], v[at]))
			return;
		swap(&v[at], &v[child]);
		at = child;
	}
}

static void hand_out(struct sockets_order *o)
{
	struct waiting *w = o->heap.v[0];

	o->heap.v[0] = o->heap.v[--o->heap.nr];
	sink_down(o);
	o->bytes -= bytes_of(w);
	o->take(o->to, &w->record, (struct str){ w->payload, w->payload_bytes });
	free(w);
}

void sockets_order_add(struct sockets_order *o, const struct socket_record *r, struct str payload)
{
	struct waiting *w = mem_alloc(sizeof(*w) + payload.n);

	w->number = o->nr_added++;
	w->record = *r;
	w->payload_bytes = payload.n;
	if (payload.n)
		memcpy(w->payload, payload.p, payload.n);
	vec_push(&o->heap, w);
	rise(o, o->heap.nr - 1);
	o->bytes += bytes_of(w);
	while (o->bytes > o->max_bytes)
		hand_out(o);
}

void sockets_order_until(struct sockets_order *o, uint64_t ns)
{
	while (o->heap.nr && o->heap.v[0]->record.ns <= ns)
		hand_out(o);
}

void sockets_order_free(struct sockets_order *o)
{
	while (o->heap.nr)
		hand_out(o);
	vec_done(&o->heap);
	free(o);
}
