/*
 * A place was passed that is watched from outside, as the kernel's side of capture/outside tells
 * it: the values that a tracepoint exports, and a copy of what the thread carried at that moment.
 */
#ifndef CULPRIT_WIRE_OUTSIDE_RECORD_H
#define CULPRIT_WIRE_OUTSIDE_RECORD_H

#include <stdint.h>

#include "wire/advice.h"

#define OUTSIDE_RING_BYTES (16 << 20)
#define OUTSIDE_PROCESSES 65536
#define OUTSIDE_CALLS 512  /* system calls; a power of two */
#define OUTSIDE_PLACES 512 /* a power of two */
#define OUTSIDE_AT_ONE 8   /* places at one system call */
#define OUTSIDE_TAKINGS 16 /* values of one place */
#define OUTSIDE_TEXTS 4    /* of them, texts; a power of two */
#define OUTSIDE_DEPTH 16   /* calls under way of one thread; a power of two */
#define OUTSIDE_NAME 16
#define OUTSIDE_BAG_HEAD 56 /* bytes in front of a bag's entries (lib/advice/bag.h) */
#define OUTSIDE_BAG_BYTES 8192

/* A process whose places are told, by its number. What it makes by fork is told as well. */
struct outside_process {
	uint64_t own;              /* where struct probe_own is in it; 0: it has none */
	uint64_t session;          /* struct probe_region's bags */
	uint64_t code, code_bytes; /* ours in it: what that calls is not told */
	uint64_t tid_offset;
	uint32_t group; /* as who watches numbers them; 0: known by its name */
	uint32_t is_silent;
};

#define OUTSIDE_KEEPS 1u  /* the end of a function: arguments are kept where it begins */
#define OUTSIDE_ANYONE 2u /* processes that nobody has named, too */
#define OUTSIDE_BAGGED 4u /* what the thread carries is wanted */

struct outside_place {
	uint64_t id; /* never used again */
	uint32_t flags;
	uint32_t nr_takings;
	struct advice_taking takings[OUTSIDE_TAKINGS];
};

enum outside_bag {
	OUTSIDE_BAG_EMPTY,
	OUTSIDE_BAG_COPIED,
	OUTSIDE_BAG_UNREAD, /* it could not be read */
	OUTSIDE_BAG_DUE,    /* another request's turn is, which only the process itself can take up
			     */
};

struct outside_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t id; /* of the place */
	uint32_t place, group;
	uint32_t pid, tid;  /* as the process has them itself */
	uint32_t was_read;  /* bits of values */
	uint16_t bag_bytes; /* behind this */
	uint8_t bag_is;     /* enum outside_bag */
	uint8_t reserved;
	uint64_t values[OUTSIDE_TAKINGS]; /* of a text: which one, its bytes above 8 */
	char texts[OUTSIDE_TEXTS][ADVICE_TEXT + 8];
	char name[OUTSIDE_NAME]; /* of the process, where group is 0 */
	uint64_t bag[];
};

#endif
