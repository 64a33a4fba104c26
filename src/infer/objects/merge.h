/* Step 1 of the algorithm: kinds whose names can be used in each other's place become one. Words
 * that no thing keeps are found here, too: states, not names. */
#ifndef CULPRIT_INFER_OBJECTS_MERGE_H
#define CULPRIT_INFER_OBJECTS_MERGE_H

struct relating;
struct work;

/* Both change which things lines name; relations must be made anew after. */
void merge_kinds(struct work *w, const struct relating *r);
void merge_drop_states(struct work *w, const struct relating *r);

#endif
