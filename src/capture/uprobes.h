/*
 * Functions that cannot be patched, watched by breakpoints of the kernel (uprobes): where they
 * begin and where they are left. Return addresses stay as they are, so that exceptions and who
 * looks at stacks go on as before. A call costs tens of microseconds.
 */
#ifndef CULPRIT_CAPTURE_UPROBES_H
#define CULPRIT_CAPTURE_UPROBES_H

#include <stddef.h>
#include <stdint.h>

#include "capture/probe/probe.h"

struct error;
struct uprobes;

int uprobes_open(struct uprobes **u, struct error *err);
void uprobes_close(struct uprobes *u);
/* In this process as well, all functions. */
void uprobes_process(struct uprobes *u, int pid);
/* Watches a function in all processes that were named, and in those that will be. */
int uprobes_add(struct uprobes *u, const struct probe_function *f, struct error *err);
void uprobes_remove(struct uprobes *u, uint32_t id);
/* What happened since; of one thread in order. *until: all before this was told. */
int uprobes_read(struct uprobes *u, const struct probe_reader *r, int64_t *until,
		 struct error *err);
/* How often one of them was passed, so far; and those of one function. */
uint64_t uprobes_hits(const struct uprobes *u);
uint64_t uprobes_hits_of(const struct uprobes *u, uint32_t id);
uint64_t uprobes_dropped(const struct uprobes *u);
/* What it costs to pass one, measured here, in ns; a call passes two. */
double uprobes_cost_ns(const struct uprobes *u);

#endif
