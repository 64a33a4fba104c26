/* Remembers on which hosts each service ran, so that replicas can be told apart and others keep
 * short names. */
#ifndef CULPRIT_INFER_NAMED_SERVICES_H
#define CULPRIT_INFER_NAMED_SERVICES_H

#include "base/arena.h"
#include "base/str.h"

struct span;
struct services;

struct services *services_new(void);
void services_free(struct services *s);
void services_see(struct services *s, struct str service, struct str host);
/* "service", or "service@host" when it ran on several hosts. */
struct str services_node(const struct services *s, struct str service, struct str host,
			 struct arena *arena);
/* Whose clock stamped it: the host if told, else the service itself. */
struct str services_clock(const struct span *span);

#endif
