/* The text of a template: a line without what varies in it. */
#ifndef CULPRIT_IDENT_MASKED_H
#define CULPRIT_IDENT_MASKED_H

#include <stdbool.h>

#include "base/str.h"

struct line;
struct tokens;

/* Sets template and title of *l. What varies is masked, neighbours by one mask: lists of any length
 * are the same. Signs do not tell templates apart, for they come and go with what they enclose. */
void masked_title(struct line *l, struct str text, const struct tokens *t, const bool *varies);

#endif
