/* Logs whose clocks are off by much: found by what several logs name, and set right. */
#ifndef CULPRIT_INFER_REQUESTS_CLOCKS_H
#define CULPRIT_INFER_REQUESTS_CLOCKS_H

#include "infer/requests/gather.h"

/* Adds to the times of every log what puts its clock right, and keeps that in g->shift. Only what
 * is certain and large: seconds may pass between two mentions of one thing anyway. */
void clocks_align(struct gather *g);

#endif
