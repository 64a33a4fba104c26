/* Steps 2 and 3 of the algorithm: identifiers that tell things apart only together with others. */
#ifndef CULPRIT_INFER_OBJECTS_COMBINE_H
#define CULPRIT_INFER_OBJECTS_COMBINE_H

struct relating;
struct census;

/* Makes a kind of its own for each combination that is left, and changes which things lines name;
 * relations must be made anew after. */
void combine_kinds(struct census *w, const struct relating *r);

#endif
