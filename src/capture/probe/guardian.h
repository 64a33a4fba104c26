/*
 * The process that patches others, apart from the one that watches: when that one is gone, however
 * it ended, everything is taken back.
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUARDIAN_H
#define CULPRIT_CAPTURE_PROBE_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/probe_region.h"

/* How long code of ours goes on when nobody says that somebody is there. */
#define GUARDIAN_ALIVE_NS 2000000000

/* What both have in memory. */
struct guardian_shared {
	uint64_t nr_members; /* processes that are watched now */
	uint64_t nr_processes;
	uint64_t held_ns;    /* the longest time that one of them stood still */
	uint64_t lost_ns;    /* how long all of them did, each by its part of the work */
	uint64_t nr_refused; /* processes that could not be entered */
	double ticks_per_ns;
	uint32_t is_paused; /* nothing is told for now */
	int32_t handover;   /* a file that is to be mapped into all of them; 0: none */
};

enum guardian_kind {
	GUARDIAN_OPEN = 1,
	GUARDIAN_ADD,
	GUARDIAN_REMOVE,
	GUARDIAN_REGION,
	GUARDIAN_GONE,
};

/* Followed by bytes: of ADD struct guardian_function and then text, of REMOVE numbers. */
struct guardian_ask {
	uint32_t kind, nr;
	uint64_t bytes;
	uint64_t max_bytes;
	int32_t pid, root;
	uint32_t follows, reserved;
};

struct guardian_function {
	uint64_t address, size, site, semaphore;
	uint32_t id, what;
	uint32_t module; /* where its path begins in the text */
	uint32_t reserved;
	struct probe_taken taken;
};

/* Followed, for ADD, by nr bytes: enum probe_why of each. With REGION comes its file; nr is 1 + the
 * number of the family. GONE: all processes of this family have ended. */
struct guardian_answer {
	uint32_t kind, nr;
	int32_t code; /* an error; with REGION a process of the family */
	uint32_t reserved;
	uint64_t bytes; /* of the region */
	char msg[512];
};

/* Never comes back. */
_Noreturn void guardian_run(int socket, struct guardian_shared *shared);

/* All n bytes, or negative. */
int guardian_send(int socket, const void *p, size_t n);
int guardian_receive(int socket, void *p, size_t n);

#endif
