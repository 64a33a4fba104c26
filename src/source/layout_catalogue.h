/* Patterns of well-known programs that say more than can be learned from their lines. */
#ifndef CULPRIT_SOURCE_LAYOUT_CATALOGUE_H
#define CULPRIT_SOURCE_LAYOUT_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct layout;
struct layout_fields;
struct layout_time;

/* The pattern that reads nearly all of these lines, whose time is of the format given. */
bool layout_catalogue_find(struct layout *layout, const struct layout_time *format,
			   const struct str *lines, size_t nr, struct layout_fields *f);

#endif
