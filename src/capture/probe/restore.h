/* Takes our code out of the stacks of a process: calls that have not ended return to their callers
 * again, and not to us. */
#ifndef CULPRIT_CAPTURE_PROBE_RESTORE_H
#define CULPRIT_CAPTURE_PROBE_RESTORE_H

#include "capture/probe/family.h"

/* While it is held. How many threads are still about to return to us, being in our code right now:
 * it is to be done again when they have run. */
int restore_stacks(const struct family *f, const struct tracee *t);

#endif
