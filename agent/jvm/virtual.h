/*
 * Java's virtual threads, which run by turns on few threads of the machine: what they carry, the
 * watched methods that they are in, and their number go with them.
 *
 * A virtual thread that waits lies in a table, by its identity, and is gone from there when it runs
 * on, has ended, or was collected. share/carriers/virtual.carry says where all this is seen.
 */
#ifndef CULPRIT_AGENT_JVM_VIRTUAL_H
#define CULPRIT_AGENT_JVM_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include <jvmti.h>

struct site;

/* Whether it is one of those that virtual_act is for. */
bool virtual_is(const struct site *s);
/* roots: as woven code has handed them over. Whether anybody watches or not: who runs is known when
 * somebody does again. */
void virtual_act(JNIEnv *env, struct site *s, const jvalue *roots);
/* Of the virtual thread that runs; 0: none does. */
uint64_t virtual_number(void);
/* Forgets those that wait and are gone by now, or all. */
void virtual_sweep(JNIEnv *env, bool all);
/* How many wait. */
uint64_t virtual_count(void);

#endif
