/* What a followed file holds, read through an open descriptor: its beginning, its last whole line,
 * and whether another file holds the same. */
#ifndef CULPRIT_SOURCE_FOLLOW_CONTENT_H
#define CULPRIT_SOURCE_FOLLOW_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first bytes after decompression; how many there are. */
size_t follow_content_head(int fd, char *head, size_t n, bool *is_plain);
/* Where the last line that is whole ends, within the first size bytes; 0 when there is none. */
uint64_t follow_content_whole(int fd, uint64_t size);

enum follow_content_order {
	CONTENT_DIFFERS,
	CONTENT_FRONT, /* the whole of the first is what the second begins with */
	CONTENT_SAME,
	CONTENT_LONGER, /* the other way round */
};
/* Both are decompressed; one that is damaged, or written just now, ends there. */
enum follow_content_order follow_content_cmp(int a, int b);

#endif
