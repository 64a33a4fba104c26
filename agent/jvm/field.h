/* A field of a message of protocol buffers that nobody knows but we: appended to its bytes, and
 * found in bytes of a stranger. */
#ifndef CULPRIT_AGENT_JVM_FIELD_H
#define CULPRIT_AGENT_JVM_FIELD_H

#include <stddef.h>

#define FIELD_HEAD 16 /* bytes that it needs besides what is in it, at most */

/* How many bytes it has. */
size_t field_put(unsigned char *to, const void *bytes, size_t nr);
/* Where what is in it begins, and how much that is; NULL: there is none, or all makes no sense. */
const unsigned char *field_find(const unsigned char *bytes, size_t nr, size_t *length);

#endif
