/* Values that are another spelling of a value: the number of a name, a name behind that of a
 * thread. */
#ifndef CULPRIT_INFER_OBJECTS_SPELLING_H
#define CULPRIT_INFER_OBJECTS_SPELLING_H

struct census;

/* Fills w->same. */
void spelling_find(struct census *w);

#endif
