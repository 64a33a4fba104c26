/* What the text of an identifier looks like: a number, an address, a path, the numbers within. */
#ifndef CULPRIT_INFER_OBJECTS_SHAPE_H
#define CULPRIT_INFER_OBJECTS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Traits (KIND_*, infer/objects/census.h) of one value. */
unsigned shape_of(struct str value);
/* Hexadecimal digits that are text once they are read as bytes. */
bool shape_is_text(struct str value);
/* The numbers of a text from left to right, as many as fit: how many. Leading zeroes count for
 * nothing; hexadecimal digits are not looked for. */
size_t shape_numbers(struct str value, uint64_t *v, size_t room);

#endif
