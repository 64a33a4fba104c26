/* What hands bags on inside Java machines and between them, as lines of an order (docs/jvm.md):
 * read from the sets of share/carriers, which are built into the program. */
#ifndef CULPRIT_CAPTURE_JVM_CARRIERS_H
#define CULPRIT_CAPTURE_JVM_CARRIERS_H

#include <stdbool.h>

struct buf;

/* of_threads: only what tells one thread from another (virtual.carry); otherwise all but that. */
void carriers_write(struct buf *out, bool of_threads);

#endif
