/* Says an anomaly in plain words, with its numbers for scripts and the command that shows it. */
#ifndef CULPRIT_ASK_ANOMALY_TELL_H
#define CULPRIT_ASK_ANOMALY_TELL_H

#include "ask/anomalies.h"

struct report;

/* A section of one paragraph for each of the first so many. run is how the user names the run. */
void anomaly_tell(const struct anomalies *a, size_t at_most, const char *run, struct report *r);

#endif
