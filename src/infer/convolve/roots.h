/* Finds the routes on which requests begin, and takes away what only seems to cause those. */
#ifndef CULPRIT_INFER_CONVOLVE_ROOTS_H
#define CULPRIT_INFER_CONVOLVE_ROOTS_H

struct links;
struct traffic;

/* The links are learned. How many were taken away; then they are to be learned again. */
int roots_cut(struct links *l, const struct traffic *t);

#endif
