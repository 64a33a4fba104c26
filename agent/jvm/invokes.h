/* Which methods a method calls, by its instructions. */
#ifndef CULPRIT_AGENT_JVM_INVOKES_H
#define CULPRIT_AGENT_JVM_INVOKES_H

#include <stdint.h>

struct class;
struct member;

/* "calls FUNCTION CLASS METHOD" for each, CLASS with a plus where a class below it may be meant. */
void invokes_tell(uint32_t function, const struct class *c, const struct member *m);

#endif
