/* What bears out that a node which is not heard of any more is dead: others complain, or say what
 * they never said before of its address; and it did not say that it ends. */
#ifndef CULPRIT_ASK_GONE_H
#define CULPRIT_ASK_GONE_H

#include "ask/silence.h"

/* 1: *one holds the evidence, 0: it may have ended as it should. Texts live in the arena. At most
 * two passes over all events. */
int gone_bears_out(struct store *s, const struct activity *a, const struct silence *silence,
		   struct arena *arena, struct anomaly *one, struct error *err);

#endif
