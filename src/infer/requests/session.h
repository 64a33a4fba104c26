/* Puts units of work together into sessions, one for each request. */
#ifndef CULPRIT_INFER_REQUESTS_SESSION_H
#define CULPRIT_INFER_REQUESTS_SESSION_H

#include "infer/requests/tie.h"

void session_find(struct work *w, const struct owners *o, const struct ties *l);

#endif
