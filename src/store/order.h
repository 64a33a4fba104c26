/* Puts the spans and events of a part in the order of their keys, keeping the order of delivery
 * within a key. */
#ifndef CULPRIT_STORE_ORDER_H
#define CULPRIT_STORE_ORDER_H

struct arena;
struct part;

/* Takes arrays from malloc, gives arrays in the arena: there is never more than one copy in it. */
void order_part(struct part *p, struct arena *arena);
/* Gives back arrays that will not be put in order after all. */
void order_forget(struct part *p);

#endif
