/* Stands in for stacks.c where the processor is another one or libdw is missing. */
#include <errno.h>

#include "base/error.h"
#include "capture/probe/stacks.h"

int stacks_open(struct stacks **s, int pid, struct error *err)
{
	*s = NULL;
	return error_set(err, ENOTSUP, "stacks cannot be read by this culprit");
}

void stacks_close(struct stacks *s)
{
}

size_t stacks_sample(struct stacks *s, int tid, struct stack_place *out, size_t max)
{
	return 0;
}

int64_t stacks_held_ns(const struct stacks *s)
{
	(void)s;
	return 0;
}

uint64_t stacks_waits_at(const struct stacks *s, int tid)
{
	(void)s, (void)tid;
	return 0;
}
