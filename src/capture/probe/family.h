/*
 * Processes that have the same code of ours, at the same addresses: one that it was put into, and
 * those that this one has forked since. What is to be patched in all of them stands in the region
 * that they share (wire/probe_region.h), so that whoever comes after us can take it back.
 */
#ifndef CULPRIT_CAPTURE_PROBE_FAMILY_H
#define CULPRIT_CAPTURE_PROBE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "capture/probe/image.h"
#include "capture/probe/relocate.h"
#include "capture/probe/tracee.h"
#include "wire/probe_region.h"

struct error;

struct family {
	struct probe_region *region; /* as we have mapped it */
	uint64_t bytes;
	uint32_t nr_rings;
	int fd;
	uint32_t nr_patches, nr_areas; /* as the region says, but not changed by strangers */
	struct probe_patch *patches;   /* our own copy of both */
	struct probe_area areas[PROBE_AREAS];
	uint8_t *masters[PROBE_AREAS]; /* what is in each area */
	uint32_t taken;                /* 1 + an area whose place somebody else has taken */
	uint64_t code;                 /* where our code is in them */
	struct relocator how;
	struct map by_origin;    /* 1 + the patch, by where it is */
	uint64_t modules;        /* a sum over what was loaded when it was last looked at */
	struct map modules_seen; /* whose exits are known, by hash of the path */
	struct map leaving;      /* addresses of functions that must not be watched */
	bool has_handlers, has_unwinder;
	bool has_generated; /* code that is of no file */
};

/* For how long processes stood still. */
struct family_held {
	int64_t longest_ns, all_ns;
};

/* What is done while the process that is entered stands still; negative: it is not entered. */
struct family_first {
	void *to;
	int (*run)(void *to, struct family *f, struct tracee *t, struct error *err);
};

/* Puts our code into the process, or finds what is there already. handover: see
 * capture/probe/share.h; negative: none. first: or NULL. */
int family_enter(struct family *f, int pid, size_t max_bytes, int handover,
		 const struct family_first *first, struct tracee_late *late,
		 struct family_held *held, struct error *err);
/* Whether the process has it, as children of one that has. */
bool family_has(const struct family *f, int pid);
void family_done(struct family *f);

/* Addresses are the file's. */
struct family_wish {
	uint64_t address, size;
	uint64_t site, semaphore; /* with PROBE_WANT_SITE */
	uint32_t what;
};

/* Written down, not yet done. */
enum probe_why family_want(struct family *f, const struct image *im, const struct image_module *m,
			   int mem, const struct family_wish *w);
uint64_t family_modules(const struct image *im);
/* Where calls may come from; when there is code that is of no file, those from there are left
 * alone. */
void family_callers(struct family *f, const struct image *im);
void family_want_exits(struct family *f, int pid, const struct image *im, int mem);
void family_unwant(struct family *f, uint32_t function);

/* Makes the process as it is wanted. busy: functions that threads did not leave are given up, by
 * their numbers. */
int family_apply(struct family *f, int pid, struct tracee_late *late, struct family_held *held,
		 struct error *err);
/* … of one that stands still: how many patches could not be written. */
int family_apply_stopped(struct family *f, struct tracee *t, struct error *err);
/* After EEXIST: what was to go where no room is any more is to be wanted again. */
bool family_replan(struct family *f);
/* Takes everything back, and all calls return to their callers. 1: not yet, a thread is in our
 * code; what looks at return addresses stays patched until then. */
int family_leave(struct family *f, int pid, struct tracee_late *late, struct error *err);

#endif
