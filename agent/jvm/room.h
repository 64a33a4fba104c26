/*
 * Memory for what hops make and read. It lies together on pages as large as there are, since a
 * program that does much else has forgotten where small ones are since the last hop; what was given
 * back is used again, the last of its size first, which is at hand.
 */
#ifndef CULPRIT_AGENT_JVM_ROOM_H
#define CULPRIT_AGENT_JVM_ROOM_H

#include <stddef.h>

/* NULL: there is no memory. */
void *room_get(size_t bytes);
/* p: or NULL; bytes: as many as were asked for. */
void room_give(void *p, size_t bytes);
/* For good, and zero: what hops read. */
void *room_keep(size_t bytes);
/* Where all was given back, none of it stays with us. */
void rooms_free(void);

#endif
