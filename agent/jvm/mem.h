/* Work in a guest that ends when memory does, and only the work: the JVM runs on. */
#ifndef CULPRIT_AGENT_JVM_MEM_H
#define CULPRIT_AGENT_JVM_MEM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs it; false when memory ended in it, and it was left where it was. What it had allocated is
 * not given back: it must hold no lock and no file, and give no one a pointer before it is done.
 * May be called within such work, which then goes on.
 */
bool mem_guarded(void (*work)(void *data), void *data);
/* How often work was left so. */
uint64_t mem_nr_ended(void);

#endif
