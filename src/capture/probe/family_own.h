/*
 * What both halves of a family share: what is written down (family.c), and what makes processes so
 * (family_apply.c).
 */
#ifndef CULPRIT_CAPTURE_PROBE_FAMILY_OWN_H
#define CULPRIT_CAPTURE_PROBE_FAMILY_OWN_H

#include "capture/probe/family.h"

#define AREA_BYTES 65536u
#define STUB_HEAD 24u /* bytes of a stub in front of what was moved */
#define SYSCALL_BYTES 2
#define TRIES 50           /* to stop a process where it can be worked on */
#define BUSY_NS 3000000000 /* how long one is asked again that nobody could stop */

void family_held_add(struct family_held *h, int64_t ns);

#endif
