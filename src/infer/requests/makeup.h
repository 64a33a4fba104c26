/* What requests are usually made of, and how long it takes until its parts come. */
#ifndef CULPRIT_INFER_REQUESTS_MAKEUP_H
#define CULPRIT_INFER_REQUESTS_MAKEUP_H

#include "infer/requests/work.h"

struct makeup;

/* The units by session, in order of their start. */
struct makeup *makeup_new(const struct work *w, const uint32_t *order, size_t nr);
void makeup_free(struct makeup *m);
/* Whether the request with these units lacks something that came before the input began, or seems
 * to be under way where the input begins or ends. */
bool makeup_is_cut(const struct makeup *m, const uint32_t *units, size_t nr);

#endif
