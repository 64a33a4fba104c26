#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shelf.h"

/* Digit by digit, the last one first. Digits in which all keys agree, as in the high ones of most
 * keys, are passed over. Few items are not worth the counting. */

enum {
	DIGIT_BITS = 11,
	DIGIT_BITS_SOME = 8, /* of some items: counting must not take longer than moving */
	SOME = 4096,
	FEW = 64,
	LOOK_RECORDS = 8192, /* between two looks at the memory of the process */
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

static size_t digit_of(uint64_t key, unsigned shift, unsigned bits)
{
	return key >> shift & (((size_t)1 << bits) - 1);
}

/* Large arrays are gone through faster than their pages are taken away. */
static void look(struct shelf *shelf, size_t nr)
{
	if (shelf && nr % LOOK_RECORDS == LOOK_RECORDS - 1)
		shelf_look(shelf);
}

static void distribute(struct shelf *shelf, const struct sort_item *from, struct sort_item *to,
		       size_t nr, unsigned shift, unsigned bits)
{
	size_t at[1 << DIGIT_BITS], nr_digits = (size_t)1 << bits, sum = 0;

	memset(at, 0, nr_digits * sizeof(*at));
	for (size_t i = 0; i < nr; i++) {
		look(shelf, i);
		at[digit_of(from[i].key, shift, bits)]++;
	}
	for (size_t d = 0; d < nr_digits; d++) {
		size_t here = at[d];

		at[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < nr; i++) {
		look(shelf, i);
		to[at[digit_of(from[i].key, shift, bits)]++] = from[i];
	}
}

static void sort_on(struct shelf *shelf, struct sort_item *v, size_t nr)
{
	struct sort_item *spare, *from = v, *to;
	uint64_t differ = 0, is_back = 0;
	unsigned bits = nr > SOME ? DIGIT_BITS : DIGIT_BITS_SOME;

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
	to = spare = shelf_alloc(shelf, mem_bytes(nr, sizeof(*spare)));
	for (unsigned shift = 0; shift < 64; shift += bits) {
		struct sort_item *done = to;

		if (!digit_of(differ, shift, bits))
			continue;
		distribute(shelf, from, to, nr, shift, bits);
		to = from;
		from = done;
	}
	for (size_t i = 0; i < nr && from != v; i++) {
		look(shelf, i);
		v[i] = from[i];
	}
	shelf_give(shelf, spare);
}

void sort_items(struct sort_item *v, size_t nr)
{
	sort_on(NULL, v, nr);
}

/* Records are short: a call for each would take longer than the copy. */
static void copy_record(char *to, const char *from, size_t bytes)
{
	uint64_t word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		memcpy(to, &word, sizeof(word));
		from += sizeof(word);
		to += sizeof(word);
	}
	while (bytes--)
		*to++ = *from++;
}

void sort_records_on(struct shelf *shelf, void *v, size_t nr, size_t bytes,
		     uint64_t (*key)(const void *record))
{
	struct sort_item *items = shelf_alloc(shelf, mem_bytes(nr + 1, sizeof(*items)));
	char *from = v, *sorted;
	bool is_back = false;

	for (size_t i = 0; i < nr; i++) {
		look(shelf, i);
		items[i] = (struct sort_item){ key(from + i * bytes), i };
		is_back |= i && items[i].key < items[i - 1].key;
	}
	if (is_back) {
		sort_on(shelf, items, nr);
		sorted = shelf_alloc(shelf, mem_bytes(nr, bytes));
		for (size_t i = 0; i < nr; i++) {
			look(shelf, i);
			copy_record(sorted + i * bytes, from + items[i].at * bytes, bytes);
		}
		for (size_t i = 0; i < nr; i++) {
			look(shelf, i);
			copy_record(from + i * bytes, sorted + i * bytes, bytes);
		}
		shelf_give(shelf, sorted);
	}
	shelf_give(shelf, items);
}

void sort_records(void *v, size_t nr, size_t bytes, uint64_t (*key)(const void *record))
{
	sort_records_on(NULL, v, nr, bytes, key);
}
