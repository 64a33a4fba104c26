/* Work that is done by a child with a copy of all that this process knows, which stays as it is. */
#ifndef CULPRIT_CLI_BRANCH_H
#define CULPRIT_CLI_BRANCH_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/*
 * Runs work in a child and waits for it; no other thread may run. What it returns is returned, what
 * it leaves in out (out_n bytes, of no pointers) is there afterwards. A signal that comes meanwhile
 * is handed on to it.
 */
int branch_run(int (*work)(void *to, void *out, struct error *err), void *to, void *out,
	       size_t out_n, struct error *err);

/* The same without waiting for it. Zero is none. */
struct branch {
	int pid, fd;
};
int branch_begin(struct branch *b, int (*work)(void *to, void *out, struct error *err), void *to,
		 struct error *err);
/* 1: it has ended (or there is none), and *got is what it returned. waits: until it has. */
int branch_ended(struct branch *b, bool waits, int *got, struct error *err);

#endif
