/*
 * A Java machine that begins, from its program's first instruction to where it is let go.
 *
 * The launcher makes the machine (JNI_CreateJavaVM) and then looks for a function of it by its name
 * (dlsym, "JVM_FindClassFromBootLoader") to load the first class of the program. There its thread
 * waits: it is native code, so that all others of the machine go on, and classes can be changed.
 * dlsym is patched as soon as the program is loaded, tens of milliseconds before.
 */
#ifndef CULPRIT_CAPTURE_PROBE_CRADLE_CHILD_H
#define CULPRIT_CAPTURE_PROBE_CRADLE_CHILD_H

#include <stdbool.h>
#include <stdint.h>

struct family;
struct tracee_late;

struct cradle_child {
	int pid;
	uint64_t started; /* as kin_started has it */
	int64_t until;    /* tick: when it is given up that does not come so far */
	int64_t waits;    /* tick: since when it waits; 0: not yet */
	struct family *f; /* NULL: it is not prepared yet */
	unsigned nr_tries;
};

/* False: it is no program that starts a Java machine, or is gone. */
bool cradle_child_begin(struct cradle_child *c, int pid);
/* Every millisecond until f is there, afterwards a few times in a second. False: there is nothing
 * more to do for it. */
bool cradle_child_tend(struct cradle_child *c, double ticks_per_ns, struct tracee_late *late);
/* It goes on, and nothing of ours is left unless it is watched now. */
void cradle_child_leave(struct cradle_child *c, struct tracee_late *late);

#endif
