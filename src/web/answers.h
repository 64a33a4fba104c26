/* Answers that were given lately, by what was asked; bounded in bytes, the oldest go first. */
#ifndef CULPRIT_WEB_ANSWERS_H
#define CULPRIT_WEB_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct answers;

struct answers *answers_new(size_t bytes);
void answers_free(struct answers *s);
/* A copy of the answer in *to, and its status. */
bool answers_find(struct answers *s, struct str key, struct buf *to, unsigned *status);
void answers_put(struct answers *s, struct str key, struct str answer, unsigned status);

#endif
