/* Our code and memory in a process: put there, or found there. */
#ifndef CULPRIT_CAPTURE_PROBE_REMOTE_H
#define CULPRIT_CAPTURE_PROBE_REMOTE_H

#include <stdint.h>

#include "capture/probe/family.h"

/* The code as it was built. */
const struct probe_code *remote_code(void);
uint64_t remote_code_size(void);
/* In whole pages. */
uint64_t remote_code_bytes(void);

/* Pages for code, at exactly that address. */
int remote_map_code(struct tracee *t, const struct image *im, uint64_t at, uint64_t bytes,
		    struct error *err);
/* Words on why this process cannot be watched. */
int remote_check(int pid, struct error *err);
/* The region is mapped here afterwards. */
int remote_enter(struct family *f, struct tracee *t, const struct image *im, uint32_t nr_rings,
		 struct error *err);
/* 1: an earlier session has left its code there, which is used again. */
int remote_adopt(struct family *f, struct tracee *t, const struct image *im, struct error *err);

#endif
