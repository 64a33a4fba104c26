/* Step 1 of the algorithm: kinds whose names can be used in each other's place become one. Words
 * that no thing keeps are found here, too: states, not names. */
#ifndef CULPRIT_INFER_OBJECTS_MERGE_H
#define CULPRIT_INFER_OBJECTS_MERGE_H

struct relating;
struct census;

/* Both change which things lines name; relations must be made anew after. */
void merge_kinds(struct census *w, const struct relating *r);
void merge_drop_states(struct census *w, const struct relating *r);

#endif
