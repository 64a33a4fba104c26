/* Lines that carry the lines of another program: what is inside has a layout of its own. */
#ifndef CULPRIT_SOURCE_LAYOUT_WRAP_H
#define CULPRIT_SOURCE_LAYOUT_WRAP_H

#include <stdint.h>

#include "base/str.h"

struct arena;
struct event;
struct layout;
struct layout_worker;
struct losses;

/* What the outer line says. */
struct layout_wrapped {
	const struct layout *inner; /* NULL when what is inside shows no layout */
	unsigned nr;                /* which of the inner layouts it is */
	struct str payload;
	struct str node; /* or empty */
	int64_t ns;      /* NS_NONE when only the payload can tell */
};

/* 1 an event, 0 the payload goes on with the one before. */
int layout_wrapped_parse(const struct layout *layout, struct layout_worker *worker,
			 const struct layout_wrapped *w, struct arena *arena, struct event *ev,
			 struct losses *losses);

#endif
