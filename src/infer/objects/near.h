/* Kinds that no line names together: a thing belongs to the one that lines just before it name. */
#ifndef CULPRIT_INFER_OBJECTS_NEAR_H
#define CULPRIT_INFER_OBJECTS_NEAR_H

struct relating;
struct census;

void near_make(struct relating *r, const struct census *w);

#endif
