/* Sorts what has a number each, in linear time; equal ones keep their order. */
#ifndef CULPRIT_BASE_SORT_H
#define CULPRIT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct shelf;

struct sort_item {
	uint64_t key; /* smallest first */
	uint64_t at;  /* goes along */
};

void sort_items(struct sort_item *v, size_t nr);
/* Records of that many bytes, by the number that is asked for each. */
void sort_records(void *v, size_t nr, size_t bytes, uint64_t (*key)(const void *record));
/* The same with what it needs meanwhile on that shelf, where it is not NULL. */
void sort_records_on(struct shelf *shelf, void *v, size_t nr, size_t bytes,
		     uint64_t (*key)(const void *record));

/* Signed numbers in the order of unsigned ones. */
static inline uint64_t sort_signed(int64_t n)
{
	return (uint64_t)n ^ (uint64_t)1 << 63;
}

#endif
