/*
 * Java machines that processes of ours start stand still until they are watched: a child of ours
 * waits for them, and has the thread that made the machine wait (cradle_child.h) before it runs
 * anything of the program. Who watches the machine lets it go (hold.h); when nobody does in time,
 * or we are gone, it goes on by itself.
 */
#ifndef CULPRIT_CAPTURE_PROBE_CRADLE_H
#define CULPRIT_CAPTURE_PROBE_CRADLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What both have in memory. */
struct cradle_shared {
	uint32_t is_wanted;
	double ticks_per_ns;
};

/* Zero is not open: nobody is held. */
struct cradle {
	pid_t child;
	int socket;
	struct cradle_shared *shared;
};

/* It is closed, and nothing happens, where the kernel does not say what programs begin. */
void cradle_open(struct cradle *c);
/* All that are held go on. */
void cradle_close(struct cradle *c);
bool cradle_is_open(const struct cradle *c);
/* What this process starts from now on, and what that does; BIRTHS_ALL: what anybody does. */
void cradle_of(struct cradle *c, int pid);
/* Whether anybody is to be held. */
void cradle_want(struct cradle *c, bool is_wanted);

/* What the child does: never comes back. */
_Noreturn void cradle_run(int socket, struct cradle_shared *shared);

#endif
