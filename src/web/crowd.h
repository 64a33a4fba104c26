/*
 * Who is connected, so that nobody is locked out: when there are many, whoever has asked nothing
 * for the longest time makes room; and only so many are answered at once, which bounds memory.
 */
#ifndef CULPRIT_WEB_CROWD_H
#define CULPRIT_WEB_CROWD_H

#include <stdbool.h>
#include <stddef.h>

struct crowd;
struct guest;

/* From nr_most on the longest idle one is disconnected for each that comes. */
struct crowd *crowd_new(size_t nr_most, size_t nr_answered);
void crowd_free(struct crowd *c);

/* A connection, until it leaves: before its socket is closed. */
struct guest *crowd_come(struct crowd *c, int socket);
/* How many are left. */
size_t crowd_leave(struct crowd *c, struct guest *g);

/* Between these two it is not idle. */
void crowd_begin(struct crowd *c, struct guest *g);
void crowd_end(struct crowd *c, struct guest *g);
/* Whether it was closed from the other side. */
bool crowd_is_gone(const struct guest *g);
/* Waits until there is room to work on an answer: false when the asker went away meanwhile. */
bool crowd_wait(struct crowd *c, struct guest *g);
void crowd_done(struct crowd *c);
/* Whoever was done, having to wait for others, goes on: at once, since little is left to do. */
void crowd_resume(struct crowd *c);

#endif
