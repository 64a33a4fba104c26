/* Knows the calls that put something into an object that threads share, and those that take it. */
#ifndef CULPRIT_PROGRAM_SHARED_H
#define CULPRIT_PROGRAM_SHARED_H

#include "program/scope.h"

enum shared {
	SHARED_NOT,
	SHARED_PUTS,
	SHARED_TAKES,
};

/* Whether a call of this name on that type could be one; cheap. */
bool shared_may(const struct program *p, const struct member_ref *m);
/* Whether the calls of this type are those of something made to hand over work. */
bool shared_is_queue(struct str class);
/* *what is the field that holds the queue, list or map: "ReplicationMonitor.queue". */
enum shared shared_of(struct where call, struct arena *a, struct str *what);

#endif
