/* Streams between this host and others in the memory that watched processes share: which there are,
 * and where the other end is. */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_FAR_H
#define CULPRIT_CAPTURE_PROBE_GUEST_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/handover.h"

#define FAR_UNKNOWN UINT64_MAX /* no position is known yet */

/* Whether an address is one of this host. */
bool far_is_here(const struct handover *h, const struct handover_address *a)
	__attribute__((visibility("hidden")));
/* A stream was met; since: where all that is sent is known from, or FAR_UNKNOWN. False, and
 * counted, where there is no room. */
bool far_meet(struct handover *h, uint64_t key, const struct handover_address *peer, bool is_out,
	      uint64_t since, uint64_t now) __attribute__((visibility("hidden")));
/* Where it is, is known from this position on, and not what was before. */
void far_since(struct handover *h, uint64_t key, uint64_t since, uint64_t now)
	__attribute__((visibility("hidden")));
/* It is still at work: nobody else gets its place. */
void far_touch(struct handover *h, uint64_t key, uint64_t now)
	__attribute__((visibility("hidden")));
/* NULL: it was not met. */
const struct handover_far *far_find(const struct handover *h, uint64_t key)
	__attribute__((visibility("hidden")));

#endif
