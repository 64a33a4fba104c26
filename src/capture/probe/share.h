/* A file of ours that is mapped into a process, whatever that one may open itself. */
#ifndef CULPRIT_CAPTURE_PROBE_SHARE_H
#define CULPRIT_CAPTURE_PROBE_SHARE_H

#include <stdint.h>

#include "capture/probe/family.h"

/* The table that bags are handed over in (wire/handover.h). The process is held, and our memory is
 * in it. What fails leaves it without, which region->handover says. */
void share_handover(struct family *f, struct tracee *t, const struct image *im, int fd);

#endif
