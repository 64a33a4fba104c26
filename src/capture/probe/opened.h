/* Calls that have not ended, from the memory of the processes that are in them. */
#ifndef CULPRIT_CAPTURE_PROBE_OPENED_H
#define CULPRIT_CAPTURE_PROBE_OPENED_H

#include "capture/probe/rings.h"

/* Of all threads that have a ring. */
int opened_read(struct rings *r, const struct ticks *ticks, struct sites *sites,
		const struct probe_reader *to, struct error *err);

#endif
