/* Decides at which methods the work on one request begins. */
#ifndef CULPRIT_PROGRAM_TOPS_H
#define CULPRIT_PROGRAM_TOPS_H

#include "program/identifiers.h"

/* Fills top and tops of what has all summaries. */
void tops_find(struct identifiers *i, const struct callgraph *g);
/* What a method that answers for others hands the call to: methods of its own name that it calls,
 * up to max; none when it does the work itself. */
uint32_t tops_behind(const struct identifiers *i, const struct callgraph *g, uint32_t method,
		     uint32_t *behind, uint32_t max);

#endif
