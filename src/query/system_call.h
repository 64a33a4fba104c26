/* System calls by their names, as the kernel of this machine numbers them. */
#ifndef CULPRIT_QUERY_SYSTEM_CALL_H
#define CULPRIT_QUERY_SYSTEM_CALL_H

#include "base/str.h"

/* Its number; -1 where there is none of this name, and *near is one that is written alike, or
 * empty. near may be NULL. */
int system_call_number(struct str name, struct str *near);

#endif
