/* What is counted where something is handed on: with the place, and what was lost with all that is
 * lost in the process. */
#ifndef CULPRIT_AGENT_JVM_HOP_H
#define CULPRIT_AGENT_JVM_HOP_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/jvm/kept.h"
#include "agent/jvm/site.h"

/* s: NULL where no place is known. */
void hop_count(struct site *s, enum hop what);
void hop_lost(struct site *s);
/* An object should have got something. */
void hop_kept(struct site *s, enum kept_result r);
/* Something arrived, or nothing did. */
void hop_came(struct site *s, bool is);
/* Tells who watches how often HOP_SHARED was counted since this was last called. */
void hops_tell_shared(void);
/* Writes a line for each place that hands on, with what was counted there: "hop METHOD MOMENT
 * ACTION" and numbers, in the order of enum hop. */
void hops_tell(FILE *f);

#endif
