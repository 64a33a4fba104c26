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

/* The rows of one kind: keys stand at key, key + stride bytes, and so on. Without numbers they
 * stand as delivered, at least those of one key. */
struct rows {
	char *first;
	const char *key;
	size_t stride;
	uint64_t *numbers;
	size_t nr;
};

static struct str key_at(const struct rows *r, size_t i)
{
	return *(const struct str *)(const void *)(r->key + i * r->stride);
}

/* NULL when they are in order already, as the spans of one large trace are. */
static struct entry *sorted(const struct rows *r)
{
	struct entry *v = mem_alloc(mem_bytes(r->nr, sizeof(*v)));
	size_t skip = key_at(r, 0).n;
	bool is_sorted = true;

	for (size_t i = 1; i < r->nr && skip; i++)
		skip = shared_prefix(str_head(key_at(r, 0), skip), key_at(r, i));
	for (size_t i = 0; i < r->nr; i++) {
		struct str key = str_skip(key_at(r, i), skip);

		v[i] = (struct entry){ head_of(key), key.p, (uint32_t)key.n, (uint32_t)i,
				       r->numbers ? r->numbers[i] : i };
		is_sorted = is_sorted && (!i || compare(&v[i - 1], &v[i]) < 0);
	}
	if (!is_sorted) {
		qsort(v, r->nr, sizeof(*v), compare);
		return v;
	}
	free(v);
	return NULL;
}

static void move(const struct rows *r, size_t to, size_t from)
{
	memcpy(r->first + to * r->stride, r->first + from * r->stride, r->stride);
	if (r->numbers)
		r->numbers[to] = r->numbers[from];
}

/* Row order[i].at goes to i. In place, circle by circle: a part may be most of the memory. */
static void permute(const struct rows *r, struct entry *order, void *spare)
{
	for (size_t i = 0; i < r->nr; i++) {
		uint64_t number = r->numbers ? r->numbers[i] : 0;
		size_t to = i;

		if (order[i].at == i)
			continue;
		memcpy(spare, r->first + i * r->stride, r->stride);
		while (order[to].at != i) {
			size_t from = order[to].at;

			move(r, to, from);
			order[to].at = (uint32_t)to;
			to = from;
		}
		memcpy(r->first + to * r->stride, spare, r->stride);
		if (r->numbers)
			r->numbers[to] = number;
		order[to].at = (uint32_t)to;
	}
}

static void put_in_order(const struct rows *r, void *spare)
{
	struct entry *order = r->nr > 1 ? sorted(r) : NULL;

	if (order)
		permute(r, order, spare);
	free(order);
}

void order_part(struct part *p)
{
	struct span span;
	struct event event;

	put_in_order(&(struct rows){ (char *)p->spans, (const char *)&p->spans->key,
				     sizeof(*p->spans), NULL, p->nr_spans },
		     &span);
	put_in_order(&(struct rows){ (char *)p->events, (const char *)&p->events->key,
				     sizeof(*p->events), p->numbers, p->nr_events },
		     &event);
}
