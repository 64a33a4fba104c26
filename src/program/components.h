/* The methods that call each other in circles, callees before callers. */
#ifndef CULPRIT_PROGRAM_COMPONENTS_H
#define CULPRIT_PROGRAM_COMPONENTS_H

#include "program/callgraph.h"

struct components {
	uint32_t *order; /* methods, those of one component together, what they call before them */
	uint32_t nr;
	uint32_t *of; /* by method: its component, UINT32_MAX for methods left out */
};

/* Over ordinary calls between the methods that are wanted. */
void components_find(struct components *c, const struct callgraph *g, const bool *wanted);
void components_done(struct components *c);

#endif
