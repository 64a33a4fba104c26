/* Turns a log text into the name of its statement: what varies from line to line becomes <*>. */
#ifndef CULPRIT_SOURCE_TITLE_H
#define CULPRIT_SOURCE_TITLE_H

#include "base/arena.h"
#include "base/str.h"

#define TITLE_BYTES_MAX 100

/* Of the first line with anything in it; valid UTF-8 whatever the text is. */
struct str title_mask(struct arena *a, struct str text);

#endif
