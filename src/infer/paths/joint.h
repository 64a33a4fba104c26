/* Gives all calls of a node to its spans together, so that the whole is the likeliest. */
#ifndef CULPRIT_INFER_PATHS_JOINT_H
#define CULPRIT_INFER_PATHS_JOINT_H

struct window;

/* Fills parent and confidence of every call of the window that is not decided. */
void joint_run(struct window *w);

#endif
