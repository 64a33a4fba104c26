/* Which line answers which: both name a number that two ends have agreed on, as in
 * 181@10.0.0.1:7000. */
#ifndef CULPRIT_INFER_REQUESTS_AGREED_H
#define CULPRIT_INFER_REQUESTS_AGREED_H

#include "infer/requests/work.h"

/* Sets w->answers. */
void agreed_find(struct work *w);

/* The first such number that the line names; 0: none. */
uint32_t agreed_number(const struct work *w, const struct seen_line *l);

/* Whether the thing is such a number, or such a number with the end that used it. */
static inline bool agreed_is(const struct work *w, uint32_t thing)
{
	return work_look(w, thing)->is_agreed;
}

#endif
