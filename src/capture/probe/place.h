/* A static probe of a program (program/usdt.h) as something that can be watched. */
#ifndef CULPRIT_CAPTURE_PROBE_PLACE_H
#define CULPRIT_CAPTURE_PROBE_PLACE_H

#include "capture/probe/probe.h"

struct error;
struct functions;
struct usdt;

/* take: what names an interval, its arguments being those of the probe; TAKE_NOTHING for none. The
 * module of *out is text in the memory of the functions. id is the caller's to set. */
int place_of_usdt(struct probe_function *out, struct functions *f, const struct usdt *u,
		  const struct probe_take *take, struct error *err);

#endif
