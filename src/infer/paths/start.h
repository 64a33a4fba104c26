/* The first assignment of calls to spans, from which learning begins. */
#ifndef CULPRIT_INFER_PATHS_START_H
#define CULPRIT_INFER_PATHS_START_H

struct bins;
struct piece;
struct view;

enum start { START_EVENTS, START_ARRIVALS, STARTS };

/* Gives every unsure call of the piece to a span. */
void start_assign(struct piece *p, const struct view *v, const struct bins *b, enum start how);

#endif
