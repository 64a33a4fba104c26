/* Which requests began before the input or had not ended with it. */
#ifndef CULPRIT_INFER_REQUESTS_WHOLE_H
#define CULPRIT_INFER_REQUESTS_WHOLE_H

#include "infer/requests/tie.h"

struct whole;

struct whole *whole_new(const struct work *w);
void whole_free(struct whole *h);
/* Whether something is missing of the request with these units, in order of their start, and the
 * input began or ended where it would stand. */
bool whole_is_cut(const struct whole *h, const uint32_t *units, size_t nr);

#endif
