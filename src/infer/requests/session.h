/* Puts units of work together into sessions, one for each request. */
#ifndef CULPRIT_INFER_REQUESTS_SESSION_H
#define CULPRIT_INFER_REQUESTS_SESSION_H

#include "infer/requests/tie.h"

/* Units that name many things of one kind belong to no single request. */
void session_mark_lists(struct work *w, const struct owners *o);
void session_find(struct work *w, const struct owners *o, const struct ties *l);

#endif
