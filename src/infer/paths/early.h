/* Finds the callees whose answers a node does not wait for: it replies before that work is done. */
#ifndef CULPRIT_INFER_PATHS_EARLY_H
#define CULPRIT_INFER_PATHS_EARLY_H

#include <stdbool.h>

struct stretch;
struct view;

/* outlasts, by callee as the view numbers them: its calls often end after the span that made them.
 */
void early_find(const struct stretch *s, const struct view *v, bool *outlasts);

#endif
