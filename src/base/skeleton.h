/* A text with a zero in place of each digit: texts that differ in their digits only have the same,
 * so that what does not depend on digits is found out once for all of them. */
#ifndef CULPRIT_BASE_SKELETON_H
#define CULPRIT_BASE_SKELETON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { SKELETON_BYTES = 512 };

struct skeleton {
	uint64_t hash;
	size_t n;
	char text[SKELETON_BYTES];
};

/* False when the text is too long. */
bool skeleton_begin(struct skeleton *k, struct str text);
/* Something that belongs to it, as it is. */
bool skeleton_add(struct skeleton *k, struct str more);
/* Sets the hash. */
void skeleton_end(struct skeleton *k);

static inline bool skeleton_is(const struct skeleton *k, uint64_t hash, struct str text)
{
	return k->hash == hash && str_eq((struct str){ k->text, k->n }, text);
}

#endif
