/* Puts followed files in the order in which they were written. */
#ifndef CULPRIT_SOURCE_FOLLOW_ORDER_H
#define CULPRIT_SOURCE_FOLLOW_ORDER_H

struct follow;

/* By name, rotated logs the oldest first; those that are gone where they stood among the others of
 * their log. */
void follow_order(struct follow *f);

#endif
