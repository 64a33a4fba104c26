/*
 * Java machines that watched processes start, or programs that those have started: found as soon as
 * they can be spoken to, which is before they have got far.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_OFFSPRING_H
#define CULPRIT_CAPTURE_WEAVE_OFFSPRING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/probe/births.h"

/* A program that has begun. */
struct newborn {
	int pid;
	uint64_t started;
	int64_t began; /* tick: when it was heard of */
	int64_t next;  /* … not to be told before; 0: at once */
	unsigned nr_tries;
};

struct offspring {
	struct births births;
	VEC(int) parents;
	VEC(struct newborn) v;
	struct newborn told; /* the last that was */
	uint64_t nr_missed;  /* what the births had missed when /proc was looked at last */
	int64_t looked;      /* … and when that was, tick */
};

void offspring_open(struct offspring *o);
void offspring_close(struct offspring *o);
/* What this process starts from now on. */
void offspring_of(struct offspring *o, int pid);
/* … which has ended. */
void offspring_gone(struct offspring *o, int pid);
/* Takes what the kernel has said since. Often: machines are young for a second. */
void offspring_look(struct offspring *o);
/* A machine that has begun and can be spoken to, which is not told again; 0: none. */
int offspring_next(struct offspring *o);
/* … but a little later, as it could not be entered; false: it was tried often enough. */
bool offspring_again(struct offspring *o);

#endif
