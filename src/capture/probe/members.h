/* All processes that are watched, and what is to be watched in them. */
#ifndef CULPRIT_CAPTURE_PROBE_MEMBERS_H
#define CULPRIT_CAPTURE_PROBE_MEMBERS_H

#include "base/arena.h"
#include "base/vec.h"
#include "capture/probe/births.h"
#include "capture/probe/family.h"
#include "capture/probe/guardian.h"
#include "capture/probe/namesake.h"

struct member {
	int pid;
	uint64_t started; /* as /proc tells, to know the process by */
	int family;       /* -1: not to be watched */
	uint32_t nr_tries;
	int64_t cpu_ns, did_ns; /* processor time, when it was last asked and since */
	double share;           /* of what all of them did */
};

struct family_of {
	struct family *f; /* NULL: all of it are gone */
	int pid;          /* whom it was put into */
	bool is_told, is_told_gone;
	uint32_t nr_idle; /* ticks without a process that lives */
	uint32_t *ended;  /* by place, the thread that had ended when it was looked at last, or NULL */
	struct namesakes names;
};

struct wanted {
	struct guardian_function f;
	const char *module;
	bool is_on;
};

/* Zero is none. */
struct members {
	struct arena arena;
	struct guardian_shared *shared;
	VEC(struct member) v;
	VEC(struct family_of) families;
	size_t nr_families; /* that are there */
	struct births births;
	VEC(struct wanted) wanted;
	struct tracee_late late;
	bool follows;
	size_t max_bytes;
	int handover; /* a file that all of them share; negative: none */
	uint32_t nr_ticks;
};

/* root: a process whose children are looked at as well, though it may not be watched itself; 0:
 * none. */
int members_open(struct members *m, int pid, int root, struct error *err);
/* Says to all of them that somebody is there. */
void members_alive(struct members *m);
/* whys: one for each, of the process that was named first. */
int members_add(struct members *m, const struct guardian_function *v, size_t nr, const char *text,
		uint8_t *whys, struct error *err);
int members_remove(struct members *m, const uint32_t *ids, size_t nr, struct error *err);
/* Programs that have begun, when births.fd says so. How much was said of members. */
size_t members_hear(struct members *m);
/* Children that are new, and what they have loaded since. */
void members_tick(struct members *m);
/* Takes everything back. */
void members_close(struct members *m);

#endif
