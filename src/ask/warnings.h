/* What one node warns of again and again while its peers do not; and what a node that stood still
 * says of it itself. */
#ifndef CULPRIT_ASK_WARNINGS_H
#define CULPRIT_ASK_WARNINGS_H

#include "ask/activity.h"
#include "ask/repeats.h"

/* Texts live in the arena. */
int warnings_find(struct store *s, const struct activity *a, struct arena *arena,
		  struct anomaly_list *out, struct error *err);
/* The first line of the node just after a moment that names about that length of time, or the empty
 * text. One pass over all events. */
int warnings_of_pause(struct store *s, struct str node, int64_t end, int64_t length,
		      struct arena *arena, struct str *said, struct error *err);

#endif
