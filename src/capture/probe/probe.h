/*
 * Functions of a running process, and of the processes that it makes, watched where they begin and
 * end by code of ours in the process (patched entries, replaced return addresses).
 *
 * Whatever happens to us, the process runs on: who patches is a process of its own, which takes all
 * patches back when this one is gone.
 */
#ifndef CULPRIT_CAPTURE_PROBE_PROBE_H
#define CULPRIT_CAPTURE_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/call.h"

struct error;
struct probe;
struct probe_region;

#define PROBE_FUNCTIONS_MAX 65536

struct probe_options {
	int pid;
	int root;         /* whose children are watched, too, as soon as they run what it runs; 0 */
	bool follows;     /* processes that it makes as well */
	bool forgets;     /* gives the memory of families back whose processes are all gone */
	size_t max_bytes; /* of all buffers; 0: as it sees fit */
	int handover;     /* the file that bags are handed over in (capture/weave/table.h), or 0 */
};

/* What is read when the function is entered or left, to name an interval. */
enum take_from { TAKE_NOTHING, TAKE_ARGUMENT, TAKE_RETURN, TAKE_REGISTER };

struct probe_take {
	enum take_from from;
	uint8_t argument; /* TAKE_ARGUMENT: 0 to 5; TAKE_REGISTER (of a site): by DWARF's number */
	uint8_t nr_loads; /* how often it is followed as a pointer, at most 4 */
	int32_t offsets[4]; /* added in front of each load */
	uint8_t bytes;      /* of the value at the end: 1, 2, 4, 8 */
};

struct probe_function {
	uint32_t id;        /* what calls and marks are told by; below PROBE_FUNCTIONS_MAX */
	const char *module; /* the file, as /proc/PID/maps names it */
	uint64_t address;   /* in the file's own address space (st_value) */
	uint64_t size;
	bool is_call;               /* a struct function_call for each */
	bool is_unit;               /* counted as a piece of work, also in pauses */
	struct probe_take at_entry; /* a mark when it is entered, … */
	struct probe_take at_exit;  /* … and when it is left; is_mark_*: a mark without value */
	bool is_mark_at_entry, is_mark_at_exit;
	/* Not the function, but a place in it: a nop that a static probe has left there. It gives
	 * marks only, by at_entry. */
	bool is_site;
	uint64_t site;      /* its address, as the function's */
	uint64_t semaphore; /* a number of 16 bits that is not 0 while it is watched; 0: none */
	/* What is carried from place to place (capture/weave/): */
	bool is_advised;   /* advice runs there, as struct probe_region says */
	uint8_t arguments; /* bits of those that it reads; 0: any */
	bool is_birth;     /* makes a thread, as pthread_create does */
	bool is_death;     /* waits for one, as pthread_join does */
	uint32_t carry;    /* sends or receives (guest/carry.h says which number is what); 0: no */
};

enum probe_means { PROBE_REFUSED, PROBE_PATCHED };

struct probe_verdict {
	enum probe_means means;
	const char *why;      /* of a refusal: a few words, static */
	bool has_another_way; /* it may be watched without being patched: capture/uprobes.h */
};

struct probe_counts {
	uint64_t nr_calls, nr_marks;
	uint64_t nr_dropped;  /* calls that came too fast */
	uint64_t nr_too_deep; /* beyond what is kept of a stack */
	uint64_t nr_unwound;
	uint64_t nr_generated; /* from code that the process has made itself: left alone */
	uint64_t nr_processes, nr_threads;
	uint64_t guest_ns;   /* time that our code took in the process, by calibrated cost */
	uint64_t held_ns;    /* the longest time that a process stood still to be patched */
	uint64_t lost_ns;    /* how long all of them did, each by its part of the work */
	uint64_t patcher_ns; /* processor time of who patches */
	uint64_t nr_units;   /* calls of functions that are counted all the time */
	uint64_t nr_processes_refused; /* children that could not be entered */
	uint64_t nr_damaged;           /* records that make no sense */
};

/* Filled by the caller. Of one thread, calls come in the order of their ends and marks in the order
 * of time; threads come in any order, each up to about the same moment. */
struct probe_reader {
	void *to;
	int (*call)(void *to, const struct function_call *c, size_t nr, struct error *err);
	int (*mark)(void *to, const struct mark *m, size_t nr, struct error *err);
};

bool probe_is_built(void);
/* Our code is in the process afterwards, and does nothing. */
int probe_open(struct probe **p, const struct probe_options *o, struct error *err);
/* Takes back all patches. The process may be gone. */
void probe_close(struct probe *p);

/* verdicts: one for each. A refusal is no failure; negative when nothing could be done. */
int probe_add(struct probe *p, const struct probe_function *v, size_t nr,
	      struct probe_verdict *verdicts, struct error *err);
int probe_remove(struct probe *p, const uint32_t *ids, size_t nr, struct error *err);

/* While paused, calls that begin are not watched and cost next to nothing; calls under way are told
 * when they end. */
void probe_pause(struct probe *p, bool is_paused);

/* All that is there by now. *until: all that ended before this was told. 1 when the process has
 * ended and all was told. */
int probe_read(struct probe *p, const struct probe_reader *r, int64_t *until, struct error *err);
/* Calls that have not ended, of all threads. */
int probe_read_open(struct probe *p, const struct probe_reader *r, struct error *err);
void probe_count(const struct probe *p, struct probe_counts *c);
/* Where a site of calls is: the module's path, and the address in its file that the call returns
 * to. False where nobody knows. */
bool probe_site(const struct probe *p, uint32_t site, const char **module, uint64_t *address);
/* The memory that is shared with each family of processes, in the order in which they came: what is
 * put there reaches those that came so far (probe_read takes up those that are new). With
 * probe_options.forgets valid until the next probe_read, and NULL for a family that is gone. */
struct probe_view {
	struct probe_region *region;
	uint32_t nr_rings; /* that are surely there, whatever the region says */
	int pid;           /* the first of the family */
};
size_t probe_nr_regions(const struct probe *p);
struct probe_view probe_region(const struct probe *p, size_t i);
/* What one call costs on this machine, in ns, entry and exit: where nothing else is in the way, and
 * while paused. */
double probe_cost_ns(const struct probe *p);
double probe_paused_ns(const struct probe *p);

#endif
