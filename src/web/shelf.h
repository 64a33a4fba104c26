/* Answers that were given lately, by what was asked; bounded in bytes, the oldest go first. */
#ifndef CULPRIT_WEB_SHELF_H
#define CULPRIT_WEB_SHELF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct shelf;

struct shelf *shelf_new(size_t bytes);
void shelf_free(struct shelf *s);
/* A copy of the answer in *to, and its status. */
bool shelf_find(struct shelf *s, struct str key, struct buf *to, unsigned *status);
void shelf_put(struct shelf *s, struct str key, struct str answer, unsigned status);

#endif
