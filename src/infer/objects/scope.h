/* Small numbers mean something within a larger thing only (task 3 of which job?): finds within
 * what, by the line or by the log that it stands in. */
#ifndef CULPRIT_INFER_OBJECTS_SCOPE_H
#define CULPRIT_INFER_OBJECTS_SCOPE_H

struct census;

/* Gives kinds of small numbers their scope and makes their things anew within it. */
void scope_make(struct census *w);
/* What is an amount shows when each scope is looked at by itself: numbers hardly come back, or each
 * scope has one only. */
void scope_drop_counters(struct census *w);

#endif
