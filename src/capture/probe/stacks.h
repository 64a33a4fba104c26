/* Who calls whom right now: the stack of a thread, copied while it waits, or is stopped for a
 * moment, and unwound when it runs again. For calls by pointer, which no disassembly shows. */
#ifndef CULPRIT_CAPTURE_PROBE_STACKS_H
#define CULPRIT_CAPTURE_PROBE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct stacks;

/* A place in the code of one thread. */
struct stack_place {
	const char *module; /* the path of its file, valid until stacks_close */
	uint64_t address;   /* in the file's own address space; of a caller: within the call */
};

int stacks_open(struct stacks **s, int pid, struct error *err);
void stacks_close(struct stacks *s);
/* Innermost first. How many there are; 0 when the thread could not be looked at, which is nothing
 * special: it may have ended, or somebody else traces it. */
size_t stacks_sample(struct stacks *s, int tid, struct stack_place *out, size_t max);
/* Another number for each place that a thread waits at; 0 when it runs. It is not stopped. */
uint64_t stacks_waits_at(const struct stacks *s, int tid);
/* For how long threads were stopped, in all. */
int64_t stacks_held_ns(const struct stacks *s);

#endif
