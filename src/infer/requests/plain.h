/* Words without a digit, as they stand in texts, masked texts and names of threads. */
#ifndef CULPRIT_INFER_REQUESTS_PLAIN_H
#define CULPRIT_INFER_REQUESTS_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { PLAIN_MIN = 2, PLAIN_MAX = 64 }; /* letters of such a word */

/* The next one at or behind *at, which is moved behind it; false: there is none. Parts of paths and
 * of words with digits are none. */
bool plain_next(struct str text, size_t *at, struct str *word);

#endif
