/* Calls that bags are handed over by between processes: what is sent and received on connections.
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_CARRY_H
#define CULPRIT_CAPTURE_PROBE_GUEST_CARRY_H

#include "capture/probe/guest/guest.h"

/* kind: struct probe_taken's carry, an enum carry_call. args: the six of registers. True: its end
 * is wanted. */
bool carry_enter(struct probe_thread *t, uint32_t kind, const uint64_t *args);
/* result: what it returns (of libc's functions -1 is an error). */
void carry_leave(struct probe_thread *t, uint32_t kind, const uint64_t *args, int64_t result);
/* Its end came while our code stood still. */
void carry_asleep(struct probe_thread *t, uint32_t kind, const uint64_t *args, int64_t result);
/* Before advice runs: of requests that came together the one whose turn it is. */
void carry_settle(struct probe_thread *t);
/* A request begins here: what came with it is carried, and nothing else. */
void carry_begin(struct probe_thread *t);

#endif
