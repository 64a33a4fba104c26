/* Takes key=value pairs from the front of a text. */
#ifndef CULPRIT_SOURCE_LAYOUT_LOGFMT_H
#define CULPRIT_SOURCE_LAYOUT_LOGFMT_H

#include <stdbool.h>

#include "base/str.h"

struct arena;

bool layout_logfmt_take(struct str *s, struct arena *arena, struct str *key, struct str *value);

#endif
