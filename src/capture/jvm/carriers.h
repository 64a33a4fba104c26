/* What hands bags on inside Java machines and between them, as lines of an order (docs/jvm.md):
 * read from the sets of share/carriers, which are built into the program. */
#ifndef CULPRIT_CAPTURE_JVM_CARRIERS_H
#define CULPRIT_CAPTURE_JVM_CARRIERS_H

struct buf;

void carriers_write(struct buf *out);

#endif
