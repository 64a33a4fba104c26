/* Where a function is in its file, for breakpoints of the kernel (uprobes): its first byte, and the
 * places where it is left; and whether it can be patched instead. */
#ifndef CULPRIT_CAPTURE_SPOT_H
#define CULPRIT_CAPTURE_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/probe/ways_out.h"

#define SPOT_PATH 4096

struct error;

struct spot {
	uint64_t at;                 /* in the file */
	uint32_t outs[WAYS_OUT_MAX]; /* from there on */
	size_t nr_outs;
};

/* The module's file as the process sees it. */
void spot_path(int pid, const char *module, char path[SPOT_PATH]);
/* address: in the file's own address space. Refused where it cannot be told where it ends. */
int spot_find(struct spot *s, int pid, const char *module, uint64_t address, uint64_t size,
	      struct error *err);
/* Of one address, whatever is there; of what is no code as well. */
int spot_offset(int pid, const char *module, uint64_t address, uint64_t *offset, struct error *err);
/* Whether the function can be patched where it begins, as far as the file tells. */
bool spot_is_patchable(const char *path, uint64_t address, uint64_t size);

#endif
