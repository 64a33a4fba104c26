/* Work that is done by a child with a copy of all that this process knows, which stays as it is. */
#ifndef CULPRIT_CLI_BRANCH_H
#define CULPRIT_CLI_BRANCH_H

#include <stddef.h>

struct error;

/*
 * Runs work in a child and waits for it; no other thread may run. What it returns is returned, what
 * it leaves in out (out_n bytes, of no pointers) is there afterwards. A signal that comes meanwhile
 * is handed on to it.
 */
int branch_run(int (*work)(void *to, void *out, struct error *err), void *to, void *out,
	       size_t out_n, struct error *err);

#endif
