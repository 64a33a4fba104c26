/* Puts the spans and events of a part in the order of their keys, keeping the order of delivery
 * within a key. */
#ifndef CULPRIT_STORE_ORDER_H
#define CULPRIT_STORE_ORDER_H

struct part;

/* In place, so that there is never a second copy of a large part. */
void order_part(struct part *p);

#endif
