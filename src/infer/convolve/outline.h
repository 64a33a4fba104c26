/* The graph of the paper: which paths the messages take, how many each, and the delay of each hop.
 */
#ifndef CULPRIT_INFER_CONVOLVE_OUTLINE_H
#define CULPRIT_INFER_CONVOLVE_OUTLINE_H

struct followed;
struct follow_options;
struct traffic;

/* The causes of all messages are set. Paths that are noise go, and their messages have no place. */
void outline(struct traffic *t, const struct follow_options *o, struct followed *f);

#endif
