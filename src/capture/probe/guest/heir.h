/* What threads begin with, which is what their makers carry, and what they leave to who waits for
 * their end. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_HEIR_H
#define CULPRIT_CAPTURE_PROBE_GUEST_HEIR_H

#include "capture/probe/guest/guest.h"

/* A thread is being made: it begins in code of ours, which takes a copy. True: the end of the call
 * is wanted. */
bool heir_begin(struct probe_thread *t, struct entered *e);
/* No thread was made after all; at: the fourth argument that the call was given. */
void heir_undo(uint64_t at);

/* A thread is waited for: its number, or 0 where nobody knows. */
uint64_t heir_awaited(struct probe_thread *t, uint64_t key);
/* It has ended, after start: what it carried is joined. */
void heir_join(struct probe_thread *t, uint64_t key, uint64_t tid, uint64_t start);

/* The place is to be another thread's: who waits for the one that was here may not have seen yet
 * what it carried. */
void heir_leave(struct probe_thread *t);
/* In a new process: threads that were being made, or have ended, are of the other one. */
void heir_forget(void);

#endif
