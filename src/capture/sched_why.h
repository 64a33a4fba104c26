/* Why a thread does not run, decided by the system call that it is in, what that is about, and who
 * wakes it. */
#ifndef CULPRIT_CAPTURE_SCHED_WHY_H
#define CULPRIT_CAPTURE_SCHED_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/call.h"

struct sched_record;

/* How each system call tells what it waits for: enum sched_form, by its number. */
void sched_forms(uint8_t *forms);
/* Of a SCHED_OFF. *is_open: it turns out to be WAIT_QUEUE when a thread that is watched wakes it.
 */
enum wait_why sched_why(const struct sched_record *r, bool *is_open);

/* Whether who ran when the thread was woken did it. The kernel does not say: an interrupt may have
 * come meanwhile, of a clock or a disk. So what it waited for must be what the other can end, in
 * the system call that it is in. */
bool sched_is_waker(int16_t waits_in, int16_t waker_in);

#endif
