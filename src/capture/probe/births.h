/*
 * What the kernel says of processes that are made (fork) and of programs that begin (exec), the
 * moment that it happens, of all processes below some. Where it says nothing (no root, a PID
 * namespace of our own), there is nobody, and who wants to know looks at /proc now and then.
 */
#ifndef CULPRIT_CAPTURE_PROBE_BIRTHS_H
#define CULPRIT_CAPTURE_PROBE_BIRTHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/vec.h"

/* Zero is of nobody. */
struct births {
	int fd;            /* readable when something was said; -1: nothing ever is */
	struct map family; /* by number; 0: it is no more, or was given to a stranger */
	size_t crowd;      /* how many more are too many to be kept */
	bool is_of_all;
	VEC(int) made;      /* processes of the family since they were last taken */
	uint64_t nr_missed; /* times that the kernel had more to say than it could keep */
};

void births_open(struct births *b);
void births_close(struct births *b);
/* This process, and all that it makes from now on; BIRTHS_ALL: every process of the host, of which
 * only programs that begin are told. */
#define BIRTHS_ALL 0
void births_of(struct births *b, int pid);
/* Takes what was said. began: a program that one of them has become. How much was about them. */
size_t births_read(struct births *b, void (*began)(void *to, int pid), void *to);
/* Leaves out all that have ended, when it sees so for the second time: what they made before may
 * not have been said yet. */
void births_sweep(struct births *b);

#endif
