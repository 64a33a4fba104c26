/* Work that is handed to another thread of the same node, first in first out, without a name of its
 * own. */
#ifndef CULPRIT_INFER_REQUESTS_HANDOFF_H
#define CULPRIT_INFER_REQUESTS_HANDOFF_H

#include "infer/requests/work.h"

/* Executions that name nothing but hubs (an address, say) join those that name the same hub next
 * and come as often. Lines of an execution whose units are of several requests belong to none. */
void hand_off(struct work *w);

#endif
