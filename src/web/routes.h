/* Which path is answered by whom: one table. */
#ifndef CULPRIT_WEB_ROUTES_H
#define CULPRIT_WEB_ROUTES_H

#include <stdbool.h>

struct api;
struct asked;
struct reply;

/* Whether the answer may take long and much memory. */
bool routes_is_work(const struct asked *a);
/* Fills *r for anyone who was let in. */
void routes_answer(const struct api *api, const struct asked *a, struct reply *r);

#endif
