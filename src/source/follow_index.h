/* Finds a followed file by its device and inode. */
#ifndef CULPRIT_SOURCE_FOLLOW_INDEX_H
#define CULPRIT_SOURCE_FOLLOW_INDEX_H

#include <stddef.h>
#include <sys/types.h>

struct followed;

/* Zero is empty. */
struct follow_index {
	struct followed **slots; /* open addressing */
	size_t nr, nr_slots;     /* nr_slots is a power of two, or 0 */
};

void follow_index_add(struct follow_index *x, struct followed *it);
struct followed *follow_index_find(const struct follow_index *x, dev_t dev, ino_t ino);
void follow_index_done(struct follow_index *x);

#endif
