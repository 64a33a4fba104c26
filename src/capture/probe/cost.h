/* What it costs to watch one call, found by doing it here. */
#ifndef CULPRIT_CAPTURE_PROBE_COST_H
#define CULPRIT_CAPTURE_PROBE_COST_H

#include "capture/probe/ticks.h"

/* ns of a call's beginning and end beside the same call that is not watched, and of one while
 * nothing is told; 0 when it could not be found out. */
struct cost {
	double call_ns, paused_ns;
};
struct cost cost_measure(const struct ticks *t);

#endif
