/* Puts a question to a selection of requests: of a type, a node, a time, a range of durations. No
 * question needs to know. */
#ifndef CULPRIT_ASK_SELECTION_H
#define CULPRIT_ASK_SELECTION_H

#include <stdbool.h>

#include "ask/question.h"

/* The options by which one selects; they end with a zero name. A question that looks at requests
 * has them besides its own, of which one of the same name must mean the same. */
extern const struct option selection_options[];
/* Whether a question has them. */
bool selection_is_for(const struct question *q);

/* As question.run, of what the options leave. The runs are as before afterwards; two of them must
 * not be the same handle. */
int selection_ask(const struct question *q, struct store *const *runs, const struct args *args,
		  struct report *report, struct error *err);

/* A part of what --then says of the second run, for the question that knows it: empty where it
 * takes the part away; false where it says nothing of it. */
struct buf;
bool selection_then(const struct args *args, const char *part, struct buf *value);

#endif
