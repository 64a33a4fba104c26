/*
 * Java machines that watched processes start, or programs that those have started: found as soon as
 * they can be spoken to, which is before they have got far. And watched processes that become other
 * programs, as the scripts that start servers do.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_OFFSPRING_H
#define CULPRIT_CAPTURE_WEAVE_OFFSPRING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/probe/births.h"
#include "capture/probe/cradle.h"

/* A program that has begun. */
struct newborn {
	int pid;
	uint64_t started;
	int64_t began; /* tick: when it was heard of */
	int64_t next;  /* … not to be told before; 0: at once */
	unsigned nr_tries;
	bool is_launcher; /* it will have a machine */
	bool is_asked;    /* the process was asked for, whatever it becomes */
};

struct offspring {
	struct births births;
	struct cradle cradle; /* open when machines were to be held for the first time */
	bool was_opened, is_wanted;
	uint64_t nr_gone; /* machines that had ended when they were looked for, not told yet */
	VEC(int) parents;
	VEC(int) changed; /* parents that have become another program since */
	VEC(struct newborn) v;
	struct newborn told; /* the last that was */
	uint64_t nr_missed;  /* what the births had missed when /proc was looked at last */
	int64_t looked;      /* … and when that was, tick */
};

void offspring_open(struct offspring *o);
void offspring_close(struct offspring *o);
/* What this process starts from now on; BIRTHS_ALL: what anybody does. */
void offspring_of(struct offspring *o, int pid);
/* … which has ended. */
void offspring_gone(struct offspring *o, int pid);
/* Whether machines are to be held, from where they are made until they are woven. */
void offspring_hold(struct offspring *o, bool is_wanted);
/* Takes what the kernel has said since. Often: machines are young for a second. */
void offspring_look(struct offspring *o);
/* A parent that has become another program, as far as the kernel has said so; 0: none. */
int offspring_changed(struct offspring *o);
/* It is to be told once more, when that has got so far, though it is no Java machine: it was asked
 * for. */
void offspring_anew(struct offspring *o, int pid);
/* Whether it may still be told. */
bool offspring_has(const struct offspring *o, int pid);
/* A machine that has begun and can be spoken to, which is not told again, the first that began
 * first; 0: none. */
int offspring_next(struct offspring *o);
/* … but a little later, as it could not be entered; false: it was tried often enough. */
bool offspring_again(struct offspring *o);

#endif
