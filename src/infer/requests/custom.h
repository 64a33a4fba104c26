/* Counts which statements follow which, from unit to unit. */
#ifndef CULPRIT_INFER_REQUESTS_CUSTOM_H
#define CULPRIT_INFER_REQUESTS_CUSTOM_H

#include "infer/requests/tie.h"

struct customs;

/* The types of *l are listed; their sorts are set. */
struct customs *customs_new(const struct work *w, struct ties *l);
/* The unit may follow the earlier one. */
void customs_count(struct customs *h, uint32_t earlier, uint32_t unit);
/* The same was done again after the unit. */
void customs_again(struct customs *h, uint32_t unit);
/* When all is counted: fills follows and again of the ties. */
void customs_done(struct customs *h);

#endif
