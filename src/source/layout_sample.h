/* The lines that a layout is learned from, and what can be told of a line before it is known. */
#ifndef CULPRIT_SOURCE_LAYOUT_SAMPLE_H
#define CULPRIT_SOURCE_LAYOUT_SAMPLE_H

#include "base/str.h"

struct arena;
struct layout_sample;

#define LAYOUT_SAMPLE_LINES 400

/* The first lines and others spread over the rest; in the arena where they are not borrowed. */
void layout_sample_take(struct layout_sample *sample, struct str head, struct arena *arena);

#endif
