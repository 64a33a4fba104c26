/* What one node warns of again and again while its peers do not. */
#ifndef CULPRIT_ASK_WARNINGS_H
#define CULPRIT_ASK_WARNINGS_H

#include "ask/activity.h"
#include "ask/repeats.h"

/* Texts live in the arena. */
int warnings_find(struct store *s, const struct activity *a, struct arena *arena,
		  struct anomaly_list *out, struct error *err);

#endif
