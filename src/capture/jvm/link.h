/*
 * Our agent in a Java virtual machine (agent/jvm), as who watches sees it: told what to weave, by a
 * file that says all of it, and heard by a file that it writes to.
 */
#ifndef CULPRIT_CAPTURE_JVM_LINK_H
#define CULPRIT_CAPTURE_JVM_LINK_H

#include <stdint.h>

#include "base/str.h"

struct buf;
struct error;
struct jvm_link;

/* Nothing is in the process yet. region: where struct probe_region is in it. */
int jvm_link_open(struct jvm_link **l, int pid, uint64_t region, struct error *err);
/* Everything is as it was in the machine, if that is still there. */
void jvm_link_close(struct jvm_link *l);

/* wanted: the lines of an order (docs/jvm.md) that say what is to be woven, and nothing else is
 * afterwards. Answers are appended to *told as they are. */
int jvm_link_order(struct jvm_link *l, struct str wanted, struct buf *told, struct error *err);
/* What it has said since: of classes that were loaded later. */
void jvm_link_hear(struct jvm_link *l, struct buf *told);

#endif
