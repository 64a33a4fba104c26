#include "store/order.h"

#include <stdlib.h>

#include "store/store.h"

/*
 * The keys of a part mostly share their beginning (blk_10737…), so that is found first, and the
 * eight bytes that follow it are sorted as one number; only equal ones look at the strings again.
 */

/* 32 bytes: the largest that qsort moves directly. */
struct entry {
	uint64_t head;
	const char *rest; /* of the key, after what all share */
	uint32_t n;
	uint32_t at;    /* where it stands now */
	uint64_t order; /* when it was delivered */
};

static size_t shared_prefix(struct str a, struct str b)
{
	size_t i = 0;

	while (i < a.n && i < b.n && a.p[i] == b.p[i])
		i++;
	return i;
}

static uint64_t head_of(struct str s)
{
	unsigned char b[8] = { 0 };
	uint64_t head;

	if (s.n)
		memcpy(b, s.p, s.n < 8 ? s.n : 8);
	memcpy(&head, b, 8);
	return __builtin_bswap64(head);
}

static int compare(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int c;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	if (a->n <= 8 && b->n <= 8) /* the head was all there is, zeros at its end apart */
		c = a->n < b->n ? -1 : a->n > b->n;
	else
		c = str_cmp((struct str){ a->rest, a->n }, (struct str){ b->rest, b->n });
	return c ? c : a->order < b->order ? -1 : a->order > b->order;
}

/* The order of nr items whose keys stand at first, first + stride bytes, and so on. Without numbers
 * they stand as delivered, at least those of one key. */
static struct entry *sorted(const struct str *first, size_t stride, const uint64_t *numbers,
			    size_t nr)
{
	const char *base = (const char *)first;
	struct entry *v = mem_alloc(mem_bytes(nr + 1, sizeof(*v)));
	size_t skip = nr ? first->n : 0;
	bool is_sorted = true;

	for (size_t i = 1; i < nr && skip; i++) {
		struct str key = *(const struct str *)(const void *)(base + i * stride);

		skip = shared_prefix(str_head(*first, skip), key);
	}
	for (size_t i = 0; i < nr; i++) {
		struct str key = *(const struct str *)(const void *)(base + i * stride);

		key = str_skip(key, skip);
		v[i] = (struct entry){ head_of(key), key.p, (uint32_t)key.n, (uint32_t)i,
				       numbers ? numbers[i] : i };
		is_sorted = is_sorted && (!i || compare(&v[i - 1], &v[i]) < 0);
	}
	if (!is_sorted)
		qsort(v, nr, sizeof(*v), compare);
	return v;
}

void order_forget(struct part *p)
{
	free(p->spans);
	free(p->events);
	free(p->numbers);
}

void order_part(struct part *p, struct arena *arena)
{
	struct entry *order = sorted(&p->spans->key, sizeof(*p->spans), NULL, p->nr_spans);
	struct span *spans = arena_array(arena, struct span, p->nr_spans);
	struct event *events = arena_array(arena, struct event, p->nr_events);
	uint64_t *numbers = arena_array(arena, uint64_t, p->nr_events);

	for (size_t i = 0; i < p->nr_spans; i++)
		spans[i] = p->spans[order[i].at];
	free(order);
	order = sorted(&p->events->key, sizeof(*p->events), p->numbers, p->nr_events);
	for (size_t i = 0; i < p->nr_events; i++) {
		events[i] = p->events[order[i].at];
		numbers[i] = p->numbers[order[i].at];
	}
	free(order);
	order_forget(p);
	p->spans = spans;
	p->events = events;
	p->numbers = numbers;
}
