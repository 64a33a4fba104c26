#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Digit by digit, the last one first. Digits in which all keys agree, as in the high ones of most
 * keys, are passed over. Few items are not worth the counting. */

enum {
	DIGIT_BITS = 11,
	DIGIT_NR = 1 << DIGIT_BITS,
	FEW = 128,
};

static void insert(struct sort_item *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct sort_item it = v[i];
		size_t k = i;

		for (; k && v[k - 1].key > it.key; k--)
			v[k] = v[k - 1];
		v[k] = it;
	}
}

static size_t digit_of(uint64_t key, unsigned shift)
{
	return key >> shift & (DIGIT_NR - 1);
}

static void distribute(const struct sort_item *from, struct sort_item *to, size_t nr,
		       unsigned shift)
{
	size_t at[DIGIT_NR] = { 0 }, sum = 0;

	for (size_t i = 0; i < nr; i++)
		at[digit_of(from[i].key, shift)]++;
	for (size_t d = 0; d < DIGIT_NR; d++) {
		size_t here = at[d];

		at[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < nr; i++)
		to[at[digit_of(from[i].key, shift)]++] = from[i];
}

void sort_items(struct sort_item *v, size_t nr)
{
	struct sort_item *spare, *from = v, *to;
	uint64_t differ = 0, is_back = 0;

	for (size_t i = 1; i < nr; i++) {
		differ |= v[i].key ^ v[0].key;
		is_back |= v[i].key < v[i - 1].key;
	}
	if (!is_back)
		return;
	if (nr <= FEW) {
		insert(v, nr);
		return;
	}
	to = spare = mem_alloc(mem_bytes(nr, sizeof(*spare)));
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_item *done = to;

		if (!digit_of(differ, shift))
			continue;
		distribute(from, to, nr, shift);
		to = from;
		from = done;
	}
	if (from != v)
		memcpy(v, from, nr * sizeof(*v));
	free(spare);
}

void sort_records(void *v, size_t nr, size_t bytes, uint64_t (*key)(const void *record))
{
	struct sort_item *items = mem_alloc(mem_bytes(nr + 1, sizeof(*items)));
	char *sorted, *from = v;

	for (size_t i = 0; i < nr; i++)
		items[i] = (struct sort_item){ key(from + i * bytes), i };
	sort_items(items, nr);
	sorted = mem_alloc(mem_bytes(nr + 1, bytes));
	for (size_t i = 0; i < nr; i++)
		memcpy(sorted + i * bytes, from + items[i].at * bytes, bytes);
	if (nr)
		memcpy(v, sorted, nr * bytes);
	free(sorted);
	free(items);
}
