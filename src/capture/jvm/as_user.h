/*
 * Opens something as another user. It is done in a child: ids belong to a whole process, and ours
 * has threads that must keep theirs.
 */
#ifndef CULPRIT_CAPTURE_JVM_AS_USER_H
#define CULPRIT_CAPTURE_JVM_AS_USER_H

#include <sys/types.h>

/* act gives a descriptor or -errno, and may do only what a signal handler may (no malloc); what it
 * gave is given to the caller. Who we are already, we stay. */
int as_user(uid_t uid, gid_t gid, int (*act)(const void *how), const void *how);

#endif
