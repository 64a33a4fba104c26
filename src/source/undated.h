/* Events of text that shows no time: lines in front of the first that has one, and whole files. */
#ifndef CULPRIT_SOURCE_UNDATED_H
#define CULPRIT_SOURCE_UNDATED_H

#include <stdbool.h>

#include "base/str.h"

struct arena;
struct event;
struct losses;
struct statements;

/* Characters that no text has, in more than a twentieth of it; NUL bytes alone do not count, since
 * a crash leaves stretches of them in a log. */
bool undated_is_binary(struct str head);

/* Sets everything that is not the place of the text. */
void undated_event(struct event *ev, struct str node);
/* What is known of the program (may be NULL) is asked about the beginning of the text. */
void undated_ask(const struct statements *statements, struct event *ev, struct str text,
		 struct arena *arena, struct losses *losses);

#endif
