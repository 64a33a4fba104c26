/* Decides for all messages together which message caused each. */
#ifndef CULPRIT_INFER_CONVOLVE_DECIDE_H
#define CULPRIT_INFER_CONVOLVE_DECIDE_H

struct links;
struct traffic;

/* Sets cause and confidence of every message. The links are learned, and learn more. */
void decide(struct traffic *t, struct links *l);

#endif
